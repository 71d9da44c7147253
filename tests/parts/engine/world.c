#include "world.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "store/list_filter.h"

/* --- effects -------------------------------------------------------------------------------- */

static int64_t env_clock_ms(void *self)
{
    struct world *world = self;
    return WORLD_START_MS + world->now_ns / 1000000 + world->store_skew_ms;
}

static int64_t env_boottime_ns(void *self)
{
    return ((struct world *)self)->now_ns;
}

/* splitmix64 */
static void env_random(void *self, void *ret_bytes, size_t len)
{
    struct world *world = self;
    unsigned char *at = ret_bytes;
    while (len > 0) {
        uint64_t z = world->seed += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        z ^= z >> 31;
        size_t part = len < 8 ? len : 8;
        memcpy(at, &z, part);
        at += part;
        len -= part;
    }
}

/* The store draws the name of its door from this, and the machine has one set of such names: worlds
 * of one seed would stand in each other's way. */
static void store_random(void *self, void *ret_bytes, size_t len)
{
    struct world *world = self;
    unsigned char *bytes = ret_bytes;
    env_random(world, bytes, len);
    for (size_t i = 0; i < len; i++)
        bytes[i] ^= (unsigned char)(world->store_mask >> i % 8 * 8);
}

/* Another one for each world of each process. */
static uint64_t store_mask_choose(void)
{
    static uint32_t count;
    return (uint64_t)getpid() << 32 | count++;
}

static int env_poll(void *self, struct pollfd *fds, nfds_t count, int timeout_ms)
{
    struct world *world = self;
    if (++world->polls > 100000) {
        fprintf(stderr, "the worker does not come to an end:\n%.4000s\n", world->log);
        abort();
    }
    int ready = count > 0 ? poll(fds, count, 0) : 0;
    if (ready > 0)
        return ready;
    world_pass_until(world, world->now_ns + (int64_t)timeout_ms * 1000000);
    return count > 0 ? poll(fds, count, 0) : 0;
}

/* --- store with faults ----------------------------------------------------------------- */

static struct culex_store *store_of(struct culex_store *store)
{
    return ((struct world *)store)->store;
}

static enum world_fault fault_take(struct world *world)
{
    if (world->now_ns < world->fault_until_ns)
        return WORLD_REFUSE;
    if (world->fault_count == 0)
        return WORLD_OK;
    world->fault_count--;
    return world->fault;
}

static enum world_fault step_fault_take(struct world *world, const char *queue)
{
    if (world->fault_queue != NULL && strcmp(world->fault_queue, queue) != 0)
        return WORLD_OK;
    if (world->fault_skip > 0) {
        world->fault_skip--;
        return WORLD_OK;
    }
    return fault_take(world);
}

static culex_status fault_fail(enum world_fault fault, culex_error *error)
{
    culex_status status = fault == WORLD_REFUSE ? CULEX_ECONNECT
                          : fault == WORLD_TEAR ? CULEX_ESTORE
                                                : CULEX_EUNKNOWN;
    if (error != NULL) {
        error->code = status;
        strcpy(error->text, "injected fault");
    }
    return status;
}

static culex_status fake_enqueue(struct culex_store *store, const char *queue,
                                 const struct culex_ticket *ticket,
                                 const struct culex_new_run *runs, size_t count,
                                 struct culex_enqueue_result *results, culex_error *error)
{
    struct world *world = (struct world *)store;
    enum world_fault fault = WORLD_OK;
    world->enqueues++;
    world->ticket = ticket != NULL ? *ticket : (struct culex_ticket){0};
    if (world->enqueue_skip > 0) {
        world->enqueue_skip--;
    } else if (world->enqueue_fault_count > 0) {
        world->enqueue_fault_count--;
        fault = world->enqueue_fault;
    }
    if (fault == WORLD_REFUSE || fault == WORLD_LOSE_TRY)
        return fault_fail(fault, error);
    culex_status status =
        world->store->ops->enqueue(world->store, queue, ticket, runs, count, results, error);
    return fault == WORLD_LOSE_REPLY && status == CULEX_OK ? fault_fail(fault, error) : status;
}

static culex_status fake_enqueue_each(struct culex_store *store, const char *queue,
                                      const struct culex_ticket *tickets,
                                      const struct culex_new_run *runs, size_t count,
                                      struct culex_enqueue_result *results, culex_error *error)
{
    struct culex_store *inner = store_of(store);
    return inner->ops->enqueue_each(inner, queue, tickets, runs, count, results, error);
}

/* The answer to the step comes when nobody may wait for it any more. */
static bool step_is_cut(struct world *world)
{
    void (*in_step)(struct world * world) = world->in_step;
    if (in_step == NULL || world_ms(world) < world->in_step_ms)
        return false;
    world->in_step = NULL;
    world->in_step_ms = world_ms(world);
    in_step(world);
    return culex__store_earlier_ns(&world->base, INT64_MAX) <= world->now_ns;
}

/* All that the worker has or may get. */
static void runs_count(struct world *world, const struct culex_step *step)
{
    const culex_worker *worker = world->worker;
    if (worker == NULL) /* a client claims */
        return;
    size_t runs = step->want + worker->flight_count;
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane *lane = &worker->lanes[i];
        bool is_another = strcmp(lane->name, step->queue) != 0;
        runs += lane->granted + (is_another && lane->step.is_pending ? lane->step.want : 0);
    }
    world->ahead.runs_most = runs > world->ahead.runs_most ? runs : world->ahead.runs_most;
}

static size_t lines_count(struct world *world, const struct culex_step *step)
{
    size_t bytes = 0;
    for (size_t i = 0; i < step->ack_count; i++)
        bytes += step->acks[i].log.len;
    for (size_t i = 0; i < step->beat_count; i++)
        bytes += step->beats[i].log.len;
    if (bytes > world->line_bytes_max)
        world->line_bytes_max = bytes;
    return bytes;
}

/* As a store that is short of room. */
static culex_status step_without_lines(struct world *world, const struct culex_step *step,
                                       struct culex_step_reply *ret_reply, culex_error *error)
{
    struct culex_step rest = *step;
    struct culex_ack acks[CULEX_BATCH_MAX] = {{.attempt = 0}};
    struct culex_beat beats[CULEX_BATCH_MAX] = {{.attempt = 0}};
    for (size_t i = 0; i < step->ack_count; i++) {
        acks[i] = step->acks[i];
        acks[i].log = (struct culex_log_lines){.bytes = NULL};
    }
    for (size_t i = 0; i < step->beat_count; i++) {
        beats[i] = step->beats[i];
        beats[i].log = (struct culex_log_lines){.bytes = NULL};
    }
    rest.acks = acks;
    rest.beats = beats;
    world->lines_left--;
    culex_status status = world->store->ops->step(world->store, &rest, ret_reply, error);
    if (status == CULEX_OK)
        ret_reply->lines_left = true;
    return status;
}

static culex_status step_carry_out(struct world *world, const struct culex_step *step,
                                   struct culex_step_reply *ret_reply, culex_error *error)
{
    struct world_step *trace = &world->steps[world->step_count % WORLD_TRACE_MAX];
    world->step_count++;
    runs_count(world, step);
    *trace = (struct world_step){.nonce = step->nonce,
                                 .want = step->want,
                                 .ack_count = step->ack_count,
                                 .beat_count = step->beat_count,
                                 .at_ms = world_ms(world),
                                 .fault = step_fault_take(world, step->queue)};
    world->now_ns += 100000 + world->step_us * 1000; /* a call takes time */
    for (size_t i = 0; i < step->beat_count; i++) {
        if (step->beats[i].extend_ms > 0 && world->extended_ms == 0)
            world->extended_ms = world_ms(world) + 1;
        if (step->beats[i].progress == NULL)
            continue;
        world->progress_count++;
        snprintf(world->progress, sizeof world->progress, "%s", step->beats[i].progress);
    }
    if (trace->fault == WORLD_REFUSE)
        return fault_fail(trace->fault, error);
    if (step_is_cut(world))
        trace->fault = WORLD_LOSE_REPLY;
    culex_status status = lines_count(world, step) > 0 && world->lines_left > 0
                              ? step_without_lines(world, step, ret_reply, error)
                              : world->store->ops->step(world->store, step, ret_reply, error);
    if (status != CULEX_OK)
        return status;
    trace->grant_count = ret_reply->grant_count;
    ret_reply->room = world->room;
    for (size_t i = 0; world->payload_lens != 0 && i < ret_reply->grant_count; i++)
        ret_reply->grants[i].payload_len = world->payload_lens;
    world->now_ns += world->step_sleep_ms * 1000000;
    world->step_sleep_ms = 0;
    if (trace->fault != WORLD_OK) {
        world->store->ops->step_release(world->store, ret_reply);
        return fault_fail(trace->fault, error);
    }
    return CULEX_OK;
}

static void twin_grant(struct world *world, struct culex_step_reply *reply)
{
    const struct culex_run *ended = world->worker->lanes[0].acks.ends.first;
    if (!world->ahead.wants_twin || ended == NULL || reply->grant_count == 0)
        return;
    world->ahead.wants_twin = false;
    world->ahead.has_twin = true;
    world->ahead.twin = ended->facts.id;
    reply->grants[0].facts.id = ended->facts.id;
    reply->grants[0].facts.attempt = ended->facts.attempt;
}

static void twin_look(struct world *world, const struct culex_step *step)
{
    for (size_t i = 0; i < step->ack_count && world->ahead.has_twin; i++) {
        if (memcmp(&step->acks[i].id, &world->ahead.twin, sizeof world->ahead.twin) == 0)
            world->ahead.was_told = true;
    }
    world->ahead.has_twin = false;
}

static culex_status fake_step(struct culex_store *store, const struct culex_step *step,
                              struct culex_step_reply *ret_reply, culex_error *error)
{
    struct world *world = (struct world *)store;
    struct world_ahead *ahead = &world->ahead;
    world->sent_ns = world->now_ns;
    if (!ahead->is_out || ahead->nonce != step->nonce)
        return step_carry_out(world, step, ret_reply, error);
    ahead->is_out = false;
    world->sent_ns = ahead->sent_ns;
    twin_grant(world, &ahead->reply);
    *ret_reply = ahead->reply;
    *error = ahead->error;
    return ahead->status;
}

/* The lane whose step it is has what the answer before has granted. */
static void ahead_look(struct world *world, const struct culex_step *step)
{
    const culex_worker *worker = world->worker;
    size_t granted = 0;
    for (size_t i = 0; i < worker->lane_count; i++)
        granted += worker->lanes[i].granted;
    size_t busy = worker->crew.count + granted, starts = culex__step_starts(step);
    world->ahead.was_worked_up |= granted == 0;
    world->ahead.was_bold |= starts > 0 && busy + starts > worker->options.concurrency;
}

static bool fake_step_send(struct culex_store *store, const struct culex_step *step)
{
    struct world *world = (struct world *)store;
    struct world_ahead *ahead = &world->ahead;
    if (ahead->is_out)
        return false;
    ahead_look(world, step);
    twin_look(world, step);
    ahead->count++;
    ahead->is_out = true;
    ahead->nonce = step->nonce;
    ahead->want = step->want;
    ahead->sent_ns = world->now_ns;
    ahead->status = step_carry_out(world, step, &ahead->reply, &ahead->error);
    if (ahead->status == CULEX_OK && ahead->losses > 0) {
        ahead->losses--;
        world->store->ops->step_release(world->store, &ahead->reply);
        ahead->status = fault_fail(WORLD_LOSE_REPLY, &ahead->error);
    }
    return true;
}

static void fake_step_release(struct culex_store *store, struct culex_step_reply *reply)
{
    store_of(store)->ops->step_release(store_of(store), reply);
}

static culex_status fake_hello(struct culex_store *store, const char *queue, const char *worker,
                               const char *session, size_t *ret_released, int64_t *ret_now_ms,
                               culex_error *error)
{
    struct world *world = (struct world *)store;
    if (world->hello_queue != NULL && strcmp(world->hello_queue, queue) == 0)
        return culex__fail(error, world->hello_status, "injected refusal of %s", queue);
    culex_status status = store_of(store)->ops->hello(store_of(store), queue, worker, session,
                                                      ret_released, ret_now_ms, error);
    if (status != CULEX_OK || world->hello_losses == 0)
        return status;
    world->hello_losses--;
    *ret_released = 0;
    return fault_fail(WORLD_LOSE_REPLY, error);
}

/* By a run that is not due for hours. */
static void unique_key_take(struct world *world, const char *queue, const char *key)
{
    const struct culex_new_run run = {.job = "t.other",
                                      .delay_ms = 3600000,
                                      .attempts_max = 1,
                                      .unique_key = key,
                                      .unique_while = CULEX_UNIQUE_LIVE,
                                      .tags = "",
                                      .payload = "{}",
                                      .payload_len = 2};
    struct culex_enqueue_result result;
    assert_int_equal(world->store->ops->enqueue(world->store, queue, NULL, &run, 1, &result, NULL),
                     CULEX_OK);
}

static culex_status fake_tick(struct culex_store *store, const struct culex_tick *tick,
                              struct culex_tick_reply *ret_reply, culex_error *error)
{
    struct world *world = (struct world *)store;
    struct culex_tick request = *tick;
    struct culex_new_run run;
    if (world->tick_failures > 0) {
        world->tick_failures--;
        return fault_fail(WORLD_TEAR, error);
    }
    if (world->tick_refusals > 0 && tick->run != NULL) {
        world->tick_refusals--;
        run = *tick->run;
        run.unique_key = "f00d", run.unique_while = CULEX_UNIQUE_LIVE;
        unique_key_take(world, tick->queue, run.unique_key);
        request.run = &run;
    }
    return store_of(store)->ops->tick(store_of(store), &request, ret_reply, error);
}

static culex_status fake_cancel(struct culex_store *store, const char *queue, culex_uuid id,
                                culex_run_state *ret_state, culex_error *error)
{
    struct world *world = (struct world *)store;
    enum world_fault fault = fault_take(world);
    if (fault == WORLD_REFUSE)
        return fault_fail(fault, error);
    culex_status status = world->store->ops->cancel(world->store, queue, id, ret_state, error);
    return fault == WORLD_LOSE_REPLY ? fault_fail(fault, error) : status;
}

static culex_status fake_forget(struct culex_store *store, const char *queue, culex_uuid id,
                                culex_error *error)
{
    struct world *world = (struct world *)store;
    enum world_fault fault = fault_take(world);
    if (fault == WORLD_REFUSE)
        return fault_fail(fault, error);
    culex_status status = world->store->ops->forget(world->store, queue, id, error);
    return fault == WORLD_LOSE_REPLY ? fault_fail(fault, error) : status;
}

static culex_status fake_retry(struct culex_store *store, const char *queue, culex_uuid id,
                               culex_error *error)
{
    struct world *world = (struct world *)store;
    enum world_fault fault = fault_take(world);
    if (fault == WORLD_REFUSE)
        return fault_fail(fault, error);
    culex_status status = world->store->ops->retry(world->store, queue, id, error);
    return fault == WORLD_LOSE_REPLY ? fault_fail(fault, error) : status;
}

static culex_status fake_pause(struct culex_store *store, const char *queue, bool is_paused,
                               culex_error *error)
{
    return store_of(store)->ops->pause(store_of(store), queue, is_paused, error);
}

static culex_status fake_move(struct culex_store *store, const char *queue, culex_uuid id,
                              const struct culex_place *place, culex_error *error)
{
    return store_of(store)->ops->move(store_of(store), queue, id, place, error);
}

static culex_status fake_dead_limit(struct culex_store *store, const char *queue, uint64_t most,
                                    culex_error *error)
{
    return store_of(store)->ops->dead_limit(store_of(store), queue, most, error);
}

static culex_status fake_pause_for(struct culex_store *store, const char *queue, int64_t for_ms,
                                   culex_error *error)
{
    return store_of(store)->ops->pause_for(store_of(store), queue, for_ms, error);
}

static culex_status fake_limit(struct culex_store *store, const char *queue, uint64_t most,
                               culex_error *error)
{
    return store_of(store)->ops->limit(store_of(store), queue, most, error);
}

static culex_status fake_purge(struct culex_store *store, const char *queue, culex_run_state state,
                               size_t limit, struct culex_purge_reply *ret_reply,
                               culex_error *error)
{
    enum world_fault fault = step_fault_take((struct world *)store, queue);
    if (fault == WORLD_REFUSE)
        return fault_fail(fault, error);
    culex_status status =
        store_of(store)->ops->purge(store_of(store), queue, state, limit, ret_reply, error);
    return fault == WORLD_LOSE_REPLY ? fault_fail(fault, error) : status;
}

static culex_status fake_stats(struct culex_store *store, const char *queue,
                               culex_queue_stats *ret_stats, culex_error *error)
{
    return store_of(store)->ops->stats(store_of(store), queue, ret_stats, error);
}

static bool is_damaged(const struct world *world, culex_uuid id)
{
    static const culex_uuid none;
    return memcmp(&id, &none, sizeof id) != 0 && memcmp(&id, &world->damaged, sizeof id) == 0;
}

static culex_status fake_get(struct culex_store *store, const char *queue, culex_uuid id,
                             culex_run_info **ret_run, culex_error *error)
{
    if (is_damaged((const struct world *)store, id))
        return culex__fail(error, CULEX_ECORRUPT, "the run's record is damaged");
    return store_of(store)->ops->get(store_of(store), queue, id, ret_run, error);
}

static culex_status fake_run_log(struct culex_store *store, const char *queue, culex_uuid id,
                                 culex_buf *ret_lines, culex_error *error)
{
    return store_of(store)->ops->run_log(store_of(store), queue, id, ret_lines, error);
}

static culex_status fake_list(struct culex_store *store, const char *queue,
                              const culex_list_filter *filter, culex_list_cursor cursor,
                              size_t limit, struct culex_list_reply *ret_reply, culex_error *error)
{
    culex_run_state state = culex__filter_state(filter);
    if (state != CULEX_LIST_ANY)
        ((struct world *)store)->lists[state]++;
    return store_of(store)->ops->list(store_of(store), queue, filter, cursor, limit, ret_reply,
                                      error);
}

static void fake_list_release(struct culex_store *store, struct culex_list_reply *reply)
{
    store_of(store)->ops->list_release(store_of(store), reply);
}

static culex_status fake_queues(struct culex_store *store, char ***ret_names, culex_error *error)
{
    struct world *world = (struct world *)store;
    world->queue_looks++;
    if (world->queues_status != CULEX_OK)
        return culex__fail(error, world->queues_status, "injected refusal of all queues");
    return store_of(store)->ops->queues(store_of(store), ret_names, error);
}

static culex_status fake_fsck(struct culex_store *store, const char *queue, uint64_t cursor,
                              bool is_repairing, struct culex_fsck_reply *ret_reply,
                              culex_error *error)
{
    return store_of(store)->ops->fsck(store_of(store), queue, cursor, is_repairing, ret_reply,
                                      error);
}

static culex_status fake_now(struct culex_store *store, int64_t *ret_now_ms, culex_error *error)
{
    return store_of(store)->ops->now(store_of(store), ret_now_ms, error);
}

static culex_status fake_wake_arm(struct culex_store *store, const char *const *queues,
                                  size_t count, int64_t timeout_ms, int *ret_fd, culex_error *error)
{
    if (((struct world *)store)->has_no_wake) {
        *ret_fd = -1;
        return CULEX_OK;
    }
    return store_of(store)->ops->wake_arm(store_of(store), queues, count, timeout_ms, ret_fd,
                                          error);
}

static culex_status fake_wake_take(struct culex_store *store, bool *ret_woken, culex_error *error)
{
    return store_of(store)->ops->wake_take(store_of(store), ret_woken, error);
}

static void fake_wake_disarm(struct culex_store *store)
{
    store_of(store)->ops->wake_disarm(store_of(store));
}

static culex_status fake_wait(struct culex_store *store, const char *queue, const culex_uuid *ids,
                              size_t count, int64_t note_ms, culex_run_state *ret_states,
                              culex_error *error)
{
    struct world *world = (struct world *)store;
    world->waits++;
    if (world->wait_failures > 0) {
        world->wait_failures--;
        return culex__fail(error, world->wait_status, "injected failure of WAIT");
    }
    if (note_ms > 0 && world->is_full)
        return culex__fail(error, CULEX_EFULL, "injected lack of room");
    culex_status status =
        world->store->ops->wait(world->store, queue, ids, count, note_ms, ret_states, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        if (is_damaged(world, ids[i]))
            ret_states[i] = CULEX_RUN_DEAD;
    }
    return status;
}

static culex_status fake_wait_arm(struct culex_store *store, const char *const *queues,
                                  size_t count, int64_t timeout_ms, int *ret_fd, culex_error *error)
{
    struct world *world = (struct world *)store;
    if (world->has_no_wake) {
        *ret_fd = -1;
        return CULEX_OK;
    }
    return world->store->ops->wait_arm(world->store, queues, count, timeout_ms, ret_fd, error);
}

static void fake_close(struct culex_store *store)
{
    (void)store; /* the world closes the store itself */
}

static culex_status fake_schedules(struct culex_store *store, const char *queue,
                                   struct culex_schedule_list *ret_list, culex_error *error)
{
    return store_of(store)->ops->schedules(store_of(store), queue, ret_list, error);
}

static culex_status fake_schedule_run(struct culex_store *store, const char *queue,
                                      const char *schedule, int64_t asking,
                                      const struct culex_new_run *run,
                                      struct culex_enqueue_result *ret_result, culex_error *error)
{
    return store_of(store)->ops->schedule_run(store_of(store), queue, schedule, asking, run,
                                              ret_result, error);
}

static culex_status fake_limits(struct culex_store *store, const char *queue,
                                struct culex_limit_list *ret_list, culex_error *error)
{
    return store_of(store)->ops->limits(store_of(store), queue, ret_list, error);
}

static culex_status fake_limit_keys(struct culex_store *store, const char *queue, const char *name,
                                    const char *after, size_t most,
                                    struct culex_limit_key_list *ret_list, culex_error *error)
{
    return store_of(store)->ops->limit_keys(store_of(store), queue, name, after, most, ret_list,
                                            error);
}

static culex_status fake_batch(struct culex_store *store, const struct culex_batch_order *order,
                               culex_error *error)
{
    enum world_fault fault = fault_take((struct world *)store);
    if (fault == WORLD_REFUSE)
        return fault_fail(fault, error);
    culex_status status = store_of(store)->ops->batch(store_of(store), order, error);
    return fault == WORLD_LOSE_REPLY && status == CULEX_OK ? fault_fail(fault, error) : status;
}

static culex_status fake_batch_look(struct culex_store *store, const char *queue, culex_uuid id,
                                    culex_batch_info *ret_info, culex_error *error)
{
    return store_of(store)->ops->batch_look(store_of(store), queue, id, ret_info, error);
}

static culex_status fake_events_keep(struct culex_store *store, const char *queue, uint64_t most,
                                     culex_error *error)
{
    return store_of(store)->ops->events_keep(store_of(store), queue, most, error);
}

static culex_status fake_events(struct culex_store *store, const char *queue, uint64_t after,
                                size_t most, struct culex_event_list *ret_list, culex_error *error)
{
    return store_of(store)->ops->events(store_of(store), queue, after, most, ret_list, error);
}

static culex_status fake_schema_publish(struct culex_store *base, const char *queue,
                                        const struct culex_schema_text *schema, culex_error *error)
{
    struct world *world = (struct world *)base;
    return world->store->ops->schema_publish(world->store, queue, schema, error);
}

static culex_status fake_schemas(struct culex_store *base, const char *queue,
                                 struct culex_schema_list *ret_list, culex_error *error)
{
    struct world *world = (struct world *)base;
    return world->store->ops->schemas(world->store, queue, ret_list, error);
}

static culex_status fake_schema_text(struct culex_store *base, const char *queue,
                                     const struct culex_schema_id *id, culex_buf *ret_text,
                                     culex_error *error)
{
    struct world *world = (struct world *)base;
    return world->store->ops->schema_text(world->store, queue, id, ret_text, error);
}

static culex_status fake_schema_sweep(struct culex_store *base, const char *queue,
                                      struct culex_schema_list *ret_list, uint64_t *ret_arrivals,
                                      culex_error *error)
{
    struct world *world = (struct world *)base;
    return world->store->ops->schema_sweep(world->store, queue, ret_list, ret_arrivals, error);
}

static culex_status fake_schema_drop(struct culex_store *base, const char *queue,
                                     const struct culex_schema_drop *drop, culex_error *error)
{
    struct world *world = (struct world *)base;
    return world->store->ops->schema_drop(world->store, queue, drop, error);
}

static culex_status fake_figures(struct culex_store *store, const char *queue, const char *job,
                                 unsigned hours, const struct culex_figure_row *after, size_t most,
                                 struct culex_figure_list *ret_list, culex_error *error)
{
    return store_of(store)->ops->figures(store_of(store), queue, job, hours, after, most, ret_list,
                                         error);
}

static culex_status fake_batch_review(struct culex_store *store, const char *queue,
                                      struct culex_batch_review *ret_review, culex_error *error)
{
    return store_of(store)->ops->batch_review(store_of(store), queue, ret_review, error);
}

static const struct culex_store_ops fake_ops = {
    .name = "world",
    .enqueue = fake_enqueue,
    .enqueue_each = fake_enqueue_each,
    .step = fake_step,
    .step_send = fake_step_send,
    .step_release = fake_step_release,
    .hello = fake_hello,
    .tick = fake_tick,
    .cancel = fake_cancel,
    .retry = fake_retry,
    .forget = fake_forget,
    .fsck = fake_fsck,
    .move = fake_move,
    .pause = fake_pause,
    .pause_for = fake_pause_for,
    .limit = fake_limit,
    .dead_limit = fake_dead_limit,
    .events_keep = fake_events_keep,
    .events = fake_events,
    .schedules = fake_schedules,
    .schedule_run = fake_schedule_run,
    .limits = fake_limits,
    .limit_keys = fake_limit_keys,
    .purge = fake_purge,
    .stats = fake_stats,
    .get = fake_get,
    .run_log = fake_run_log,
    .list = fake_list,
    .list_release = fake_list_release,
    .queues = fake_queues,
    .now = fake_now,
    .wake_arm = fake_wake_arm,
    .wake_take = fake_wake_take,
    .wake_disarm = fake_wake_disarm,
    .wait = fake_wait,
    .wait_arm = fake_wait_arm,
    .batch = fake_batch,
    .batch_look = fake_batch_look,
    .batch_review = fake_batch_review,
    .figures = fake_figures,
    .schema_publish = fake_schema_publish,
    .schemas = fake_schemas,
    .schema_text = fake_schema_text,
    .schema_sweep = fake_schema_sweep,
    .schema_drop = fake_schema_drop,
    .close = fake_close,
};

/* --- the world ------------------------------------------------------------------------- */

static const culex_field number_fields[] = {{.name = "n",
                                             .wire = "n",
                                             .kind = CULEX_KIND_INT64,
                                             .flags = CULEX_FIELD_REQUIRED,
                                             .offset = offsetof(struct number, n)}};
const culex_struct_type number_struct = {"t.number", sizeof(struct number), number_fields, 1};

culex_job_type number_type(void)
{
    return (culex_job_type){
        .descriptor_version = CULEX_DESCRIPTOR_VERSION,
        .name = "t.number",
        .wire = "t.number",
        .queue = "numbers",
        .params = &number_struct,
        .fingerprint = 1,
        .priority = 5,
        .keep_success_ms = 3600000,
        .keep_failure_ms = 86400000,
        .retry = {.max = 4, .backoff = CULEX_BACKOFF_POLYNOMIAL, .base_ms = 2000, .factor = 2}};
}

void number_handler(void)
{
}

culex_outcome number_call(culex_run *run, culex_handler_fn handler, const void *params, void *user)
{
    struct world *world = user;
    int64_t n = ((const struct number *)params)->n;
    (void)handler;
    if (world->calls < 256) {
        world->call_ms[world->calls] = world_ms(world);
        world->call_n[world->calls] = n;
    }
    world->calls++;
    return world->act != NULL ? world->act(world, run, n) : CULEX_DONE;
}

void world_sink(void *self, const char *line, size_t len)
{
    struct world *world = self;
    if (len > WORLD_LOG_SIZE - 1 - world->log_len)
        return;
    memcpy(world->log + world->log_len, line, len);
    world->log_len += len;
    world->log[world->log_len] = '\0';
    if (world->start_line_ms > 0 && memmem(line, len, "started", 7) != NULL)
        world_pass(world, world->start_line_ms);
}

struct world *world_open(void)
{
    struct world *world = calloc(1, sizeof *world);
    culex_error error = {0};
    assert_non_null(world);
    world->env = *culex__env_system();
    world->env.self = world;
    world->env.clock_ms = env_clock_ms;
    world->env.boottime_ns = env_boottime_ns;
    world->env.random = env_random;
    world->env.poll = env_poll;
    world->store_env = world->env;
    world->store_env.random = store_random;
    world->store_mask = store_mask_choose();
    world->base.ops = &fake_ops;
    world->base.sends_ahead = true;
    world->base.env = &world->env;
    world->now_ns = 1000000000;
    assert_int_equal(culex__store_open("memory:", NULL, &world->store_env, &world->store, &error),
                     0);
    assert_int_equal(culex__client_create(&world->base, 5000, &world->env, &world->client, &error),
                     0);
    return world;
}

void world_close(struct world *world)
{
    culex_client_close(world->client);
    world->store->ops->close(world->store);
    free(world);
}

culex_worker *world_worker(struct world *world, culex_worker_options options,
                           const culex_job_type *type)
{
    culex_error error = {0};
    if (options.concurrency == 0)
        options.concurrency = 1;
    assert_int_equal(culex_worker_create(&options, &world->worker, &error), CULEX_OK);
    culex__worker_set_env(world->worker, &world->env);
    culex__worker_set_store(world->worker, &world->base);
    culex__worker_set_executor(world->worker, executor_inline_create);
    culex__worker_set_sink(world->worker,
                           (struct culex_log_sink){.write = world_sink, .self = world});
    if (type != NULL)
        assert_int_equal(
            culex_worker_register(world->worker, type, number_call, number_handler, world), 0);
    return world->worker;
}

void world_run(struct world *world)
{
    culex_error error = {0};
    if (culex_worker_run(world->worker, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    culex_worker_free(world->worker);
    world->worker = NULL;
}

culex_uuid world_enqueue(struct world *world, const culex_job_type *type, int64_t n)
{
    culex_uuid id;
    culex_error error = {0};
    struct number params = {n};
    if (culex_client_enqueue(world->client, type, &params, NULL, &id, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return id;
}

culex_run_info *world_get(struct world *world, culex_uuid id)
{
    culex_run_info *run = NULL;
    culex_error error = {0};
    if (culex_client_get(world->client, "numbers", id, &run, &error) != CULEX_OK)
        fail_msg("%s\n%.8000s", error.text, world->log);
    return run;
}

culex_run_state world_state(struct world *world, culex_uuid id)
{
    culex_run_info *run = world_get(world, id);
    culex_run_state state = run->state;
    culex_run_info_free(run);
    return state;
}

bool world_log_has(const struct world *world, const char *text)
{
    return strstr(world->log, text) != NULL;
}

unsigned world_log_count(const struct world *world, const char *text)
{
    unsigned count = 0;
    for (const char *at = world->log; (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

int64_t world_ms(const struct world *world)
{
    return (world->now_ns - 1000000000) / 1000000;
}

void world_pass(struct world *world, int64_t ms)
{
    world->now_ns += ms * 1000000;
}
