/* backup/worker.c - copies files and checks the copies.
 *
 *     worker [--url URL] ...
 *
 * No handler knows of another: that a check comes in behind its copy is in the store. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backup_job.h"

static bool streams_copy(FILE *from, FILE *to)
{
    int byte;
    while ((byte = getc(from)) != EOF) {
        if (putc(byte, to) == EOF)
            return false;
    }
    return !ferror(from);
}

static culex_outcome copy_file(culex_run *run, const shop_copy_file_job *job, void *user)
{
    (void)user;
    FILE *from = fopen(job->from, "rb");
    if (from == NULL)
        return culex_run_fail(run, "%s: %s", job->from, strerror(errno));
    FILE *to = fopen(job->to, "wb");
    bool is_copied = to != NULL && streams_copy(from, to);
    fclose(from);
    if (to != NULL)
        is_copied = fclose(to) == 0 && is_copied;
    return is_copied ? CULEX_DONE : culex_run_fail(run, "%s: %s", job->to, strerror(errno));
}

static bool streams_are_same(FILE *one, FILE *other)
{
    int byte;
    do {
        byte = getc(one);
        if (byte != getc(other))
            return false;
    } while (byte != EOF);
    return true;
}

static culex_outcome check_copy(culex_run *run, const shop_check_copy_job *job, void *user)
{
    (void)user;
    FILE *from = fopen(job->from, "rb");
    FILE *to = fopen(job->to, "rb");
    bool are_same = from != NULL && to != NULL && streams_are_same(from, to);
    if (from != NULL)
        fclose(from);
    if (to != NULL)
        fclose(to);
    if (!are_same)
        return culex_run_fail(run, "%s is not as %s", job->to, job->from);
    printf("%s is safe\n", job->from);
    return CULEX_DONE;
}

static culex_outcome tell_loss(culex_run *run, const shop_tell_loss_job *job, void *user)
{
    (void)run, (void)user;
    printf("%s has no copy\n", job->from);
    return CULEX_DONE;
}

static int setup(culex_worker *worker, void *user)
{
    return shop_copy_file_job_register(worker, copy_file, user) != CULEX_OK ||
           shop_check_copy_job_register(worker, check_copy, user) != CULEX_OK ||
           shop_tell_loss_job_register(worker, tell_loss, user) != CULEX_OK;
}

int main(int argc, char **argv)
{
    return culex_worker_main(argc, argv, setup, NULL);
}
