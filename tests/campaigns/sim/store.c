/* sim/store.c - the shipped SQLite store, each process with a handle of its own on one database
 * in memory, behind a table that fails calls and tells the oracle.
 *
 * Faults are SQLite's own: another writer holds the lock (BUSY, and the caller's wait is virtual),
 * the file may not grow (FULL, midway), a statement is interrupted (midway). Besides, an answer
 * may get lost after the COMMIT. Wake-ups are simulated, because the shipped ones are sockets of
 * the real system. */
#include <stdlib.h>
#include <string.h>

#include "core/run_id.h"
#include "store/sqlite/block.h"
#include "store/sqlite/sqlite.h"
#include "base/error.h"
#include "world.h"

enum { CHANGES_MAX = 8192 };

struct handle;

struct sim_store {
    sqlite3 *root; /* keeps the database alive, and looks at it */
    sqlite3_stmt *row, *all, *queues, *capacity, *limited;
    int64_t changed[CHANGES_MAX]; /* keys of runs that the call under way has touched */
    size_t changed_count;
    struct sim_dict ids;    /* row number to id */
    struct handle *handles; /* open ones */
    bool is_locked;
};

struct handle {
    struct culex_store base;
    struct sim_process *process;
    struct culex_store *inner;
    bool has_wake, is_interrupted;
    struct handle *next;
};

static struct handle *handle_of(struct culex_store *base)
{
    return (struct handle *)base;
}

static void must(const struct sim_store *store, int rc)
{
    if (rc == SQLITE_OK)
        return;
    fprintf(stderr, "sim: SQLite: %s\n", sqlite3_errmsg(store->root));
    abort();
}

/* --- reading rows -------------------------------------------------------------------------- */

/* Ordinary runs among the others: as sqlite/schema.sql tells, a run keeps its seq when it becomes
 * one of its own. */
#define IS_BODY "seq & 281474976710655 < 281474976710655" /* and no queue's rear */
#define COLUMNS                                                                                    \
    "SELECT *, (SELECT name FROM queue WHERE queue.queue = seq >> 48) FROM (SELECT seq, id, "      \
    "state, "                                                                                      \
    "is_delayed, attempt, failures, crashes, crash_streak, "                                       \
    "losses, "                                                                                     \
    "attempts_max, is_cancel_requested, at_ms, expires_at_ms, owner, timeout_ms, limit_ms, "       \
    "unique_key, is_started, payload, retry_for_ms, limits FROM run UNION ALL SELECT "             \
    "seq, run_id((SELECT "                                                                         \
    "salt FROM "                                                                                   \
    "queue q WHERE"                                                                                \
    " q.queue = seq >> 48), seq, created_at_ms),"                                                  \
    " CASE WHEN b.first IS NOT NULL THEN 'A' WHEN e.first IS NOT NULL THEN 'D' ELSE 'W' END, 0,"   \
    " b.first IS NOT NULL OR e.first IS NOT NULL, 0, 0, 0, 0, attempts_max, 0,"                    \
    " coalesce(lease_ms, until_ms, created_at_ms), 0, coalesce(b.session, e.session, ''),"         \
    " k.timeout_ms, iif(b.first IS NOT NULL AND k.timeout_ms > 0, since_ms + k.timeout_ms + 5000," \
    " 0), NULL, coalesce(started >> seq - b.first & 1, 0), payload, 0, NULL"                       \
    " FROM (SELECT * FROM body WHERE " IS_BODY ") JOIN kind k USING (kind)"                        \
    " LEFT JOIN block b ON b.first BETWEEN seq - 62 AND seq AND held >> seq - b.first & 1"         \
    " LEFT JOIN ended e ON e.first BETWEEN seq - 62 AND seq AND runs >> seq - e.first & 1)"

#define RUNS "(" COLUMNS ") WHERE seq >> 48 = q.queue"

static void run_id(sqlite3_context *context, int count, sqlite3_value **values)
{
    int64_t seq = sqlite3_value_int64(values[1]);
    culex_uuid id = culex__run_id_make(
        (struct culex_run_id_parts){.ms = sqlite3_value_int64(values[2]),
                                    .salt = (uint32_t)sqlite3_value_int64(values[0]),
                                    .lane = (uint32_t)(seq >> 44 & CULEX_RUN_LANE_MAX),
                                    .number = (uint64_t)seq & CULEX_RUN_NUMBER_MAX});
    (void)count;
    sqlite3_result_blob(context, id.b, sizeof id.b, SQLITE_TRANSIENT);
}

static void row_read(sqlite3_stmt *row, culex_uuid *ret_id, struct sim_record *ret_record)
{
    char state = *(const char *)sqlite3_column_text(row, 2);
    int64_t at_ms = sqlite3_column_int64(row, 11);
    memcpy(ret_id->b, sqlite3_column_blob(row, 1), sizeof ret_id->b);
    if (state == 'W' && sqlite3_column_int(row, 3) != 0)
        state = 'S';
    *ret_record =
        (struct sim_record){.state = state,
                            .attempt = (uint32_t)sqlite3_column_int64(row, 4),
                            .failures = (uint32_t)sqlite3_column_int64(row, 5),
                            .crashes = (uint32_t)sqlite3_column_int64(row, 6),
                            .crash_streak = (uint32_t)sqlite3_column_int64(row, 7),
                            .losses = (uint32_t)sqlite3_column_int64(row, 8),
                            .attempts_max = (uint32_t)sqlite3_column_int64(row, 9),
                            .has_cancel = sqlite3_column_int(row, 10) != 0,
                            .is_started = sqlite3_column_int(row, 17) != 0,
                            .is_limited = sqlite3_column_type(row, 20) != SQLITE_NULL,
                            .units = sim_units_of((const char *)sqlite3_column_text(row, 20),
                                                  (size_t)sqlite3_column_bytes(row, 20)),
                            .at_ms = at_ms,
                            .expires_at_ms = sqlite3_column_int64(row, 12),
                            .retry_for_ms = sqlite3_column_int64(row, 19),
                            .timeout_ms = sqlite3_column_int64(row, 14)};
    if (state == 'A')
        ret_record->limit_ms = sqlite3_column_int64(row, 15);
    if (sqlite3_column_type(row, 16) != SQLITE_NULL)
        snprintf(ret_record->unique_key, sizeof ret_record->unique_key, "%s",
                 (const char *)sqlite3_column_text(row, 16));
    snprintf(ret_record->owner, sizeof ret_record->owner, "%s",
             (const char *)sqlite3_column_text(row, 13));
    snprintf(ret_record->queue, sizeof ret_record->queue, "%s",
             (const char *)sqlite3_column_text(row, 21));
    snprintf(ret_record->payload, sizeof ret_record->payload, "%.*s", sqlite3_column_bytes(row, 18),
             (const char *)sqlite3_column_blob(row, 18));
}

/* The id that row `seq` had when it was last seen; NULL for none. */
static struct sim_entry *id_find(struct sim_store *store, int64_t seq)
{
    return sim_dict_find(&store->ids, &seq, sizeof seq);
}

static void id_set(struct sim_store *store, int64_t seq, culex_uuid id)
{
    bool is_new;
    struct sim_entry *entry = sim_dict_put(&store->ids, &seq, sizeof seq, &is_new);
    sim_text_drop(entry->slot.text);
    entry->slot.text = sim_text_make(id.b, sizeof id.b);
}

/* Within one step a run may leave its holder and be granted again, or expire: that is two changes.
 * What was charged nothing has ended by its own expiry. */
static bool is_two_changes(const struct sim_record *before, const struct sim_record *after)
{
    if (before == NULL || before->state != 'A')
        return false;
    return after->state == 'A'
               ? after->attempt != before->attempt
               : after->state == 'X' && after->failures == before->failures &&
                     after->crashes == before->crashes && after->losses == before->losses;
}

static void change_tell(struct sim_oracle *oracle, culex_uuid id, const struct sim_record *after)
{
    const struct sim_record *before = sim_oracle_find(oracle, id);
    if (is_two_changes(before, after)) {
        struct sim_record between = *after;
        between.state = 'W';
        between.limit_ms = 0;
        between.attempt = before->attempt;
        between.owner[0] = '\0';
        between.at_ms = 0;
        sim_oracle_change(oracle, id, &between);
    }
    sim_oracle_change(oracle, id, after);
}

static void gone_tell(struct sim_world *world, int64_t seq)
{
    struct sim_store *store = world->store;
    static const struct sim_record none = {.state = '-'};
    struct sim_entry *entry = id_find(store, seq);
    culex_uuid id;
    if (entry == NULL)
        return;
    memcpy(id.b, entry->slot.text->data, sizeof id.b);
    sim_text_drop(entry->slot.text);
    sim_dict_remove(&store->ids, entry);
    sim_oracle_change(world->oracle, id, &none);
}

static void row_tell(struct sim_world *world, int64_t seq)
{
    struct sim_store *store = world->store;
    struct sim_record record;
    culex_uuid id;
    sqlite3_bind_int64(store->row, 1, seq);
    bool is_there = sqlite3_step(store->row) == SQLITE_ROW;
    if (is_there)
        row_read(store->row, &id, &record);
    must(store, sqlite3_reset(store->row));
    struct sim_entry *entry = id_find(store, seq);
    if (entry != NULL && (!is_there || !sim_text_is(entry->slot.text, id.b, sizeof id.b)))
        gone_tell(world, seq);
    if (!is_there)
        return;
    id_set(store, seq, id);
    change_tell(world->oracle, id, &record);
}

static void change_note(struct sim_store *store, int64_t row)
{
    for (size_t i = store->changed_count; i-- > 0;) {
        if (store->changed[i] == row)
            return;
    }
    if (store->changed_count == CHANGES_MAX)
        abort();
    store->changed[store->changed_count++] = row;
}

/* What becomes of ordinary runs stands in their block, and in table ended only when it does there
 * as well. */
static void on_update(void *user, int operation, const char *database, const char *table,
                      sqlite3_int64 row)
{
    struct sim_store *store = user;
    (void)operation;
    (void)database;
    if (strcmp(table, "run") == 0 || strcmp(table, "body") == 0)
        change_note(store, row);
    for (int i = 0; strcmp(table, "block") == 0 && i < CULEX__SQLITE_BLOCK_MAX; i++)
        change_note(store, row + i);
}

/* --- wake-ups ------------------------------------------------------------------------------ */

static void wake_one(struct sim_world *world)
{
    int64_t skip = sim_below(&world->random, 4);
    struct sim_process *found = NULL;
    for (struct sim_process *process = world->processes; process != NULL; process = process->next) {
        if (process->is_done || !process->is_armed || process->is_killed)
            continue;
        found = process;
        if (skip-- == 0)
            break;
    }
    if (found == NULL)
        return;
    found->is_armed = false;
    found->is_woken = true;
    sim_process_poke(found);
}

static culex_status on_wake_arm(struct culex_store *base, const char *const *queues, size_t count,
                                int64_t timeout_ms, int *ret_fd, culex_error *error)
{
    struct handle *handle = handle_of(base);
    (void)queues;
    (void)count;
    (void)timeout_ms;
    (void)error;
    handle->process->is_armed = true;
    *ret_fd = handle->has_wake ? SIM_FD_WAKE : -1;
    return CULEX_OK;
}

static culex_status on_wake_take(struct culex_store *base, bool *ret_woken, culex_error *error)
{
    struct sim_process *process = handle_of(base)->process;
    (void)error;
    *ret_woken = process->is_woken;
    process->is_woken = false;
    return CULEX_OK;
}

static void on_wake_disarm(struct culex_store *base)
{
    struct sim_process *process = handle_of(base)->process;
    process->is_armed = process->is_woken = process->is_waiting_for_ends = false;
}

static culex_status on_wait_arm(struct culex_store *base, const char *const *queues, size_t count,
                                int64_t timeout_ms, int *ret_fd, culex_error *error)
{
    struct handle *handle = handle_of(base);
    (void)queues;
    (void)count;
    (void)timeout_ms;
    (void)error;
    handle->process->is_waiting_for_ends = true;
    *ret_fd = handle->has_wake ? SIM_FD_WAKE : -1;
    return CULEX_OK;
}

/* As if all had noted whom they wait for. Some words get lost. */
static void waiters_wake(struct sim_world *world)
{
    for (struct sim_process *process = world->processes; process != NULL; process = process->next) {
        bool has_news = sim_wait_take_news(world->oracle, process);
        if (!has_news || process->is_done || process->is_killed || !process->is_waiting_for_ends)
            continue;
        if (sim_chance(&world->random, 250)) {
            SOMETIMES(WAIT_WORD_LOST);
            continue;
        }
        process->is_waiting_for_ends = false;
        process->is_woken = true;
        sim_process_poke(process);
    }
}

/* --- calls --------------------------------------------------------------------------------- */

static void unlock_event(struct sim_world *world, void *subject, uint64_t token,
                         struct sim_bytes *bytes)
{
    struct sim_store *store = world->store;
    (void)subject;
    (void)token;
    (void)bytes;
    if (store->is_locked)
        must(store, sqlite3_exec(store->root, "ROLLBACK", NULL, NULL, NULL));
    store->is_locked = false;
}

static void lock_befall(struct sim_world *world)
{
    struct sim_store *store = world->store;
    if (store->is_locked)
        return;
    world->faults++;
    SOMETIMES(STORE_BUSY);
    must(store, sqlite3_exec(store->root, "BEGIN IMMEDIATE", NULL, NULL, NULL));
    store->is_locked = true;
    sim_after(world, sim_between(&world->random, 1, 4000) * SIM_MS, unlock_event, NULL, 0);
}

/* Once, and in the middle of a statement that does something: SQLite looks at the handler also
 * between the end of a BEGIN or COMMIT and its return, where no real failure comes from. */
static int on_progress(void *user)
{
    struct handle *handle = user;
    const struct culex_sqlite *sqlite = culex__sqlite_of(handle->inner);
    for (int i = 0; i < CULEX__SQLITE_STATEMENT_COUNT && !handle->is_interrupted; i++) {
        bool is_frame = i == CULEX__SQLITE_BEGIN || i == CULEX__SQLITE_BEGIN_WRITE ||
                        i == CULEX__SQLITE_COMMIT || i == CULEX__SQLITE_ROLLBACK;
        if (!is_frame && sqlite3_stmt_busy(sqlite->statements[i])) {
            handle->is_interrupted = true;
            return 1;
        }
    }
    return 0;
}

static void growth_forbid(sqlite3 *db, bool is_forbidden)
{
    sqlite3_exec(db, is_forbidden ? "PRAGMA max_page_count=1" : "PRAGMA max_page_count=1073741823",
                 NULL, NULL, NULL);
}

enum trouble { TROUBLE_NONE, TROUBLE_FULL, TROUBLE_BROKEN, TROUBLE_UNKNOWN };

/* What this call will meet. SQLite rounds a page count below the present one up to it. */
static enum trouble trouble_draw(struct handle *handle)
{
    struct sim_world *world = handle->process->world;
    const struct sim_weather *weather = &world->weather;
    struct sim_random *random = &world->random;
    sqlite3 *db = culex__sqlite_of(handle->inner)->db;
    /* A call takes time. */
    sim_sleep(handle->process, sim_between(random, 20, 400) * SIM_US);
    if (sim_chance(random, weather->store_busy / 4))
        lock_befall(world);
    if (world->store->is_locked)
        return TROUBLE_NONE;
    if (sim_chance(random, weather->store_full)) {
        growth_forbid(db, true);
        return TROUBLE_FULL;
    }
    if (sim_chance(random, weather->store_broken)) {
        handle->is_interrupted = false;

        sqlite3_progress_handler(db, (int)sim_between(random, 1, 200), on_progress, handle);
        return TROUBLE_BROKEN;
    }
    /* The rarest situations are those behind an answer that was lost. */
    return sim_chance(random, 3 * weather->store_unknown) ? TROUBLE_UNKNOWN : TROUBLE_NONE;
}

/* Before the call. False when the process is dead. */
static bool call_enter(struct culex_store *base, enum trouble *ret_trouble, culex_error *error)
{
    struct handle *handle = handle_of(base);
    *ret_trouble = TROUBLE_NONE;
    if (!handle->process->is_killed)
        *ret_trouble = trouble_draw(handle);
    if (!handle->process->is_killed)
        return true;
    culex__fail(error, CULEX_ECONNECT, "the process is dead");
    return false;
}

/* After it: `call` is filled and the oracle hears of what has changed. */
static struct sim_call *call_told(struct culex_store *base, enum sim_verb verb, const char *queue,
                                  culex_status status)
{
    struct handle *handle = handle_of(base);
    struct sim_call *call = sim_oracle_begin(handle->process->world->oracle);
    call->verb = verb;
    call->now_ms = culex__sqlite_of(handle->inner)->now_ms;
    call->is_failed = status != CULEX_OK;
    snprintf(call->queue, sizeof call->queue, "%s", queue);
    return call;
}

static void limits_look(struct sim_world *world)
{
    struct sim_store *store = world->store;
    struct sim_slots slots = {{0}};
    int64_t room = INT64_MAX;
    while (sqlite3_step(store->limited) == SQLITE_ROW) {
        room = sqlite3_column_int64(store->limited, 0);
        sim_slots_count(&slots, (const char *)sqlite3_column_text(store->limited, 1),
                        (size_t)sqlite3_column_bytes(store->limited, 1));
    }
    must(store, sqlite3_reset(store->limited));
    sim_slots_check(world, &slots, room);
}

static void changes_tell(struct handle *handle)
{
    struct sim_world *world = handle->process->world;
    struct sim_store *store = world->store;
    size_t count = store->changed_count;
    sim_oracle_asked(world->oracle);
    for (size_t i = 0; i < count; i++)
        row_tell(world, store->changed[i]);
    store->changed_count = 0;
    if (count > 0)
        limits_look(world);
    if (count > 0)
        waiters_wake(world);
    if (count > 0)
        wake_one(world);
}

static culex_status call_leave(struct culex_store *base, enum trouble trouble, culex_status status,
                               culex_error *error)
{
    struct handle *handle = handle_of(base);
    struct sim_world *world = handle->process->world;
    sqlite3 *db = culex__sqlite_of(handle->inner)->db;
    if (!sqlite3_get_autocommit(db))
        sim_violation(world->oracle, NULL, "a call leaves its transaction open: %s (trouble %d)",
                      error != NULL ? error->text : "", (int)trouble);
    sim_oracle_answered(world->oracle);
    sim_hash_add(world, &status, sizeof status);
    if (trouble == TROUBLE_FULL)
        growth_forbid(db, false);
    if (trouble == TROUBLE_BROKEN)
        sqlite3_progress_handler(db, 0, NULL, NULL);
    world->faults += status != CULEX_OK && trouble != TROUBLE_NONE;
    if (trouble == TROUBLE_FULL && status == CULEX_EFULL)
        SOMETIMES(STORE_FULL);
    if (trouble == TROUBLE_BROKEN && status != CULEX_OK)
        SOMETIMES(STORE_BROKEN);
    if (trouble != TROUBLE_UNKNOWN || status != CULEX_OK)
        return status;
    world->faults++;
    SOMETIMES(STORE_ANSWER_LOST);
    /* Trouble comes in pairs: the repeat may get no answer at all before its time is up. */
    if (sim_chance(&world->random, 250))
        lock_befall(world);
    return culex__fail(error, CULEX_EUNKNOWN, "the answer got lost");
}

/* The end of a verb whose call says nothing more. */
static culex_status plain_leave(struct culex_store *base, enum sim_verb verb, const char *queue,
                                enum trouble trouble, culex_status status, culex_error *error)
{
    call_told(base, verb, queue, status);
    changes_tell(handle_of(base));
    return call_leave(base, trouble, status, error);
}

static int64_t capacity_read(struct sim_store *store, const char *queue)
{
    int64_t capacity = 0;
    must(store, sqlite3_bind_text(store->capacity, 1, queue, -1, SQLITE_STATIC));
    if (sqlite3_step(store->capacity) == SQLITE_ROW)
        capacity = sqlite3_column_int64(store->capacity, 0);
    must(store, sqlite3_reset(store->capacity));
    return capacity;
}

static struct sim_rider rider_of(const struct culex_new_run *run)
{
    struct sim_rider rider = {.delay_ms = run->delay_ms, .window_ms = run->window_ms};
    rider.unique_for_ms = run->unique_for_ms;
    if (run->unique_key != NULL)
        snprintf(rider.unique_key, sizeof rider.unique_key, "%s", run->unique_key);
    if (run->idempotency_key != NULL)
        snprintf(rider.key, sizeof rider.key, "%s", run->idempotency_key);
    snprintf(rider.payload, sizeof rider.payload, "%.*s", (int)run->payload_len,
             (const char *)run->payload);
    return rider;
}

/* What a store says to an enqueue that nothing befalls but others that write. */
static bool is_calm_answer(culex_status status)
{
    return status == CULEX_OK || status == CULEX_ECONFLICT || status == CULEX_EEXPIRED ||
           status == CULEX_EBUSY;
}

/* What is said of its batch. */
static void batch_fill(struct sim_call *call, culex_uuid batch, culex_status status)
{
    call->has_batch = true;
    call->batch = batch;
    call->batch_answer = status == CULEX_ENOTFOUND ? '-' : status == CULEX_ESTATE ? '.' : '\0';
}

/* The end of ENQUEUE and ENQUEUE_EACH. */
static void enqueue_fill(struct culex_store *base, struct sim_call *call, enum trouble trouble,
                         culex_status status, const struct culex_new_run *runs, size_t count,
                         const struct culex_enqueue_result *results)
{
    static const char letters[] = "NDCFUR"; /* of enum culex_enqueued */
    if (count > 0 && runs[0].has_batch)
        batch_fill(call, runs[0].batch, status);
    if ((trouble == TROUBLE_NONE || trouble == TROUBLE_UNKNOWN) && !is_calm_answer(status) &&
        call->batch_answer == '\0')
        sim_violation(handle_of(base)->process->world->oracle, NULL,
                      "an enqueue is refused as a whole: %s", culex_status_text(status));
    call->is_refused = status == CULEX_ECONFLICT;
    call->is_too_old = status == CULEX_EEXPIRED;
    call->is_failed =
        call->is_failed && !call->is_refused && !call->is_too_old && call->batch_answer == '\0';
    call->capacity = capacity_read(handle_of(base)->process->world->store, call->queue);
    call->rider_count = call->verb == SIM_ENQUEUE && count > 1 ? 0 : count;
    for (size_t i = 0; i < call->rider_count; i++) {
        call->riders[i] = rider_of(&runs[i]);
        if (status != CULEX_OK)
            continue;
        call->riders[i].answer = letters[results[i].outcome];
        call->riders[i].id = results[i].id;
    }
}

static culex_status on_enqueue(struct culex_store *base, const char *queue,
                               const struct culex_ticket *ticket, const struct culex_new_run *runs,
                               size_t count, struct culex_enqueue_result *results,
                               culex_error *error)
{
    struct culex_store *inner = handle_of(base)->inner;
    enum trouble trouble;
    if (!call_enter(base, &trouble, error))
        return CULEX_ECONNECT;
    culex_status status = inner->ops->enqueue(inner, queue, ticket, runs, count, results, error);
    struct sim_call *call = call_told(base, SIM_ENQUEUE, queue, status);
    if (ticket != NULL)
        call->ticket = *ticket;
    enqueue_fill(base, call, trouble, status, runs, count, results);
    changes_tell(handle_of(base));
    return call_leave(base, trouble, status, error);
}

static culex_status on_enqueue_each(struct culex_store *base, const char *queue,
                                    const struct culex_ticket *tickets,
                                    const struct culex_new_run *runs, size_t count,
                                    struct culex_enqueue_result *results, culex_error *error)
{
    struct culex_store *inner = handle_of(base)->inner;
    enum trouble trouble;
    if (!call_enter(base, &trouble, error))
        return CULEX_ECONNECT;
    culex_status status =
        inner->ops->enqueue_each(inner, queue, tickets, runs, count, results, error);
    struct sim_call *call = call_told(base, SIM_EACH, queue, status);
    enqueue_fill(base, call, trouble, status, runs, count, results);
    for (size_t i = 0; i < call->rider_count; i++)
        call->riders[i].ticket = tickets[i];
    changes_tell(handle_of(base));
    return call_leave(base, trouble, status, error);
}

static char answer_letter(enum culex_answer answer)
{
    static const char letters[] = {
        [CULEX_ANSWER_OK] = 'O',   [CULEX_ANSWER_REPEATED] = 'R', [CULEX_ANSWER_STALE] = 'S',
        [CULEX_ANSWER_GONE] = 'G', [CULEX_ANSWER_CANCEL] = 'C',   [CULEX_ANSWER_FAILED] = 'F'};
    return letters[answer];
}

static int64_t asking_read(const struct culex_ack *ack)
{
    const struct culex_new_run *run =
        ack->follow_up_count > 0 ? &ack->follow_ups[ack->follow_up_count - 1].run : NULL;
    return run == NULL ? 0 : sim_follow_asking(run->payload, run->payload_len);
}

static void step_fill(struct sim_call *call, const struct culex_step *step,
                      const struct culex_step_reply *reply)
{
    snprintf(call->session, sizeof call->session, "%s", step->session);
    call->nonce = step->nonce;
    call->want = step->want;
    call->lease_ms = step->lease_ms;
    call->ack_count = step->ack_count;
    call->beat_count = step->beat_count;
    for (size_t i = 0; i < step->ack_count; i++) {
        call->acks[i].id = step->acks[i].id;
        call->acks[i].attempt = step->acks[i].attempt;
        call->acks[i].event = step->acks[i].event;
        call->acks[i].has_begun = step->acks[i].has_begun;
        call->acks[i].asking = asking_read(&step->acks[i]);
        call->acks[i].has_progress =
            step->acks[i].progress != NULL && step->acks[i].progress[0] != '\0';
        call->ack_answers[i] = call->is_failed ? '?' : answer_letter(reply->acks[i]);
        if (call->ack_answers[i] == 'F')
            call->acks[i].event = CULEX_EVENT_FAIL;
    }
    for (size_t i = 0; i < step->beat_count; i++) {
        call->beats[i].id = step->beats[i].id;
        call->beats[i].attempt = step->beats[i].attempt;
        call->beats[i].extend_ms = step->beats[i].extend_ms;
        call->beats[i].is_started = step->beats[i].is_started;
        call->beats[i].is_excused = step->beats[i].is_excused;
        call->beats[i].has_progress = step->beats[i].progress != NULL;
        call->beat_answers[i] = call->is_failed ? '?' : answer_letter(reply->beats[i]);
    }
    call->ack_answers[step->ack_count] = call->beat_answers[step->beat_count] = '\0';
    for (size_t i = 0; !call->is_failed && i < reply->grant_count; i++) {
        call->grants[i].id = reply->grants[i].facts.id;
        call->grants[i].attempt = reply->grants[i].facts.attempt;
        call->grants[i].losses = reply->grants[i].facts.counters.losses;
    }
    call->grant_count = call->is_failed ? 0 : reply->grant_count;
    call->says_late = !call->is_failed && (reply->is_late || reply->is_replaced);
}

/* Only what is broken in the middle of them refuses follow-ups that are as they should be. */
static void refusals_check(struct sim_world *world, const struct culex_step *step,
                           enum trouble trouble)
{
    const char *refused = strchr(sim_oracle_call_now(world->oracle)->ack_answers, 'F');
    if (refused != NULL && trouble != TROUBLE_BROKEN)
        sim_violation(world->oracle,
                      &step->acks[refused - sim_oracle_call_now(world->oracle)->ack_answers].id,
                      "the follow-ups of an end are refused in calm weather");
}

static culex_status on_step(struct culex_store *base, const struct culex_step *step,
                            struct culex_step_reply *ret_reply, culex_error *error)
{
    struct culex_store *inner = handle_of(base)->inner;
    enum trouble trouble;
    if (!call_enter(base, &trouble, error))
        return CULEX_ECONNECT;
    culex_status status = inner->ops->step(inner, step, ret_reply, error);
    if (status == CULEX_ESTATE || status == CULEX_ENOTFOUND || status == CULEX_ECORRUPT)
        sim_violation(handle_of(base)->process->world->oracle, NULL,
                      "a step is refused as a whole: %s", culex_status_text(status));
    step_fill(call_told(base, SIM_STEP, step->queue, status), step, ret_reply);
    refusals_check(handle_of(base)->process->world, step, trouble);
    changes_tell(handle_of(base));
    culex_status told = call_leave(base, trouble, status, error);
    if (told != CULEX_OK && status == CULEX_OK)
        inner->ops->step_release(inner, ret_reply);
    return told;
}

static void on_step_release(struct culex_store *base, struct culex_step_reply *reply)
{
    struct culex_store *inner = handle_of(base)->inner;
    inner->ops->step_release(inner, reply);
}

static culex_status on_hello(struct culex_store *base, const char *queue, const char *worker,
                             const char *session, size_t *ret_released, int64_t *ret_now_ms,
                             culex_error *error)
{
    struct culex_store *inner = handle_of(base)->inner;
    enum trouble trouble;
    if (!call_enter(base, &trouble, error))
        return CULEX_ECONNECT;
    culex_status status =
        inner->ops->hello(inner, queue, worker, session, ret_released, ret_now_ms, error);
    struct sim_call *call = call_told(base, SIM_HELLO, queue, status);
    snprintf(call->worker, sizeof call->worker, "%s", worker);
    snprintf(call->session, sizeof call->session, "%s", session);
    changes_tell(handle_of(base));
    return call_leave(base, trouble, status, error);
}

static culex_status on_tick(struct culex_store *base, const struct culex_tick *tick,
                            struct culex_tick_reply *ret_reply, culex_error *error)
{
    struct culex_store *inner = handle_of(base)->inner;
    enum trouble trouble;
    if (!call_enter(base, &trouble, error))
        return CULEX_ECONNECT;
    culex_status status = inner->ops->tick(inner, tick, ret_reply, error);
    struct sim_call *call = call_told(base, SIM_TICK, tick->queue, status);
    snprintf(call->worker, sizeof call->worker, "%s", tick->schedule);
    call->interval_ms = tick->interval_ms;
    call->is_of_calendar = tick->is_of_calendar;
    call->is_enqueued = status == CULEX_OK && ret_reply->is_enqueued;
    call->mark_ms = ret_reply->mark_ms;
    changes_tell(handle_of(base));
    return call_leave(base, trouble, status, error);
}

static culex_status on_schedule_set(struct culex_store *base, const char *queue,
                                    const char *schedule, enum culex_schedule_act act,
                                    culex_error *error)
{
    struct culex_store *inner = handle_of(base)->inner;
    enum trouble trouble;
    if (!call_enter(base, &trouble, error))
        return CULEX_ECONNECT;
    culex_status status = inner->ops->schedule_set(inner, queue, schedule, act, error);
    struct sim_call *call = call_told(base, SIM_SCHEDULE_SET, queue, status);
    snprintf(call->worker, sizeof call->worker, "%s", schedule);
    call->act = "prf"[act]; /* ORDER SCHEDULE_ACT */
    changes_tell(handle_of(base));
    return call_leave(base, trouble, status, error);
}

static culex_status on_schedule_run(struct culex_store *base, const char *queue,
                                    const char *schedule, int64_t asking,
                                    const struct culex_new_run *run,
                                    struct culex_enqueue_result *ret_result, culex_error *error)
{
    struct culex_store *inner = handle_of(base)->inner;
    enum trouble trouble;
    if (!call_enter(base, &trouble, error))
        return CULEX_ECONNECT;
    culex_status status =
        inner->ops->schedule_run(inner, queue, schedule, asking, run, ret_result, error);
    struct sim_call *call = call_told(base, SIM_SCHEDULE_RUN, queue, status);
    snprintf(call->worker, sizeof call->worker, "%s", schedule);
    call->asking = asking;
    changes_tell(handle_of(base));
    return call_leave(base, trouble, status, error);
}

static culex_status on_batch(struct culex_store *base, const struct culex_batch_order *order,
                             culex_error *error)
{
    static const char acts[] = "ocx"; /* of enum culex_batch_act */
    struct culex_store *inner = handle_of(base)->inner;
    enum trouble trouble;
    if (!call_enter(base, &trouble, error))
        return CULEX_ECONNECT;
    culex_status status = inner->ops->batch(inner, order, error);
    struct sim_call *call = call_told(base, SIM_BATCH, order->queue, status);
    batch_fill(call, order->id, status);
    call->batch_act = acts[order->act];
    call->open_ms = order->open_ms;
    if (order->act == CULEX_BATCH_CALL) {
        const struct culex_new_run *run = &order->call->run;
        call->batch_kind = order->when;
        call->batch_number = sim_number_last(run->payload, run->payload_len);
    }
    if (status == CULEX_OK || status == CULEX_ECONFLICT)
        call->batch_answer = status == CULEX_OK ? 'O' : '!';
    call->is_failed = call->is_failed && call->batch_answer == '\0';
    changes_tell(handle_of(base));
    return call_leave(base, trouble, status, error);
}

/* The other verbs, made of the rows of store/verbs.def, each by its FRONT: the world befalls it
 * (CALLED, and as what the oracle knows it), or a living process just has its answer (ASKED). */
#define CALLED(verb, name, parameters, arguments)                                                  \
    static culex_status on_##name parameters                                                       \
    {                                                                                              \
        struct culex_store *base = store;                                                          \
        enum trouble trouble;                                                                      \
        if (!call_enter(base, &trouble, error))                                                    \
            return CULEX_ECONNECT;                                                                 \
        store = handle_of(base)->inner;                                                            \
        culex_status status = store->ops->name arguments;                                          \
        return plain_leave(base, verb, queue, trouble, status, error);                             \
    }
#define ASKED(name, parameters, arguments)                                                         \
    static culex_status on_##name parameters                                                       \
    {                                                                                              \
        if (handle_of(store)->process->is_killed)                                                  \
            return culex__fail(error, CULEX_ECONNECT, "the process is dead");                      \
        store = handle_of(store)->inner;                                                           \
        return store->ops->name arguments;                                                         \
    }
#define WRITTEN_OUT(...)

#define FRONT_enqueue           WRITTEN_OUT
#define FRONT_enqueue_each      WRITTEN_OUT
#define FRONT_step              WRITTEN_OUT
#define FRONT_hello             WRITTEN_OUT
#define FRONT_tick              WRITTEN_OUT
#define FRONT_schedules         ASKED
#define FRONT_schedule_set      WRITTEN_OUT
#define FRONT_schedule_run      WRITTEN_OUT
#define FRONT_cancel(...)       CALLED(SIM_CANCEL, __VA_ARGS__)
#define FRONT_retry(...)        CALLED(SIM_RETRY, __VA_ARGS__)
#define FRONT_forget(...)       CALLED(SIM_FORGET, __VA_ARGS__)
#define FRONT_purge(...)        CALLED(SIM_PURGE, __VA_ARGS__)
#define FRONT_move(...)         CALLED(SIM_MOVE, __VA_ARGS__)
#define FRONT_pause(...)        CALLED(SIM_OTHER, __VA_ARGS__)
#define FRONT_pause_for(...)    CALLED(SIM_OTHER, __VA_ARGS__)
#define FRONT_limit(...)        CALLED(SIM_OTHER, __VA_ARGS__)
#define FRONT_dead_limit(...)   CALLED(SIM_OTHER, __VA_ARGS__)
#define FRONT_stats(...)        CALLED(SIM_OTHER, __VA_ARGS__)
#define FRONT_fsck(...)         CALLED(SIM_OTHER, __VA_ARGS__)
#define FRONT_get               ASKED
#define FRONT_limit_set(...)    CALLED(SIM_OTHER, __VA_ARGS__)
#define FRONT_limits            ASKED
#define FRONT_limit_keys        ASKED
#define FRONT_metadata          ASKED
#define FRONT_metadata_set(...) CALLED(SIM_OTHER, __VA_ARGS__)
#define FRONT_schema_publish    ASKED
#define FRONT_schemas           ASKED
#define FRONT_schema_text       ASKED
#define FRONT_schema_sweep      ASKED
#define FRONT_schema_drop       ASKED
#define FRONT_list              ASKED
#define FRONT_queues            ASKED
#define FRONT_worker_tell       ASKED
#define FRONT_workers           ASKED
#define FRONT_worker_set        ASKED
#define FRONT_doctor            ASKED
#define FRONT_now               ASKED
#define FRONT_wake_arm          WRITTEN_OUT
#define FRONT_wake_take         WRITTEN_OUT
#define FRONT_wait(...)         CALLED(SIM_OTHER, __VA_ARGS__)
#define FRONT_wait_arm          WRITTEN_OUT
#define FRONT_batch             WRITTEN_OUT
#define FRONT_batch_look        ASKED
#define FRONT_batch_review      ASKED
#define FRONT_events_keep(...)  CALLED(SIM_OTHER, __VA_ARGS__)
#define FRONT_events            ASKED
#define FRONT_run_log           ASKED
#define FRONT_figures_add       ASKED
#define FRONT_figures           ASKED

/* A new verb has no FRONT yet and does not compile before it has one: SIM_OTHER is right for one of
 * an operator. Until then the compiler points here, and at verbs behind it that have theirs. */
#define VERB(name, effect, parameters, arguments, check) FRONT_##name(name, parameters, arguments)
#include "store/verbs.def"
#undef VERB

static void on_list_release(struct culex_store *base, struct culex_list_reply *reply)
{
    struct culex_store *inner = handle_of(base)->inner;
    inner->ops->list_release(inner, reply);
}

static void on_close(struct culex_store *base)
{
    struct handle *handle = handle_of(base);
    struct handle **at = &handle->process->world->store->handles;
    while (*at != handle)
        at = &(*at)->next;
    *at = handle->next;
    handle->process->is_armed = false;
    handle->inner->ops->close(handle->inner);
    free(handle);
}

static const struct culex_store_ops handle_ops = {
    .name = "sim",
#define VERB(name, effect, parameters, arguments, check) .name = on_##name,
#include "store/verbs.def"
#undef VERB
    .step_release = on_step_release,
    .list_release = on_list_release,
    .wake_disarm = on_wake_disarm,
    .close = on_close,
};

/* --- life ---------------------------------------------------------------------------------- */

culex_status sim_store_open(struct sim_process *process, int64_t timeout_ms,
                            struct culex_store **ret_store, culex_error *error)
{
    struct culex_store_options options = {.timeout_ms = timeout_ms, .synchronous = "off"};
    struct handle *handle = calloc(1, sizeof *handle);
    if (handle == NULL)
        abort();
    culex_status status =
        culex__store_open("memory:sim", &options, &process->env, &handle->inner, error);
    if (status != CULEX_OK) {
        free(handle);
        return status;
    }
    handle->base.ops = handle->base.table = &handle_ops;
    handle->base.env = &process->env;
    handle->process = process;
    handle->has_wake = sim_chance(&process->world->random, 800);
    sqlite3_update_hook(culex__sqlite_of(handle->inner)->db, on_update, process->world->store);
    handle->next = process->world->store->handles;
    process->world->store->handles = handle;
    *ret_store = &handle->base;
    return CULEX_OK;
}

/* A process that does nothing but create the database: its table of effects is all that counts. */
static int64_t still_clock_ms(void *self)
{
    return sim_store_ms(self);
}

static int64_t still_boottime_ns(void *self)
{
    return ((struct sim_world *)self)->now_ns;
}

static void still_random(void *self, void *ret_bytes, size_t len)
{
    (void)self;
    memset(ret_bytes, 1, len);
}

void sim_store_init(struct sim_world *world)
{
    struct sim_store *store = world->store = calloc(1, sizeof *store);
    const struct culex_env env = {.self = world,
                                  .clock_ms = still_clock_ms,
                                  .boottime_ns = still_boottime_ns,
                                  .random = still_random};
    struct culex_store_options options = {.timeout_ms = 1000, .synchronous = "off"};
    struct culex_store *base = NULL;
    culex_error error = {0};
    if (store == NULL ||
        culex__store_open("memory:sim", &options, &env, &base, &error) != CULEX_OK) {
        fprintf(stderr, "sim: no store: %s\n", error.text);
        abort();
    }
    must(store, sqlite3_open_v2(culex__sqlite_of(base)->uri, &store->root,
                                SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL));
    must(store,
         sqlite3_create_function(store->root, "run_id", 3, SQLITE_UTF8, NULL, run_id, NULL, NULL));
    must(store, sqlite3_prepare_v2(store->root, COLUMNS " WHERE seq = ?", -1, &store->row, NULL));
    must(store, sqlite3_prepare_v2(store->root, COLUMNS, -1, &store->all, NULL));
    must(store,
         sqlite3_prepare_v2(store->root,
                            "SELECT (SELECT iif(set_count > 0, set_count, count) FROM run_limit l"
                            " WHERE l.queue = run.queue AND name = '" SIM_LIMIT "'), limits"
                            " FROM run WHERE state = 'A' AND limits IS NOT NULL",
                            -1, &store->limited, NULL));
    must(store, sqlite3_prepare_v2(store->root, "SELECT capacity FROM queue WHERE name = ?", -1,
                                   &store->capacity, NULL));
    must(store, sqlite3_prepare_v2(
                    store->root,
                    "SELECT name FROM queue q JOIN body rear ON rear.seq ="
                    " (q.queue << 48) + 281474976710655 WHERE"
                    " pending + rear.kind <> (SELECT count(*) FROM " RUNS " AND state = 'W')"
                    " OR active <> (SELECT count(*) FROM " RUNS " AND state = 'A')"
                    " OR kept_done + kept_dead + kept_cancelled <> (SELECT count(*) FROM " RUNS
                    "    AND state IN ('D', 'X', 'C'))"
                    " OR EXISTS (SELECT 1 FROM run r WHERE queue = q.queue AND state <> 'D'"
                    "    AND payload IS NULL AND NOT EXISTS"
                    "    (SELECT 1 FROM payload p WHERE p.seq = r.seq))"
                    /* Progress is of the newest attempt, and says so. */
                    " OR EXISTS (SELECT 1 FROM run r WHERE queue = q.queue AND state = 'A'"
                    "    AND progress <> '50 attempt ' || attempt)",
                    -1, &store->queues, NULL));
    base->ops->close(base);
}

void sim_store_release(struct sim_world *world)
{
    struct sim_store *store = world->store;
    sqlite3_finalize(store->row);
    sqlite3_finalize(store->all);
    sqlite3_finalize(store->queues);
    sqlite3_finalize(store->capacity);
    sqlite3_finalize(store->limited);
    sqlite3_close(store->root);
    for (size_t i = 0; i < store->ids.cap; i++) {
        if (store->ids.entries[i].key == NULL)
            continue;
        sim_text_drop(store->ids.entries[i].slot.text);
        sim_text_drop(store->ids.entries[i].key);
    }
    free(store->ids.entries);
    free(store);
}

static void count_visit(void *user, culex_uuid id, const struct sim_record *record)
{
    size_t *count = user;
    (void)id;
    (void)record;
    ++*count;
}

/* No handle waits, or does nothing, with a transaction open. */
static void transactions_check(struct sim_world *world)
{
    for (struct handle *handle = world->store->handles; handle != NULL; handle = handle->next) {
        if (!sqlite3_get_autocommit(culex__sqlite_of(handle->inner)->db))
            sim_violation(world->oracle, NULL, "%s rests with a transaction open",
                          handle->process->name);
    }
}

void sim_store_check(struct sim_world *world)
{
    struct sim_store *store = world->store;
    size_t rows = 0, booked = 0;
    transactions_check(world);
    while (sqlite3_step(store->all) == SQLITE_ROW) {
        struct sim_record record;
        culex_uuid id;
        row_read(store->all, &id, &record);
        const struct sim_record *book = sim_oracle_find(world->oracle, id);
        if (book == NULL || book->attempt != record.attempt || book->losses != record.losses ||
            (book->state == 'A') != (record.state == 'A') || strcmp(book->owner, record.owner) != 0)
            sim_violation(world->oracle, &id, "the file has another run than the books");
        rows++;
    }
    must(store, sqlite3_reset(store->all));
    sim_oracle_each(world->oracle, count_visit, &booked);
    if (rows != booked)
        sim_violation(world->oracle, NULL, "%zu runs in the file, %zu in the books", rows, booked);
    if (sqlite3_step(store->queues) == SQLITE_ROW)
        sim_violation(world->oracle, NULL,
                      "queue %s miscounts its runs, lacks a payload or keeps an old progress",
                      (const char *)sqlite3_column_text(store->queues, 0));
    must(store, sqlite3_reset(store->queues));
}

void sim_store_heal(struct sim_world *world)
{
    unlock_event(world, NULL, 0, NULL);
}
