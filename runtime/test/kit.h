/* test/kit.h - inside a kit of culex_test.h: the shipped store, client and worker in a world that
 * stands still.
 *
 *   program -> client -> a store that may fail -----.
 *   handlers -> their client -> errand -------------+-> the store in memory
 *   worker's loop -> a store that wakes nobody -----+
 *   macros -> a client of the kit's own ------------'
 *
 * The loop of the worker is the real one (worker/loop.c), with an executor that calls handlers when
 * the loop collects their ends. Where the loop would wait, the kit ends it, or moves the clock.
 *
 * Each file may call those below it, never one above:
 *
 *   expect.c      what macros claim
 *   drain.c       passes of the worker's loop
 *   strays.c      runs without a handler
 *   pending.c     the runs that wait, or are scheduled
 *   open.c        a kit's life
 *   clock.c       the clock as tests and handlers move it
 *   service.c     what the worker serves
 *   passages.c       the stores before the store
 *   hands.c       the executor
 *   scripts.c     stand-ins for handlers
 *   calls.c       what handlers were called with
 *   frozen.c      the clock, and what else is drawn from the world
 *   params.c      params as texts
 *   failure.c     why a test fails */
#ifndef CULEX_TEST_KIT_H
#define CULEX_TEST_KIT_H

#include <culex_test.h>

#include "client/sealing.h"
#include "handler/loan.h"
#include "platform/env.h"
#include "store/store.h"
#include "test/calls.h"
#include "test/passages.h"
#include "test/frozen.h"
#include "test/hands.h"
#include "test/service.h"
#include "test/scripts.h"

enum { CULEX_TEST_TEXT_SIZE = 4096, CULEX_TEST_OWED_SIZE = 256 };

struct culex_test {
    culex_test_options options; /* defaults filled in */
    struct culex_env env;
    struct culex_keys keys; /* of encrypted params and results: one, that seals and opens */
    struct culex_frozen frozen;
    char url[40];
    struct culex_store *store;    /* in memory */
    struct culex_passage users;   /* for clients of the program and of handlers */
    struct culex_passage workers; /* for the worker */
    struct culex_passage observers;
    culex_client *client;
    culex_client *observer;
    culex_worker *worker;
    struct culex_service service;
    struct culex_scripts scripts;
    struct culex_calls calls;
    struct culex_hands hands;
    culex_arena *arena; /* what is handed out */
    struct {
        culex_run_info **rows; /* handed out, too */
        size_t count;
    } infos;
    culex_test_failure failure; /* NULL: the default */
    void *failure_user;
    char text[CULEX_TEST_TEXT_SIZE]; /* of the newest failure */
    char owed[CULEX_TEST_OWED_SIZE]; /* of one that nobody could be told of; "" for none */
};

#endif
