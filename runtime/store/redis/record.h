/* store/redis/record.h - the text of a run's record, read strictly.
 *
 * schemas/record.md is the format. Whoever can write to the server can write records, so
 * nothing here trusts them: a text that differs from the format in any way is refused. */
#ifndef CULEX_STORE_REDIS_RECORD_H
#define CULEX_STORE_REDIS_RECORD_H

#include "core/run.h"

/* A piece of the record's own text. */
struct culex__redis_slice {
    const char *text;
    size_t len;
};

struct culex__redis_record {
    culex_run_state state;
    struct culex_run_facts facts; /* but for the id, under which the record is stored */
    struct culex__redis_slice owner;
    bool is_cancel_requested;
    int behind; /* 0: it has no limits; 1: it is parked behind none of them; n + 1: behind the nth
                 */
    int64_t at_ms;
    int64_t timeout_from_ms;
    bool is_started;
    struct culex__redis_slice job;
    int priority;
    int64_t keep_success_ms;
    int64_t keep_failure_ms;
    struct culex__redis_slice unique_key;
    unsigned unique_while;   /* bits of CULEX_UNIQUE_LIVE */
    int64_t unique_until_ms; /* 0: no bound */
    struct culex__redis_slice tags;
    struct culex__redis_slice limits;
};

/* Reads `len` bytes at `text`; slices point into it. False, with *ret_record unspecified,
 * when it is no record of our version. */
bool culex__redis_record_parse(const char *text, size_t len,
                               struct culex__redis_record *ret_record);

/* Reads the body of an ordinary run: the record that it has while it waits, without an id, and
 * where in `body` its payload begins. False, with both unspecified, when it is none of our version.
 */
bool culex__redis_body_parse(const char *body, size_t len, struct culex__redis_record *ret_record,
                             size_t *ret_payload);

#endif
