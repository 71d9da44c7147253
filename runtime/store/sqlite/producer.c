/* Column `answers` of table producer: NULL when every run of the call was new, and of one priority;
 * else an outcome of one byte for each, and behind it the 16 bytes of the run's id where there is
 * one that is not counted. */
#include "store/sqlite/producer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/digest.h"
#include "store/refusal.h"
#include "store/sqlite/error.h"
#include "store/sqlite/run.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "core/run_id.h"
#include "core/ticket.h"

enum { MINUTE_MS = 60000, ANSWER_MAX = 1 + sizeof(culex_uuid) };

/* A byte of answers is an outcome and, above it, the lane of the run's id. */
enum { PRIORITY_MAX = 9, OUTCOME_BITS = 4, OUTCOME_MASK = (1 << OUTCOME_BITS) - 1 };

/* --- time --------------------------------------------------------------------------------- */

/* The last moment at which a call is remembered. */
static int64_t remembered_ms(const struct culex_sqlite_last *last)
{
    const struct culex_ticket ticket = {.sequence = (uint64_t)last->sequence};
    int64_t ticket_ms = culex__ticket_ms(ticket);
    return culex__sqlite_later(ticket_ms > last->made_ms ? ticket_ms : last->made_ms,
                               CULEX_TICKET_HORIZON_MS);
}

static int64_t minute_of(const struct culex_sqlite_last *last)
{
    return remembered_ms(last) / MINUTE_MS;
}

static bool is_timely(const struct culex_sqlite *store, const struct culex_ticket *ticket)
{
    int64_t off_ms = store->now_ms - culex__ticket_ms(*ticket);
    return off_ms <= CULEX_TICKET_HORIZON_MS && off_ms >= -CULEX_TICKET_HORIZON_MS;
}

/* --- answers ------------------------------------------------------------------------------- */

static bool has_id(enum culex_enqueued outcome)
{
    return outcome != CULEX_ENQUEUED_NEW && outcome != CULEX_ENQUEUED_FULL;
}

static size_t answers_write(const struct culex_sqlite_call *call, unsigned char *ret_bytes)
{
    unsigned char *at = ret_bytes;
    for (size_t i = 0; i < call->count; i++) {
        const struct culex_enqueue_result *result = &call->results[i];
        *at++ = (unsigned char)((int)result->outcome | call->runs[i].priority << OUTCOME_BITS);
        if (!has_id(result->outcome))
            continue;
        memcpy(at, &result->id, sizeof result->id);
        at += sizeof result->id;
    }
    return (size_t)(at - ret_bytes);
}

/* A call as the file has it. */
struct kept {
    struct culex_sqlite_last last;
    const unsigned char *answers, *end; /* NULL: all were new */
};

/* A number in the file is that of an id with its lane above it. */
static int lane_of(int64_t number)
{
    return (int)(number >> CULEX__SQLITE_LANE_SHIFT & CULEX_RUN_LANE_MAX);
}

/* 0 for what is none. */
static int64_t number_in(int64_t number)
{
    return number >> CULEX__SQLITE_LANE_SHIFT > PRIORITY_MAX
               ? 0
               : number & (int64_t)CULEX_RUN_NUMBER_MAX;
}

static void lane_set(struct culex_sqlite_last *last, int lane)
{
    const int64_t mask = (int64_t)CULEX_RUN_LANE_MAX << CULEX__SQLITE_LANE_SHIFT;
    last->number = (last->number & ~mask) | (int64_t)lane << CULEX__SQLITE_LANE_SHIFT;
}

static bool new_read(const struct culex_sqlite_queue *queue, struct culex_sqlite_last *last,
                     culex_uuid *ret_id)
{
    if (!culex__sqlite_queue_id_at(queue, last->made_ms, lane_of(last->number),
                                   number_in(last->number), ret_id))
        return false;
    last->number++;
    return true;
}

/* The next run's result; false when the row is damaged. */
static bool answer_read(const struct culex_sqlite_queue *queue, struct kept *kept,
                        struct culex_enqueue_result *ret_result)
{
    enum culex_enqueued outcome = CULEX_ENQUEUED_NEW;
    memset(ret_result, 0, sizeof *ret_result);
    if (kept->answers != NULL) {
        if (kept->answers == kept->end || (*kept->answers & OUTCOME_MASK) > CULEX_ENQUEUED_REPLACED)
            return false;
        outcome = (enum culex_enqueued)(*kept->answers & OUTCOME_MASK);
        lane_set(&kept->last, *kept->answers++ >> OUTCOME_BITS);
    }
    ret_result->outcome = outcome;
    if (outcome == CULEX_ENQUEUED_NEW)
        return new_read(queue, &kept->last, &ret_result->id);
    if (!has_id(outcome))
        return true;
    if ((size_t)(kept->end - kept->answers) < sizeof ret_result->id)
        return false;
    memcpy(&ret_result->id, kept->answers, sizeof ret_result->id);
    kept->answers += sizeof ret_result->id;
    return true;
}

/* --- recall -------------------------------------------------------------------------------- */

static culex_status answer(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                           const struct culex_sqlite_call *call, struct kept *kept,
                           culex_error *error)
{
    for (size_t i = 0; i < call->count; i++) {
        if (!answer_read(queue, kept, &call->results[i]))
            return culex__sqlite_bad_row(store, error);
    }
    return CULEX_OK;
}

/* What is known of the call's producer decides, unless it is forgotten by now or the call is a
 * later one. */
static culex_status judge(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                          const struct culex_sqlite_call *call, struct kept *kept,
                          bool *ret_is_answered, culex_error *error)
{
    int64_t sequence = (int64_t)call->ticket->sequence;
    if (store->now_ms > remembered_ms(&kept->last) || sequence > kept->last.sequence)
        return CULEX_OK;
    if (sequence < kept->last.sequence ||
        kept->last.digest != (int64_t)culex__runs_digest(call->runs, call->count))
        return culex__refuse_ticket(error);
    *ret_is_answered = true;
    return answer(store, queue, call, kept, error);
}

static struct kept row_read(sqlite3_stmt *row, int64_t producer)
{
    struct kept kept = {{producer, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                         sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3)},
                        NULL,
                        NULL};
    if (sqlite3_column_type(row, 4) != SQLITE_NULL) {
        const void *answers = sqlite3_column_blob(row, 4);
        kept.answers = answers != NULL ? answers : (const void *)"";
        kept.end = kept.answers + sqlite3_column_bytes(row, 4);
    }
    return kept;
}

static culex_status look(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                         const struct culex_sqlite_call *call, bool *ret_is_answered,
                         culex_error *error)
{
    int64_t producer = (int64_t)call->ticket->producer;
    struct kept kept = {.answers = NULL};
    const struct culex_sqlite_last *last = culex__sqlite_rear_find(&queue->rear, producer);
    if (last != NULL) {
        kept.last = *last;
        return judge(store, queue, call, &kept, ret_is_answered, error);
    }
    sqlite3_stmt *row = SQL_BIND(store, PRODUCER_GET, SQL_INT(queue->key), SQL_INT(producer));
    int has = culex__sqlite_next(store, row, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    if (has > 0) {
        kept = row_read(row, producer);
        status = judge(store, queue, call, &kept, ret_is_answered, error);
    }
    culex__sqlite_end(row);
    return status;
}

culex_status culex__sqlite_producer_recall(struct culex_sqlite *store,
                                           const struct culex_sqlite_queue *queue,
                                           const struct culex_sqlite_call *call,
                                           bool *ret_is_answered, culex_error *error)
{
    *ret_is_answered = false;
    if (call->ticket == NULL)
        return CULEX_OK;
    culex_status status = look(store, queue, call, ret_is_answered, error);
    if (status == CULEX_OK && !*ret_is_answered && !is_timely(store, call->ticket))
        status = culex__refuse_ticket_time(error);
    return status;
}

/* --- keeping ------------------------------------------------------------------------------- */

/* The first new run's number and lane, 0 when there is none; and whether all are new, and of one
 * lane. */
static int64_t news_find(const struct culex_sqlite_call *call, bool *ret_are_all)
{
    struct culex_run_id_parts parts = {.number = 0};
    *ret_are_all = true;
    for (size_t i = call->count; i-- > 0;) {
        bool is_new = call->results[i].outcome == CULEX_ENQUEUED_NEW;
        *ret_are_all &= is_new && call->runs[i].priority == call->runs[0].priority;
        if (is_new)
            culex__run_id_read(call->results[i].id, &parts);
    }
    return (int64_t)parts.number | (int64_t)parts.lane << CULEX__SQLITE_LANE_SHIFT;
}

/* While a producer's minute stays, its row alone is rewritten, and no index. Sets *wants_forgetting
 * otherwise. */
static culex_status row_set(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                            const struct culex_sqlite_last *last, struct culex_sqlite_value answers,
                            bool *wants_forgetting, culex_error *error)
{
    const struct culex_sqlite_value values[] = {SQL_INT(queue->key),      SQL_INT(last->producer),
                                                SQL_INT(minute_of(last)), SQL_INT(last->sequence),
                                                SQL_INT(last->digest),    SQL_INT(last->made_ms),
                                                SQL_INT(last->number),    answers};
    enum { COUNT = sizeof values / sizeof values[0] };
    culex_status status = culex__sqlite_finish(
        store, culex__sqlite_bind(store, CULEX__SQLITE_PRODUCER_MOVE, values, COUNT), error);
    if (status != CULEX_OK || sqlite3_changes(store->db) > 0)
        return status;
    *wants_forgetting = true;
    return culex__sqlite_finish(
        store, culex__sqlite_bind(store, CULEX__SQLITE_PRODUCER_SET, values, COUNT), error);
}

/* In the queue's rear, from which the oldest call goes to the table when it is full. */
static culex_status keep_ordinary(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                  const struct culex_sqlite_last *last, bool *ret_wants_forgetting,
                                  culex_error *error)
{
    culex_status status = CULEX_OK;
    struct culex_sqlite_rear *rear = &queue->rear;
    bool is_full = rear->last_count == CULEX__SQLITE_LASTS_MAX;
    *ret_wants_forgetting = rear->last_count == 0 || minute_of(&rear->lasts[0]) != minute_of(last);
    if (is_full && culex__sqlite_rear_find(rear, last->producer) == NULL)
        status = row_set(store, queue, &rear->lasts[CULEX__SQLITE_LASTS_MAX - 1],
                         SQL_BYTES(NULL, 0), ret_wants_forgetting, error);
    culex__sqlite_rear_put(rear, last);
    return status;
}

static culex_status keep_mixed(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               const struct culex_sqlite_last *last,
                               const struct culex_sqlite_call *call, bool *ret_wants_forgetting,
                               culex_error *error)
{
    unsigned char *bytes = malloc(call->count * ANSWER_MAX);
    if (bytes == NULL)
        return culex__sqlite_no_memory(error);
    size_t len = answers_write(call, bytes);
    culex_status status =
        row_set(store, queue, last, SQL_BYTES(bytes, len), ret_wants_forgetting, error);
    free(bytes);
    culex__sqlite_rear_drop(&queue->rear, last->producer);
    return status;
}

static bool has_replaced(const struct culex_sqlite_call *call)
{
    for (size_t i = 0; i < call->count; i++) {
        if (call->results[i].outcome == CULEX_ENQUEUED_REPLACED)
            return true;
    }
    return false;
}

culex_status culex__sqlite_producer_keep(struct culex_sqlite *store,
                                         struct culex_sqlite_queue *queue,
                                         const struct culex_sqlite_call *call,
                                         bool *ret_wants_forgetting, culex_error *error)
{
    bool are_all_new;
    int64_t number = news_find(call, &are_all_new);
    *ret_wants_forgetting = false;
    if (call->ticket == NULL || (number == 0 && !has_replaced(call)))
        return CULEX_OK;
    const struct culex_sqlite_last last = {.producer = (int64_t)call->ticket->producer,
                                           .sequence = (int64_t)call->ticket->sequence,
                                           .digest =
                                               (int64_t)culex__runs_digest(call->runs, call->count),
                                           .made_ms = store->now_ms,
                                           .number = number};
    return are_all_new ? keep_ordinary(store, queue, &last, ret_wants_forgetting, error)
                       : keep_mixed(store, queue, &last, call, ret_wants_forgetting, error);
}

/* --- forgetting ---------------------------------------------------------------------------- */

static culex_status row_forget(struct culex_sqlite *store, int64_t minute, bool *ret_is_gone,
                               culex_error *error)
{
    sqlite3_stmt *row = SQL_BIND(store, PRODUCER_OVER, SQL_INT(minute));
    int has = culex__sqlite_next(store, row, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    *ret_is_gone = has > 0;
    if (has > 0)
        status = culex__sqlite_finish(store,
                                      SQL_BIND(store, PRODUCER_DELETE,
                                               SQL_INT(sqlite3_column_int64(row, 0)),
                                               SQL_INT(sqlite3_column_int64(row, 1))),
                                      error);
    culex__sqlite_end(row);
    return status;
}

static void rear_forget(struct culex_sqlite_rear *rear, int64_t minute)
{
    for (size_t i = rear->last_count; i-- > 0;) {
        if (minute_of(&rear->lasts[i]) < minute)
            culex__sqlite_rear_drop(rear, rear->lasts[i].producer);
    }
}

culex_status culex__sqlite_producers_forget(struct culex_sqlite *store,
                                            struct culex_sqlite_queue *queue, culex_error *error)
{
    int64_t minute = store->now_ms / MINUTE_MS;
    bool is_gone = true;
    culex_status status = CULEX_OK;
    rear_forget(&queue->rear, minute);
    for (int i = 0; i < CULEX_FORGET_MAX && is_gone && status == CULEX_OK; i++)
        status = row_forget(store, minute, &is_gone, error);
    return status;
}
