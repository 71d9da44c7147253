#include "worker/lanes.h"

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
#include "worker/roster.h"
#include "worker/worker_private.h"

static culex_status lane_add(culex_worker *worker, const char *queue, size_t room,
                             culex_error *error)
{
    culex_status status = culex__queue_check(queue, error);
    if (status != CULEX_OK)
        return status;
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (strcmp(worker->lanes[i].name, queue) == 0)
            return CULEX_OK;
    }
    struct culex_lane *lane = &worker->lanes[worker->lane_count];
    lane->flights = calloc(room, sizeof *lane->flights);
    lane->flight_room = room;
    if (lane->flights == NULL || !culex__roster_init(lane, room)) {
        free(lane->flights);
        return culex__fail(error, CULEX_ENOMEM, "no memory for queue %s", queue);
    }
    lane->worker = worker;
    strcpy(lane->name, queue);
    culex__beats_init(lane);
    culex__greeting_prepare(lane);
    culex__outlook_init(lane);
    culex__appetite_init(lane);
    lane->beat_ns = lane->end_ns = INT64_MAX;
    worker->lane_names[worker->lane_count++] = lane->name;
    return CULEX_OK;
}

culex_status culex__lanes_create(culex_worker *worker, culex_error *error)
{
    const culex_worker_options *options = &worker->options;
    size_t count = options->queue_count > 0 ? options->queue_count : worker->job_count;
    size_t room = culex__pace_flights_max(worker) + 1;
    if (count == 0)
        return culex__fail(error, CULEX_EINVAL, "no job is registered");
    worker->lanes = calloc(count, sizeof *worker->lanes);
    worker->lane_names = calloc(count, sizeof *worker->lane_names);
    worker->awaited_names = calloc(count, sizeof *worker->awaited_names);
    if (worker->lanes == NULL || worker->lane_names == NULL || worker->awaited_names == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for %zu queues", count);
    for (size_t i = 0; i < count; i++) {
        const char *queue =
            options->queue_count > 0 ? options->queues[i] : culex__job_queue(worker->jobs[i].type);
        culex_status status = lane_add(worker, queue, room, error);
        if (status != CULEX_OK)
            return status;
    }
    return CULEX_OK;
}

void culex__lanes_free(culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        struct culex_lane *lane = &worker->lanes[i];
        culex__acks_free(lane);
        culex__beats_free(lane);
        culex__unread_free(lane);
        free(lane->flights);
        culex__roster_free(lane);
    }
    free(worker->lanes);
    free(worker->lane_names);
    free(worker->awaited_names);
    worker->lanes = NULL;
    worker->lane_names = NULL;
    worker->awaited_names = NULL;
    worker->lane_count = 0;
}
