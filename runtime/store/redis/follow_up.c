/* store/redis/follow_up.c - runs that come in with the ends of others: kept by the STEP that
 * records the end, brought behind it by a script of the queue that they go to. */
#include "store/redis/redis.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/instant.h"
#include "core/queue_name.h"
#include "store/redis/scripts.h"

enum {
    ROUNDS_MAX = 16, /* of a step; the next one goes on */
    LEFT_MS = 1000,  /* until those that stayed are tried again */
};

/* --- what is kept ------------------------------------------------------------------------ */

/* "$LENGTH", the bytes, each with a line's end: as an argument stands in a request. */
static struct culex__redis_piece piece_of(const struct culex__redis_request *parts)
{
    if (parts->len == 0)
        return (struct culex__redis_piece){"", 0};
    return (struct culex__redis_piece){parts->data + CULEX__REDIS_HEAD_ROOM,
                                       parts->len - CULEX__REDIS_HEAD_ROOM};
}

/* All that go to the queue of number `first`, in `runs`. */
static void queue_collect(struct culex__redis_request *runs, const struct culex_ack *ack,
                          size_t first)
{
    culex__redis_request_reset(runs);
    for (size_t i = first; i < ack->follow_up_count; i++) {
        if (strcmp(ack->follow_ups[i].queue, ack->follow_ups[first].queue) == 0)
            culex__redis_run_add(runs, &ack->follow_ups[i].run);
    }
}

static bool is_first_of_queue(const struct culex_ack *ack, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (strcmp(ack->follow_ups[i].queue, ack->follow_ups[at].queue) == 0)
            return false;
    }
    return true;
}

void culex__redis_follow_ups_add(struct culex__redis_request *request, const struct culex_ack *ack)
{
    struct culex__redis_request parts = {.data = NULL}, runs = {.data = NULL};
    culex__redis_request_add(&parts, ack->result, ack->result != NULL ? ack->result_len : 0);
    for (size_t i = 0; i < ack->follow_up_count; i++) {
        if (!is_first_of_queue(ack, i))
            continue;
        queue_collect(&runs, ack, i);
        struct culex__redis_piece piece = piece_of(&runs);
        culex__redis_request_text(&parts, ack->follow_ups[i].queue);
        culex__redis_request_join(&parts, &piece, 1);
        parts.is_too_long |= runs.is_too_long;
    }
    struct culex__redis_piece piece = piece_of(&parts);
    culex__redis_request_join(request, &piece, 1);
    request->is_too_long |= parts.is_too_long;
    culex__redis_request_release(&runs);
    culex__redis_request_release(&parts);
}

/* --- bringing it ------------------------------------------------------------------------- */

/* What comes of those that a queue keeps. */
struct bringing {
    struct culex__redis *redis;
    struct culex__redis_queue *queue; /* whose they are */
    struct culex_step_reply *reply;
    bool has_own; /* some went there */
};

static int64_t now_ns(const struct bringing *all)
{
    return culex__env_boottime_ns(all->redis->base.env);
}

static bool has_left(const struct bringing *all)
{
    return all->reply->follow_ups_left.code != CULEX_OK;
}

/* They stay: `queue` is left alone for a while. */
static void put_off(struct bringing *all, struct culex__redis_queue *queue,
                    const culex_error *error)
{
    queue->follow_ns = now_ns(all) + LEFT_MS * CULEX_MS_NS;
    queue->follow_error = *error;
    all->reply->follow_ups_left = *error;
}

static culex_status target_send(const struct bringing *all, const char *target, culex_error *error)
{
    struct culex__redis_request *request = &all->redis->request;
    redisReply *reply = NULL;
    culex__redis_request_int(request, all->redis->call_queue->salt);
    culex__redis_request_text(request, "");
    culex__redis_request_text(request, "");
    culex__redis_request_int(request, 0);
    culex__redis_request_text(request, target);
    culex__redis_request_int(request, all->queue->follow_from);
    culex_status status =
        culex__redis_finish(all->redis, &culex__redis_script_follow, &reply, error);
    if (status == CULEX_OK)
        freeReplyObject(reply);
    return status;
}

/* Some of those that go to `target`. */
static culex_status target_bring(struct bringing *all, const char *target, culex_error *error)
{
    culex_status status = culex__redis_register(all->redis, target, false, error);
    if (status == CULEX_OK)
        status = culex__redis_begin_beside(all->redis, &culex__redis_script_follow, target,
                                           all->queue->name, CULEX__REDIS_KEY_FOLLOW_UPS, error);
    if (status == CULEX_OK)
        status = target_send(all, target, error);
    if (status != CULEX_OK)
        culex__error_context(error, "follow-ups into queue %s", target);
    return status;
}

/* False when they stay there. */
static bool target_try(struct bringing *all, const char *target)
{
    culex_error error = {0};
    struct culex__redis_queue *queue = culex__redis_queue_find(all->redis, target);
    if (queue == NULL) {
        culex__fail(&all->reply->follow_ups_left, CULEX_ENOMEM, "out of memory");
        return false;
    }
    if (queue != all->queue && now_ns(all) < queue->follow_ns) {
        all->reply->follow_ups_left = queue->follow_error;
        return false;
    }
    if (target_bring(all, target, &error) != CULEX_OK) {
        put_off(all, queue, &error);
        return false;
    }
    all->reply->has_brought = true;
    all->has_own |= queue == all->queue;
    return true;
}

/* Behind the place of those that come next, 0 at the end, their queues. */
static culex_status targets_list(struct bringing *all, redisReply **ret_names, int64_t *ret_next,
                                 culex_error *error)
{
    const struct culex__redis_script *script = &culex__redis_script_follow_list;
    culex_status status = culex__redis_begin(all->redis, script, all->queue->name, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_int(&all->redis->request, all->queue->follow_from);
    status = culex__redis_finish(all->redis, script, ret_names, error);
    if (status != CULEX_OK || culex__redis_reply_int(*ret_names, 0, ret_next))
        return status;
    freeReplyObject(*ret_names);
    return culex__redis_bad_reply(all->redis, "FOLLOW_LIST", error);
}

/* Some of them. False when that was all, or nothing more can be brought now. Those that stay keep
 * none behind them: what was looked at without avail is passed, until the next time from the first
 * on. */
static bool some_bring(struct bringing *all)
{
    redisReply *names = NULL;
    culex_error error = {0};
    size_t brought = 0;
    int64_t next = 0;
    if (targets_list(all, &names, &next, &error) != CULEX_OK) {
        put_off(all, all->queue, &error);
        return false;
    }
    for (size_t i = 1; i < names->elements; i++) {
        const char *name;
        size_t len;
        if (culex__redis_reply_text(names, i, &name, &len) &&
            culex__queue_check(name, NULL) == CULEX_OK)
            brought += target_try(all, name);
    }
    freeReplyObject(names);
    bool is_again = all->queue->follow_from > 0 && !has_left(all); /* those before are others now */
    if (brought == 0)
        all->queue->follow_from = next;
    return brought > 0 || next > 0 || is_again;
}

/* Whether it has kept some just now. */
static bool has_new_ones(const struct culex_step *step, const struct culex_step_reply *reply)
{
    for (size_t i = 0; i < step->ack_count; i++) {
        if (step->acks[i].follow_up_count > 0 && reply->acks[i] == CULEX_ANSWER_OK)
            return true;
    }
    return false;
}

/* While some stay, others ask for them now and then only: the server reads all of them. */
static void all_bring(struct bringing *all, const struct culex_step *step)
{
    bool is_more = true;
    if (now_ns(all) < all->queue->follow_ns && !has_new_ones(step, all->reply)) {
        all->reply->follow_ups_left = all->queue->follow_error;
        return;
    }
    for (int round = 0; round < ROUNDS_MAX && is_more; round++)
        is_more = some_bring(all);
    if (has_left(all)) {
        culex_error left = all->reply->follow_ups_left;
        put_off(all, all->queue, &left);
    } else if (is_more) {
        all->reply->due_in_ms = 0;
    }
    all->reply->is_empty = all->reply->is_empty && !is_more;
}

void culex__redis_follow_ups_bring(struct culex__redis *redis, const struct culex_step *step,
                                   struct culex_step_reply *reply)
{
    struct bringing all = {
        .redis = redis, .queue = culex__redis_queue_find(redis, step->queue), .reply = reply};
    if (all.queue == NULL)
        return; /* the next step comes by */
    all_bring(&all, step);
    reply->is_empty = reply->is_empty && !all.has_own && !has_left(&all);
    if (has_left(&all) && (reply->due_in_ms < 0 || reply->due_in_ms > LEFT_MS))
        reply->due_in_ms = LEFT_MS;
}
