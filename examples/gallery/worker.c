/* gallery/worker.c - a job that has another one done when it is through: worker [--url URL] ...
 * Announcements go to the file "outbox".
 *
 * The "small picture" is the first bytes of the large one: this is about jobs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gallery_job.h"

enum { SMALL = 16 };

static char outbox_path[] = "outbox";

/* --- what each child process has ------------------------------------------------------------ */

/* The outbox stands for a connection: opened once, used by all runs of the process. */
static culex_status outbox_open(void *user, void **ret_process, culex_error *error)
{
    FILE *outbox = fopen(user, "a");
    if (outbox == NULL) {
        snprintf(error->text, sizeof error->text, "%s: %s", (const char *)user, strerror(errno));
        return CULEX_ECONNECT;
    }
    *ret_process = outbox;
    return CULEX_OK;
}

static void outbox_close(void *process, void *user)
{
    (void)user;
    fclose(process);
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* False with errno set when there is no picture to read or no place for the small one. */
static bool picture_shrink(const char *path, const char *small)
{
    char bytes[SMALL];
    FILE *from = fopen(path, "rb");
    FILE *to = from != NULL ? fopen(small, "wb") : NULL;
    size_t len = to != NULL ? fread(bytes, 1, sizeof bytes, from) : 0;
    bool is_ok = to != NULL && fwrite(bytes, 1, len, to) == len;
    if (from != NULL)
        fclose(from);
    return to != NULL && fclose(to) == 0 && is_ok;
}

/* The store that the run came from, wherever that is: this process does not know. */
static culex_status owner_tell(culex_run *run, const char *owner, const char *small,
                               culex_error *error)
{
    gallery_announce_job job = gallery_announce_job_make(owner, small);
    return gallery_announce_job_enqueue(culex_run_client(run), &job, NULL, NULL, error);
}

static culex_outcome thumbnail(culex_run *run, const gallery_thumbnail_job *job, void *user)
{
    culex_error error;
    char *small = culex_run_alloc(run, strlen(job->path) + sizeof ".small");
    (void)user;
    if (small == NULL)
        return culex_run_fail(run, "out of memory");
    strcpy(stpcpy(small, job->path), ".small");
    if (!picture_shrink(job->path, small))
        return culex_run_discard(run, "%s: %s", job->path, strerror(errno));
    if (owner_tell(run, job->owner, small, &error) != CULEX_OK)
        return culex_run_fail(run, "%s cannot be told: %s", job->owner, error.text);
    return CULEX_DONE;
}

static culex_outcome announce(culex_run *run, const gallery_announce_job *job, void *user)
{
    FILE *outbox = culex_run_process(run);
    (void)user;
    fprintf(outbox, "to %s: %s is ready\n", job->to, job->path);
    if (fflush(outbox) != 0)
        return culex_run_fail(run, "the outbox: %s", strerror(errno));
    return CULEX_DONE;
}

static int setup(culex_worker *worker, void *user)
{
    if (culex_worker_on_process(worker, outbox_open, outbox_close, outbox_path) != CULEX_OK)
        return 1;
    if (gallery_thumbnail_job_register(worker, thumbnail, user) != CULEX_OK)
        return 1;
    return gallery_announce_job_register(worker, announce, user);
}

int main(int argc, char **argv)
{
    return culex_worker_main(argc, argv, setup, NULL);
}
