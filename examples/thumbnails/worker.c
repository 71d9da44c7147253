/* thumbnails/worker.c - three steps from a picture to the size of its thumbnail.
 *
 *     worker [--url URL] ...
 *
 * No handler enqueues anything: what it returns goes on to the next step, which comes in with the
 * end of this one. The pictures are of the PGM format, whose head is a text: "P2 640 480". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "thumbnails_job.h"

static culex_outcome measure(culex_run *run, const shop_measure_job *job, void *user)
{
    unsigned width = 0, height = 0;
    culex_error error;
    (void)user;
    FILE *picture = fopen(job->path, "r");
    if (picture == NULL)
        return culex_run_fail(run, "%s: %s", job->path, strerror(errno));
    int found = fscanf(picture, "P2 %u %u", &width, &height);
    fclose(picture);
    if (found != 2 || width == 0 || height == 0)
        return culex_run_discard(run, "%s is no picture", job->path); /* the chain ends here */
    shop_measure_result result = shop_measure_result_make(job->path, width, height);
    if (shop_measure_job_set_result(run, &result, &error) != CULEX_OK)
        return culex_run_fail(run, "%s", error.text);
    return CULEX_DONE;
}

static culex_outcome scale(culex_run *run, const shop_scale_job *job, void *user)
{
    culex_error error;
    uint32_t side = job->width > job->height ? job->width : job->height;
    shop_scale_result result = shop_scale_result_make(job->path, job->width, job->height);
    (void)user;
    if (side > job->most) {
        result.width = (uint32_t)((uint64_t)job->width * job->most / side);
        result.height = (uint32_t)((uint64_t)job->height * job->most / side);
    }
    if (shop_scale_job_set_result(run, &result, &error) != CULEX_OK)
        return culex_run_fail(run, "%s", error.text);
    return CULEX_DONE;
}

static culex_outcome publish(culex_run *run, const shop_publish_job *job, void *user)
{
    (void)run, (void)user;
    printf("%s %u x %u\n", job->path, (unsigned)job->width, (unsigned)job->height);
    return CULEX_DONE;
}

static int setup(culex_worker *worker, void *user)
{
    return shop_thumbnail_chain_register(worker) != CULEX_OK ||
           shop_measure_job_register(worker, measure, user) != CULEX_OK ||
           shop_scale_job_register(worker, scale, user) != CULEX_OK ||
           shop_publish_job_register(worker, publish, user) != CULEX_OK;
}

int main(int argc, char **argv)
{
    return culex_worker_main(argc, argv, setup, NULL);
}
