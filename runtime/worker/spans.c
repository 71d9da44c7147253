#include "worker/spans.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/notice.h"
#include "base/secret_name.h"
#include "handler/tracing.h"
#include "platform/descriptor.h"
#include "worker/collector.h"
#include "worker/flight.h"
#include "worker/lane.h"
#include "worker/span_text.h"
#include "worker/worker_private.h"

enum {
    TEXT_MAX = 1024 * 1024,   /* of spans that wait for the thread */
    TEXT_FULL = TEXT_MAX / 4, /* it writes them at once then, */
    GATHER_MS = 1000,         /* and else so long after the first of them */
    POST_MS = 5000            /* how long a collector may take */
};

struct culex_spans {
    culex_worker *worker;
    char *path; /* NULL: they go to the collector */
    struct culex_collector collector;
    pthread_t thread;
    pthread_mutex_t lock;    /* of what follows; nobody waits for anything while he has it */
    pthread_cond_t has_news; /* spans, or that it is to end */
    culex_buf text;          /* a request without its tail; empty when it has no spans */
    size_t count;
    unsigned long long dropped; /* since the line about it */
    bool is_ending;
    /* The thread's. */
    culex_buf line; /* what it writes */
    size_t line_count;
    bool is_torn; /* the file ends within a line */
    struct culex_notice notice;
};

/* --- what a span says --------------------------------------------------------------------------
 */

static const char *error_type_of(enum culex_metric_end end)
{
    switch (end) {
    case CULEX_METRIC_END_FAILED:
    case CULEX_METRIC_END_TIMED_OUT:
    case CULEX_METRIC_END_CRASHED:
    case CULEX_METRIC_END_LOST:
    case CULEX_METRIC_END_REFUSED:
        return culex__metric_end_name(end);
    default:
        return NULL;
    }
}

/* Boot time to ns since 1970. */
static int64_t unix_ns(const culex_worker *worker, int64_t boot_ns)
{
    return culex__env_clock_ms(worker->env) * CULEX_MS_NS -
           (culex__worker_now_ns(worker) - boot_ns);
}

static int64_t wait_ms_of(const struct culex_flight *flight, int64_t started_ns)
{
    const culex_worker *worker = flight->lane->worker;
    int64_t due_ms = flight->run.facts.due_ms;
    if (due_ms <= 0 || !worker->clock.is_known)
        return -1;
    int64_t wait_ms = started_ns / CULEX_MS_NS + worker->clock.offset_ms - due_ms;
    return wait_ms > 0 ? wait_ms : 0;
}

/* While the handler is at work its thread may write the end. */
static bool has_end(const struct culex_flight *flight)
{
    return flight->state != CULEX_FLIGHT_ALOFT;
}

/* The handler's time; of one that goes on until now. A child may tell anything. */
static int64_t ended_ns_of(const struct culex_flight *flight, int64_t started_ns)
{
    int64_t now_ns = culex__worker_now_ns(flight->lane->worker);
    int64_t took_ns = has_end(flight) ? flight->run.end.duration_ns : 0;
    bool is_told = took_ns > 0 && started_ns <= now_ns && took_ns <= now_ns - started_ns;
    return is_told ? started_ns + took_ns : now_ns > started_ns ? now_ns : started_ns;
}

static culex_status span_write(culex_buf *text, const struct culex_flight *flight,
                               const struct culex_trace *trace, const char *parent,
                               enum culex_metric_end end, bool is_dead)
{
    const culex_worker *worker = flight->lane->worker;
    const struct culex_run *run = &flight->run;
    int64_t started_ns = atomic_load_explicit(&run->started_ns, memory_order_relaxed);
    int64_t start_ns = unix_ns(worker, started_ns);
    const struct culex_span span = {
        .trace = trace,
        .parent = parent,
        .run = run->facts.id,
        .attempt = run->facts.attempt,
        .job = run->job.type != NULL ? run->job.type->name : "",
        .queue = flight->lane->name,
        .outcome = culex__metric_end_name(end),
        .error_type = error_type_of(end),
        .error = has_end(flight) ? run->end.text : NULL,
        .start_ns = start_ns,
        .end_ns = start_ns + ended_ns_of(flight, started_ns) - started_ns,
        .wait_ms = wait_ms_of(flight, started_ns),
        .is_dead = is_dead,
    };
    return culex__span_append(text, &span);
}

/* --- the loop's side ---------------------------------------------------------------------------
 */

static const char *service_of(const culex_worker *worker)
{
    const char *name = worker->options.name;
    return name != NULL && name[0] != '\0' ? name : "culex-worker";
}

/* Before each span stands a comma, or the head of the request. */
static culex_status locked_start(struct culex_spans *spans)
{
    const culex_worker *worker = spans->worker;
    return spans->count > 0
               ? culex__buf_append(&spans->text, ",", 1)
               : culex__span_head_append(&spans->text, service_of(worker), worker->identity.name);
}

static void locked_add(struct culex_spans *spans, const struct culex_flight *flight,
                       const struct culex_trace *trace, const char *parent,
                       enum culex_metric_end end, bool is_dead)
{
    size_t before = spans->text.len;
    culex_status status = locked_start(spans);
    if (status == CULEX_OK)
        status = span_write(&spans->text, flight, trace, parent, end, is_dead);
    if (status != CULEX_OK) {
        culex__buf_cut(&spans->text, before);
        spans->dropped++;
        return;
    }
    spans->count++;
    if (spans->count == 1 || spans->text.len >= TEXT_FULL)
        pthread_cond_signal(&spans->has_news);
}

void culex__spans_note(const struct culex_flight *flight, enum culex_metric_end end, bool is_dead)
{
    const culex_worker *worker = flight->lane->worker;
    struct culex_spans *spans = worker->spans;
    struct culex_trace trace;
    char parent[CULEX_SPAN_ID_SIZE];
    if (spans == NULL || atomic_load_explicit(&flight->run.started_ns, memory_order_relaxed) == 0)
        return;
    const struct culex_tracing tracing = culex__worker_tracing(worker);
    if (!culex__tracing_enter(&tracing, &flight->run, &trace, parent))
        return;
    pthread_mutex_lock(&spans->lock);
    locked_add(spans, flight, &trace, parent, end, is_dead);
    pthread_mutex_unlock(&spans->lock);
}

/* --- the file ----------------------------------------------------------------------------------
 */

/* Not to be waited for, be it a pipe. */
static int file_open(const char *path)
{
    return culex__descriptor_own(
        open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640));
}

/* 0 or an errno. */
static int all_write(int fd, const char *bytes, size_t len, size_t *ret_written)
{
    while (*ret_written < len) {
        ssize_t got = write(fd, bytes + *ret_written, len - *ret_written);
        if (got < 0 && errno != EINTR)
            return errno;
        *ret_written += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

/* The same. What is torn is no line that anybody reads: the next one begins on its own. */
static int file_append(struct culex_spans *spans)
{
    size_t written = 0;
    int fd = file_open(spans->path);
    if (fd < 0)
        return errno;
    bool is_apart = spans->is_torn && lseek(fd, 0, SEEK_END) != 0; /* or another file by now */
    int failure = is_apart ? all_write(fd, "\n", 1, &written) : 0;
    if (failure == 0) {
        written = 0;
        failure = all_write(fd, spans->line.data, spans->line.len, &written);
        spans->is_torn = failure != 0 && written > 0;
    }
    culex__descriptor_close(fd);
    return failure;
}

/* No longer than a worker that is asked to stop has time. */
static culex_status line_write(struct culex_spans *spans, culex_error *error)
{
    const culex_worker *worker = spans->worker;
    const struct culex_deadline deadline = {.own_ns = culex__worker_now_ns(worker) +
                                                      POST_MS * CULEX_MS_NS,
                                            .until_ns = &worker->until_ns};
    if (spans->path == NULL)
        return culex__collector_post(&spans->collector, worker->env, &deadline, spans->line.data,
                                     spans->line.len, error);
    int failure = file_append(spans);
    return failure == 0 ? CULEX_OK : culex__fail(error, CULEX_ESTORE, "%s", strerror(failure));
}

/* --- the thread --------------------------------------------------------------------------------
 */

static void dropped_tell(struct culex_spans *spans, unsigned long long dropped, const char *why)
{
    culex__log_write(&spans->worker->log, CULEX_LOG_WARNING, NULL,
                     "traces: %llu span%s dropped: %s", dropped, dropped == 1 ? " was" : "s were",
                     why);
}

/* Adds to what was dropped, and tells of all of it when that is due. */
static void trouble_note(struct culex_spans *spans, size_t lost, const char *why)
{
    int64_t now_ns = culex__worker_now_ns(spans->worker);
    unsigned long long dropped = 0;
    pthread_mutex_lock(&spans->lock);
    spans->dropped += lost;
    if (culex__notice_tell(&spans->notice, why, now_ns)) {
        dropped = spans->dropped;
        spans->dropped = 0;
    }
    pthread_mutex_unlock(&spans->lock);
    if (dropped > 0)
        dropped_tell(spans, dropped, why);
}

static void line_serve(struct culex_spans *spans, bool had_no_room)
{
    culex_error error = {.text = "no memory"};
    culex_status status = culex__span_tail_append(&spans->line);
    if (status == CULEX_OK)
        status = line_write(spans, &error);
    if (status != CULEX_OK)
        trouble_note(spans, spans->line_count, error.text);
    else if (had_no_room)
        trouble_note(spans, 0, "more came than could be written");
    else if (culex__notice_end(&spans->notice))
        culex__log_write(&spans->worker->log, CULEX_LOG_INFO, NULL, "traces: written again");
    culex__buf_cut(&spans->line, 0);
}

static struct timespec monotonic_after_ms(int ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000L;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

/* The lock is held. False once all is over. */
static bool locked_await(struct culex_spans *spans)
{
    while (spans->count == 0 && !spans->is_ending)
        pthread_cond_wait(&spans->has_news, &spans->lock);
    const struct timespec until = monotonic_after_ms(GATHER_MS);
    while (!spans->is_ending && spans->text.len < TEXT_FULL &&
           pthread_cond_timedwait(&spans->has_news, &spans->lock, &until) == 0)
        ;
    return spans->count > 0;
}

static void locked_take(struct culex_spans *spans)
{
    culex_buf taken = spans->text;
    spans->text = spans->line;
    spans->line = taken;
    spans->line.max = TEXT_MAX + 64; /* of its tail */
    spans->text.max = TEXT_MAX;
    spans->line_count = spans->count;
    spans->count = 0;
}

static void *serve(void *user)
{
    struct culex_spans *spans = user;
    pthread_mutex_lock(&spans->lock);
    while (locked_await(spans)) {
        bool had_no_room = spans->dropped > 0;
        locked_take(spans);
        pthread_mutex_unlock(&spans->lock);
        line_serve(spans, had_no_room);
        pthread_mutex_lock(&spans->lock);
    }
    pthread_mutex_unlock(&spans->lock);
    return NULL;
}

/* --- beginning and end -------------------------------------------------------------------------
 */

culex_status culex__spans_check(const culex_worker_options *options, culex_error *error)
{
    if (options->traces == NULL)
        return options->trace_all ? culex__fail(error, CULEX_EUSAGE,
                                                "trace_all is set, and traces is not: say where to")
                                  : CULEX_OK;
    if (options->traces[0] == '\0')
        return culex__fail(error, CULEX_EUSAGE, "traces: the name of the file is empty");
    struct culex_collector collector;
    return culex__collector_is_url(options->traces)
               ? culex__collector_read(options->traces, &collector, error)
               : CULEX_OK;
}

static void all_free(struct culex_spans *spans)
{
    pthread_cond_destroy(&spans->has_news);
    pthread_mutex_destroy(&spans->lock);
    culex_buf_release(&spans->text);
    culex_buf_release(&spans->line);
    free(spans->path);
    free(spans);
}

static struct culex_spans *all_make(culex_worker *worker)
{
    struct culex_spans *spans = calloc(1, sizeof *spans);
    pthread_condattr_t attributes;
    if (spans == NULL)
        return NULL;
    spans->worker = worker;
    culex_buf_init(&spans->text, TEXT_MAX);
    culex_buf_init(&spans->line, TEXT_MAX);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&spans->has_news, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&spans->lock, NULL);
    return spans;
}

/* 0 or an errno. Nothing is made before there is a span. */
static int file_try(const char *path)
{
    int fd =
        culex__descriptor_own(open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    int failure = fd < 0 ? errno : 0;
    culex__descriptor_close(fd);
    if (failure != ENOENT)
        return failure;
    char *folder = culex__path_folder(path);
    failure = folder == NULL || access(folder, W_OK | X_OK) != 0 ? errno : 0;
    free(folder);
    return failure;
}

/* What no later try can mend without somebody who sees to it. A pipe may get its reader later. */
static culex_status file_check(const char *path, const char *given, culex_error *error)
{
    int failure = file_try(path);
    if (failure == 0 || failure == ENXIO || failure == EIO)
        return CULEX_OK;
    return culex__fail(error, CULEX_EUSAGE, "traces: %.200s: %s", culex__text_shown(given),
                       strerror(failure));
}

static culex_status place_choose(struct culex_spans *spans, culex_error *error)
{
    const culex_worker *worker = spans->worker;
    const char *given = worker->options.traces;
    if (culex__collector_is_url(given))
        return culex__collector_read(given, &spans->collector, error);
    spans->path = culex__path_absolute(given, worker->folder);
    return spans->path != NULL ? file_check(spans->path, given, error)
                               : culex__fail(error, CULEX_EUSAGE, "traces: %s", strerror(errno));
}

/* Signals are the program's: its own threads take them. */
static bool thread_start(struct culex_spans *spans)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&spans->thread, NULL, serve, spans);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure == 0;
}

culex_status culex__spans_begin(culex_worker *worker, culex_error *error)
{
    if (worker->options.traces == NULL)
        return CULEX_OK;
    struct culex_spans *spans = all_make(worker);
    if (spans == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for traces");
    culex_status status = place_choose(spans, error);
    if (status == CULEX_OK && !thread_start(spans))
        status = culex__fail(error, CULEX_ENOMEM, "no thread for traces");
    if (status != CULEX_OK) {
        all_free(spans);
        return status;
    }
    worker->spans = spans;
    return CULEX_OK;
}

void culex__spans_end(culex_worker *worker)
{
    struct culex_spans *spans = worker->spans;
    if (spans == NULL)
        return;
    pthread_mutex_lock(&spans->lock);
    spans->is_ending = true;
    pthread_cond_signal(&spans->has_news);
    pthread_mutex_unlock(&spans->lock);
    pthread_join(spans->thread, NULL);
    if (spans->dropped > 0)
        dropped_tell(spans, spans->dropped, "they could not be written");
    all_free(spans);
    worker->spans = NULL;
}
