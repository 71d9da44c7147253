/* store/sqlite/fsck.c - FSCK: what we derive from the runs in a file, compared with them.
 *
 * SQLite's own: the tables' types and CHECKs, every index (also the one that keeps unique keys
 * apart), and that a transaction is whole. Nothing of it is looked at here: a file that fails
 * there is refused with CULEX_ECORRUPT by whatever reads it.
 *
 * Ours: the values of a run's columns, its place in the order, the bytes of its payload by their
 * checksum, payloads in a table of their own, what blocks and ends tell of ordinary runs, the
 * counters of the queue's row and its rear, which holds the last number, what is counted for
 * limits, who has a unique key, who waits for an end, whose log lines are kept, batches and their
 * callbacks, and the form of figures. A run that has lost its mark cannot be told from one whose
 * key somebody else has taken: with its next claim it has the key again, if nobody holds it by
 * then.
 */
#include <assert.h>
#include <string.h>

#include "core/end_text.h"
#include "core/run_id.h"
#include "store/sqlite/body.h"
#include "store/sqlite/events.h"
#include "store/sqlite/figures.h"
#include "store/sqlite/fsck_batches.h"
#include "store/sqlite/fsck_limits.h"
#include "store/sqlite/log_rows.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/run.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/verb.h"
#include "store/sqlite/verbs.h"
#include "store/sqlite/waiters.h"
#include "base/error.h"

/* ORDER FSCK_SHARE */
enum {
    SHARE_BODIES,
    SHARE_BLOCKS,
    SHARE_ENDED,
    SHARE_RUNS,
    SHARE_PAYLOADS,
    SHARE_TOTALS,
    SHARE_LIMITS,
    SHARE_KEYS,
    SHARE_CALLBACKS,
    SHARE_COUNT
};

/* In a cursor: the place, above it whether a wrong number has been told, and the share. */
enum { PLACE_BITS = 48, TOLD_BIT = 59, SHARE_BIT = 60, ROWS_MAX = 200 };

struct fsck {
    struct culex_sqlite *store;
    struct culex_sqlite_queue *queue;
    unsigned share;
    bool is_repairing;
    bool has_queue;
    int64_t lane, taken; /* 1 more than the lane that was looked at last, and what was found */
    bool is_number_told; /* it counts once, whatever has a greater one */
    int64_t place;       /* the last row seen, within the queue; 0 when the share is at its end */
    uint64_t number;     /* the highest that was seen in the id of an intact run */
    culex_fsck_counts counts;
};

static const char damaged_text[] = CULEX__CHECKSUM_TEXT;

/* --- runs ------------------------------------------------------------------------------- */

/* A row of which nothing can be trusted: dead for good, what it held in its text. */
static culex_status aside_put(struct fsck *fsck, sqlite3_stmt *statement, int64_t seq,
                              culex_error *error)
{
    const char *letter = (const char *)sqlite3_column_text(statement, CULEX__SQLITE_COLUMN_state);
    culex_run_state state;
    fsck->counts.damaged++;
    if (!fsck->is_repairing)
        return CULEX_OK;
    if (letter == NULL || !culex__run_state_parse(letter[0], &state))
        state = CULEX_RUN_DEAD;
    return culex__sqlite_run_aside(fsck->store, fsck->queue, state, seq, error);
}

/* A done run has no payload any more; an active one was read before, and its result counts. */
static bool is_payload_wanted(const struct culex_sqlite_run *run)
{
    return run->state != CULEX_RUN_DONE && run->state != CULEX_RUN_ACTIVE;
}

static bool is_marked(sqlite3_stmt *statement)
{
    const char *text =
        (const char *)sqlite3_column_text(statement, CULEX__SQLITE_COLUMN_error_text);
    return text != NULL && strncmp(text, CULEX__DAMAGED_TEXT, strlen(CULEX__DAMAGED_TEXT)) == 0;
}

/* The way out that a claim takes too; a final run only gets the text. */
static culex_status damage_mark(struct fsck *fsck, struct culex_sqlite_run *run, culex_error *error)
{
    struct culex_sqlite_move move = {.event = CULEX_EVENT_EXPIRE, .text = damaged_text};
    fsck->counts.damaged++;
    if (!fsck->is_repairing)
        return CULEX_OK;
    if (culex__run_state_is_final(run->state))
        return culex__sqlite_run_save(fsck->store, run, damaged_text, error);
    run->is_delayed = false; /* so that it may leave as a waiting one, whenever it was due */
    return culex__sqlite_run_move(fsck->store, fsck->queue, run, &move, error);
}

/* True when the row's place was changed. Runs beyond the last place given out would not be found
 * before the clock gets there; a place given out twice would change the order. */
static bool place_check(struct fsck *fsck, struct culex_sqlite_run *run)
{
    struct culex_sqlite_queue *queue = fsck->queue;
    bool is_placed = run->state == CULEX_RUN_WAITING && !run->is_delayed;
    if (is_placed && run->at_ms > culex__sqlite_queue_horizon(fsck->store, queue)) {
        fsck->counts.wrong++;
        if (fsck->is_repairing)
            run->at_ms = culex__sqlite_queue_back(fsck->store, queue);
        return true;
    }
    if (is_placed && run->at_ms < 0 && run->at_ms < queue->front) {
        fsck->counts.wrong++;
        queue->front = run->at_ms;
        queue->is_changed = true;
    }
    if (run->state == CULEX_RUN_WAITING || !run->is_delayed)
        return false;
    fsck->counts.wrong++; /* only waiting runs wait for a time */
    run->is_delayed = false;
    return true;
}

static void number_note(struct fsck *fsck, const struct culex_sqlite_run *run)
{
    struct culex_run_id_parts parts;
    if (culex__run_id_read(run->id, &parts) && parts.salt == fsck->queue->salt &&
        parts.number > fsck->number)
        fsck->number = parts.number;
}

/* A number that a run has must not be given again. */
static void number_check(struct fsck *fsck)
{
    if ((int64_t)fsck->number <= fsck->queue->rear.number)
        return;
    fsck->counts.wrong += !fsck->is_number_told;
    fsck->is_number_told = true;
    fsck->queue->rear.number = (int64_t)fsck->number;
}

/* Sets *ret_is_intact; also when nobody wants the payload, or when its damage is known. */
static culex_status payload_look(struct fsck *fsck, sqlite3_stmt *statement,
                                 const struct culex_sqlite_run *run, bool *ret_is_intact,
                                 culex_error *error)
{
    struct culex_sqlite_payload payload;
    *ret_is_intact = true;
    if (!is_payload_wanted(run) || is_marked(statement))
        return CULEX_OK;
    culex_status status = culex__sqlite_payload_read(fsck->store, statement, run, &payload, error);
    if (status == CULEX_OK)
        *ret_is_intact = culex__sqlite_payload_is_intact(statement, run, &payload);
    culex__sqlite_payload_end(&payload);
    if (status == CULEX_OK && *ret_is_intact)
        number_note(fsck, run);
    return status;
}

static culex_status row_check(struct fsck *fsck, sqlite3_stmt *statement, int64_t seq,
                              culex_error *error)
{
    struct culex_sqlite_run run;
    bool is_intact;
    if (!culex__sqlite_run_read(statement, &run))
        return aside_put(fsck, statement, seq, error);
    culex_status status = payload_look(fsck, statement, &run, &is_intact, error);
    if (status != CULEX_OK)
        return status;
    if (!is_intact)
        return damage_mark(fsck, &run, error);
    bool is_placed = place_check(fsck, &run), is_astray = false;
    status = culex__sqlite_fsck_aside(fsck->store, fsck->queue, &run, &is_astray, error);
    fsck->counts.wrong += is_astray;
    if (status != CULEX_OK || !(is_placed || is_astray) || !fsck->is_repairing)
        return status;
    return culex__sqlite_run_save(fsck->store, &run, NULL, error);
}

static culex_status run_check(struct fsck *fsck, int64_t seq, culex_error *error)
{
    sqlite3_stmt *statement = SQL_BIND(fsck->store, RUN_WHOLE_BY_SEQ, SQL_INT(seq));
    int has = culex__sqlite_next(fsck->store, statement, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    if (has > 0) {
        fsck->counts.records++;
        status = row_check(fsck, statement, seq, error);
    }
    culex__sqlite_end(statement);
    return status;
}

/* Collects up to ROWS_MAX keys of `which`, whose first column they are, and moves the place. */
static culex_status rows_collect(struct fsck *fsck, sqlite3_stmt *statement, int64_t *ret_rows,
                                 size_t *ret_count, culex_error *error)
{
    culex_status status =
        culex__sqlite_collect(fsck->store, statement, ROWS_MAX, ret_rows, ret_count, error);
    if (status == CULEX_OK)
        fsck->place = *ret_count == ROWS_MAX
                          ? ret_rows[ROWS_MAX - 1] - culex__sqlite_queue_first(fsck->queue)
                          : 0;
    return status;
}

static struct culex_sqlite_value place_key(const struct fsck *fsck)
{
    return SQL_INT(culex__sqlite_queue_first(fsck->queue) + fsck->place);
}

static struct culex_sqlite_value last_key(const struct fsck *fsck)
{
    return SQL_INT(culex__sqlite_queue_last(fsck->queue));
}

static culex_status runs_share(struct fsck *fsck, culex_error *error)
{
    int64_t rows[ROWS_MAX];
    size_t count = 0;
    culex_status status = rows_collect(
        fsck, SQL_BIND(fsck->store, FSCK_RUNS, place_key(fsck), last_key(fsck), SQL_INT(ROWS_MAX)),
        rows, &count, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = run_check(fsck, rows[i], error);
    number_check(fsck);
    return status;
}

/* --- ordinary runs ---------------------------------------------------------------------- */

/* The way out of a damaged one is that of a run of its own. */
static culex_status body_mark(struct fsck *fsck, int64_t seq, culex_error *error)
{
    struct culex_sqlite *store = fsck->store;
    struct culex_sqlite_run run;
    if (!fsck->is_repairing) {
        fsck->counts.damaged++;
        return CULEX_OK;
    }
    culex_status status = culex__sqlite_body_adopt(store, fsck->queue, seq, error);
    if (status == CULEX_OK)
        status =
            culex__sqlite_run_one(store, SQL_BIND(store, RUN_BY_SEQ, SQL_INT(seq)), &run, error);
    return status == CULEX_OK ? damage_mark(fsck, &run, error) : status;
}

/* The payload of a waiting one is looked at. */
static culex_status body_look(struct fsck *fsck, int64_t seq, bool *ret_is_intact,
                              culex_error *error)
{
    struct culex_sqlite_run run;
    bool is_body;
    sqlite3_stmt *statement = SQL_BIND(fsck->store, BODY_WHOLE, SQL_INT(seq));
    int has = culex__sqlite_next(fsck->store, statement, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    *ret_is_intact = true;
    if (has > 0 && !culex__sqlite_body_read(fsck->queue, statement, &run, &is_body))
        *ret_is_intact = false;
    else if (has > 0)
        status = payload_look(fsck, statement, &run, ret_is_intact, error);
    culex__sqlite_end(statement);
    return status;
}

/* Only those of `bits` that have a body are left. */
static culex_status bodies_there(struct fsck *fsck, int64_t first, int64_t *bits,
                                 culex_error *error)
{
    int64_t seqs[CULEX__SQLITE_BLOCK_MAX], there = 0;
    size_t count = 0;
    culex_status status =
        culex__sqlite_collect(fsck->store,
                              SQL_BIND(fsck->store, FSCK_THERE, SQL_INT(first),
                                       SQL_INT(first + CULEX__SQLITE_BLOCK_MAX - 1)),
                              CULEX__SQLITE_BLOCK_MAX, seqs, &count, error);
    for (size_t i = 0; i < count; i++)
        there |= culex__sqlite_block_bit(first, seqs[i]);
    *bits &= there;
    return status;
}

/* Of rows with a key and bits, the last block first: the last key of a body that they tell of. */
static culex_status last_there(struct fsck *fsck, sqlite3_stmt *statement, int64_t *seq,
                               culex_error *error)
{
    int has;
    culex_status status = CULEX_OK;
    while (status == CULEX_OK && (has = culex__sqlite_next(fsck->store, statement, error)) != 0) {
        int64_t first = has > 0 ? sqlite3_column_int64(statement, 0) : 0;
        int64_t bits = has > 0 ? sqlite3_column_int64(statement, 1) : 0;
        if (has > 0 && first + CULEX__SQLITE_BLOCK_MAX <= *seq)
            break;
        bits = bits > 0 ? bits : 0;
        status = has > 0 ? bodies_there(fsck, first, &bits, error) : (culex_status)has;
        int64_t last = bits != 0 ? first + culex__sqlite_bits_high(bits) : 0;
        *seq = last > *seq ? last : *seq;
    }
    culex__sqlite_end(statement);
    return status;
}

/* As culex__sqlite_lane_taken, but for bits without a body, which are damage themselves. */
static culex_status lane_look(struct fsck *fsck, int64_t lane, culex_error *error)
{
    struct culex_sqlite *store = fsck->store;
    const struct culex_sqlite_value first = SQL_INT(culex__sqlite_queue_lane(fsck->queue, lane));
    const struct culex_sqlite_value last =
        SQL_INT(culex__sqlite_queue_lane(fsck->queue, lane + 1) - 1);
    if (fsck->lane == lane + 1)
        return CULEX_OK;
    fsck->lane = lane + 1;
    fsck->taken = 0;
    culex_status status =
        last_there(fsck, SQL_BIND(store, FSCK_HELD, first, last), &fsck->taken, error);
    if (status == CULEX_OK)
        status = last_there(fsck, SQL_BIND(store, ENDED_LAST, first, last), &fsck->taken, error);
    return status;
}

/* One that no block knows, among those that have been taken: no claim would find it. */
static culex_status body_stray(struct fsck *fsck, int64_t seq, culex_error *error)
{
    culex_status status =
        lane_look(fsck, seq >> CULEX__SQLITE_LANE_SHIFT & CULEX_RUN_LANE_MAX, error);
    bool is_stray = status == CULEX_OK && seq <= fsck->taken;
    fsck->counts.wrong += is_stray;
    fsck->counts.records += !is_stray || !fsck->is_repairing; /* else it is one of the runs now */
    return is_stray && fsck->is_repairing
               ? culex__sqlite_body_adopt(fsck->store, fsck->queue, seq, error)
               : status;
}

static culex_status waiting_check(struct fsck *fsck, int64_t seq, culex_error *error)
{
    bool is_intact;
    culex_status status = body_look(fsck, seq, &is_intact, error);
    if (status != CULEX_OK)
        return status;
    if (is_intact)
        return body_stray(fsck, seq, error);
    fsck->counts.records += !fsck->is_repairing; /* as above */
    return body_mark(fsck, seq, error);
}

/* A body whose run is there is one too many: the run has come further. */
static culex_status body_check(struct fsck *fsck, int64_t seq, culex_error *error)
{
    struct culex_sqlite *store = fsck->store;
    int64_t has_run;
    struct culex_sqlite_stand stand;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, FSCK_PAYLOAD_WANTED, SQL_INT(seq), SQL_INT(-1)), 0, &has_run, error);
    if (status == CULEX_OK && has_run) {
        fsck->counts.wrong++;
        return fsck->is_repairing
                   ? culex__sqlite_finish(store, SQL_BIND(store, BODY_DELETE, SQL_INT(seq)), error)
                   : CULEX_OK;
    }
    if (status == CULEX_OK)
        status = culex__sqlite_stand_find(store, seq, &stand, error);
    if (status == CULEX_OK && stand.state == CULEX_RUN_WAITING)
        return waiting_check(fsck, seq, error);
    fsck->counts.records += status == CULEX_OK;
    return status;
}

static culex_status bodies_share(struct fsck *fsck, culex_error *error)
{
    bool is_first = fsck->place == 0;
    int64_t rows[ROWS_MAX];
    size_t count = 0;
    culex_status status = rows_collect(
        fsck,
        SQL_BIND(fsck->store, FSCK_BODIES, place_key(fsck), last_key(fsck), SQL_INT(ROWS_MAX)),
        rows, &count, error);
    fsck->counts.wrong += is_first && fsck->queue->is_rear_lost;
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = body_check(fsck, rows[i], error);
    number_check(fsck);
    return status;
}

/* --- blocks ----------------------------------------------------------------------------- */

/* Until when what a block holds is kept: before all ends. */
static const int64_t HELD_MS = -INT64_MAX;

/* Takes those away that another row tells of too. Claims go forward, so what a later one has taken
 * was not in the block before, whatever has become of it; in one block, a run that is done must not
 * run again, and of two ends the longer one counts. */
static culex_status bits_above(struct fsck *fsck, int64_t first, int64_t until_ms, int64_t *bits,
                               culex_error *error)
{
    sqlite3_stmt *row = SQL_BIND(fsck->store, FSCK_ABOVE, SQL_INT(first), SQL_INT(until_ms));
    int has;
    while ((has = culex__sqlite_next(fsck->store, row, error)) > 0) {
        int64_t off = sqlite3_column_int64(row, 0) - first, above = sqlite3_column_int64(row, 1);
        uint64_t taken = (uint64_t)(above > 0 ? above : 0) << off;
        *bits &= (int64_t)~taken;
    }
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

/* Only those of `bits` are left that are bodies', and of no other row. */
static culex_status bits_own(struct fsck *fsck, int64_t first, int64_t until_ms, int64_t *bits,
                             culex_error *error)
{
    culex_status status = bodies_there(fsck, first, bits, error);
    return status == CULEX_OK ? bits_above(fsck, first, until_ms, bits, error) : status;
}

/* As bits_own, counted. A number that a body has must not be given again. */
static culex_status bits_check(struct fsck *fsck, int64_t first, int64_t until_ms, int64_t *bits,
                               culex_error *error)
{
    int64_t before = *bits;
    culex_status status = bits_own(fsck, first, until_ms, bits, error);
    fsck->counts.wrong += (uint64_t)culex__sqlite_bits_count(before & ~*bits);
    uint64_t last = *bits != 0 ? (uint64_t)(first + culex__sqlite_bits_high(*bits)) : 0;
    uint64_t number = last & CULEX_RUN_NUMBER_MAX;
    fsck->number = number > fsck->number ? number : fsck->number;
    return status;
}

static culex_status block_check(struct fsck *fsck, int64_t first, culex_error *error)
{
    struct culex_sqlite_block block;
    culex_status status = culex__sqlite_block_one(
        fsck->store, SQL_BIND(fsck->store, FSCK_BLOCK, SQL_INT(first)), &block, error);
    if (status != CULEX_OK)
        return status;
    int64_t held = block.held;
    status = bits_check(fsck, first, HELD_MS, &block.held, error);
    if (status != CULEX_OK || !fsck->is_repairing || block.held == held)
        return status;
    return culex__sqlite_block_save(fsck->store, &block, error);
}

/* All of one block. */
static culex_status ends_check(struct fsck *fsck, int64_t first, culex_error *error)
{
    struct culex_sqlite_end end = {.until_ms = INT64_MIN};
    culex_status status = CULEX_OK;
    while (status == CULEX_OK) {
        status = culex__sqlite_end_one(
            fsck->store, SQL_BIND(fsck->store, FSCK_END, SQL_INT(first), SQL_INT(end.until_ms)),
            &end, error);
        int64_t runs = end.runs;
        if (status == CULEX_OK)
            status = bits_check(fsck, first, end.until_ms, &end.runs, error);
        if (status == CULEX_OK && fsck->is_repairing && end.runs != runs)
            status = culex__sqlite_end_save(fsck->store, &end, error);
    }
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

static culex_status blocks_share(struct fsck *fsck, culex_error *error)
{
    int64_t rows[ROWS_MAX];
    size_t count = 0;
    culex_status status = rows_collect(
        fsck,
        SQL_BIND(fsck->store, FSCK_BLOCKS, place_key(fsck), last_key(fsck), SQL_INT(ROWS_MAX)),
        rows, &count, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = block_check(fsck, rows[i], error);
    number_check(fsck);
    return status;
}

static culex_status ended_share(struct fsck *fsck, culex_error *error)
{
    int64_t rows[ROWS_MAX];
    size_t count = 0;
    culex_status status = rows_collect(
        fsck, SQL_BIND(fsck->store, FSCK_ENDED, place_key(fsck), last_key(fsck), SQL_INT(ROWS_MAX)),
        rows, &count, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = ends_check(fsck, rows[i], error);
    number_check(fsck);
    return status;
}

/* --- payloads --------------------------------------------------------------------------- */

static culex_status payload_check(struct fsck *fsck, int64_t seq, culex_error *error)
{
    struct culex_sqlite *store = fsck->store;
    int64_t is_wanted = 0;
    culex_status status = culex__sqlite_first_int(
        store,
        SQL_BIND(store, FSCK_PAYLOAD_WANTED, SQL_INT(seq), SQL_INT(CULEX__SQLITE_INLINE_MAX)), 0,
        &is_wanted, error);
    if (status != CULEX_OK || is_wanted)
        return status;
    fsck->counts.wrong++;
    if (!fsck->is_repairing)
        return CULEX_OK;
    return culex__sqlite_finish(store, SQL_BIND(store, PAYLOAD_DELETE, SQL_INT(seq)), error);
}

/* A payload of nobody would stand in the way of a run that gets its key. */
static culex_status payloads_share(struct fsck *fsck, culex_error *error)
{
    int64_t rows[ROWS_MAX];
    size_t count = 0;
    culex_status status = rows_collect(
        fsck,
        SQL_BIND(fsck->store, FSCK_PAYLOADS, place_key(fsck), last_key(fsck), SQL_INT(ROWS_MAX)),
        rows, &count, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = payload_check(fsck, rows[i], error);
    return status;
}

/* --- totals ----------------------------------------------------------------------------- */

static culex_status states_count(struct fsck *fsck, int64_t ret_kept[CULEX_RUN_STATE_COUNT],
                                 culex_error *error)
{
    struct culex_sqlite *store = fsck->store;
    sqlite3_stmt *statement = SQL_BIND(store, FSCK_STATES, SQL_INT(fsck->queue->key));
    int has;
    memset(ret_kept, 0, CULEX_RUN_STATE_COUNT * sizeof ret_kept[0]);
    while ((has = culex__sqlite_next(store, statement, error)) > 0) {
        const char *letter = (const char *)sqlite3_column_text(statement, 0);
        culex_run_state state;
        if (letter != NULL && culex__run_state_parse(letter[0], &state))
            ret_kept[state] = sqlite3_column_int64(statement, 1);
    }
    culex__sqlite_end(statement);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

/* Of rows with a key, bits and the end of their time: how many bodies they tell of. */
static culex_status bits_count(struct fsck *fsck, sqlite3_stmt *statement, int64_t *ret_count,
                               culex_error *error)
{
    int has;
    culex_status status = CULEX_OK;
    *ret_count = 0;
    while (status == CULEX_OK && (has = culex__sqlite_next(fsck->store, statement, error)) != 0) {
        int64_t bits = has > 0 ? sqlite3_column_int64(statement, 1) : 0;
        bits = bits > 0 ? bits : 0;
        status = has > 0 ? bits_own(fsck, sqlite3_column_int64(statement, 0),
                                    sqlite3_column_int64(statement, 2), &bits, error)
                         : (culex_status)has;
        *ret_count += culex__sqlite_bits_count(bits);
    }
    culex__sqlite_end(statement);
    return status;
}

static culex_status bodies_count(struct fsck *fsck, int64_t kept[CULEX_RUN_STATE_COUNT],
                                 culex_error *error)
{
    const struct culex_sqlite_value first = place_key(fsck), last = last_key(fsck);
    int64_t count = 0, held = 0, done = 0;
    culex_status status = culex__sqlite_first_int(
        fsck->store, SQL_BIND(fsck->store, FSCK_BODY_COUNT, first, last), 0, &count, error);
    if (status == CULEX_OK)
        status = bits_count(fsck, SQL_BIND(fsck->store, FSCK_HELD_BITS, first, last), &held, error);
    if (status == CULEX_OK)
        status =
            bits_count(fsck, SQL_BIND(fsck->store, FSCK_ENDED_BITS, first, last), &done, error);
    kept[CULEX_RUN_WAITING] += count - held - done;
    kept[CULEX_RUN_ACTIVE] += held;
    kept[CULEX_RUN_DONE] += done;
    return status;
}

/* The one share that takes as long as the queue has runs: counts hold only at one moment. */
static culex_status totals_share(struct fsck *fsck, culex_error *error)
{
    int64_t kept[CULEX_RUN_STATE_COUNT];
    culex_status status = states_count(fsck, kept, error);
    if (status == CULEX_OK)
        status = bodies_count(fsck, kept, error);
    fsck->place = 0;
    for (int state = 0; state < CULEX_RUN_STATE_COUNT && status == CULEX_OK; state++) {
        if (fsck->queue->kept[state] == kept[state])
            continue;
        fsck->counts.wrong++;
        fsck->queue->kept[state] = kept[state];
        fsck->queue->is_changed = true;
    }
    return status;
}

/* As the totals: what is counted for limits holds only at one moment. */
static culex_status limits_share(struct fsck *fsck, culex_error *error)
{
    fsck->place = 0;
    return culex__sqlite_fsck_limits(fsck->store, fsck->queue, fsck->is_repairing,
                                     &fsck->counts.wrong, error);
}

/* --- unique keys ------------------------------------------------------------------------- */

/* What a store's clock may have been ahead when a window began, before it counts as damage. */
#define CLOCK_SLACK_MS INT64_C(86400000)

static culex_status marks_check(struct fsck *fsck, culex_error *error)
{
    struct culex_sqlite *store = fsck->store;
    int64_t count = 0;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, FSCK_MARKS, place_key(fsck), last_key(fsck)), 0, &count, error);
    fsck->counts.wrong += (uint64_t)count;
    if (status != CULEX_OK || count == 0 || !fsck->is_repairing)
        return status;
    return culex__sqlite_finish(
        store, SQL_BIND(store, FSCK_MARKS_CLEAR, place_key(fsck), last_key(fsck)), error);
}

/* No call asks for more: the key would be kept from everybody. */
static culex_status windows_check(struct fsck *fsck, culex_error *error)
{
    struct culex_sqlite *store = fsck->store;
    const struct culex_sqlite_value last =
        SQL_INT(culex__sqlite_later(store->now_ms, CULEX_STORE_UNIQUE_FOR_MAX_MS + CLOCK_SLACK_MS));
    int64_t count = 0;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, FSCK_WINDOWS, SQL_INT(fsck->queue->key), last), 0, &count, error);
    fsck->counts.wrong += (uint64_t)count;
    if (status != CULEX_OK || count == 0 || !fsck->is_repairing)
        return status;
    return culex__sqlite_finish(
        store, SQL_BIND(store, FSCK_WINDOWS_CUT, SQL_INT(fsck->queue->key), last), error);
}

/* As the totals: run and window are compared at one moment; so are runs and those who wait. */
static culex_status keys_share(struct fsck *fsck, culex_error *error)
{
    fsck->place = 0;
    culex_status status = marks_check(fsck, error);
    if (status == CULEX_OK)
        status = windows_check(fsck, error);
    if (status == CULEX_OK)
        status = culex__sqlite_waiters_check(fsck->store, fsck->queue, fsck->is_repairing,
                                             &fsck->counts.wrong, error);
    if (status == CULEX_OK)
        status = culex__sqlite_figures_check(fsck->store, fsck->queue, fsck->is_repairing,
                                             &fsck->counts.wrong, error);
    if (status == CULEX_OK)
        status = culex__sqlite_events_check(fsck->store, fsck->queue, fsck->is_repairing,
                                            &fsck->counts.wrong, error);
    if (status == CULEX_OK)
        status = culex__sqlite_logs_check(fsck->store, fsck->queue, fsck->is_repairing,
                                          &fsck->counts.wrong, error);
    return status == CULEX_OK
               ? culex__sqlite_fsck_batches(fsck->store, fsck->queue, fsck->is_repairing,
                                            &fsck->counts.wrong, error)
               : status;
}

static culex_status callbacks_share(struct fsck *fsck, culex_error *error)
{
    return culex__sqlite_fsck_callbacks(fsck->store, fsck->queue, fsck->is_repairing, &fsck->place,
                                        &fsck->counts, error);
}

/* --- one share -------------------------------------------------------------------------- */

/* ORDER FSCK_SHARE */
static culex_status (*const shares[SHARE_COUNT])(struct fsck *fsck, culex_error *error) = {
    bodies_share, blocks_share, ended_share, runs_share,     payloads_share,
    totals_share, limits_share, keys_share,  callbacks_share};

static culex_status share_run(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              void *user, culex_error *error)
{
    struct fsck *fsck = user;
    fsck->store = store;
    fsck->queue = queue;
    fsck->has_queue = queue->key != 0;
    assert(fsck->share < SHARE_COUNT);
    return fsck->has_queue ? shares[fsck->share](fsck, error) : CULEX_OK;
}

static culex_status share_transact(struct culex_sqlite *store, const char *queue, struct fsck *fsck,
                                   culex_error *error)
{
    return fsck->is_repairing ? culex__sqlite_verb_write(store, queue, CULEX__SQLITE_ABSENT_EMPTY,
                                                         share_run, fsck, error)
                              : culex__sqlite_verb_read(store, queue, CULEX__SQLITE_ABSENT_EMPTY,
                                                        share_run, fsck, error);
}

static struct fsck fsck_begin(uint64_t cursor)
{
    return (struct fsck){.share = (unsigned)(cursor >> SHARE_BIT),
                         .is_number_told = (cursor >> TOLD_BIT & 1) != 0,
                         .place = (int64_t)(cursor & ((UINT64_C(1) << PLACE_BITS) - 1))};
}

static uint64_t fsck_cursor(const struct fsck *fsck)
{
    uint64_t share = fsck->has_queue ? fsck->share + (fsck->place == 0) : SHARE_COUNT;
    return share == SHARE_COUNT ? 0
                                : share << SHARE_BIT | (uint64_t)fsck->is_number_told << TOLD_BIT |
                                      (uint64_t)fsck->place;
}

culex_status culex__sqlite_fsck(struct culex_store *base, const char *queue, uint64_t cursor,
                                bool is_repairing, struct culex_fsck_reply *ret_reply,
                                culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct fsck fsck = fsck_begin(cursor), again = fsck;
    if (fsck.share >= SHARE_COUNT)
        return culex__fail(error, CULEX_EINVAL, "this cursor is not one of FSCK");
    /* Counting for long must not keep writers out: under their lock only if it must be. */
    fsck.is_repairing = is_repairing && fsck.share < SHARE_TOTALS;
    culex_status status = share_transact(store, queue, &fsck, error);
    if (status == CULEX_OK && is_repairing && !fsck.is_repairing &&
        fsck.counts.wrong + fsck.counts.damaged > 0) {
        fsck = again;
        fsck.is_repairing = true;
        status = share_transact(store, queue, &fsck, error);
    }
    if (status != CULEX_OK)
        return status;
    *ret_reply = (struct culex_fsck_reply){.cursor = fsck_cursor(&fsck), .counts = fsck.counts};
    return CULEX_OK;
}
