#include "store/argument.h"

#include <stdio.h>
#include <string.h>

#include "store/list_filter.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/figures.h"
#include "core/needs.h"
#include "core/progress.h"
#include "core/queue_name.h"
#include "core/record_text.h"
#include "core/run.h"
#include "core/run_limit.h"

/* --- names ------------------------------------------------------------------------------- */

/* A name becomes a part of keys, in which braces have a meaning. */
static culex_status name_check(const char *what, const char *name, size_t max, culex_error *error)
{
    size_t len = name != NULL ? strnlen(name, max + 1) : 0;
    if (len == 0 || len > max)
        return culex__fail(error, CULEX_EINVAL, "the name of a %s has 1 to %zu bytes", what, max);
    if (!culex__record_text_is_valid(name, len) || strpbrk(name, "{}") != NULL)
        return culex__fail(error, CULEX_EINVAL,
                           "the name of a %s holds '|', '{', '}' or a control character", what);
    return CULEX_OK;
}

culex_status culex__store_prefix_check(const char *prefix, culex_error *error)
{
    if (strnlen(prefix, CULEX_STORE_PREFIX_MAX + 1) > CULEX_STORE_PREFIX_MAX)
        return culex__fail(error, CULEX_EINVAL, "the key prefix is longer than %d bytes",
                           CULEX_STORE_PREFIX_MAX);
    return name_check("key prefix", prefix, CULEX_STORE_PREFIX_MAX, error);
}

static bool is_hex(const char *text, size_t len)
{
    return strspn(text, "0123456789abcdefABCDEF") == len;
}

static culex_status session_check(const char *session, culex_error *error)
{
    size_t len = session != NULL ? strnlen(session, CULEX_STORE_SESSION_MAX + 1) : 0;
    if (len == 0 || len > CULEX_STORE_SESSION_MAX || !is_hex(session, len))
        return culex__fail(error, CULEX_EINVAL, "a session is a token of 1 to %d hex digits",
                           CULEX_STORE_SESSION_MAX);
    return CULEX_OK;
}

culex_status culex__argument_hello(const char *queue, const char *worker, const char *session,
                                   culex_error *error)
{
    culex_status status = culex__queue_check(queue, error);
    if (status == CULEX_OK)
        status = name_check("worker", worker, CULEX_STORE_WORKER_MAX, error);
    return status == CULEX_OK ? session_check(session, error) : status;
}

/* A queue, or a queue, a space and what runs need. */
static culex_status bell_check(const char *bell, culex_error *error)
{
    char queue[CULEX_QUEUE_NAME_MAX + 2];
    struct culex_needs needs;
    const char *space = bell != NULL ? strchr(bell, ' ') : NULL;
    if (space == NULL)
        return culex__queue_check(bell, error);
    snprintf(queue, sizeof queue, "%.*s", (int)(space - bell), bell);
    culex_status status = culex__queue_check(queue, error);
    return status != CULEX_OK || culex__needs_read(space + 1, &needs)
               ? status
               : culex__fail(error, CULEX_EINVAL, "'%s' is not what a run may need", space + 1);
}

culex_status culex__argument_queues(const char *const *queues, size_t count, culex_error *error)
{
    culex_status status = CULEX_OK;
    if (count == 0 || count > CULEX_STORE_BATCH_MAX)
        return culex__fail(error, CULEX_ELIMIT, "1 to %d queues to wait for",
                           CULEX_STORE_BATCH_MAX);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = bell_check(queues[i], error);
    return status;
}

/* --- runs -------------------------------------------------------------------------------- */

static bool field_is_valid(const char *text, size_t max)
{
    size_t len = text != NULL ? strnlen(text, max + 1) : 0;
    return len <= max && (len == 0 || culex__record_text_is_valid(text, len));
}

static bool key_is_valid(const char *key)
{
    size_t len = key != NULL ? strnlen(key, CULEX_STORE_KEY_MAX + 1) : 0;
    return len <= CULEX_STORE_KEY_MAX && (len == 0 || is_hex(key, len));
}

/* How long a unique key is kept must have an end: with the run, or with a window. */
static culex_status unique_check(const struct culex_new_run *run, size_t index, culex_error *error)
{
    if (!key_is_valid(run->unique_key))
        return culex__fail(error, CULEX_EINVAL,
                           "run %zu: a unique key has at most %d hex characters", index,
                           CULEX_STORE_KEY_MAX);
    if (run->unique_key == NULL || run->unique_key[0] == '\0')
        return CULEX_OK;
    if ((run->unique_while & ~CULEX_UNIQUE_LIVE) != 0)
        return culex__fail(error, CULEX_EINVAL,
                           "run %zu: a unique key is kept while a run is scheduled, waiting or "
                           "active, in no other state",
                           index);
    if (run->unique_while == 0 && run->unique_for_ms == 0)
        return culex__fail(error, CULEX_EINVAL,
                           "run %zu: a unique key needs states that keep it, or a window", index);
    if (run->unique_for_ms < 0 || run->unique_for_ms > CULEX_STORE_UNIQUE_FOR_MAX_MS)
        return culex__fail(error, CULEX_EINVAL,
                           "run %zu: the window of a unique key is 1 ms to 30 days", index);
    return CULEX_OK;
}

static bool idempotency_is_valid(const struct culex_new_run *run)
{
    const char *key = run->idempotency_key;
    size_t len = key != NULL ? strnlen(key, CULEX_STORE_IDEMPOTENCY_MAX + 1) : 0;
    if (len == 0)
        return true;
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)key[i] < 0x20 || key[i] == 0x7f)
            return false;
    }
    return len <= CULEX_STORE_IDEMPOTENCY_MAX && culex__utf8_is_valid(key, len) &&
           run->window_ms > 0;
}

/* One of its words; what stands between them in a record has no place in it. */
static bool limit_word_is_valid(const char *word, size_t least, size_t most)
{
    size_t len = word != NULL ? strnlen(word, most + 1) : 0;
    return len >= least && len <= most &&
           (len == 0 || (culex__record_text_is_valid(word, len) && strpbrk(word, ";=") == NULL));
}

static culex_status limit_name_check(const char *name, culex_error *error)
{
    if (!limit_word_is_valid(name, 1, CULEX_LIMIT_NAME_MAX))
        return culex__fail(error, CULEX_EINVAL,
                           "the name of a limit has 1 to %d bytes of UTF-8 without '|', ';', '=' "
                           "and control characters",
                           CULEX_LIMIT_NAME_MAX);
    return CULEX_OK;
}

static bool limit_is_among(const char *name, const struct culex_run_limit *limits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(limits[i].name, name) == 0)
            return true;
    }
    return false;
}

/* What a run needs stands in the limit's name, which begins like no other's. */
static culex_status needs_check(const struct culex_new_run *run, size_t at, culex_error *error)
{
    const struct culex_run_limit *limit = &run->limits[at];
    const char *text = culex__needs_of_limit(limit->name);
    bool is_needs = limit->kind == CULEX_LIMIT_NEEDS;
    struct culex_needs needs;
    if (is_needs && (text == NULL || !culex__needs_read(text, &needs)))
        return culex__fail(error, CULEX_EINVAL,
                           "'%s' is not what a run may need: \"" CULEX__NEEDS_WORD
                           "NAME:UNITS,NAME:UNITS\", at most %d, sorted by their names",
                           limit->name, CULEX_NEEDS_MAX);
    if (is_needs && (at + 1 < run->limit_count || (limit->key != NULL && limit->key[0] != '\0')))
        return culex__fail(error, CULEX_EINVAL,
                           "'%s' has no key, and comes behind the limits of its run", limit->name);
    if (!is_needs && text != NULL)
        return culex__fail(error, CULEX_EINVAL,
                           "limit '%s': what begins with '" CULEX__NEEDS_WORD "' tells what a run "
                           "needs",
                           limit->name);
    return CULEX_OK;
}

static culex_status limits_check(const struct culex_new_run *run, size_t index, culex_error *error)
{
    culex_status status = CULEX_OK;
    if (run->limit_count > CULEX_RUN_LIMITS_MAX)
        return culex__fail(error, CULEX_ELIMIT, "run %zu: at most %d limits", index,
                           CULEX_RUN_LIMITS_MAX);
    for (size_t i = 0; i < run->limit_count && status == CULEX_OK; i++) {
        const struct culex_run_limit *limit = &run->limits[i];
        const culex_limit_value value = {limit->count, limit->per_ms, limit->burst};
        status = limit_name_check(limit->name, error);
        if (status == CULEX_OK && !limit_word_is_valid(limit->key, 0, CULEX_LIMIT_KEY_MAX))
            status = culex__fail(error, CULEX_EINVAL,
                                 "run %zu: a key of limit '%s' has at most %d bytes of UTF-8 "
                                 "without '|', ';', '=' and control characters",
                                 index, limit->name, CULEX_LIMIT_KEY_MAX);
        if (status == CULEX_OK && limit_is_among(limit->name, run->limits, i))
            status = culex__fail(error, CULEX_EINVAL, "run %zu: limit '%s' is there twice", index,
                                 limit->name);
        if (status == CULEX_OK)
            status = culex__limit_value_check(limit->name, limit->kind, &value, error);
        if (status == CULEX_OK)
            status = needs_check(run, i, error);
    }
    return status;
}

static culex_status run_check(const struct culex_new_run *run, size_t index, culex_error *error)
{
    enum { TAGS_TEXT_MAX = CULEX_TAGS_MAX * (CULEX_TAG_MAX + 1) };
    culex_status status = name_check("job", run->job, CULEX_JOB_NAME_MAX, error);
    if (status != CULEX_OK)
        return status;
    if (run->priority < 0 || run->priority > CULEX_PRIORITY_MAX || run->attempts_max == 0)
        return culex__fail(error, CULEX_EINVAL,
                           "run %zu: priority is 0 to %d and attempts are 1 or more", index,
                           CULEX_PRIORITY_MAX);
    status = unique_check(run, index, error);
    if (status != CULEX_OK)
        return status;
    if (!idempotency_is_valid(run))
        return culex__fail(
            error, CULEX_EINVAL,
            "run %zu: an idempotency key has at most %d bytes of UTF-8 without control "
            "characters, and a window of 1 ms or more",
            index, CULEX_STORE_IDEMPOTENCY_MAX);
    if (!field_is_valid(run->tags, TAGS_TEXT_MAX))
        return culex__fail(error, CULEX_EINVAL,
                           "run %zu: the tags are too long or hold '|' or a control character",
                           index);
    if (run->expires_ms < 0 || run->retry_for_ms < 0 || run->timeout_ms < 0 ||
        run->keep_success_ms < 0 || run->keep_failure_ms < 0)
        return culex__fail(error, CULEX_EINVAL,
                           "run %zu: expiry, time for retries, timeout and retention are 0 or more",
                           index);
    if (run->payload == NULL && run->payload_len > 0)
        return culex__fail(error, CULEX_EINVAL, "run %zu: the payload is missing", index);
    if (run->payload_len > CULEX_PAYLOAD_BYTES_MAX)
        return culex__fail(error, CULEX_ELIMIT, "run %zu: the payload is longer than %d bytes",
                           index, (int)CULEX_PAYLOAD_BYTES_MAX);
    return limits_check(run, index, error);
}

static culex_status ticket_check(const struct culex_ticket *ticket, culex_error *error)
{
    if (ticket->producer == 0 || ticket->producer > CULEX_TICKET_PRODUCER_MAX ||
        ticket->sequence >> 60 != 0)
        return culex__fail(error, CULEX_EINVAL, "no ticket of a producer");
    return CULEX_OK;
}

/* --- batches ------------------------------------------------------------------------------ */

static bool is_same_batch(const struct culex_new_run *a, const struct culex_new_run *b)
{
    return a->has_batch == b->has_batch &&
           (!a->has_batch || memcmp(&a->batch, &b->batch, sizeof a->batch) == 0);
}

static culex_status batchless_check(const struct culex_new_run *run, culex_error *error)
{
    return run->has_batch ? culex__fail(error, CULEX_EINVAL, "such a run is in no batch")
                          : CULEX_OK;
}

static culex_status call_check(const struct culex_follow_up *call, culex_error *error)
{
    const struct culex_new_run *run = &call->run;
    culex_status status = culex__queue_check(call->queue, error);
    if (status == CULEX_OK)
        status = run_check(run, 0, error);
    if (status != CULEX_OK)
        return status;
    if (run->at_ms != 0 || run->has_batch ||
        (run->idempotency_key != NULL && run->idempotency_key[0] != '\0'))
        return culex__fail(error, CULEX_EINVAL,
                           "a callback of a batch has no idempotency key, as it comes in once by "
                           "itself, no instant and no batch");
    return CULEX_OK;
}

culex_status culex__argument_batch(const struct culex_batch_order *order, culex_error *error)
{
    static const culex_uuid none;
    culex_status status = culex__queue_check(order->queue, error);
    if (status != CULEX_OK)
        return status;
    bool has_call = order->act == CULEX_BATCH_CALL || order->act == CULEX_BATCH_AFTER;
    bool is_made = order->act == CULEX_BATCH_OPEN || order->act == CULEX_BATCH_AFTER;
    if (memcmp(&order->id, &none, sizeof none) == 0)
        return culex__fail(error, CULEX_EINVAL, "no id of a batch");
    if (has_call && (order->when < CULEX_BATCH_ON_COMPLETE || order->when > CULEX_BATCH_ON_DEATH))
        return culex__fail(error, CULEX_EINVAL,
                           "options.batch_when is no end that can be waited for: "
                           "CULEX_BATCH_ON_SUCCESS, _ON_DEATH or _ON_COMPLETE");
    if ((order->act == CULEX_BATCH_OPEN &&
         (order->open_ms < 1 || order->open_ms > CULEX_STORE_BATCH_OPEN_MAX_MS)) ||
        (is_made && (order->keep_ms < 0 || order->keep_ms > CULEX_DELAY_MAX_MS)))
        return culex__fail(error, CULEX_EINVAL,
                           "a batch is open for 1 ms to a year, and kept for 100 years at most");
    return has_call ? call_check(order->call, error) : CULEX_OK;
}

/* --- enqueues ------------------------------------------------------------------------------ */

culex_status culex__argument_enqueue(const char *queue, const struct culex_ticket *ticket,
                                     const struct culex_new_run *runs, size_t count,
                                     culex_error *error)
{
    culex_status status = culex__queue_check(queue, error);
    if (status == CULEX_OK && ticket != NULL)
        status = ticket_check(ticket, error);
    if (status != CULEX_OK)
        return status;
    if (count > CULEX_STORE_BATCH_MAX)
        return culex__fail(error, CULEX_ELIMIT, "at most %d runs in one call",
                           CULEX_STORE_BATCH_MAX);
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        status = run_check(&runs[i], i, error);
        if (status == CULEX_OK && runs[i].is_bound != runs[0].is_bound)
            status = culex__fail(error, CULEX_EINVAL, "of a call all runs are bound, or none is");
        if (status == CULEX_OK && !is_same_batch(&runs[i], &runs[0]))
            status = culex__fail(error, CULEX_EINVAL, "run %zu is of another batch", i);
        if (status == CULEX_OK && runs[i].is_bound && runs[i].has_batch)
            status = culex__fail(error, CULEX_EINVAL, "run %zu is of a batch, and bound", i);
    }
    return status;
}

static bool producer_is_among(uint64_t producer, const struct culex_ticket *tickets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (tickets[i].producer == producer)
            return true;
    }
    return false;
}

culex_status culex__argument_enqueue_each(const char *queue, const struct culex_ticket *tickets,
                                          const struct culex_new_run *runs, size_t count,
                                          culex_error *error)
{
    if (count == 0 || count > CULEX_STORE_EACH_MAX)
        return culex__fail(error, CULEX_ELIMIT, "1 to %d calls in one", CULEX_STORE_EACH_MAX);
    culex_status status = culex__argument_enqueue(queue, NULL, runs, count, error);
    if (status == CULEX_OK)
        status = batchless_check(&runs[0], error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        status = ticket_check(&tickets[i], error);
        if (status == CULEX_OK && runs[i].is_bound)
            status = culex__fail(error, CULEX_EINVAL, "a call of its own is bound to no other");
        if (status == CULEX_OK && producer_is_among(tickets[i].producer, tickets, i))
            status = culex__fail(error, CULEX_EINVAL, "two calls of one producer");
    }
    return status;
}

static culex_status schedule_check(const char *queue, const char *schedule, culex_error *error)
{
    culex_status status = culex__queue_check(queue, error);
    return status == CULEX_OK ? name_check("schedule", schedule, CULEX_JOB_NAME_MAX, error)
                              : status;
}

static culex_status periodic_check(const struct culex_new_run *run, culex_error *error)
{
    if (run->idempotency_key != NULL && run->idempotency_key[0] != '\0')
        return culex__fail(error, CULEX_EINVAL, "the run of a schedule has no idempotency key");
    culex_status status = batchless_check(run, error);
    return status == CULEX_OK ? run_check(run, 0, error) : status;
}

culex_status culex__argument_tick(const struct culex_tick *tick, culex_error *error)
{
    culex_status status = schedule_check(tick->queue, tick->schedule, error);
    if (status == CULEX_OK && tick->interval_ms <= 0)
        status = culex__fail(error, CULEX_EINVAL, "the interval of a schedule is 1 ms or more");
    if (status != CULEX_OK || tick->run == NULL)
        return status;
    return periodic_check(tick->run, error);
}

culex_status culex__argument_schedule_set(const char *queue, const char *schedule,
                                          enum culex_schedule_act act, culex_error *error)
{
    if ((unsigned)act > CULEX_SCHEDULE_FORGET)
        return culex__fail(error, CULEX_EINVAL, "nothing that is done to a schedule");
    return schedule_check(queue, schedule, error);
}

culex_status culex__argument_schedule_run(const char *queue, const char *schedule, int64_t asking,
                                          const struct culex_new_run *run, culex_error *error)
{
    culex_status status = schedule_check(queue, schedule, error);
    if (status == CULEX_OK && asking <= 0)
        status = culex__fail(error, CULEX_EINVAL, "no number that tells this asking from others");
    return status == CULEX_OK ? periodic_check(run, error) : status;
}

/* --- STEP -------------------------------------------------------------------------------- */

static bool error_text_is_valid(const char *text)
{
    size_t len = text != NULL ? strnlen(text, CULEX_ERROR_TEXT_MAX + 1) : 0;
    return len <= CULEX_ERROR_TEXT_MAX && (len == 0 || culex__utf8_is_valid(text, len));
}

static culex_status follow_ups_check(const struct culex_ack *ack, culex_error *error)
{
    culex_status status = CULEX_OK;
    if (ack->follow_up_count > CULEX_FOLLOW_UPS_MAX)
        return culex__fail(error, CULEX_ELIMIT, "%zu follow-ups, more than %d",
                           ack->follow_up_count, CULEX_FOLLOW_UPS_MAX);
    if (ack->follow_up_count > 0 && ack->event != CULEX_EVENT_DONE)
        return culex__fail(error, CULEX_EINVAL, "only a run that is done has follow-ups");
    for (size_t i = 0; i < ack->follow_up_count && status == CULEX_OK; i++) {
        status = culex__queue_check(ack->follow_ups[i].queue, error);
        if (status == CULEX_OK)
            status = batchless_check(&ack->follow_ups[i].run, error);
        if (status == CULEX_OK)
            status = run_check(&ack->follow_ups[i].run, i, error);
    }
    return status;
}

/* Lines are repeated with their step, so that none comes in twice. */
static bool log_is_valid(const struct culex_log_lines *log)
{
    if (log->len == 0)
        return true;
    return log->most >= 1 && log->most <= CULEX_RUN_LINES_MAX &&
           culex__run_log_is_valid(log->bytes, log->len);
}

static culex_status acks_check(const struct culex_ack *acks, size_t count, culex_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (!culex__run_event_is_workers(acks[i].event))
            return culex__fail(error, CULEX_EINVAL, "ack %zu: not an event of a worker", i);
        if (!error_text_is_valid(acks[i].text))
            return culex__fail(error, CULEX_EINVAL, "ack %zu: text too long or not UTF-8", i);
        if (!culex__progress_is_valid(acks[i].progress))
            return culex__fail(error, CULEX_EINVAL, "ack %zu: progress too long or not UTF-8", i);
        if (!log_is_valid(&acks[i].log))
            return culex__fail(error, CULEX_EINVAL, "ack %zu: log lines out of form", i);
        culex_status status = follow_ups_check(&acks[i], error);
        if (status != CULEX_OK) {
            culex__error_context(error, "ack %zu", i);
            return status;
        }
    }
    return CULEX_OK;
}

static culex_status beats_check(const struct culex_beat *beats, size_t count, culex_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (!culex__progress_is_valid(beats[i].progress))
            return culex__fail(error, CULEX_EINVAL, "beat %zu: progress too long or not UTF-8", i);
        if (!log_is_valid(&beats[i].log))
            return culex__fail(error, CULEX_EINVAL, "beat %zu: log lines out of form", i);
    }
    return CULEX_OK;
}

culex_status culex__argument_step(const struct culex_step *step, culex_error *error)
{
    const size_t most = CULEX_STORE_BATCH_MAX;
    culex_status status = culex__queue_check(step->queue, error);
    if (status == CULEX_OK)
        status = session_check(step->session, error);
    if (status != CULEX_OK)
        return status;
    if (step->ack_count > most || step->beat_count > most || step->want > most)
        return culex__fail(error, CULEX_ELIMIT, "at most %zu acks, beats and runs in one step",
                           most);
    if (step->lease_ms < 0)
        return culex__fail(error, CULEX_EINVAL, "a lease is 0 ms or more");
    struct culex_needs offers;
    if (!culex__offers_read(step->offers, &offers))
        return culex__fail(
            error, CULEX_EINVAL,
            "'%s' is not what a worker may offer: \"NAME:UNITS,NAME:UNITS\", at most "
            "%d, sorted by their names",
            step->offers, CULEX_OFFERS_MAX);
    status = acks_check(step->acks, step->ack_count, error);
    return status == CULEX_OK ? beats_check(step->beats, step->beat_count, error) : status;
}

/* --- the registry of workers -------------------------------------------------------------- */

static culex_status worker_id_check(const char *id, culex_error *error)
{
    size_t len = id != NULL ? strnlen(id, CULEX_STORE_SESSION_MAX + 1) : 0;
    if (len == 0 || !is_hex(id, len) || len > CULEX_STORE_SESSION_MAX)
        return culex__fail(error, CULEX_EINVAL, "the id of a worker has 1 to %d hex digits",
                           CULEX_STORE_SESSION_MAX);
    return CULEX_OK;
}

culex_status culex__argument_worker_tell(const struct culex_worker_tell *tell, culex_error *error)
{
    culex_status status = worker_id_check(tell->id, error);
    if (status != CULEX_OK || tell->is_leaving)
        return status;
    if (tell->sheet_len > CULEX_STORE_SHEET_MAX || (tell->sheet == NULL && tell->sheet_len > 0))
        return culex__fail(error, CULEX_ELIMIT, "a worker tells at most %d bytes of itself",
                           CULEX_STORE_SHEET_MAX);
    if (tell->concurrency == 0 || tell->concurrency > CULEX_WORKER_CONCURRENCY_MAX ||
        tell->heard > CULEX_STORE_CURSOR_MAX)
        return culex__fail(error, CULEX_EINVAL, "concurrency is 1 to %d",
                           CULEX_WORKER_CONCURRENCY_MAX);
    return CULEX_OK;
}

culex_status culex__argument_worker_set(const char *id, const struct culex_worker_wish *wish,
                                        culex_error *error)
{
    if (wish == NULL ||
        (wish->quiet == CULEX_SWITCH_KEEP && !wish->is_stop && wish->concurrency == 0))
        return culex__fail(error, CULEX_EINVAL,
                           "the order leaves the worker as it is: set order.quiet, order.stop or "
                           "order.concurrency");
    if ((unsigned)wish->quiet > CULEX_SWITCH_OFF)
        return culex__fail(error, CULEX_EINVAL,
                           "order.quiet is none of CULEX_SWITCH_KEEP, _ON and _OFF");
    if (wish->concurrency > CULEX_WORKER_CONCURRENCY_MAX)
        return culex__fail(error, CULEX_EINVAL, "concurrency is 1 to %d",
                           CULEX_WORKER_CONCURRENCY_MAX);
    return id != NULL ? worker_id_check(id, error) : CULEX_OK;
}

/* --- the operator's verbs ---------------------------------------------------------------- */

culex_status culex__argument_move(const char *queue, const struct culex_place *place,
                                  culex_error *error)
{
    if (place->priority < -1 || place->priority > CULEX_PRIORITY_MAX)
        return culex__fail(error, CULEX_EINVAL, "priority is 0 to %d, or -1 for the one it has",
                           CULEX_PRIORITY_MAX);
    if (place->has_time && (place->delay_ms > CULEX_DELAY_MAX_MS || place->at_ms < 0 ||
                            place->at_ms > CULEX_INSTANT_MAX_MS))
        return culex__fail(error, CULEX_EINVAL,
                           "a run is moved by up to 100 years, to an instant from 1970 to 2149");
    if (!place->has_time && place->priority < 0)
        return culex__fail(error, CULEX_EINVAL, "a move to where the run stands");
    return culex__queue_check(queue, error);
}

culex_status culex__argument_pause_for(const char *queue, int64_t for_ms, culex_error *error)
{
    if (for_ms < 1 || for_ms > CULEX_STORE_PAUSE_MAX_MS)
        return culex__fail(error, CULEX_EINVAL, "a pause that ends by itself lasts 1 to %lld ms",
                           (long long)CULEX_STORE_PAUSE_MAX_MS);
    return culex__queue_check(queue, error);
}

culex_status culex__argument_limit(const char *queue, uint64_t most, culex_error *error)
{
    if (most > CULEX_QUEUE_LIMIT_MAX)
        return culex__fail(error, CULEX_EINVAL,
                           "the bound on a queue's backlog is at most %d, or 0 for none",
                           CULEX_QUEUE_LIMIT_MAX);
    return culex__queue_check(queue, error);
}

culex_status culex__argument_dead_limit(const char *queue, uint64_t most, culex_error *error)
{
    if (most > CULEX_QUEUE_LIMIT_MAX)
        return culex__fail(error, CULEX_EINVAL,
                           "the bound on a queue's dead runs is at most %d, or 0 for none",
                           CULEX_QUEUE_LIMIT_MAX);
    return culex__queue_check(queue, error);
}

/* The rest is for the store, which knows the limit's kind. */
culex_status culex__argument_limit_set(const char *queue, const char *name,
                                       const culex_limit_value *value, culex_error *error)
{
    culex_status status = culex__queue_check(queue, error);
    if (status == CULEX_OK)
        status = limit_name_check(name, error);
    if (status == CULEX_OK && value != NULL && value->count == 0)
        status = culex__fail(error, CULEX_EINVAL,
                             "limit '%s': 0 would hold its runs back for ever; pause the queue "
                             "for that",
                             name);
    return status;
}

culex_status culex__argument_limit_keys(const char *queue, const char *name, const char *after,
                                        size_t most, culex_error *error)
{
    culex_status status = culex__queue_check(queue, error);
    if (status == CULEX_OK)
        status = limit_name_check(name, error);
    if (status == CULEX_OK && !limit_word_is_valid(after, 0, CULEX_LIMIT_KEY_MAX))
        status = culex__fail(error, CULEX_EINVAL, "no limit has a key like '%.*s'",
                             CULEX_LIMIT_KEY_MAX, after);
    if (status == CULEX_OK && (most == 0 || most > CULEX_STORE_PAGE_MAX))
        status = culex__fail(error, CULEX_EINVAL, "a page has 1 to %d keys", CULEX_STORE_PAGE_MAX);
    return status;
}

/* No active ones: their holders would report the end of nothing. */
culex_status culex__argument_metadata(const char *queue, const char *job, culex_error *error)
{
    culex_status status = culex__queue_check(queue, error);
    return status == CULEX_OK && job != NULL ? name_check("job", job, CULEX_JOB_NAME_MAX, error)
                                             : status;
}

culex_status culex__argument_metadata_set(const char *queue, const struct culex_metadata_set *set,
                                          culex_error *error)
{
    culex_status status = culex__queue_check(queue, error);
    if (status == CULEX_OK)
        status = name_check("job", set->job, CULEX_JOB_NAME_MAX, error);
    if (status == CULEX_OK && set->holder != NULL)
        status = session_check(set->holder->session, error);
    if (status != CULEX_OK)
        return status;
    if (set->version > CULEX_METADATA_VERSION_MAX ||
        (set->before > CULEX_METADATA_VERSION_MAX && set->before != CULEX_METADATA_ANY) ||
        (set->version == set->before && set->version != 0))
        return culex__fail(error, CULEX_EINVAL, "no version that metadata can have");
    if (set->len > CULEX_METADATA_BYTES_MAX)
        return culex__fail(error, CULEX_ELIMIT,
                           "the metadata of job '%s' takes %zu bytes as text, more than %d",
                           set->job, set->len, CULEX_METADATA_BYTES_MAX);
    return CULEX_OK;
}

culex_status culex__argument_schema_publish(const char *queue,
                                            const struct culex_schema_text *schema,
                                            culex_error *error)
{
    culex_status status = culex__argument_schema_text(queue, schema->id.job, error);
    if (status != CULEX_OK)
        return status;
    if (schema->id.fingerprint == 0 || schema->id.digest == 0)
        return culex__fail(error, CULEX_EINVAL, "the schema of job '%s' has no %s", schema->id.job,
                           schema->id.digest == 0 ? "digest" : "fingerprint");
    if (schema->len == 0 || schema->len > CULEX_SCHEMA_BYTES_MAX)
        return culex__fail(error, CULEX_ELIMIT,
                           "the schema of job '%s' takes %zu bytes as text, not 1 to %d",
                           schema->id.job, schema->len, CULEX_SCHEMA_BYTES_MAX);
    return culex__utf8_is_valid(schema->text, schema->len)
               ? CULEX_OK
               : culex__fail(error, CULEX_EINVAL, "the schema of job '%s' is not valid UTF-8",
                             schema->id.job);
}

culex_status culex__argument_schema_text(const char *queue, const char *job, culex_error *error)
{
    culex_status status = culex__queue_check(queue, error);
    return status == CULEX_OK ? name_check("job", job, CULEX_JOB_NAME_MAX, error) : status;
}

culex_status culex__argument_purge(const char *queue, culex_run_state state, size_t limit,
                                   culex_error *error)
{
    if ((unsigned)state >= CULEX_RUN_STATE_COUNT || state == CULEX_RUN_ACTIVE)
        return culex__fail(error, CULEX_EINVAL, "runs in this state cannot be purged");
    if (limit == 0 || limit > CULEX_STORE_PURGE_MAX)
        return culex__fail(error, CULEX_EINVAL, "1 to %d runs are purged at once",
                           CULEX_STORE_PURGE_MAX);
    return culex__queue_check(queue, error);
}

/* --- filters ----------------------------------------------------------------------------- */

/* 2001-01-01, before any store of ours: seconds that were taken for nanoseconds are in 1970. */
enum { BEGIN_S = 978307200 };

static culex_status time_check(const char *name, bool has, culex_time at, culex_error *error)
{
    if (at != 0 && !has)
        return culex__fail(error, CULEX_EINVAL,
                           "filter.%s is set and filter.has_%s is not, without which it would be "
                           "ignored: set both or neither",
                           name, name);
    if (has && at < BEGIN_S * CULEX_SECOND)
        return culex__fail(error, CULEX_EINVAL,
                           "filter.%s is before 2001: a culex_time is in nanoseconds; "
                           "culex_time_from_unix(seconds) makes one",
                           name);
    return CULEX_OK;
}

static culex_status times_check(const culex_list_filter *filter, culex_error *error)
{
    culex_status status = time_check("since", filter->has_since, filter->since, error);
    if (status == CULEX_OK)
        status = time_check("before", filter->has_before, filter->before, error);
    if (status == CULEX_OK && filter->has_since && filter->has_before &&
        filter->since >= filter->before)
        status =
            culex__fail(error, CULEX_EINVAL,
                        "filter.since is not before filter.before: no run is enqueued in between");
    return status;
}

/* A text that no run can have would find nothing, and nobody would learn why. */
static culex_status texts_check(const culex_list_filter *filter, culex_error *error)
{
    const char *tag = filter->tag, *part = filter->error_part;
    if (filter->job != NULL) {
        culex_status status = name_check("job", filter->job, CULEX_JOB_NAME_MAX, error);
        if (status != CULEX_OK)
            return status;
    }
    if (tag != NULL &&
        (tag[0] == '\0' || !field_is_valid(tag, CULEX_TAG_MAX) || strchr(tag, ',') != NULL))
        return culex__fail(
            error, CULEX_EINVAL,
            "filter.tag is no tag that a run can have: one has 1 to %d bytes of UTF-8 "
            "without ',', '|' and control characters",
            CULEX_TAG_MAX);
    size_t len = part != NULL ? strnlen(part, CULEX_ERROR_TEXT_MAX + 1) : 1;
    if (len == 0 || len > CULEX_ERROR_TEXT_MAX)
        return culex__fail(error, CULEX_EINVAL, "filter.error_part has 1 to %d bytes",
                           CULEX_ERROR_TEXT_MAX);
    return CULEX_OK;
}

culex_status culex__filter_check(const culex_list_filter *filter, culex_error *error)
{
    if (filter->states >= CULEX_LIST_STATE(CULEX_RUN_STATE_COUNT))
        return culex__fail(error, CULEX_EINVAL,
                           "filter.states has the bit of no state: set it by CULEX_LIST_STATE");
    if (filter->newest_first && filter->states != CULEX_LIST_STATE(CULEX_RUN_DEAD) &&
        filter->states != CULEX_LIST_STATE(CULEX_RUN_CANCELLED))
        return culex__fail(error, CULEX_EINVAL,
                           "filter.newest_first goes with one state in filter.states, that of dead "
                           "runs or that of cancelled ones");
    culex_status status = times_check(filter, error);
    return status == CULEX_OK ? texts_check(filter, error) : status;
}

culex_status culex__argument_list(const char *queue, const culex_list_filter *filter,
                                  culex_list_cursor cursor, size_t limit, culex_error *error)
{
    culex_status status = culex__filter_check(filter, error);
    if (status != CULEX_OK)
        return status;
    if (limit == 0 || limit > CULEX_STORE_PAGE_MAX)
        return culex__fail(error, CULEX_EINVAL, "a page has 1 to %d runs", CULEX_STORE_PAGE_MAX);
    if (cursor.place > CULEX_STORE_CURSOR_MAX)
        return culex__fail(error, CULEX_EINVAL, "this cursor is not one of LIST");
    return culex__queue_check(queue, error);
}

/* --- waiting for ends -------------------------------------------------------------------- */

culex_status culex__argument_wait(const char *queue, size_t count, int64_t note_ms,
                                  culex_error *error)
{
    if (count == 0 || count > CULEX_STORE_WAIT_MAX)
        return culex__fail(error, CULEX_ELIMIT, "1 to %d runs are waited for at once",
                           CULEX_STORE_WAIT_MAX);
    if (note_ms < 0 || note_ms > CULEX_STORE_WAIT_NOTE_MAX_MS)
        return culex__fail(error, CULEX_EINVAL, "a wait is noted for 0 to %lld ms",
                           (long long)CULEX_STORE_WAIT_NOTE_MAX_MS);
    return culex__queue_check(queue, error);
}

/* --- figures ----------------------------------------------------------------------------- */

static bool job_is_valid(const char *job)
{
    return job != NULL && job[0] != '\0' && field_is_valid(job, CULEX_JOB_NAME_MAX);
}

static culex_status figure_check(const struct culex_figure_row *rows, size_t at, culex_error *error)
{
    struct culex_figure figure;
    if (!job_is_valid(rows[at].job))
        return culex__fail(error, CULEX_EINVAL, "figures %zu: not the name of a job", at);
    if (rows[at].text == NULL || !culex__figure_read(rows[at].text, &figure))
        return culex__fail(error, CULEX_EINVAL, "figures %zu: not in their form", at);
    for (size_t i = 0; i < at; i++) {
        if (strcmp(rows[i].job, rows[at].job) == 0)
            return culex__fail(error, CULEX_EINVAL, "figures %zu: those of '%s' come twice", at,
                               rows[at].job);
    }
    return CULEX_OK;
}

culex_status culex__argument_figures_add(const char *queue, const char *session, uint64_t number,
                                         const struct culex_figure_row *rows, size_t count,
                                         culex_error *error)
{
    culex_status status = culex__queue_check(queue, error);
    if (status == CULEX_OK)
        status = session_check(session, error);
    if (status == CULEX_OK && (number == 0 || number > CULEX_FIGURE_MAX))
        status = culex__fail(error, CULEX_EINVAL, "a call of figures has no such number");
    if (status == CULEX_OK && (count == 0 || count > CULEX_STORE_FIGURES_MAX))
        status =
            culex__fail(error, CULEX_ELIMIT, "1 to %d rows of figures", CULEX_STORE_FIGURES_MAX);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = figure_check(rows, i, error);
    return status;
}

culex_status culex__argument_figures(const char *queue, const char *job, unsigned hours,
                                     const struct culex_figure_row *after, size_t most,
                                     culex_error *error)
{
    if (job != NULL && !job_is_valid(job))
        return culex__fail(error, CULEX_EINVAL, "not the name of a job");
    if (hours == 0 || hours > CULEX_FIGURES_HOURS)
        return culex__fail(error, CULEX_EINVAL, "figures are kept for 1 to %d hours",
                           CULEX_FIGURES_HOURS);
    if (most == 0 || most > CULEX_STORE_FIGURES_MAX ||
        (after != NULL && !field_is_valid(after->job, CULEX_JOB_NAME_MAX)))
        return culex__fail(error, CULEX_EINVAL, "figures have no such page");
    return culex__queue_check(queue, error);
}

/* --- events ------------------------------------------------------------------------------ */

culex_status culex__argument_events_keep(const char *queue, uint64_t most, culex_error *error)
{
    if (most > CULEX_STORE_EVENTS_KEPT_MAX)
        return culex__fail(error, CULEX_EINVAL, "a queue keeps at most %d events, or 0 for none",
                           CULEX_EVENTS_KEPT_MAX);
    return culex__queue_check(queue, error);
}

culex_status culex__argument_events(const char *queue, uint64_t after, size_t most,
                                    culex_error *error)
{
    if (after >= UINT64_C(1) << 53 && after != CULEX_EVENTS_NOW)
        return culex__fail(error, CULEX_EINVAL, "events have no such position");
    if (most == 0 || most > CULEX_STORE_EVENTS_PAGE_MAX)
        return culex__fail(error, CULEX_EINVAL, "a page has 1 to %d events", CULEX_EVENTS_PAGE_MAX);
    return culex__queue_check(queue, error);
}
