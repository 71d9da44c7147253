/* books/worker.c - runs the books' jobs when their time has come: worker [--url URL] ... */
#include <stdio.h>

#include "books_job.h"

static culex_outcome close_books(culex_run *run, const shop_close_books_job *job, void *user)
{
    (void)job;
    (void)user;
    culex_log(run, "the books are closed");
    return CULEX_DONE;
}

static culex_outcome read_balance(culex_run *run, const shop_read_balance_job *job, void *user)
{
    (void)job;
    (void)user;
    culex_log(run, "the balance is even");
    return CULEX_DONE;
}

static int setup(culex_worker *worker, void *user)
{
    int status = shop_close_books_job_register(worker, close_books, user);
    return status == CULEX_OK ? shop_read_balance_job_register(worker, read_balance, user) : status;
}

int main(int argc, char **argv)
{
    return culex_worker_main(argc, argv, setup, NULL);
}
