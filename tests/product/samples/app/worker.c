/* worker.c - prints what was asked for. */
#include <stdio.h>

#include "mail_job.h"
#include "note_job.h"

static culex_outcome charge(culex_run *run, const charge_job *job, void *user)
{
    (void)run;
    (void)user;
    printf("charge %s %d\n", job->who, (int)job->price.minor);
    return CULEX_DONE;
}

static culex_outcome note(culex_run *run, const note_job *job, void *user)
{
    (void)run;
    (void)user;
    printf("note %s\n", job->text);
    return CULEX_DONE;
}

static int setup(culex_worker *worker, void *user)
{
    int status = charge_job_register(worker, charge, user);
    return status != CULEX_OK ? status : (int)note_job_register(worker, note, user);
}

int main(int argc, char **argv)
{
    return culex_worker_main(argc, argv, setup, NULL);
}
