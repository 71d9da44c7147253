/* handler/errand_run.h - a run that is to be enqueued, as bytes between a child and its supervisor.
 */
#ifndef CULEX_HANDLER_ERRAND_RUN_H
#define CULEX_HANDLER_ERRAND_RUN_H

#include "handler/errand.h"

/* What stands before it. Behind it come, in this order: job, unique key, idempotency key and tags,
 * each with its NUL, the limits, and the payload. The pointers of `run` mean nothing on the way. */
struct culex_errand_run {
    struct culex_new_run run;
    uint32_t job_len;
    uint32_t unique_len;
    uint32_t idempotency_len;
    uint32_t tags_len;
};

/* A limit of that run: its name and key, each with its NUL, are behind it. Its pointers mean as
 * little. */
struct culex_errand_limit {
    struct culex_run_limit limit;
    uint32_t name_len;
    uint32_t key_len;
};

/* Takes bytes from the front of a text. */
struct culex_errand_reader {
    const char *at;
    size_t left;
    bool is_short; /* more was asked for than there was */
};

/* NULL when there is not that much left. Not aligned. */
const char *culex__errand_take(struct culex_errand_reader *reader, size_t len);

/* Copies them; zeroes when there is not that much left. */
void culex__errand_copy(struct culex_errand_reader *reader, void *ret_bytes, size_t len);

/* The limits of one run. */
struct culex_errand_limits {
    struct culex_run_limit of[CULEX_RUN_LIMITS_MAX];
};

/* Appends the run. As culex__buf_append. */
culex_status culex__errand_run_append(culex_buf *buf, const struct culex_new_run *run);

/* Takes one: its texts and its payload stay where they are. False for what nobody wrote who is in
 * his right mind. */
bool culex__errand_run_take(struct culex_errand_reader *reader,
                            struct culex_errand_limits *ret_limits, struct culex_new_run *ret_run);

#endif
