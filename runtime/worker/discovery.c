#include "worker/discovery.h"

#include <stdlib.h>

#include "base/error.h"
#include "worker/lanes.h"
#include "worker/outage.h"
#include "worker/worker_private.h"

enum {
    LOOK_MS = 5000, /* between two looks */
    SOON_MS = 200,  /* the same when there may be a new queue */
};

void culex__discovery_reset(culex_worker *worker)
{
    worker->discovery = (struct culex_discovery){.is_on = false};
    for (size_t i = 0; i < worker->item_count; i++)
        worker->discovery.is_on |= worker->items[i].is_pattern;
}

void culex__discovery_want(culex_worker *worker)
{
    worker->discovery.is_wanted = true;
}

bool culex__discovery_is_done(const culex_worker *worker)
{
    const struct culex_discovery *discovery = &worker->discovery;
    return !discovery->is_on || (discovery->has_looked && !discovery->is_wanted);
}

int64_t culex__discovery_next_ns(const culex_worker *worker)
{
    const struct culex_discovery *discovery = &worker->discovery;
    const struct culex_outage *outage = &worker->outage;
    if (!discovery->is_on || worker->phases.current != CULEX_WORKER_RUNNING)
        return INT64_MAX;
    int64_t pause_ms = discovery->is_wanted ? SOON_MS : LOOK_MS;
    int64_t next_ns = discovery->asked_ns > 0 ? discovery->asked_ns + pause_ms * CULEX_MS_NS : 0;
    return outage->is_on && outage->until_ns > next_ns ? outage->until_ns : next_ns;
}

/* --- a look ---------------------------------------------------------------------------------- */

static void full_tell(culex_worker *worker, const char *queue)
{
    const struct culex_log_subject subject = {.queue = queue};
    if (!worker->discovery.is_full)
        culex__log_write(&worker->log, CULEX_LOG_WARNING, &subject,
                         "queue %s and others are not served: %zu queues are as many as one worker "
                         "finds",
                         queue, worker->lane_count);
    worker->discovery.is_full = true;
}

static void queue_take(culex_worker *worker, const char *queue)
{
    const struct culex_log_subject subject = {.queue = queue};
    const struct culex_queue_item *item = culex__lanes_item(worker, queue);
    culex_error error = {0};
    if (item == NULL || !item->is_pattern || culex__lanes_find(worker, queue) != NULL)
        return;
    culex_status status = culex__lanes_found(worker, queue, item, &error);
    if (status == CULEX_OK)
        culex__log_write(&worker->log, CULEX_LOG_INFO, &subject, "queue %s was found by %s", queue,
                         item->name);
    else if (status == CULEX_ELIMIT)
        full_tell(worker, queue);
}

static bool item_has_lane(const culex_worker *worker, const struct culex_queue_item *item)
{
    bool has_lane = false;
    for (size_t i = 0; i < worker->lane_count && !has_lane; i++)
        has_lane = culex__lanes_item(worker, worker->lanes[i].name) == item;
    return has_lane;
}

/* The first queue may come with the first run; a drain does not wait for that. */
static void idle_pattern_tell(const culex_worker *worker, const char *pattern)
{
    if (worker->options.drain)
        culex__log_write(&worker->log, CULEX_LOG_WARNING, NULL,
                         "no queue of the store matches '%s': this drain does nothing for it",
                         pattern);
    else
        culex__log_write(&worker->log, CULEX_LOG_INFO, NULL,
                         "no queue of the store matches '%s' yet; it is looked for every %d s",
                         pattern, LOOK_MS / 1000);
}

/* Once. */
static void idle_patterns_tell(const culex_worker *worker)
{
    for (size_t i = 0; i < worker->item_count; i++) {
        const struct culex_queue_item *item = &worker->items[i];
        if (item->is_pattern && !item_has_lane(worker, item))
            idle_pattern_tell(worker, item->name);
    }
}

static void names_take(culex_worker *worker, char **names)
{
    struct culex_discovery *discovery = &worker->discovery;
    for (size_t i = 0; names[i] != NULL; i++)
        queue_take(worker, names[i]);
    if (!discovery->has_looked)
        idle_patterns_tell(worker);
    discovery->has_looked = true;
    discovery->is_wanted = false;
}

/* One whose connection failed is tried again as all calls are; one that fails for another reason
 * keeps the queues that there are. */
static culex_status look_fail(culex_worker *worker, culex_status status, culex_error *error)
{
    struct culex_discovery *discovery = &worker->discovery;
    bool is_final = culex__status_is_fatal(status) && !discovery->has_looked;
    if (status == CULEX_EMOVED || is_final) {
        culex__error_context(error, "the store does not tell which queues it has");
        return status;
    }
    if (status == CULEX_ECONNECT || status == CULEX_EUNKNOWN)
        culex__worker_call_failed(worker, NULL, NULL, status, error);
    else if (culex__notice_tell(&discovery->notice, error->text, discovery->asked_ns))
        culex__log_write(&worker->log, CULEX_LOG_WARNING, NULL,
                         "new queues are not found for now: %s", error->text);
    return CULEX_OK;
}

culex_status culex__discovery_look(culex_worker *worker, culex_error *error)
{
    char **names = NULL;
    int64_t now_ns = culex__worker_now_ns(worker);
    if (now_ns < culex__discovery_next_ns(worker))
        return CULEX_OK;
    worker->discovery.asked_ns = now_ns;
    culex_status status = worker->store->ops->queues(worker->store, &names, error);
    if (status != CULEX_OK)
        return look_fail(worker, status, error);
    names_take(worker, names);
    free(names);
    culex__worker_call_succeeded(worker, NULL);
    return CULEX_OK;
}
