/* feed/worker.c - reads the lines of a file that no run has read before: worker [--url URL] ...
 *
 * How far the runs have come is kept with the job. Where two runs read the same lines, one of them
 * sets that first, and the other begins anew from there: each line is counted once. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "feed_job.h"

enum { LINE_MAX_BYTES = 256 };

/* Takes what stands behind the first `kept->entries` lines. */
static void entries_take(FILE *feed, shop_poll_feed_metadata *kept, char newest[LINE_MAX_BYTES])
{
    char line[LINE_MAX_BYTES];
    uint64_t number = 0;
    while (fgets(line, sizeof line, feed) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (++number <= kept->entries)
            continue;
        kept->entries = number;
        kept->newest = strcpy(newest, line);
    }
}

static culex_outcome poll_feed(culex_run *run, const shop_poll_feed_job *job, void *user)
{
    char newest[LINE_MAX_BYTES];
    shop_poll_feed_metadata kept;
    uint64_t version, before;
    culex_error error;
    culex_status status;
    (void)user;
    FILE *feed = fopen(job->path, "r");
    if (feed == NULL)
        return culex_run_fail(run, "%s: %s", job->path, strerror(errno));
    do {
        status = shop_poll_feed_job_metadata_get(run, &kept, &version, &error);
        if (status != CULEX_OK)
            break;
        before = kept.entries;
        rewind(feed);
        entries_take(feed, &kept, newest);
        if (kept.entries > before)
            status = shop_poll_feed_job_metadata_set(run, &kept, &version, &error);
    } while (status == CULEX_ECONFLICT);
    fclose(feed);
    if (status != CULEX_OK)
        return culex_run_fail(run, "%s", error.text);
    culex_log(run, "took %llu entries", (unsigned long long)(kept.entries - before));
    return CULEX_DONE;
}

static int setup(culex_worker *worker, void *user)
{
    return shop_poll_feed_job_register(worker, poll_feed, user);
}

int main(int argc, char **argv)
{
    return culex_worker_main(argc, argv, setup, NULL);
}
