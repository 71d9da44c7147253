/* worker.c - greets: worker [--url URL] [--drain] ..., see worker --help */
#include <stdio.h>

#include "hello_job.h"

static culex_outcome hello(culex_run *run, const hello_job *job, void *user)
{
    (void)run;
    (void)user;
    printf("Hello, %s!\n", job->name);
    return CULEX_DONE;
}

static int setup(culex_worker *worker, void *user)
{
    return hello_job_register(worker, hello, user);
}

int main(int argc, char **argv)
{
    return culex_worker_main(argc, argv, setup, NULL);
}
