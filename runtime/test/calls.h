/* test/calls.h - what handlers were called with, and what they returned. */
#ifndef CULEX_TEST_CALLS_H
#define CULEX_TEST_CALLS_H

#include <culex_test.h>

struct culex_calls {
    struct culex_test_call **rows;
    size_t count, room;
};

/* Notes a call of the run's handler before it is made; NULL without memory. */
struct culex_test_call *culex__calls_begin(culex_test *test, const culex_run *run);

/* Notes what came of it. `call` and `text` may be NULL. */
void culex__calls_end(culex_test *test, struct culex_test_call *call, culex_outcome outcome,
                      const char *text);

/* The worker tells the store that this attempt has failed, with `text`: whatever the handler has
 * returned, it came too late. */
void culex__calls_fail(culex_test *test, culex_uuid id, uint32_t attempt, const char *text);

/* NULL for none. */
const struct culex_test_call *culex__calls_newest(const struct culex_calls *calls);

void culex__calls_free(struct culex_calls *calls);

#endif
