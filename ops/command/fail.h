/* ops/command/fail.h - failures, as the user is told of them. */
#ifndef OPS_COMMAND_FAIL_H
#define OPS_COMMAND_FAIL_H

#include <culex/error.h>

/* What is said to be wrong with what the user gave. */
CULEX_PRINTF(2, 3)
culex_status ops_usage(culex_error *error, const char *format, ...);
/* A failure of this program. */
CULEX_PRINTF(3, 4)
culex_status ops_fail(culex_error *error, culex_status status, const char *format, ...);

/* The same status; that of a failure is told as one of `what`. */
culex_status ops_name_failure(culex_status status, const char *what, culex_error *error);

/* A name of C, and what it is for others. */
struct ops_word {
    const char *of_c, *is;
};

/* `text` with each of these words, which end with a row without one, in its place: returned owned.
 * A longer one stands before its beginning. */
char *ops_reword_by(const struct ops_word *words, const char *text);
/* What the library says of its functions and members, in the words of this program: returned owned.
 * "filter.since" is "--since", "culex_client_resume" is "culex resume". */
char *ops_reword(const char *text);
/* A line of the program on standard error, in those words. */
void ops_failure_print(const char *text);

#endif
