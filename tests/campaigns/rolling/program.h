/* rolling/program.h - one version of the shop: a worker and a producer in one program.
 *
 *   PROGRAM enqueue FROM COUNT   one run of each job for each number from FROM on
 *   PROGRAM gone N               one run of the job that the second version retires
 *   PROGRAM state                every run: "STATE JOB FAILURES CRASHES LOSSES TEXT"
 *   PROGRAM OPTIONS              a worker; each execution appends one line to $ROLLING_OUT:
 *                                "VERSION JOB N PARAM=VALUE..."
 *
 * What a run of number n carries is a rule that rolling.py knows too. */
#ifndef TESTS_ROLLING_PROGRAM_H
#define TESTS_ROLLING_PROGRAM_H

#include <culex/culex.h>

/* Of the version: v1.c, v2.c. */
extern const char version_name[];
int version_setup(culex_worker *worker, void *user);
culex_status version_enqueue(culex_client *client, uint32_t n, culex_error *error);
culex_status version_enqueue_gone(culex_client *client, uint32_t n, culex_error *error);

/* Appends a line to $ROLLING_OUT; what to return from the handler. */
culex_outcome tell(const char *job, uint32_t n, const char *format, ...) CULEX_PRINTF(3, 4);

/* "PREFIXn", kept for a while. */
const char *text_of(const char *prefix, uint32_t n);

/* The elements, "0,1,2". */
const char *list_text(const uint8_t *list, size_t len);

#endif
