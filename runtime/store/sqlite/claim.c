#include "store/sqlite/claim.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/end_text.h"
#include "store/sqlite/admission.h"
#include "store/sqlite/body.h"
#include "store/sqlite/error.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/run.h"
#include "store/sqlite/scan.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/unique.h"

/* Runs looked at beside the wanted ones (expired, damaged) before the step gives up for now. */
enum { REFUSED_MAX = CULEX_FORGET_MAX };

static culex_status pick_claim(struct culex_sqlite_scan *scan, struct culex_sqlite_pick *pick,
                               culex_error *error)
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
static culex_status body_refuse(struct culex_sqlite_scan *scan, int64_t seq, culex_error *error)
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

static culex_status block_claim(struct culex_sqlite_scan *scan,
                                const struct culex_sqlite_block *block, culex_error *error)
{
    int count = culex__sqlite_bits_count(block->held);
    scan->queue->kept[CULEX_RUN_WAITING] -= count;
    scan->queue->kept[CULEX_RUN_ACTIVE] += count;
    scan->queue->is_changed = true;
    return culex__sqlite_block_add(scan->store, scan->queue, block, error);
}

static culex_status pick_take(struct culex_sqlite_scan *scan, struct culex_sqlite_pick *pick,
                              culex_error *error)
{
    static const char *const reasons[] = {
        [CULEX__VERDICT_EXPIRED] = "expired",
        [CULEX__VERDICT_TOO_LONG] = CULEX__LONG_PAYLOAD_TEXT,
        [CULEX__VERDICT_DAMAGED] = CULEX__CHECKSUM_TEXT,
    };
    if (pick->is_body)
        return pick->verdict == CULEX__VERDICT_GRANT ? CULEX_OK
                                                     : body_refuse(scan, pick->run.seq, error);
    if (pick->verdict == CULEX__VERDICT_GRANT)
        return pick_claim(scan, pick, error);
    if (pick->verdict == CULEX__VERDICT_UNREADABLE)
        return culex__sqlite_run_aside(scan->store, scan->queue, CULEX_RUN_WAITING, pick->run.seq,
                                       error);
    if (pick->verdict == CULEX__VERDICT_PARKED)
        return culex__sqlite_finish(scan->store,
                                    SQL_BIND(scan->store, RUN_STAND, SQL_INT(pick->run.seq),
                                             SQL_INT(pick->behind), SQL_INT(pick->run.at_ms)),
                                    error);
    /* A damaged run takes the same way out: it is dead without having run, bytes kept. */
    struct culex_sqlite_move move = {.event = CULEX_EVENT_EXPIRE, .text = reasons[pick->verdict]};
    const struct culex_run_counters *counters = &pick->run.counters;
    move.is_late = pick->verdict == CULEX__VERDICT_EXPIRED &&
                   (counters->failures > 0 || counters->crashes > 0 || counters->losses > 0);
    scan->reply->expired_count += pick->verdict == CULEX__VERDICT_EXPIRED;
    return culex__sqlite_run_move(scan->store, scan->queue, &pick->run, &move, error);
}

/* One scan, and what comes of it. */
static culex_status round_take(struct culex_sqlite_scan *scan, culex_error *error)
{
    scan->pick_count = scan->block_count = scan->passed = 0;
    scan->is_called = false;
    culex_status status = culex__sqlite_scan_needs(scan, error);
    if (status == CULEX_OK)
        status = culex__sqlite_scan_all(scan, error);
    for (size_t i = 0; i < scan->pick_count && status == CULEX_OK; i++)
        status = pick_take(scan, &scan->picks[i], error);
    for (size_t i = 0; i < scan->block_count && status == CULEX_OK; i++)
        status = block_claim(scan, &scan->blocks[i], error);
    assert(scan->reply->grant_count <= scan->step->want && scan->pick_count <= scan->pick_max);
    return status;
}

static bool is_full(const struct culex_sqlite_scan *scan)
{
    return (scan->pick_count > 0 && scan->pick_count + scan->passed == scan->pick_max) ||
           scan->parked >= CULEX_PARK_MAX;
}

/* Where runs have limits, more rounds: what was claimed or parked may have made room for others,
 * and what was parked may have left the scan no time for those behind. Who yields has ended its
 * round; without budget nobody comes in before it, so the rest is for the next step. */
static culex_status rounds_take(struct culex_sqlite_scan *scan, size_t *budget, culex_error *error)
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
    struct culex_sqlite_scan scan = {.store = store, .queue = queue, .step = step, .reply = reply};
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
