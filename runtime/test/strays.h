/* test/strays.h - runs that the worker was given and has no handler for. */
#ifndef CULEX_TEST_STRAYS_H
#define CULEX_TEST_STRAYS_H

#include <culex_test.h>

/* A worker gives such a run back for some seconds, so that another one has it. There is none: makes
 * those that the newest pass has given back due again. */
void culex__strays_return(culex_test *test);

#endif
