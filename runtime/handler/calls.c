/* handler/calls.c - what a handler asks and says of its run: culex_run_..., culex_log. */
#include "handler/calls.h"

#include <culex/lines.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/instant.h"
#include "base/utf8.h"
#include "core/codec_encode.h"
#include "core/duration.h"
#include "core/run_log.h"
#include "core/secret.h"
#include "core/trace.h"
#include "client/enqueue.h"
#include "handler/execution.h"
#include "handler/follow_up.h"
#include "handler/loan.h"
#include "handler/result.h"
#include "handler/run_sealing.h"

enum { PROGRESS_TEXT_MAX = 250 };

/* Stands for a run that is NULL. */
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
    return known(run)->facts.created_at_ms * CULEX_MS_NS;
}

/* True in a process that a handler has forked. What it says would be taken for the handler's, and
 * its copy of a lock may stay locked for ever. */
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

const char *culex_run_traceparent(const culex_run *run)
{
    return known(run)->trace != NULL ? run->trace->parent : "";
}

const char *culex_run_tracestate(const culex_run *run)
{
    return known(run)->trace != NULL ? run->trace->state : "";
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
        culex__news_extend(&run->news, run->log->env, extend_ms);
}

void culex_run_progress(culex_run *run, int percent, const char *format, ...)
{
    char words[CULEX_LOG_TEXT_MAX], clean[PROGRESS_TEXT_MAX + 1];
    char text[CULEX_PROGRESS_MAX + 1];
    va_list list;
    if (run == NULL || is_stray(run))
        return;
    va_start(list, format);
    size_t len = culex__run_words(run, words, format, list);
    va_end(list);
    culex__utf8_clean(clean, sizeof clean, words, len);
    percent = percent < 0 ? -1 : percent > 100 ? 100 : percent;
    snprintf(text, sizeof text, "%d %s", percent, clean);
    if (run->port != NULL)
        run->port->progress(run, text);
    else
        culex__news_progress(&run->news, text);
}

culex_outcome culex_run_fail(culex_run *run, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    culex__run_set_text_list(run, format, list);
    va_end(list);
    return CULEX_FAILED;
}

culex_outcome culex_run_discard(culex_run *run, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    culex__run_set_text_list(run, format, list);
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

/* Those of a result that was set before are no longer of the run. */
static culex_status result_secrets_collect(culex_run *run, const culex_struct_type *type,
                                           const void *value, culex_error *error)
{
    culex__buf_cut(&run->secrets, run->params_secrets_len);
    if (culex__secrets_collect(type, value, &run->secrets))
        return CULEX_OK;
    return culex__fail(error, CULEX_ENOMEM, "no memory for its secrets");
}

culex_status culex_run_set_result(culex_run *run, const culex_struct_type *type, const void *value,
                                  culex_error *error)
{
    culex_buf fresh;
    if (run == NULL || type == NULL)
        return culex__fail(error, CULEX_EINVAL, "no run, or no type of its result");
    culex_status status = culex__result_check(run->job.type, type, error);
    if (status != CULEX_OK)
        return status;
    culex_buf_init(&fresh, 0);
    const struct culex__sealing sealing = culex__run_sealing(run, CULEX_SEALED_RESULT);
    status = culex__encode_sealed(&sealing, type, value, &fresh, error);
    if (status == CULEX_OK)
        status = result_secrets_collect(run, type, value, error);
    if (status != CULEX_OK) {
        culex_buf_release(&fresh);
        return status;
    }
    culex_buf_release(&run->result);
    run->result = fresh;
    run->has_result = true;
    return CULEX_OK;
}

static culex_status follow_up_take(void *user, const char *queue, const struct culex_new_run *new,
                                   culex_error *error)
{
    culex_run *run = user;
    return culex__follow_up_append(&run->follow_ups, queue, new, error);
}

culex_status culex_run_enqueue(culex_run *run, const culex_job_type *type, const void *params,
                               const culex_enqueue_options *options, culex_error *error)
{
    return culex__run_follow(run, type, params, options, (struct culex_rest){NULL, 0}, error);
}

culex_status culex__run_follow(culex_run *run, const culex_job_type *type, const void *params,
                               const culex_enqueue_options *options, struct culex_rest rest,
                               culex_error *error)
{
    if (run == NULL || run->arena == NULL)
        return culex__fail(error, CULEX_EINVAL, "no run, or one whose handler is not at work");
    if (is_stray(run))
        return culex__fail(error, CULEX_EINVAL,
                           "a process that the handler has forked cannot enqueue follow-ups");
    const struct culex_loan *loan = run->loan;
    const struct culex_enqueue_way way = {
        .gate = loan != NULL ? &loan->gate : NULL,
        .keys = loan != NULL ? loan->keys : NULL,
        .env = loan != NULL ? loan->env : culex__env_system(),
        .refusal = "a follow-up takes no ticket, as it comes in once by itself, and no "
                   "ret_outcomes, as it comes in when the run has ended",
        .batch_refusal = "a follow-up is in no batch, and waits for no other run: enqueue with "
                         "culex_run_client()",
        .rest = rest};
    return culex__enqueue_make(&way, type, params, options, follow_up_take, run, error);
}

/* --- log lines ------------------------------------------------------------------------------ */

static void line_keep(culex_run *run, int level, const char *words, size_t len)
{
    char bytes[CULEX_KEPT_LINE_SIZE];
    const struct culex_kept_line line = {.ms = culex__env_clock_ms(run->log->env),
                                         .attempt = run->facts.attempt,
                                         .level = level,
                                         .text = words,
                                         .len = len};
    size_t size = culex__kept_line_write(bytes, &line);
    if (run->port != NULL)
        run->port->keep_line(run, bytes, size);
    else
        culex__news_line(&run->news, bytes, size);
}

static void line_write(culex_run *run, int level, const char *format, va_list list)
{
    char words[CULEX_LOG_TEXT_MAX];
    if (run == NULL || format == NULL)
        return;
    bool is_shown = culex__log_wants(run->log, level);
    bool is_kept = culex__run_keeps_lines(run) && !is_stray(run);
    if (!is_shown && !is_kept)
        return;
    struct culex_log_subject subject = culex__run_subject(run);
    size_t len = culex__run_words(run, words, format, list);
    if (is_kept)
        line_keep(run, level, words, len);
    if (is_shown)
        culex__log_write(run->log, level, &subject, "%s", words);
}

void culex_run_log(culex_run *run, culex_log_level level, const char *format, ...)
{
    bool is_known = level >= CULEX_LOG_ERROR && level <= CULEX_LOG_DEBUG;
    va_list list;
    va_start(list, format);
    line_write(run, is_known ? (int)level : CULEX_LOG_INFO, format, list);
    va_end(list);
}

void culex_log(culex_run *run, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    line_write(run, CULEX_LOG_INFO, format, list);
    va_end(list);
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
