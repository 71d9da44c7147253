#include "worker/crew.h"

#include <assert.h>

#include "store/storeurl.h"
#include "worker/jobs.h"
#include "worker/worker_errands.h"
#include "worker/worker_private.h"

#define GONE_TEXT                                                                                  \
    "the process that starts the children has died: no more runs can be executed, the worker "     \
    "gives back what it holds and ends"
#define STRANDED_TEXT                                                                              \
    "no child process could be started for 30 s, and runs are left: the drain ends"

enum {
    STOP_MS = 100,       /* for handlers to return when the worker ends */
    STRANDED_MS = 30000, /* which a drain waits for a process */
};

static_assert(STRANDED_MS == 30000, "the text above names another time");

/* --- beginning and end --------------------------------------------------------------------- */

static void forget_secrets(void *user)
{
    (void)user;
    culex__environment_forget();
}

/* How far the memory limits of jobs hold, when that is not all the way. */
static void memory_limits_tell(const culex_worker *worker)
{
    bool is_none = worker->options.isolation == CULEX_ISOLATION_NONE;
    for (size_t i = 0; i < worker->job_count && worker->options.cgroup == NULL; i++) {
        if (worker->jobs[i].type->memory_bytes <= 0)
            continue;
        culex__log_write(&worker->log, is_none ? CULEX_LOG_WARNING : CULEX_LOG_INFO, NULL,
                         is_none ? "the memory limit of job %s is not enforced: isolation is none"
                                 : "the memory limit of job %s bounds each process of a run by "
                                   "itself; --cgroup DIR bounds them together",
                         worker->jobs[i].type->name);
        return;
    }
}

static struct culex_handler_config handler_config(const culex_worker *worker)
{
    const culex_worker_options *options = &worker->options;
    struct culex_handler_config config = {
        .log = &worker->log,
        .env = worker->env,
        .jobs = worker->jobs,
        .job_count = worker->job_count,
        .lease_ms = options->lease_ms,
        .hooks = worker->hooks,
        .gate = worker->gate,
        .chains = {worker->chains, worker->chain_count},
        .tracing = culex__worker_tracing(worker),
        .keys = worker->keys,
        .store_timeout_ms = worker->store_settings.timeout_ms > 0
                                ? worker->store_settings.timeout_ms
                                : CULEX_STORE_TIMEOUT_MS,
        .home = {.url = options->url, .url_file = options->url_file, .prefix = options->prefix},
        .forget = forget_secrets};
    culex__home_store_note_folder(&config.home);
    return config;
}

static culex_status executor_make(culex_worker *worker, culex_error *error)
{
    const culex_worker_options *options = &worker->options;
    bool is_none = options->isolation == CULEX_ISOLATION_NONE;
    culex_executor_make make = worker->executor_make != NULL ? worker->executor_make
                               : is_none                     ? culex__executor_threads_create
                                                             : culex__executor_children_create;
    struct culex_executor_config config = {.isolation = options->isolation,
                                           .count = options->concurrency,
                                           .handler = handler_config(worker),
                                           .cgroup = options->cgroup,
                                           .setup_ms = worker->setup_ms,
                                           .serve = is_none ? culex__worker_serve_apart
                                                            : culex__worker_serve,
                                           .serve_user = worker};
    return make(&config, &worker->crew.executor, error);
}

culex_status culex__crew_start(culex_worker *worker, culex_error *error)
{
    assert(worker->crew.executor == NULL);
    culex__jobs_bind_hooks(worker);
    culex_status status = executor_make(worker, error);
    if (status == CULEX_OK)
        memory_limits_tell(worker);
    return status;
}

static void executor_end(culex_worker *worker)
{
    struct culex_executor *executor = worker->crew.executor;
    bool can_kill = executor->ops->can_kill;
    const char *fate = can_kill ? "their processes are killed"
                                : "their threads are left behind, threads cannot be killed";
    int64_t deadline_ns = culex__worker_now_ns(worker) + STOP_MS * CULEX_MS_NS;
    size_t stuck = executor->ops->stop(executor, deadline_ns);
    if (stuck > 0 && !can_kill)
        worker->own_keys = NULL; /* they may still use them */
    if (stuck > 0)
        culex__log_write(&worker->log, CULEX_LOG_ERROR, NULL, "%zu handlers did not return: %s",
                         stuck, fate);
}

void culex__crew_end(culex_worker *worker)
{
    if (worker->crew.executor != NULL)
        executor_end(worker);
    worker->crew = (struct culex_crew){.executor = NULL};
}

/* --- runs ---------------------------------------------------------------------------------- */

void culex__crew_bind(const culex_worker *worker, struct culex_run *run)
{
    run->log = &worker->crew.executor->log;
    culex__news_reset(&run->news, &worker->crew.executor->has_news);
}

void culex__crew_submit(culex_worker *worker, struct culex_run *const *runs, size_t count)
{
    struct culex_executor *executor = worker->crew.executor;
    worker->crew.count += count;
    executor->ops->submit(executor, runs, count);
}

static size_t runs_leave(culex_worker *worker, size_t count)
{
    assert(count <= worker->crew.count);
    worker->crew.count -= count;
    return count;
}

size_t culex__crew_collect(culex_worker *worker, struct culex_run *ret_runs[CULEX_BATCH_MAX])
{
    struct culex_executor *executor = worker->crew.executor;
    return runs_leave(worker, executor->ops->collect(executor, ret_runs, CULEX_BATCH_MAX));
}

size_t culex__crew_withdraw(culex_worker *worker, struct culex_run *ret_runs[CULEX_BATCH_MAX])
{
    struct culex_executor *executor = worker->crew.executor;
    return runs_leave(worker, executor->ops->withdraw(executor, ret_runs, CULEX_BATCH_MAX));
}

void culex__crew_cancel(const culex_worker *worker, struct culex_run *run, int64_t term_ns,
                        int64_t kill_ns)
{
    struct culex_executor *executor = worker->crew.executor;
    executor->ops->cancel(executor, run, term_ns, kill_ns);
}

void culex__crew_renew(const culex_worker *worker, struct culex_run *run)
{
    struct culex_executor *executor = worker->crew.executor;
    if (executor->ops->renew != NULL)
        executor->ops->renew(executor, run);
}

/* --- questions ------------------------------------------------------------------------------ */

size_t culex__crew_queued(const culex_worker *worker)
{
    return worker->crew.executor->ops->queued(worker->crew.executor);
}

int culex__crew_fd(const culex_worker *worker)
{
    return worker->crew.executor->ops->fd(worker->crew.executor);
}

bool culex__crew_can_kill(const culex_worker *worker)
{
    return worker->crew.executor->ops->can_kill;
}

size_t culex__crew_capacity(const culex_worker *worker)
{
    struct culex_executor *executor = worker->crew.executor;
    size_t most = worker->presence.concurrency; /* 0: nobody wishes for fewer */
    size_t able = executor->ops->capacity != NULL ? executor->ops->capacity(executor)
                                                  : worker->options.concurrency;
    return most > 0 && most < able ? most : able;
}

bool culex__crew_take_news(const culex_worker *worker)
{
    return atomic_exchange_explicit(&worker->crew.executor->has_news, false, memory_order_acquire);
}

bool culex__crew_is_gone(const culex_worker *worker)
{
    struct culex_executor *executor = worker->crew.executor;
    return executor->ops->is_broken != NULL && executor->ops->is_broken(executor);
}

int64_t culex__crew_next_ns(const culex_worker *worker)
{
    struct culex_executor *executor = worker->crew.executor;
    bool is_waiting = worker->options.drain && !worker->crew.is_broken;
    int64_t since_ns = is_waiting && executor->ops->stranded_ns != NULL
                           ? executor->ops->stranded_ns(executor)
                           : INT64_MAX;
    return since_ns == INT64_MAX ? INT64_MAX : since_ns + STRANDED_MS * CULEX_MS_NS;
}

bool culex__crew_breaks(culex_worker *worker, int64_t now_ns)
{
    bool is_gone = culex__crew_is_gone(worker);
    if (worker->crew.is_broken || (!is_gone && now_ns < culex__crew_next_ns(worker)))
        return false;
    worker->crew.is_broken = true;
    worker->crew.broken_text = is_gone ? GONE_TEXT : STRANDED_TEXT;
    return true;
}
