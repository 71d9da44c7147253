/* store/sqlite/enqueue.c - runs coming in. The body is apart from its transaction, as it also
 * runs within a caller's own: see sqlite/borrow.c. */
#include <assert.h>
#include <string.h>

#include "store/sqlite/body.h"
#include "store/sqlite/columns.h"
#include "store/sqlite/event_notes.h"
#include "store/sqlite/idempotency.h"
#include "store/sqlite/kind.h"
#include "store/sqlite/members.h"
#include "store/sqlite/parking.h"
#include "store/sqlite/producer.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/run.h"
#include "store/sqlite/schemas.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/unique.h"
#include "store/sqlite/verb.h"
#include "store/sqlite/verbs.h"
#include "store/argument.h"
#include "store/refusal.h"
#include "base/error.h"

static bool is_full(const struct culex_sqlite_queue *queue, int64_t capacity)
{
    int64_t live = queue->kept[CULEX_RUN_WAITING] + queue->kept[CULEX_RUN_ACTIVE];
    return capacity > 0 && live >= capacity;
}

/* Looks for what keeps the run out. Leaves `result` alone when nothing does. */
static culex_status refuse(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                           const struct culex_new_run *run, struct culex_sqlite_unique *ret_unique,
                           struct culex_enqueue_result *result, culex_error *error)
{
    *ret_unique = (struct culex_sqlite_unique){.is_held = false};
    culex_status status = culex__sqlite_key_find(store, queue, run, result, error);
    if (status != CULEX_OK || result->outcome != CULEX_ENQUEUED_NEW)
        return status;
    if (culex__sqlite_is_unique(run))
        status = culex__sqlite_unique_find(store, queue, run->unique_key, ret_unique, error);
    if (ret_unique->is_held)
        *result = (struct culex_enqueue_result){CULEX_ENQUEUED_UNIQUE_TAKEN, ret_unique->holder};
    return status;
}

static culex_status add_payload(struct culex_sqlite *store, int64_t seq,
                                const struct culex_new_run *run, culex_error *error)
{
    if (run->payload_len <= CULEX__SQLITE_INLINE_MAX)
        return CULEX_OK;
    return culex__sqlite_finish(
        store,
        SQL_BIND(store, PAYLOAD_ADD, SQL_INT(seq), SQL_BYTES(run->payload, run->payload_len)),
        error);
}

/* ORDER NEW_RUN: what a run is born with stands before what is wanted of it. */
enum {
#define COLUMN(name, ...) NEW_##name,
    CULEX__SQLITE_NEW_RUN_COLUMNS(COLUMN, COLUMN)
#undef COLUMN
        NEW_COUNT
};

enum {
#define COLUMN(name, ...) BIRTH_##name,
    CULEX__SQLITE_NEW_RUN_BIRTH(COLUMN, COLUMN)
#undef COLUMN
        BIRTH_COUNT
};

/* Where a run stands that comes in now, or is replaced. */
struct stand {
    int64_t at_ms;
    bool is_delayed;
    int64_t expires_at_ms;
    const char *limits; /* NULL: it has none */
    const char *share;  /* "": none of them is fair */
    int64_t aside;
};

/* `at_ms` of one that is due at once is still to be given, and what it has of limits. */
static struct stand stand_of(const struct culex_sqlite *store, const struct culex_new_run *run)
{
    int64_t now = store->now_ms;
    int64_t due = run->at_ms != 0 ? run->at_ms : culex__sqlite_later(now, run->delay_ms);
    bool is_delayed = due > now;
    return (struct stand){
        .at_ms = due,
        .is_delayed = is_delayed,
        .expires_at_ms =
            run->expires_ms > 0 ? culex__sqlite_later(is_delayed ? due : now, run->expires_ms) : 0,
        .share = "",
        .aside = CULEX__SQLITE_ASIDE_NOT};
}

static void values_fill(const struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                        const culex_uuid *id, const struct culex_new_run *run,
                        const struct stand *stand, struct culex_sqlite_value values[NEW_COUNT])
{
    bool is_long = run->payload_len > CULEX__SQLITE_INLINE_MAX;
    bool is_unique = culex__sqlite_is_unique(run), is_kept = is_unique && run->unique_while != 0;
    const void *payload = run->payload_len > 0 ? run->payload : "";
    uint64_t checksum = culex__sqlite_checksum(*id, run->job, payload, run->payload_len);
    int64_t until_ms = is_unique && run->unique_for_ms > 0
                           ? culex__sqlite_later(store->now_ms, run->unique_for_ms)
                           : 0;
    assert(run->job != NULL && run->attempts_max >= 1); /* culex__argument_enqueue */
    const struct culex_sqlite_value filled[NEW_COUNT] = {
        [NEW_seq] = SQL_INT(culex__sqlite_queue_seq(queue, *id)),
        [NEW_queue] = SQL_INT(queue->key),
        [NEW_id] = SQL_ID(id),
        [NEW_created_at_ms] = SQL_INT(store->now_ms),
        [NEW_priority] = SQL_INT(run->priority),
        [NEW_at_ms] = SQL_INT(stand->at_ms),
        [NEW_is_delayed] = SQL_INT(stand->is_delayed),
        [NEW_attempts_max] = SQL_INT(run->attempts_max),
        [NEW_timeout_ms] = SQL_INT(run->timeout_ms),
        [NEW_keep_success_ms] = SQL_INT(run->keep_success_ms),
        [NEW_keep_failure_ms] = SQL_INT(run->keep_failure_ms),
        [NEW_retry_for_ms] = SQL_INT(run->retry_for_ms),
        [NEW_expires_at_ms] = SQL_INT(stand->expires_at_ms),
        [NEW_fingerprint] = SQL_INT((int64_t)run->fingerprint),
        [NEW_checksum] = SQL_INT((int64_t)checksum),
        [NEW_payload_len] = SQL_INT((int64_t)run->payload_len),
        [NEW_job] = SQL_TEXT(run->job),
        [NEW_unique_key] = SQL_TEXT(is_unique ? run->unique_key : NULL),
        [NEW_unique_while] = SQL_INT(is_unique ? run->unique_while : 0),
        [NEW_unique_until_ms] = SQL_INT(until_ms),
        [NEW_has_key] = SQL_INT(is_kept),
        [NEW_tags] = SQL_TEXT(run->tags != NULL ? run->tags : ""),
        [NEW_aside] = SQL_INT(stand->aside),
        [NEW_limits] = SQL_TEXT(stand->limits),
        [NEW_share] = SQL_TEXT(stand->share),
        [NEW_payload] = SQL_BYTES(is_long ? NULL : payload, run->payload_len)};
    memcpy(values, filled, sizeof filled);
}

/* Says what the run's limits are now. Their text is in `ret_text`, and the stand has it. */
static culex_status limits_tell(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                const struct culex_new_run *run,
                                char ret_text[CULEX__SQLITE_LIMITS_SIZE], struct stand *stand,
                                struct culex_sqlite_keys *ret_keys, culex_error *error)
{
    ret_keys->count = 0;
    if (run->limit_count == 0)
        return CULEX_OK;
    stand->limits = ret_text;
    culex_status status = culex__sqlite_keys_tell(store, queue, run, ret_text, ret_keys, error);
    if (status == CULEX_OK)
        stand->share = culex__sqlite_keys_share(ret_keys);
    return status;
}

/* The place that they give it. */
static culex_status limits_arrive(struct culex_sqlite *store,
                                  const struct culex_sqlite_queue *queue,
                                  const struct culex_new_run *run,
                                  const struct culex_sqlite_keys *keys, struct stand *stand,
                                  culex_error *error)
{
    if (stand->limits == NULL)
        return CULEX_OK;
    const struct culex_sqlite_rank rank = {run->priority, stand->at_ms, INT64_MAX};
    stand->aside = CULEX__SQLITE_ASIDE_TIMED;
    return stand->is_delayed
               ? CULEX_OK
               : culex__sqlite_keys_arrive(store, queue, keys, &rank, &stand->aside, error);
}

static culex_status own_add(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                            const struct culex_new_run *run, culex_uuid *ret_id,
                            bool *ret_is_parked, culex_error *error)
{
    struct culex_sqlite_value values[NEW_COUNT];
    char limits[CULEX__SQLITE_LIMITS_SIZE];
    struct culex_sqlite_keys keys;
    struct stand stand = stand_of(store, run);
    if (!stand.is_delayed)
        stand.at_ms = culex__sqlite_queue_back(store, queue);
    culex_status status = culex__sqlite_queue_id(store, queue, run->priority, ret_id, error);
    if (status == CULEX_OK)
        status = limits_tell(store, queue, run, limits, &stand, &keys, error);
    if (status == CULEX_OK)
        status = limits_arrive(store, queue, run, &keys, &stand, error);
    *ret_is_parked = stand.aside > 0;
    if (status != CULEX_OK)
        return status;
    values_fill(store, queue, ret_id, run, &stand, values);
    status = culex__sqlite_finish(
        store, culex__sqlite_bind(store, CULEX__SQLITE_RUN_ADD, values, NEW_COUNT), error);
    return status == CULEX_OK
               ? add_payload(store, culex__sqlite_queue_seq(queue, *ret_id), run, error)
               : status;
}

static culex_status ordinary_add(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                 const struct culex_new_run *run, culex_uuid *ret_id,
                                 culex_error *error)
{
    culex__sqlite_queue_back(store, queue);
    int64_t kind;
    culex_status status = culex__sqlite_kind_of(store, queue, run, &kind, error);
    if (status == CULEX_OK)
        status = culex__sqlite_queue_id(store, queue, run->priority, ret_id, error);
    return status == CULEX_OK ? culex__sqlite_body_add(store, queue, *ret_id, kind, run, error)
                              : status;
}

static culex_status insert(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                           const struct culex_new_run *run, culex_uuid *ret_id, culex_error *error)
{
    bool is_parked = false;
    culex_status status = culex__sqlite_body_fits(store, queue, run)
                              ? ordinary_add(store, queue, run, ret_id, error)
                              : own_add(store, queue, run, ret_id, &is_parked, error);
    bool has_work = queue->has_new_work; /* others', which a limit that it raises may have freed */
    culex__sqlite_queue_arrive(queue);
    if (is_parked) /* nobody can begin it yet */
        queue->has_new_work = has_work;
    return status;
}

/* --- replacing -------------------------------------------------------------------------------- */

static culex_status row_replace(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                const struct culex_sqlite_run *old, const struct culex_new_run *run,
                                const struct stand *stand, culex_error *error)
{
    struct culex_sqlite_value values[NEW_COUNT];
    enum { WANTED = NEW_COUNT - BIRTH_COUNT };
    values_fill(store, queue, &old->id, run, stand, values);
    memmove(values, values + BIRTH_COUNT, WANTED * sizeof values[0]);
    values[WANTED] = SQL_INT(old->seq);
    culex_status status = culex__sqlite_finish(
        store, culex__sqlite_bind(store, CULEX__SQLITE_RUN_REPLACE, values, WANTED + 1), error);
    if (status == CULEX_OK && old->payload_len > CULEX__SQLITE_INLINE_MAX)
        status =
            culex__sqlite_finish(store, SQL_BIND(store, PAYLOAD_DELETE, SQL_INT(old->seq)), error);
    return status == CULEX_OK ? add_payload(store, old->seq, run, error) : status;
}

/* Whether the run that is there has limits of this text; NULL: none. */
static culex_status limits_compare(struct culex_sqlite *store, const struct culex_sqlite_run *old,
                                   const char *text, bool *ret_is_same, culex_error *error)
{
    *ret_is_same = !old->is_limited && text == NULL;
    if (!old->is_limited || text == NULL)
        return CULEX_OK;
    sqlite3_stmt *row = SQL_BIND(store, RUN_LIMITS, SQL_INT(old->seq));
    int has = culex__sqlite_next(store, row, error);
    const char *limits = has > 0 ? (const char *)sqlite3_column_text(row, 0) : NULL;
    *ret_is_same = limits != NULL && strcmp(limits, text) == 0;
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

static bool may_stay(const struct culex_sqlite *store, const struct culex_sqlite_run *old,
                     const struct culex_new_run *run, const struct stand *stand)
{
    return !stand->is_delayed && culex__sqlite_run_state(store, old) == CULEX_RUN_WAITING &&
           old->priority == run->priority;
}

/* One that waits, with the same limits, and may go on at once keeps its place. */
static culex_status stand_again(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                const struct culex_sqlite_run *old, const struct culex_new_run *run,
                                const struct culex_sqlite_keys *keys, struct stand *stand,
                                culex_error *error)
{
    bool is_same = false;
    culex_status status = limits_compare(store, old, stand->limits, &is_same, error);
    if (status != CULEX_OK)
        return status;
    if (is_same && may_stay(store, old, run, stand)) {
        stand->at_ms = old->at_ms;
        stand->is_delayed = old->is_delayed;
        stand->aside = old->aside;
        return CULEX_OK;
    }
    queue->has_new_work = true; /* perhaps it is due sooner than anybody knows */
    if (!stand->is_delayed)
        stand->at_ms = culex__sqlite_queue_back(store, queue);
    status = culex__sqlite_parking_leave(store, queue, old, error);
    return status == CULEX_OK ? limits_arrive(store, queue, run, keys, stand, error) : status;
}

/* Whether the holder, which a worker was given, leaves its key to a run that cannot replace it any
 * more: it waits again, and its states, which alone keep the key, are not that of one at work. */
static bool is_yielding(const struct culex_sqlite_run *holder,
                        const struct culex_sqlite_unique *unique)
{
    return holder->state == CULEX_RUN_WAITING && !unique->has_window &&
           (holder->unique_while >> CULEX_RUN_ACTIVE & 1) == 0;
}

/* The holder of the run's key becomes the run, unless somebody has claimed it before, or it is not
 * here any more. */
static culex_status replace(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                            const struct culex_new_run *run,
                            const struct culex_sqlite_unique *unique,
                            struct culex_enqueue_result *result, culex_error *error)
{
    struct culex_sqlite_run old;
    struct culex_sqlite_keys keys;
    char limits[CULEX__SQLITE_LIMITS_SIZE];
    culex_status status = culex__sqlite_run_one(
        store,
        SQL_BIND(store, RUN_FIND, SQL_INT(culex__sqlite_queue_seq(queue, unique->holder)),
                 SQL_ID(&unique->holder)),
        &old, error);
    if (status == CULEX_ENOTFOUND)
        return CULEX_OK;
    if (status == CULEX_OK && (old.state != CULEX_RUN_WAITING || old.attempt > 0)) {
        if (is_yielding(&old, unique))
            *result = (struct culex_enqueue_result){CULEX_ENQUEUED_NEW, {{0}}};
        return CULEX_OK;
    }
    if (status == CULEX_OK)
        status = culex__sqlite_unique_clear(store, queue, run->unique_key, unique, error);
    if (status != CULEX_OK)
        return status;
    struct stand stand = stand_of(store, run);
    const struct culex_schema_id schema = {run->job, run->fingerprint, 0};
    status = limits_tell(store, queue, run, limits, &stand, &keys, error);
    if (status == CULEX_OK)
        status = stand_again(store, queue, &old, run, &keys, &stand, error);
    if (status == CULEX_OK)
        status = row_replace(store, queue, &old, run, &stand, error);
    if (status == CULEX_OK)
        status = culex__sqlite_schema_look(store, queue, &schema, 0, error);
    if (status == CULEX_OK)
        status = culex__sqlite_window_keep(store, queue, run, old.id, error);
    result->outcome = CULEX_ENQUEUED_REPLACED;
    return status;
}

/* --- one run ---------------------------------------------------------------------------------- */

static bool has_brought(const struct culex_enqueue_result *result)
{
    return result->outcome == CULEX_ENQUEUED_NEW || result->outcome == CULEX_ENQUEUED_REPLACED;
}

/* A run that nothing keeps out. */
static culex_status run_take(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             const struct culex_new_run *run,
                             const struct culex_sqlite_unique *unique, culex_uuid *ret_id,
                             culex_error *error)
{
    culex_status status = CULEX_OK;
    if (culex__sqlite_is_unique(run)) /* first, or another mark would keep it out */
        status = culex__sqlite_unique_clear(store, queue, run->unique_key, unique, error);
    if (status == CULEX_OK)
        status = insert(store, queue, run, ret_id, error);
    return status == CULEX_OK ? culex__sqlite_window_keep(store, queue, run, *ret_id, error)
                              : status;
}

enum { NO_BOUND = 0 };

/* `capacity`: most runs that the queue may have; NO_BOUND for any number. */
static culex_status enqueue_one(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                const struct culex_new_run *run, int64_t capacity,
                                struct culex_enqueue_result *ret_result, culex_error *error)
{
    struct culex_enqueue_result result = {CULEX_ENQUEUED_NEW, {{0}}};
    struct culex_sqlite_unique unique;
    culex_status status = refuse(store, queue, run, &unique, &result, error);
    if (status == CULEX_OK && unique.is_held && run->unique_replaces)
        status = replace(store, queue, run, &unique, &result, error);
    if (status == CULEX_OK && result.outcome == CULEX_ENQUEUED_NEW && is_full(queue, capacity))
        result.outcome = CULEX_ENQUEUED_FULL;
    if (status == CULEX_OK && result.outcome == CULEX_ENQUEUED_NEW)
        status = run_take(store, queue, run, &unique, &result.id, error);
    if (status == CULEX_OK && has_brought(&result) && culex__sqlite_has_key(run))
        status = culex__sqlite_key_keep(store, queue, run, result.id, error);
    if (status == CULEX_OK && has_brought(&result))
        culex__sqlite_event(store, queue,
                            result.outcome == CULEX_ENQUEUED_NEW ? CULEX_EVENTS_ENQUEUED
                                                                 : CULEX_EVENTS_REPLACED,
                            result.id, 0, run->job);
    if (status == CULEX_OK)
        *ret_result = result;
    return status;
}

/* Of one kind or the other. */
static bool is_keyed(const struct culex_new_run *run)
{
    return culex__sqlite_has_key(run) || culex__sqlite_is_unique(run);
}

/* After so many keys have come: where no worker comes by, that is when older ones are forgotten. */
static culex_status keys_trim(struct culex_sqlite *store, size_t keys, culex_error *error)
{
    if (keys == 0)
        return CULEX_OK;
    culex_status status = culex__sqlite_keys_forget(store, keys, error);
    return status == CULEX_OK ? culex__sqlite_windows_forget(store, keys, error) : status;
}

culex_status culex__sqlite_enqueue_unbounded(struct culex_sqlite *store,
                                             struct culex_sqlite_queue *queue,
                                             const struct culex_new_run *run, culex_error *error)
{
    struct culex_enqueue_result result;
    culex_status status = enqueue_one(store, queue, run, NO_BOUND, &result, error);
    size_t keys = status == CULEX_OK && has_brought(&result) && is_keyed(run) ? 1 : 0;
    return status == CULEX_OK ? keys_trim(store, keys, error) : status;
}

culex_status culex__sqlite_enqueue_periodic(struct culex_sqlite *store,
                                            struct culex_sqlite_queue *queue,
                                            const struct culex_new_run *periodic,
                                            struct culex_enqueue_result *ret_result,
                                            culex_error *error)
{
    struct culex_new_run run = *periodic;
    run.at_ms = 0;
    culex_status status = enqueue_one(store, queue, &run, NO_BOUND, ret_result, error);
    if (status == CULEX_OK && ret_result->outcome == CULEX_ENQUEUED_REPLACED)
        ret_result->outcome = CULEX_ENQUEUED_NEW; /* it is there, as it was wanted */
    return status;
}

/* --- ENQUEUE ---------------------------------------------------------------------------------- */

static size_t keys_count(const struct culex_sqlite_call *call)
{
    size_t count = 0;
    for (size_t i = 0; i < call->count; i++)
        count += has_brought(&call->results[i]) && is_keyed(&call->runs[i]);
    return count;
}

/* What is remembered of the call. Where no worker comes by, that is when older things are
 * forgotten: more of them than come. */
static culex_status call_keep(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              const struct culex_sqlite_call *call, culex_error *error)
{
    bool wants_forgetting;
    size_t keys = keys_count(call);
    culex_status status = culex__sqlite_producer_keep(store, queue, call, &wants_forgetting, error);
    if (status == CULEX_OK && wants_forgetting)
        status = culex__sqlite_producers_forget(store, queue, error);
    return status == CULEX_OK ? keys_trim(store, keys, error) : status;
}

static bool is_refused(const struct culex_new_run *run, const struct culex_enqueue_result *result)
{
    return result->outcome == CULEX_ENQUEUED_FULL || result->outcome == CULEX_ENQUEUED_CONFLICT ||
           (result->outcome == CULEX_ENQUEUED_UNIQUE_TAKEN && run->unique_refuses);
}

static bool is_any_refused(const struct culex_new_run *runs, size_t count,
                           const struct culex_enqueue_result *results)
{
    for (size_t i = 0; i < count; i++) {
        if (is_refused(&runs[i], &results[i]))
            return true;
    }
    return false;
}

/* Whether it is one that the call made. */
static bool is_made(const struct culex_sqlite_call *call, culex_uuid id)
{
    for (size_t i = 0; i < call->count; i++) {
        if (call->results[i].outcome == CULEX_ENQUEUED_NEW &&
            memcmp(&call->results[i].id, &id, sizeof id) == 0)
            return true;
    }
    return false;
}

static void call_hold(const struct culex_sqlite_call *call)
{
    for (size_t i = 0; i < call->count; i++) {
        if (!has_brought(&call->results[i]) && is_made(call, call->results[i].id))
            call->results[i].id = (culex_uuid){{0}};
    }
    for (size_t i = 0; i < call->count; i++) {
        if (has_brought(&call->results[i]))
            call->results[i] = (struct culex_enqueue_result){CULEX_ENQUEUED_HELD, {{0}}};
    }
}

/* Of a bound call: it fails when a run is refused, so that nothing of it lasts. */
static culex_status call_bind(const struct culex_sqlite_call *call, culex_error *error)
{
    if (!is_any_refused(call->runs, call->count, call->results))
        return CULEX_OK;
    call_hold(call);
    return culex__fail(error, CULEX_ESTATE, "a run of a bound call is refused");
}

culex_status culex__sqlite_enqueue_end(const struct culex_new_run *runs, size_t count,
                                       const struct culex_enqueue_result *results,
                                       culex_status status)
{
    bool is_held = status == CULEX_ESTATE && count > 0 && runs[0].is_bound &&
                   is_any_refused(runs, count, results);
    return is_held ? CULEX_OK : status;
}

/* Of a call that is new. */
static culex_status call_make(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              const struct culex_sqlite_call *call, culex_error *error)
{
    bool has_batch = call->count > 0 && call->runs[0].has_batch;
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < call->count && status == CULEX_OK; i++)
        status =
            enqueue_one(store, queue, &call->runs[i], queue->capacity, &call->results[i], error);
    if (status == CULEX_OK && call->count > 0 && call->runs[0].is_bound)
        status = call_bind(call, error);
    if (status == CULEX_OK && has_batch)
        status = culex__sqlite_members_take(store, queue, call, error);
    return status == CULEX_OK ? call_keep(store, queue, call, error) : status;
}

/* Whatever ends it early, no result is one of another call. */
static struct culex_sqlite_call call_of(const struct culex_ticket *ticket,
                                        const struct culex_new_run *runs, size_t count,
                                        struct culex_enqueue_result *results)
{
    if (count > 0 && runs[0].is_bound)
        memset(results, 0, count * sizeof *results);
    return (struct culex_sqlite_call){ticket, runs, count, results};
}

static culex_status call_do(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                            void *request, culex_error *error)
{
    const struct culex_sqlite_call *call = request;
    bool is_answered;
    culex_status status = culex__sqlite_producer_recall(store, queue, call, &is_answered, error);
    if (status != CULEX_OK || is_answered)
        return status;
    return call_make(store, queue, call, error);
}

culex_status culex__sqlite_enqueue_within(struct culex_sqlite *store, const char *queue,
                                          const struct culex_new_run *runs, size_t count,
                                          struct culex_enqueue_result *results, culex_error *error)
{
    assert(count <= CULEX_STORE_BATCH_MAX);
    struct culex_sqlite_call call = call_of(NULL, runs, count, results);
    return culex__sqlite_verb_within(store, queue, CULEX__SQLITE_ABSENT_MADE, call_do, &call,
                                     error);
}

culex_status culex__sqlite_enqueue(struct culex_store *base, const char *queue,
                                   const struct culex_ticket *ticket,
                                   const struct culex_new_run *runs, size_t count,
                                   struct culex_enqueue_result *results, culex_error *error)
{
    assert(count <= CULEX_STORE_BATCH_MAX);
    struct culex_sqlite_call call = call_of(ticket, runs, count, results);
    culex_status status = culex__sqlite_verb_write(
        culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_MADE, call_do, &call, error);
    return culex__sqlite_enqueue_end(runs, count, results, status);
}

/* --- ENQUEUE_EACH ----------------------------------------------------------------------------- */

struct calls {
    const struct culex_ticket *tickets;
    const struct culex_new_run *runs;
    size_t count;
    struct culex_enqueue_result *results;
};

static culex_status each_do(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                            void *request, culex_error *error)
{
    const struct calls *calls = request;
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < calls->count && status == CULEX_OK; i++) {
        struct culex_sqlite_call call = {&calls->tickets[i], &calls->runs[i], 1,
                                         &calls->results[i]};
        bool is_known;
        status = culex__sqlite_producer_recall(store, queue, &call, &is_known, error);
        if (status == CULEX_OK && is_known)
            status = culex__refuse_ticket(error);
        if (status == CULEX_OK)
            status = call_make(store, queue, &call, error);
    }
    return status;
}

culex_status culex__sqlite_enqueue_each(struct culex_store *base, const char *queue,
                                        const struct culex_ticket *tickets,
                                        const struct culex_new_run *runs, size_t count,
                                        struct culex_enqueue_result *results, culex_error *error)
{
    assert(count <= CULEX_STORE_EACH_MAX);
    struct calls calls = {tickets, runs, count, results};
    return culex__sqlite_verb_write(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_MADE,
                                    each_do, &calls, error);
}

/* --- repeats ---------------------------------------------------------------------------------- */

struct repeat {
    const struct culex_sqlite_call *call;
    bool is_answered;
};

static culex_status call_repeat(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                void *request, culex_error *error)
{
    struct repeat *repeat = request;
    return culex__sqlite_producer_recall(store, queue, repeat->call, &repeat->is_answered, error);
}

bool culex__sqlite_enqueue_is_known(struct culex_sqlite *store, const char *queue,
                                    const struct culex_sqlite_call *call)
{
    struct repeat repeat = {call, false};
    return call->ticket != NULL &&
           culex__sqlite_verb_read(store, queue, CULEX__SQLITE_ABSENT_EMPTY, call_repeat, &repeat,
                                   NULL) == CULEX_OK &&
           repeat.is_answered;
}
