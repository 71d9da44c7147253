#include "worker/strange_queues.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "client/newrun.h"
#include "worker/lanes.h"
#include "worker/worker_private.h"

static bool queue_is_fed(const culex_worker *worker, struct culex__nearest *nearest)
{
    for (size_t i = 0; i < worker->job_count; i++) {
        const char *queue = culex__job_queue(worker->jobs[i].type);
        if (strcmp(queue, nearest->word) == 0)
            return true;
        culex__nearest_offer(nearest, queue);
    }
    return false;
}

static void queue_advise(const culex_worker *worker, const char *queue)
{
    struct culex__nearest nearest = {.word = queue};
    const struct culex_log_subject subject = {.queue = queue};
    char **names = NULL, meant[128];
    if (queue_is_fed(worker, &nearest))
        return;
    if (worker->store == NULL ||
        worker->store->ops->queues(worker->store, &names, NULL) != CULEX_OK)
        names = NULL; /* not allowed, or out of reach: what the jobs say must do */
    bool is_there = culex__nearest_offer_all(&nearest, names);
    bool is_new = names != NULL && !is_there;
    culex__log_write(&worker->log, CULEX_LOG_WARNING, &subject,
                     "queue %s: no job that is registered here goes there%s%s", queue,
                     is_new ? ", and nobody has used it yet" : " by its schema",
                     is_there ? "" : culex__nearest_ask(&nearest, meant));
    free(names);
}

static bool any_queue_is_fed(const culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (queue_is_fed(worker, &(struct culex__nearest){.word = worker->lane_names[i]}))
            return true;
    }
    return false;
}

static culex_status queues_refuse(const culex_worker *worker, struct culex__nearest *nearest,
                                  culex_error *error)
{
    char meant[128];
    const struct culex_queue_item *item = &worker->items[0];
    return culex__fail(error, CULEX_EUSAGE,
                       item->is_pattern
                           ? "nothing to do here: no job that is registered goes to a queue that "
                             "matches '%s'%s, and no queue of the store matches it%s (a drain does "
                             "not wait for one to come)"
                           : "nothing to do here: no job that is registered goes to queue %s%s, "
                             "and the store has no such queue%s (one that only producers name "
                             "begins with its first run)",
                       item->name, worker->item_count == 1 ? "" : " or another of those named",
                       culex__nearest_ask(nearest, meant));
}

/* The names of the store that look most like the first item are offered. */
static bool items_are_there(const culex_worker *worker, struct culex__nearest *nearest,
                            char *const *names)
{
    bool is_there = false;
    for (size_t k = 0; names[k] != NULL; k++) {
        is_there |= culex__lanes_item(worker, names[k]) != NULL;
        culex__nearest_offer(nearest, names[k]);
    }
    return is_there;
}

culex_status culex__queues_check(const culex_worker *worker, culex_error *error)
{
    char **names = NULL;
    bool waits_for_queues = worker->discovery.is_on && !worker->options.drain;
    struct culex__nearest nearest = {.word = worker->item_count > 0 ? worker->items[0].name : ""};
    if (any_queue_is_fed(worker) || waits_for_queues ||
        worker->store->ops->queues(worker->store, &names, NULL) != CULEX_OK)
        return CULEX_OK;                  /* not allowed, or out of reach: nobody knows better */
    (void)queue_is_fed(worker, &nearest); /* for what may have been meant */
    bool is_there = items_are_there(worker, &nearest, names);
    culex_status status = is_there ? CULEX_OK : queues_refuse(worker, &nearest, error);
    free(names);
    return status;
}

void culex__advise_queues(const culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++)
        queue_advise(worker, worker->lane_names[i]);
}
