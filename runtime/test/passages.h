/* test/passages.h - stores that pass all calls on to the kit's, or fail on their way. */
#ifndef CULEX_TEST_PASSAGES_H
#define CULEX_TEST_PASSAGES_H

#include <culex_test.h>

#include "store/store.h"

/* As culex_test_fail_store wants it. */
struct culex_passage_fault {
    culex_status status; /* CULEX_OK: none */
    size_t ahead;        /* calls that go well before */
    size_t left;         /* calls that fail then; SIZE_MAX: all */
    struct {             /* the newest call that has come by */
        const culex_client *client;
        unsigned effort;
        bool is_failing; /* with all that it asks, tries again or looks up */
        bool is_done;    /* its answer is what was lost */
    } call;
};

struct culex_passage {
    struct culex_store base;
    struct culex_store_ops table;
    culex_test *test;
    struct culex_passage_fault fault;
};

/* In front of test->store, which stays the kit's. `is_awake`: it can be waited for. */
void culex__passage_open(struct culex_passage *passage, culex_test *test, bool is_awake);

#endif
