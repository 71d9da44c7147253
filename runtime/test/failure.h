/* test/failure.h - why a test fails, and who is told. */
#ifndef CULEX_TEST_FAILURE_H
#define CULEX_TEST_FAILURE_H

#include <culex_test.h>

/* Keeps the reason (printf rules, cut to fit) for culex_test_text. Returns false. */
bool culex__test_fail(culex_test *test, const char *format, ...) CULEX_PRINTF(2, 3);

/* Appends to the reason. */
void culex__test_add(culex_test *test, const char *format, ...) CULEX_PRINTF(2, 3);

#endif
