/* worker/tick.c - periodic jobs: every worker asks, the store enqueues once.
 *
 * No leader and no clock of ours: the store keeps the newest tick of each schedule and takes
 * only a newer one, so a repeated or late call does nothing. */
#include "worker/worker_private.h"
#include "worker/outage.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/schedule.h"
#include "client/newrun.h"

enum { REFUSED_MS = 1000 }; /* from a refused tick to the next try */

/* A periodic job has no required params: its payload is that of all defaults. */
static culex_status tick_encode(struct culex_tick_state *tick, culex_error *error)
{
    const culex_struct_type *params = tick->job->type->params;
    const void *value = NULL;
    culex_buf text;
    culex_arena *arena = culex_arena_create();
    if (arena == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for periodic jobs");
    culex_buf_init(&text, 0);
    culex_status status = culex_decode(params, arena, "{}", 2, &value, error);
    if (status == CULEX_OK)
        status = culex_encode(params, value, &text, error);
    culex_arena_free(arena);
    if (status != CULEX_OK) {
        culex_buf_release(&text);
        culex__error_context(error, "periodic job %s", tick->job->type->name);
        return status;
    }
    tick->payload = text.data;
    tick->payload_len = text.len;
    return CULEX_OK;
}

static struct culex_lane *lane_find(culex_worker *worker, const char *queue)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (strcmp(worker->lanes[i].name, queue) == 0)
            return &worker->lanes[i];
    }
    return NULL;
}

culex_status culex__ticks_create(culex_worker *worker, culex_error *error)
{
    worker->ticks = calloc(worker->job_count + 1, sizeof *worker->ticks);
    if (worker->ticks == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for periodic jobs");
    for (size_t i = 0; i < worker->job_count; i++) {
        const culex_job_type *type = worker->jobs[i].type;
        struct culex_lane *lane = lane_find(worker, culex__job_queue(type));
        if (type->every_ms <= 0 || lane == NULL || worker->jobs[i].call == NULL)
            continue;
        struct culex_tick_state *tick = &worker->ticks[worker->tick_count++];
        *tick = (struct culex_tick_state){.job = &worker->jobs[i], .lane = lane};
        culex_status status = tick_encode(tick, error);
        if (status != CULEX_OK)
            return status;
    }
    return CULEX_OK;
}

void culex__ticks_free(culex_worker *worker)
{
    for (size_t i = 0; i < worker->tick_count; i++)
        free(worker->ticks[i].payload);
    free(worker->ticks);
    worker->ticks = NULL;
    worker->tick_count = 0;
}

static int64_t jitter_ms(const culex_worker *worker, const culex_job_type *type)
{
    if (type->every_jitter_ms <= 0)
        return 0;
    return (int64_t)(culex__env_random(worker->env) % ((uint64_t)type->every_jitter_ms + 1));
}

/* Once for as long as it goes on. */
static void refusal_tell(culex_worker *worker, struct culex_tick_state *tick, bool is_refused)
{
    const struct culex_log_subject subject = {.job = tick->job->type->name};
    if (is_refused && !tick->is_refused)
        culex__log_write(&worker->log, CULEX_LOG_WARNING, &subject,
                         "the periodic run is due and was refused: another run holds its unique "
                         "key; asking again until it is taken");
    tick->is_refused = is_refused;
}

static void tick_take_reply(culex_worker *worker, struct culex_tick_state *tick,
                            const struct culex_tick_reply *reply, int64_t sent_ns)
{
    int64_t now_ns = culex__worker_now_ns(worker);
    culex__worker_learn_clock(worker, reply->now_ms, sent_ns);
    /* Without a mark there is no grid yet: it begins when a tick is taken. */
    tick->tick_ms =
        reply->mark_ms == 0
            ? 0
            : culex__schedule_next_tick(reply->mark_ms, tick->job->type->every_ms, reply->now_ms);
    int64_t wait_ms = tick->tick_ms - reply->now_ms;
    bool is_refused = !reply->is_enqueued && wait_ms <= 0;
    if (is_refused)
        wait_ms = REFUSED_MS < tick->job->type->every_ms ? REFUSED_MS : tick->job->type->every_ms;
    refusal_tell(worker, tick, is_refused);
    /* At least a ms, so that a store with a strange mark is not asked in a tight loop. */
    tick->at_ns = culex__after_ms(now_ns, wait_ms < 1 ? 1 : wait_ms);
    if (reply->is_enqueued)
        culex__outlook_set_likely(tick->lane);
}

static culex_status tick_send(culex_worker *worker, struct culex_tick_state *tick,
                              culex_error *error)
{
    const culex_job_type *type = tick->job->type;
    struct culex_new_run run = culex__new_run_make(type);
    char tags[CULEX_TAGS_SIZE];
    culex_status status = culex__tags_join(type->tags, type->tag_count, tags, error);
    if (status != CULEX_OK)
        return status;
    run.delay_ms = jitter_ms(worker, type);
    run.tags = tags;
    run.payload = tick->payload;
    run.payload_len = tick->payload_len;
    run.content = culex__content_hash(type->wire, tick->payload, tick->payload_len);
    struct culex_tick request = {.queue = tick->lane->name,
                                 .schedule = type->wire,
                                 .tick_ms = tick->tick_ms,
                                 .interval_ms = type->every_ms,
                                 .run = &run};
    struct culex_tick_reply reply = {0};
    int64_t sent_ns = culex__worker_now_ns(worker);
    status = worker->store->ops->tick(worker->store, &request, &reply, error);
    if (status == CULEX_OK)
        tick_take_reply(worker, tick, &reply, sent_ns);
    return status;
}

void culex__ticks_run(culex_worker *worker, int64_t now_ns)
{
    for (size_t i = 0; i < worker->tick_count; i++) {
        struct culex_tick_state *tick = &worker->ticks[i];
        culex_error error = {0};
        if (now_ns < tick->at_ns || !tick->lane->greeting.is_done)
            continue;
        if (worker->outage.is_on && now_ns < worker->outage.until_ns)
            continue;
        culex_status status = tick_send(worker, tick, &error);
        if (status == CULEX_OK) {
            culex__worker_call_succeeded(worker, tick->lane);
            continue;
        }
        culex__worker_call_failed(worker, tick->lane, status, &error);
        tick->at_ns = tick->lane->trouble.retry_ns;
    }
}

/* Of the earliest one. */
static int64_t due_ns(const culex_worker *worker)
{
    int64_t next_ns = INT64_MAX;
    for (size_t i = 0; i < worker->tick_count; i++) {
        if (worker->ticks[i].lane->greeting.is_done && worker->ticks[i].at_ns < next_ns)
            next_ns = worker->ticks[i].at_ns;
    }
    return next_ns;
}

bool culex__ticks_are_due(const culex_worker *worker, int64_t now_ns)
{
    return due_ns(worker) <= now_ns;
}

int64_t culex__ticks_next_ns(const culex_worker *worker)
{
    int64_t next_ns = due_ns(worker);
    if (worker->phases.current != CULEX_WORKER_RUNNING)
        return INT64_MAX;
    return next_ns > worker->outage.until_ns ? next_ns : worker->outage.until_ns;
}
