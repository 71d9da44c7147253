/* worker/drain.c - what keeps a drain from its end: runs that are held back by somebody, or
 * scheduled for later; and what does not: runs that nobody here can execute, or that need what this
 * worker does not offer. */
#include "worker/worker_private.h"
#include "worker/jobs.h"
#include "worker/units.h"
#include "worker/unread.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    LIST_MS = 1000, /* between looks: the answer costs the store more than a step */
    PAGE = 500,
    PAGES = 20,      /* of scheduled runs: the worker does nothing else meanwhile */
    AHEAD_MS = 5000, /* a scheduled run that is due before is not worth a line */
    AGAIN_MS = 60 * 1000,
    NAMES = 4,
    NAMES_SIZE = NAMES * (CULEX_QUEUE_NAME_MAX + 2) + 32
};

/* What its job needs is not offered. A run that was enqueued by another version of the schema may
 * need less: while others wait for a worker, it is left with them. */
static bool is_unserved(const struct culex_lane *lane, const culex_run_info *run)
{
    const struct culex_job *job = culex__jobs_find(lane->worker, run->job);
    return job != NULL && !culex__units_serve(lane->worker, job->type);
}

/* No other attempt of this worker will get further. */
static bool is_beyond(const struct culex_lane *lane, const culex_run_info *run)
{
    return culex__jobs_find(lane->worker, run->job) == NULL || is_unserved(lane, run) ||
           culex__unread_has(lane, run->id);
}

static void left_add(struct culex_left *left, const char *job)
{
    if (left->count++ == 0)
        snprintf(left->job, sizeof left->job, "%s", job);
    else if (strcmp(left->job, job) != 0)
        left->has_others = true;
}

/* False when the page has something to wait for. */
static bool page_look(const struct culex_lane *lane, const struct culex_list_reply *page,
                      struct culex_left *left)
{
    for (size_t i = 0; i < page->count; i++) {
        const culex_run_info *run = &page->runs[i];
        if (!is_beyond(lane, run))
            return false;
        left_add(left, run->job);
        if (is_unserved(lane, run))
            left->unserved++;
        else if (culex__jobs_find(lane->worker, run->job) != NULL)
            left->unreadable++;
    }
    return true;
}

static bool state_look(const struct culex_lane *lane, culex_run_state state,
                       struct culex_left *left)
{
    struct culex_store *store = lane->worker->store;
    culex_list_cursor cursor = CULEX_LIST_START;
    bool is_stuck;
    do {
        struct culex_list_reply page = {0};
        if (store->ops->list(store, lane->name, CULEX_LIST_OF(state), cursor, PAGE, &page, NULL) !=
            CULEX_OK)
            return false;
        is_stuck = page_look(lane, &page, left);
        cursor = page.cursor;
        store->ops->list_release(store, &page);
    } while (is_stuck && cursor.place != 0);
    return is_stuck;
}

static bool stats_read(const struct culex_lane *lane, culex_queue_stats *ret_stats)
{
    struct culex_store *store = lane->worker->store;
    return store->ops->stats(store, lane->name, ret_stats, NULL) == CULEX_OK;
}

/* A state without runs is not listed: for that a store may look through all that it keeps. */
static bool lane_is_stuck(const struct culex_lane *lane, struct culex_left *left)
{
    culex_queue_stats stats;
    if (lane->has_follow_ups || !stats_read(lane, &stats) || stats.count[CULEX_RUN_ACTIVE] > 0)
        return false;
    return (stats.count[CULEX_RUN_WAITING] == 0 || state_look(lane, CULEX_RUN_WAITING, left)) &&
           (stats.count[CULEX_RUN_SCHEDULED] == 0 || state_look(lane, CULEX_RUN_SCHEDULED, left));
}

static bool is_stuck(const culex_worker *worker, struct culex_left *ret_left)
{
    *ret_left = (struct culex_left){0};
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (!worker->lanes[i].outlook.is_empty && !lane_is_stuck(&worker->lanes[i], ret_left))
            return false;
    }
    return ret_left->count > 0;
}

void culex__drain_reset(culex_worker *worker)
{
    worker->drain.left = (struct culex_left){0};
    worker->drain.look_ns = 0;
    worker->drain.scheduled_look_ns = 0;
}

bool culex__drain_is_stuck(culex_worker *worker, int64_t now_ns)
{
    struct culex_drain *drain = &worker->drain;
    if (now_ns < drain->look_ns)
        return false;
    if (is_stuck(worker, &drain->left))
        return true; /* it is asked again after the last step */
    drain->look_ns = now_ns + LIST_MS * CULEX_MS_NS;
    drain->left.count = 0;
    return false;
}

/* Queues that are paused and have runs; none when another has some too. */
static size_t paused_name(const culex_worker *worker, char ret_names[NAMES_SIZE])
{
    size_t count = 0, len = 0;
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane *lane = &worker->lanes[i];
        if (lane->outlook.is_empty)
            continue;
        if (!lane->outlook.is_paused)
            return 0;
        if (count++ < NAMES)
            len += (size_t)snprintf(ret_names + len, NAMES_SIZE - len, "%s%s", len > 0 ? ", " : "",
                                    lane->name);
    }
    if (count > NAMES)
        snprintf(ret_names + len, NAMES_SIZE - len, " and %zu others", count - NAMES);
    return count;
}

void culex__drain_tell_paused(culex_worker *worker, int64_t now_ns)
{
    char names[NAMES_SIZE];
    if (paused_name(worker, names) > 0 && culex__notice_tell(&worker->drain.notice, names, now_ns))
        culex__log_write(&worker->log, CULEX_LOG_WARNING, NULL,
                         "the drain waits for nothing but paused queues: %s", names);
}

struct scheduled {
    uint64_t count;
    uint64_t beyond; /* of these, those that this worker cannot execute */
    int64_t next_ms; /* store clock: when the first of them is due */
    bool is_partial; /* there are so many that not all were looked at for it */
};

static void scheduled_look(const struct culex_lane *lane, const struct culex_list_reply *page,
                           struct scheduled *scheduled)
{
    for (size_t i = 0; i < page->count; i++) {
        if (is_beyond(lane, &page->runs[i]))
            scheduled->beyond++;
        else
            scheduled->next_ms = culex__min_ns(scheduled->next_ms, page->runs[i].at_ms);
    }
}

static bool next_find(const struct culex_lane *lane, struct scheduled *scheduled)
{
    struct culex_store *store = lane->worker->store;
    culex_list_cursor cursor = CULEX_LIST_START;
    for (size_t at = 0; at < PAGES && (at == 0 || cursor.place != 0); at++) {
        struct culex_list_reply page = {0};
        if (store->ops->list(store, lane->name, CULEX_LIST_OF(CULEX_RUN_SCHEDULED), cursor, PAGE,
                             &page, NULL) != CULEX_OK)
            return false;
        scheduled_look(lane, &page, scheduled);
        cursor = page.cursor;
        store->ops->list_release(store, &page);
    }
    scheduled->is_partial |= cursor.place != 0;
    return true;
}

/* False when the lane has something else left, or the store does not say. */
static bool lane_scheduled(const struct culex_lane *lane, struct scheduled *scheduled)
{
    culex_queue_stats stats;
    if (!stats_read(lane, &stats) || stats.count[CULEX_RUN_WAITING] > 0 ||
        stats.count[CULEX_RUN_ACTIVE] > 0)
        return false;
    scheduled->count += stats.count[CULEX_RUN_SCHEDULED];
    return next_find(lane, scheduled);
}

/* False when scheduled runs are not all that is left, paused queues aside. */
static bool scheduled_find(const culex_worker *worker, struct scheduled *ret_scheduled)
{
    *ret_scheduled = (struct scheduled){.next_ms = INT64_MAX};
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane *lane = &worker->lanes[i];
        if (!lane->outlook.is_empty && !lane->outlook.is_paused &&
            !lane_scheduled(lane, ret_scheduled))
            return false;
    }
    return ret_scheduled->count > ret_scheduled->beyond && ret_scheduled->next_ms != INT64_MAX;
}

static void scheduled_tell(culex_worker *worker, const struct scheduled *scheduled, int64_t in_ms)
{
    char at[CULEX_LOG_TIME_SIZE], span[CULEX_LOG_SPAN_SIZE], next[96] = "";
    uint64_t count = scheduled->count - scheduled->beyond;
    culex__log_format_time(scheduled->next_ms, at);
    culex__log_format_span(in_ms, span);
    if (!scheduled->is_partial)
        snprintf(next, sizeof next, ", the next at %s (in %s)", at, span);
    culex__log_write(&worker->log, CULEX_LOG_INFO, NULL,
                     "the drain waits for %" PRIu64 " scheduled run%s%s", count,
                     count == 1 ? "" : "s", next);
}

void culex__drain_tell_scheduled(culex_worker *worker, int64_t now_ns)
{
    struct culex_drain *drain = &worker->drain;
    struct scheduled scheduled;
    if (now_ns < drain->scheduled_look_ns)
        return;
    drain->scheduled_look_ns = now_ns + LIST_MS * CULEX_MS_NS;
    if (!scheduled_find(worker, &scheduled))
        return;
    int64_t in_ms = scheduled.next_ms - culex__storeclock_now_ms(&worker->clock, worker->env);
    if (in_ms < AHEAD_MS)
        return;
    drain->scheduled_look_ns = now_ns + AGAIN_MS * CULEX_MS_NS;
    scheduled_tell(worker, &scheduled, in_ms);
}
