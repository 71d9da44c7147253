#include "store/sqlite/claim.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/end_text.h"
#include "store/sqlite/body.h"
#include "store/sqlite/error.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/run.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "base/error.h"

/* Runs looked at beside the wanted ones (expired, damaged) before the step gives up for now. */
enum { REFUSED_MAX = CULEX_FORGET_MAX };

enum verdict {
    VERDICT_GRANT,
    VERDICT_EXPIRED,
    VERDICT_TOO_LONG,
    VERDICT_DAMAGED,
    VERDICT_UNREADABLE
};

/* A row that the scan picked; it is changed when the scan is over, since a row must not be
 * updated under the cursor that walks its index. */
struct pick {
    struct culex_sqlite_run run;
    enum verdict verdict;
    bool starts; /* at once */
};

struct scan {
    struct culex_sqlite *store;
    struct culex_sqlite_queue *queue;
    const struct culex_step *step;
    struct culex_step_reply *reply;
    struct pick *picks;
    size_t pick_count, pick_max;
    size_t granted;
    size_t passed;  /* suspects left where they are: the worker has other runs at work */
    uint64_t bytes; /* of payload, beyond the first run */
    bool is_over;   /* a suspect, a run in doubt, the byte budget or the bound ended it */
};

/* --- a grant ---------------------------------------------------------------------------------- */

/* Attempt `attempt` of the run. One block per grant: the payload, then the job's name. */
static culex_status grant_fill(struct culex_grant *grant, sqlite3_stmt *statement,
                               const struct culex_sqlite_run *run, uint32_t attempt,
                               const void *payload, culex_error *error)
{
    const char *job = (const char *)sqlite3_column_text(statement, CULEX__SQLITE_COLUMN_job);
    size_t len = (size_t)run->payload_len;
    if (job == NULL)
        return culex__sqlite_no_memory(error);
    char *block = malloc(len + strlen(job) + 1);
    if (block == NULL)
        return culex__sqlite_no_memory(error);
    if (len > 0)
        memcpy(block, payload, len);
    strcpy(block + len, job);
    int64_t created_at_ms = sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_created_at_ms);
    int64_t fingerprint = sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_fingerprint);
    *grant = (struct culex_grant){.facts = {.id = run->id,
                                            .attempt = attempt,
                                            .counters = run->counters,
                                            .created_at_ms = created_at_ms,
                                            .timeout_ms = run->timeout_ms,
                                            .fingerprint = (uint64_t)fingerprint},
                                  .job = block + len,
                                  .payload = block,
                                  .payload_len = len};
    return CULEX_OK;
}

/* --- the scan --------------------------------------------------------------------------------- */

static bool is_suspect(const struct culex_sqlite_run *run)
{
    return culex__run_is_suspect(&run->counters);
}

static bool is_expired(const struct culex_sqlite *store, const struct culex_sqlite_run *run)
{
    return run->expires_at_ms != 0 && run->attempt == 0 && run->expires_at_ms <= store->now_ms;
}

/* A suspect is granted alone, and like everything whose holder has vanished only to a free handler.
 */
static bool must_wait(const struct scan *scan, const struct culex_sqlite_run *run)
{
    bool wants_start = is_suspect(run) || run->is_started;
    return (is_suspect(run) && scan->granted > 0) ||
           (wants_start && scan->granted >= culex__step_starts(scan->step));
}

static bool is_too_much(struct scan *scan, const struct culex_sqlite_run *run)
{
    if (scan->granted == 0)
        return false;
    scan->bytes += (uint64_t)run->payload_len;
    return scan->bytes > scan->step->max_bytes;
}

static culex_status scan_grant(struct scan *scan, sqlite3_stmt *statement, struct pick *pick,
                               culex_error *error)
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
        pick->starts = scan->granted++ < culex__step_starts(scan->step);
        scan->is_over = is_suspect(&pick->run);
    }
    return status;
}

static culex_status scan_row(struct scan *scan, sqlite3_stmt *statement, culex_error *error)
{
    struct pick *pick = &scan->picks[scan->pick_count];
    memset(pick, 0, sizeof *pick);
    if (!culex__sqlite_run_read(statement, &pick->run)) {
        pick->verdict = VERDICT_UNREADABLE; /* one bad row must not stop the queue */
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
    } else if (is_too_much(scan, &pick->run)) {
        scan->is_over = true;
        return CULEX_OK;
    } else {
        culex_status status = scan_grant(scan, statement, pick, error);
        if (status != CULEX_OK)
            return status;
    }
    scan->pick_count++;
    return CULEX_OK;
}

static bool scan_wants(const struct scan *scan)
{
    return !scan->is_over && scan->granted < scan->step->want &&
           scan->pick_count + scan->passed < scan->pick_max;
}

static culex_status scan_priority(struct scan *scan, int64_t priority, culex_error *error)
{
    struct culex_sqlite *store = scan->store;
    sqlite3_stmt *statement = SQL_BIND(store, READY, SQL_INT(scan->queue->key), SQL_INT(priority),
                                       SQL_INT(culex__sqlite_queue_horizon(store, scan->queue)),
                                       SQL_INT(store->now_ms), SQL_INT((int64_t)scan->pick_max));
    int has = 0;
    while (scan_wants(scan) && (has = culex__sqlite_next(store, statement, error)) > 0) {
        has = scan_row(scan, statement, error);
        if (has < 0)
            break;
    }
    culex__sqlite_end(statement);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

/* The next priority below *priority that has runs, -1 for none. Ordinary ones that may be granted
 * are runs of their own from now on. */
static culex_status next_priority(struct scan *scan, int64_t *priority, culex_error *error)
{
    struct culex_sqlite *store = scan->store;
    int64_t bodies = *priority;
    culex_status status = culex__sqlite_bodies_priority(store, scan->queue, &bodies, error);
    if (status == CULEX_OK)
        status = culex__sqlite_first_int(
            store, SQL_BIND(store, READY_PRIORITY, SQL_INT(scan->queue->key), SQL_INT(*priority)),
            -1, priority, error);
    if (status != CULEX_OK || bodies < *priority || bodies < 0)
        return status;
    *priority = bodies;
    return culex__sqlite_bodies_adopt(store, scan->queue, bodies, scan->step->want - scan->granted,
                                      scan->pick_max, error);
}

/* From the highest priority that has runs downwards: at most ten rounds. */
static culex_status scan_all(struct scan *scan, culex_error *error)
{
    int64_t priority = 10;
    culex_status status = CULEX_OK;
    while (status == CULEX_OK && scan_wants(scan)) {
        status = next_priority(scan, &priority, error);
        if (status != CULEX_OK || priority < 0)
            break;
        status = scan_priority(scan, priority, error);
    }
    return status;
}

/* --- taking the picks ------------------------------------------------------------------------- */

static culex_status pick_claim(struct scan *scan, struct pick *pick, culex_error *error)
{
    struct culex_sqlite_run *run = &pick->run;
    struct culex_sqlite *store = scan->store;
    culex_run_state to;
    if (!culex__run_apply(CULEX_RUN_WAITING, CULEX_EVENT_CLAIM, run->is_cancel_requested, false,
                          &run->counters, &to))
        return culex__sqlite_bad_run(store, error);
    run->state = to;
    run->attempt++;
    run->is_delayed = false;
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
    return culex__sqlite_run_save(store, run, NULL, error);
}

static culex_status pick_take(struct scan *scan, struct pick *pick, culex_error *error)
{
    static const char *const reasons[] = {
        [VERDICT_EXPIRED] = "expired",
        [VERDICT_TOO_LONG] = CULEX__LONG_PAYLOAD_TEXT,
        [VERDICT_DAMAGED] = CULEX__CHECKSUM_TEXT,
    };
    if (pick->verdict == VERDICT_GRANT)
        return pick_claim(scan, pick, error);
    if (pick->verdict == VERDICT_UNREADABLE)
        return culex__sqlite_run_aside(scan->store, scan->queue, CULEX_RUN_WAITING, pick->run.seq,
                                       error);
    /* A damaged run takes the same way out: it is dead without having run, bytes kept. */
    struct culex_sqlite_move move = {.event = CULEX_EVENT_EXPIRE, .text = reasons[pick->verdict]};
    scan->reply->expired_count += pick->verdict == VERDICT_EXPIRED;
    return culex__sqlite_run_move(scan->store, scan->queue, &pick->run, &move, error);
}

culex_status culex__sqlite_claim(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                 const struct culex_step *step, struct culex_step_reply *reply,
                                 bool *ret_is_cut, culex_error *error)
{
    struct scan scan = {.store = store, .queue = queue, .step = step, .reply = reply};
    int64_t pending = queue->kept[CULEX_RUN_WAITING];
    scan.pick_max = (size_t)step->want + REFUSED_MAX;
    if (step->want == 0 || queue->is_paused || pending == 0)
        return CULEX_OK;
    reply->grants = malloc(step->want * sizeof *reply->grants);
    scan.picks = malloc(scan.pick_max * sizeof *scan.picks);
    culex_status status = reply->grants == NULL || scan.picks == NULL
                              ? culex__sqlite_no_memory(error)
                              : scan_all(&scan, error);
    for (size_t i = 0; i < scan.pick_count && status == CULEX_OK; i++)
        status = pick_take(&scan, &scan.picks[i], error);
    assert(reply->grant_count <= step->want && scan.pick_count <= scan.pick_max);
    bool is_full = scan.pick_count > 0 && scan.pick_count + scan.passed == scan.pick_max;
    *ret_is_cut = scan.is_over || scan.granted == step->want || is_full;
    free(scan.picks);
    return status;
}

culex_status culex__sqlite_claim_again(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue,
                                       const struct culex_step *step, culex_uuid id,
                                       uint32_t attempt, struct culex_step_reply *reply,
                                       culex_error *error)
{
    struct culex_sqlite_payload payload = {.bytes = NULL};
    struct culex_sqlite_run run;
    sqlite3_stmt *statement =
        SQL_BIND(store, RUN_WHOLE, SQL_INT(culex__sqlite_queue_seq(queue, id)), SQL_ID(&id));
    int has = culex__sqlite_next(store, statement, error);
    bool is_held = has > 0 && culex__sqlite_run_read(statement, &run) &&
                   run.state == CULEX_RUN_ACTIVE && run.attempt == attempt &&
                   strcmp(run.owner, step->session) == 0;
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    if (is_held)
        status = culex__sqlite_payload_read(store, statement, &run, &payload, error);
    if (status == CULEX_OK && is_held &&
        culex__sqlite_payload_is_intact(statement, &run, &payload)) {
        status = grant_fill(&reply->grants[reply->grant_count], statement, &run, attempt,
                            payload.bytes, error);
        reply->grant_count += status == CULEX_OK;
    }
    culex__sqlite_payload_end(&payload);
    culex__sqlite_end(statement);
    return status;
}
