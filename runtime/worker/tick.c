/* worker/tick.c - periodic jobs: every worker asks, the store enqueues once.
 *
 * No leader and no clock of ours: the store keeps the newest tick of each schedule and takes
 * only a newer one, so a repeated or late call does nothing. A job by the interval runs at once
 * when it is new; one by the calendar leaves a mark, so that a tick that nobody is there for is
 * known as missed. */
#include "worker/worker_private.h"
#include "worker/outage.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "client/newrun.h"
#include "client/run_key.h"
#include "platform/zone_file.h"
#include "store/template.h"

enum { REFUSED_MS = 1000 }; /* from a refused tick to the next try */

static culex_status keys_make(struct culex_tick_state *tick, const void *params, culex_error *error)
{
    tick->keys = malloc(sizeof *tick->keys);
    if (tick->keys == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for periodic jobs");
    return culex__run_keys_make(tick->job->type, params, &tick->payload, tick->keys, &tick->run,
                                error);
}

/* A periodic job has no required params: its payload is that of all defaults, and so are its keys.
 */
static culex_status payload_make(struct culex_tick_state *tick, culex_error *error)
{
    const culex_struct_type *params = tick->job->type->params;
    const void *value = NULL;
    culex_arena *arena = culex_arena_create();
    if (arena == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for periodic jobs");
    culex_status status = culex_decode(params, arena, "{}", 2, &value, error);
    if (status == CULEX_OK && culex__job_has_keys(tick->job->type))
        status = keys_make(tick, value, error);
    if (status == CULEX_OK)
        status = culex_encode(params, value, &tick->payload, error);
    culex_arena_free(arena);
    return status;
}

static culex_status tags_make(struct culex_tick_state *tick, culex_error *error)
{
    const culex_job_type *type = tick->job->type;
    char tags[CULEX_TAGS_SIZE];
    culex_status status = culex__tags_join(type->tags, type->tag_count, tags, error);
    return status == CULEX_OK ? culex__buf_append(&tick->tags, tags, strlen(tags) + 1) : status;
}

static culex_status run_make(struct culex_tick_state *tick, culex_error *error)
{
    const culex_job_type *type = tick->job->type;
    tick->run = culex__new_run_make(type);
    culex_status status = payload_make(tick, error);
    if (status == CULEX_OK)
        status = tags_make(tick, error);
    if (status == CULEX_OK) {
        tick->run.tags = tick->tags.data;
        tick->run.payload = tick->payload.data;
        tick->run.payload_len = tick->payload.len;
        tick->run.content = culex__content_hash(type->wire, tick->payload.data, tick->payload.len);
        status = culex__template_write(&tick->run, &tick->template, error);
    }
    if (status != CULEX_OK)
        culex__error_context(error, "periodic job %s", type->name);
    return status;
}

static culex_status zone_load(struct culex_tick_state *tick, const char *name, culex_error *error)
{
    size_t len;
    culex_status status = culex__zone_file_read(name, &tick->zone, &len, error);
    if (status != CULEX_OK)
        return status;
    const char *fault = culex__zone_read(tick->zone, len, &tick->schedule.zone);
    return fault == NULL ? CULEX_OK
                         : culex__fail(error, CULEX_ECORRUPT, "time zone '%s': %s", name, fault);
}

static culex_status schedule_read(struct culex_tick_state *tick, culex_error *error)
{
    const culex_schedule *wanted = &tick->job->type->schedule;
    tick->schedule.every_ms = wanted->every_ms;
    tick->schedule.missed = wanted->missed;
    if (wanted->every_ms > 0)
        return CULEX_OK;
    const char *fault = culex__cron_read(wanted->cron, &tick->schedule.cron);
    culex_status status = CULEX_OK;
    if (fault != NULL)
        status = culex__fail(error, CULEX_EINVAL, "cron \"%s\": %s", wanted->cron, fault);
    else
        status = zone_load(tick, wanted->zone != NULL ? wanted->zone : "UTC", error);
    if (status != CULEX_OK)
        culex__error_context(error, "periodic job %s", tick->job->type->name);
    return status;
}

static bool is_periodic(const culex_job_type *type)
{
    return type->schedule.every_ms > 0 || type->schedule.cron != NULL;
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
    for (size_t i = 0; i < worker->job_count && !worker->is_unscheduled; i++) {
        const culex_job_type *type = worker->jobs[i].type;
        struct culex_lane *lane = lane_find(worker, culex__job_queue(type));
        if (!is_periodic(type) || lane == NULL || worker->jobs[i].call == NULL)
            continue;
        struct culex_tick_state *tick = &worker->ticks[worker->tick_count++];
        *tick = (struct culex_tick_state){.job = &worker->jobs[i], .lane = lane};
        culex_buf_init(&tick->payload, 0);
        culex_buf_init(&tick->tags, 0);
        culex_buf_init(&tick->template, 2 * CULEX_PAYLOAD_BYTES_MAX);
        culex_status status = schedule_read(tick, error);
        if (status == CULEX_OK)
            status = run_make(tick, error);
        if (status != CULEX_OK)
            return status;
    }
    return CULEX_OK;
}

void culex__ticks_free(culex_worker *worker)
{
    for (size_t i = 0; i < worker->tick_count; i++) {
        culex_buf_release(&worker->ticks[i].payload);
        culex_buf_release(&worker->ticks[i].tags);
        culex_buf_release(&worker->ticks[i].template);
        free(worker->ticks[i].zone);
        free(worker->ticks[i].keys);
    }
    free(worker->ticks);
    worker->ticks = NULL;
    worker->tick_count = 0;
}

static int64_t jitter_ms(const culex_worker *worker, const culex_job_type *type)
{
    if (type->schedule.jitter_ms <= 0)
        return 0;
    return (int64_t)(culex__env_random(worker->env) % ((uint64_t)type->schedule.jitter_ms + 1));
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

/* The tick that was asked for was due and is not the mark. */
static bool is_refused(const struct culex_tick *request, const struct culex_tick_reply *reply)
{
    int64_t tick_ms = request->tick_ms == 0 ? reply->now_ms : request->tick_ms;
    return request->run != NULL && !reply->is_enqueued && reply->mark_ms < tick_ms;
}

static void tick_take_reply(culex_worker *worker, struct culex_tick_state *tick,
                            const struct culex_tick *request, const struct culex_tick_reply *reply,
                            int64_t sent_ns)
{
    int64_t now_ns = culex__worker_now_ns(worker);
    culex__worker_learn_clock(worker, reply->now_ms, sent_ns);
    bool is_news = !tick->has_told || reply->mark_ms == request->tick_ms;
    tick->has_begun = reply->mark_ms != 0;
    tick->has_told = tick->has_begun && request->run != NULL;
    /* Without a mark there is no grid yet: it begins when a tick is taken. */
    if (tick->has_begun)
        tick->plan = culex__schedule_plan(&tick->schedule, reply->mark_ms, reply->now_ms);
    int64_t wait_ms = tick->has_told ? tick->plan.tick_ms - reply->now_ms : 0;
    bool was_refused = wait_ms <= 0 && is_refused(request, reply);
    if (was_refused)
        wait_ms = REFUSED_MS < request->interval_ms ? REFUSED_MS : request->interval_ms;
    refusal_tell(worker, tick, was_refused);
    /* At least a ms, so that a store with a strange mark is not asked in a tight loop; but a drain
     * ends where nothing is due. */
    int64_t least_ms = is_news && tick->has_begun ? 0 : 1;
    tick->at_ns = culex__after_ms(now_ns, wait_ms < least_ms ? least_ms : wait_ms);
    if (reply->is_enqueued)
        culex__outlook_set_likely(tick->lane);
}

static culex_status tick_send(culex_worker *worker, struct culex_tick_state *tick,
                              culex_error *error)
{
    const culex_job_type *type = tick->job->type;
    struct culex_new_run run = tick->run;
    run.delay_ms = jitter_ms(worker, type);
    bool is_of_calendar = type->schedule.every_ms <= 0;
    int64_t interval_ms = tick->has_begun ? tick->plan.interval_ms : type->schedule.every_ms;
    struct culex_tick request = {.queue = tick->lane->name,
                                 .schedule = type->wire,
                                 .tick_ms = tick->plan.tick_ms,
                                 .interval_ms = interval_ms < 1 ? 1 : interval_ms,
                                 .is_of_calendar = is_of_calendar,
                                 .may_overlap = type->schedule.may_overlap ||
                                                type->schedule.missed == CULEX_MISSED_ALL,
                                 .run = is_of_calendar && !tick->has_begun ? NULL : &run,
                                 .template = tick->template.data,
                                 .template_len = tick->template.len};
    struct culex_tick_reply reply = {0};
    int64_t sent_ns = culex__worker_now_ns(worker);
    culex_status status = worker->store->ops->tick(worker->store, &request, &reply, error);
    if (status == CULEX_OK)
        tick_take_reply(worker, tick, &request, &reply, sent_ns);
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
            culex__worker_call_succeeded(worker, &tick->trouble);
            continue;
        }
        culex__worker_call_failed(worker, tick->lane, &tick->trouble, status, &error);
        tick->at_ns = tick->trouble.retry_ns;
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
    for (size_t i = 0; i < worker->tick_count; i++) {
        if (worker->ticks[i].trouble.failures > 0)
            return true;
    }
    return due_ns(worker) <= now_ns;
}

int64_t culex__ticks_next_ns(const culex_worker *worker)
{
    int64_t next_ns = due_ns(worker);
    if (worker->phases.current != CULEX_WORKER_RUNNING)
        return INT64_MAX;
    return next_ns > worker->outage.until_ns ? next_ns : worker->outage.until_ns;
}
