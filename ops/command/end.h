/* ops/command/end.h - how a program of operators begins and ends: what its standard descriptors are
 * at least, its name before what it tells, and its exit status. */
#ifndef OPS_COMMAND_END_H
#define OPS_COMMAND_END_H

#include <culex/error.h>

/* 0, or: the store refused or failed, or something is wrong there; what was given is no good; the
 * output could not be written. */
enum { OPS_EXIT_FAILED = 1, OPS_EXIT_USAGE = 2, OPS_EXIT_OUTPUT = 3 };

/* The program's name. Each main.c has its own. */
extern const char ops_program[];

/* The first call of a program: a standard descriptor that is closed becomes /dev/null, so that
 * nothing which it opens has such a number. What is printed then fails. */
void ops_descriptors_fill(void);
/* The exit status for a failure. */
int ops_exit_of(culex_status status);
/* Tells a failure on standard error, and returns the exit status for it. */
int ops_failure_tell(culex_status status, const culex_error *error);
/* Writes out what was printed. Returns `code`, or that of an output which cannot be written. */
int ops_output_end(int code);

#endif
