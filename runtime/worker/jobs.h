/* worker/jobs.h - the jobs that are registered with a worker. */
#ifndef CULEX_WORKER_JOBS_H
#define CULEX_WORKER_JOBS_H

#include <culex/worker.h>

struct culex_job;

/* CULEX_EINVAL when another one has its name, here or in the store. */
culex_status culex__jobs_add(culex_worker *worker, const struct culex_job *job, culex_error *error);

/* Tells each job which hooks concern it: before any run, when all are there. */
void culex__jobs_bind_hooks(culex_worker *worker);

/* The registered job of that wire name, or NULL. */
const struct culex_job *culex__jobs_find(const culex_worker *worker, const char *wire);

#endif
