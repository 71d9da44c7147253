/* base/misspelt.h - variables that were surely meant as another one.
 *
 * For whoever goes on with a default: a producer has no log to warn in, and its runs would be in
 * another store than the one that was meant, or under another prefix. */
#ifndef CULEX_BASE_MISSPELT_H
#define CULEX_BASE_MISSPELT_H

#include <culex/error.h>

/* For when the variable `meant` is not in `environment`, which ends with NULL: `refusal` where one
 * is that is a single typing error away, with its name, never its value. `without` begins the text:
 * "no store is named". More errors would be a guess. */
culex_status culex__misspelt_check(char *const *environment, const char *meant, const char *without,
                                   culex_status refusal, culex_error *error);

#endif
