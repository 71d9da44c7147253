#include "worker/queue_options.h"

#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/secret_name.h"
#include "client/newrun.h"
#include "worker/worker_private.h"

/* --- what they say --------------------------------------------------------------------------- */

static unsigned weight_of(const culex_queue_options *row)
{
    return row->weight;
}

static unsigned concurrency_of(const culex_queue_options *row)
{
    return row->concurrency;
}

/* The name itself wins over a pattern, an earlier pattern over a later one; 0 where none says it.
 */
static unsigned value_find(const culex_worker_options *options, const char *queue,
                           unsigned (*value_of)(const culex_queue_options *row))
{
    unsigned found = 0;
    for (size_t i = 0; i < options->queue_option_count; i++) {
        const culex_queue_options *row = &options->queue_options[i];
        unsigned value = value_of(row);
        if (value > 0 && strcmp(row->queue, queue) == 0)
            return value;
        if (found == 0 && culex__queue_pattern_meets(row->queue, queue))
            found = value;
    }
    return found;
}

struct culex_queue_item culex__queue_options_complete(const culex_worker_options *options,
                                                      const char *queue,
                                                      const struct culex_queue_item *item)
{
    struct culex_queue_item whole = *item;
    unsigned weight = value_find(options, queue, weight_of);
    if (!item->has_weight && weight > 0)
        whole.weight = weight;
    if (item->most == 0)
        whole.most = value_find(options, queue, concurrency_of);
    return whole;
}

/* --- of which queues ------------------------------------------------------------------------- */

struct place {
    const char *pattern; /* of the options */
    struct culex__nearest nearest;
    char best[CULEX_QUEUE_NAME_MAX + 1]; /* what `nearest` shows */
};

static bool is_met(struct place *place, const char *queue)
{
    if (culex__queue_pattern_meets(place->pattern, queue))
        return true;
    culex__nearest_offer(&place->nearest, queue);
    if (place->nearest.best == queue) {
        strcpy(place->best, queue);
        place->nearest.best = place->best;
    }
    return false;
}

/* What a pattern of the list may yet find is not known today. */
static bool is_met_by_item(struct place *place, const struct culex_queue_item *item)
{
    if (!item->is_pattern)
        return is_met(place, item->name);
    return strchr(place->pattern, '*') != NULL || culex__queue_item_meets(item, place->pattern);
}

static bool place_find(const culex_worker *worker, const culex_worker_options *options,
                       struct place *place)
{
    struct culex_queue_item item;
    for (size_t i = 0; i < options->queue_count; i++) {
        if (culex__queue_item_read(options->queues[i], &item, NULL) == CULEX_OK &&
            is_met_by_item(place, &item))
            return true;
    }
    for (size_t i = 0; i < worker->job_count && options->queue_count == 0; i++) {
        if (is_met(place, culex__job_queue(worker->jobs[i].type)))
            return true;
    }
    return false;
}

culex_status culex__queue_options_check(const culex_worker *worker,
                                        const culex_worker_options *options, culex_error *error)
{
    char meant[128];
    for (size_t i = 0; i < options->queue_option_count; i++) {
        const char *pattern = options->queue_options[i].queue;
        struct place place = {.pattern = pattern, .nearest = {.word = pattern}};
        if (!place_find(worker, options, &place))
            return culex__fail(
                error, CULEX_EUSAGE,
                "there are options for queue '%s', and this worker serves no such queue%s",
                culex__text_shown(pattern), culex__nearest_ask(&place.nearest, meant));
    }
    return CULEX_OK;
}

void culex__queue_options_advise(const culex_worker *worker)
{
    const culex_worker_options *options = &worker->options;
    for (size_t i = 0; i < options->queue_option_count; i++) {
        const char *pattern = options->queue_options[i].queue;
        bool has_lane = false;
        for (size_t k = 0; k < worker->lane_count && !has_lane; k++)
            has_lane = culex__queue_pattern_meets(pattern, worker->lane_names[k]);
        if (!has_lane)
            culex__log_write(&worker->log, CULEX_LOG_WARNING, NULL,
                             "there are options for queue '%s', and no such queue is served so far",
                             culex__text_shown(pattern));
    }
}
