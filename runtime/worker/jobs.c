#include "worker/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "client/newrun.h"
#include "worker/worker_private.h"

/* Of two schemas that were never compiled together, two jobs may have one name in the store. */
static culex_status refuse_second(const culex_job_type *type, const culex_job_type *first,
                                  culex_error *error)
{
    if (strcmp(type->name, first->name) == 0)
        return culex__fail(error, CULEX_EINVAL, "job %s is registered already", type->name);
    return culex__fail(error, CULEX_EINVAL,
                       "job %s is stored as %s, and so is %s, which is registered already",
                       type->name, type->wire, first->name);
}

culex_status culex__jobs_add(culex_worker *worker, const struct culex_job *job, culex_error *error)
{
    if (worker == NULL)
        return culex__fail(error, CULEX_EINVAL, "no worker");
    culex_status status = culex__job_type_check(job->type, error);
    if (status != CULEX_OK)
        return status;
    for (size_t i = 0; i < worker->job_count; i++) {
        if (strcmp(worker->jobs[i].type->wire, job->type->wire) == 0)
            return refuse_second(job->type, worker->jobs[i].type, error);
    }
    struct culex_job *grown = realloc(worker->jobs, (worker->job_count + 1) * sizeof *worker->jobs);
    if (grown == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory to register job %s", job->type->name);
    worker->jobs = grown;
    worker->jobs[worker->job_count++] = *job;
    return CULEX_OK;
}

void culex__jobs_bind_hooks(culex_worker *worker)
{
    const struct culex_run_hooks *hooks = &worker->run_hooks;
    for (size_t i = 0; i < worker->job_count; i++)
        worker->jobs[i].hooks =
            culex__run_hooks_concern(hooks, worker->jobs[i].type) ? hooks : NULL;
}

const struct culex_job *culex__jobs_find(const culex_worker *worker, const char *wire)
{
    for (size_t i = 0; i < worker->job_count; i++) {
        if (strcmp(worker->jobs[i].type->wire, wire) == 0)
            return &worker->jobs[i];
    }
    return NULL;
}
