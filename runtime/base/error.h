/* base/error.h - filling a culex_error: the innermost failure writes, outer layers add. */
#ifndef CULEX_BASE_ERROR_H
#define CULEX_BASE_ERROR_H

#include <culex/error.h>

/* Stores `code` and the text (printf rules) in `error`, clears its field, and returns `code`,
 * so that a failure reads `return culex__fail(error, CULEX_EURL, "...")`. The text is made valid
 * UTF-8 and one line (a newline in it is shown as "\n"), and cut at a character border. `error` may
 * be NULL. */
culex_status culex__fail(culex_error *error, culex_status code, const char *format, ...)
    CULEX_PRINTF(3, 4);

/* The same, naming the param at fault. */
culex_status culex__fail_field(culex_error *error, culex_status code, const char *field,
                               const char *format, ...) CULEX_PRINTF(4, 5);

/* Puts "prefix: " before the text that is there. `error` may be NULL. */
void culex__error_context(culex_error *error, const char *format, ...) CULEX_PRINTF(2, 3);

#endif
