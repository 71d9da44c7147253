/* store/sqlite/enqueue.c - runs coming in. The body is apart from its transaction, as it also
 * runs within a caller's own: see sqlite/borrow.c. */
#include <assert.h>
#include <string.h>

#include "store/sqlite/body.h"
#include "store/sqlite/columns.h"
#include "store/sqlite/idempotency.h"
#include "store/sqlite/kind.h"
#include "store/sqlite/producer.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/run.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/verb.h"
#include "store/sqlite/verbs.h"
#include "store/argument.h"
#include "store/refusal.h"
#include "base/error.h"

static culex_status find_holder(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                const char *key, bool *ret_is_taken, culex_uuid *ret_holder,
                                culex_error *error)
{
    *ret_is_taken = false;
    if (key == NULL || key[0] == '\0')
        return CULEX_OK;
    sqlite3_stmt *statement = SQL_BIND(store, RUN_UNIQUE, SQL_INT(queue->key), SQL_TEXT(key));
    int has = culex__sqlite_next(store, statement, error);
    const void *id = has > 0 ? sqlite3_column_blob(statement, 0) : NULL;
    *ret_is_taken = has > 0;
    if (id != NULL && sqlite3_column_bytes(statement, 0) == (int)sizeof *ret_holder)
        memcpy(ret_holder, id, sizeof *ret_holder);
    culex__sqlite_end(statement);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

static bool is_full(const struct culex_sqlite_queue *queue, int64_t capacity)
{
    int64_t live = queue->kept[CULEX_RUN_WAITING] + queue->kept[CULEX_RUN_ACTIVE];
    return capacity > 0 && live >= capacity;
}

/* Looks for what keeps the run out. Leaves `result` alone when nothing does. */
static culex_status refuse(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                           const struct culex_new_run *run, int64_t capacity,
                           struct culex_enqueue_result *result, culex_error *error)
{
    bool is_taken = false;
    culex_status status = culex__sqlite_key_find(store, queue, run, result, error);
    if (status != CULEX_OK || result->outcome != CULEX_ENQUEUED_NEW)
        return status;
    status = find_holder(store, queue, run->unique_key, &is_taken, &result->id, error);
    if (is_taken)
        result->outcome = CULEX_ENQUEUED_UNIQUE_TAKEN;
    else if (is_full(queue, capacity))
        result->outcome = CULEX_ENQUEUED_FULL;
    return status;
}

static culex_status add_payload(struct culex_sqlite *store, const struct culex_new_run *run,
                                culex_error *error)
{
    if (run->payload_len <= CULEX__SQLITE_INLINE_MAX)
        return CULEX_OK;
    return culex__sqlite_finish(store,
                                SQL_BIND(store, PAYLOAD_ADD,
                                         SQL_INT(sqlite3_last_insert_rowid(store->db)),
                                         SQL_BYTES(run->payload, run->payload_len)),
                                error);
}

enum {
#define COLUMN(name, ...) NEW_##name,
    CULEX__SQLITE_NEW_RUN_COLUMNS(COLUMN, COLUMN)
#undef COLUMN
        NEW_COUNT
};

static culex_status row_add(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                            culex_uuid id, const struct culex_new_run *run, int64_t at_ms,
                            bool is_delayed, int64_t expires_at_ms, culex_error *error)
{
    bool is_long = run->payload_len > CULEX__SQLITE_INLINE_MAX;
    const void *payload = run->payload_len > 0 ? run->payload : "";
    const char *key =
        run->unique_key != NULL && run->unique_key[0] != '\0' ? run->unique_key : NULL;
    uint64_t checksum = culex__sqlite_checksum(id, run->job, payload, run->payload_len);
    assert(run->job != NULL && run->attempts_max >= 1); /* culex__argument_enqueue */
    const struct culex_sqlite_value values[NEW_COUNT] = {
        [NEW_seq] = SQL_INT(culex__sqlite_queue_seq(queue, id)),
        [NEW_queue] = SQL_INT(queue->key),
        [NEW_id] = SQL_ID(&id),
        [NEW_priority] = SQL_INT(run->priority),
        [NEW_at_ms] = SQL_INT(at_ms),
        [NEW_is_delayed] = SQL_INT(is_delayed),
        [NEW_attempts_max] = SQL_INT(run->attempts_max),
        [NEW_timeout_ms] = SQL_INT(run->timeout_ms),
        [NEW_keep_success_ms] = SQL_INT(run->keep_success_ms),
        [NEW_keep_failure_ms] = SQL_INT(run->keep_failure_ms),
        [NEW_retry_for_ms] = SQL_INT(run->retry_for_ms),
        [NEW_expires_at_ms] = SQL_INT(expires_at_ms),
        [NEW_created_at_ms] = SQL_INT(store->now_ms),
        [NEW_fingerprint] = SQL_INT((int64_t)run->fingerprint),
        [NEW_checksum] = SQL_INT((int64_t)checksum),
        [NEW_payload_len] = SQL_INT((int64_t)run->payload_len),
        [NEW_job] = SQL_TEXT(run->job),
        [NEW_unique_key] = SQL_TEXT(key),
        [NEW_tags] = SQL_TEXT(run->tags != NULL ? run->tags : ""),
        [NEW_payload] = SQL_BYTES(is_long ? NULL : payload, run->payload_len)};
    return culex__sqlite_finish(
        store, culex__sqlite_bind(store, CULEX__SQLITE_RUN_ADD, values, NEW_COUNT), error);
}

static culex_status own_add(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                            const struct culex_new_run *run, culex_uuid *ret_id, culex_error *error)
{
    int64_t now = store->now_ms;
    int64_t due = run->at_ms != 0 ? run->at_ms : culex__sqlite_later(now, run->delay_ms);
    bool is_delayed = due > now;
    int64_t place = is_delayed ? due : culex__sqlite_queue_back(store, queue);
    int64_t expires_at =
        run->expires_ms > 0 ? culex__sqlite_later(is_delayed ? due : now, run->expires_ms) : 0;
    culex_status status = culex__sqlite_queue_id(store, queue, run->priority, ret_id, error);
    if (status == CULEX_OK)
        status = row_add(store, queue, *ret_id, run, place, is_delayed, expires_at, error);
    if (status == CULEX_OK)
        status = add_payload(store, run, error);
    return status;
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
    culex_status status = culex__sqlite_body_fits(store, queue, run)
                              ? ordinary_add(store, queue, run, ret_id, error)
                              : own_add(store, queue, run, ret_id, error);
    culex__sqlite_queue_arrive(queue);
    return status;
}

/* `capacity`: most runs that the queue may have; 0 for no limit. */
static culex_status enqueue_one(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                const struct culex_new_run *run, int64_t capacity,
                                struct culex_enqueue_result *ret_result, culex_error *error)
{
    struct culex_enqueue_result result = {CULEX_ENQUEUED_NEW, {{0}}};
    culex_status status = refuse(store, queue, run, capacity, &result, error);
    if (status == CULEX_OK && result.outcome == CULEX_ENQUEUED_NEW)
        status = insert(store, queue, run, &result.id, error);
    if (status == CULEX_OK && result.outcome == CULEX_ENQUEUED_NEW && culex__sqlite_has_key(run))
        status = culex__sqlite_key_keep(store, queue, run, result.id, error);
    if (status == CULEX_OK)
        *ret_result = result;
    return status;
}

culex_status culex__sqlite_enqueue_periodic(struct culex_sqlite *store,
                                            struct culex_sqlite_queue *queue,
                                            const struct culex_new_run *periodic,
                                            struct culex_enqueue_result *ret_result,
                                            culex_error *error)
{
    enum { NO_LIMIT = 0 };
    struct culex_new_run run = *periodic;
    run.at_ms = 0;
    return enqueue_one(store, queue, &run, NO_LIMIT, ret_result, error);
}

/* --- ENQUEUE ---------------------------------------------------------------------------------- */

static size_t keys_count(const struct culex_sqlite_call *call)
{
    size_t count = 0;
    for (size_t i = 0; i < call->count; i++)
        count +=
            call->results[i].outcome == CULEX_ENQUEUED_NEW && culex__sqlite_has_key(&call->runs[i]);
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
    if (status == CULEX_OK && keys > 0)
        status = culex__sqlite_keys_forget(store, keys, error);
    return status;
}

/* Of a call that is new. */
static culex_status call_make(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              const struct culex_sqlite_call *call, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < call->count && status == CULEX_OK; i++)
        status =
            enqueue_one(store, queue, &call->runs[i], queue->capacity, &call->results[i], error);
    return status == CULEX_OK ? call_keep(store, queue, call, error) : status;
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
    struct culex_sqlite_call call = {NULL, runs, count, results};
    return culex__sqlite_verb_within(store, queue, CULEX__SQLITE_ABSENT_MADE, call_do, &call,
                                     error);
}

culex_status culex__sqlite_enqueue(struct culex_store *base, const char *queue,
                                   const struct culex_ticket *ticket,
                                   const struct culex_new_run *runs, size_t count,
                                   struct culex_enqueue_result *results, culex_error *error)
{
    assert(count <= CULEX_STORE_BATCH_MAX);
    struct culex_sqlite_call call = {ticket, runs, count, results};
    return culex__sqlite_verb_write(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_MADE,
                                    call_do, &call, error);
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
