/* handler/result.h - whether a value is what the run's job returns.
 *
 * A run's result is read later by the job's own type. A value of another type would be stored
 * without a complaint and read back as something that nobody has said. */
#ifndef CULEX_HANDLER_RESULT_H
#define CULEX_HANDLER_RESULT_H

#include <culex/error.h>
#include <culex/job.h>

/* CULEX_OK when `job` returns values of `type`: its own descriptor, or a copy of the same name and
 * layout, as a program has it whose shared objects each hold the generated code. Else CULEX_EINVAL,
 * which names both jobs and says what to call. */
culex_status culex__result_check(const culex_job_type *job, const culex_struct_type *type,
                                 culex_error *error);

#endif
