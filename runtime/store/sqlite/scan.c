#include "store/sqlite/scan.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "store/sqlite/admission.h"
#include "store/sqlite/body.h"
#include "store/sqlite/error.h"
#include "store/sqlite/grant.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

/* --- ordinary runs ---------------------------------------------------------------------------- */

/* Of the least timeout of two, of which 0 is none. */
static int64_t timeout_least(int64_t one, int64_t other)
{
    if (one <= 0 || other <= 0)
        return one <= 0 ? other : one;
    return one < other ? one : other;
}

/* The last block, or a new one behind it that begins at `seq`. */
static struct culex_sqlite_block *block_for(struct culex_sqlite_scan *scan, int64_t seq)
{
    struct culex_sqlite_block *end = &scan->blocks[scan->block_count];
    assert(scan->blocks != NULL);
    if (scan->block_count > 0 && culex__sqlite_block_bit(end[-1].first, seq) != 0)
        return end - 1;
    scan->block_count++;
    *end = (struct culex_sqlite_block){
        .first = seq,
        .since_ms = scan->store->now_ms,
        .lease_ms = culex__sqlite_later(scan->store->now_ms, scan->step->lease_ms)};
    assert(strlen(scan->step->session) < sizeof end->session);
    snprintf(end->session, sizeof end->session, "%s", scan->step->session);
    return end;
}

static void block_take(struct culex_sqlite_scan *scan, const struct culex_sqlite_granted *body,
                       bool is_started)
{
    struct culex_sqlite_block *block = block_for(scan, body->seq);
    int64_t bit = culex__sqlite_block_bit(block->first, body->seq);
    block->held |= bit;
    block->started |= is_started ? bit : 0;
    block->timeout_ms = timeout_least(block->timeout_ms, scan->kind.timeout_ms);
}

/* --- a row ------------------------------------------------------------------------------------ */

static bool is_suspect(const struct culex_sqlite_run *run)
{
    return culex__run_is_suspect(&run->counters);
}

static bool is_expired(const struct culex_sqlite *store, const struct culex_sqlite_run *run)
{
    return run->expires_at_ms != 0 && run->expires_at_ms <= store->now_ms;
}

/* It keeps its place, and is met again in each round. */
static bool is_passed(const struct culex_sqlite_scan *scan, const struct culex_sqlite_run *run)
{
    return is_suspect(run) && scan->step->in_company;
}

/* A suspect is granted alone, and like everything whose holder has vanished only to a free handler.
 */
static bool must_wait(const struct culex_sqlite_scan *scan, const struct culex_sqlite_run *run)
{
    bool wants_start = is_suspect(run) || run->is_started;
    return (is_suspect(run) && scan->granted > 0) ||
           (wants_start && scan->granted >= culex__step_starts(scan->step));
}

static bool is_too_much(struct culex_sqlite_scan *scan, int64_t payload_len)
{
    if (scan->granted == 0)
        return false;
    scan->bytes += (uint64_t)payload_len;
    return scan->bytes > scan->step->max_bytes;
}

static culex_status scan_body(struct culex_sqlite_scan *scan, sqlite3_stmt *row, culex_error *error)
{
    struct culex_sqlite_granted body;
    struct culex_sqlite_pick *pick = &scan->picks[scan->pick_count];
    culex_status status =
        culex__sqlite_granted_read(scan->store, scan->queue, row, &scan->kind, &body, error);
    if (status != CULEX_OK)
        return status;
    if (body.is_intact && is_too_much(scan, (int64_t)body.len)) {
        scan->is_over = true;
        return CULEX_OK;
    }
    scan->pick_count++;
    pick->is_body = true;
    pick->run.seq = body.seq;
    pick->verdict = body.is_intact ? CULEX__VERDICT_GRANT : CULEX__VERDICT_DAMAGED;
    if (!body.is_intact)
        return CULEX_OK;
    status = culex__sqlite_grant_body(&scan->reply->grants[scan->reply->grant_count], &scan->kind,
                                      &body, error);
    if (status != CULEX_OK)
        return status;
    scan->reply->grant_count++;
    block_take(scan, &body, scan->granted++ < culex__step_starts(scan->step));
    return CULEX_OK;
}

/* The keys of the limits of the row's run: none for most. */
static culex_status keys_read(struct culex_sqlite_scan *scan, sqlite3_stmt *statement,
                              const struct culex_sqlite_run *run,
                              struct culex_sqlite_keys *ret_keys, culex_error *error)
{
    ret_keys->count = 0;
    if (!run->is_limited)
        return CULEX_OK;
    const char *text = (const char *)sqlite3_column_text(statement, CULEX__SQLITE_COLUMN_limits);
    return culex__sqlite_keys_read(scan->store, scan->queue, text, ret_keys, error);
}

static culex_status scan_grant(struct culex_sqlite_scan *scan, sqlite3_stmt *statement,
                               struct culex_sqlite_pick *pick, const struct culex_sqlite_keys *keys,
                               culex_error *error)
{
    struct culex_sqlite_payload payload;
    culex_status status =
        culex__sqlite_payload_read(scan->store, statement, &pick->run, &payload, error);
    if (status == CULEX_OK && !culex__sqlite_payload_is_intact(statement, &pick->run, &payload))
        pick->verdict = CULEX__VERDICT_DAMAGED;
    else if (status == CULEX_OK)
        status = culex__sqlite_grant_run(&scan->reply->grants[scan->reply->grant_count], statement,
                                         &pick->run, pick->run.attempt + 1, payload.bytes, error);
    culex__sqlite_payload_end(&payload);
    if (status == CULEX_OK && pick->verdict == CULEX__VERDICT_GRANT) {
        scan->reply->grant_count++;
        culex__sqlite_keys_claim(scan->store, keys);
        pick->starts = scan->granted++ < culex__step_starts(scan->step);
        scan->is_over = is_suspect(&pick->run);
    }
    return status;
}

static bool has_yielded(const struct culex_sqlite_scan *scan, int64_t seq)
{
    size_t at = 0;
    while (at < scan->yielded_count && scan->yielded[at] != seq)
        at++;
    return at < scan->yielded_count;
}

/* Once in a claim. Who was called and found no place at another of its keys has left this one's to
 * the suspect again; called each time the suspect is met, it would go to and fro between the two
 * until the budget is used up, and nobody would be granted. */
static void yield_note(struct culex_sqlite_scan *scan, int64_t seq)
{
    assert(scan->yielded_count < CULEX_PARK_MAX); /* each time a run is parked */
    scan->yielded[scan->yielded_count++] = seq;
}

/* The first of its keys that keeps the run back, NULL for none: it has no room, or somebody is
 * parked behind it who goes first. */
static culex_status keys_stop(struct culex_sqlite_scan *scan, const struct culex_sqlite_keys *keys,
                              const struct culex_sqlite_run *run,
                              struct culex_sqlite_counter **ret_stop, culex_error *error)
{
    bool stays = is_passed(scan, run);
    *ret_stop = NULL;
    if (!culex__sqlite_keys_have_room(scan->store, keys, ret_stop) ||
        (stays && has_yielded(scan, run->seq)))
        return CULEX_OK;
    culex_status status =
        culex__sqlite_keys_yield(scan->store, scan->queue, keys, run, ret_stop, error);
    scan->is_called = *ret_stop != NULL;
    if (scan->is_called && stays)
        yield_note(scan, run->seq);
    return status;
}

static culex_status pick_park(struct culex_sqlite_scan *scan, struct culex_sqlite_pick *pick,
                              const struct culex_sqlite_keys *keys,
                              struct culex_sqlite_counter *stop, culex_error *error)
{
    pick->verdict = CULEX__VERDICT_PARKED;
    culex__sqlite_keys_park(keys, stop);
    scan->parked++;
    return culex__sqlite_ledger_number(scan->store, scan->queue, stop, &pick->behind, error);
}

/* It stood in the ready order, where nobody asks what it needs. */
static culex_status pick_mend(struct culex_sqlite_scan *scan, struct culex_sqlite_pick *pick,
                              const struct culex_sqlite_keys *keys,
                              struct culex_sqlite_counter *needs, culex_error *error)
{
    pick->verdict = CULEX__VERDICT_PARKED;
    culex__sqlite_keys_mend(keys);
    scan->parked++;
    return culex__sqlite_ledger_number(scan->store, scan->queue, needs, &pick->behind, error);
}

culex_status culex__sqlite_scan_row(struct culex_sqlite_scan *scan, sqlite3_stmt *statement,
                                    culex_error *error)
{
    struct culex_sqlite_pick *pick = &scan->picks[scan->pick_count];
    struct culex_sqlite_keys keys = {.count = 0};
    struct culex_sqlite_counter *stop = NULL;
    memset(pick, 0, sizeof *pick);
    bool is_good = culex__sqlite_run_read(statement, &pick->run);
    culex_status status = is_good ? keys_read(scan, statement, &pick->run, &keys, error) : CULEX_OK;
    if (status == CULEX_OK && keys.count > 0)
        status = keys_stop(scan, &keys, &pick->run, &stop, error);
    if (status != CULEX_OK)
        return status;
    struct culex_sqlite_counter *needs = culex__sqlite_keys_needs(&keys);
    if (!is_good) {
        pick->verdict = CULEX__VERDICT_UNREADABLE; /* one bad row must not stop the queue */
    } else if (needs != NULL && !scan->is_of_needs) {
        status = pick_mend(scan, pick, &keys, needs, error);
    } else if (stop != NULL) {
        status = pick_park(scan, pick, &keys, stop, error);
    } else if (is_expired(scan->store, &pick->run)) {
        pick->verdict = CULEX__VERDICT_EXPIRED;
    } else if (pick->run.payload_len > CULEX_PAYLOAD_BYTES_MAX) {
        pick->verdict = CULEX__VERDICT_TOO_LONG;
    } else if (is_passed(scan, &pick->run)) {
        scan->passed++;
        scan->reply->has_passed = true;
        return CULEX_OK;
    } else if (must_wait(scan, &pick->run)) {
        scan->is_over = scan->reply->is_held = true;
        return CULEX_OK;
    } else if (is_too_much(scan, pick->run.payload_len)) {
        scan->is_over = true;
        return CULEX_OK;
    } else {
        status = scan_grant(scan, statement, pick, &keys, error);
    }
    scan->pick_count += status == CULEX_OK;
    return status;
}

bool culex__sqlite_scan_wants(const struct culex_sqlite_scan *scan)
{
    return !scan->is_over && !scan->is_called && scan->granted < scan->step->want &&
           scan->pick_count + scan->passed < scan->pick_max && scan->parked < CULEX_PARK_MAX;
}

/* Runs of a priority in the order of claims, of one table. */
struct stream {
    sqlite3_stmt *statement; /* NULL: has none */
    int has;                 /* stands on a row */
    int64_t place, seq;      /* of that one */
};

static void stream_next(struct culex_sqlite_scan *scan, struct stream *stream, int place, int seq,
                        culex_error *error)
{
    if (stream->statement != NULL)
        stream->has = culex__sqlite_next(scan->store, stream->statement, error);
    if (stream->has <= 0)
        return;
    stream->place = sqlite3_column_int64(stream->statement, place);
    stream->seq = sqlite3_column_int64(stream->statement, seq);
}

static void own_next(struct culex_sqlite_scan *scan, struct stream *own, culex_error *error)
{
    stream_next(scan, own, CULEX__SQLITE_COLUMN_at_ms, CULEX__SQLITE_COLUMN_seq, error);
}

static void bodies_next(struct culex_sqlite_scan *scan, struct stream *bodies, culex_error *error)
{
    stream_next(scan, bodies, CULEX__SQLITE_GRANTED_BORN, CULEX__SQLITE_GRANTED_SEQ, error);
}

static bool is_own_first(const struct stream *own, const struct stream *bodies)
{
    if (own->has <= 0 || bodies->has <= 0)
        return own->has > 0;
    return own->place != bodies->place ? own->place < bodies->place : own->seq < bodies->seq;
}

static culex_status streams_merge(struct culex_sqlite_scan *scan, struct stream *own,
                                  struct stream *bodies, culex_error *error)
{
    culex_status status = CULEX_OK;
    own_next(scan, own, error);
    bodies_next(scan, bodies, error);
    while (status == CULEX_OK && culex__sqlite_scan_wants(scan) &&
           (own->has > 0 || bodies->has > 0)) {
        bool is_own = is_own_first(own, bodies);
        status = is_own ? culex__sqlite_scan_row(scan, own->statement, error)
                        : scan_body(scan, bodies->statement, error);
        if (status != CULEX_OK || !culex__sqlite_scan_wants(scan))
            break;
        if (is_own)
            own_next(scan, own, error);
        else
            bodies_next(scan, bodies, error);
    }
    if (own->has < 0 || bodies->has < 0)
        return (culex_status)(own->has < 0 ? own->has : bodies->has);
    return status;
}

/* The next priority that has runs. */
struct level {
    int64_t own;    /* the highest below the one before that has runs of their own, -1 for none */
    int64_t bodies; /* that has ordinary ones */
    int64_t first;  /* the first key of those */
};

static culex_status level_scan(struct culex_sqlite_scan *scan, const struct level *level,
                               culex_error *error)
{
    struct culex_sqlite *store = scan->store;
    const struct culex_sqlite_queue *queue = scan->queue;
    struct stream own = {.statement = NULL}, bodies = {.statement = NULL};
    if (level->own >= level->bodies)
        own.statement = SQL_BIND(store, READY, SQL_INT(queue->key), SQL_INT(level->own),
                                 SQL_INT(culex__sqlite_queue_horizon(store, queue)),
                                 SQL_INT(store->now_ms), SQL_INT((int64_t)scan->pick_max));
    if (level->bodies >= level->own)
        bodies.statement =
            SQL_BIND(store, BODIES_CLAIM, SQL_INT(level->first),
                     SQL_INT(culex__sqlite_queue_lane(queue, level->bodies + 1) - 1));
    culex_status status = streams_merge(scan, &own, &bodies, error);
    culex__sqlite_end(own.statement);
    culex__sqlite_end(bodies.statement);
    return status;
}

static culex_status level_next(struct culex_sqlite_scan *scan, int64_t priority,
                               struct level *ret_level, culex_error *error)
{
    struct culex_sqlite *store = scan->store;
    ret_level->bodies = priority;
    culex_status status =
        culex__sqlite_bodies_find(store, scan->queue, &ret_level->bodies, &ret_level->first, error);
    if (status != CULEX_OK)
        return status;
    return culex__sqlite_first_int(
        store, SQL_BIND(store, READY_PRIORITY, SQL_INT(scan->queue->key), SQL_INT(priority)), -1,
        &ret_level->own, error);
}

/* From the highest priority that has runs downwards: at most ten rounds. */
culex_status culex__sqlite_scan_all(struct culex_sqlite_scan *scan, culex_error *error)
{
    struct level level;
    int64_t priority = 10;
    culex_status status = CULEX_OK;
    while (status == CULEX_OK && culex__sqlite_scan_wants(scan)) {
        status = level_next(scan, priority, &level, error);
        priority = level.own > level.bodies ? level.own : level.bodies;
        if (status != CULEX_OK || priority < 0)
            break;
        status = level_scan(scan, &level, error);
    }
    return status;
}
