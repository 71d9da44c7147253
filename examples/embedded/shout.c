#include "shout.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "embedded_job.h"

enum { BUDGET_MS = 5 /* that the worker may have at a time, while others wait in the loop */ };

static culex_outcome say(culex_run *run, const shout_job *job, void *user)
{
    (void)run, (void)user;
    for (const char *at = job->text; *at != '\0'; at++)
        putchar(toupper((unsigned char)*at));
    putchar('\n');
    return CULEX_DONE;
}

static bool told(struct shout *shout, const char *what, const culex_error *error)
{
    fprintf(stderr, "embedded: %s: %s\n", what, error->text);
    shout->failures++;
    return false;
}

bool shout_begin(struct shout *shout)
{
    culex_error error = {CULEX_OK, "", ""};
    culex_worker_options options = {0};
    options.concurrency = 1;
    options.log_level = 2;
    if (culex_worker_create(&options, &shout->worker, &error) != CULEX_OK)
        return told(shout, "no worker", &error);
    if (shout_job_register(shout->worker, say, NULL) != CULEX_OK ||
        culex_worker_start(shout->worker, &error) != CULEX_OK)
        return told(shout, "the worker does not start", &error);
    if (culex_client_open(NULL, NULL, &shout->client, &error) != CULEX_OK)
        return told(shout, "no client", &error);
    return true;
}

static void line_enqueue(struct shout *shout, const char *line)
{
    culex_error error = {CULEX_OK, "", ""};
    shout_job job = shout_job_make(line);
    if (shout_job_enqueue(shout->client, &job, NULL, NULL, &error) != CULEX_OK)
        told(shout, line, &error);
}

bool shout_read(struct shout *shout)
{
    char text[1024];
    ssize_t len = read(STDIN_FILENO, text, sizeof text - 1); /* whole lines, from a terminal */
    if (len <= 0)
        return false;
    text[len] = '\0';
    for (char *rest = NULL, *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        line_enqueue(shout, line);
    return true;
}

bool shout_work(struct shout *shout)
{
    culex_error error = {CULEX_OK, "", ""};
    culex_status status = culex_worker_process(shout->worker, BUDGET_MS, &error);
    if (status != CULEX_OK && status != CULEX_EOVER)
        told(shout, "the worker has ended", &error);
    return status == CULEX_OK;
}

void shout_end(struct shout *shout)
{
    culex_client_close(shout->client);
    culex_worker_free(shout->worker);
}
