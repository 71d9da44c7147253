#include "store/sqlite/run.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "store/sqlite/columns.h"
#include "store/sqlite/event_notes.h"
#include "store/sqlite/error.h"
#include "store/sqlite/log_rows.h"
#include "store/sqlite/members.h"
#include "store/sqlite/parking.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/unique.h"
#include "store/sqlite/waiters.h"
#include "store/refusal.h"
#include "base/error.h"

/* Each step is a bijection of the hash for a given word and of the word for a given hash, so a
 * change confined to one word always shows; any other slips through once in 2^64. The bytes are
 * read as little-endian words: the file may move between machines. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t hash_bytes(uint64_t hash, const unsigned char *bytes, size_t len)
{
    hash = mix(hash, len);
    for (size_t at = 0; at < len; at += 8) {
        uint64_t word = 0;
        size_t part = len - at < 8 ? len - at : 8;
        for (size_t i = 0; i < part; i++)
            word |= (uint64_t)bytes[at + i] << 8 * i;
        hash = mix(hash, word);
    }
    return hash;
}

uint64_t culex__sqlite_checksum(culex_uuid id, const char *job, const void *payload, size_t len)
{
    uint64_t hash = hash_bytes(1, id.b, sizeof id.b);
    hash = hash_bytes(hash, (const unsigned char *)job, strlen(job));
    return hash_bytes(hash, payload, len);
}

/* --- kinds of columns: reading tells whether the value is within its range ---------------------
 */

static bool read_number(sqlite3_stmt *statement, int column, int64_t *ret_number)
{
    *ret_number = sqlite3_column_int64(statement, column);
    return true;
}

static bool read_small(sqlite3_stmt *statement, int column, int *ret_number)
{
    *ret_number = sqlite3_column_int(statement, column);
    return true;
}

static bool read_flag(sqlite3_stmt *statement, int column, bool *ret_flag)
{
    *ret_flag = sqlite3_column_int(statement, column) != 0;
    return true;
}

/* Whether there is something; the text is read by whoever needs it. */
static bool read_presence(sqlite3_stmt *statement, int column, bool *ret_is_there)
{
    *ret_is_there = sqlite3_column_type(statement, column) != SQLITE_NULL;
    return true;
}

static bool read_count(sqlite3_stmt *statement, int column, uint32_t *ret_count)
{
    int64_t value = sqlite3_column_int64(statement, column);
    *ret_count = (uint32_t)value;
    return value >= 0 && value <= UINT32_MAX;
}

/* Where the letter stands for no state, the run counts as dead: it has no holder to look for. */
static bool read_state(sqlite3_stmt *statement, int column, culex_run_state *ret_state)
{
    const char *letter = (const char *)sqlite3_column_text(statement, column);
    *ret_state = CULEX_RUN_DEAD;
    return letter != NULL && letter[0] != '\0' && letter[1] == '\0' &&
           culex__run_state_parse(letter[0], ret_state) && *ret_state != CULEX_RUN_SCHEDULED;
}

static bool read_id(sqlite3_stmt *statement, int column, culex_uuid *ret_id)
{
    const void *bytes = sqlite3_column_blob(statement, column);
    memset(ret_id, 0, sizeof *ret_id);
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return true; /* a body, see sqlite/body.h */
    if (bytes == NULL || sqlite3_column_bytes(statement, column) != (int)sizeof *ret_id)
        return false;
    memcpy(ret_id, bytes, sizeof *ret_id);
    return true;
}

static bool read_owner(sqlite3_stmt *statement, int column,
                       char (*ret_owner)[CULEX__SQLITE_SESSION_SIZE])
{
    const char *owner = (const char *)sqlite3_column_text(statement, column);
    if (owner == NULL || sqlite3_column_bytes(statement, column) >= CULEX__SQLITE_SESSION_SIZE)
        return false;
    strcpy(*ret_owner, owner);
    return true;
}

static struct culex_sqlite_value value_number(int64_t number)
{
    return SQL_INT(number);
}

static struct culex_sqlite_value value_flag(bool flag)
{
    return SQL_INT(flag);
}

static struct culex_sqlite_value value_count(uint32_t count)
{
    return SQL_INT(count);
}

static struct culex_sqlite_value value_state(culex_run_state state)
{
    return SQL_TEXT(culex__sqlite_state_text(state));
}

static struct culex_sqlite_value value_owner(const char *owner)
{
    return SQL_TEXT(owner);
}

/* --- the row ---------------------------------------------------------------------------------- */

const char *culex__sqlite_state_text(culex_run_state state)
{
    static const char *const letters[CULEX_RUN_STATE_COUNT] = {
#define STATE(name, letter, final) [CULEX_RUN_##name] = #letter,
#include "core/run_rules.def"
    };
    assert(state != CULEX_RUN_SCHEDULED); /* a waiting one, in the file */
    return letters[state];
}

bool culex__sqlite_run_read(sqlite3_stmt *statement, struct culex_sqlite_run *ret_run)
{
    bool is_good = true;
#define READ(name, kind, member)                                                                   \
    is_good &= read_##kind(statement, CULEX__SQLITE_COLUMN_##name, &ret_run->member);
    CULEX__SQLITE_RUN_COLUMNS(READ, READ)
#undef READ
    return is_good;
}

culex_status culex__sqlite_run_one(struct culex_sqlite *store, sqlite3_stmt *statement,
                                   struct culex_sqlite_run *ret_run, culex_error *error)
{
    int has = culex__sqlite_next(store, statement, error);
    bool is_good = has > 0 && culex__sqlite_run_read(statement, ret_run);
    culex__sqlite_end(statement);
    if (has < 0)
        return (culex_status)has;
    if (has == 0)
        return CULEX_ENOTFOUND;
    return is_good ? CULEX_OK : culex__sqlite_bad_run(store, error);
}

culex_status culex__sqlite_run_save(struct culex_sqlite *store, const struct culex_sqlite_run *run,
                                    const char *error_text, culex_error *error)
{
#define VALUE(name, kind, member) value_##kind(run->member),
    sqlite3_stmt *statement =
        SQL_BIND(store, RUN_SAVE, CULEX__SQLITE_RUN_MOVING(VALUE, VALUE) SQL_TEXT(error_text),
                 SQL_INT(run->seq));
#undef VALUE
    return culex__sqlite_finish(store, statement, error);
}

culex_run_state culex__sqlite_run_state(const struct culex_sqlite *store,
                                        const struct culex_sqlite_run *run)
{
    bool is_scheduled =
        run->state == CULEX_RUN_WAITING && run->is_delayed && run->at_ms > store->now_ms;
    return is_scheduled ? CULEX_RUN_SCHEDULED : run->state;
}

/* --- moving --------------------------------------------------------------------------------- */

static void count_event(struct culex_sqlite_queue *queue, enum culex_run_event event,
                        culex_run_state from, culex_run_state to)
{
    queue->kept[from]--;
    queue->kept[to]++;
    queue->failed += event == CULEX_EVENT_FAIL || event == CULEX_EVENT_DISCARD;
    queue->crashed += event == CULEX_EVENT_CRASH;
    queue->lost += event == CULEX_EVENT_LOSS;
    queue->done += to == CULEX_RUN_DONE;
    queue->dead += to == CULEX_RUN_DEAD;
    queue->cancelled += to == CULEX_RUN_CANCELLED;
    queue->is_changed = true;
}

/* An attempt that was no success is told before what it has made of the run. */
static void event_tell(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                       const struct culex_sqlite_run *run, enum culex_run_event event)
{
    static const culex_events_kind ends[] = {
        [CULEX_EVENT_FAIL] = CULEX_EVENTS_FAILED,      [CULEX_EVENT_DISCARD] = CULEX_EVENTS_FAILED,
        [CULEX_EVENT_CRASH] = CULEX_EVENTS_CRASHED,    [CULEX_EVENT_LOSS] = CULEX_EVENTS_LOST,
        [CULEX_EVENT_RELEASE] = CULEX_EVENTS_RELEASED, [CULEX_EVENT_RETRY] = CULEX_EVENTS_RETRIED,
    };
    static const culex_events_kind finals[CULEX_RUN_STATE_COUNT] = {
        [CULEX_RUN_DONE] = CULEX_EVENTS_DONE,
        [CULEX_RUN_DEAD] = CULEX_EVENTS_DEAD,
        [CULEX_RUN_CANCELLED] = CULEX_EVENTS_CANCELLED,
    };
    if (event < sizeof ends / sizeof ends[0] && ends[event] != CULEX_EVENTS_ENQUEUED)
        culex__sqlite_event(store, queue, ends[event], run->id, run->attempt, NULL);
    if (culex__run_state_is_final(run->state))
        culex__sqlite_event(store, queue, finals[run->state], run->id, run->attempt, NULL);
}

/* Where somebody waits for the end he has time to read the record, also of a success that would
 * leave none. */
static void place_final(struct culex_sqlite *store, struct culex_sqlite_run *run, bool is_awaited)
{
    int64_t keep_ms = run->state == CULEX_RUN_DEAD ? run->keep_failure_ms : run->keep_success_ms;
    if (is_awaited && keep_ms < CULEX_WAIT_KEEP_MS)
        keep_ms = CULEX_WAIT_KEEP_MS;
    run->is_delayed = false;
    run->at_ms = culex__sqlite_later(store->now_ms, keep_ms);
}

static bool goes_to_front(const struct culex_sqlite_run *run, enum culex_run_event event)
{
    return event == CULEX_EVENT_RELEASE ||
           (event == CULEX_EVENT_LOSS && !culex__run_is_suspect(&run->counters));
}

/* The run goes on: to a time, to the front, or to the back (a suspect's loss, an operator's retry).
 */
static void place_ready(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                        struct culex_sqlite_run *run, const struct culex_sqlite_move *move)
{
    run->is_delayed = move->delay_ms > 0;
    if (run->is_delayed)
        run->at_ms = culex__sqlite_later(store->now_ms, move->delay_ms);
    else
        run->at_ms = goes_to_front(run, move->event) ? culex__sqlite_queue_front(queue)
                                                     : culex__sqlite_queue_back(store, queue);
    run->limit_ms = 0;
    queue->has_new_work = true;
}

/* Only what nobody has ever begun expires, and every end but a release says that somebody has; but
 * for a time for retries. What an operator revives does not either: somebody wants it to run now.
 */
static bool keeps_expiry(const struct culex_sqlite_move *move)
{
    return move->event == CULEX_EVENT_RELEASE && !move->has_begun;
}

/* Saves a run that is dead because its time for retries is over: its error text says so before what
 * `move` tells of the last failure, or what was told before. */
static culex_status late_save(struct culex_sqlite *store, const struct culex_sqlite_run *run,
                              const struct culex_sqlite_move *move, culex_error *error)
{
    char late[CULEX_ERROR_TEXT_MAX + 1];
    bool is_told = !move->is_late && move->text != NULL && move->text[0] != '\0';
    culex__run_late_text(late, is_told ? move->text : NULL);
    if (!is_told) {
        sqlite3_stmt *statement = SQL_BIND(store, RUN_ERROR, SQL_INT(run->seq));
        int has = culex__sqlite_next(store, statement, error);
        if (has > 0)
            culex__run_late_text(late, (const char *)sqlite3_column_text(statement, 0));
        culex__sqlite_end(statement);
        if (has < 0)
            return (culex_status)has;
    }
    return culex__sqlite_run_save(store, run, late, error);
}

static culex_status finish(struct culex_sqlite *store, const struct culex_sqlite_run *run,
                           const struct culex_sqlite_move *move, culex_error *error)
{
    culex_status status = culex__sqlite_finish(
        store,
        SQL_BIND(store, RUN_FINISH, SQL_INT(run->seq),
                 SQL_TEXT(culex__sqlite_state_text(run->state)), SQL_INT(run->at_ms),
                 SQL_BYTES(move->result, move->result_len)),
        error);
    if (status == CULEX_OK && run->payload_len > CULEX__SQLITE_INLINE_MAX)
        status =
            culex__sqlite_finish(store, SQL_BIND(store, PAYLOAD_DELETE, SQL_INT(run->seq)), error);
    return status;
}

culex_status culex__sqlite_run_move(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                    struct culex_sqlite_run *run,
                                    const struct culex_sqlite_move *move, culex_error *error)
{
    culex_run_state from = run->state, to;
    assert(from != CULEX_RUN_SCHEDULED && queue->key != 0);
    int64_t until_ms =
        culex__run_retry_until_ms(&run->counters, move->event, run->expires_at_ms, store->now_ms);
    bool is_late = culex__run_is_late(&run->counters, move->event, run->expires_at_ms,
                                      store->now_ms, move->delay_ms);
    if (!culex__run_apply(culex__sqlite_run_state(store, run), move->event,
                          run->is_cancel_requested, move->delay_ms > 0, is_late, &run->counters,
                          &to))
        return CULEX_ESTATE;
    bool is_awaited = false;
    culex_status status = culex__sqlite_parking_leave(store, queue, run, error);
    if (status == CULEX_OK && culex__run_state_is_final(to))
        status = culex__sqlite_waiters_end(store, queue, run->seq, &is_awaited, error);
    if (status == CULEX_OK && culex__run_state_is_final(to))
        status = culex__sqlite_member_end(store, queue, run->seq, to, error);
    if (status != CULEX_OK)
        return status;
    run->state = to == CULEX_RUN_SCHEDULED ? CULEX_RUN_WAITING : to;
    run->is_started = to == CULEX_RUN_WAITING && move->is_doubted;
    count_event(queue, move->event, from, run->state);
    event_tell(store, queue, run, move->event);
    if (culex__run_state_is_final(to))
        place_final(store, run, is_awaited);
    else
        place_ready(store, queue, run, move);
    if (!culex__run_state_is_final(to) && !keeps_expiry(move))
        run->expires_at_ms = until_ms;
    bool is_held, is_back = !culex__run_state_is_final(to) && !move->is_doubted &&
                            move->event != CULEX_EVENT_LOSS;
    status = culex__sqlite_parking_arrive(store, queue, run, error);
    if (status == CULEX_OK && is_back)
        status = culex__sqlite_unique_return(store, queue, run, &is_held, error);
    if (status != CULEX_OK)
        return status;
    if (to == CULEX_RUN_DONE)
        return run->at_ms > store->now_ms ? finish(store, run, move, error)
                                          : culex__sqlite_run_forget(store, queue, run, error);
    if (to == CULEX_RUN_DEAD && (is_late || move->is_late))
        return late_save(store, run, move, error);
    const char *text = move->text != NULL && move->text[0] != '\0' ? move->text : NULL;
    return culex__sqlite_run_save(store, run, text, error);
}

culex_status culex__sqlite_run_vanish(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      struct culex_sqlite_run *run, const char *how,
                                      culex_error *error)
{
    char text[256];
    struct culex_sqlite_move move = {.event = CULEX_EVENT_RELEASE, .is_doubted = true};
    if (run->is_started) {
        move.event = CULEX_EVENT_LOSS;
        move.text = text;
        snprintf(text, sizeof text, "%s before the worker said how the run ended (loss %u of %d)",
                 how, run->counters.losses + 1, CULEX_LOSSES_MAX);
    }
    return culex__sqlite_run_move(store, queue, run, &move, error);
}

/* What it counts for in its limits can be read without the rest. */
static culex_status aside_leave(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                culex_run_state from, int64_t seq, culex_error *error)
{
    struct culex_sqlite_run run = {.seq = seq, .state = from};
    if (queue->limits == 0)
        return CULEX_OK;
    sqlite3_stmt *row = SQL_BIND(store, RUN_LIMITS, SQL_INT(seq));
    int has = culex__sqlite_next(store, row, error);
    run.is_limited = has > 0 && sqlite3_column_type(row, 0) != SQLITE_NULL;
    run.aside = has > 0 ? sqlite3_column_int64(row, 1) : 0;
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : culex__sqlite_parking_leave(store, queue, &run, error);
}

culex_status culex__sqlite_run_aside(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                     culex_run_state from, int64_t seq, culex_error *error)
{
    assert(from != CULEX_RUN_SCHEDULED); /* it counts as waiting */
    queue->kept[from]--;
    queue->kept[CULEX_RUN_DEAD]++;
    queue->dead += from != CULEX_RUN_DEAD;
    queue->is_changed = true;
    bool is_awaited;
    culex_status status = aside_leave(store, queue, from, seq, error);
    if (status == CULEX_OK)
        status = culex__sqlite_waiters_end(store, queue, seq, &is_awaited, error);
    if (status == CULEX_OK)
        status = culex__sqlite_member_end(store, queue, seq, CULEX_RUN_DEAD, error);
    return status == CULEX_OK
               ? culex__sqlite_finish(store, SQL_BIND(store, RUN_ASIDE, SQL_INT(seq)), error)
               : status;
}

culex_status culex__sqlite_run_or_aside(struct culex_sqlite *store,
                                        struct culex_sqlite_queue *queue, culex_run_state from,
                                        int64_t seq, struct culex_sqlite_run *ret_run,
                                        bool *ret_is_aside, culex_error *error)
{
    culex_status status =
        culex__sqlite_run_one(store, SQL_BIND(store, RUN_BY_SEQ, SQL_INT(seq)), ret_run, error);
    *ret_is_aside = status == CULEX_ECORRUPT;
    return *ret_is_aside ? culex__sqlite_run_aside(store, queue, from, seq, error) : status;
}

/* --- another place --------------------------------------------------------------------------- */

/* It waits until then in place of `before_ms`, both now or later. CULEX_ESTATE when its time for
 * retries is over by then. */
static culex_status place_at(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             struct culex_sqlite_run *run, int64_t before_ms, int64_t wait_ms,
                             culex_error *error)
{
    const struct culex_run_counters *counters = &run->counters;
    bool has_failed = counters->failures > 0 || counters->crashes > 0 || counters->losses > 0;
    if (run->expires_at_ms != 0 && has_failed && wait_ms >= run->expires_at_ms)
        return culex__refuse_late_move(error);
    if (run->expires_at_ms != 0 && !has_failed)
        run->expires_at_ms += wait_ms - before_ms;
    run->is_delayed = wait_ms > store->now_ms;
    run->at_ms = run->is_delayed ? wait_ms : culex__sqlite_queue_back(store, queue);
    queue->has_new_work = true;
    return CULEX_OK;
}

/* Of its limits it has the place that it gets now, and perhaps its unique key again. */
static culex_status place_settle(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                 struct culex_sqlite_run *run, bool is_timed, culex_error *error)
{
    bool is_held;
    culex_status status = culex__sqlite_parking_leave(store, queue, run, error);
    if (status == CULEX_OK)
        status = culex__sqlite_parking_arrive(store, queue, run, error);
    if (status == CULEX_OK && is_timed)
        status = culex__sqlite_unique_return(store, queue, run, &is_held, error);
    return status == CULEX_OK ? culex__sqlite_run_save(store, run, NULL, error) : status;
}

culex_status culex__sqlite_run_place(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                     struct culex_sqlite_run *run, const struct culex_place *place,
                                     culex_error *error)
{
    culex_run_state state = culex__sqlite_run_state(store, run);
    culex_status status = CULEX_OK;
    if (state != CULEX_RUN_SCHEDULED && state != CULEX_RUN_WAITING)
        return culex__refuse_move(state, error);
    int64_t before_ms = state == CULEX_RUN_SCHEDULED ? run->at_ms : store->now_ms;
    int64_t wait_ms =
        place->at_ms != 0 ? place->at_ms : culex__sqlite_later(store->now_ms, place->delay_ms);
    if (wait_ms < store->now_ms)
        wait_ms = store->now_ms;
    bool is_timed = place->has_time && (before_ms > store->now_ms || wait_ms > store->now_ms);
    bool is_ranked = place->priority >= 0 && place->priority != run->priority;
    if (is_timed)
        status = place_at(store, queue, run, before_ms, wait_ms, error);
    if (status == CULEX_OK && is_ranked)
        status = culex__sqlite_finish(
            store,
            SQL_BIND(store, RUN_PRIORITY, SQL_INT(run->seq), SQL_INT((int64_t)place->priority)),
            error);
    if (status == CULEX_OK && is_ranked)
        run->priority = place->priority;
    if (is_timed || is_ranked)
        culex__sqlite_event(store, queue, CULEX_EVENTS_MOVED, run->id, run->attempt, NULL);
    return status == CULEX_OK && (is_timed || is_ranked)
               ? place_settle(store, queue, run, is_timed, error)
               : status;
}

/* --- forgetting ------------------------------------------------------------------------------- */

culex_status culex__sqlite_run_forget(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      const struct culex_sqlite_run *run, culex_error *error)
{
    bool is_awaited;
    queue->kept[run->state]--;
    queue->is_changed = true;
    culex_status status = culex__sqlite_parking_leave(store, queue, run, error);
    if (status == CULEX_OK && !culex__run_state_is_final(run->state))
        status = culex__sqlite_waiters_end(store, queue, run->seq, &is_awaited, error);
    if (status == CULEX_OK && !culex__run_state_is_final(run->state))
        status = culex__sqlite_member_end(store, queue, run->seq, CULEX_RUN_CANCELLED, error);
    if (status == CULEX_OK)
        status = culex__sqlite_finish(store, SQL_BIND(store, RUN_DELETE, SQL_INT(run->seq)), error);
    if (status == CULEX_OK && run->payload_len > CULEX__SQLITE_INLINE_MAX)
        status =
            culex__sqlite_finish(store, SQL_BIND(store, PAYLOAD_DELETE, SQL_INT(run->seq)), error);
    return status == CULEX_OK ? culex__sqlite_log_drop(store, queue, run->seq, error) : status;
}

/* --- payload ---------------------------------------------------------------------------------- */

/* *ret_row is NULL when there is none. */
static culex_status payload_fetch(struct culex_sqlite *store, int64_t seq, sqlite3_stmt **ret_row,
                                  culex_error *error)
{
    sqlite3_stmt *statement = SQL_BIND(store, PAYLOAD_GET, SQL_INT(seq));
    int has = culex__sqlite_next(store, statement, error);
    *ret_row = has > 0 ? statement : NULL;
    if (has <= 0)
        culex__sqlite_end(statement);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

culex_status culex__sqlite_payload_read(struct culex_sqlite *store, sqlite3_stmt *statement,
                                        const struct culex_sqlite_run *run,
                                        struct culex_sqlite_payload *ret_payload,
                                        culex_error *error)
{
    struct culex_sqlite_payload payload = {.bytes = NULL};
    int column = CULEX__SQLITE_COLUMN_payload;
    culex_status status = CULEX_OK;
    *ret_payload = payload;
    if (run->payload_len > CULEX_PAYLOAD_BYTES_MAX)
        return CULEX_OK;
    if (run->payload_len > CULEX__SQLITE_INLINE_MAX &&
        sqlite3_column_type(statement, column) == SQLITE_NULL) {
        status = payload_fetch(store, run->seq, &payload.holder, error);
        statement = payload.holder;
        column = 0;
    }
    if (status != CULEX_OK || statement == NULL)
        return status;
    payload.bytes = sqlite3_column_blob(statement, column);
    payload.is_whole = sqlite3_column_bytes(statement, column) == run->payload_len;
    *ret_payload = payload;
    return CULEX_OK;
}

bool culex__sqlite_payload_is_intact(sqlite3_stmt *statement, const struct culex_sqlite_run *run,
                                     const struct culex_sqlite_payload *payload)
{
    const char *job = (const char *)sqlite3_column_text(statement, CULEX__SQLITE_COLUMN_job);
    uint64_t expected = (uint64_t)sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_checksum);
    return payload->is_whole && job != NULL &&
           culex__sqlite_checksum(run->id, job, payload->bytes, (size_t)run->payload_len) ==
               expected;
}

void culex__sqlite_payload_end(const struct culex_sqlite_payload *payload)
{
    if (payload->holder != NULL)
        culex__sqlite_end(payload->holder);
}
