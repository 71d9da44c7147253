/* store/redis/follow_up.c - runs that come in with the ends of others: kept by the STEP that
 * records the end, brought behind it by a script of the queue that they go to. */
#include "store/redis/redis.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
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
    const char *queue; /* whose they are */
    bool has_own;      /* some went there */
    bool is_stopped;   /* some stayed, for this: */
    culex_error *error;
};

static culex_status target_send(const struct bringing *all, const char *target, culex_error *error)
{
    struct culex__redis_request *request = &all->redis->request;
    redisReply *reply = NULL;
    culex__redis_request_int(request, all->redis->call_queue->salt);
    culex__redis_request_text(request, "");
    culex__redis_request_text(request, "");
    culex__redis_request_int(request, 0);
    culex__redis_request_text(request, target);
    culex_status status =
        culex__redis_finish(all->redis, &culex__redis_script_follow, &reply, error);
    if (status == CULEX_OK)
        freeReplyObject(reply);
    return status;
}

/* Some of those that go to `target`. */
static void target_bring(struct bringing *all, const char *target)
{
    culex_error error = {0};
    culex_status status = culex__redis_register(all->redis, target, false, &error);
    if (status == CULEX_OK)
        status = culex__redis_begin_beside(all->redis, &culex__redis_script_follow, target,
                                           all->queue, CULEX__REDIS_KEY_FOLLOW_UPS, &error);
    if (status == CULEX_OK)
        status = target_send(all, target, &error);
    all->has_own |= status == CULEX_OK && strcmp(target, all->queue) == 0;
    if (status == CULEX_OK)
        return;
    culex__error_context(&error, "follow-ups into queue %s", target);
    all->is_stopped = true;
    *all->error = error;
}

static culex_status targets_list(struct bringing *all, redisReply **ret_names)
{
    const struct culex__redis_script *script = &culex__redis_script_follow_list;
    culex_status status = culex__redis_begin(all->redis, script, all->queue, all->error);
    if (status == CULEX_OK)
        status = culex__redis_finish(all->redis, script, ret_names, all->error);
    if (status != CULEX_OK || (*ret_names)->type == REDIS_REPLY_ARRAY)
        return status;
    freeReplyObject(*ret_names);
    return culex__redis_bad_reply(all->redis, "FOLLOW_LIST", all->error);
}

/* Some of them. False when there are none, or none can be had. */
static bool some_bring(struct bringing *all)
{
    redisReply *names = NULL;
    all->is_stopped = targets_list(all, &names) != CULEX_OK;
    if (all->is_stopped)
        return false;
    bool are_there = names->elements > 0;
    for (size_t i = 0; i < names->elements; i++) {
        const char *name;
        size_t len;
        if (culex__redis_reply_text(names, i, &name, &len) &&
            culex__queue_check(name, NULL) == CULEX_OK)
            target_bring(all, name);
    }
    freeReplyObject(names);
    return are_there;
}

void culex__redis_follow_ups_bring(struct culex__redis *redis, const char *queue,
                                   struct culex_step_reply *reply)
{
    struct bringing all = {.redis = redis, .queue = queue, .error = &reply->follow_ups_left};
    bool is_more = true;
    for (int round = 0; round < ROUNDS_MAX && is_more && !all.is_stopped; round++)
        is_more = some_bring(&all);
    reply->is_empty = reply->is_empty && !all.has_own && !is_more && !all.is_stopped;
    if (all.is_stopped && (reply->due_in_ms < 0 || reply->due_in_ms > LEFT_MS))
        reply->due_in_ms = LEFT_MS;
    else if (is_more && !all.is_stopped)
        reply->due_in_ms = 0;
}
