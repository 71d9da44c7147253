/* process/spore.c - runs that bring others in every way, for tests of what goes along with them.
 * spore HOW [TRACEPARENT [TRACESTATE]]  enqueues one, and prints its id; HOW is one of
 *   client follow many all after batch thread   how the run brings the next one, twice
 *   crash fail hang                             how its first attempt ends
 *   life lone keyed                             a chain; unique; with an idempotency key
 * spore OPTIONS  runs as a worker, which prints at each start
 *   "JOB HOW DEPTH ATTEMPT TRACEPARENT TRACESTATE ID"
 * SPORE_OWN is the trace that a run gives the next one, with SPORE_RIPENS a job begins by itself.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spore_job.h"

static const char *text_or_dash(const char *text)
{
    return text[0] != '\0' ? text : "-";
}

static void say(const culex_run *run, const char *how, uint32_t depth)
{
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(culex_run_id(run), id);
    printf("%s %s %u %u %s %s %s\n", culex_run_job(run), how, depth, culex_run_attempt(run),
           text_or_dash(culex_run_traceparent(run)), text_or_dash(culex_run_tracestate(run)), id);
    fflush(stdout);
}

/* ---- how a run brings the next one ------------------------------------------------------------
 */

struct bearing {
    culex_run *run;
    culex_client *client;
    const spore_grow_job *child;
    culex_enqueue_options options;
    culex_error error;
};

static culex_status by_client(struct bearing *bearing)
{
    return spore_grow_job_enqueue(bearing->client, bearing->child, &bearing->options, NULL,
                                  &bearing->error);
}

static culex_status by_follow(struct bearing *bearing)
{
    return spore_grow_job_enqueue_from(bearing->run, bearing->child, &bearing->options,
                                       &bearing->error);
}

static culex_status by_many(struct bearing *bearing)
{
    return culex_client_enqueue_many(bearing->client, &spore_grow_job_type, bearing->child,
                                     sizeof *bearing->child, 1, &bearing->options, NULL, NULL,
                                     &bearing->error);
}

static culex_status by_all(struct bearing *bearing)
{
    culex_enqueue_item item =
        culex_enqueue_item_make(&spore_grow_job_type, bearing->child, &bearing->options);
    return culex_client_enqueue_all(bearing->client, &item, 1, &bearing->error);
}

static culex_status by_after(struct bearing *bearing)
{
    culex_uuid own = culex_run_id(bearing->run);
    bearing->options.after = &own;
    return by_client(bearing);
}

/* A callback of a batch without members. */
static culex_status by_batch(struct bearing *bearing)
{
    culex_batch batch;
    culex_status status =
        culex_batch_open(bearing->client, "spores", NULL, &batch, &bearing->error);
    if (status != CULEX_OK)
        return status;
    bearing->options.batch = &batch;
    bearing->options.batch_when = CULEX_BATCH_ON_COMPLETE;
    status = by_client(bearing);
    return status == CULEX_OK ? culex_batch_close(bearing->client, &batch, &bearing->error)
                              : status;
}

static void *thread_serve(void *user)
{
    struct bearing *bearing = user;
    if (by_client(bearing) != CULEX_OK)
        fprintf(stderr, "spore: %s\n", bearing->error.text);
    return NULL;
}

/* A thread of the handler's own tells it. */
static culex_status by_thread(struct bearing *bearing)
{
    pthread_t thread;
    bearing->options.traceparent = culex_run_traceparent(bearing->run);
    if (pthread_create(&thread, NULL, thread_serve, bearing) != 0)
        return CULEX_ENOMEM;
    pthread_join(thread, NULL);
    return CULEX_OK;
}

static const struct way {
    const char *name;
    culex_status (*bear)(struct bearing *bearing);
} ways[] = {{"client", by_client}, {"follow", by_follow}, {"many", by_many},    {"all", by_all},
            {"after", by_after},   {"batch", by_batch},   {"thread", by_thread}};

static culex_status bear(culex_run *run, const spore_grow_job *job, culex_error *error)
{
    spore_grow_job child = *job;
    struct bearing bearing = {
        run, culex_run_client(run), &child, culex_enqueue_options_make(), {CULEX_OK, "", ""}};
    culex_status status = CULEX_OK;
    child.depth = job->depth + 1;
    child.has_own = false;
    child.own = NULL;
    if (job->has_own)
        bearing.options.traceparent = job->own;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0] && job->depth < 2; i++) {
        if (strcmp(ways[i].name, job->how) == 0)
            status = ways[i].bear(&bearing);
    }
    *error = bearing.error;
    return status;
}

/* ---- handlers ---------------------------------------------------------------------------------
 */

static culex_outcome grow(culex_run *run, const spore_grow_job *job, void *user)
{
    culex_error error = {CULEX_OK, "", ""};
    (void)user;
    say(run, job->how, job->depth);
    if (culex_run_attempt(run) == 1 && strcmp(job->how, "crash") == 0)
        raise(SIGSEGV);
    if (culex_run_attempt(run) == 1 && strcmp(job->how, "fail") == 0)
        return culex_run_fail(run, "no \"luck\"");
    while (culex_run_attempt(run) == 1 && strcmp(job->how, "hang") == 0 &&
           !culex_run_cancelled(run))
        usleep(10000);
    const spore_grow_result result = spore_grow_result_make(job->how);
    if (bear(run, job, &error) != CULEX_OK ||
        spore_grow_job_set_result(run, &result, &error) != CULEX_OK)
        return culex_run_fail(run, "%s: %s", job->how, error.text);
    return CULEX_DONE;
}

static culex_outcome lone(culex_run *run, const spore_lone_job *job, void *user)
{
    (void)user;
    say(run, "-", job->number);
    return CULEX_DONE;
}

static culex_outcome ripen(culex_run *run, const spore_ripen_job *job, void *user)
{
    (void)user;
    say(run, "-", job->number);
    return CULEX_DONE;
}

static culex_outcome rest(culex_run *run, const spore_rest_job *job, void *user)
{
    (void)user;
    say(run, job->how, 1);
    return CULEX_DONE;
}

static int setup(culex_worker *worker, void *user)
{
    (void)user;
    if (getenv("SPORE_RIPENS") != NULL && spore_ripen_job_register(worker, ripen, NULL) != CULEX_OK)
        return 1;
    return spore_grow_job_register(worker, grow, NULL) != CULEX_OK ||
           spore_lone_job_register(worker, lone, NULL) != CULEX_OK ||
           spore_rest_job_register(worker, rest, NULL) != CULEX_OK ||
           spore_life_chain_register(worker) != CULEX_OK;
}

/* ---- producers --------------------------------------------------------------------------------
 */

static culex_status enqueue(culex_client *client, const char *how, culex_enqueue_options *options,
                            culex_uuid *ret_id, culex_error *error)
{
    spore_grow_job job = spore_grow_job_make(how);
    const spore_lone_job only = spore_lone_job_make(7);
    if (getenv("SPORE_OWN") != NULL)
        spore_grow_job_set_own(&job, getenv("SPORE_OWN"));
    if (strcmp(how, "life") == 0)
        return spore_life_chain_enqueue(client, &job, options, ret_id, error);
    if (strcmp(how, "lone") == 0)
        return spore_lone_job_enqueue(client, &only, options, ret_id, error);
    if (strcmp(how, "keyed") == 0)
        options->idempotency_key = "once";
    return spore_grow_job_enqueue(client, &job, options, ret_id, error);
}

int main(int argc, char **argv)
{
    culex_client *client = NULL;
    culex_error error = {CULEX_OK, "", ""};
    culex_uuid id;
    char text[CULEX_UUID_TEXT_SIZE];
    culex_enqueue_options options = culex_enqueue_options_make();
    if (argc < 2 || argv[1][0] == '-')
        return culex_worker_main(argc, argv, setup, NULL);
    options.traceparent = argc > 2 ? argv[2] : NULL;
    options.tracestate = argc > 3 ? argv[3] : NULL;
    culex_status status = culex_client_open(NULL, NULL, &client, &error);
    if (status == CULEX_OK)
        status = enqueue(client, argv[1], &options, &id, &error);
    culex_client_close(client);
    if (status != CULEX_OK) {
        fprintf(stderr, "spore: %s: %s\n", culex_status_name(status), error.text);
        return 1;
    }
    culex_uuid_format(id, text);
    printf("%s\n", text);
    return 0;
}
