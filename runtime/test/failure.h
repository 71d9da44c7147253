/* test/failure.h - why a test fails, and who is told. */
#ifndef CULEX_TEST_FAILURE_H
#define CULEX_TEST_FAILURE_H

#include <culex_test.h>

/* Keeps the reason (printf rules, cut to fit) for culex_test_text. Returns false. */
bool culex__test_fail(culex_test *test, const char *format, ...) CULEX_PRINTF(2, 3);

/* The same of a function that returns nothing: the next macro fails with this reason, the first one
 * that is kept. */
void culex__test_owe(culex_test *test, const char *format, ...) CULEX_PRINTF(2, 3);

/* For functions of macros: false without a kit, and with a reason that was owed. */
bool culex__test_begin(culex_test *test);

/* Appends to the reason. */
void culex__test_add(culex_test *test, const char *format, ...) CULEX_PRINTF(2, 3);

#endif
