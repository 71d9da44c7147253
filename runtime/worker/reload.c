#include "worker/reload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log/log.h"
#include "platform/descriptor.h"
#include "platform/events.h"
#include "worker/lanes.h"
#include "worker/order.h"
#include "worker/phases.h"
#include "worker/manager.h"
#include "worker/presence.h"
#include "worker/queue_options.h"
#include "worker/worker_options.h"
#include "worker/worker_private.h"

void culex__reload_init(culex_worker *worker)
{
    worker->reload = (struct culex_reload){.bell_fd = -1};
}

void culex__reload_free(culex_worker *worker)
{
    culex__descriptor_close(worker->reload.bell_fd);
    worker->reload.bell_fd = -1;
}

bool culex__reload_set(culex_worker *worker, culex_options_read read, culex_options_settle settle,
                       void *user)
{
    struct culex_reload *reload = &worker->reload;
    if (reload->bell_fd < 0)
        reload->bell_fd = culex__bell_open();
    reload->read = read;
    reload->settle = settle;
    reload->user = user;
    reload->before = worker->options;
    return reload->bell_fd >= 0;
}

void culex__reload_ring(culex_worker *worker)
{
    int before = errno;
    /* A process forked from ours has our signal handlers and our eventfd. */
    if (worker->reload.bell_fd >= 0 && worker->owner == getpid())
        culex__bell_ring(worker->reload.bell_fd);
    errno = before;
}

/* --- what may change ------------------------------------------------------------------------- */

static void tell(const culex_worker *worker, int level, const char *name, const char *what)
{
    culex__log_write(&worker->log, level, NULL, "configuration: %s %s", name, what);
}

/* No more handlers than it began with: children are not made later. */
static void concurrency_take(culex_worker *worker, unsigned wanted)
{
    char what[96];
    unsigned most = worker->options.concurrency;
    snprintf(what, sizeof what, "is %u", wanted);
    if (wanted > most)
        snprintf(what, sizeof what, "is %u as at the start; %u counts at the next one", most,
                 wanted);
    tell(worker, wanted > most ? CULEX_LOG_WARNING : CULEX_LOG_INFO, "concurrency", what);
    culex__presence_set_concurrency(worker, wanted);
}

static void span_take(const culex_worker *worker, const char *name, int64_t ms)
{
    char span[CULEX_LOG_SPAN_SIZE], what[CULEX_LOG_SPAN_SIZE + 8];
    culex__log_format_span(ms > 0 ? ms : 0, span);
    snprintf(what, sizeof what, "is %s", span);
    tell(worker, CULEX_LOG_INFO, name, what);
}

/* Handlers, in processes or threads, have theirs from the start. */
static void log_level_tell(const culex_worker *worker, int level)
{
    static const char *const words[] = {"error", "warn", "info", "debug"};
    char what[64];
    snprintf(what, sizeof what, "is %s, but for what handlers write", words[level - 1]);
    tell(worker, CULEX_LOG_INFO, "log-level", what);
}

static void order_take(culex_worker *worker, culex_order order)
{
    static const char *const words[] = {"turns", "strict", "weighted"};
    char what[32];
    snprintf(what, sizeof what, "is %s", words[order - CULEX_ORDER_TURNS]);
    culex__order_set(worker, order);
    tell(worker, CULEX_LOG_INFO, "order", what);
}

/* A stop that is under way has the one that it began with. */
static void grace_take(culex_worker *worker, int64_t ms)
{
    atomic_store(&worker->grace_ms, ms);
    span_take(worker, "grace", ms);
    if (worker->phases.current != CULEX_WORKER_RUNNING)
        tell(worker, CULEX_LOG_WARNING, "grace", "counts for no stop that has begun");
}

static size_t values_take(culex_worker *worker, const culex_worker_options *now)
{
    const culex_worker_options *before = &worker->reload.before;
    size_t changes = 0;
    if (now->log_level != before->log_level && ++changes > 0)
        log_level_tell(worker, now->log_level);
    if (now->order != before->order && ++changes > 0)
        order_take(worker, now->order);
    if (now->concurrency != before->concurrency && ++changes > 0)
        concurrency_take(worker, now->concurrency);
    if (now->grace_ms != before->grace_ms && ++changes > 0)
        grace_take(worker, now->grace_ms);
    if (now->idle_wait_ms != before->idle_wait_ms && ++changes > 0) {
        worker->options.idle_wait_ms = now->idle_wait_ms;
        span_take(worker, "idle-wait", now->idle_wait_ms);
    }
    return changes;
}

/* --- what may not ---------------------------------------------------------------------------- */

static bool texts_differ(const char *a, const char *b)
{
    return (a == NULL) != (b == NULL) || (a != NULL && strcmp(a, b) != 0);
}

static bool lists_differ(const char *const *a, size_t a_count, const char *const *b, size_t b_count)
{
    bool differ = a_count != b_count;
    for (size_t i = 0; i < a_count && !differ; i++)
        differ = strcmp(a[i], b[i]) != 0;
    return differ;
}

struct fixed {
    const char *name;
    bool is_other; /* than what runs */
    bool is_new;   /* than what was read before */
};

#define TEXT(name, member)                                                                         \
    {                                                                                              \
        name, texts_differ(now->member, runs->member), texts_differ(now->member, was->member)      \
    }
#define VALUE(name, member)                                                                        \
    {                                                                                              \
        name, now->member != runs->member, now->member != was->member                              \
    }
#define LIST(name, member, count)                                                                  \
    {                                                                                              \
        name, lists_differ(now->member, now->count, runs->member, runs->count),                    \
            lists_differ(now->member, now->count, was->member, was->count)                         \
    }

/* How many have changed since they were read last: what waits for the next start is told once. */
static size_t fixed_tell(const culex_worker *worker, const culex_worker_options *now)
{
    const culex_worker_options *was = &worker->reload.before, *runs = &worker->options;
    const struct fixed rows[] = {
        TEXT("url", url),
        TEXT("url-file", url_file),
        TEXT("keys", keys),
        LIST("queues", queues, queue_count),
        LIST("offer", offers, offer_count),
        TEXT("name", name),
        VALUE("batch", batch),
        VALUE("isolation", isolation),
        TEXT("cgroup", cgroup),
        TEXT("metrics", metrics),
        TEXT("on-death", on_death),
        VALUE("on-death-timeout", on_death_timeout_ms),
        TEXT("traces", traces),
        VALUE("trace-all", trace_all),
        VALUE("lease", lease_ms),
        VALUE("drain", drain),
        VALUE("unlisted", unlisted),
        VALUE("uncounted", uncounted),
        VALUE("log-format", log_format),
        VALUE("core-dumps", core_dumps),
    };
    size_t changes = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        changes += rows[i].is_new;
        if (rows[i].is_new && rows[i].is_other)
            tell(worker, CULEX_LOG_WARNING, rows[i].name, "is another one from the next start on");
        else if (rows[i].is_new)
            tell(worker, CULEX_LOG_INFO, rows[i].name, "is again what it was at the start");
    }
    return changes;
}

/* --- all of it ------------------------------------------------------------------------------- */

/* With the more talkative of both levels, so that the change of it hides no other. */
static void options_take(culex_worker *worker, const culex_worker_options *now)
{
    int level = worker->log.level;
    worker->log.level = now->log_level > level ? now->log_level : level;
    size_t changes = values_take(worker, now) + fixed_tell(worker, now);
    changes += culex__lanes_retune(worker, now->queue_options, now->queue_option_count);
    worker->reload.before = *now;
    if (changes == 0)
        culex__log_write(&worker->log, CULEX_LOG_INFO, NULL,
                         "configuration: read again, and nothing has changed");
    worker->log.level = now->log_level;
}

static culex_status options_check(const culex_worker *worker, const culex_worker_options *now,
                                  culex_error *error)
{
    culex_status status = culex__worker_options_check(now, error);
    return status == CULEX_OK ? culex__queue_options_check(worker, now, error) : status;
}

void culex__reload_turn(culex_worker *worker)
{
    struct culex_reload *reload = &worker->reload;
    culex_worker_options now = {0};
    culex_error error = {0};
    if (reload->bell_fd < 0 || culex__bell_take(reload->bell_fd) == 0)
        return;
    culex__manager_reload_begin(worker);
    culex_status status = reload->read(reload->user, &now, &error);
    bool is_read = status == CULEX_OK;
    if (is_read)
        status = options_check(worker, &now, &error);
    if (status == CULEX_OK) {
        culex__worker_options_complete(&now);
        options_take(worker, &now);
    } else {
        culex__log_write(&worker->log, CULEX_LOG_ERROR, NULL,
                         "configuration: nothing is changed: %s", error.text);
    }
    if (is_read)
        reload->settle(reload->user, status == CULEX_OK);
    culex__manager_reload_end(worker);
}
