#include "store/sqlite/claim.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/end_text.h"
#include "core/needs.h"
#include "store/sqlite/body.h"
#include "store/sqlite/error.h"
#include "store/sqlite/kind.h"
#include "store/sqlite/admission.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/run.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/unique.h"
#include "base/error.h"

/* Runs looked at beside the wanted ones (expired, damaged) before the step gives up for now. */
enum { REFUSED_MAX = CULEX_FORGET_MAX };

enum verdict {
    VERDICT_GRANT,
    VERDICT_EXPIRED,
    VERDICT_TOO_LONG,
    VERDICT_DAMAGED,
    VERDICT_PARKED,
    VERDICT_UNREADABLE
};

/* A row that the scan picked; it is changed when the scan is over, since a row must not be
 * updated under the cursor that walks its index. */
struct pick {
    struct culex_sqlite_run run;
    enum verdict verdict;
    bool starts;    /* at once */
    bool is_body;   /* of which nothing but run.seq is known */
    int64_t behind; /* number of the key behind which it is parked */
};

struct scan {
    struct culex_sqlite *store;
    struct culex_sqlite_queue *queue;
    const struct culex_step *step;
    struct culex_step_reply *reply;
    struct pick *picks;
    size_t pick_count, pick_max;
    struct culex_sqlite_kind kind;     /* of the ordinary run that was read last */
    struct culex_sqlite_block *blocks; /* of the ordinary runs that are granted */
    size_t block_count;
    size_t granted;
    size_t parked;             /* runs of which a limit has no room */
    size_t passed;             /* suspects left where they are: the worker has other runs at work */
    uint64_t bytes;            /* of payload, beyond the first run */
    struct culex_needs offers; /* what the worker has free by now */
    bool is_of_needs;          /* what needs something is looked at */
    bool is_needs_cut;         /* there may be more that fits */
    bool is_called; /* somebody goes before the run that was met last, and comes in first */
    bool is_over;   /* a suspect, a run in doubt, the byte budget or the bound ended it */
};

/* --- a grant ---------------------------------------------------------------------------------- */

/* Attempt `attempt` of the run. One block per grant: the payload, the job's name, and of its
 * limits, NULL for none, what it needs. */
static culex_status grant_copy(struct culex_grant *grant, const char *job, const char *limits,
                               const void *payload, size_t len, culex_error *error)
{
    size_t job_size = job != NULL ? strlen(job) + 1 : 0, needs_len = 0;
    const char *needs =
        limits != NULL ? culex__needs_among(limits, strlen(limits), &needs_len) : NULL;
    char *block = job != NULL ? malloc(len + job_size + needs_len + 1) : NULL;
    if (block == NULL)
        return culex__sqlite_no_memory(error);
    if (len > 0)
        memcpy(block, payload, len);
    if (needs != NULL) {
        memcpy(block + len + job_size, needs, needs_len);
        block[len + job_size + needs_len] = '\0';
        grant->needs = block + len + job_size;
    }
    grant->job = memcpy(block + len, job, job_size);
    grant->payload = block;
    grant->payload_len = len;
    return CULEX_OK;
}

static culex_status grant_fill(struct culex_grant *grant, sqlite3_stmt *statement,
                               const struct culex_sqlite_run *run, uint32_t attempt,
                               const void *payload, culex_error *error)
{
    const char *job = (const char *)sqlite3_column_text(statement, CULEX__SQLITE_COLUMN_job);
    int64_t created_at_ms = sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_created_at_ms);
    int64_t fingerprint = sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_fingerprint);
    *grant = (struct culex_grant){.facts = {.id = run->id,
                                            .attempt = attempt,
                                            .counters = run->counters,
                                            .created_at_ms = created_at_ms,
                                            .timeout_ms = run->timeout_ms,
                                            .expires_at_ms = run->expires_at_ms,
                                            .fingerprint = (uint64_t)fingerprint}};
    const char *limits = (const char *)sqlite3_column_text(statement, CULEX__SQLITE_COLUMN_limits);
    return grant_copy(grant, job, limits, payload, (size_t)run->payload_len, error);
}

/* --- ordinary runs ---------------------------------------------------------------------------- */

/* ORDER BODY_FACT */
enum { BODY_SEQ, BODY_BORN, BODY_KIND, BODY_CHECKSUM, BODY_PAYLOAD };

/* What a grant takes of a body. */
struct body {
    int64_t seq, born_ms;
    culex_uuid id;
    const void *payload;
    size_t len;
    bool is_intact; /* else it is damaged: its way out is that of a run of its own */
};

static bool body_is_intact(const struct culex_sqlite_queue *queue,
                           const struct culex_sqlite_kind *kind, sqlite3_stmt *row,
                           struct body *body)
{
    uint64_t expected = (uint64_t)sqlite3_column_int64(row, BODY_CHECKSUM);
    return kind->is_there && sqlite3_column_type(row, BODY_PAYLOAD) == SQLITE_BLOB &&
           culex__sqlite_queue_id_of(queue, body->seq, body->born_ms, &body->id) &&
           culex__sqlite_checksum(body->id, kind->job, body->payload, body->len) == expected;
}

static culex_status body_read(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              sqlite3_stmt *row, struct culex_sqlite_kind *kind,
                              struct body *ret_body, culex_error *error)
{
    culex_status status =
        culex__sqlite_kind_load(store, sqlite3_column_int64(row, BODY_KIND), kind, error);
    if (status != CULEX_OK)
        return status;
    ret_body->seq = sqlite3_column_int64(row, BODY_SEQ);
    ret_body->born_ms = sqlite3_column_int64(row, BODY_BORN);
    ret_body->payload = sqlite3_column_blob(row, BODY_PAYLOAD);
    ret_body->len = (size_t)sqlite3_column_bytes(row, BODY_PAYLOAD);
    ret_body->is_intact = body_is_intact(queue, kind, row, ret_body);
    return CULEX_OK;
}

static culex_status body_grant(struct culex_grant *grant, const struct culex_sqlite_kind *kind,
                               const struct body *body, culex_error *error)
{
    *grant = (struct culex_grant){.facts = {.id = body->id,
                                            .attempt = 1,
                                            .counters = {.attempts_max = kind->attempts_max},
                                            .created_at_ms = body->born_ms,
                                            .timeout_ms = kind->timeout_ms,
                                            .fingerprint = kind->fingerprint}};
    return grant_copy(grant, kind->job, NULL, body->payload, body->len, error);
}

/* Of the least timeout of two, of which 0 is none. */
static int64_t timeout_least(int64_t one, int64_t other)
{
    if (one <= 0 || other <= 0)
        return one <= 0 ? other : one;
    return one < other ? one : other;
}

/* The last block, or a new one behind it that begins at `seq`. */
static struct culex_sqlite_block *block_for(struct scan *scan, int64_t seq)
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

static void block_take(struct scan *scan, const struct body *body, bool is_started)
{
    struct culex_sqlite_block *block = block_for(scan, body->seq);
    int64_t bit = culex__sqlite_block_bit(block->first, body->seq);
    block->held |= bit;
    block->started |= is_started ? bit : 0;
    block->timeout_ms = timeout_least(block->timeout_ms, scan->kind.timeout_ms);
}

/* --- the scan --------------------------------------------------------------------------------- */

static bool is_suspect(const struct culex_sqlite_run *run)
{
    return culex__run_is_suspect(&run->counters);
}

static bool is_expired(const struct culex_sqlite *store, const struct culex_sqlite_run *run)
{
    return run->expires_at_ms != 0 && run->expires_at_ms <= store->now_ms;
}

/* A suspect is granted alone, and like everything whose holder has vanished only to a free handler.
 */
static bool must_wait(const struct scan *scan, const struct culex_sqlite_run *run)
{
    bool wants_start = is_suspect(run) || run->is_started;
    return (is_suspect(run) && scan->granted > 0) ||
           (wants_start && scan->granted >= culex__step_starts(scan->step));
}

static bool is_too_much(struct scan *scan, int64_t payload_len)
{
    if (scan->granted == 0)
        return false;
    scan->bytes += (uint64_t)payload_len;
    return scan->bytes > scan->step->max_bytes;
}

static culex_status scan_body(struct scan *scan, sqlite3_stmt *row, culex_error *error)
{
    struct body body;
    struct pick *pick = &scan->picks[scan->pick_count];
    culex_status status = body_read(scan->store, scan->queue, row, &scan->kind, &body, error);
    if (status != CULEX_OK)
        return status;
    if (body.is_intact && is_too_much(scan, (int64_t)body.len)) {
        scan->is_over = true;
        return CULEX_OK;
    }
    scan->pick_count++;
    pick->is_body = true;
    pick->run.seq = body.seq;
    pick->verdict = body.is_intact ? VERDICT_GRANT : VERDICT_DAMAGED;
    if (!body.is_intact)
        return CULEX_OK;
    status = body_grant(&scan->reply->grants[scan->reply->grant_count], &scan->kind, &body, error);
    if (status != CULEX_OK)
        return status;
    scan->reply->grant_count++;
    block_take(scan, &body, scan->granted++ < culex__step_starts(scan->step));
    return CULEX_OK;
}

/* The keys of the limits of the row's run: none for most. */
static culex_status keys_read(struct scan *scan, sqlite3_stmt *statement,
                              const struct culex_sqlite_run *run,
                              struct culex_sqlite_keys *ret_keys, culex_error *error)
{
    ret_keys->count = 0;
    if (!run->is_limited)
        return CULEX_OK;
    const char *text = (const char *)sqlite3_column_text(statement, CULEX__SQLITE_COLUMN_limits);
    return culex__sqlite_keys_read(scan->store, scan->queue, text, ret_keys, error);
}

static culex_status scan_grant(struct scan *scan, sqlite3_stmt *statement, struct pick *pick,
                               const struct culex_sqlite_keys *keys, culex_error *error)
{
    struct culex_sqlite_payload payload;
    culex_status status =
        culex__sqlite_payload_read(scan->store, statement, &pick->run, &payload, error);
    if (status == CULEX_OK && !culex__sqlite_payload_is_intact(statement, &pick->run, &payload))
        pick->verdict = VERDICT_DAMAGED;
    else if (status == CULEX_OK)
        status = grant_fill(&scan->reply->grants[scan->reply->grant_count], statement, &pick->run,
                            pick->run.attempt + 1, payload.bytes, error);
    culex__sqlite_payload_end(&payload);
    if (status == CULEX_OK && pick->verdict == VERDICT_GRANT) {
        scan->reply->grant_count++;
        culex__sqlite_keys_claim(scan->store, keys);
        pick->starts = scan->granted++ < culex__step_starts(scan->step);
        scan->is_over = is_suspect(&pick->run);
    }
    return status;
}

/* The first of its keys that keeps the run back, NULL for none: it has no room, or somebody is
 * parked behind it who goes first. */
static culex_status keys_stop(struct scan *scan, const struct culex_sqlite_keys *keys,
                              const struct culex_sqlite_run *run,
                              struct culex_sqlite_counter **ret_stop, culex_error *error)
{
    *ret_stop = NULL;
    if (!culex__sqlite_keys_have_room(scan->store, keys, ret_stop))
        return CULEX_OK;
    culex_status status =
        culex__sqlite_keys_yield(scan->store, scan->queue, keys, run, ret_stop, error);
    scan->is_called = *ret_stop != NULL;
    return status;
}

static culex_status pick_park(struct scan *scan, struct pick *pick,
                              const struct culex_sqlite_keys *keys,
                              struct culex_sqlite_counter *stop, culex_error *error)
{
    pick->verdict = VERDICT_PARKED;
    culex__sqlite_keys_park(keys, stop);
    scan->parked++;
    return culex__sqlite_ledger_number(scan->store, scan->queue, stop, &pick->behind, error);
}

/* It stood in the ready order, where nobody asks what it needs. */
static culex_status pick_mend(struct scan *scan, struct pick *pick,
                              const struct culex_sqlite_keys *keys,
                              struct culex_sqlite_counter *needs, culex_error *error)
{
    pick->verdict = VERDICT_PARKED;
    culex__sqlite_keys_mend(keys);
    scan->parked++;
    return culex__sqlite_ledger_number(scan->store, scan->queue, needs, &pick->behind, error);
}

static culex_status scan_row(struct scan *scan, sqlite3_stmt *statement, culex_error *error)
{
    struct pick *pick = &scan->picks[scan->pick_count];
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
        pick->verdict = VERDICT_UNREADABLE; /* one bad row must not stop the queue */
    } else if (needs != NULL && !scan->is_of_needs) {
        status = pick_mend(scan, pick, &keys, needs, error);
    } else if (stop != NULL) {
        status = pick_park(scan, pick, &keys, stop, error);
    } else if (is_expired(scan->store, &pick->run)) {
        pick->verdict = VERDICT_EXPIRED;
    } else if (pick->run.payload_len > CULEX_PAYLOAD_BYTES_MAX) {
        pick->verdict = VERDICT_TOO_LONG;
    } else if (is_suspect(&pick->run) && scan->step->in_company) {
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

static bool scan_wants(const struct scan *scan)
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

static void stream_next(struct scan *scan, struct stream *stream, int place, int seq,
                        culex_error *error)
{
    if (stream->statement != NULL)
        stream->has = culex__sqlite_next(scan->store, stream->statement, error);
    if (stream->has <= 0)
        return;
    stream->place = sqlite3_column_int64(stream->statement, place);
    stream->seq = sqlite3_column_int64(stream->statement, seq);
}

static void own_next(struct scan *scan, struct stream *own, culex_error *error)
{
    stream_next(scan, own, CULEX__SQLITE_COLUMN_at_ms, CULEX__SQLITE_COLUMN_seq, error);
}

static void bodies_next(struct scan *scan, struct stream *bodies, culex_error *error)
{
    stream_next(scan, bodies, BODY_BORN, BODY_SEQ, error);
}

static bool is_own_first(const struct stream *own, const struct stream *bodies)
{
    if (own->has <= 0 || bodies->has <= 0)
        return own->has > 0;
    return own->place != bodies->place ? own->place < bodies->place : own->seq < bodies->seq;
}

static culex_status streams_merge(struct scan *scan, struct stream *own, struct stream *bodies,
                                  culex_error *error)
{
    culex_status status = CULEX_OK;
    own_next(scan, own, error);
    bodies_next(scan, bodies, error);
    while (status == CULEX_OK && scan_wants(scan) && (own->has > 0 || bodies->has > 0)) {
        bool is_own = is_own_first(own, bodies);
        status = is_own ? scan_row(scan, own->statement, error)
                        : scan_body(scan, bodies->statement, error);
        if (status != CULEX_OK || !scan_wants(scan))
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

static culex_status level_scan(struct scan *scan, const struct level *level, culex_error *error)
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

static culex_status level_next(struct scan *scan, int64_t priority, struct level *ret_level,
                               culex_error *error)
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
static culex_status scan_all(struct scan *scan, culex_error *error)
{
    struct level level;
    int64_t priority = 10;
    culex_status status = CULEX_OK;
    while (status == CULEX_OK && scan_wants(scan)) {
        status = level_next(scan, priority, &level, error);
        priority = level.own > level.bodies ? level.own : level.bodies;
        if (status != CULEX_OK || priority < 0)
            break;
        status = level_scan(scan, &level, error);
    }
    return status;
}

/* --- what needs something --------------------------------------------------------------------- */

enum { NEEDS_MORE = 16 /* runs looked at beside those that fit */ };

/* What some runs need, and the key behind which they are parked. */
struct needs {
    struct culex_needs units;
    int64_t key;
};

struct candidate {
    const struct needs *needs;
    int64_t seq, priority, at_ms;
};

/* As long as it is used, `needs` does not move: the candidates point into it. */
struct choice {
    struct needs *needs;
    size_t needs_count;
    struct candidate *candidates;
    size_t count, room;
};

/* How many runs with these needs fit, up to `most`. */
static size_t fitting_count(const struct culex_needs *needs, struct culex_needs offers, size_t most)
{
    size_t count = 0;
    while (count < most && culex__needs_fit(needs, &offers)) {
        culex__needs_take(needs, &offers);
        count++;
    }
    return count;
}

/* All needs that begin with the name, as far as a STEP looks. */
static culex_status choice_list(struct scan *scan, const char *name, struct choice *choice,
                                culex_error *error)
{
    char from[CULEX_LIMIT_NAME_MAX + 1], before[CULEX_LIMIT_NAME_MAX + 1];
    int has;
    snprintf(from, sizeof from, CULEX__NEEDS_WORD "%s:", name);
    snprintf(before, sizeof before, CULEX__NEEDS_WORD "%s;", name); /* the next character */
    sqlite3_stmt *row = SQL_BIND(scan->store, NEEDS_PARKED, SQL_INT(scan->queue->key),
                                 SQL_TEXT(from), SQL_TEXT(before), SQL_INT(CULEX_NEEDS_LOOK_MAX));
    while ((has = culex__sqlite_next(scan->store, row, error)) > 0) {
        struct needs *needs = &choice->needs[choice->needs_count];
        const char *limit = (const char *)sqlite3_column_text(row, 1);
        const char *text = limit != NULL ? culex__needs_of_limit(limit) : NULL;
        needs->key = sqlite3_column_int64(row, 0);
        choice->needs_count += text != NULL && culex__needs_read(text, &needs->units) &&
                               culex__needs_are_offered(&needs->units, &scan->offers);
    }
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

static bool choice_add(struct choice *choice, struct candidate candidate)
{
    if (choice->count == choice->room) {
        size_t room = choice->room == 0 ? 64 : 2 * choice->room;
        struct candidate *wider = realloc(choice->candidates, room * sizeof *wider);
        if (wider == NULL)
            return false;
        choice->candidates = wider;
        choice->room = room;
    }
    choice->candidates[choice->count++] = candidate;
    return true;
}

/* The first ones with these needs: as many as fit, and some more, one at least. */
static culex_status choice_fill(struct scan *scan, const struct needs *needs, struct choice *choice,
                                culex_error *error)
{
    size_t fitting = fitting_count(&needs->units, scan->offers, scan->step->want - scan->granted);
    size_t most = fitting > 0 ? fitting + NEEDS_MORE : 1, found = 0;
    culex_status status = CULEX_OK;
    int has = 0;
    sqlite3_stmt *row = SQL_BIND(scan->store, NEEDS_READY, SQL_INT(scan->queue->key),
                                 SQL_INT(needs->key), SQL_INT((int64_t)most));
    while (status == CULEX_OK && (has = culex__sqlite_next(scan->store, row, error)) > 0) {
        const struct candidate candidate = {needs, sqlite3_column_int64(row, 0),
                                            sqlite3_column_int64(row, 1),
                                            sqlite3_column_int64(row, 2)};
        found++;
        if (!choice_add(choice, candidate))
            status = culex__sqlite_no_memory(error);
    }
    culex__sqlite_end(row);
    scan->is_needs_cut = scan->is_needs_cut || (fitting > 0 && found == most);
    return has < 0 ? (culex_status)has : status;
}

/* The order of claims. */
static int candidate_compare(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    if (left->priority != right->priority)
        return left->priority > right->priority ? -1 : 1;
    if (left->at_ms != right->at_ms)
        return left->at_ms < right->at_ms ? -1 : 1;
    return left->seq < right->seq ? -1 : left->seq > right->seq;
}

static culex_status choice_make(struct scan *scan, struct choice *choice, culex_error *error)
{
    culex_status status = CULEX_OK;
    choice->needs =
        malloc(scan->offers.count * (size_t)CULEX_NEEDS_LOOK_MAX * sizeof *choice->needs);
    if (choice->needs == NULL)
        return culex__sqlite_no_memory(error);
    for (size_t i = 0; i < scan->offers.count && status == CULEX_OK; i++)
        status = choice_list(scan, scan->offers.of[i].name, choice, error);
    for (size_t i = 0; i < choice->needs_count && status == CULEX_OK; i++)
        status = choice_fill(scan, &choice->needs[i], choice, error);
    if (choice->count > 1)
        qsort(choice->candidates, choice->count, sizeof choice->candidates[0], candidate_compare);
    return status;
}

/* Looks at one that fits, and takes its units when it is granted. */
static culex_status candidate_scan(struct scan *scan, const struct candidate *candidate,
                                   culex_error *error)
{
    size_t granted = scan->granted;
    sqlite3_stmt *row = SQL_BIND(scan->store, RUN_WHOLE_BY_SEQ, SQL_INT(candidate->seq));
    int has = culex__sqlite_next(scan->store, row, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    if (has > 0)
        status = scan_row(scan, row, error);
    culex__sqlite_end(row);
    if (scan->granted > granted)
        culex__needs_take(&candidate->needs->units, &scan->offers);
    return status;
}

/* Before all others: what fits into what the worker has free. */
static culex_status needs_scan(struct scan *scan, culex_error *error)
{
    struct choice choice = {.count = 0};
    if (scan->offers.count == 0 || scan->queue->limits == 0)
        return CULEX_OK;
    culex_status status = culex__sqlite_ledger_save(scan->store, scan->queue, error);
    scan->is_needs_cut = scan->reply->is_short = false;
    if (status == CULEX_OK)
        status = choice_make(scan, &choice, error);
    scan->is_of_needs = true;
    for (size_t i = 0; i < choice.count && status == CULEX_OK && scan_wants(scan); i++) {
        if (culex__needs_fit(&choice.candidates[i].needs->units, &scan->offers))
            status = candidate_scan(scan, &choice.candidates[i], error);
        else
            scan->reply->is_short = true;
    }
    scan->is_of_needs = false;
    free(choice.needs);
    free(choice.candidates);
    return status;
}

/* --- taking the picks ------------------------------------------------------------------------- */

static culex_status pick_claim(struct scan *scan, struct pick *pick, culex_error *error)
{
    struct culex_sqlite_run *run = &pick->run;
    struct culex_sqlite *store = scan->store;
    culex_run_state to;
    if (!culex__run_apply(CULEX_RUN_WAITING, CULEX_EVENT_CLAIM, run->is_cancel_requested, false,
                          false, &run->counters, &to))
        return culex__sqlite_bad_run(store, error);
    bool was_kept = (run->unique_while >> CULEX_RUN_WAITING & 1) != 0, is_held;
    run->state = to;
    run->attempt++;
    run->is_delayed = false;
    run->aside = CULEX__SQLITE_ASIDE_NOT; /* where it may have stood for what it needs */
    run->is_started = pick->starts;
    run->at_ms = culex__sqlite_later(store->now_ms, scan->step->lease_ms);
    run->limit_ms = 0;
    if (run->timeout_ms > 0)
        run->limit_ms = culex__sqlite_later(culex__sqlite_later(store->now_ms, run->timeout_ms),
                                            CULEX_TIMEOUT_SLACK_MS);
    assert(strlen(scan->step->session) < sizeof run->owner); /* or its acks would be stale */
    snprintf(run->owner, sizeof run->owner, "%s", scan->step->session);
    scan->queue->kept[CULEX_RUN_WAITING]--;
    scan->queue->kept[to]++;
    scan->queue->is_changed = true;
    culex_status status =
        was_kept ? CULEX_OK : culex__sqlite_unique_return(store, scan->queue, run, &is_held, error);
    return status == CULEX_OK ? culex__sqlite_run_save(store, run, NULL, error) : status;
}

/* A damaged body leaves as a run of its own does. */
static culex_status body_refuse(struct scan *scan, int64_t seq, culex_error *error)
{
    struct culex_sqlite_run run;
    struct culex_sqlite_move move = {.event = CULEX_EVENT_EXPIRE, .text = CULEX__CHECKSUM_TEXT};
    bool is_aside = false;
    culex_status status = culex__sqlite_body_adopt(scan->store, scan->queue, seq, error);
    if (status == CULEX_ENOTFOUND) /* a row that was met a moment ago */
        return culex__sqlite_bad_row(scan->store, error);
    if (status == CULEX_OK)
        status = culex__sqlite_run_or_aside(scan->store, scan->queue, CULEX_RUN_WAITING, seq, &run,
                                            &is_aside, error);
    return status == CULEX_OK && !is_aside
               ? culex__sqlite_run_move(scan->store, scan->queue, &run, &move, error)
               : status;
}

static culex_status block_claim(struct scan *scan, const struct culex_sqlite_block *block,
                                culex_error *error)
{
    int count = culex__sqlite_bits_count(block->held);
    scan->queue->kept[CULEX_RUN_WAITING] -= count;
    scan->queue->kept[CULEX_RUN_ACTIVE] += count;
    scan->queue->is_changed = true;
    return culex__sqlite_block_add(scan->store, scan->queue, block, error);
}

static culex_status pick_take(struct scan *scan, struct pick *pick, culex_error *error)
{
    static const char *const reasons[] = {
        [VERDICT_EXPIRED] = "expired",
        [VERDICT_TOO_LONG] = CULEX__LONG_PAYLOAD_TEXT,
        [VERDICT_DAMAGED] = CULEX__CHECKSUM_TEXT,
    };
    if (pick->is_body)
        return pick->verdict == VERDICT_GRANT ? CULEX_OK : body_refuse(scan, pick->run.seq, error);
    if (pick->verdict == VERDICT_GRANT)
        return pick_claim(scan, pick, error);
    if (pick->verdict == VERDICT_UNREADABLE)
        return culex__sqlite_run_aside(scan->store, scan->queue, CULEX_RUN_WAITING, pick->run.seq,
                                       error);
    if (pick->verdict == VERDICT_PARKED)
        return culex__sqlite_finish(scan->store,
                                    SQL_BIND(scan->store, RUN_STAND, SQL_INT(pick->run.seq),
                                             SQL_INT(pick->behind), SQL_INT(pick->run.at_ms)),
                                    error);
    /* A damaged run takes the same way out: it is dead without having run, bytes kept. */
    struct culex_sqlite_move move = {.event = CULEX_EVENT_EXPIRE, .text = reasons[pick->verdict]};
    const struct culex_run_counters *counters = &pick->run.counters;
    move.is_late = pick->verdict == VERDICT_EXPIRED &&
                   (counters->failures > 0 || counters->crashes > 0 || counters->losses > 0);
    scan->reply->expired_count += pick->verdict == VERDICT_EXPIRED;
    return culex__sqlite_run_move(scan->store, scan->queue, &pick->run, &move, error);
}

/* One scan, and what comes of it. */
static culex_status round_take(struct scan *scan, culex_error *error)
{
    scan->pick_count = scan->block_count = scan->passed = 0;
    scan->is_called = false;
    culex_status status = needs_scan(scan, error);
    if (status == CULEX_OK)
        status = scan_all(scan, error);
    for (size_t i = 0; i < scan->pick_count && status == CULEX_OK; i++)
        status = pick_take(scan, &scan->picks[i], error);
    for (size_t i = 0; i < scan->block_count && status == CULEX_OK; i++)
        status = block_claim(scan, &scan->blocks[i], error);
    assert(scan->reply->grant_count <= scan->step->want && scan->pick_count <= scan->pick_max);
    return status;
}

static bool is_full(const struct scan *scan)
{
    return (scan->pick_count > 0 && scan->pick_count + scan->passed == scan->pick_max) ||
           scan->parked >= CULEX_PARK_MAX;
}

/* Where runs have limits, more rounds: what was claimed or parked may have made room for others,
 * and what was parked may have left the scan no time for those behind. Who yields has ended its
 * round; without budget nobody comes in before it, so the rest is for the next step. */
static culex_status rounds_take(struct scan *scan, size_t *budget, culex_error *error)
{
    size_t parked, moved = 0;
    culex_status status;
    do {
        parked = scan->parked;
        status = round_take(scan, error);
        if (status != CULEX_OK || scan->queue->limits == 0 || scan->is_over ||
            scan->granted == scan->step->want || scan->parked >= CULEX_PARK_MAX)
            break;
        status = culex__sqlite_admission_run(scan->store, scan->queue, budget, &moved, error);
    } while (status == CULEX_OK && (moved > 0 || (scan->is_called && *budget > 0) ||
                                    (is_full(scan) && scan->parked > parked)));
    return status;
}

culex_status culex__sqlite_claim(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                 const struct culex_step *step, struct culex_step_reply *reply,
                                 size_t *budget, bool *ret_is_cut, culex_error *error)
{
    struct scan scan = {.store = store, .queue = queue, .step = step, .reply = reply};
    int64_t pending = queue->kept[CULEX_RUN_WAITING];
    culex__offers_read(step->offers, &scan.offers);
    scan.pick_max = (size_t)step->want + REFUSED_MAX;
    if (step->want == 0 || culex__sqlite_queue_is_paused(store, queue) || pending == 0)
        return CULEX_OK;
    reply->grants = malloc(step->want * sizeof *reply->grants);
    scan.picks = malloc(scan.pick_max * sizeof *scan.picks);
    scan.blocks = malloc(step->want * sizeof *scan.blocks);
    bool has_memory = reply->grants != NULL && scan.picks != NULL && scan.blocks != NULL;
    culex_status status =
        has_memory ? rounds_take(&scan, budget, error) : culex__sqlite_no_memory(error);
    *ret_is_cut = scan.is_over || scan.is_called || (scan.is_needs_cut && !reply->is_short) ||
                  scan.granted == step->want || is_full(&scan);
    free(scan.picks);
    free(scan.blocks);
    return status;
}

static culex_status run_again(struct culex_sqlite *store, const struct culex_step *step,
                              sqlite3_stmt *statement, uint32_t attempt,
                              struct culex_step_reply *reply, culex_error *error)
{
    struct culex_sqlite_payload payload;
    struct culex_sqlite_run run;
    bool is_held = culex__sqlite_run_read(statement, &run) && run.state == CULEX_RUN_ACTIVE &&
                   run.attempt == attempt && strcmp(run.owner, step->session) == 0;
    if (!is_held)
        return CULEX_OK;
    culex_status status = culex__sqlite_payload_read(store, statement, &run, &payload, error);
    if (status == CULEX_OK && culex__sqlite_payload_is_intact(statement, &run, &payload)) {
        status = grant_fill(&reply->grants[reply->grant_count], statement, &run, attempt,
                            payload.bytes, error);
        reply->grant_count += status == CULEX_OK;
    }
    culex__sqlite_payload_end(&payload);
    return status;
}

static culex_status body_again(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               const struct culex_step *step, int64_t seq,
                               struct culex_step_reply *reply, culex_error *error)
{
    struct culex_sqlite_block block;
    struct culex_sqlite_kind kind = {.key = 0};
    struct body body;
    culex_status status = culex__sqlite_block_of(store, seq, &block, error);
    if (status != CULEX_OK || strcmp(block.session, step->session) != 0)
        return status == CULEX_ENOTFOUND ? CULEX_OK : status;
    sqlite3_stmt *row = SQL_BIND(store, BODIES_CLAIM, SQL_INT(seq), SQL_INT(seq));
    int has = culex__sqlite_next(store, row, error);
    status = has < 0 ? (culex_status)has : CULEX_OK;
    if (has > 0)
        status = body_read(store, queue, row, &kind, &body, error);
    if (has > 0 && status == CULEX_OK && body.is_intact) {
        status = body_grant(&reply->grants[reply->grant_count], &kind, &body, error);
        reply->grant_count += status == CULEX_OK;
    }
    culex__sqlite_end(row);
    return status;
}

culex_status culex__sqlite_claim_again(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue,
                                       const struct culex_step *step, int64_t seq, uint32_t attempt,
                                       struct culex_step_reply *reply, culex_error *error)
{
    sqlite3_stmt *statement = SQL_BIND(store, RUN_WHOLE_BY_SEQ, SQL_INT(seq));
    int has = culex__sqlite_next(store, statement, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    if (has > 0)
        status = run_again(store, step, statement, attempt, reply, error);
    culex__sqlite_end(statement);
    if (status == CULEX_OK && has == 0 && attempt == 1)
        status = body_again(store, queue, step, seq, reply, error);
    return status;
}
