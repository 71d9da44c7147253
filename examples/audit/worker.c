/* worker.c - transfers, with hooks: worker [--url URL] [--drain] ..., see worker --help
 *
 *     timing   around the runs of all jobs: how long each took
 *     right    before a transfer: who may order so much?
 *     audit    after a transfer: a line for the auditors, however it has ended
 *
 * `timing` is the outermost layer, as it is one of all jobs. Where `right` refuses, the handler is
 * not called; `audit` stands around it and tells of that too. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "audit_job.h"

enum { FREE_CENTS = 100000 };

static culex_outcome transfer(culex_run *run, const bank_transfer_job *job, void *user)
{
    (void)user;
    if (job->account == 0)
        return culex_run_discard(run, "there is no account 0");
    printf("%" PRIu64 " cents to account %" PRIu32 "\n", job->cents, job->account);
    return CULEX_DONE;
}

static culex_outcome right_check(culex_run *run, const void *params, void *user)
{
    const bank_transfer_job *job = params;
    (void)user;
    if (job->cents <= FREE_CENTS || strcmp(job->ordered_by, "director") == 0)
        return CULEX_DONE;
    return culex_run_discard(run, "%s may not order %" PRIu64 " cents", job->ordered_by,
                             job->cents);
}

static culex_outcome audit_write(culex_run *run, const void *params, culex_outcome outcome,
                                 const char *text, void *user)
{
    const bank_transfer_job *job = params;
    FILE *book = fopen(user, "a");
    if (book == NULL)
        return culex_run_fail(run, "cannot write to %s", (const char *)user);
    fprintf(book, "%s: account %" PRIu32 ", %" PRIu64 " cents%s%s\n",
            outcome == CULEX_DONE ? "done" : "refused", job->account, job->cents,
            text[0] != '\0' ? ": " : "", text);
    if (fclose(book) != 0)
        return culex_run_fail(run, "cannot write to %s", (const char *)user);
    return outcome;
}

static culex_outcome timing_take(culex_run *run, const void *params, culex_next *next, void *user)
{
    struct timespec begin, end;
    (void)params, (void)user;
    timespec_get(&begin, TIME_UTC);
    culex_outcome outcome = culex_next_call(next);
    timespec_get(&end, TIME_UTC);
    culex_log(run, "%s took %.3f ms", culex_run_job(run),
              (double)(end.tv_sec - begin.tv_sec) * 1e3 +
                  (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
    return outcome;
}

static int setup(culex_worker *worker, void *user)
{
    const culex_hook timing = {.name = "timing", .around = timing_take};
    const culex_hook audit = {.name = "audit", .after = audit_write, .user = user};
    const culex_hook right = {.name = "right", .before = right_check};
    return bank_transfer_job_register(worker, transfer, NULL) != CULEX_OK ||
           culex_worker_add_hook(worker, NULL, &timing) != CULEX_OK ||
           culex_worker_add_hook(worker, &bank_transfer_job_type, &audit) != CULEX_OK ||
           culex_worker_add_hook(worker, &bank_transfer_job_type, &right) != CULEX_OK;
}

int main(int argc, char **argv)
{
    static char book[] = "audit.txt";
    return culex_worker_main(argc, argv, setup, book);
}
