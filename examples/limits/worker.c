/* limits/worker.c - renders pages, draws and warns: worker [--url URL] [--offer gpu=2] ... */
#include <time.h>

#include "limits_job.h"

static culex_outcome render_page(culex_run *run, const shop_render_page_job *job, void *user)
{
    const struct timespec work = {0, 20000000};
    (void)user;
    culex_log(run, "%s: page %u begins", job->tenant, job->page);
    nanosleep(&work, NULL);
    culex_log(run, "%s: page %u ends", job->tenant, job->page);
    return CULEX_DONE;
}

static culex_outcome draw_previews(culex_run *run, const shop_draw_previews_job *job, void *user)
{
    const struct timespec work = {0, 20000000};
    (void)user;
    culex_log(run, "%s: previews begin", job->tenant);
    nanosleep(&work, NULL);
    culex_log(run, "%s: previews end", job->tenant);
    return CULEX_DONE;
}

static culex_outcome warn_tenant(culex_run *run, const shop_warn_tenant_job *job, void *user)
{
    (void)user;
    culex_log(run, "%s: %s", job->tenant, job->text);
    return CULEX_DONE;
}

static int setup(culex_worker *worker, void *user)
{
    int status = shop_render_page_job_register(worker, render_page, user);
    if (status == CULEX_OK)
        status = shop_draw_previews_job_register(worker, draw_previews, user);
    return status == CULEX_OK ? shop_warn_tenant_job_register(worker, warn_tenant, user) : status;
}

int main(int argc, char **argv)
{
    return culex_worker_main(argc, argv, setup, NULL);
}
