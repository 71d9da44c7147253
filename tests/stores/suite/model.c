#include "model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/buf.h"
#include "core/progress.h"
#include "store/event_entry.h"
#include "store/figure_list.h"
#include "store/limit_list.h"
#include "store/metadata_list.h"
#include "store/schedule_list.h"
#include "store/schema_list.h"
#include "store/worker_list.h"

/* The rules' numbers, written again on purpose: changing one in run_rules.def alone
 * turns the suite red. */
enum {
    CRASHES_IN_A_ROW = 3,
    LOSSES = 10,
    LOSSES_OF_A_SUSPECT = 2,
    HORIZON_MS = 10 * 60 * 1000,
    TIMEOUT_SLACK_MS = 5000,
    LEASE_SLACK_MS = 1000,
    REAPED_AT_ONCE = 32,
    PROMOTED_AT_ONCE = 64,
    PURGED_AT_ONCE = 64,
    FORGET_GAP_MS = 1000,
    FAIR_PLACES = 16,
    BATCHES_IN_EACH_OTHER = 8,
    BATCHES_OF_A_RUN = 100,
    CALL_LEFT_MS = 60000,
};

/* --- memory, kept until close --------------------------------------------------------- */

struct model_block {
    struct model_block *next;
};

static void *keep(struct model *model, size_t size)
{
    struct model_block *block = calloc(1, sizeof *block + size);
    if (block == NULL)
        abort();
    block->next = model->blocks;
    model->blocks = block;
    return block + 1;
}

static const void *keep_bytes(struct model *model, const void *bytes, size_t len)
{
    char *copy = keep(model, len + 1);
    if (len > 0)
        memcpy(copy, bytes, len);
    return copy;
}

static const char *keep_text(struct model *model, const char *text)
{
    return text == NULL ? "" : keep_bytes(model, text, strlen(text));
}

/* Appends a zeroed element of `size` bytes to an array of pointers. */
#define APPEND(model, array, count)                                                                \
    ((array) = grow((array), (count)), (array)[(count)++] = keep((model), sizeof **(array)))

static void *grow(void *array, size_t count)
{
    if ((count & (count - 1)) != 0)
        return array; /* room is a power of two */
    void *grown = realloc(array, (count == 0 ? 1 : 2 * count) * sizeof(void *));
    if (grown == NULL)
        abort();
    return grown;
}

/* --- events --------------------------------------------------------------------------- */

static int64_t now_of(const struct model *model);

static void tell(struct model *model, struct model_queue *queue, culex_events_kind kind,
                 culex_uuid id, uint32_t attempt, const char *job)
{
    if (queue->events_kept == 0)
        return;
    if (queue->event_count == queue->event_room) {
        queue->event_room = queue->event_room * 2 + 64;
        queue->events = realloc(queue->events, queue->event_room * sizeof *queue->events);
        if (queue->events == NULL)
            abort();
    }
    culex_event *event = &queue->events[queue->event_count++];
    *event = (culex_event){.position = queue->event_count,
                           .kind = kind,
                           .id = id,
                           .attempt = attempt,
                           .at_ms = now_of(model),
                           .job = job != NULL ? keep_text(model, job) : ""};
}

static void tell_of(struct model *model, const struct model_run *run, culex_events_kind kind)
{
    tell(model, run->queue, kind, run->id, run->attempt, NULL);
}

static void tell_queue(struct model *model, struct model_queue *queue, culex_events_kind kind)
{
    tell(model, queue, kind, (culex_uuid){{0}}, 0, NULL);
}

/* --- finding -------------------------------------------------------------------------- */

static struct model *of(struct culex_store *store)
{
    return (struct model *)store;
}

static int64_t now_of(const struct model *model)
{
    const struct culex_env *env = model->base.env;
    return env->store_clock_ms != NULL ? env->store_clock_ms(env->self) : env->clock_ms(env->self);
}

static struct model_queue *queue_of(struct model *model, const char *name)
{
    for (size_t i = 0; i < model->queue_count; i++) {
        if (strcmp(model->queues[i]->name, name) == 0)
            return model->queues[i];
    }
    struct model_queue *queue = APPEND(model, model->queues, model->queue_count);
    queue->name = keep_text(model, name);
    return queue;
}

static struct model_run *find(struct model *model, const struct model_queue *queue, culex_uuid id)
{
    for (size_t i = 0; i < model->run_count; i++) {
        struct model_run *run = model->runs[i];
        if (run->queue == queue && !run->is_gone && memcmp(&run->id, &id, sizeof id) == 0)
            return run;
    }
    return NULL;
}

struct model_run *model_find(struct model *model, const char *queue, culex_uuid id)
{
    return find(model, queue_of(model, queue), id);
}

static struct model_name *name_of(struct model *model, struct model_name ***names, size_t *count,
                                  struct model_queue *queue, const char *name)
{
    for (size_t i = 0; i < *count; i++) {
        if ((*names)[i]->queue == queue && strcmp((*names)[i]->name, name) == 0)
            return (*names)[i];
    }
    struct model_name *made = APPEND(model, *names, *count);
    made->queue = queue;
    made->name = keep_text(model, name);
    return made;
}

static bool is_final(culex_run_state state)
{
    return state == CULEX_RUN_DONE || state == CULEX_RUN_DEAD || state == CULEX_RUN_CANCELLED;
}

/* --- limits ----------------------------------------------------------------------------- */

static struct model_limit *limit_find(const struct model *model, const struct model_queue *queue,
                                      const char *name)
{
    for (size_t i = 0; i < model->limit_count; i++) {
        if (model->limits[i]->queue == queue && strcmp(model->limits[i]->name, name) == 0)
            return model->limits[i];
    }
    return NULL;
}

/* The newest run tells what its limits are. */
static void limit_tell(struct model *model, struct model_queue *queue,
                       const struct culex_run_limit *told)
{
    struct model_limit *limit = limit_find(model, queue, told->name);
    if (limit == NULL) {
        limit = APPEND(model, model->limits, model->limit_count);
        limit->queue = queue;
        limit->name = keep_text(model, told->name);
    } else if (limit->kind != told->kind) {
        limit->set = (culex_limit_value){.count = 0};
    }
    limit->kind = told->kind;
    limit->declared = (culex_limit_value){told->count, told->per_ms, told->burst};
}

static void limits_keep(struct model *model, struct model_queue *queue, struct model_run *run)
{
    size_t count = run->made.limit_count;
    struct culex_run_limit *limits = keep(model, count * sizeof *limits);
    for (size_t i = 0; i < count; i++) {
        limits[i] = run->made.limits[i];
        limits[i].name = keep_text(model, limits[i].name);
        limits[i].key = keep_text(model, limits[i].key);
        limit_tell(model, queue, &limits[i]);
    }
    run->made.limits = limits;
}

static culex_limit_value value_of(const struct model_limit *limit)
{
    return limit->set.count > 0 ? limit->set : limit->declared;
}

/* Of the run, as it says them; NULL when it does not count there. */
static const struct culex_run_limit *counts_at(const struct model_run *run,
                                               const struct model_limit *limit, const char *key)
{
    for (size_t i = 0; i < run->made.limit_count && run->queue == limit->queue; i++) {
        const struct culex_run_limit *own = &run->made.limits[i];
        if (!run->is_gone && strcmp(own->name, limit->name) == 0 && strcmp(own->key, key) == 0)
            return own;
    }
    return NULL;
}

static uint64_t active_at(const struct model *model, const struct model_limit *limit,
                          const char *key)
{
    uint64_t count = 0;
    for (size_t i = 0; i < model->run_count; i++)
        count += model->runs[i]->state == CULEX_RUN_ACTIVE &&
                 counts_at(model->runs[i], limit, key) != NULL;
    return count;
}

static struct model_bucket *bucket_find(const struct model *model, const struct model_limit *limit,
                                        const char *key)
{
    for (size_t i = 0; i < model->bucket_count; i++) {
        if (model->buckets[i]->limit == limit && strcmp(model->buckets[i]->key, key) == 0)
            return model->buckets[i];
    }
    return NULL;
}

/* Microseconds that one token is worth: never more of them than declared. */
static int64_t token_us(culex_limit_value rate)
{
    int64_t whole = rate.per_ms * 1000 / rate.count;
    return whole * rate.count < rate.per_ms * 1000 ? whole + 1 : whole;
}

/* When a bucket was, or will be, full of which `tat_us` is kept; never further ahead than that of
 * an empty one. */
static int64_t clamp_us(const struct model *model, culex_limit_value rate, int64_t tat_us)
{
    int64_t now_us = now_of(model) * 1000, last_us = now_us + token_us(rate) * rate.burst;
    if (tat_us < now_us)
        return now_us;
    return tat_us < last_us ? tat_us : last_us;
}

static int64_t full_us(const struct model *model, const struct model_limit *limit, const char *key)
{
    const struct model_bucket *bucket = bucket_find(model, limit, key);
    return clamp_us(model, value_of(limit), bucket != NULL ? bucket->tat_us : 0);
}

/* From now until such a bucket has a token, in ms, rounded up. */
static int64_t wait_ms(const struct model *model, culex_limit_value rate, int64_t tat_us)
{
    int64_t first_us = clamp_us(model, rate, tat_us) - token_us(rate) * (rate.burst - INT64_C(1));
    int64_t in_us = first_us - now_of(model) * 1000;
    return in_us <= 0 ? 0 : (in_us + 999) / 1000;
}

static int64_t token_in_ms(const struct model *model, const struct model_limit *limit,
                           const char *key)
{
    return wait_ms(model, value_of(limit), full_us(model, limit, key));
}

static int64_t least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/* Buckets that are further from being full than an empty one: the clock was set back, or the limit
 * gives more by now. */
static void buckets_cut(const struct model *model, const struct model_queue *queue)
{
    for (size_t i = 0; i < model->bucket_count; i++) {
        struct model_bucket *bucket = model->buckets[i];
        if (bucket->limit->queue != queue || bucket->limit->kind != CULEX_LIMIT_RATE)
            continue;
        bucket->tat_us = least(bucket->tat_us, full_us(model, bucket->limit, bucket->key));
        bucket->least_us = least(bucket->least_us, bucket->tat_us);
    }
}

/* Whoever has granted had a token: that much is known of what a store keeps. */
static void token_take(struct model *model, const struct model_limit *limit, const char *key)
{
    culex_limit_value rate = value_of(limit);
    struct model_bucket *bucket = bucket_find(model, limit, key);
    if (bucket == NULL) {
        bucket = APPEND(model, model->buckets, model->bucket_count);
        bucket->limit = limit;
        bucket->key = keep_text(model, key);
    }
    int64_t *tats_us[] = {&bucket->tat_us, &bucket->least_us, &bucket->most_us};
    int64_t last_us = now_of(model) * 1000 + token_us(rate) * (rate.burst - INT64_C(1));
    for (size_t i = 0; i < 3; i++)
        *tats_us[i] = least(clamp_us(model, rate, *tats_us[i]), last_us) + token_us(rate);
}

static bool has_room_at(const struct model *model, const struct model_run *run,
                        const struct culex_run_limit *own)
{
    const struct model_limit *limit = limit_find(model, run->queue, own->name);
    switch (limit->kind) {
    case CULEX_LIMIT_CONCURRENCY:
        return active_at(model, limit, own->key) < value_of(limit).count;
    case CULEX_LIMIT_RATE:
        return token_in_ms(model, limit, own->key) == 0;
    case CULEX_LIMIT_NEEDS:
        return true;
    default:
        return !run->is_aside;
    }
}

/* The first of its limits that holds the run back; NULL for none. */
static const struct culex_run_limit *first_without_room(const struct model *model,
                                                        const struct model_run *run)
{
    for (size_t i = 0; i < run->made.limit_count; i++) {
        if (!has_room_at(model, run, &run->made.limits[i]))
            return &run->made.limits[i];
    }
    return NULL;
}

bool model_has_room(struct model *model, const struct model_run *run)
{
    return first_without_room(model, run) == NULL;
}

/* The first of its fair shares; NULL for none. */
static const struct culex_run_limit *share_of(const struct model *model,
                                              const struct model_run *run)
{
    for (size_t i = 0; i < run->made.limit_count; i++) {
        const struct culex_run_limit *own = &run->made.limits[i];
        if (limit_find(model, run->queue, own->name)->kind == CULEX_LIMIT_FAIR)
            return own;
    }
    return NULL;
}

void model_doubt(struct model *model)
{
    for (size_t i = 0; i < model->bucket_count; i++) {
        struct model_bucket *bucket = model->buckets[i];
        if (bucket->least_us <= now_of(model) * 1000)
            bucket->least_us = 0;
    }
    for (size_t i = 0; i < model->run_count; i++) {
        struct model_run *run = model->runs[i];
        if (share_of(model, run) == NULL)
            continue;
        run->least_ms = least(run->least_ms, now_of(model));
        if (run->most_ms < now_of(model))
            run->most_ms = now_of(model);
    }
}

/* Of a rate of the run's; NULL for other limits, and when it is full. */
static struct model_bucket *own_bucket(const struct model *model, const struct model_run *run,
                                       const struct culex_run_limit *own)
{
    const struct model_limit *limit = limit_find(model, run->queue, own->name);
    return limit->kind == CULEX_LIMIT_RATE ? bucket_find(model, limit, own->key) : NULL;
}

bool model_is_open(const struct model *model, const struct model_run *run)
{
    for (size_t i = 0; i < run->made.limit_count; i++) {
        const struct model_bucket *bucket = own_bucket(model, run, &run->made.limits[i]);
        if (bucket != NULL && wait_ms(model, value_of(bucket->limit), bucket->most_us) > 0)
            return true;
    }
    return false;
}

bool model_trust(struct model *model, struct model_run *run)
{
    run->is_aside = false; /* which runs of a share stand in the order is the store's affair */
    for (size_t i = 0; i < run->made.limit_count; i++) {
        struct model_bucket *bucket = own_bucket(model, run, &run->made.limits[i]);
        if (bucket != NULL && wait_ms(model, value_of(bucket->limit), bucket->tat_us) > 0)
            bucket->tat_us = bucket->least_us;
    }
    return model_has_room(model, run);
}

/* Of one fair share, in the ready order of those that need the same. */
static int standing_at(const struct model *model, const struct model_limit *limit, const char *key,
                       const char *needs)
{
    int count = 0;
    for (size_t i = 0; i < model->run_count; i++) {
        const struct model_run *run = model->runs[i];
        count += run->state == CULEX_RUN_WAITING && !run->is_aside &&
                 strcmp(model_needs(run), needs) == 0 && counts_at(run, limit, key) != NULL &&
                 first_without_room(model, run) == NULL;
    }
    return count;
}

/* One of its fair shares has no place in the ready order for it. */
static bool is_of_full_share(const struct model *model, struct model_run *run)
{
    bool is_full = false;
    culex_run_state state = run->state;
    run->state = CULEX_RUN_STATE_COUNT; /* it does not count itself */
    for (size_t i = 0; i < run->made.limit_count; i++) {
        const struct model_limit *limit = limit_find(model, run->queue, run->made.limits[i].name);
        is_full = is_full || (limit->kind == CULEX_LIMIT_FAIR &&
                              standing_at(model, limit, run->made.limits[i].key,
                                          model_needs(run)) >= FAIR_PLACES + run->made.priority);
    }
    run->state = state;
    return is_full;
}

/* --- turns ---------------------------------------------------------------------------- */

/* Made when it is new. */
static struct model_turn *turn_of(struct model *model, const struct model_run *run,
                                  const struct culex_run_limit *share)
{
    const struct model_limit *limit = limit_find(model, run->queue, share->name);
    for (size_t i = 0; i < model->turn_count; i++) {
        struct model_turn *turn = model->turns[i];
        if (turn->limit == limit && strcmp(turn->key, share->key) == 0 &&
            strcmp(turn->needs, model_needs(run)) == 0)
            return turn;
    }
    struct model_turn *turn = APPEND(model, model->turns, model->turn_count);
    turn->limit = limit;
    turn->needs = keep_text(model, model_needs(run));
    turn->key = keep_text(model, share->key);
    return turn;
}

static void turn_note(struct model *model, const struct model_run *run)
{
    const struct culex_run_limit *share = share_of(model, run);
    model->grants++;
    if (share != NULL)
        turn_of(model, run, share)->grant = model->grants;
}

/* Those that a limit holds back which is no share. */
static void held_note(const struct model *model, const struct model_queue *queue)
{
    for (size_t i = 0; i < model->run_count; i++) {
        struct model_run *run = model->runs[i];
        if (run->queue != queue || run->is_gone || run->state != CULEX_RUN_WAITING)
            continue;
        const struct culex_run_limit *behind = first_without_room(model, run);
        run->was_held =
            run->was_held ||
            (behind != NULL && limit_find(model, queue, behind->name)->kind != CULEX_LIMIT_FAIR);
    }
}

/* As many of the key wait already as the limit could let begin, and need the same. */
static bool is_crowded(const struct model *model, const struct model_run *run,
                       const struct culex_run_limit *own)
{
    const struct model_limit *limit = limit_find(model, run->queue, own->name);
    culex_limit_value value = value_of(limit);
    int64_t waiting = 0, room = limit->kind == CULEX_LIMIT_CONCURRENCY
                                    ? value.count - (int64_t)active_at(model, limit, own->key)
                                    : value.burst;
    if (limit->kind != CULEX_LIMIT_CONCURRENCY && limit->kind != CULEX_LIMIT_RATE)
        return false;
    for (size_t i = 0; i < model->run_count; i++) {
        const struct model_run *other = model->runs[i];
        waiting += other != run && other->state == CULEX_RUN_WAITING && !other->is_gone &&
                   strcmp(model_needs(other), model_needs(run)) == 0 &&
                   counts_at(other, limit, own->key) != NULL;
    }
    return waiting >= room;
}

static bool is_held_at_once(const struct model *model, const struct model_run *run)
{
    bool is_held = false;
    for (size_t i = 0; i < run->made.limit_count; i++)
        is_held = is_held || is_crowded(model, run, &run->made.limits[i]);
    return is_held;
}

/* The turn of the share of `run` comes before that of `other`, where both need the same;
 * *ret_differs is false where their order is another one. */
static bool has_turn_before(struct model *model, const struct model_run *run,
                            const struct model_run *other, bool *ret_differs)
{
    const struct culex_run_limit *one = share_of(model, run), *two = share_of(model, other);
    *ret_differs = false;
    if (one == NULL || two == NULL || strcmp(one->name, two->name) != 0 ||
        strcmp(model_needs(run), model_needs(other)) != 0 || run->was_put_in_front ||
        other->was_put_in_front || run->made.priority != other->made.priority)
        return false;
    uint64_t own = turn_of(model, run, one)->grant, theirs = turn_of(model, other, two)->grant;
    *ret_differs = own != theirs;
    return own < theirs;
}

/* --- the life of a run ------------------------------------------------------------------ */

static void make_ready(struct model *model, struct model_run *run, bool in_front)
{
    int64_t now = now_of(model);
    if (model->newest_ms < now)
        model->newest_ms = now;
    run->state = CULEX_RUN_WAITING;
    run->place = in_front ? --model->front : ++model->back;
    run->ready_ms = run->least_ms = run->most_ms = model->newest_ms;
    run->was_clock_behind = now < model->newest_ms;
    run->was_put_in_front = in_front;
    run->was_promoted = false;
    run->is_aside = is_of_full_share(model, run);
    run->was_held = is_held_at_once(model, run);
    if (run->made.limit_count > 0)
        held_note(model, run->queue);
}

static void make_due(struct model *model, struct model_run *run)
{
    make_ready(model, run, false);
    if (!run->is_delayed)
        return;
    run->ready_ms = run->least_ms = run->most_ms = run->at_ms;
    run->was_clock_behind = false;
    run->was_promoted = true;
}

void model_unpromote(struct model *model)
{
    for (size_t i = 0; i < model->run_count; i++) {
        struct model_run *run = model->runs[i];
        if (run->state == CULEX_RUN_WAITING && run->was_promoted && run->ready_ms > now_of(model) &&
            run->made.limit_count == 0) /* a step has given the others their place */
            run->state = CULEX_RUN_SCHEDULED;
    }
}

culex_run_state model_state(const struct model *model, const struct model_run *run)
{
    bool is_due = run->state == CULEX_RUN_SCHEDULED && run->at_ms <= now_of(model);
    return is_due ? CULEX_RUN_WAITING : run->state;
}

bool model_is_paused(const struct model *model, const struct model_queue *queue)
{
    return now_of(model) < queue->paused_until_ms;
}

static void make_scheduled(struct model *model, struct model_run *run, int64_t at_ms)
{
    run->is_delayed = at_ms > now_of(model);
    run->state = CULEX_RUN_SCHEDULED;
    run->at_ms = at_ms;
}

/* The run has ended, or is gone before: whether somebody waited for that. */
static bool is_told(struct model *model, struct model_run *run)
{
    bool is_awaited = run->awaited_ms > now_of(model);
    run->awaited_ms = 0;
    model->told += is_awaited;
    return is_awaited;
}

/* --- batches ---------------------------------------------------------------------------- */

static struct model_batch *batch_find(struct model *model, const struct model_queue *queue,
                                      culex_uuid id)
{
    for (size_t i = 0; i < model->batch_count; i++) {
        struct model_batch *batch = model->batches[i];
        if (batch->queue == queue && !batch->is_gone && memcmp(&batch->id, &id, sizeof id) == 0)
            return batch;
    }
    return NULL;
}

static bool batch_has_succeeded(const struct model_batch *batch)
{
    return batch->info.done == batch->info.added && !batch->info.is_expired;
}

static bool batch_tells(const struct model_batch *batch, int when)
{
    if (when == CULEX_BATCH_ON_DEATH)
        return batch->info.dead > 0;
    return batch->info.is_ended && (when == CULEX_BATCH_ON_COMPLETE || batch_has_succeeded(batch));
}

static bool batch_never_tells(const struct model_batch *batch, int when)
{
    if (when == CULEX_BATCH_ON_SUCCESS)
        return batch->info.dead > 0 || batch->info.cancelled > 0 || batch->info.is_expired;
    return when == CULEX_BATCH_ON_DEATH && batch->info.is_ended && batch->info.dead == 0;
}

static void batch_count(struct model *model, struct model_batch *batch, culex_run_state state);

/* After each change of it. */
static void batch_look(struct model *model, struct model_batch *batch)
{
    culex_batch_info *info = &batch->info;
    if (info->is_ended || !info->is_closed ||
        info->added > info->done + info->dead + info->cancelled)
        return;
    info->is_ended = true;
    batch->at_ms = now_of(model) + batch->keep_ms;
    if (batch->parent != NULL)
        batch_count(model, batch->parent,
                    batch_has_succeeded(batch) ? CULEX_RUN_DONE
                    : info->dead > 0           ? CULEX_RUN_DEAD
                                               : CULEX_RUN_CANCELLED);
}

static void batch_count(struct model *model, struct model_batch *batch, culex_run_state state)
{
    batch->info.done += state == CULEX_RUN_DONE;
    batch->info.dead += state == CULEX_RUN_DEAD;
    batch->info.cancelled += state == CULEX_RUN_CANCELLED;
    batch_look(model, batch);
}

static void member_end(struct model *model, struct model_run *run, culex_run_state state)
{
    struct model_batch *batch = run->batch;
    run->batch = NULL;
    if (batch != NULL)
        batch_count(model, batch, state);
    for (size_t i = 0; i < model->batch_count; i++) {
        if (model->batches[i]->after != run)
            continue;
        model->batches[i]->after = NULL;
        batch_count(model, model->batches[i], state);
    }
}

static bool batch_has_calls_left(const struct model_batch *batch)
{
    for (int when = 1; when <= CULEX_BATCH_ON_DEATH; when++) {
        if (batch->calls[when].is_given && !batch->calls[when].is_brought &&
            batch_tells(batch, when))
            return true;
    }
    return false;
}

/* STEP. */
static void batches_pass(struct model *model, const struct model_queue *queue)
{
    for (size_t i = 0; i < model->batch_count; i++) {
        struct model_batch *batch = model->batches[i];
        if (batch->queue != queue || batch->is_gone || batch->at_ms > now_of(model))
            continue;
        if (batch->info.is_ended && batch_has_calls_left(batch)) {
            batch->at_ms = now_of(model) + CALL_LEFT_MS;
            continue;
        }
        batch->is_gone = batch->info.is_ended;
        if (batch->info.is_closed)
            continue;
        batch->at_ms = INT64_MAX;
        batch->info.is_closed = batch->info.is_expired = true;
        batch_look(model, batch);
    }
}

/* Their times are as those of records that are to be forgotten. */
static void batches_outlook(const struct model *model, const struct model_queue *queue,
                            struct culex_step_reply *reply)
{
    for (size_t i = 0; i < model->batch_count; i++) {
        const struct model_batch *batch = model->batches[i];
        if (batch->queue != queue || batch->is_gone || batch->at_ms == INT64_MAX)
            continue;
        int64_t in = batch->at_ms - reply->now_ms;
        in = in <= 0 ? 0 : in < FORGET_GAP_MS ? FORGET_GAP_MS : in;
        if (reply->due_in_ms < 0 || in < reply->due_in_ms)
            reply->due_in_ms = in;
    }
}

static void make_final(struct model *model, struct model_run *run, culex_run_state state)
{
    culex_queue_stats *stats = &run->queue->stats;
    run->state = state;
    int64_t keep_ms =
        state == CULEX_RUN_DEAD ? run->made.keep_failure_ms : run->made.keep_success_ms;
    if (is_told(model, run) && keep_ms < CULEX_WAIT_KEEP_MS)
        keep_ms = CULEX_WAIT_KEEP_MS;
    member_end(model, run, state);
    tell_of(model, run,
            state == CULEX_RUN_DONE   ? CULEX_EVENTS_DONE
            : state == CULEX_RUN_DEAD ? CULEX_EVENTS_DEAD
                                      : CULEX_EVENTS_CANCELLED);
    run->at_ms = now_of(model) + keep_ms;
    run->is_gone = state == CULEX_RUN_DONE && keep_ms <= 0;
    stats->done += state == CULEX_RUN_DONE;
    stats->dead += state == CULEX_RUN_DEAD;
    stats->cancelled += state == CULEX_RUN_CANCELLED;
}

static bool is_spent(const struct culex_run_counters *counters)
{
    return counters->failures + counters->crashes >= counters->attempts_max ||
           counters->crash_streak >= CRASHES_IN_A_ROW || counters->losses >= LOSSES;
}

/* --- unique keys ------------------------------------------------------------------------ */

static bool is_key(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* NULL where nobody has ever taken it. */
static struct model_unique *unique_find(struct model *model, const struct model_queue *queue,
                                        const char *text)
{
    for (size_t i = 0; i < model->unique_count && is_key(text); i++) {
        struct model_unique *unique = model->uniques[i];
        if (unique->queue == queue && strcmp(unique->text, text) == 0)
            return unique;
    }
    return NULL;
}

static bool is_within(const struct model *model, const struct model_run *run)
{
    return run->unique_until_ms == 0 || run->unique_until_ms > now_of(model);
}

static bool is_keeping(const struct model_run *run, culex_run_state state)
{
    return is_key(run->made.unique_key) && (run->made.unique_while >> state & 1) != 0;
}

/* NULL when the key is free. */
static struct model_unique *unique_holder(struct model *model, const struct model_queue *queue,
                                          const char *text)
{
    struct model_unique *unique = unique_find(model, queue, text);
    if (unique == NULL || unique->until_ms != 0)
        return unique != NULL && unique->until_ms > now_of(model) ? unique : NULL;
    const struct model_run *run = find(model, queue, unique->id);
    if (run == NULL || strcmp(run->made.unique_key, text) != 0)
        return NULL;
    culex_run_state state = model_state(model, run);
    bool is_expired = state == CULEX_RUN_WAITING && model_is_expired(model, run);
    return is_keeping(run, state) && is_within(model, run) && !is_expired ? unique : NULL;
}

static void unique_take(struct model *model, const struct model_run *run)
{
    struct model_unique *unique = unique_find(model, run->queue, run->made.unique_key);
    if (!is_key(run->made.unique_key))
        return;
    if (unique == NULL) {
        unique = APPEND(model, model->uniques, model->unique_count);
        unique->queue = run->queue;
        unique->text = run->made.unique_key;
    }
    unique->id = run->id;
    unique->until_ms = run->made.unique_while == 0 ? run->unique_until_ms : 0;
    unique->is_doubtful = false;
}

/* Its window was over, and is not any more: the clock was set back. */
static bool is_left(const struct model *model, const struct model_unique *unique)
{
    return unique->until_ms > now_of(model) && unique->until_ms <= model->newest_ms;
}

bool model_key_is_doubtful(struct model *model, const struct model_run *run)
{
    const struct model_unique *unique = unique_find(model, run->queue, run->made.unique_key);
    return unique != NULL && (unique->is_doubtful || is_left(model, unique));
}

/* The store has answered with this id: of the run that has the key, or of a new one. */
static void unique_learn(struct model *model, const struct model_queue *queue, const char *text,
                         culex_uuid told)
{
    struct model_unique *unique = unique_find(model, queue, text);
    if (unique == NULL || !unique->is_doubtful)
        return;
    const struct model_run *holder = find(model, queue, told);
    unique->is_doubtful = false;
    unique->id = told;
    unique->until_ms =
        holder != NULL && holder->made.unique_while == 0 ? holder->unique_until_ms : 0;
}

/* An ack, a claim or an operator has brought it where it is: it has its key again, if that is free.
 */
static void unique_return(struct model *model, const struct model_run *run)
{
    struct model_unique *unique = unique_find(model, run->queue, run->made.unique_key);
    if (!is_keeping(run, model_state(model, run)) || !is_within(model, run))
        return;
    if (unique != NULL && is_left(model, unique))
        unique->is_doubtful = true;
    else if (unique_holder(model, run->queue, run->made.unique_key) == NULL &&
             (unique == NULL || !unique->is_doubtful))
        unique_take(model, run);
}

/* --- ends ------------------------------------------------------------------------------- */

static void set_error(struct model *model, struct model_run *run, const char *text)
{
    if (text != NULL && text[0] != '\0')
        run->error_text = keep_text(model, text);
}

static uint64_t charges_of(const struct model_run *run)
{
    return (uint64_t)run->counters.failures + run->counters.crashes + run->counters.losses;
}

static bool has_failed(const struct model_run *run)
{
    return charges_of(run) > 0;
}

/* Its time for retries is over. */
static void make_late(struct model *model, struct model_run *run)
{
    char text[CULEX_ERROR_TEXT_MAX * 2];
    snprintf(text, sizeof text, "the retry deadline has passed%s%s",
             run->error_text[0] != '\0' ? ": " : "", run->error_text);
    size_t len = strlen(text);
    while (len > CULEX_ERROR_TEXT_MAX || ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    text[len] = '\0';
    set_error(model, run, text);
    make_final(model, run, CULEX_RUN_DEAD);
}

/* Ends an execution that did not succeed and may be tried again. */
static void give_back(struct model *model, struct model_run *run, const struct culex_ack *ack,
                      bool is_charged, bool is_vanished)
{
    int64_t now = now_of(model);
    int64_t next = now + (ack->event != CULEX_EVENT_LOSS && ack->delay_ms > 0 ? ack->delay_ms : 0);
    bool has_bound = run->made.retry_for_ms > 0 && has_failed(run);
    int64_t until =
        is_charged && charges_of(run) == 1 ? now + run->made.retry_for_ms : run->expires_at_ms;
    if (run->is_cancel_requested)
        make_final(model, run, CULEX_RUN_CANCELLED);
    else if (is_charged && is_spent(&run->counters))
        make_final(model, run, CULEX_RUN_DEAD);
    else if (is_charged && has_bound && next >= until)
        make_late(model, run);
    else if (ack->event == CULEX_EVENT_FAIL || ack->event == CULEX_EVENT_CRASH)
        make_scheduled(model, run, now + (ack->delay_ms > 0 ? ack->delay_ms : 0));
    else if (ack->event == CULEX_EVENT_RELEASE && ack->delay_ms > 0)
        make_scheduled(model, run, now + ack->delay_ms);
    else
        make_ready(model, run, ack->event != CULEX_EVENT_LOSS || !model_is_suspect(run));
    run->is_started = ack->event == CULEX_EVENT_LOSS && run->state == CULEX_RUN_WAITING;
    bool has_begun = ack->event != CULEX_EVENT_RELEASE || ack->has_begun;
    if (has_begun &&
        !is_final(run->state)) /* only a run that nobody ever began expires by itself */
        run->expires_at_ms = has_bound ? until : 0;
    if (!is_vanished && ack->event != CULEX_EVENT_LOSS)
        unique_return(model, run);
}

/* `is_vanished`: nobody has told it. */
static void settle(struct model *model, struct model_run *run, const struct culex_ack *ack,
                   bool is_vanished)
{
    struct culex_run_counters *counters = &run->counters;
    culex_queue_stats *stats = &run->queue->stats;
    switch (ack->event) {
    case CULEX_EVENT_DONE:
        run->result = keep_bytes(model, ack->result, ack->result_len);
        run->result_len = ack->result_len;
        make_final(model, run, CULEX_RUN_DONE);
        break;
    case CULEX_EVENT_FAIL:
        tell_of(model, run, CULEX_EVENTS_FAILED);
        counters->failures++;
        counters->crash_streak = 0;
        stats->failed++;
        set_error(model, run, ack->text);
        give_back(model, run, ack, true, is_vanished);
        break;
    case CULEX_EVENT_CRASH:
        tell_of(model, run, CULEX_EVENTS_CRASHED);
        counters->crashes++;
        counters->crash_streak++;
        stats->crashed++;
        set_error(model, run, ack->text);
        give_back(model, run, ack, true, is_vanished);
        break;
    case CULEX_EVENT_LOSS:
        tell_of(model, run, CULEX_EVENTS_LOST);
        counters->losses++;
        stats->lost++;
        set_error(model, run, ack->text);
        give_back(model, run, ack, true, is_vanished);
        break;
    case CULEX_EVENT_RELEASE:
        tell_of(model, run, CULEX_EVENTS_RELEASED);
        set_error(model, run, ack->text);
        give_back(model, run, ack, false, is_vanished);
        break;
    case CULEX_EVENT_DISCARD:
        tell_of(model, run, CULEX_EVENTS_FAILED);
        counters->failures++;
        counters->crash_streak = 0;
        stats->failed++;
        set_error(model, run, ack->text);
        make_final(model, run, CULEX_RUN_DEAD);
        break;
    default:
        abort(); /* the callers send no other */
    }
}

/* Its holder says nothing any more. To blame is only what had started; the other is watched from
 * now on, for it may have started unseen. */
static void vanish(struct model *model, struct model_run *run, const char *how)
{
    char story[256];
    struct culex_ack end = {.event = CULEX_EVENT_RELEASE};
    if (run->is_started) {
        end = (struct culex_ack){.event = CULEX_EVENT_LOSS, .text = story};
        snprintf(story, sizeof story, "%s before the worker said how the run ended (loss %u of %d)",
                 how, run->counters.losses + 1, LOSSES);
    }
    settle(model, run, &end, true);
    run->is_started = run->state == CULEX_RUN_WAITING;
}

/* Drops the elements of an array of pointers for which `is_over` holds. */
#define DROP(array, count, is_over)                                                                \
    do {                                                                                           \
        size_t kept_ = 0;                                                                          \
        for (size_t i = 0; i < (count); i++) {                                                     \
            if (!(is_over))                                                                        \
                (array)[kept_++] = (array)[i];                                                     \
        }                                                                                          \
        (count) = kept_;                                                                           \
        (array) = fit((array), kept_);                                                             \
    } while (0)

/* As grow() expects it: a power of two, with place for the next. */
static void *fit(void *array, size_t count)
{
    size_t room = 1;
    while (room <= count)
        room *= 2;
    void *fitted = realloc(array, room * sizeof(void *));
    if (fitted == NULL)
        abort();
    return fitted;
}

static bool unique_is_over(struct model *model, const struct model_unique *unique, int64_t long_ago)
{
    return unique->until_ms != 0 ? unique->until_ms < long_ago
                                 : find(model, unique->queue, unique->id) == NULL;
}

void model_shrink(struct model *model)
{
    int64_t long_ago = now_of(model) - HORIZON_MS; /* a clock that was set back finds them again */
    DROP(model->runs, model->run_count, model->runs[i]->is_gone);
    DROP(model->producers, model->producer_count, model->producers[i]->last_ms < long_ago);
    DROP(model->keys, model->key_count, model->keys[i]->until_ms < long_ago);
    DROP(model->uniques, model->unique_count, unique_is_over(model, model->uniques[i], long_ago));
    DROP(model->buckets, model->bucket_count,
         model->buckets[i]->most_us < long_ago * INT64_C(1000));
}

/* --- ENQUEUE ---------------------------------------------------------------------------- */

/* `count` bits of an id from `first` on, the most significant one first. */
static uint64_t bits_of(culex_uuid id, int first, int count)
{
    uint64_t bits = 0;
    for (int i = first; i < first + count; i++)
        bits = bits << 1 | (id.b[i / 8] >> (7 - i % 8) & 1);
    return bits;
}

static void bits_set(culex_uuid *id, int first, int count, uint64_t bits)
{
    for (int i = first + count - 1; i >= first; i--, bits >>= 1) {
        if (bits & 1)
            id->b[i / 8] |= (uint8_t)(0x80 >> i % 8);
    }
}

static culex_uuid id_make(struct model *model, struct model_queue *queue)
{
    culex_uuid id = {{0}};
    if (!queue->has_salt)
        queue->salt = ++model->newest_salt;
    queue->has_salt = true;
    bits_set(&id, 0, 48, (uint64_t)now_of(model));
    bits_set(&id, 48, 4, 7);
    bits_set(&id, 52, 12, queue->salt >> 14);
    bits_set(&id, 64, 2, 2);
    bits_set(&id, 66, 14, queue->salt);
    bits_set(&id, 84, 44, ++queue->numbers[0]);
    return id;
}

/* NULL when the id is what the contract promises. */
static const char *id_check(const struct model *model, const struct model_queue *queue,
                            culex_uuid id, uint32_t salt)
{
    uint64_t number = bits_of(id, 84, 44), last = queue->numbers[bits_of(id, 80, 4)];
    if (bits_of(id, 48, 4) != 7 || bits_of(id, 64, 2) != 2)
        return "an id is not of version 7";
    if (bits_of(id, 0, 48) != (uint64_t)now_of(model))
        return "an id has not the time of its enqueue";
    if (queue->has_salt && salt != queue->salt)
        return "an id has another salt than its queue";
    if (number <= last)
        return number == last ? "a number is given twice" : "a number has not grown in its lane";
    return NULL;
}

static culex_uuid id_take(struct model *model, struct model_queue *queue, culex_uuid id)
{
    uint32_t salt = (uint32_t)(bits_of(id, 52, 12) << 14 | bits_of(id, 66, 14));
    const char *fault = id_check(model, queue, id, salt);
    model->id_fault = model->id_fault != NULL ? model->id_fault : fault;
    queue->has_salt = true;
    queue->salt = salt;
    queue->numbers[bits_of(id, 80, 4)] = bits_of(id, 84, 44);
    return id;
}

void model_give_ids(struct model *model, const culex_uuid *ids)
{
    model->given = ids;
}

/* All that a call tells of a run. */
static void run_fill(struct model *model, struct model_run *run, const struct culex_new_run *made)
{
    int64_t now = now_of(model);
    run->made = *made;
    run->made.job = keep_text(model, made->job);
    run->made.tags = keep_text(model, made->tags);
    run->made.unique_key = keep_text(model, made->unique_key);
    run->made.payload = keep_bytes(model, made->payload, made->payload_len);
    limits_keep(model, run->queue, run);
    run->counters.attempts_max = made->attempts_max;
    run->unique_until_ms = made->unique_for_ms > 0 ? now + made->unique_for_ms : 0;
}

static int64_t due_of(const struct model *model, const struct culex_new_run *made)
{
    int64_t now = now_of(model);
    return made->at_ms != 0 ? made->at_ms : made->delay_ms > 0 ? now + made->delay_ms : now;
}

static void run_place(struct model *model, struct model_run *run, int64_t due)
{
    if (due > now_of(model))
        make_scheduled(model, run, due);
    else
        make_ready(model, run, false);
}

static void run_date(const struct model *model, struct model_run *run, int64_t due)
{
    int64_t now = now_of(model), expires_ms = run->made.expires_ms;
    run->expires_at_ms = expires_ms > 0 ? (due > now ? due : now) + expires_ms : 0;
}

static void run_add(struct model *model, struct model_queue *queue, culex_uuid id,
                    const struct culex_new_run *made)
{
    struct model_run *run = APPEND(model, model->runs, model->run_count);
    run->id = id;
    run->queue = queue;
    run_fill(model, run, made);
    run->owner = run->error_text = run->result = run->progress = run->log = "";
    run->created_at_ms = now_of(model);
    run_date(model, run, due_of(model, made));
    run_place(model, run, due_of(model, made));
    unique_take(model, run);
    queue->stats.enqueued++;
    model->arrivals++;
    queue->is_begun = true;
}

/* Names and keys, in their order. */
static bool limits_are_same(const struct culex_new_run *left, const struct culex_new_run *right)
{
    if (left->limit_count != right->limit_count)
        return false;
    for (size_t i = 0; i < left->limit_count; i++) {
        const struct culex_run_limit *a = &left->limits[i], *b = &right->limits[i];
        const char *key = b->key != NULL ? b->key : "";
        if (strcmp(a->name, b->name) != 0 || strcmp(a->key, key) != 0)
            return false;
    }
    return true;
}

/* What waits, has the same limits and may go on at once keeps its place. */
static void run_replace(struct model *model, struct model_run *run,
                        const struct culex_new_run *made)
{
    int64_t due = due_of(model, made);
    bool stays = model_state(model, run) == CULEX_RUN_WAITING && due <= now_of(model) &&
                 run->made.priority == made->priority && limits_are_same(&run->made, made);
    run_fill(model, run, made);
    run_date(model, run, due);
    if (!stays)
        run_place(model, run, due);
    unique_take(model, run);
}

/* NULL when it may not be replaced. */
static struct model_run *replaceable(struct model *model, const struct model_unique *holder,
                                     const struct culex_new_run *made)
{
    struct model_run *run = find(model, holder->queue, holder->id);
    bool may = made->unique_replaces && run != NULL && run->attempt == 0 &&
               (run->state == CULEX_RUN_SCHEDULED || run->state == CULEX_RUN_WAITING);
    return may ? run : NULL;
}

/* The holder was claimed, waits again, and leaves the key to a run that would have replaced it. */
static bool is_yielding(struct model *model, const struct model_unique *holder,
                        const struct culex_new_run *made)
{
    const struct model_run *run = find(model, holder->queue, holder->id);
    return made->unique_replaces && holder->until_ms == 0 && run != NULL && run->attempt > 0 &&
           !is_keeping(run, CULEX_RUN_ACTIVE) &&
           (run->state == CULEX_RUN_SCHEDULED || run->state == CULEX_RUN_WAITING);
}

static uint64_t live_count(const struct model *model, const struct model_queue *queue)
{
    uint64_t count = 0;
    for (size_t i = 0; i < model->run_count; i++) {
        const struct model_run *run = model->runs[i];
        count += run->queue == queue && !run->is_gone && !is_final(run->state);
    }
    return count;
}

/* NULL when it is not remembered. */
static struct model_key *key_find(struct model *model, const struct model_queue *queue,
                                  const char *text)
{
    for (size_t i = 0; i < model->key_count && is_key(text); i++) {
        struct model_key *key = model->keys[i];
        if (key->queue == queue && key->until_ms > now_of(model) && strcmp(key->text, text) == 0)
            return key;
    }
    return NULL;
}

static void key_add(struct model *model, struct model_queue *queue, culex_uuid id,
                    const struct culex_new_run *made)
{
    struct model_key *key = APPEND(model, model->keys, model->key_count);
    *key = (struct model_key){.queue = queue,
                              .text = keep_text(model, made->idempotency_key),
                              .content = made->content,
                              .id = id,
                              .until_ms = now_of(model) + made->window_ms};
}

static bool has_brought(const struct culex_enqueue_result *result)
{
    return result->outcome == CULEX_ENQUEUED_NEW || result->outcome == CULEX_ENQUEUED_REPLACED;
}

enum { NO_BOUND = 0 };

static void member_begin(struct model *model, struct model_run *run)
{
    if (!run->made.has_batch)
        return;
    run->batch = batch_find(model, run->queue, run->made.batch);
    run->batch->info.added++;
}

/* Run `index` of its call, in a queue of up to `bound`. What a key leads to comes before all else.
 */
static struct culex_enqueue_result enqueue_one(struct model *model, struct model_queue *queue,
                                               const struct culex_new_run *made, size_t index,
                                               uint64_t bound)
{
    struct culex_enqueue_result result = {CULEX_ENQUEUED_NEW, {{0}}};
    const struct model_key *key = key_find(model, queue, made->idempotency_key);
    if (key == NULL && model->given != NULL)
        unique_learn(model, queue, made->unique_key, model->given[index]);
    const struct model_unique *holder = unique_holder(model, queue, made->unique_key);
    struct model_run *replaced = holder != NULL ? replaceable(model, holder, made) : NULL;
    if (holder != NULL && is_yielding(model, holder, made))
        holder = NULL;
    if (key != NULL) {
        bool is_same = key->content == made->content;
        result.outcome = is_same ? CULEX_ENQUEUED_DUPLICATE : CULEX_ENQUEUED_CONFLICT;
        result.id = key->id;
    } else if (replaced != NULL) {
        result = (struct culex_enqueue_result){CULEX_ENQUEUED_REPLACED, holder->id};
        model->arrivals++;
        run_replace(model, replaced, made);
        replaced->is_listed = false; /* it may be shown or not, and twice */
    } else if (holder != NULL) {
        result.outcome = CULEX_ENQUEUED_UNIQUE_TAKEN;
        result.id = holder->id;
    } else if (bound > 0 && live_count(model, queue) >= bound) {
        result.outcome = CULEX_ENQUEUED_FULL;
    } else {
        result.id = model->given != NULL ? id_take(model, queue, model->given[index])
                                         : id_make(model, queue);
        run_add(model, queue, result.id, made);
        member_begin(model, find(model, queue, result.id));
    }
    if (has_brought(&result) && is_key(made->idempotency_key))
        key_add(model, queue, result.id, made);
    if (has_brought(&result))
        tell(model, queue,
             result.outcome == CULEX_ENQUEUED_NEW ? CULEX_EVENTS_ENQUEUED : CULEX_EVENTS_REPLACED,
             result.id, 0, made->job);
    return result;
}

/* --- calls that are bound ------------------------------------------------------------------- */

static bool is_same_text(const char *text, const char *other)
{
    return is_key(text) && is_key(other) && strcmp(text, other) == 0;
}

/* Whether a run that comes now keeps its unique key from those behind it. */
static bool is_kept_at_once(const struct model *model, const struct culex_new_run *made)
{
    bool is_delayed = made->at_ms != 0 ? made->at_ms > now_of(model) : made->delay_ms > 0;
    unsigned state = is_delayed ? CULEX_RUN_SCHEDULED : CULEX_RUN_WAITING;
    return made->unique_while != 0 ? (made->unique_while >> state & 1) != 0
                                   : made->unique_for_ms > 0;
}

/* The result of a run whose idempotency key is known; *ret_is_known tells. */
static struct culex_enqueue_result bound_key(struct model *model, const struct model_queue *queue,
                                             const struct culex_new_run *runs,
                                             const struct culex_enqueue_result *results,
                                             size_t index, bool *ret_is_known)
{
    const struct model_key *key = key_find(model, queue, runs[index].idempotency_key);
    uint64_t content = key != NULL ? key->content : 0;
    culex_uuid id = key != NULL ? key->id : (culex_uuid){{0}};
    *ret_is_known = key != NULL;
    for (size_t i = index; i-- > 0 && !*ret_is_known;) {
        content = runs[i].content;
        id = results[i].id; /* of the one that it would replace; none of a new one */
        *ret_is_known = has_brought(&results[i]) &&
                        is_same_text(runs[i].idempotency_key, runs[index].idempotency_key);
    }
    return (struct culex_enqueue_result){
        content == runs[index].content ? CULEX_ENQUEUED_DUPLICATE : CULEX_ENQUEUED_CONFLICT, id};
}

/* What its unique key meets, of the runs before it, which come, or of what was there. */
static struct culex_enqueue_result
bound_unique(struct model *model, const struct model_queue *queue, const struct culex_new_run *runs,
             const struct culex_enqueue_result *results, size_t index)
{
    const struct culex_new_run *run = &runs[index];
    const struct model_unique *holder = unique_holder(model, queue, run->unique_key);
    for (size_t i = index; i-- > 0;) {
        if (!has_brought(&results[i]) || !is_same_text(runs[i].unique_key, run->unique_key))
            continue;
        if (!is_kept_at_once(model, &runs[i]))
            return (struct culex_enqueue_result){CULEX_ENQUEUED_NEW, {{0}}};
        bool is_before = results[i].outcome == CULEX_ENQUEUED_REPLACED;
        return (struct culex_enqueue_result){run->unique_replaces ? CULEX_ENQUEUED_REPLACED
                                                                  : CULEX_ENQUEUED_UNIQUE_TAKEN,
                                             is_before ? results[i].id : (culex_uuid){{0}}};
    }
    if (holder == NULL || is_yielding(model, holder, run))
        return (struct culex_enqueue_result){CULEX_ENQUEUED_NEW, {{0}}};
    return (struct culex_enqueue_result){replaceable(model, holder, run) != NULL
                                             ? CULEX_ENQUEUED_REPLACED
                                             : CULEX_ENQUEUED_UNIQUE_TAKEN,
                                         holder->id};
}

/* Whether the call is held; then the results are set. */
static bool bound_judge(struct model *model, struct model_queue *queue,
                        const struct culex_new_run *runs, size_t count,
                        struct culex_enqueue_result *results)
{
    uint64_t live = live_count(model, queue), bound = queue->stats.limit;
    bool is_refused = false;
    for (size_t i = 0; i < count; i++) {
        struct culex_enqueue_result *result = &results[i];
        bool is_known;
        *result = bound_key(model, queue, runs, results, i, &is_known);
        if (!is_known)
            *result = bound_unique(model, queue, runs, results, i);
        if (result->outcome == CULEX_ENQUEUED_NEW && bound > 0 && live >= bound)
            result->outcome = CULEX_ENQUEUED_FULL;
        live += result->outcome == CULEX_ENQUEUED_NEW;
        is_refused |= result->outcome == CULEX_ENQUEUED_FULL ||
                      result->outcome == CULEX_ENQUEUED_CONFLICT ||
                      (result->outcome == CULEX_ENQUEUED_UNIQUE_TAKEN && runs[i].unique_refuses);
    }
    for (size_t i = 0; i < count && is_refused; i++) {
        if (has_brought(&results[i]))
            results[i] = (struct culex_enqueue_result){CULEX_ENQUEUED_HELD, {{0}}};
    }
    return is_refused;
}

/* NULL for one that is not remembered. */
static struct model_producer *producer_find(struct model *model, const struct model_queue *queue,
                                            uint64_t name)
{
    for (size_t i = 0; i < model->producer_count; i++) {
        struct model_producer *producer = model->producers[i];
        if (producer->queue == queue && producer->ticket.producer == name &&
            producer->last_ms >= now_of(model))
            return producer;
    }
    return NULL;
}

/* Equal for calls with the same contents and keys. Not the stores' digest: a second opinion. */
static uint64_t digest_of(const struct culex_new_run *runs, size_t count)
{
    uint64_t digest = 1 + count;
    for (size_t i = 0; i < count; i++) {
        const char *key = is_key(runs[i].idempotency_key) ? runs[i].idempotency_key : "";
        digest = (digest << 5 ^ digest >> 7 ^ runs[i].content) * UINT64_C(6364136223846793005);
        for (size_t at = 0; at <= strlen(key); at++)
            digest = (digest + (unsigned char)key[at] + 1) * UINT64_C(1442695040888963407);
    }
    return digest;
}

/* Remembers the call, if it brought a run. */
static void producer_note(struct model *model, struct model_queue *queue,
                          struct culex_ticket ticket, uint64_t digest,
                          const struct culex_enqueue_result *results, size_t count)
{
    int64_t now = now_of(model), ticket_ms = (int64_t)(ticket.sequence / 4096);
    struct model_producer *producer = producer_find(model, queue, ticket.producer);
    bool is_brought = false;
    for (size_t i = 0; i < count; i++)
        is_brought = is_brought || has_brought(&results[i]);
    if (!is_brought)
        return;
    if (producer == NULL)
        producer = APPEND(model, model->producers, model->producer_count);
    *producer = (struct model_producer){.queue = queue,
                                        .ticket = ticket,
                                        .digest = digest,
                                        .last_ms = (now > ticket_ms ? now : ticket_ms) + HORIZON_MS,
                                        .count = count};
    producer->results = keep(model, count * sizeof *results);
    memcpy(producer->results, results, count * sizeof *results);
}

/* CULEX_OK for a call that is made now, or is a repeat: then *ret_repeat is not NULL. */
static culex_status ticket_judge(struct model *model, const struct model_queue *queue,
                                 struct culex_ticket ticket, uint64_t digest,
                                 const struct model_producer **ret_repeat, culex_error *error)
{
    const struct model_producer *last = producer_find(model, queue, ticket.producer);
    int64_t off = (int64_t)(ticket.sequence / 4096) - now_of(model);
    if (last != NULL && ticket.sequence < last->ticket.sequence)
        return culex__fail(error, CULEX_ECONFLICT, "the producer has made a later call");
    if (last != NULL && ticket.sequence == last->ticket.sequence) {
        *ret_repeat = last;
        return digest == last->digest
                   ? CULEX_OK
                   : culex__fail(error, CULEX_ECONFLICT, "the ticket was another call's");
    }
    return off >= -HORIZON_MS && off <= HORIZON_MS
               ? CULEX_OK
               : culex__fail(error, CULEX_EEXPIRED, "the ticket is too old or too new");
}

static bool are_all_known(struct model *model, const struct model_queue *queue,
                          const struct culex_new_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (key_find(model, queue, runs[i].idempotency_key) == NULL)
            return false;
    }
    return true;
}

static culex_status batch_judge(struct model *model, const struct model_queue *queue,
                                const struct culex_new_run *run, size_t count, culex_error *error)
{
    const struct model_batch *batch = batch_find(model, queue, run->batch);
    if (!run->has_batch || are_all_known(model, queue, run, count))
        return CULEX_OK;
    if (batch == NULL)
        return culex__fail(error, CULEX_ENOTFOUND, "queue '%s' has no such batch", queue->name);
    return batch->info.is_ended
               ? culex__fail(error, CULEX_ESTATE, "the batch of queue '%s' has ended", queue->name)
               : CULEX_OK;
}

static culex_status model_enqueue(struct culex_store *store, const char *name,
                                  const struct culex_ticket *ticket,
                                  const struct culex_new_run *runs, size_t count,
                                  struct culex_enqueue_result *results, culex_error *error)
{
    struct model *model = of(store);
    struct model_queue *queue = queue_of(model, name);
    const struct model_producer *repeat = NULL;
    uint64_t digest = digest_of(runs, count);
    culex_status status = CULEX_OK;
    if (ticket != NULL)
        status = ticket_judge(model, queue, *ticket, digest, &repeat, error);
    if (status == CULEX_OK && repeat != NULL)
        memcpy(results, repeat->results, count * sizeof *results);
    else if (status == CULEX_OK && count > 0 && runs[0].is_bound &&
             bound_judge(model, queue, runs, count, results)) {
        model->given = NULL;
        return CULEX_OK;
    }
    if (status == CULEX_OK && repeat == NULL && count > 0)
        status = batch_judge(model, queue, runs, count, error);
    for (size_t i = 0; i < count && status == CULEX_OK && repeat == NULL; i++)
        results[i] = enqueue_one(model, queue, &runs[i], i, queue->stats.limit);
    if (ticket != NULL && status == CULEX_OK && repeat == NULL)
        producer_note(model, queue, *ticket, digest, results, count);
    model->given = NULL;
    return status;
}

/* Each is judged before one of them is made. */
static culex_status model_enqueue_each(struct culex_store *store, const char *name,
                                       const struct culex_ticket *tickets,
                                       const struct culex_new_run *runs, size_t count,
                                       struct culex_enqueue_result *results, culex_error *error)
{
    struct model *model = of(store);
    struct model_queue *queue = queue_of(model, name);
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        const struct model_producer *known = NULL;
        status = ticket_judge(model, queue, tickets[i], digest_of(&runs[i], 1), &known, error);
        if (status == CULEX_OK && known != NULL)
            status = culex__fail(error, CULEX_ECONFLICT, "the call is known");
    }
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        results[i] = enqueue_one(model, queue, &runs[i], i, queue->stats.limit);
        producer_note(model, queue, tickets[i], digest_of(&runs[i], 1), &results[i], 1);
    }
    model->given = NULL;
    return status;
}

/* --- STEP --------------------------------------------------------------------------------- */

static bool is_holder(const struct model_run *run, const char *session, uint32_t attempt)
{
    return run->attempt == attempt && strcmp(run->owner, session) == 0;
}

static size_t lines_count(const char *lines)
{
    size_t count = 0;
    for (; *lines != '\0'; lines++)
        count += *lines == '\n';
    return count;
}

/* The oldest lines go as long as there are too many, or too many bytes. */
static void log_keep(struct model *model, struct model_run *run, const struct culex_log_lines *log)
{
    size_t len = strlen(run->log);
    if (log->len == 0)
        return;
    char *both = calloc(1, len + log->len + 1);
    if (both == NULL)
        abort();
    memcpy(both, run->log, len);
    memcpy(both + len, log->bytes, log->len);
    const char *from = both;
    while (lines_count(from) > log->most || strlen(from) > 262144)
        from = strchr(from, '\n') + 1;
    run->log = keep_text(model, from);
    free(both);
}

static enum culex_answer ack_one(struct model *model, const struct culex_step *step,
                                 const struct culex_ack *ack)
{
    struct model_queue *queue = queue_of(model, step->queue);
    struct model_run *run = find(model, queue, ack->id);
    if (run == NULL)
        return CULEX_ANSWER_GONE;
    bool is_mine = is_holder(run, step->session, ack->attempt);
    if (is_mine && run->state == CULEX_RUN_DONE && ack->event == CULEX_EVENT_DONE)
        return CULEX_ANSWER_REPEATED;
    if (!is_mine || run->state != CULEX_RUN_ACTIVE) {
        queue->stats.stale++;
        return CULEX_ANSWER_STALE;
    }
    if (ack->progress != NULL && ack->progress[0] != '\0')
        run->progress = keep_text(model, ack->progress);
    log_keep(model, run, &ack->log);
    settle(model, run, ack, false);
    return CULEX_ANSWER_OK;
}

static void note_lease(struct model_queue *queue, const struct culex_step *step)
{
    if (step->lease_ms > queue->longest_lease_ms)
        queue->longest_lease_ms = step->lease_ms;
}

static enum culex_answer beat_one(struct model *model, const struct culex_step *step,
                                  const struct culex_beat *beat)
{
    struct model_queue *queue = queue_of(model, step->queue);
    struct model_run *run = find(model, queue, beat->id);
    if (run == NULL)
        return CULEX_ANSWER_GONE;
    if (run->state != CULEX_RUN_ACTIVE || !is_holder(run, step->session, beat->attempt)) {
        queue->stats.stale++;
        return CULEX_ANSWER_STALE;
    }
    int64_t longer_ms = now_of(model) + beat->extend_ms + TIMEOUT_SLACK_MS;
    if (beat->extend_ms > 0 && run->lease_max_ms != 0 && run->lease_max_ms < longer_ms)
        run->lease_max_ms = longer_ms;
    if (beat->progress != NULL && beat->progress[0] != '\0')
        run->progress = keep_text(model, beat->progress);
    log_keep(model, run, &beat->log);
    run->is_started = !beat->is_excused && (run->is_started || beat->is_started);
    run->at_ms = now_of(model) + step->lease_ms;
    if (run->lease_max_ms != 0 && run->at_ms > run->lease_max_ms)
        run->at_ms = run->lease_max_ms;
    note_lease(queue, step);
    return run->is_cancel_requested ? CULEX_ANSWER_CANCEL : CULEX_ANSWER_OK;
}

/* The run in `state` and of at least this priority whose time came first; NULL when none is due. */
static struct model_run *first_due(struct model *model, const struct model_queue *queue,
                                   culex_run_state state, int least)
{
    struct model_run *first = NULL;
    for (size_t i = 0; i < model->run_count; i++) {
        struct model_run *run = model->runs[i];
        if (run->queue == queue && !run->is_gone && run->state == state &&
            run->made.priority >= least && run->at_ms <= now_of(model) &&
            (first == NULL || run->at_ms < first->at_ms))
            first = run;
    }
    return first;
}

static void lose_lease(struct model *model, struct model_run *run)
{
    char how[64];
    snprintf(how, sizeof how, "the lease of %s-%u ran out", run->owner, run->attempt);
    vanish(model, run, how);
}

/* Leases that ran out give their runs back, those that go to the front the first in front of all.
 */
static void reap(struct model *model, const struct model_queue *queue)
{
    struct model_run *lost[REAPED_AT_ONCE];
    int count = 0;
    while (count < REAPED_AT_ONCE &&
           (lost[count] = first_due(model, queue, CULEX_RUN_ACTIVE, 0)) != NULL)
        lost[count++]->state = CULEX_RUN_STATE_COUNT; /* found already */
    while (count > 0) {
        lost[--count]->state = CULEX_RUN_ACTIVE;
        lose_lease(model, lost[count]);
    }
}

/* Nobody ever gave a lease until then, but by a clock that has been set back since. */
static void cut_leases(struct model *model, const struct model_queue *queue)
{
    int64_t last_ms = now_of(model) + queue->longest_lease_ms;
    for (size_t i = 0; i < model->run_count && queue->longest_lease_ms > 0; i++) {
        struct model_run *run = model->runs[i];
        if (run->queue == queue && !run->is_gone && run->state == CULEX_RUN_ACTIVE &&
            run->at_ms > last_ms + LEASE_SLACK_MS)
            run->at_ms = last_ms;
    }
}

static uint64_t dead_count(const struct model *model, const struct model_queue *queue)
{
    uint64_t count = 0;
    for (size_t i = 0; i < model->run_count; i++) {
        const struct model_run *run = model->runs[i];
        count += run->queue == queue && !run->is_gone && run->state == CULEX_RUN_DEAD;
    }
    return count;
}

static bool has_dead_excess(const struct model *model, const struct model_queue *queue)
{
    return queue->stats.dead_limit > 0 && dead_count(model, queue) > queue->stats.dead_limit;
}

/* Of two that are forgotten at one instant stores take either. */
static bool is_forgotten_before(const struct model *model, const struct model_run *run,
                                const struct model_run *other)
{
    return run->at_ms < other->at_ms || (model->has_ties_by_id && run->at_ms == other->at_ms &&
                                         memcmp(&run->id, &other->id, sizeof run->id) < 0);
}

/* The dead run that would be forgotten first. */
static struct model_run *first_dead(const struct model *model, const struct model_queue *queue)
{
    struct model_run *first = NULL;
    for (size_t i = 0; i < model->run_count; i++) {
        struct model_run *run = model->runs[i];
        if (run->queue == queue && !run->is_gone && run->state == CULEX_RUN_DEAD &&
            (first == NULL || is_forgotten_before(model, run, first)))
            first = run;
    }
    return first;
}

static void maintain(struct model *model, const struct model_queue *queue, size_t ack_count,
                     uint32_t want)
{
    static const culex_run_state finals[] = {CULEX_RUN_DONE, CULEX_RUN_DEAD, CULEX_RUN_CANCELLED};
    uint32_t most = want > PROMOTED_AT_ONCE ? want : PROMOTED_AT_ONCE;
    struct model_run *run;
    buckets_cut(model, queue);
    cut_leases(model, queue);
    reap(model, queue);
    /* Then as many again that need not wait behind others. */
    for (uint32_t n = 0; n < 2 * most; n++) {
        if ((run = first_due(model, queue, CULEX_RUN_SCHEDULED, n >= most)) != NULL)
            make_due(model, run);
    }
    for (size_t n = 0; n < PURGED_AT_ONCE + ack_count; n++) {
        for (size_t i = 0; i < sizeof finals / sizeof finals[0]; i++) {
            if ((run = first_due(model, queue, finals[i], 0)) != NULL)
                run->is_gone = true;
        }
    }
    for (size_t n = 0; n < PURGED_AT_ONCE + ack_count && has_dead_excess(model, queue); n++)
        first_dead(model, queue)->is_gone = true;
    batches_pass(model, queue);
}

/* What is said to a request that comes after the session's next one, and to no other. */
static struct model_session *late_answer(struct model *model, const struct model_session *session)
{
    struct model_session *late = keep(model, sizeof *late);
    *late = (struct model_session){.queue = session->queue,
                                   .name = session->name,
                                   .is_replaced = session->is_replaced,
                                   .is_late = !session->is_replaced};
    for (int i = 0; i < MODEL_BATCH_MAX; i++)
        late->acks[i] = late->beats[i] = CULEX_ANSWER_STALE;
    return late;
}

/* Made when it is new. */
static struct model_session *session_of(struct model *model, struct model_queue *queue,
                                        const char *name)
{
    for (size_t i = 0; i < model->session_count; i++) {
        struct model_session *session = model->sessions[i];
        if (session->queue == queue && strcmp(session->name, name) == 0)
            return session;
    }
    struct model_session *session = APPEND(model, model->sessions, model->session_count);
    session->queue = queue;
    session->name = keep_text(model, name);
    return session;
}

struct model_session *model_step_settle(struct model *model, const struct culex_step *step,
                                        bool *ret_is_repeat)
{
    struct model_session *session = session_of(model, queue_of(model, step->queue), step->session);
    *ret_is_repeat = session->is_replaced || (session->has_nonce && step->nonce <= session->nonce);
    if (session->is_replaced || (*ret_is_repeat && step->nonce < session->nonce))
        return late_answer(model, session);
    if (*ret_is_repeat)
        return session;
    session->nonce = step->nonce;
    session->has_nonce = true;
    session->grant_count = 0;
    culex__offers_read(step->offers, &session->offers);
    for (size_t i = 0; i < step->ack_count; i++)
        session->acks[i] = ack_one(model, step, &step->acks[i]);
    for (size_t i = 0; i < step->beat_count; i++)
        session->beats[i] = beat_one(model, step, &step->beats[i]);
    if (session->queue->paused_until_ms != 0 && !model_is_paused(model, session->queue)) {
        session->queue->paused_until_ms = 0;
        tell_queue(model, session->queue, CULEX_EVENTS_RESUMED);
    }
    maintain(model, session->queue, step->ack_count, step->want);
    return session;
}

/* Of two that wait: by priority, then as they became ready; what was put in front before all
 * others. */
static bool is_before(const struct model_run *run, const struct model_run *other)
{
    if (run->made.priority != other->made.priority)
        return run->made.priority > other->made.priority;
    if (run->was_put_in_front != other->was_put_in_front)
        return run->was_put_in_front;
    if (!run->was_put_in_front && run->ready_ms != other->ready_ms)
        return run->ready_ms < other->ready_ms;
    return run->place < other->place;
}

/* The best of those that a fair share holds back, and that have room everywhere else. */
static struct model_run *next_aside(struct model *model, const char *queue)
{
    struct model_run *next = NULL;
    for (size_t i = 0; i < model->run_count; i++) {
        struct model_run *run = model->runs[i];
        if (run->is_gone || run->state != CULEX_RUN_WAITING || !run->is_aside ||
            strcmp(run->queue->name, queue) != 0 || is_of_full_share(model, run))
            continue;
        if (next == NULL || is_before(run, next))
            next = run;
    }
    return next;
}

void model_share(struct model *model, const char *queue)
{
    struct model_run *run;
    while ((run = next_aside(model, queue)) != NULL)
        make_ready(model, run, false);
}

/* It has the place that its age gave it. */
static bool stands_before(const struct model_run *run, const struct model_run *other)
{
    return !run->was_held && is_before(run, other);
}

/* Of two that wait and have room, with the turns that they take. */
static bool goes_before(struct model *model, const struct model_run *run,
                        const struct model_run *other)
{
    bool differs;
    if (stands_before(run, other) || stands_before(other, run))
        return is_before(run, other);
    bool has_turn = has_turn_before(model, run, other, &differs);
    return differs ? has_turn : is_before(run, other);
}

const char *model_needs(const struct model_run *run)
{
    size_t count = run->made.limit_count;
    const struct culex_run_limit *last = count > 0 ? &run->made.limits[count - 1] : NULL;
    return last != NULL && last->kind == CULEX_LIMIT_NEEDS ? last->name + strlen("needs ") : "";
}

/* So many units of `name` are offered; or, for `is_named_only`, the name is. */
static bool is_unit_offered(const struct culex_needs *offers, const char *name, size_t len,
                            unsigned long units, bool is_named_only)
{
    for (size_t i = 0; i < offers->count; i++) {
        const struct culex_need_row *row = &offers->of[i];
        if (strlen(row->name) == len && memcmp(row->name, name, len) == 0)
            return is_named_only || row->units >= units;
    }
    return false;
}

static bool is_in_offer(const struct culex_needs *offers, const char *needs, bool is_named_only)
{
    while (*needs != '\0') {
        size_t len = strcspn(needs, ":");
        char *end;
        unsigned long units = strtoul(needs + len + 1, &end, 10);
        if (!is_unit_offered(offers, needs, len, units, is_named_only))
            return false;
        needs = end + (*end == ',');
    }
    return true;
}

bool model_fits(const struct model_session *session, const struct model_run *run)
{
    return is_in_offer(&session->offers, model_needs(run), false);
}

bool model_is_offered(const struct model_session *session, const struct model_run *run)
{
    return is_in_offer(&session->offers, model_needs(run), true);
}

/* Runs that are offered and do not fit wait. */
static bool is_short(const struct model *model, const struct model_session *session)
{
    for (size_t i = 0; i < model->run_count; i++) {
        const struct model_run *run = model->runs[i];
        if (run->queue == session->queue && !run->is_gone && run->state == CULEX_RUN_WAITING &&
            model_is_offered(session, run) && !model_fits(session, run) &&
            first_without_room(model, run) == NULL)
            return true;
    }
    return false;
}

/* What needs something comes before all that does not. */
static bool is_better(struct model *model, const struct model_run *run,
                      const struct model_run *other)
{
    bool needs = model_needs(run)[0] != '\0', other_needs = model_needs(other)[0] != '\0';
    return needs != other_needs ? needs : goes_before(model, run, other);
}

struct model_run *model_next(struct model *model, const struct culex_step *step,
                             const struct model_session *session)
{
    struct model_run *next = NULL;
    model_share(model, step->queue);
    for (size_t i = 0; i < model->run_count; i++) {
        struct model_run *run = model->runs[i];
        if (run->is_gone || run->state != CULEX_RUN_WAITING ||
            strcmp(run->queue->name, step->queue) != 0 || model_is_passed(model, step, run) ||
            !model_has_room(model, run) || !model_fits(session, run))
            continue;
        if (next == NULL || is_better(model, run, next))
            next = run;
    }
    return next;
}

bool model_is_expired(const struct model *model, const struct model_run *run)
{
    return run->expires_at_ms != 0 && run->expires_at_ms <= now_of(model);
}

bool model_is_early(const struct model *model, const struct model_run *run)
{
    return run->most_ms > now_of(model);
}

bool model_is_suspect(const struct model_run *run)
{
    return run->counters.losses >= LOSSES_OF_A_SUSPECT;
}

bool model_is_passed(const struct model *model, const struct culex_step *step,
                     const struct model_run *run)
{
    return step->in_company && model_is_suspect(run) && !model_is_expired(model, run);
}

bool model_has_passed(struct model *model, const struct culex_step *step,
                      const struct model_run *next)
{
    struct culex_needs offers;
    culex__offers_read(step->offers, &offers);
    for (size_t i = 0; i < model->run_count; i++) {
        const struct model_run *run = model->runs[i];
        if (run->is_gone || run->state != CULEX_RUN_WAITING ||
            strcmp(run->queue->name, step->queue) != 0 || !model_is_passed(model, step, run) ||
            first_without_room(model, run) != NULL ||
            !is_in_offer(&offers, model_needs(run), false))
            continue;
        if (next == NULL || is_better(model, run, next))
            return true;
    }
    return false;
}

bool model_must_wait(const struct culex_step *step, const struct model_run *run, size_t granted)
{
    size_t starts = step->want > step->ahead ? step->want - step->ahead : 0;
    return (model_is_suspect(run) && granted > 0) ||
           ((model_is_suspect(run) || run->is_started) && granted >= starts);
}

void model_expire(struct model *model, struct model_run *run)
{
    if (has_failed(run)) {
        make_late(model, run);
        return;
    }
    set_error(model, run, "expired");
    make_final(model, run, CULEX_RUN_DEAD);
}

void model_claim(struct model *model, const struct culex_step *step, struct model_session *session,
                 struct model_run *run)
{
    int64_t now = now_of(model);
    for (size_t i = 0; i < run->made.limit_count; i++) {
        const struct model_limit *limit = limit_find(model, run->queue, run->made.limits[i].name);
        if (limit->kind == CULEX_LIMIT_RATE)
            token_take(model, limit, run->made.limits[i].key);
    }
    bool was_keeping = is_keeping(run, CULEX_RUN_WAITING);
    run->state = CULEX_RUN_ACTIVE;
    if (!was_keeping)
        unique_return(model, run);
    run->is_started = session->grant_count + step->ahead < step->want;
    run->attempt++;
    run->owner = session->name;
    run->at_ms = now + step->lease_ms;
    run->lease_max_ms =
        run->made.timeout_ms > 0 ? now + run->made.timeout_ms + TIMEOUT_SLACK_MS : 0;
    run->progress = "";
    note_lease(session->queue, step);
    struct culex_needs needs;
    if (culex__needs_read(model_needs(run), &needs))
        culex__needs_take(&needs, &session->offers);
    session->ids[session->grant_count] = run->id;
    session->attempts[session->grant_count++] = run->attempt;
    tell_of(model, run, CULEX_EVENTS_STARTED);
    if (run->made.limit_count > 0) {
        turn_note(model, run);
        held_note(model, run->queue);
    }
}

static bool claim_may_go_on(const struct model *model, const struct culex_step *step,
                            const struct model_session *session)
{
    return session->grant_count < step->want && session->grant_count < MODEL_BATCH_MAX &&
           !model_is_paused(model, session->queue);
}

/* True when it ended at a run that must wait. */
static bool claim_all(struct model *model, const struct culex_step *step,
                      struct model_session *session, uint32_t *ret_expired, bool *ret_has_passed)
{
    struct model_run *run;
    size_t bytes = 0;
    while (claim_may_go_on(model, step, session)) {
        run = model_next(model, step, session);
        *ret_has_passed = *ret_has_passed || model_has_passed(model, step, run);
        if (run == NULL)
            break;
        if (model_is_expired(model, run)) {
            model_expire(model, run);
            ++*ret_expired;
            continue;
        }
        if (model_must_wait(step, run, session->grant_count))
            return true;
        bytes += session->grant_count > 0 ? run->made.payload_len : 0;
        if (session->grant_count > 0 && bytes > step->max_bytes)
            break;
        model_claim(model, step, session, run);
        if (model_is_suspect(run))
            break;
    }
    return false;
}

static void grant_fill(struct culex_grant *grant, const struct model_run *run)
{
    grant->facts.id = run->id;
    grant->facts.attempt = run->attempt;
    grant->facts.counters = run->counters;
    grant->job = run->made.job;
    grant->needs = model_needs(run)[0] != '\0' ? model_needs(run) : NULL;
    grant->facts.created_at_ms = run->created_at_ms;
    grant->facts.timeout_ms = run->made.timeout_ms;
    grant->facts.counters.retry_for_ms = run->made.retry_for_ms;
    grant->facts.expires_at_ms = run->expires_at_ms;
    grant->facts.fingerprint = run->made.fingerprint;
    grant->payload = run->made.payload;
    grant->payload_len = run->made.payload_len;
}

/* How long until a run that waits has a token; -1 for any other. */
static int64_t token_wait_of(const struct model *model, const struct model_run *run)
{
    const struct culex_run_limit *own = first_without_room(model, run);
    const struct model_limit *limit = own != NULL ? limit_find(model, run->queue, own->name) : NULL;
    return limit != NULL && limit->kind == CULEX_LIMIT_RATE ? token_in_ms(model, limit, own->key)
                                                            : -1;
}

/* How long until `run` wants a step; -1 for never. Ended runs that go one by one want them less
 * often than that. */
static int64_t wait_of(const struct model *model, const struct model_run *run, int64_t now)
{
    int64_t in = run->at_ms - now;
    if (run->state == CULEX_RUN_WAITING)
        return token_wait_of(model, run);
    if (in <= 0)
        return 0;
    return is_final(run->state) && in < FORGET_GAP_MS ? FORGET_GAP_MS : in;
}

void model_outlook(struct model *model, const struct model_queue *queue,
                   struct culex_step_reply *reply)
{
    bool resumes = model_is_paused(model, queue) && queue->paused_until_ms != INT64_MAX;
    reply->due_in_ms = resumes ? queue->paused_until_ms - reply->now_ms : -1;
    reply->is_empty = true;
    for (size_t i = 0; i < model->run_count; i++) {
        const struct model_run *run = model->runs[i];
        if (run->queue != queue || run->is_gone)
            continue;
        int64_t in = wait_of(model, run, reply->now_ms);
        reply->is_empty = reply->is_empty && is_final(run->state);
        if (in >= 0 && (reply->due_in_ms < 0 || in < reply->due_in_ms))
            reply->due_in_ms = in;
    }
    batches_outlook(model, queue, reply);
    if (has_dead_excess(model, queue))
        reply->due_in_ms = 0;
}

/* Of those of its acks that have just ended their runs. */
static void bring_follow_ups(struct model *model, const struct culex_step *step,
                             const enum culex_answer *answers)
{
    for (size_t i = 0; i < step->ack_count; i++) {
        const struct culex_ack *ack = &step->acks[i];
        for (size_t at = 0; at < ack->follow_up_count && answers[i] == CULEX_ANSWER_OK; at++)
            enqueue_one(model, queue_of(model, ack->follow_ups[at].queue), &ack->follow_ups[at].run,
                        0, NO_BOUND);
    }
}

void model_callbacks_bring(struct model *model, const struct model_queue *queue)
{
    for (size_t i = 0; i < model->batch_count; i++) {
        struct model_batch *batch = model->batches[i];
        for (int when = 1; when <= CULEX_BATCH_ON_DEATH && batch->queue == queue; when++) {
            struct model_call *call = &batch->calls[when];
            if (!call->is_given || call->is_brought || !batch_tells(batch, when))
                continue;
            call->is_brought = true;
            enqueue_one(model, queue_of(model, call->call.queue), &call->call.run, 0, NO_BOUND);
        }
    }
}

static culex_status model_step(struct culex_store *store, const struct culex_step *step,
                               struct culex_step_reply *ret_reply, culex_error *error)
{
    struct model *model = of(store);
    (void)error;
    bool is_repeat;
    struct model_session *session = model_step_settle(model, step, &is_repeat);
    uint32_t expired_count = 0;
    bool has_passed = false;
    bool is_held = !is_repeat && claim_all(model, step, session, &expired_count, &has_passed);
    if (!is_repeat)
        bring_follow_ups(model, step, session->acks);
    model_callbacks_bring(model, session->queue);

    struct culex_step_reply reply = {.now_ms = now_of(model),
                                     .is_held = is_held,
                                     .has_passed = has_passed,
                                     .is_short = !is_repeat && step->want > 0 &&
                                                 !model_is_paused(model, session->queue) &&
                                                 is_short(model, session),
                                     .is_replaced = session->is_replaced,
                                     .is_late = session->is_late,
                                     .expired_count = expired_count,
                                     .is_paused = model_is_paused(model, session->queue)};
    model_outlook(model, session->queue, &reply);
    reply.acks = keep(model, sizeof session->acks);
    memcpy(reply.acks, session->acks, sizeof session->acks);
    reply.beats = keep(model, sizeof session->beats);
    memcpy(reply.beats, session->beats, sizeof session->beats);
    reply.grants = keep(model, (session->grant_count + 1) * sizeof *reply.grants);
    for (size_t i = 0; i < session->grant_count; i++) {
        const struct model_run *run = find(model, session->queue, session->ids[i]);
        if (run != NULL && run->state == CULEX_RUN_ACTIVE &&
            is_holder(run, step->session, session->attempts[i]))
            grant_fill(&reply.grants[reply.grant_count++], run);
    }
    *ret_reply = reply;
    return CULEX_OK;
}

static void model_step_release(struct culex_store *store, struct culex_step_reply *reply)
{
    (void)store;
    memset(reply, 0, sizeof *reply);
}

/* --- the other verbs ------------------------------------------------------------------------ */

/* Of the runs that the session holds, the one whose lease ends last; NULL for none. */
static struct model_run *last_held(const struct model *model, const struct model_queue *queue,
                                   const char *session)
{
    struct model_run *last = NULL;
    for (size_t i = 0; i < model->run_count; i++) {
        struct model_run *run = model->runs[i];
        if (run->queue == queue && !run->is_gone && run->state == CULEX_RUN_ACTIVE &&
            strcmp(run->owner, session) == 0 && (last == NULL || run->at_ms >= last->at_ms))
            last = run;
    }
    return last;
}

static culex_status model_hello(struct culex_store *store, const char *queue, const char *worker,
                                const char *session, size_t *ret_released, int64_t *ret_now_ms,
                                culex_error *error)
{
    (void)error;
    struct model *model = of(store);
    struct model_queue *home = queue_of(model, queue);
    home->is_begun = true;
    struct model_name *name = name_of(model, &model->workers, &model->worker_count, home, worker);
    struct model_run *run;
    char story[160];
    *ret_released = 0;
    *ret_now_ms = now_of(model);
    bool is_new = name->session != NULL && strcmp(name->session, session) != 0;
    snprintf(story, sizeof story, "the process of worker %s was replaced", worker);
    while (is_new && (run = last_held(model, home, name->session)) != NULL) {
        vanish(model, run, story);
        ++*ret_released;
    }
    if (name->session != NULL && strcmp(name->session, session) != 0)
        session_of(model, home, name->session)->is_replaced = true;
    name->session = keep_text(model, session);
    return CULEX_OK;
}

/* The schedule's newest run waits, is scheduled or at work. */
static bool newest_is_live(struct model *model, const char *queue,
                           const struct model_name *schedule)
{
    const struct model_run *run = model_find(model, queue, schedule->newest);
    return run != NULL && (run->state == CULEX_RUN_SCHEDULED || run->state == CULEX_RUN_WAITING ||
                           run->state == CULEX_RUN_ACTIVE);
}

/* A tick is never later than now. A mark further ahead than an interval is that of a wrong clock,
 * and counts for nothing. */
static bool tick_is_due(const struct model_name *schedule, const struct culex_tick *tick,
                        int64_t now, int64_t *ret_at)
{
    bool is_first = schedule->session == NULL; /* `session` only tells that there is a mark */
    bool is_ahead = !is_first && schedule->mark_ms > now + tick->interval_ms;
    bool has_passed = tick->tick_ms != 0 && tick->tick_ms <= now;
    *ret_at = has_passed && (!is_ahead || tick->is_of_calendar) ? tick->tick_ms : now;
    if (tick->is_of_calendar && tick->tick_ms > now)
        return false;
    if (is_first || is_ahead)
        return true;
    return tick->is_of_calendar ? *ret_at > schedule->mark_ms
                                : *ret_at >= schedule->mark_ms + tick->interval_ms;
}

static struct culex_enqueue_result periodic_enqueue(struct model *model, struct model_queue *queue,
                                                    struct model_name *schedule,
                                                    const struct culex_new_run *periodic)
{
    struct culex_new_run run = *periodic;
    run.at_ms = 0;
    struct culex_enqueue_result result = enqueue_one(model, queue, &run, 0, NO_BOUND);
    if (result.outcome == CULEX_ENQUEUED_REPLACED)
        result.outcome = CULEX_ENQUEUED_NEW; /* it is there, as it was wanted */
    if (result.outcome == CULEX_ENQUEUED_NEW)
        schedule->newest = result.id;
    return result;
}

/* Whether the mark moves: not when the run was refused. */
static bool tick_take(struct model *model, struct model_queue *queue, struct model_name *schedule,
                      const struct culex_tick *tick, bool *ret_is_enqueued)
{
    if (tick->run == NULL)
        return schedule->session == NULL;
    if (schedule->is_paused)
        return true;
    if (!tick->may_overlap && schedule->session != NULL &&
        newest_is_live(model, tick->queue, schedule))
        return true;
    *ret_is_enqueued =
        periodic_enqueue(model, queue, schedule, tick->run).outcome == CULEX_ENQUEUED_NEW;
    return *ret_is_enqueued;
}

/* What the schedule tells of itself after a tick that was not refused. */
static void tick_tell(struct model *model, struct model_name *schedule,
                      const struct culex_tick *tick, bool is_taken)
{
    schedule->is_of_calendar = tick->is_of_calendar;
    if (tick->run == NULL)
        return;
    if (tick->is_of_calendar && tick->tick_ms > now_of(model))
        schedule->next_ms = tick->tick_ms;
    else if (is_taken || !tick->is_of_calendar)
        schedule->next_ms = schedule->mark_ms + tick->interval_ms;
    schedule->may_overlap = tick->may_overlap;
    if (tick->template_len == 0)
        return;
    if (tick->template_len != schedule->template_len ||
        memcmp(tick->template, schedule->template, tick->template_len) != 0) {
        schedule->template = keep_bytes(model, tick->template, tick->template_len);
        schedule->template_len = tick->template_len;
    }
}

static culex_status model_tick(struct culex_store *store, const struct culex_tick *tick,
                               struct culex_tick_reply *ret_reply, culex_error *error)
{
    (void)error;
    struct model *model = of(store);
    struct model_queue *queue = queue_of(model, tick->queue);
    struct model_name *schedule =
        name_of(model, &model->schedules, &model->schedule_count, queue, tick->schedule);
    int64_t at;
    *ret_reply = (struct culex_tick_reply){.now_ms = now_of(model)};
    bool is_due = tick_is_due(schedule, tick, now_of(model), &at);
    bool is_taken = is_due && tick_take(model, queue, schedule, tick, &ret_reply->is_enqueued);
    if (is_taken) {
        schedule->session = "marked";
        schedule->mark_ms = at;
    }
    bool was_refused = is_due && !is_taken && tick->run != NULL;
    if (schedule->session != NULL && !was_refused && (is_taken || tick->run != NULL))
        tick_tell(model, schedule, tick, is_taken);
    ret_reply->mark_ms = schedule->mark_ms;
    model->given = NULL;
    return CULEX_OK;
}

static culex_status model_schedules(struct culex_store *store, const char *queue,
                                    struct culex_schedule_list *ret_list, culex_error *error)
{
    (void)error;
    struct model *model = of(store);
    *ret_list = (struct culex_schedule_list){.now_ms = now_of(model)};
    for (size_t i = 0; i < model->schedule_count; i++) {
        const struct model_name *schedule = model->schedules[i];
        if (schedule->queue != queue_of(model, queue) || schedule->session == NULL)
            continue;
        struct culex_schedule_row row = {.name = schedule->name,
                                         .mark_ms = schedule->mark_ms,
                                         .next_ms = schedule->next_ms,
                                         .newest = schedule->newest,
                                         .is_paused = schedule->is_paused,
                                         .is_of_calendar = schedule->is_of_calendar,
                                         .may_overlap = schedule->may_overlap,
                                         .template = schedule->template,
                                         .template_len = schedule->template_len};
        if (!culex__schedule_list_add(ret_list, &row))
            abort();
    }
    return CULEX_OK;
}

/* NULL, and `error` filled, where there is none. */
static struct model_name *schedule_find(struct model *model, const char *queue, const char *name,
                                        culex_error *error)
{
    struct model_name *schedule =
        name_of(model, &model->schedules, &model->schedule_count, queue_of(model, queue), name);
    if (schedule->session != NULL)
        return schedule;
    culex__fail(error, CULEX_ENOTFOUND, "queue '%s' has no schedule '%s'", queue, name);
    return NULL;
}

/* --- the registry of workers ------------------------------------------------------------------ */

static bool is_there(struct model *model, const struct model_presence *presence)
{
    int64_t age = now_of(model) - presence->row.told_ms;
    return presence->row.id != NULL && age <= 30000 && age >= -30000;
}

/* Its entry, which may be gone; NULL when it never had one. */
static struct model_presence *presence_find(struct model *model, const char *id)
{
    for (size_t i = 0; i < model->presence_count; i++) {
        if (strcmp(model->presences[i]->id, id) == 0)
            return model->presences[i];
    }
    return NULL;
}

static struct model_presence *presence_make(struct model *model, const char *id)
{
    size_t size = (model->presence_count + 1) * sizeof *model->presences;
    struct model_presence *made = calloc(1, sizeof *made);
    model->presences = realloc(model->presences, size);
    if (model->presences == NULL || made == NULL)
        abort();
    snprintf(made->id, sizeof made->id, "%s", id);
    model->presences[model->presence_count++] = made;
    return made;
}

static size_t presences_there(struct model *model)
{
    size_t count = 0;
    for (size_t i = 0; i < model->presence_count; i++)
        count += is_there(model, model->presences[i]);
    return count;
}

static bool says_the_same(const struct model_presence *presence,
                          const struct culex_worker_tell *tell)
{
    const struct culex_worker_row *row = &presence->row;
    return row->heard == tell->heard && row->concurrency == tell->concurrency &&
           row->sheet_len == tell->sheet_len &&
           (tell->sheet_len == 0 || memcmp(row->sheet, tell->sheet, tell->sheet_len) == 0);
}

static bool is_young(struct model *model, const struct model_presence *presence)
{
    int64_t age = now_of(model) - presence->row.told_ms;
    return age >= 0 && age < 10000;
}

static culex_status model_worker_tell(struct culex_store *store,
                                      const struct culex_worker_tell *tell,
                                      struct culex_worker_wish *ret_wish, culex_error *error)
{
    struct model *model = of(store);
    struct model_presence *presence = presence_find(model, tell->id);
    *ret_wish = (struct culex_worker_wish){0};
    bool was_there = presence != NULL && is_there(model, presence);
    if (tell->is_leaving) {
        if (presence != NULL)
            presence->row.id = NULL;
        return CULEX_OK;
    }
    if (!was_there && presences_there(model) >= 2048)
        return culex__fail(error, CULEX_ELIMIT, "the store lists at most 2048 workers");
    if (presence == NULL)
        presence = presence_make(model, tell->id);
    if (was_there)
        *ret_wish = presence->row.wish;
    if (was_there && says_the_same(presence, tell) && is_young(model, presence))
        return CULEX_OK;
    if (tell->sheet_len > 0)
        memcpy(presence->sheet, tell->sheet, tell->sheet_len);
    presence->row = (struct culex_worker_row){.id = presence->id,
                                              .told_ms = now_of(model),
                                              .heard = tell->heard,
                                              .concurrency = tell->concurrency,
                                              .wish = *ret_wish,
                                              .sheet = presence->sheet,
                                              .sheet_len = tell->sheet_len};
    return CULEX_OK;
}

static culex_status model_workers(struct culex_store *store, struct culex_worker_list *ret_list,
                                  culex_error *error)
{
    struct model *model = of(store);
    (void)error;
    *ret_list = (struct culex_worker_list){.now_ms = now_of(model)};
    for (size_t i = 0; i < model->presence_count; i++) {
        if (is_there(model, model->presences[i]) &&
            !culex__worker_list_add(ret_list, &model->presences[i]->row))
            abort();
    }
    return CULEX_OK;
}

/* True when the wish became another one. */
static bool wish_join(struct culex_worker_wish *wish, const struct culex_worker_wish *wanted,
                      uint32_t most)
{
    struct culex_worker_wish before = *wish;
    if (wanted->quiet != 0)
        wish->quiet = wanted->quiet;
    if (wanted->is_stop)
        wish->is_stop = true;
    if (wanted->concurrency != 0)
        wish->concurrency = wanted->concurrency < most ? wanted->concurrency : most;
    return before.number == 0 || wish->quiet != before.quiet || wish->is_stop != before.is_stop ||
           wish->concurrency != before.concurrency;
}

static void wish_of(struct model *model, struct culex_worker_row *row,
                    const struct culex_worker_wish *wanted)
{
    uint64_t number = (uint64_t)now_of(model);
    if (!wish_join(&row->wish, wanted, row->concurrency))
        return;
    if (number <= row->wish.number)
        number = row->wish.number + 1;
    if (number <= row->heard)
        number = row->heard + 1;
    row->wish.number = number;
}

static culex_status model_worker_set(struct culex_store *store, const char *id,
                                     const struct culex_worker_wish *wish, size_t *ret_count,
                                     culex_error *error)
{
    struct model *model = of(store);
    struct model_presence *one = id != NULL ? presence_find(model, id) : NULL;
    size_t count = 0;
    if (id != NULL && (one == NULL || !is_there(model, one)))
        return culex__fail(error, CULEX_ENOTFOUND, "no worker '%s' is at work", id);
    if (one != NULL && wish->concurrency > one->row.concurrency)
        return culex__fail(error, CULEX_EINVAL,
                           "worker '%s' was started for at most %u runs at a time", id,
                           one->row.concurrency);
    for (size_t i = 0; i < model->presence_count; i++) {
        struct model_presence *presence = model->presences[i];
        if (!is_there(model, presence) || (one != NULL && presence != one))
            continue;
        wish_of(model, &presence->row, wish);
        count++;
    }
    *ret_count = count;
    return CULEX_OK;
}

/* CULEX_ENOTFOUND until somebody has used the queue. */
static culex_status queue_check(struct model *model, const char *queue, culex_error *error)
{
    return queue_of(model, queue)->is_begun
               ? CULEX_OK
               : culex__fail(error, CULEX_ENOTFOUND, "the store has no queue '%s'", queue);
}

/* --- what jobs keep from run to run -------------------------------------------------------------
 */

static struct model_metadata *metadata_of(struct model *model, const char *queue, const char *job)
{
    for (size_t i = 0; i < model->metadata_count; i++) {
        struct model_metadata *kept = model->metadata[i];
        if (strcmp(kept->queue->name, queue) == 0 && strcmp(kept->job, job) == 0)
            return kept;
    }
    struct model_metadata *made = calloc(1, sizeof *made);
    model->metadata =
        realloc(model->metadata, (model->metadata_count + 1) * sizeof *model->metadata);
    if (model->metadata == NULL || made == NULL)
        abort();
    made->queue = queue_of(model, queue);
    snprintf(made->job, sizeof made->job, "%s", job);
    made->row.job = made->job;
    made->row.bytes = made->bytes;
    model->metadata[model->metadata_count++] = made;
    return made;
}

static culex_status model_metadata(struct culex_store *store, const char *queue, const char *job,
                                   struct culex_metadata_list *ret_list, culex_error *error)
{
    struct model *model = of(store);
    (void)error;
    *ret_list = (struct culex_metadata_list){.now_ms = now_of(model)};
    for (size_t i = 0; i < model->metadata_count; i++) {
        const struct model_metadata *kept = model->metadata[i];
        if (kept->row.version == 0 || strcmp(kept->queue->name, queue) != 0 ||
            (job != NULL && strcmp(kept->job, job) != 0))
            continue;
        if (!culex__metadata_list_add(ret_list, &kept->row))
            abort();
    }
    culex__metadata_list_sort(ret_list);
    return CULEX_OK;
}

static size_t metadata_others(struct model *model, const struct model_metadata *except)
{
    size_t count = 0;
    for (size_t i = 0; i < model->metadata_count; i++) {
        const struct model_metadata *kept = model->metadata[i];
        count += kept != except && kept->queue == except->queue && kept->row.version != 0;
    }
    return count;
}

static bool holds(struct model *model, const char *queue, const struct culex_holder *holder)
{
    const struct model_run *run = model_find(model, queue, holder->id);
    return run != NULL && run->state == CULEX_RUN_ACTIVE &&
           is_holder(run, holder->session, holder->attempt);
}

static culex_status model_metadata_set(struct culex_store *store, const char *queue,
                                       const struct culex_metadata_set *set, culex_error *error)
{
    struct model *model = of(store);
    culex_status status = queue_check(model, queue, error);
    if (status != CULEX_OK)
        return status;
    struct model_metadata *kept = metadata_of(model, queue, set->job);
    if (kept->row.version == set->version)
        return CULEX_OK;
    if (set->holder != NULL && !holds(model, queue, set->holder))
        return culex__fail(error, CULEX_ESTALE,
                           "the run is not held any more, and nothing was changed: its lease is "
                           "over");
    if (set->before != UINT64_MAX && set->before != kept->row.version)
        return culex__fail(error, CULEX_ECONFLICT,
                           "the metadata of job '%s' was changed since it was read: read it again",
                           set->job);
    if (set->version != 0 && metadata_others(model, kept) >= 256)
        return culex__fail(error, CULEX_ELIMIT, "at most 256 jobs of queue '%s' keep metadata",
                           queue);
    kept->row.version = set->version;
    kept->row.set_ms = now_of(model);
    kept->row.len = set->len;
    if (set->len > 0)
        memcpy(kept->bytes, set->bytes, set->len);
    return CULEX_OK;
}

/* --- the texts of schemas -----------------------------------------------------------------------
 */

static const int64_t schema_told_gap_ms = 60000, schema_gap_ms = 3600000,
                     schema_stale_ms = 86400000;

static struct model_schema *schema_find(struct model *model, const char *queue,
                                        const struct culex_schema_id *id)
{
    for (size_t i = 0; i < model->schema_count; i++) {
        struct model_schema *kept = model->schemas[i];
        if (kept->text != NULL && strcmp(kept->queue->name, queue) == 0 &&
            strcmp(kept->job, id->job) == 0 && kept->row.id.fingerprint == id->fingerprint &&
            kept->row.id.digest == id->digest)
            return kept;
    }
    return NULL;
}

static size_t schemas_count(struct model *model, const char *queue, struct model_schema **ret_first)
{
    size_t count = 0;
    *ret_first = NULL;
    for (size_t i = 0; i < model->schema_count; i++) {
        struct model_schema *kept = model->schemas[i];
        if (kept->text == NULL || strcmp(kept->queue->name, queue) != 0)
            continue;
        count++;
        if (*ret_first == NULL || kept->row.told_ms < (*ret_first)->row.told_ms)
            *ret_first = kept;
    }
    return count;
}

/* Of its job. */
static bool schema_is_newest(const struct model *model, const struct model_schema *kept)
{
    for (size_t i = 0; i < model->schema_count; i++) {
        const struct model_schema *other = model->schemas[i];
        if (other != kept && other->text != NULL && other->queue == kept->queue &&
            strcmp(other->job, kept->job) == 0 && other->row.told_ms >= kept->row.told_ms)
            return false;
    }
    return true;
}

static void schema_drop(struct model_schema *kept)
{
    free(kept->text);
    kept->text = NULL;
}

static struct model_schema *schema_add(struct model *model, const char *queue,
                                       const struct culex_schema_text *schema)
{
    struct model_schema *made = calloc(1, sizeof *made);
    model->schemas = realloc(model->schemas, (model->schema_count + 1) * sizeof *model->schemas);
    if (model->schemas == NULL || made == NULL)
        abort();
    made->queue = queue_of(model, queue);
    snprintf(made->job, sizeof made->job, "%s", schema->id.job);
    made->row.id = schema->id;
    made->row.id.job = made->job;
    return model->schemas[model->schema_count++] = made;
}

static culex_status model_schema_publish(struct culex_store *store, const char *queue,
                                         const struct culex_schema_text *schema, culex_error *error)
{
    struct model *model = of(store);
    struct model_schema *first;
    int64_t now = now_of(model);
    culex_status status = queue_check(model, queue, error);
    if (status != CULEX_OK)
        return status;
    struct model_schema *kept = schema_find(model, queue, &schema->id);
    if (kept != NULL && llabs(now - kept->row.told_ms) < schema_told_gap_ms &&
        schema_is_newest(model, kept))
        return CULEX_OK;
    if (kept == NULL && schemas_count(model, queue, &first) >= 512) {
        if (first->row.told_ms > now - schema_stale_ms)
            return culex__fail(error, CULEX_ELIMIT,
                               "queue '%s' keeps at most 512 schemas, and each was told within a "
                               "day",
                               queue);
        schema_drop(first);
    }
    if (kept == NULL)
        kept = schema_add(model, queue, schema);
    free(kept->text);
    kept->text = malloc(schema->len);
    if (kept->text == NULL)
        abort();
    memcpy(kept->text, schema->text, schema->len);
    kept->row.len = schema->len;
    kept->row.told_ms = now;
    kept->looked_ms = 0;
    return CULEX_OK;
}

static culex_status model_schema_sweep(struct culex_store *store, const char *queue,
                                       struct culex_schema_list *ret_list, uint64_t *ret_arrivals,
                                       culex_error *error)
{
    struct model *model = of(store);
    int64_t now = now_of(model);
    culex_status status = queue_check(model, queue, error);
    if (status != CULEX_OK)
        return status;
    *ret_list = (struct culex_schema_list){.now_ms = now};
    *ret_arrivals = model->arrivals;
    for (size_t i = 0; i < model->schema_count && ret_list->count < 64; i++) {
        struct model_schema *kept = model->schemas[i];
        if (kept->text == NULL || strcmp(kept->queue->name, queue) != 0 ||
            kept->row.told_ms > now - schema_stale_ms ||
            (kept->looked_ms > now - schema_gap_ms && kept->looked_ms <= now))
            continue;
        kept->looked_ms = now;
        if (!culex__schema_list_add(ret_list, &kept->row))
            abort();
    }
    culex__schema_list_sort(ret_list);
    return CULEX_OK;
}

static culex_status model_schema_drop(struct culex_store *store, const char *queue,
                                      const struct culex_schema_drop *drop, culex_error *error)
{
    struct model *model = of(store);
    culex_status status = queue_check(model, queue, error);
    if (status != CULEX_OK)
        return status;
    struct model_schema *kept = schema_find(model, queue, &drop->id);
    if (kept != NULL && kept->looked_ms == drop->looked_ms &&
        kept->row.told_ms <= drop->looked_ms - schema_stale_ms && model->arrivals == drop->arrivals)
        schema_drop(kept);
    return CULEX_OK;
}

static culex_status model_schemas(struct culex_store *store, const char *queue,
                                  struct culex_schema_list *ret_list, culex_error *error)
{
    struct model *model = of(store);
    (void)error;
    *ret_list = (struct culex_schema_list){.now_ms = now_of(model)};
    for (size_t i = 0; i < model->schema_count; i++) {
        const struct model_schema *kept = model->schemas[i];
        if (kept->text != NULL && strcmp(kept->queue->name, queue) == 0 &&
            !culex__schema_list_add(ret_list, &kept->row))
            abort();
    }
    culex__schema_list_sort(ret_list);
    return CULEX_OK;
}

static bool schema_may_be(const struct culex_schema_id *kept, const struct culex_schema_id *id)
{
    return strcmp(kept->job, id->job) == 0 &&
           (id->fingerprint == 0 || id->fingerprint == kept->fingerprint) &&
           (id->digest == 0 || id->digest == kept->digest);
}

static culex_status model_schema_text(struct culex_store *store, const char *queue,
                                      const struct culex_schema_id *id, culex_buf *ret_text,
                                      culex_error *error)
{
    struct model *model = of(store);
    const struct model_schema *kept = NULL;
    struct culex_schema_list list;
    model_schemas(store, queue, &list, error);
    for (size_t i = 0; i < list.count && kept == NULL; i++) {
        if (schema_may_be(&list.rows[i].id, id))
            kept = schema_find(model, queue, &list.rows[i].id);
    }
    culex__schema_list_release(&list);
    if (kept == NULL)
        return culex__fail(error, CULEX_ENOTFOUND, "queue '%s' keeps no such schema", queue);
    if (culex__buf_append(ret_text, kept->text, kept->row.len) != CULEX_OK)
        abort();
    return CULEX_OK;
}

/* --- schedules, as an operator sets them --------------------------------------------------------
 */

static culex_status model_schedule_set(struct culex_store *store, const char *queue,
                                       const char *name, enum culex_schedule_act act,
                                       culex_error *error)
{
    struct model *model = of(store);
    struct model_name *schedule = schedule_find(model, queue, name, error);
    if (schedule == NULL)
        return CULEX_ENOTFOUND;
    if (act == CULEX_SCHEDULE_FORGET) {
        *schedule = (struct model_name){.queue = schedule->queue, .name = schedule->name};
        return CULEX_OK;
    }
    if (act == CULEX_SCHEDULE_RESUME && schedule->is_paused && schedule->is_of_calendar &&
        schedule->mark_ms < now_of(model))
        schedule->mark_ms = now_of(model);
    schedule->is_paused = act == CULEX_SCHEDULE_PAUSE;
    return CULEX_OK;
}

static culex_status model_schedule_run(struct culex_store *store, const char *queue,
                                       const char *name, int64_t asking,
                                       const struct culex_new_run *run,
                                       struct culex_enqueue_result *ret_result, culex_error *error)
{
    struct model *model = of(store);
    struct model_name *schedule = schedule_find(model, queue, name, error);
    if (schedule == NULL)
        return CULEX_ENOTFOUND;
    *ret_result = (struct culex_enqueue_result){CULEX_ENQUEUED_NEW, schedule->brought};
    bool is_repeat = schedule->asking == asking;
    if (!is_repeat && !schedule->may_overlap && newest_is_live(model, queue, schedule)) {
        *ret_result = (struct culex_enqueue_result){CULEX_ENQUEUED_UNIQUE_TAKEN, schedule->newest};
    } else if (!is_repeat) {
        *ret_result = periodic_enqueue(model, queue_of(model, queue), schedule, run);
        if (ret_result->outcome == CULEX_ENQUEUED_NEW) {
            schedule->asking = asking;
            schedule->brought = ret_result->id;
        }
    }
    model->given = NULL;
    return CULEX_OK;
}

static culex_status get_run(struct culex_store *store, const char *queue, culex_uuid id,
                            struct model_run **ret_run, culex_error *error)
{
    *ret_run = model_find(of(store), queue, id);
    return *ret_run != NULL
               ? CULEX_OK
               : culex__fail(error, CULEX_ENOTFOUND, "no such run in queue '%s'", queue);
}

static culex_status model_cancel(struct culex_store *store, const char *queue, culex_uuid id,
                                 culex_run_state *ret_state, culex_error *error)
{
    struct model_run *run;
    culex_status status = get_run(store, queue, id, &run, error);
    if (status != CULEX_OK)
        return status;
    if (is_final(run->state))
        return culex__fail(error, CULEX_ESTATE, "the run is %s already",
                           culex_run_state_name(run->state));
    if (run->state == CULEX_RUN_ACTIVE)
        run->is_cancel_requested = true;
    else
        make_final(of(store), run, CULEX_RUN_CANCELLED);
    *ret_state = run->state;
    return CULEX_OK;
}

static culex_status model_retry(struct culex_store *store, const char *queue, culex_uuid id,
                                culex_error *error)
{
    struct model_run *run;
    culex_status status = get_run(store, queue, id, &run, error);
    if (status != CULEX_OK)
        return status;
    if (run->state != CULEX_RUN_DEAD)
        return culex__fail(error, CULEX_ESTATE, "only a dead run can be retried");
    bool is_wanted = is_keeping(run, CULEX_RUN_WAITING) && is_within(of(store), run);
    if (is_wanted && unique_holder(of(store), run->queue, run->made.unique_key) != NULL)
        return culex__fail(error, CULEX_EUNIQUE, "another run holds its unique key by now");
    run->counters = (struct culex_run_counters){.attempts_max = run->counters.attempts_max};
    run->is_cancel_requested = run->is_started = false;
    run->expires_at_ms = 0; /* somebody wants it to run now */
    make_ready(of(store), run, false);
    unique_return(of(store), run);
    tell_of(of(store), run, CULEX_EVENTS_RETRIED);
    return CULEX_OK;
}

static culex_status model_forget(struct culex_store *store, const char *queue, culex_uuid id,
                                 culex_error *error)
{
    struct model_run *run;
    culex_status status = get_run(store, queue, id, &run, error);
    if (status != CULEX_OK)
        return status;
    if (!is_final(run->state))
        return culex__fail(error, CULEX_ESTATE, "the run is not over yet");
    tell_of(of(store), run, CULEX_EVENTS_FORGOTTEN);
    run->is_gone = true;
    return CULEX_OK;
}

/* `wait` and `before`: until when it is to wait, and was; now at the earliest. */
static bool move_in_time(struct model *model, struct model_run *run, int64_t wait, int64_t before)
{
    bool has_expiry = run->expires_at_ms != 0;
    if (has_expiry && has_failed(run) && wait >= run->expires_at_ms)
        return false;
    if (has_expiry && !has_failed(run))
        run->expires_at_ms += wait - before;
    if (wait > now_of(model))
        make_scheduled(model, run, wait);
    else
        make_ready(model, run, false);
    unique_return(model, run);
    return true;
}

static culex_status model_move(struct culex_store *store, const char *queue, culex_uuid id,
                               const struct culex_place *place, culex_error *error)
{
    struct model *model = of(store);
    struct model_run *run;
    int64_t now = now_of(model);
    culex_status status = get_run(store, queue, id, &run, error);
    if (status != CULEX_OK)
        return status;
    if (is_final(run->state) || run->state == CULEX_RUN_ACTIVE)
        return culex__fail(error, CULEX_ESTATE,
                           "the run is %s: only one that is scheduled or waiting can be moved",
                           culex_run_state_name(run->state));
    int64_t before = model_state(model, run) == CULEX_RUN_SCHEDULED ? run->at_ms : now;
    int64_t wait = place->at_ms != 0 ? place->at_ms : now + place->delay_ms;
    wait = wait > now ? wait : now;
    bool is_timed = place->has_time && (wait > now || before > now);
    if (is_timed && !move_in_time(model, run, wait, before))
        return culex__fail(error, CULEX_ESTATE,
                           "the time for the run's retries is over by then: move it to an earlier "
                           "time, or retry it once it is dead");
    bool is_ranked = place->priority >= 0 && place->priority != run->made.priority;
    if (is_timed || is_ranked)
        tell_of(model, run, CULEX_EVENTS_MOVED);
    if (is_ranked) {
        run->made.priority = place->priority;
        run->is_aside = run->state == CULEX_RUN_WAITING && is_of_full_share(model, run);
    }
    return CULEX_OK;
}

static void pause_until(struct model *model, struct model_queue *queue, int64_t until_ms)
{
    if (queue->paused_until_ms == until_ms)
        return;
    queue->paused_until_ms = until_ms;
    tell_queue(model, queue, until_ms == 0 ? CULEX_EVENTS_RESUMED : CULEX_EVENTS_PAUSED);
}

static culex_status model_pause(struct culex_store *store, const char *queue, bool is_paused,
                                culex_error *error)
{
    culex_status status = queue_check(of(store), queue, error);
    if (status == CULEX_OK)
        pause_until(of(store), queue_of(of(store), queue), is_paused ? INT64_MAX : 0);
    return status;
}

static culex_status model_pause_for(struct culex_store *store, const char *queue, int64_t for_ms,
                                    culex_error *error)
{
    culex_status status = queue_check(of(store), queue, error);
    if (status == CULEX_OK)
        pause_until(of(store), queue_of(of(store), queue), now_of(of(store)) + for_ms);
    return status;
}

static culex_status model_events_keep(struct culex_store *store, const char *name, uint64_t most,
                                      culex_error *error)
{
    culex_status status = queue_check(of(store), name, error);
    struct model_queue *queue = queue_of(of(store), name);
    if (status != CULEX_OK)
        return status;
    if (most == 0) /* takes a position, of an event that nobody is told */
        tell_queue(of(store), queue, CULEX_EVENTS_PURGED);
    queue->events_kept = most;
    if (most == 0)
        queue->events_dropped = queue->event_count;
    return CULEX_OK;
}

static culex_status model_events(struct culex_store *store, const char *name, uint64_t after,
                                 size_t most, struct culex_event_list *ret_list, culex_error *error)
{
    const struct model_queue *queue = queue_of(of(store), name);
    uint64_t last = queue->event_count, kept = queue->events_kept;
    uint64_t oldest = last > kept ? last - kept : 0;
    (void)error;
    if (oldest < queue->events_dropped)
        oldest = queue->events_dropped;
    *ret_list = (struct culex_event_list){
        .position = after == CULEX_EVENTS_NOW ? last : after, .newest = last, .kept = kept};
    if (ret_list->position > last || ret_list->position < oldest) {
        ret_list->is_gap = after != CULEX_EVENTS_OLDEST;
        ret_list->position = oldest;
    }
    while (ret_list->count < most && ret_list->position < last) {
        if (!culex__event_list_add(ret_list, &queue->events[ret_list->position++]))
            abort();
    }
    return CULEX_OK;
}

static culex_status model_limit(struct culex_store *store, const char *queue, uint64_t most,
                                culex_error *error)
{
    culex_status status = queue_check(of(store), queue, error);
    if (status == CULEX_OK)
        queue_of(of(store), queue)->stats.limit = most;
    return status;
}

static culex_status model_dead_limit(struct culex_store *store, const char *queue, uint64_t most,
                                     culex_error *error)
{
    culex_status status = queue_check(of(store), queue, error);
    if (status == CULEX_OK)
        queue_of(of(store), queue)->stats.dead_limit = most;
    return status;
}

/* NULL, and `error` filled, where there is none. */
static struct model_limit *limit_get(struct model *model, const char *queue, const char *name,
                                     culex_error *error)
{
    struct model_limit *limit = limit_find(model, queue_of(model, queue), name);
    if (limit == NULL)
        culex__fail(error, CULEX_ENOTFOUND, "queue '%s' has no limit '%s'", queue, name);
    return limit;
}

/* Whether the limit may be so, once what is left out was filled in. */
static bool is_sane(const struct model_limit *limit, culex_limit_value value)
{
    if (limit->kind == CULEX_LIMIT_CONCURRENCY)
        return value.count <= CULEX_LIMIT_COUNT_MAX && value.per_ms == 0 && value.burst == 0;
    return limit->kind == CULEX_LIMIT_RATE && value.count <= CULEX_LIMIT_COUNT_MAX &&
           value.per_ms >= 1 && value.per_ms <= CULEX_LIMIT_PERIOD_MAX_MS && value.burst >= 1 &&
           value.burst <= CULEX_LIMIT_COUNT_MAX && value.count <= value.per_ms * 1000 &&
           token_us(value) <= CULEX_LIMIT_PERIOD_MAX_MS * 1000 / value.burst;
}

static culex_status model_limit_set(struct culex_store *store, const char *queue, const char *name,
                                    const culex_limit_value *value, culex_error *error)
{
    struct model_limit *limit = limit_get(of(store), queue, name, error);
    if (limit == NULL)
        return CULEX_ENOTFOUND;
    culex_limit_value wanted = value != NULL ? *value : (culex_limit_value){.count = 0};
    culex_limit_value now = value_of(limit);
    if (value != NULL && limit->kind == CULEX_LIMIT_RATE) {
        wanted.per_ms = wanted.per_ms == 0 ? now.per_ms : wanted.per_ms;
        if (wanted.burst == 0)
            wanted.burst = now.burst < wanted.count ? now.burst : wanted.count;
    }
    if (value != NULL && !is_sane(limit, wanted))
        return culex__fail(error, CULEX_EINVAL, "limit '%s' cannot have these numbers", name);
    limit->set = wanted;
    return CULEX_OK;
}

/* Something is kept of the key that this run has at this limit. */
static void key_row_add(struct model *model, const struct model_limit *limit, const char *key,
                        struct culex_limit_key_list *list)
{
    struct culex_limit_key_row row = {.key = key, .active = active_at(model, limit, key)};
    bool has_waiting = false;
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->rows[i].key, key) == 0)
            return;
    }
    for (size_t i = 0; i < model->run_count; i++) {
        const struct model_run *run = model->runs[i];
        if (run->state != CULEX_RUN_WAITING || counts_at(run, limit, key) == NULL)
            continue;
        const struct culex_run_limit *behind = first_without_room(model, run);
        has_waiting = has_waiting || behind == NULL;
        if (limit->kind == CULEX_LIMIT_NEEDS)
            row.parked += behind == NULL;
        else
            row.parked += behind != NULL && (limit->kind == CULEX_LIMIT_FAIR ||
                                             strcmp(behind->name, limit->name) == 0);
    }
    if (limit->kind == CULEX_LIMIT_RATE)
        row.next_ms = token_in_ms(model, limit, key);
    bool is_full =
        limit->kind != CULEX_LIMIT_RATE || full_us(model, limit, key) <= now_of(model) * 1000;
    has_waiting = has_waiting && limit->kind != CULEX_LIMIT_NEEDS;
    bool is_kept = row.active > 0 || row.parked > 0 || has_waiting || !is_full;
    if (is_kept && !culex__limit_key_list_add(list, &row))
        abort();
}

static void key_rows_fill(struct model *model, const struct model_limit *limit,
                          struct culex_limit_key_list *list)
{
    for (size_t i = 0; i < model->run_count; i++) {
        const struct model_run *run = model->runs[i];
        for (size_t k = 0; k < run->made.limit_count && run->queue == limit->queue; k++) {
            if (strcmp(run->made.limits[k].name, limit->name) == 0)
                key_row_add(model, limit, run->made.limits[k].key, list);
        }
    }
    for (size_t i = 0; i < model->bucket_count; i++) {
        if (model->buckets[i]->limit == limit)
            key_row_add(model, limit, model->buckets[i]->key, list);
    }
    culex__limit_key_list_sort(list);
}

static culex_status model_limits(struct culex_store *store, const char *queue,
                                 struct culex_limit_list *ret_list, culex_error *error)
{
    (void)error;
    struct model *model = of(store);
    *ret_list = (struct culex_limit_list){.now_ms = now_of(model)};
    model_share(model, queue);
    for (size_t i = 0; i < model->limit_count; i++) {
        const struct model_limit *limit = model->limits[i];
        struct culex_limit_key_list keys = {.rows = NULL};
        struct culex_limit_row row = {.name = limit->name,
                                      .kind = limit->kind,
                                      .declared = limit->declared,
                                      .set = limit->set};
        if (limit->queue != queue_of(model, queue))
            continue;
        key_rows_fill(model, limit, &keys);
        row.keys = keys.count;
        for (size_t k = 0; k < keys.count; k++) {
            row.active += keys.rows[k].active;
            row.parked += keys.rows[k].parked;
        }
        culex__limit_key_list_release(&keys);
        if (!culex__limit_list_add(ret_list, &row))
            abort();
    }
    culex__limit_list_sort(ret_list);
    return CULEX_OK;
}

static culex_status model_limit_keys(struct culex_store *store, const char *queue, const char *name,
                                     const char *after, size_t most,
                                     struct culex_limit_key_list *ret_list, culex_error *error)
{
    struct model *model = of(store);
    struct culex_limit_key_list all = {.rows = NULL};
    const struct model_limit *limit = limit_get(model, queue, name, error);
    if (limit == NULL)
        return CULEX_ENOTFOUND;
    *ret_list = (struct culex_limit_key_list){.now_ms = now_of(model)};
    model_share(model, queue);
    key_rows_fill(model, limit, &all);
    for (size_t i = 0; i < all.count; i++) {
        if (after != NULL && strcmp(all.rows[i].key, after) <= 0)
            continue;
        ret_list->is_more = ret_list->count == most;
        if (ret_list->is_more)
            break;
        if (!culex__limit_key_list_add(ret_list, &all.rows[i]))
            abort();
    }
    culex__limit_key_list_release(&all);
    return CULEX_OK;
}

static culex_status model_purge(struct culex_store *store, const char *queue, culex_run_state state,
                                size_t limit, struct culex_purge_reply *ret_reply,
                                culex_error *error)
{
    struct model *model = of(store);
    culex_status status = queue_check(model, queue, error);
    if (status != CULEX_OK)
        return status;
    *ret_reply = (struct culex_purge_reply){.is_more = false};
    for (size_t i = 0; i < model->run_count && !ret_reply->is_more; i++) {
        struct model_run *run = model->runs[i];
        if (run->queue != queue_of(model, queue) || run->is_gone ||
            model_state(model, run) != state)
            continue;
        ret_reply->is_more = ret_reply->deleted == limit;
        run->is_gone = !ret_reply->is_more;
        if (run->is_gone)
            member_end(model, run, CULEX_RUN_CANCELLED);
        ret_reply->deleted += run->is_gone;
        if (run->is_gone)
            is_told(model, run);
    }
    if (ret_reply->deleted > 0) {
        struct model_queue *home = queue_of(model, queue);
        tell_queue(model, home, CULEX_EVENTS_PURGED);
        if (home->events_kept > 0)
            home->events[home->event_count - 1].count = (uint32_t)ret_reply->deleted;
    }
    return CULEX_OK;
}

static culex_status model_stats(struct culex_store *store, const char *queue,
                                culex_queue_stats *ret_stats, culex_error *error)
{
    struct model *model = of(store);
    culex_status status = queue_check(model, queue, error);
    if (status != CULEX_OK)
        return status;
    culex_queue_stats stats = queue_of(model, queue)->stats;
    stats.now_ms = now_of(model);
    stats.paused = model_is_paused(model, queue_of(model, queue));
    int64_t until_ms = queue_of(model, queue)->paused_until_ms;
    stats.paused_until_ms = stats.paused && until_ms != INT64_MAX ? until_ms : 0;
    for (size_t i = 0; i < model->run_count; i++) {
        if (model->runs[i]->queue == queue_of(model, queue) && !model->runs[i]->is_gone)
            stats.count[model_state(model, model->runs[i])]++;
    }
    *ret_stats = stats;
    return CULEX_OK;
}

static void info_fill(culex_run_info *info, const struct model *model, const struct model_run *run)
{
    info->id = run->id;
    info->state = model_state(model, run);
    info->job = (char *)run->made.job;
    info->queue = (char *)run->queue->name;
    info->priority = run->made.priority;
    info->attempt = run->attempt;
    info->failures = run->counters.failures;
    info->crashes = run->counters.crashes;
    info->losses = run->counters.losses;
    info->attempts_max = run->counters.attempts_max;
    info->created_at_ms = run->created_at_ms;
    bool has_date = run->state == CULEX_RUN_SCHEDULED || info->state != CULEX_RUN_WAITING;
    info->at_ms = has_date ? run->at_ms : 0;
    info->expires_at_ms = run->expires_at_ms;
    info->fingerprint = run->made.fingerprint;
    info->cancel_requested = run->is_cancel_requested;
    info->tags = (char *)run->made.tags;
    info->error_text = (char *)(uintptr_t) "";
    info->progress = -1;
    info->progress_text = (char *)(uintptr_t) "";
    info->timeout_ms = run->made.timeout_ms;
    info->retry_for_ms = run->made.retry_for_ms;
    info->keep_success_ms = run->made.keep_success_ms;
    info->keep_failure_ms = run->made.keep_failure_ms;
    info->unique_while = run->made.unique_while;
}

static char *own(const void *bytes, size_t len)
{
    char *copy = calloc(1, len + 1);
    if (copy == NULL)
        abort();
    if (len > 0)
        memcpy(copy, bytes, len);
    return copy;
}

/* "PERCENT TEXT"; the suite reports nothing else. */
static void progress_fill(culex_run_info *info, const char *progress)
{
    const char *space = strchr(progress, ' ');
    info->progress = space != NULL ? atoi(progress) : -1;
    const char *words = space != NULL ? space + 1 : "";
    info->progress_text = own(words, strlen(words));
}

/* NAME=KEY;NAME=KEY */
static char *limits_text(const struct model_run *run)
{
    char text[4096] = "";
    size_t len = 0;
    for (size_t i = 0; i < run->made.limit_count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s=%s", i > 0 ? ";" : "",
                                run->made.limits[i].name,
                                run->made.limits[i].key != NULL ? run->made.limits[i].key : "");
    return own(text, len);
}

static size_t batches_of(const struct model *model, const struct model_run *run);

static culex_status model_get(struct culex_store *store, const char *queue, culex_uuid id,
                              culex_run_info **ret_run, culex_error *error)
{
    struct model_run *run;
    culex_status status = get_run(store, queue, id, &run, error);
    if (status != CULEX_OK)
        return status;
    culex_run_info *info = calloc(1, sizeof *info);
    if (info == NULL)
        abort();
    info_fill(info, of(store), run);
    info->job = own(info->job, strlen(info->job));
    info->queue = own(info->queue, strlen(info->queue));
    info->tags = own(info->tags, strlen(info->tags));
    info->error_text = own(run->error_text, strlen(run->error_text));
    progress_fill(info, run->progress);
    info->unique_key = own(run->made.unique_key, strlen(run->made.unique_key));
    info->unique_until_ms = is_key(run->made.unique_key) ? run->unique_until_ms : 0;
    info->limits = limits_text(run);
    info->is_member = !is_final(run->state) && batches_of(of(store), run) > 0;
    if (run->state != CULEX_RUN_DONE)
        info->payload.len = run->made.payload_len;
    info->payload.data = (uint8_t *)own(run->made.payload, info->payload.len);
    info->result.len = run->result_len;
    info->result.data = (uint8_t *)own(run->result, run->result_len);
    *ret_run = info;
    return CULEX_OK;
}

static culex_status model_run_log(struct culex_store *store, const char *queue, culex_uuid id,
                                  culex_buf *ret_lines, culex_error *error)
{
    struct model_run *run;
    culex_status status = get_run(store, queue, id, &run, error);
    if (status == CULEX_OK && culex__buf_append(ret_lines, run->log, strlen(run->log)) != CULEX_OK)
        abort();
    return status;
}

/* "a,b" has the tag "b" when ",a,b," has ",b,". */
static bool has_tag(const char *tags, const char *tag)
{
    char all[2 * CULEX_TAGS_MAX * CULEX_TAG_MAX], one[CULEX_TAG_MAX + 3];
    snprintf(all, sizeof all, ",%s,", tags);
    snprintf(one, sizeof one, ",%s,", tag);
    return strstr(all, one) != NULL;
}

bool model_takes(const struct model *model, const culex_list_filter *filter,
                 const struct model_run *run)
{
    culex_time created = run->created_at_ms * CULEX_MILLISECOND;
    return (filter->states == 0 || (filter->states >> model_state(model, run) & 1) == 1) &&
           (filter->job == NULL || strcmp(filter->job, run->made.job) == 0) &&
           (filter->tag == NULL || has_tag(run->made.tags, filter->tag)) &&
           (filter->error_part == NULL || strstr(run->error_text, filter->error_part) != NULL) &&
           (!filter->has_since || created >= filter->since) &&
           (!filter->has_before || created < filter->before);
}

/* Is it to be forgotten sooner than at the cursor, or of its run? */
static bool is_behind(const struct model_run *run, const culex_list_cursor *cursor)
{
    int64_t place = (int64_t)cursor->place;
    return place == 0 || run->at_ms < place ||
           (run->at_ms == place && memcmp(&run->id, &cursor->run, sizeof run->id) < 0);
}

static void newest_fill(struct model *model, const struct model_queue *queue,
                        const culex_list_filter *filter, culex_list_cursor cursor, size_t limit,
                        struct culex_list_reply *reply)
{
    const struct model_run *next;
    do {
        next = NULL;
        for (size_t i = 0; i < model->run_count; i++) {
            const struct model_run *run = model->runs[i];
            if (run->queue == queue && !run->is_gone && model_takes(model, filter, run) &&
                is_behind(run, &cursor) &&
                (next == NULL ||
                 !is_behind(run, &(culex_list_cursor){(uint64_t)next->at_ms, next->id})))
                next = run;
        }
        if (next == NULL)
            break;
        info_fill(&reply->runs[reply->count++], model, next);
        cursor = (culex_list_cursor){(uint64_t)next->at_ms, next->id};
    } while (reply->count < limit);
    reply->cursor = next != NULL ? cursor : CULEX_LIST_START;
}

static culex_status model_list(struct culex_store *store, const char *queue,
                               const culex_list_filter *filter, culex_list_cursor cursor,
                               size_t limit, struct culex_list_reply *ret_reply, culex_error *error)
{
    struct model *model = of(store);
    culex_status status = queue_check(model, queue, error);
    if (status != CULEX_OK)
        return status;
    struct culex_list_reply reply = {.runs = keep(model, limit * sizeof *reply.runs)};
    if (filter->newest_first) {
        newest_fill(model, queue_of(model, queue), filter, cursor, limit, &reply);
        *ret_reply = reply;
        return CULEX_OK;
    }
    size_t i = cursor.place < model->run_count ? (size_t)cursor.place : model->run_count;
    for (; i < model->run_count && reply.count < limit; i++) {
        struct model_run *run = model->runs[i];
        if (run->queue == queue_of(model, queue) && !run->is_gone &&
            model_takes(model, filter, run))
            info_fill(&reply.runs[reply.count++], model, run);
    }
    reply.cursor.place = i < model->run_count ? i : 0;
    *ret_reply = reply;
    return CULEX_OK;
}

static void model_list_release(struct culex_store *store, struct culex_list_reply *reply)
{
    (void)store;
    memset(reply, 0, sizeof *reply);
}

static int name_order(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static culex_status model_queues(struct culex_store *store, char ***ret_names, culex_error *error)
{
    (void)error;
    struct model *model = of(store);
    size_t size = (model->queue_count + 1) * sizeof(char *);
    for (size_t i = 0; i < model->queue_count; i++)
        size += strlen(model->queues[i]->name) + 1;
    char **names = calloc(1, size);
    if (names == NULL)
        abort();
    char *text = (char *)(names + model->queue_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < model->queue_count; i++) {
        if (!model->queues[i]->is_begun)
            continue;
        names[count++] = strcpy(text, model->queues[i]->name);
        text += strlen(text) + 1;
    }
    qsort(names, count, sizeof *names, name_order);
    *ret_names = names;
    return CULEX_OK;
}

static culex_status model_now(struct culex_store *store, int64_t *ret_now_ms, culex_error *error)
{
    (void)error;
    *ret_now_ms = now_of(of(store));
    return CULEX_OK;
}

static bool is_same_callback(const struct culex_follow_up *a, const struct culex_follow_up *b)
{
    const char *a_tags = a->run.tags != NULL ? a->run.tags : "";
    const char *b_tags = b->run.tags != NULL ? b->run.tags : "";
    return a->run.content == b->run.content && a->run.delay_ms == b->run.delay_ms &&
           a->run.priority == b->run.priority && a->run.expires_ms == b->run.expires_ms &&
           strcmp(a_tags, b_tags) == 0 && strcmp(a->queue, b->queue) == 0;
}

static culex_status model_batch_call(struct model *model, struct model_batch *batch,
                                     const struct culex_batch_order *order, culex_error *error)
{
    struct model_call *call = &batch->calls[order->when];
    if (call->is_given)
        return is_same_callback(&call->call, order->call)
                   ? CULEX_OK
                   : culex__fail(error, CULEX_ECONFLICT,
                                 "the batch has another callback of this kind");
    if (batch_never_tells(batch, (int)order->when))
        return culex__fail(error, CULEX_ESTATE, "a callback of queue '%s' would never come in",
                           order->queue);
    call->is_given = true;
    call->call = (struct culex_follow_up){keep_text(model, order->call->queue), order->call->run};
    struct culex_new_run *run = &call->call.run;
    run->job = keep_text(model, run->job);
    run->unique_key = keep_text(model, run->unique_key);
    run->tags = keep_text(model, run->tags);
    run->payload = keep_bytes(model, run->payload, run->payload_len);
    run->limits = keep_bytes(model, run->limits, run->limit_count * sizeof *run->limits);
    return CULEX_OK;
}

static culex_status model_batch_open(struct model *model, const struct culex_batch_order *order,
                                     culex_error *error)
{
    static const culex_uuid none;
    struct model_queue *queue = queue_of(model, order->queue);
    bool has_parent = memcmp(&order->parent, &none, sizeof none) != 0;
    struct model_batch *parent = has_parent ? batch_find(model, queue, order->parent) : NULL;
    queue->is_begun = true;
    if (has_parent && parent == NULL)
        return culex__fail(error, CULEX_ENOTFOUND, "queue '%s' has no such batch", order->queue);
    if (parent != NULL && parent->info.is_ended)
        return culex__fail(error, CULEX_ESTATE, "the batch of queue '%s' has ended", order->queue);
    if (parent != NULL && parent->depth >= BATCHES_IN_EACH_OTHER)
        return culex__fail(error, CULEX_ELIMIT, "at most 8 batches in each other");
    struct model_batch *batch = APPEND(model, model->batches, model->batch_count);
    *batch = (struct model_batch){.queue = queue,
                                  .id = order->id,
                                  .keep_ms = order->keep_ms,
                                  .at_ms = now_of(model) + order->open_ms,
                                  .opened_ms = now_of(model),
                                  .depth = 1,
                                  .parent = parent,
                                  .parent_id = order->parent};
    if (parent != NULL) {
        batch->depth = parent->depth + 1;
        parent->info.added++;
    }
    return CULEX_OK;
}

static size_t batches_of(const struct model *model, const struct model_run *run)
{
    size_t count = run->batch != NULL;
    for (size_t i = 0; i < model->batch_count; i++)
        count += model->batches[i]->after == run;
    return count;
}

static culex_status model_batch_after(struct model *model, const struct culex_batch_order *order,
                                      culex_error *error)
{
    const struct model_run *run = model_find(model, order->queue, order->run);
    if (run == NULL)
        return culex__fail(error, CULEX_ENOTFOUND, "no such run in queue '%s'", order->queue);
    bool is_over = is_final(run->state);
    if (is_over && ((order->when == CULEX_BATCH_ON_SUCCESS && run->state != CULEX_RUN_DONE) ||
                    (order->when == CULEX_BATCH_ON_DEATH && run->state != CULEX_RUN_DEAD)))
        return culex__fail(error, CULEX_ESTATE,
                           "the run of queue '%s' is %s, so what is to come after it never would",
                           order->queue, culex_run_state_name(run->state));
    if (!is_over && batches_of(model, run) >= BATCHES_OF_A_RUN)
        return culex__fail(error, CULEX_ELIMIT,
                           "at most 100 runs wait for one, the batches that it is in counted");
    struct model_batch *batch = APPEND(model, model->batches, model->batch_count);
    *batch = (struct model_batch){.queue = run->queue,
                                  .id = order->id,
                                  .info = {.added = 1, .is_closed = true},
                                  .keep_ms = order->keep_ms,
                                  .at_ms = INT64_MAX,
                                  .depth = 1,
                                  .after = is_over ? NULL : run};
    if (is_over)
        batch_count(model, batch, run->state);
    return model_batch_call(model, batch, order, error);
}

/* What waits never comes in, as the run has ended otherwise. */
static bool is_dropped(const struct model_batch *batch, const struct culex_batch_order *order)
{
    const struct model_call *call = &batch->calls[order->when];
    return batch_never_tells(batch, (int)order->when) &&
           (!call->is_given || is_same_callback(&call->call, order->call));
}

/* The run may be alive again. */
static culex_status model_batch_renew(struct model *model, struct model_batch *batch,
                                      const struct culex_batch_order *order, culex_error *error)
{
    batch->is_gone = true;
    culex_status status = model_batch_after(model, order, error);
    batch->is_gone = status == CULEX_OK;
    return status;
}

static culex_status model_batch(struct culex_store *store, const struct culex_batch_order *order,
                                culex_error *error)
{
    struct model *model = of(store);
    struct model_batch *batch = batch_find(model, queue_of(model, order->queue), order->id);
    if (order->act == CULEX_BATCH_OPEN && batch == NULL)
        return model_batch_open(model, order, error);
    if (order->act == CULEX_BATCH_OPEN)
        return memcmp(&batch->parent_id, &order->parent, sizeof order->parent) == 0
                   ? CULEX_OK
                   : culex__fail(error, CULEX_ECONFLICT, "the batch was opened in another one");
    if (order->act == CULEX_BATCH_AFTER && batch != NULL && is_dropped(batch, order))
        return model_batch_renew(model, batch, order, error);
    if (order->act == CULEX_BATCH_AFTER && batch == NULL)
        return model_batch_after(model, order, error);
    if (batch == NULL)
        return culex__fail(error, CULEX_ENOTFOUND, "queue '%s' has no such batch", order->queue);
    if (order->act == CULEX_BATCH_CALL || order->act == CULEX_BATCH_AFTER)
        return model_batch_call(model, batch, order, error);
    if (!batch->info.is_closed)
        batch->at_ms = INT64_MAX;
    batch->info.is_closed = true;
    batch_look(model, batch);
    return CULEX_OK;
}

static culex_status model_batch_look(struct culex_store *store, const char *queue, culex_uuid id,
                                     culex_batch_info *ret_info, culex_error *error)
{
    struct model *model = of(store);
    const struct model_batch *batch = batch_find(model, queue_of(model, queue), id);
    if (batch == NULL)
        return culex__fail(error, CULEX_ENOTFOUND, "queue '%s' has no such batch", queue);
    *ret_info = batch->info;
    return CULEX_OK;
}

static uint64_t calls_due(const struct model_batch *batch)
{
    uint64_t due = 0;
    for (int when = 1; when <= CULEX_BATCH_ON_DEATH; when++)
        due += batch->calls[when].is_given && !batch->calls[when].is_brought &&
               batch_tells(batch, when);
    return due;
}

static culex_status model_batch_review(struct culex_store *store, const char *queue,
                                       struct culex_batch_review *ret_review, culex_error *error)
{
    struct model *model = of(store);
    struct culex_batch_review review = {.now_ms = now_of(model)};
    (void)error;
    for (size_t i = 0; i < model->batch_count; i++) {
        const struct model_batch *batch = model->batches[i];
        if (batch->is_gone || strcmp(batch->queue->name, queue) != 0)
            continue;
        review.due += calls_due(batch);
        review.open += !batch->info.is_closed;
        if (!batch->info.is_closed &&
            (review.open_since_ms == 0 || batch->opened_ms < review.open_since_ms))
            review.open_since_ms = batch->opened_ms;
    }
    *ret_review = review;
    return CULEX_OK;
}

static culex_status model_wake_arm(struct culex_store *store, const char *const *queues,
                                   size_t count, int64_t timeout_ms, int *ret_fd,
                                   culex_error *error)
{
    (void)store, (void)queues, (void)count, (void)timeout_ms, (void)error;
    *ret_fd = -1;
    return CULEX_OK;
}

static culex_status model_wake_take(struct culex_store *store, bool *ret_woken, culex_error *error)
{
    (void)store, (void)error;
    *ret_woken = false;
    return CULEX_OK;
}

/* NULL: there is none. */
static struct model_figure *figure_find(struct model *model, const struct model_queue *queue,
                                        int64_t hour, const char *job)
{
    for (size_t i = 0; i < model->figure_count; i++) {
        struct model_figure *row = model->figures[i];
        if (!row->is_gone && row->queue == queue && row->hour == hour && strcmp(row->job, job) == 0)
            return row;
    }
    return NULL;
}

static size_t figures_count(const struct model *model, const struct model_queue *queue)
{
    size_t count = 0;
    for (size_t i = 0; i < model->figure_count; i++)
        count += !model->figures[i]->is_gone && model->figures[i]->queue == queue;
    return count;
}

static void figures_forget(struct model *model, const struct model_queue *queue)
{
    int64_t now = now_of(model);
    for (size_t i = 0; i < model->figure_count; i++) {
        struct model_figure *row = model->figures[i];
        int64_t age = now / CULEX_HOUR_MS - row->hour;
        row->is_gone =
            row->is_gone ||
            (row->queue == queue && (age >= CULEX_FIGURES_HOURS || -age >= CULEX_FIGURES_HOURS));
    }
    for (size_t i = 0; i < model->figure_call_count; i++) {
        struct model_figure_call *call = model->figure_calls[i];
        int64_t age = now - call->seen_ms;
        call->is_gone = call->is_gone || (call->queue == queue && (age > CULEX_FIGURES_REPEAT_MS ||
                                                                   -age > CULEX_FIGURES_REPEAT_MS));
    }
}

static struct model_figure_call *figure_call_of(struct model *model, struct model_queue *queue,
                                                const char *session)
{
    for (size_t i = 0; i < model->figure_call_count; i++) {
        struct model_figure_call *call = model->figure_calls[i];
        if (!call->is_gone && call->queue == queue && strcmp(call->session, session) == 0)
            return call;
    }
    struct model_figure_call *made = APPEND(model, model->figure_calls, model->figure_call_count);
    *made = (struct model_figure_call){.queue = queue, .session = keep_text(model, session)};
    return made;
}

static void figure_row_add(struct model *model, struct model_queue *queue,
                           const struct culex_figure_row *row)
{
    int64_t hour = now_of(model) / CULEX_HOUR_MS;
    const char *job = row->job;
    struct culex_figure more;
    struct model_figure *found = figure_find(model, queue, hour, job);
    if (found == NULL && figures_count(model, queue) >= CULEX_FIGURES_ROWS_MAX) {
        job = "";
        found = figure_find(model, queue, hour, job);
    }
    if (found == NULL) {
        found = APPEND(model, model->figures, model->figure_count);
        *found = (struct model_figure){.queue = queue, .hour = hour, .job = keep_text(model, job)};
    }
    if (!culex__figure_read(row->text, &more))
        abort();
    culex__figure_add(&found->figure, &more);
}

static culex_status model_figures_add(struct culex_store *store, const char *name,
                                      const char *session, uint64_t number,
                                      const struct culex_figure_row *rows, size_t count,
                                      culex_error *error)
{
    struct model *model = of(store);
    culex_status status = queue_check(model, name, error);
    if (status != CULEX_OK)
        return status;
    struct model_queue *queue = queue_of(model, name);
    struct model_figure_call *call = figure_call_of(model, queue, session);
    if (number <= call->number)
        return CULEX_OK;
    figures_forget(model, queue);
    call->is_gone = false;
    call->number = number;
    call->seen_ms = now_of(model);
    for (size_t i = 0; i < count; i++)
        figure_row_add(model, queue, &rows[i]);
    return CULEX_OK;
}

static int figure_row_order(const void *left, const void *right)
{
    return culex__figure_order(left, right);
}

static culex_status model_figures(struct culex_store *store, const char *name, const char *job,
                                  unsigned hours, const struct culex_figure_row *after, size_t most,
                                  struct culex_figure_list *ret_list, culex_error *error)
{
    struct model *model = of(store);
    struct culex_figure_list all = {.now_ms = now_of(model)};
    int64_t now = all.now_ms / CULEX_HOUR_MS;
    char text[CULEX_FIGURE_TEXT_SIZE];
    (void)error;
    for (size_t i = 0; i < model->figure_count; i++) {
        const struct model_figure *row = model->figures[i];
        const struct culex_figure_row made = {row->hour, row->job, text};
        if (row->is_gone || strcmp(row->queue->name, name) != 0 || row->hour > now ||
            row->hour <= now - (int64_t)hours || (job != NULL && strcmp(job, row->job) != 0) ||
            (after != NULL && culex__figure_order(&made, after) <= 0))
            continue;
        culex__figure_write(&row->figure, text);
        if (!culex__figure_list_add(&all, &made))
            abort();
    }
    if (all.count > 1)
        qsort(all.rows, all.count, sizeof *all.rows, figure_row_order);
    *ret_list = (struct culex_figure_list){.now_ms = all.now_ms, .is_more = all.count > most};
    for (size_t i = 0; i < all.count && i < most; i++) {
        if (!culex__figure_list_add(ret_list, &all.rows[i]))
            abort();
    }
    culex__figure_list_release(&all);
    return CULEX_OK;
}

static culex_status model_wait_arm(struct culex_store *store, const char *const *queues,
                                   size_t count, int64_t timeout_ms, int *ret_fd,
                                   culex_error *error)
{
    return model_wake_arm(store, queues, count, timeout_ms, ret_fd, error);
}

static culex_status model_wait(struct culex_store *store, const char *queue, const culex_uuid *ids,
                               size_t count, int64_t note_ms, culex_run_state *ret_states,
                               culex_error *error)
{
    struct model *model = of(store);
    int64_t now = now_of(model);
    (void)error;
    for (size_t i = 0; i < count; i++) {
        struct model_run *run = model_find(model, queue, ids[i]);
        ret_states[i] = run != NULL ? model_state(model, run) : CULEX_RUN_STATE_COUNT;
        if (run != NULL && !is_final(run->state) && note_ms > 0 &&
            run->awaited_ms <= now + note_ms / 2)
            run->awaited_ms = now + note_ms;
    }
    return CULEX_OK;
}

static void model_wake_disarm(struct culex_store *store)
{
    (void)store;
}

static culex_status model_fsck(struct culex_store *store, const char *queue, uint64_t cursor,
                               bool is_repairing, struct culex_fsck_reply *ret_reply,
                               culex_error *error)
{
    const struct model *model = of(store);
    (void)cursor, (void)is_repairing, (void)error;
    *ret_reply = (struct culex_fsck_reply){.cursor = 0};
    for (size_t i = 0; i < model->run_count; i++)
        ret_reply->counts.records +=
            !model->runs[i]->is_gone && strcmp(model->runs[i]->queue->name, queue) == 0;
    return CULEX_OK;
}

static void model_close(struct culex_store *store)
{
    struct model *model = of(store);
    for (size_t i = 0; i < model->queue_count; i++)
        free(model->queues[i]->events);
    while (model->blocks != NULL) {
        struct model_block *block = model->blocks;
        model->blocks = block->next;
        free(block);
    }
    free(model->runs);
    free(model->queues);
    free(model->sessions);
    free(model->workers);
    for (size_t i = 0; i < model->presence_count; i++)
        free(model->presences[i]);
    free(model->presences);
    for (size_t i = 0; i < model->metadata_count; i++)
        free(model->metadata[i]);
    free(model->metadata);
    for (size_t i = 0; i < model->schema_count; i++) {
        free(model->schemas[i]->text);
        free(model->schemas[i]);
    }
    free(model->schemas);
    free(model->schedules);
    free(model->producers);
    free(model->keys);
    free(model->uniques);
    free(model->limits);
    free(model->turns);
    free(model->batches);
    free(model->figures);
    free(model->figure_calls);
    free(model->buckets);
    free(model);
}

#define model_doctor NULL /* it has no settings, so they promise nothing */

struct culex_store *model_open(const struct culex_env *env)
{
    static const struct culex_store_ops ops = {
        .name = "model",
#define VERB(name, effect, parameters, arguments, check) .name = model_##name,
#include "store/verbs.def"
#undef VERB
        .step_release = model_step_release,
        .list_release = model_list_release,
        .wake_disarm = model_wake_disarm,
        .close = model_close,
    };
    struct model *model = calloc(1, sizeof *model);
    if (model == NULL)
        abort();
    culex__store_init(&model->base, &ops, env, NULL);
    return &model->base;
}
