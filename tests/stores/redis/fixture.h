/* redis/fixture.h - a server, a store on it and a clock that the test moves. */
#ifndef CULEX_TESTS_REDIS_FIXTURE_H
#define CULEX_TESTS_REDIS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/store.h"
#include "redis_server.h"

#define SESSION_A "aaaaaaaaaaaaaaaa"
#define SESSION_B "bbbbbbbbbbbbbbbb"

struct fixture {
    struct redis_server server;
    struct culex_env env;
    struct culex_store *store;
    int64_t now_ms; /* the store's clock */
    uint64_t nonce;
    unsigned serial;   /* makes ids differ */
    uint64_t sequence; /* of the newest ticket */
};

/* One server for a whole group; each test gets an empty one and a fresh store. */
int fixture_group_setup(void **state);
int fixture_group_teardown(void **state);
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* A store on the fixture's server; fails the test when it cannot be opened. */
struct culex_store *fixture_open(struct fixture *fixture, const char *url);

/* An id that this store has given to no run. */
culex_uuid fixture_stranger(struct fixture *fixture);

/* The next ticket of `producer`, of the store's present time. */
struct culex_ticket fixture_ticket(struct fixture *fixture, uint64_t producer);

/* A run that may be enqueued as it is, or changed first. */
struct culex_new_run fixture_run(void);

/* Enqueues into queue "q" and returns the id; the test fails unless the run is new. */
culex_uuid fixture_enqueue(struct fixture *fixture, const struct culex_new_run *run);

/* The same with a ticket, or NULL, and whatever becomes of the run. */
struct culex_enqueue_result fixture_offer(struct fixture *fixture,
                                          const struct culex_ticket *ticket,
                                          const struct culex_new_run *run);

/* A step of queue "q" that wants `want` runs, with a fresh nonce and a lease of 1000 ms. */
struct culex_step fixture_step(struct fixture *fixture, const char *session, uint32_t want);

/* Runs the step; the test fails unless it succeeds. */
void fixture_run_step(struct fixture *fixture, const struct culex_step *step,
                      struct culex_step_reply *ret_reply);

/* Claims one run for SESSION_A and asserts that it is `id`; returns the attempt. */
uint32_t fixture_claim(struct fixture *fixture, culex_uuid id);

/* Acks `id` and returns the answer. */
enum culex_answer fixture_ack(struct fixture *fixture, const char *session, culex_uuid id,
                              uint32_t attempt, enum culex_run_event event);

/* The run's state; asserts that it is there. */
culex_run_state fixture_state(struct fixture *fixture, culex_uuid id);

/* Runs a command on the server and returns its reply as an integer; errors fail the test. */
long long fixture_say(struct fixture *fixture, const char *format, const char *argument);

/* `call` names the error as &call_error. */
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        culex_error call_error = {.code = CULEX_OK};                                               \
        if ((call) != CULEX_OK)                                                                    \
            fail_msg("%s: %s", culex_status_name(call_error.code), call_error.text);               \
    } while (0)

#endif
