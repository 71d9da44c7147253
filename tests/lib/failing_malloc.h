/* failing_malloc.h - allocations that fail when the test says so: those of the program's own code
 * and of static libraries, by the linker's --wrap. A program has them by the dependency
 * `failing_malloc` of Meson, and brings the function that says so. */
#ifndef CULEX_TEST_FAILING_MALLOC_H
#define CULEX_TEST_FAILING_MALLOC_H

#include <stdbool.h>

/* Of the test: whether this call of malloc, calloc, realloc or strdup returns NULL. Called once for
 * each, by the thread that allocates; counting is its own. */
bool malloc_fails(void);

#endif
