/* ops/command/job_name.h - a job that somebody named without its package, as runs are filtered. */
#ifndef OPS_COMMAND_JOB_NAME_H
#define OPS_COMMAND_JOB_NAME_H

#include "command/find.h"

/* The stored name of the job `given` in a queue: itself, where a schema of the queue or a run has
 * it; else that of the one schema of which it is the last part; else itself. *ret_is_sure: no run
 * has the other one, as far as one call looks; with `is_patient` the whole queue is looked through.
 * *ret_stored is owned. CULEX_EUSAGE: it is the last part of two. */
culex_status ops_job_name_read(struct ops *ops, const char *queue, const char *given,
                               bool is_patient, char **ret_stored, bool *ret_is_sure,
                               culex_error *error);

/* For where no run was found: CULEX_EUSAGE, with the name that may have been meant, where queues
 * have schemas, and neither these nor figures nor runs of any queue have the job. */
culex_status ops_job_name_check(struct ops *ops, const char *const *queues, size_t count,
                                const char *job, culex_error *error);

/* Has options.job as the queue has it; ops->job owns that. */
culex_status ops_job_name_take(struct ops *ops, const char *queue, culex_error *error);

#endif
