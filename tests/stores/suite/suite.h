/* suite/suite.h - one store under test, a clock that the test drives, and short verbs.
 *
 * Every helper that talks to the store asserts CULEX_OK; a case that expects a failure
 * calls the table itself. All runs go to `queue` unless the case changes it. */
#ifndef CULEX_SUITE_SUITE_H
#define CULEX_SUITE_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/store.h"

enum { SUITE_LEASE_MS = 15000, SUITE_SECOND_MS = 1000, SUITE_MINUTE_MS = 60000 };

struct suite {
    const char *kind;     /* "model", "sqlite", "memory" or "redis" */
    struct culex_env env; /* the real one, but for the clocks */
    int64_t now_ms;
    struct culex_store *store;
    char queue[64];
    int priority;                  /* of suite_run: Redis keeps 0 in a list, others in a set */
    uint64_t serial;               /* makes producers, nonces and contents distinct */
    struct culex_step_reply reply; /* of the newest step */
    culex_run_info *info;          /* of the newest suite_get */
    char name[64];                 /* of this case: key prefix, file, name of the memory database */
};

/* Opens a fresh store; a second handle on the same one. */
void suite_open(struct suite *suite, const char *kind, int priority);
void suite_close(struct suite *suite);
struct culex_store *suite_open_again(struct suite *suite);

/* Of no run. */
culex_uuid suite_id(struct suite *suite);

/* The first call of another producer, now. */
struct culex_ticket suite_ticket(struct suite *suite);

/* A run that may be attempted five times and is kept a minute and an hour. */
struct culex_new_run suite_run(struct suite *suite);
/* In a call of its own, with a fresh ticket. */
struct culex_enqueue_result suite_try(struct suite *suite, const struct culex_new_run *run);
enum culex_enqueued suite_enqueue(struct suite *suite, const struct culex_new_run *run);
/* One call as it is; nothing is asserted. */
culex_status suite_call(struct suite *suite, const struct culex_ticket *ticket,
                        const struct culex_new_run *runs, size_t count,
                        struct culex_enqueue_result *results);
/* As suite_try, all in one call. */
void suite_put_many(struct suite *suite, const struct culex_new_run *runs, size_t count,
                    struct culex_enqueue_result *results);
culex_uuid suite_put(struct suite *suite); /* suite_run, enqueued as new */
culex_uuid suite_put_run(struct suite *suite, const struct culex_new_run *run);

/* The reply is in suite->reply until the next step. Returns the number of grants. */
size_t suite_step(struct suite *suite, const struct culex_step *step);
struct culex_step suite_step_make(struct suite *suite, const char *session, uint32_t want);
size_t suite_claim(struct suite *suite, const char *session, uint32_t want);
/* As by a worker with `starts` free handlers, that perhaps has others at work. */
size_t suite_claim_for(struct suite *suite, const char *session, uint32_t want, uint32_t starts,
                       bool in_company);
/* Claims one run, which must be `id`; returns the attempt. */
uint32_t suite_take(struct suite *suite, const char *session, culex_uuid id);
/* A step that only lets time have its effects. */
void suite_pass(struct suite *suite, int64_t ms);

enum culex_answer suite_ack(struct suite *suite, const char *session, struct culex_ack ack);
enum culex_answer suite_end(struct suite *suite, const char *session, culex_uuid id,
                            uint32_t attempt, enum culex_run_event event, int64_t delay_ms);
/* The beat as it stands, with the usual lease. */
enum culex_answer suite_tell(struct suite *suite, const char *session, struct culex_beat beat);
enum culex_answer suite_beat(struct suite *suite, const char *session, culex_uuid id,
                             uint32_t attempt, int64_t lease_ms);

/* NULL when the store has no such run. Owned by the suite. */
const culex_run_info *suite_get(struct suite *suite, culex_uuid id);
/* The state; CULEX_RUN_STATE_COUNT when there is no such run. */
culex_run_state suite_state(struct suite *suite, culex_uuid id);
culex_queue_stats suite_stats(struct suite *suite);

/* One page of at most `limit`; how many it deleted. */
size_t suite_purge(struct suite *suite, culex_run_state state, size_t limit);
void suite_cancel(struct suite *suite, culex_uuid id);
size_t suite_hello(struct suite *suite, const char *worker, const char *session);

/* FSCK of the whole queue. */
culex_fsck_counts suite_fsck(struct suite *suite, bool is_repairing);
/* At the end of a case: the indexes of every queue agree with its records, by FSCK and by what
 * stores_check reads beside the store. */
void suite_check(struct suite *suite);

/* As stores_remembered, of the suite's queue; -1 also for the model. */
int64_t suite_remembered(struct suite *suite);

bool suite_same_id(culex_uuid left, culex_uuid right);

/* Two sessions and a third; tokens of 16 hex characters. */
#define ANN "00000000000000aa"
#define BOB "00000000000000bb"
#define EVE "00000000000000ee"

#define assert_ok(call) assert_int_equal((call), CULEX_OK)
#define assert_state(suite, id, state)                                                             \
    assert_string_equal(culex_run_state_name(suite_state((suite), (id))),                          \
                        culex_run_state_name(state))

#endif
