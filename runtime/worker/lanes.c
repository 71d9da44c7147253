#include "worker/lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "client/newrun.h"
#include "core/queue_name.h"
#include "worker/acks.h"
#include "worker/appetite.h"
#include "worker/beats.h"
#include "worker/greeting.h"
#include "worker/pace.h"
#include "worker/order.h"
#include "worker/queue_options.h"
#include "worker/roster.h"
#include "worker/share.h"
#include "worker/worker_private.h"

enum { FOUND_MAX = 256 /* queues that patterns find */ };

struct culex_lane *culex__lanes_find(const culex_worker *worker, const char *queue)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (strcmp(worker->lanes[i].name, queue) == 0)
            return &worker->lanes[i];
    }
    return NULL;
}

const struct culex_queue_item *culex__lanes_item(const culex_worker *worker, const char *queue)
{
    const struct culex_queue_item *found = NULL;
    for (size_t i = 0; i < worker->item_count; i++) {
        const struct culex_queue_item *item = &worker->items[i];
        if (!culex__queue_item_meets(item, queue))
            continue;
        if (!item->is_pattern)
            return item;
        found = found == NULL ? item : found;
    }
    return found;
}

/* --- one lane -------------------------------------------------------------------------------- */

static culex_status lane_allocate(culex_worker *worker, const char *queue, culex_error *error)
{
    struct culex_lane *lane = &worker->lanes[worker->lane_count];
    size_t room = culex__pace_flights_max(worker) + 1;
    *lane = (struct culex_lane){.worker = worker};
    lane->flights = calloc(room, sizeof *lane->flights);
    lane->flight_room = room;
    if (lane->flights != NULL && culex__roster_init(lane, room))
        return CULEX_OK;
    free(lane->flights);
    return culex__fail(error, CULEX_ENOMEM, "no memory for queue %s", queue);
}

/* Does nothing where the queue has its lane already. */
static culex_status lane_add(culex_worker *worker, const char *queue,
                             const struct culex_queue_item *item, size_t rank, culex_error *error)
{
    culex_status status = culex__queue_check(queue, error);
    if (status != CULEX_OK || culex__lanes_find(worker, queue) != NULL)
        return status;
    if (worker->lane_count == worker->lane_room)
        return culex__fail(error, CULEX_ELIMIT, "no room for queue %s", queue);
    status = lane_allocate(worker, queue, error);
    if (status != CULEX_OK)
        return status;
    struct culex_lane *lane = &worker->lanes[worker->lane_count];
    strcpy(lane->name, queue);
    culex__beats_init(lane);
    culex__greeting_prepare(lane);
    culex__outlook_init(lane);
    culex__appetite_init(lane);
    const struct culex_queue_item whole =
        culex__queue_options_complete(&worker->options, queue, item);
    culex__share_init(lane, &whole, rank);
    lane->beat_ns = lane->end_ns = INT64_MAX;
    worker->lane_names[worker->lane_count++] = lane->name;
    culex__order_add(lane);
    return CULEX_OK;
}

culex_status culex__lanes_found(culex_worker *worker, const char *queue,
                                const struct culex_queue_item *item, culex_error *error)
{
    culex_status status = lane_add(worker, queue, item, (size_t)(item - worker->items), error);
    if (status == CULEX_OK)
        culex__greeting_make_optional(culex__lanes_find(worker, queue));
    return status;
}

/* --- all of them ----------------------------------------------------------------------------- */

static culex_status items_read(culex_worker *worker, culex_error *error)
{
    const culex_worker_options *options = &worker->options;
    culex_status status = CULEX_OK;
    if (options->queue_count == 0)
        return CULEX_OK;
    worker->items = calloc(options->queue_count, sizeof *worker->items);
    if (worker->items == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for %zu queues", options->queue_count);
    for (size_t i = 0; i < options->queue_count && status == CULEX_OK; i++)
        status = culex__queue_item_read(options->queues[i], &worker->items[i], error);
    worker->item_count = options->queue_count;
    return status;
}

static bool has_pattern(const culex_worker *worker)
{
    bool has_pattern = false;
    for (size_t i = 0; i < worker->item_count; i++)
        has_pattern |= worker->items[i].is_pattern;
    return has_pattern;
}

static culex_status lanes_allocate(culex_worker *worker, culex_error *error)
{
    size_t room = worker->item_count + worker->job_count + (has_pattern(worker) ? FOUND_MAX : 0);
    worker->lane_room = room;
    worker->lanes = calloc(room, sizeof *worker->lanes);
    worker->lane_names = calloc(room, sizeof *worker->lane_names);
    worker->awaited_names = calloc(room + worker->job_count, sizeof *worker->awaited_names);
    bool is_whole = culex__order_init(worker, room) && worker->lanes != NULL &&
                    worker->lane_names != NULL && worker->awaited_names != NULL;
    if (!is_whole)
        culex__fail(error, CULEX_ENOMEM, "no memory for %zu queues", room);
    return is_whole ? CULEX_OK : CULEX_ENOMEM;
}

static culex_status lanes_of_items(culex_worker *worker, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < worker->item_count && status == CULEX_OK; i++) {
        if (!worker->items[i].is_pattern)
            status = lane_add(worker, worker->items[i].name, &worker->items[i], i, error);
    }
    return status;
}

/* A pattern finds what goes to a job's queue, too, before the store has that queue: periodic jobs
 * begin with nothing. */
static culex_status lanes_of_jobs(culex_worker *worker, culex_error *error)
{
    const struct culex_queue_item plain = {.weight = 1};
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < worker->job_count && status == CULEX_OK; i++) {
        const char *queue = culex__job_queue(worker->jobs[i].type);
        const struct culex_queue_item *item = culex__lanes_item(worker, queue);
        if (worker->item_count == 0)
            status = lane_add(worker, queue, &plain, i, error);
        else if (item != NULL)
            status = lane_add(worker, queue, item, (size_t)(item - worker->items), error);
    }
    return status;
}

culex_status culex__lanes_create(culex_worker *worker, culex_error *error)
{
    if (worker->options.queue_count == 0 && worker->job_count == 0)
        return culex__fail(error, CULEX_EINVAL, "no job is registered");
    culex_status status = items_read(worker, error);
    if (status != CULEX_OK)
        return status;
    status = lanes_allocate(worker, error);
    if (status == CULEX_OK)
        status = lanes_of_items(worker, error);
    if (status == CULEX_OK)
        status = lanes_of_jobs(worker, error);
    if (status == CULEX_OK)
        status = culex__queue_options_check(worker, &worker->options, error);
    return status;
}

static bool lane_retune(struct culex_lane *lane)
{
    culex_worker *worker = lane->worker;
    const struct culex_queue_item plain = {.weight = 1};
    const struct culex_queue_item *item = culex__lanes_item(worker, lane->name);
    const struct culex_log_subject subject = {.queue = lane->name};
    char most[32] = "no bound of its own";
    const struct culex_queue_item whole =
        culex__queue_options_complete(&worker->options, lane->name, item != NULL ? item : &plain);
    if (whole.weight == lane->share.weight && whole.most == lane->share.most)
        return false;
    culex__share_set(lane, &whole);
    if (whole.most > 0)
        snprintf(most, sizeof most, "at most %u at a time", whole.most);
    culex__log_write(&worker->log, CULEX_LOG_INFO, &subject,
                     "configuration: queue %s: weight %u, %s", lane->name, whole.weight, most);
    return true;
}

size_t culex__lanes_retune(culex_worker *worker, const culex_queue_options *rows, size_t count)
{
    size_t changes = 0;
    worker->options.queue_options = rows;
    worker->options.queue_option_count = count;
    for (size_t i = 0; i < worker->lane_count; i++)
        changes += lane_retune(&worker->lanes[i]);
    culex__queue_options_advise(worker);
    if (changes > 0)
        culex__flight_withdraw(worker); /* what was claimed ahead would begin beside the bound */
    return changes;
}

void culex__lanes_free(culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        struct culex_lane *lane = &worker->lanes[i];
        culex__acks_free(lane);
        culex__beats_free(lane);
        culex__unread_free(lane);
        culex__figures_free(lane);
        culex__schemas_free(lane);
        free(lane->flights);
        culex__roster_free(lane);
    }
    culex__order_free(worker);
    free(worker->items);
    free(worker->lanes);
    free(worker->lane_names);
    free(worker->awaited_names);
    worker->items = NULL;
    worker->item_count = 0;
    worker->lanes = NULL;
    worker->lane_names = NULL;
    worker->awaited_names = NULL;
    worker->lane_count = worker->lane_room = 0;
}
