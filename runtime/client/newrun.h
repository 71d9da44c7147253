/* client/newrun.h - what a job's descriptor says about a run to be enqueued. */
#ifndef CULEX_CLIENT_NEWRUN_H
#define CULEX_CLIENT_NEWRUN_H

#include <culex/job.h>

#include "store/store.h"
#include "base/limits.h"

/* Room for all tags, the commas between them and the NUL. */
enum { CULEX_TAGS_SIZE = CULEX_TAGS_MAX * (CULEX_TAG_MAX + 1) };

/* How long an idempotency key is remembered: unless the producer says so, and at most. */
enum { CULEX_WINDOW_DEFAULT_MS = 24 * 60 * 60 * 1000 };
#define CULEX_WINDOW_MAX_MS (30 * INT64_C(86400000))

/* CULEX_EVERSION when the generator and this library do not fit together, CULEX_EINVAL when
 * the descriptor is incomplete. */
culex_status culex__job_type_check(const culex_job_type *type, culex_error *error);

/* The queue that runs of the job go to unless their producer says another. */
const char *culex__job_queue(const culex_job_type *type);

/* Joins the tags with commas. A tag has 1 to CULEX_TAG_MAX bytes of UTF-8 without commas,
 * '|' and control characters. */
culex_status culex__tags_join(const char *const *tags, size_t count, char ret_text[CULEX_TAGS_SIZE],
                              culex_error *error);

/* Whether it has an idempotency key. */
static inline bool culex__run_is_keyed(const struct culex_new_run *run)
{
    return run->idempotency_key != NULL && run->idempotency_key[0] != '\0';
}

/* Policy of `type`; delay, keys (run_key.h), tags ("") and payload are left to the caller. */
struct culex_new_run culex__new_run_make(const culex_job_type *type);

/* Hash of job and payload, the same on every machine and in every version. */
uint64_t culex__content_hash(const char *job, const void *payload, size_t len);

/* The same without what is sealed in the payload: no two boxes of a value are alike, and a hash of
 * the value would tell of it. So calls that differ in encrypted params alone have the same. */
uint64_t culex__sealed_content_hash(const char *job, const void *payload, size_t len);

#endif
