#include "worker/watch.h"

#include "worker/lane.h"
#include "worker/metrics.h"
#include "worker/outage.h"
#include "worker/worker_private.h"

enum {
    ROUND_MS = 5000,     /* all queues, */
    PAUSE_MS_MIN = 200,  /* but no more than one in this time */
    WATCHED_MS = 300000, /* behind a scrape */
    LOOKED_MAX = 100     /* runs of those that wait: they come about in the order of their age */
};

void culex__watch_reset(culex_worker *worker)
{
    worker->watch = (struct culex_watch){.next = 0};
}

static bool is_watched(const culex_worker *worker)
{
    int64_t asked_ns = culex__metrics_asked_ns(worker);
    return culex__worker_now_ns(worker) - asked_ns < WATCHED_MS * CULEX_MS_NS;
}

int64_t culex__watch_next_ns(const culex_worker *worker)
{
    const struct culex_outage *outage = &worker->outage;
    int64_t due_ns = worker->watch.due_ns;
    if (worker->metrics == NULL || worker->lane_count == 0 ||
        worker->phases.current != CULEX_WORKER_RUNNING || !is_watched(worker))
        return INT64_MAX;
    return outage->is_on && outage->until_ns > due_ns ? outage->until_ns : due_ns;
}

/* One that was begun before waits for another attempt, and not since its enqueue. */
static int64_t page_oldest_ms(const struct culex_list_reply *page, int64_t now_ms)
{
    int64_t oldest_ms = 0;
    for (size_t i = 0; i < page->count; i++) {
        const culex_run_info *run = &page->runs[i];
        if (run->attempt == 0 && now_ms - run->created_at_ms > oldest_ms)
            oldest_ms = now_ms - run->created_at_ms;
    }
    return oldest_ms;
}

static culex_status oldest_look(struct culex_lane *lane, const culex_queue_stats *stats,
                                int64_t *ret_ms, culex_error *error)
{
    struct culex_store *store = lane->worker->store;
    struct culex_list_reply page;
    *ret_ms = 0;
    if (stats->count[CULEX_RUN_WAITING] == 0)
        return CULEX_OK;
    *ret_ms = -1;
    culex_status status = store->ops->list(store, lane->name, CULEX_LIST_OF(CULEX_RUN_WAITING),
                                           CULEX_LIST_START, LOOKED_MAX, &page, error);
    if (status != CULEX_OK)
        return status;
    *ret_ms = page_oldest_ms(&page, stats->now_ms);
    store->ops->list_release(store, &page);
    return CULEX_OK;
}

static void warn(const struct culex_lane *lane, const culex_error *error)
{
    const struct culex_log_subject subject = {.queue = lane->name};
    culex__log_write(&lane->worker->log, CULEX_LOG_WARNING, &subject,
                     "queue %s: the metrics of what is in it are not all told for now: %s",
                     lane->name, error->text);
}

/* A queue that nobody has greeted yet is not there. */
static void look(struct culex_lane *lane, int64_t now_ns)
{
    culex_worker *worker = lane->worker;
    culex_queue_stats stats = {0};
    culex_error error = {0};
    int64_t oldest_ms = 0;
    if (!lane->greeting.is_done)
        return;
    culex_status status = worker->store->ops->stats(worker->store, lane->name, &stats, &error);
    if (status == CULEX_OK) {
        status = oldest_look(lane, &stats, &oldest_ms, &error);
        culex__metrics_note_queue(lane, &stats, oldest_ms, now_ns);
    }
    if (status == CULEX_ECONNECT || status == CULEX_EUNKNOWN)
        culex__worker_call_failed(worker, lane, &lane->trouble, status, &error);
    else if (status != CULEX_OK && culex__notice_tell(&worker->watch.notice, error.text, now_ns))
        warn(lane, &error);
}

void culex__watch_turn(culex_worker *worker, int64_t now_ns)
{
    struct culex_watch *watch = &worker->watch;
    if (now_ns < culex__watch_next_ns(worker))
        return;
    int64_t pause_ms = ROUND_MS / (int64_t)worker->lane_count;
    watch->due_ns = now_ns + (pause_ms > PAUSE_MS_MIN ? pause_ms : PAUSE_MS_MIN) * CULEX_MS_NS;
    if (watch->next >= worker->lane_count)
        watch->next = 0;
    look(&worker->lanes[watch->next++], now_ns);
}
