#include "handler/execution.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/end_text.h"
#include "core/codec.h"
#include "core/duration.h"
#include "handler/loan.h"
#include "core/secret.h"
#include "log/log_line.h"

/* Payload and result memory above this is given back after the run. Secrets take at most their
 * payload and, once more, what base64 makes of it, with their lengths. */
enum { KEEP_BYTES = 64 * 1024, PROGRESS_TEXT_MAX = 250, SECRETS_MAX = 16 * CULEX_PAYLOAD_MAX };

/* Of a handler that asked for none: uncharged and at once, its run would spin for ever. */
enum { SNOOZE_DEFAULT_MS = 1000 };

struct culex_run *culex__run_create_within(size_t size)
{
    assert(size >= sizeof(struct culex_run));
    struct culex_run *run = calloc(1, size);
    if (run == NULL)
        return NULL;
    culex_buf_init(&run->result, 0);
    culex_buf_init(&run->secrets, SECRETS_MAX);
    pthread_mutex_init(&run->news.lock, NULL);
    return run;
}

struct culex_run *culex__run_create(void)
{
    return culex__run_create_within(sizeof(struct culex_run));
}

void culex__run_free(struct culex_run *run)
{
    if (run == NULL)
        return;
    free(run->payload);
    free(run->text);
    culex_buf_release(&run->result);
    culex_buf_release(&run->secrets);
    pthread_mutex_destroy(&run->news.lock);
    free(run);
}

bool culex__run_make_room(struct culex_run *run, size_t len)
{
    if (len > run->payload_cap || run->payload_cap > KEEP_BYTES) {
        size_t cap = len > 256 ? len : 256;
        char *grown = realloc(run->payload, cap);
        if (grown == NULL)
            return false;
        run->payload = grown;
        run->payload_cap = cap;
    }
    run->payload_len = len;
    return true;
}

bool culex__run_set_payload(struct culex_run *run, const void *payload, size_t len)
{
    if (!culex__run_make_room(run, len))
        return false;
    if (len > 0)
        memcpy(run->payload, payload, len);
    return true;
}

void culex__run_forget_secrets(struct culex_run *run)
{
    if (run->secrets.cap > KEEP_BYTES)
        culex_buf_release(&run->secrets);
    culex__buf_cut(&run->secrets, 0);
}

int64_t culex__run_unknown_delay_ms(uint32_t attempt)
{
    return attempt < 12 ? (int64_t)5000 * (attempt > 0 ? attempt : 1) : 60000;
}

struct culex_log_subject culex__run_subject(const struct culex_run *run)
{
    return (struct culex_log_subject){.queue = run->terms.queue,
                                      .job = run->job.type != NULL ? run->job.type->name : NULL,
                                      .id = &run->facts.id,
                                      .attempt = run->facts.attempt};
}

/* --- what the handler may ask and say -------------------------------------------- */

/* What is asked of a run that is none. */
static const culex_run nobody;

static const culex_run *known(const culex_run *run)
{
    return run != NULL ? run : &nobody;
}

culex_uuid culex_run_id(const culex_run *run)
{
    return known(run)->facts.id;
}

uint32_t culex_run_attempt(const culex_run *run)
{
    return known(run)->facts.attempt;
}

uint32_t culex_run_failures(const culex_run *run)
{
    return known(run)->facts.counters.failures;
}

const char *culex_run_job(const culex_run *run)
{
    return known(run)->job.type != NULL ? run->job.type->name : "";
}

const char *culex_run_queue(const culex_run *run)
{
    return known(run)->terms.queue;
}

culex_time culex_run_enqueued_at(const culex_run *run)
{
    return known(run)->facts.created_at_ms * 1000000;
}

/* In a process that a handler has forked: what it says would be taken for the handler's, and a lock
 * of this copy may be held for ever. */
static bool is_stray(const culex_run *run)
{
    return run->loan != NULL && run->loan->owner != getpid();
}

bool culex_run_cancelled(const culex_run *run)
{
    run = known(run);
    return run->port != NULL ? run->port->is_cancelled(run)
                             : atomic_load_explicit(&run->is_cancelled, memory_order_relaxed);
}

const char *culex_run_fence(const culex_run *run)
{
    return known(run)->terms.fence;
}

void culex_run_extend(culex_run *run, culex_duration duration)
{
    int64_t extend_ms = duration / 1000000 + (duration % 1000000 > 0);
    if (run == NULL || duration <= 0 || run->facts.timeout_ms <= 0)
        return;
    if (culex__duration_is_slip(duration)) {
        culex_log(run,
                  "culex_run_extend by %lld ns is too short to be meant and does nothing: write "
                  "culex_seconds(%lld)",
                  (long long)duration, (long long)duration);
        return;
    }
    if (is_stray(run))
        return;
    if (run->port != NULL)
        run->port->extend(run, extend_ms);
    else
        culex__run_report_extend(run, extend_ms);
}

/* What the handler says, without the run's secrets. Returns the length. */
static size_t words_format(const culex_run *run, char ret_text[CULEX_LOG_TEXT_MAX],
                           const char *format, va_list list)
{
    char raw[CULEX_LOG_TEXT_MAX] = "";
    int len = format != NULL ? vsnprintf(raw, sizeof raw, format, list) : 0;
    size_t used = len < 0 ? 0 : (size_t)len < sizeof raw ? (size_t)len : sizeof raw - 1;
    return culex__secrets_scrub(&run->secrets, raw, used, (size_t)len > used, ret_text,
                                CULEX_LOG_TEXT_MAX);
}

void culex_run_progress(culex_run *run, int percent, const char *format, ...)
{
    char words[CULEX_LOG_TEXT_MAX], clean[PROGRESS_TEXT_MAX + 1];
    char text[CULEX_PROGRESS_MAX + 1];
    va_list list;
    if (run == NULL || is_stray(run))
        return;
    va_start(list, format);
    size_t len = words_format(run, words, format, list);
    va_end(list);
    culex__utf8_clean(clean, sizeof clean, words, len);
    percent = percent < 0 ? -1 : percent > 100 ? 100 : percent;
    snprintf(text, sizeof text, "%d %s", percent, clean);
    if (run->port != NULL)
        run->port->progress(run, text);
    else
        culex__run_report_progress(run, text);
}

/* --- reports ------------------------------------------------------------------------ */

static void news_announce(struct culex_run *run)
{
    if (run->news.has_news != NULL)
        atomic_store_explicit(run->news.has_news, true, memory_order_release);
}

void culex__run_report_progress(struct culex_run *run, const char *text)
{
    struct culex_run_news *news = &run->news;
    pthread_mutex_lock(&news->lock);
    snprintf(news->progress, sizeof news->progress, "%s", text);
    news->progress_tag += news->progress_tag == UINT_MAX ? 2 : 1;
    pthread_mutex_unlock(&news->lock);
}

void culex__run_report_extend(struct culex_run *run, int64_t extend_ms)
{
    struct culex_run_news *news = &run->news;
    int64_t most_ms = INT64_MAX / 4000000;
    extend_ms = extend_ms < most_ms ? extend_ms : most_ms;
    int64_t until_ns = culex__env_boottime_ns(run->log->env) + extend_ms * 1000000;
    pthread_mutex_lock(&news->lock);
    if (until_ns > news->until_ns)
        news->until_ns = until_ns;
    pthread_mutex_unlock(&news->lock);
    news_announce(run);
}

int64_t culex__run_extended_ns(struct culex_run *run)
{
    pthread_mutex_lock(&run->news.lock);
    int64_t until_ns = run->news.until_ns;
    pthread_mutex_unlock(&run->news.lock);
    return until_ns;
}

unsigned culex__run_take_progress(struct culex_run *run, unsigned told,
                                  char ret_text[CULEX_PROGRESS_MAX + 1])
{
    struct culex_run_news *news = &run->news;
    pthread_mutex_lock(&news->lock);
    unsigned tag = news->progress_tag;
    if (tag != told)
        memcpy(ret_text, news->progress, sizeof news->progress);
    pthread_mutex_unlock(&news->lock);
    return tag;
}

void culex__run_reset_news(struct culex_run *run, atomic_bool *has_news)
{
    pthread_mutex_lock(&run->news.lock);
    run->news.until_ns = 0;
    run->news.progress_tag = 0;
    run->news.has_news = has_news;
    pthread_mutex_unlock(&run->news.lock);
}

static void text_set(culex_run *run, const char *format, va_list list)
{
    char words[CULEX_LOG_TEXT_MAX];
    if (run == NULL)
        return;
    run->end.text = NULL;
    if (format == NULL)
        return;
    size_t len = words_format(run, words, format, list);
    if (run->text == NULL)
        run->text = malloc(CULEX_ERROR_TEXT_MAX + 1);
    if (run->text == NULL) {
        run->end.text = "(no memory for the error text)";
        return;
    }
    culex__utf8_clean(run->text, CULEX_ERROR_TEXT_MAX + 1, words, len);
    run->end.text = run->text;
}

void culex__run_set_text(struct culex_run *run, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    text_set(run, format, list);
    va_end(list);
}

culex_outcome culex_run_fail(culex_run *run, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    text_set(run, format, list);
    va_end(list);
    return CULEX_FAILED;
}

culex_outcome culex_run_discard(culex_run *run, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    text_set(run, format, list);
    va_end(list);
    return CULEX_DISCARDED;
}

culex_outcome culex_run_snooze(culex_run *run, culex_duration delay)
{
    if (culex__duration_is_slip(delay))
        return culex_run_fail(run,
                              "culex_run_snooze for %lld ns is too short to be meant: write "
                              "culex_seconds(%lld)",
                              (long long)delay, (long long)delay);
    if (run != NULL)
        run->end.delay_ms = delay > 0 ? delay / 1000000 + (delay % 1000000 != 0) : 0;
    return CULEX_SNOOZED;
}

culex_status culex_run_set_result(culex_run *run, const culex_struct_type *type, const void *value,
                                  culex_error *error)
{
    culex_buf fresh;
    if (run == NULL)
        return culex__fail(error, CULEX_EINVAL, "no run");
    culex_buf_init(&fresh, 0);
    culex_status status = culex_encode(type, value, &fresh, error);
    if (status != CULEX_OK) {
        culex_buf_release(&fresh);
        return status;
    }
    culex_buf_release(&run->result);
    run->result = fresh;
    run->has_result = true;
    return CULEX_OK;
}

void culex_log(culex_run *run, const char *format, ...)
{
    char words[CULEX_LOG_TEXT_MAX];
    va_list list;
    if (run == NULL || format == NULL || !culex__log_wants(run->log, CULEX_LOG_INFO))
        return;
    struct culex_log_subject subject = culex__run_subject(run);
    va_start(list, format);
    words_format(run, words, format, list);
    va_end(list);
    culex__log_write(run->log, CULEX_LOG_INFO, &subject, "%s", words);
}

void *culex_run_process(const culex_run *run)
{
    return known(run)->process;
}

culex_client *culex_run_client(culex_run *run)
{
    return known(run)->loan != NULL ? culex__loan_client(run->loan) : NULL;
}

void *culex_run_alloc(culex_run *run, size_t size)
{
    return culex_arena_alloc(known(run)->arena, size);
}

/* --- execution --------------------------------------------------------------------- */

static void end_release(struct culex_run *run, int64_t delay_ms)
{
    run->end.event = CULEX_EVENT_RELEASE;
    run->end.delay_ms = delay_ms;
}

/* A payload that the very schema which encoded it does not read, no schema reads, nor does any read
 * what is no JSON object: such a run can never work and keeps its payload for the operator. All
 * else is left to a worker with another schema, whatever stands against it here: a kind that was
 * widened looks like nonsense to the worker that knows the narrow one. */
static void end_undecoded(struct culex_run *run, culex_status status, const culex_error *error)
{
    bool is_foreign = run->facts.fingerprint != run->job.type->fingerprint &&
                      culex__payload_is_well_formed(run->payload, run->payload_len);
    if ((status == CULEX_EDECODE || status == CULEX_ELIMIT) && !is_foreign) {
        run->end.event = CULEX_EVENT_DISCARD;
        culex__run_set_text(run, "the payload cannot be decoded: %s", error->text);
        return;
    }
    run->end.is_not_understood = true;
    end_release(run, culex__run_unknown_delay_ms(run->facts.attempt));
    culex__run_set_text(run, CULEX__NOT_UNDERSTOOD_TEXT "%s", error->text);
}

static void end_outcome(struct culex_run *run, culex_outcome outcome)
{
    switch (outcome) {
    case CULEX_DONE:
        run->end.event = CULEX_EVENT_DONE;
        run->end.text = NULL;
        return;
    case CULEX_FAILED:
    case CULEX_DISCARDED:
        run->end.event = outcome == CULEX_FAILED ? CULEX_EVENT_FAIL : CULEX_EVENT_DISCARD;
        if (run->end.text == NULL)
            run->end.text = "the handler gave no reason";
        return;
    case CULEX_SNOOZED:
        run->end.event = CULEX_EVENT_RELEASE;
        run->end.is_snoozed = true;
        run->end.text = NULL;
        if (run->end.delay_ms <= 0)
            run->end.delay_ms = SNOOZE_DEFAULT_MS;
        return;
    }
    run->end.event = CULEX_EVENT_FAIL;
    culex__run_set_text(run, "the handler returned %d, which is no outcome", (int)outcome);
}

static culex_status params_decode(struct culex_run *run, const void **ret_params,
                                  culex_error *error)
{
    const culex_struct_type *type = run->job.type->params;
    culex_status status =
        culex_decode(type, run->arena, run->payload, run->payload_len, ret_params, error);
    if (status == CULEX_OK && !culex__secrets_collect(type, *ret_params, &run->secrets))
        return culex__fail(error, CULEX_ENOMEM, "no memory for its secrets");
    return status;
}

static void run_call(struct culex_run *run)
{
    culex_error error = {0};
    const void *params = NULL;
    culex_status status = params_decode(run, &params, &error);
    if (status == CULEX_OK)
        end_outcome(run, run->job.call(run, run->job.handler, params, run->job.user));
    else
        end_undecoded(run, status, &error);
}

void culex__run_execute(struct culex_run *run, culex_arena *arena, const struct culex_env *env)
{
    run->end = (struct culex_execution_end){0};
    run->has_result = false;
    culex__run_forget_secrets(run);
    if (run->result.cap > KEEP_BYTES)
        culex_buf_release(&run->result);
    int64_t started_ns = culex__env_boottime_ns(env);
    int64_t lease_ns = atomic_load_explicit(&run->lease_ns, memory_order_relaxed);
    if (culex_run_cancelled(run) || (lease_ns != 0 && started_ns >= lease_ns)) {
        end_release(run, 0);
        return;
    }
    if (arena == NULL) {
        end_release(run, culex__run_unknown_delay_ms(0));
        return;
    }
    atomic_store_explicit(&run->started_ns, started_ns, memory_order_relaxed);
    if (culex__log_wants(run->log, CULEX_LOG_INFO)) {
        struct culex_log_subject subject = culex__run_subject(run);
        culex__log_write(run->log, CULEX_LOG_INFO, &subject, "started");
    }
    run->arena = arena;
    run_call(run);
    run->arena = NULL;
    culex_arena_reset(arena);
    run->end.duration_ns = culex__env_boottime_ns(env) - started_ns;
}

culex_status culex__process_hooks_open(const struct culex_process_hooks *hooks, void **ret_process,
                                       culex_error *error)
{
    if (hooks->open_call != NULL)
        return hooks->open_call(hooks->open, hooks->user, ret_process, error);
    return hooks->open(hooks->user, ret_process, error);
}

void culex__process_hooks_close(const struct culex_process_hooks *hooks, void *process)
{
    if (hooks->close_call != NULL)
        hooks->close_call(hooks->close, process, hooks->user);
    else
        hooks->close(process, hooks->user);
}
