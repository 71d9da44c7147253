/* handler/follow_up.h - the follow-ups of a run, as bytes that its child hands to the supervisor.
 */
#ifndef CULEX_HANDLER_FOLLOW_UP_H
#define CULEX_HANDLER_FOLLOW_UP_H

#include "base/buf.h"
#include "store/store.h"

/* Of all follow-ups of a run together, with their payloads. */
enum { CULEX_FOLLOW_UP_BYTES_MAX = 2 * 1024 * 1024 };

/* Appends one to a text with that bound. CULEX_ELIMIT when it is full, or has CULEX_FOLLOW_UPS_MAX;
 * CULEX_ENOMEM. */
culex_status culex__follow_up_append(culex_buf *buf, const char *queue,
                                     const struct culex_new_run *run, culex_error *error);

/* Reads them all, as words of an enemy. *ret_all, which free() frees, borrows from `bytes`; NULL
 * for none. */
culex_status culex__follow_ups_read(const char *bytes, size_t len, struct culex_follow_up **ret_all,
                                    size_t *ret_count, culex_error *error);

#endif
