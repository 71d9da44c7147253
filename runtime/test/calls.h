/* test/calls.h - what handlers were called with, and what they returned. */
#ifndef CULEX_TEST_CALLS_H
#define CULEX_TEST_CALLS_H

#include <culex_test.h>

#include "handler/run.h"

struct culex_calls {
    struct culex_test_call **rows;
    size_t count, room;
};

/* What is told of a run, and stands in no list; NULL without memory, and when its payload cannot be
 * read. */
struct culex_test_call *culex__calls_make(culex_test *test, const culex_run *run);

/* Notes a call of the run's handler before it is made; NULL without memory. */
struct culex_test_call *culex__calls_begin(culex_test *test, const culex_run *run);

/* Notes what the run came to, with all that its hooks have made of it. `call` may be NULL. */
void culex__calls_end(culex_test *test, struct culex_test_call *call,
                      const struct culex_execution_end *end);

/* The worker tells the store that this attempt has failed, with `text`: whatever the handler has
 * returned, it came too late. */
void culex__calls_fail(culex_test *test, culex_uuid id, uint32_t attempt, const char *text);

/* NULL for none. */
const struct culex_test_call *culex__calls_newest(const struct culex_calls *calls);

void culex__calls_free(struct culex_calls *calls);

#endif
