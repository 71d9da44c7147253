/* store/template.h - a periodic run as bytes, so that one can be enqueued by who has no schema.
 *
 * Version, numbers and texts of struct culex_new_run, then of each of its limits, each ended by a
 * zero byte, then the payload. When it is due is left out: a run of a template is due at once. */
#ifndef CULEX_STORE_TEMPLATE_H
#define CULEX_STORE_TEMPLATE_H

#include <culex/codec.h>

#include "store/store.h"

/* Appends to `out`. CULEX_ENOMEM. */
culex_status culex__template_write(const struct culex_new_run *run, culex_buf *out,
                                   culex_error *error);

/* The run borrows from `bytes` and from `ret_limits`. What it holds is not checked further: a store
 * does that. CULEX_ECORRUPT for anything else than such bytes. */
culex_status culex__template_read(const void *bytes, size_t len,
                                  struct culex_run_limit ret_limits[CULEX_RUN_LIMITS_MAX],
                                  struct culex_new_run *ret_run, culex_error *error);

#endif
