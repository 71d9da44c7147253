/* workers - what a real worker of one version does with the runs that another has enqueued.
 *
 * usage: workers URL WRITER READER
 * The two modules are those of exchange.c. A line of standard input is `JOB PAYLOAD`: each becomes
 * a run, enqueued by the writer; then a worker with the reader's jobs goes on until none waits:
 * each is executed, dead, or given back for a later time. Answered by `executed ID TEXT` for each
 * execution, as it happens, with the params as the reader would write them; and at the end, for
 * each run in its order, by `run ID STATE CHARGED WHY`: CHARGED is the number of its failures,
 * crashes and losses. STATE is `gone` for one that the store has forgotten, as it does with
 * successes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "history.h"

static const char queue[] = "histories";

struct runs {
    culex_uuid *ids;
    size_t count;
};

static void require(culex_status status, const char *what, const culex_error *error)
{
    if (status == CULEX_OK)
        return;
    fprintf(stderr, "workers: %s: %s\n", what, error->text);
    exit(2);
}

static void id_print(const char *word, culex_uuid id)
{
    printf("%s ", word);
    for (size_t i = 0; i < sizeof id.b; i++)
        printf("%02x", id.b[i]);
}

/* ---- the producer ---- */

static void enqueue(culex_client *client, const struct history_job *jobs, char *line,
                    struct runs *runs)
{
    culex_error error = {0};
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_arena *arena = culex_arena_create();
    const void *params = NULL;
    char *payload = strchr(line, ' ');
    if (payload == NULL || arena == NULL)
        abort();
    *payload++ = '\0';
    const struct history_job *job = history_find(jobs, line);
    if (job == NULL)
        abort();
    options.queue = queue;
    require(job->decode(arena, payload, strlen(payload), &params, &error), payload, &error);
    runs->ids = realloc(runs->ids, (runs->count + 1) * sizeof *runs->ids);
    require(culex_client_enqueue(client, job->type, params, &options, &runs->ids[runs->count++],
                                 &error),
            "enqueue", &error);
    culex_arena_free(arena);
}

static void enqueue_all(culex_client *client, const struct history_job *jobs, struct runs *runs)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    while ((len = getline(&line, &size, stdin)) > 0) {
        line[len - 1] = '\0';
        enqueue(client, jobs, line, runs);
    }
    free(line);
}

/* ---- the worker ---- */

/* Handlers run on threads of this process, so what one prints stays together by one lock. */
static culex_outcome execute(culex_run *run, culex_handler_fn handler, const void *params,
                             void *user)
{
    const struct history_job *job = user;
    culex_buf text;
    culex_error error = {0};
    (void)handler;
    culex_buf_init(&text, 0);
    require(job->encode(params, &text, &error), "encode", &error);
    flockfile(stdout);
    id_print("executed", culex_run_id(run));
    printf(" %s\n", (const char *)text.data);
    funlockfile(stdout);
    culex_buf_release(&text);
    return CULEX_DONE;
}

static void no_handler(void)
{
}

struct watch {
    const char *url;
    culex_worker *worker;
};

/* Stops the worker once it has had each run. What was given back is offered again after 5 s. */
static void *watch(void *user)
{
    const struct watch *watched = user;
    const struct timespec pause = {.tv_nsec = 5000000};
    culex_client *client = NULL;
    culex_queue_stats stats = {0};
    culex_error error = {0};
    require(culex_client_open(watched->url, NULL, &client, &error), watched->url, &error);
    for (unsigned left = 20000; left > 0; left--) {
        require(culex_client_stats(client, queue, &stats, &error), "stats", &error);
        if (stats.count[CULEX_RUN_WAITING] + stats.count[CULEX_RUN_ACTIVE] == 0)
            break;
        nanosleep(&pause, NULL);
    }
    culex_worker_stop(watched->worker);
    culex_client_close(client);
    return NULL;
}

static void work(const char *url, const struct history_job *jobs)
{
    static const char *const queues[] = {queue};
    const culex_worker_options options = {.url = url,
                                          .queues = queues,
                                          .queue_count = 1,
                                          .concurrency = 2,
                                          .batch = 256,
                                          .isolation = CULEX_ISOLATION_NONE,
                                          .log_level = 1};
    culex_error error = {0};
    culex_worker *worker = NULL;
    require(culex_worker_create(&options, &worker, &error), "worker", &error);
    for (const struct history_job *job = jobs; job->type != NULL; job++)
        require(job->is_retired ? culex_worker_retire(worker, job->type)
                                : culex_worker_register(worker, job->type, execute, no_handler,
                                                        (void *)(uintptr_t)job),
                "register", &error);
    struct watch watched = {url, worker};
    pthread_t watcher;
    if (pthread_create(&watcher, NULL, watch, &watched) != 0)
        abort();
    require(culex_worker_run(worker, &error), "run", &error);
    pthread_join(watcher, NULL);
    culex_worker_free(worker);
}

/* ---- what came of it ---- */

static void report(culex_client *client, const struct runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        culex_run_info *info = NULL;
        culex_error error = {0};
        culex_status status = culex_client_get(client, queue, runs->ids[i], &info, &error);
        if (status != CULEX_ENOTFOUND)
            require(status, "get", &error);
        id_print("run", runs->ids[i]);
        if (info == NULL)
            puts(" gone 0 ");
        else
            printf(" %s %u %s\n", culex_run_state_name(info->state),
                   (unsigned)(info->failures + info->crashes + info->losses), info->error_text);
        culex_run_info_free(info);
    }
}

int main(int argc, char **argv)
{
    struct runs runs = {0};
    culex_client *client = NULL;
    culex_error error = {0};
    if (argc != 4)
        return 2;
    require(culex_client_open(argv[1], NULL, &client, &error), argv[1], &error);
    enqueue_all(client, history_load(argv[2]), &runs);
    work(argv[1], history_load(argv[3]));
    report(client, &runs);
    culex_client_close(client);
    free(runs.ids);
    return 0;
}
