/* executor/executor_threads.c - handlers on threads of this process.
 *
 * One lock guards two lists: runs to start and runs that ended. A thread takes one run at
 * a time, so that a slow one holds up nobody. Wake-ups are what costs, not the lock:
 *  - submit wakes only as many sleeping threads as there are runs;
 *  - an ended run is announced by the bell only when nothing is left to start, when
 *    the batch has become half the supervisor's appetite, or when the last announcement
 *    is ANNOUNCE_NS ago; the supervisor looks in by itself within QUIET_MS as well.
 *
 * A thread cannot be killed. When a handler does not return by the end of stop, its
 * thread is detached, and the last of them frees the executor. */
#include "executor/executor.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/instant.h"
#include "core/end_text.h"
#include "handler/loan.h"
#include "base/notice.h"
#include "core/patience.h"
#include "handler/run_list.h"
#include "platform/descriptor.h"
#include "platform/events.h"

enum { ANNOUNCE_NS = 500000, ANNOUNCE_COUNT = 16 };

struct threads {
    struct culex_executor base;
    const struct culex_env *env;
    int fd;
    pthread_mutex_t serving;  /* guards these two, held while the store is asked */
    culex_errand_serve serve; /* NULL: the worker is gone */
    void *serve_user;
    struct culex_loan loan;
    struct culex_home_store home;

    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t work;  /* something to start, or stopping */
    pthread_cond_t gone;  /* a thread has ended */
    struct culex_run_list to_start;
    struct culex_run_list ended;
    size_t sleeping;
    size_t unready;      /* threads whose set-up has not come to a good end yet */
    pthread_cond_t stop; /* stopping, for those */
    struct culex_notice unready_notice;
    struct culex_process_hooks hooks;
    size_t alive;       /* threads that have not ended */
    size_t executing;   /* of those, in a handler */
    size_t unannounced; /* of `ended`, since the bell was rung */
    int64_t announced_ns;
    bool is_stopping;
    bool is_abandoned; /* the last thread frees us */
    size_t thread_count;
    pthread_t threads[];
};

static void threads_free(struct threads *threads)
{
    culex__descriptor_close(threads->fd);
    culex__run_list_free(&threads->to_start);
    culex__run_list_free(&threads->ended);
    pthread_cond_destroy(&threads->stop);
    pthread_cond_destroy(&threads->gone);
    pthread_cond_destroy(&threads->work);
    pthread_mutex_destroy(&threads->lock);
    pthread_mutex_destroy(&threads->serving);
    culex__loan_release(&threads->loan);
    free(threads);
}

/* --- what handlers ask of the store --------------------------------------------------------- */

static culex_status threads_exchange(void *self, const culex_buf *request, int64_t deadline_ns,
                                     culex_buf *answer, culex_error *error)
{
    struct threads *threads = self;
    (void)deadline_ns; /* the store has a limit of its own */
    pthread_mutex_lock(&threads->serving);
    bool is_served = threads->serve != NULL;
    if (is_served)
        threads->serve(threads->serve_user, request->data, request->len, answer);
    pthread_mutex_unlock(&threads->serving);
    return is_served ? CULEX_OK : culex__fail(error, CULEX_ECONNECT, "the worker has ended");
}

/* The worker goes, and a stuck handler stays. Waits for the call to the store that is under way, if
 * there is one, and not for a handler that calls again and again because the store is away. */
static void errands_close(struct threads *threads)
{
    pthread_mutex_lock(&threads->serving);
    threads->serve = NULL;
    threads->serve_user = NULL;
    pthread_mutex_unlock(&threads->serving);
    threads->home = (struct culex_home_store){.url = ""};
}

/* --- runs ---------------------------------------------------------------------------------- */

static void threads_announce(struct threads *threads, int64_t now_ns)
{
    threads->unannounced = 0;
    threads->announced_ns = now_ns;
    culex__bell_ring(threads->fd);
}

/* Called with the lock held. */
static void threads_finish(struct threads *threads, struct culex_run *run)
{
    int64_t now_ns = run->end.ended_ns;
    culex__run_list_push(&threads->ended, run);
    threads->unannounced++;
    if (threads->to_start.count == 0 || threads->unannounced >= ANNOUNCE_COUNT ||
        now_ns - threads->announced_ns >= ANNOUNCE_NS)
        threads_announce(threads, now_ns);
}

/* The next run, or NULL when the thread should end. Called with the lock held. */
static struct culex_run *threads_take(struct threads *threads)
{
    while (threads->to_start.count == 0 && !threads->is_stopping) {
        threads->sleeping++;
        pthread_cond_wait(&threads->work, &threads->lock);
        threads->sleeping--;
    }
    return culex__run_list_pop(&threads->to_start);
}

/* --- the program's set-up, once in each thread ----------------------------------------------- */

/* Called with the lock held. */
static void setup_await(struct threads *threads, uint32_t failures)
{
    struct timespec until;
    int64_t wait_ms = culex__patience_ms(failures, culex__env_random(threads->env));
    clock_gettime(CLOCK_REALTIME, &until);
    int64_t ns = until.tv_nsec + (wait_ms < 1000 ? wait_ms : 1000) * CULEX_MS_NS;
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    if (!threads->is_stopping)
        pthread_cond_timedwait(&threads->stop, &threads->lock, &until);
}

static void setup_log(struct threads *threads, const char *text)
{
    if (text[0] == '\0')
        text = CULEX__NO_REASON_TEXT;
    if (!culex__notice_tell(&threads->unready_notice, text, culex__env_boottime_ns(threads->env)))
        return;
    culex__log_write(&threads->base.log, CULEX_LOG_WARNING, NULL,
                     "cannot set up a handler thread, trying again: %s", text);
}

/* False when the executor stops before it has worked. Called with the lock held. */
static bool thread_open(struct threads *threads, void **ret_process)
{
    if (threads->hooks.open == NULL)
        return true;
    for (uint32_t failures = 1; !threads->is_stopping; failures++) {
        culex_error error = {0};
        pthread_mutex_unlock(&threads->lock);
        culex_status status = culex__process_hooks_open(&threads->hooks, ret_process, &error);
        pthread_mutex_lock(&threads->lock);
        if (status == CULEX_OK) {
            threads->unready--;
            threads_announce(threads, culex__env_boottime_ns(threads->env));
            return true;
        }
        setup_log(threads, error.text);
        setup_await(threads, failures);
    }
    return false;
}

/* Called with the lock held. */
static void thread_close(struct threads *threads, void *process)
{
    if (threads->hooks.close == NULL || threads->is_abandoned)
        return;
    pthread_mutex_unlock(&threads->lock);
    culex__process_hooks_close(&threads->hooks, process);
    pthread_mutex_lock(&threads->lock);
}

static size_t threads_capacity(struct culex_executor *executor)
{
    struct threads *threads = (struct threads *)executor;
    pthread_mutex_lock(&threads->lock);
    size_t capacity = threads->thread_count - threads->unready;
    pthread_mutex_unlock(&threads->lock);
    return capacity;
}

/* --- a thread -------------------------------------------------------------------------------- */

static void *thread_main(void *argument)
{
    struct threads *threads = argument;
    culex_arena *arena = NULL;
    void *process = NULL;
    culex__home_store_enter(&threads->home);
    pthread_mutex_lock(&threads->lock);
    bool is_open = thread_open(threads, &process);
    for (struct culex_run *run; is_open && (run = threads_take(threads)) != NULL;) {
        threads->executing++;
        pthread_mutex_unlock(&threads->lock);
        if (arena == NULL)
            arena = culex_arena_create();
        run->loan = &threads->loan;
        run->process = process;
        culex__run_execute(run, arena, threads->env);
        pthread_mutex_lock(&threads->lock);
        threads->executing--;
        threads_finish(threads, run);
    }
    if (is_open && threads->hooks.open != NULL)
        thread_close(threads, process);
    threads->alive--;
    bool is_last = threads->is_abandoned && threads->alive == 0;
    pthread_cond_signal(&threads->gone);
    pthread_mutex_unlock(&threads->lock);
    culex_arena_free(arena);
    if (is_last)
        threads_free(threads);
    return NULL;
}

static int threads_fd(struct culex_executor *executor)
{
    return ((struct threads *)executor)->fd;
}

static void threads_submit(struct culex_executor *executor, struct culex_run *const *runs,
                           size_t count)
{
    struct threads *threads = (struct threads *)executor;
    pthread_mutex_lock(&threads->lock);
    for (size_t i = 0; i < count; i++)
        culex__run_list_push(&threads->to_start, runs[i]);
    size_t wakes = threads->sleeping < count ? threads->sleeping : count;
    for (size_t i = 0; i < wakes; i++)
        pthread_cond_signal(&threads->work);
    pthread_mutex_unlock(&threads->lock);
}

static size_t threads_collect(struct culex_executor *executor, struct culex_run **ret_runs,
                              size_t max)
{
    struct threads *threads = (struct threads *)executor;
    size_t count = 0;
    pthread_mutex_lock(&threads->lock);
    while (count < max && threads->ended.count > 0)
        ret_runs[count++] = culex__run_list_pop(&threads->ended);
    if (threads->ended.count == 0) {
        culex__bell_take(threads->fd);
        threads->unannounced = 0;
    }
    pthread_mutex_unlock(&threads->lock);
    return count;
}

static size_t threads_withdraw(struct culex_executor *executor, struct culex_run **ret_runs,
                               size_t max)
{
    struct threads *threads = (struct threads *)executor;
    struct culex_run_list kept = {0};
    size_t count = 0;
    pthread_mutex_lock(&threads->lock);
    size_t skip = threads->to_start.count > max ? threads->to_start.count - max : 0;
    for (struct culex_run *run; (run = culex__run_list_pop(&threads->to_start)) != NULL;) {
        if (skip > 0) {
            skip--;
            culex__run_list_push(&kept, run);
        } else
            ret_runs[count++] = run;
    }
    threads->to_start = kept;
    pthread_mutex_unlock(&threads->lock);
    for (size_t i = 0; i < count / 2; i++) {
        struct culex_run *swap = ret_runs[i];
        ret_runs[i] = ret_runs[count - 1 - i];
        ret_runs[count - 1 - i] = swap;
    }
    return count;
}

static size_t threads_queued(struct culex_executor *executor)
{
    struct threads *threads = (struct threads *)executor;
    pthread_mutex_lock(&threads->lock);
    size_t count = threads->to_start.count;
    pthread_mutex_unlock(&threads->lock);
    return count;
}

static void threads_cancel(struct culex_executor *executor, struct culex_run *run, int64_t term_ns,
                           int64_t kill_ns)
{
    (void)executor;
    (void)term_ns;
    (void)kill_ns;
    atomic_store_explicit(&run->is_cancelled, true, memory_order_relaxed);
}

/* Waits for all threads to end: until `deadline_ns` for handlers, CULEX_DISMISS_MS longer for
 * threads that are in none, which have something to give back for their program. Returns how many
 * have not ended. Called with the lock held. The waits are short, so that a driven clock is seen to
 * move. */
static size_t threads_await(struct threads *threads, int64_t deadline_ns)
{
    while (threads->alive > 0) {
        int64_t more_ns = threads->alive > threads->executing ? CULEX_DISMISS_MS * CULEX_MS_NS : 0;
        if (culex__env_boottime_ns(threads->env) - more_ns >= deadline_ns)
            break;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        pthread_cond_timedwait(&threads->gone, &threads->lock, &until);
    }
    return threads->alive;
}

static size_t threads_stop(struct culex_executor *executor, int64_t deadline_ns)
{
    struct threads *threads = (struct threads *)executor;
    pthread_mutex_lock(&threads->lock);
    threads->is_stopping = true;
    pthread_cond_broadcast(&threads->work);
    pthread_cond_broadcast(&threads->stop);
    size_t stuck = threads_await(threads, deadline_ns);
    threads->is_abandoned = stuck > 0;
    if (stuck > 0) {
        for (size_t i = 0; i < threads->thread_count; i++)
            pthread_detach(threads->threads[i]);
    }
    pthread_mutex_unlock(&threads->lock);
    if (stuck > 0)
        errands_close(threads);
    if (stuck == 0) {
        for (size_t i = 0; i < threads->thread_count; i++)
            pthread_join(threads->threads[i], NULL);
        threads_free(threads);
    }
    return stuck;
}

static const struct culex_executor_ops threads_ops = {
    .name = "threads",
    .fd = threads_fd,
    .submit = threads_submit,
    .collect = threads_collect,
    .withdraw = threads_withdraw,
    .queued = threads_queued,
    .cancel = threads_cancel,
    .capacity = threads_capacity,
    .stop = threads_stop,
};

/* Signals are the program's business; only those that a fault raises reach a handler. */
static void signals_block(sigset_t *ret_before)
{
    sigset_t blocked;
    sigfillset(&blocked);
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, ret_before);
}

static culex_status threads_start(struct threads *threads, unsigned count, culex_error *error)
{
    sigset_t before;
    int failure = 0;
    signals_block(&before);
    pthread_mutex_lock(&threads->lock);
    while (threads->thread_count < count && failure == 0) {
        failure =
            pthread_create(&threads->threads[threads->thread_count], NULL, thread_main, threads);
        if (failure == 0)
            threads->thread_count++;
    }
    threads->alive = threads->thread_count;
    pthread_mutex_unlock(&threads->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0)
        return culex__fail(error, CULEX_ENOMEM, "cannot start handler thread %zu of %u: %s",
                           threads->thread_count + 1, count, strerror(failure));
    return CULEX_OK;
}

culex_status culex__executor_threads_create(const struct culex_executor_config *config,
                                            struct culex_executor **ret_executor,
                                            culex_error *error)
{
    unsigned count = config->count;
    struct threads *threads = calloc(1, sizeof *threads + count * sizeof threads->threads[0]);
    if (threads == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for %u handler threads", count);
    threads->base.ops = &threads_ops;
    threads->base.log = *config->handler.log;
    threads->env = config->handler.env;
    threads->serve = config->serve;
    threads->serve_user = config->serve_user;
    threads->home = config->handler.home;
    culex__loan_init(&threads->loan, (struct culex_errand_way){threads_exchange, threads},
                     config->handler.store_timeout_ms, config->handler.env);
    culex__loan_set_gate(&threads->loan, config->handler.gate, config->handler.keys);
    threads->loan.chains = config->handler.chains;
    threads->loan.tracing = config->handler.tracing;
    pthread_mutex_init(&threads->lock, NULL);
    pthread_mutex_init(&threads->serving, NULL);
    pthread_cond_init(&threads->work, NULL);
    pthread_cond_init(&threads->gone, NULL);
    pthread_cond_init(&threads->stop, NULL);
    threads->hooks = config->handler.hooks;
    threads->unready = config->handler.hooks.open != NULL ? count : 0;
    threads->fd = culex__bell_open();
    culex_status status = CULEX_OK;
    if (threads->fd < 0)
        status = culex__fail(error, CULEX_ENOMEM, "cannot make an eventfd: %s", strerror(errno));
    else
        status = threads_start(threads, count, error);
    if (status != CULEX_OK) {
        if (threads->thread_count > 0)
            threads_stop(&threads->base, INT64_MAX);
        else
            threads_free(threads);
        return status;
    }
    *ret_executor = &threads->base;
    return CULEX_OK;
}
