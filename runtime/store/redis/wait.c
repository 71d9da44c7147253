/* store/redis/wait.c - WAIT, and sleeping until a run has ended that it has noted. */
#include "store/redis/redis.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/run.h"
#include "store/argument.h"
#include "store/redis/scripts.h"

/* Of this handle, by which steps find the list that it sleeps at. */
static const char *waiter_name(struct culex__redis *redis)
{
    if (redis->waiter[0] == '\0')
        snprintf(redis->waiter, sizeof redis->waiter, "%016" PRIx64,
                 culex__env_random(redis->base.env));
    return redis->waiter;
}

static bool states_fill(const redisReply *reply, size_t count, culex_run_state *states)
{
    if (reply->type != REDIS_REPLY_STRING || reply->len != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (reply->str[i] == '-')
            states[i] = CULEX_RUN_STATE_COUNT;
        else if (!culex__run_state_parse(reply->str[i], &states[i]))
            return false;
    }
    return true;
}

culex_status culex__redis_wait(struct culex_store *base, const char *queue, const culex_uuid *ids,
                               size_t count, int64_t note_ms, culex_run_state *ret_states,
                               culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    redisReply *reply = NULL;
    assert(culex__argument_wait(queue, count, note_ms, NULL) == CULEX_OK);
    culex_status status = culex__redis_begin(redis, &culex__redis_script_wait, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_text(&redis->request, waiter_name(redis));
    culex__redis_request_int(&redis->request, note_ms);
    for (size_t i = 0; i < count; i++)
        culex__redis_id(redis, ids[i]);
    status = culex__redis_finish(redis, &culex__redis_script_wait, &reply, error);
    if (status != CULEX_OK)
        return status;
    if (!states_fill(reply, count, ret_states))
        status = culex__redis_bad_reply(redis, "WAIT", error);
    freeReplyObject(reply);
    return status;
}

/* ORDER WAITER_LIST: as waiter_list of redis/lib_waits.lua has it. */
enum { BELL_SIZE = CULEX_QUEUE_NAME_MAX + sizeof " @" + CULEX__REDIS_WAITER_SIZE };

struct bells {
    const char **names;
    char (*texts)[BELL_SIZE];
};

static bool bells_make(struct bells *bells, const char *waiter, const char *const *queues,
                       size_t count)
{
    bells->names = calloc(count + 1, sizeof *bells->names);
    bells->texts = calloc(count + 1, sizeof *bells->texts);
    if (bells->names == NULL || bells->texts == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        snprintf(bells->texts[i], sizeof bells->texts[i], "%s @%s", queues[i], waiter);
        bells->names[i] = bells->texts[i];
    }
    return true;
}

culex_status culex__redis_wait_arm(struct culex_store *base, const char *const *queues,
                                   size_t count, int64_t timeout_ms, int *ret_fd,
                                   culex_error *error)
{
    struct bells bells;
    culex_status status;
    assert(culex__argument_queues(queues, count, NULL) == CULEX_OK);
    if (bells_make(&bells, waiter_name(culex__redis_of(base)), queues, count))
        status = culex__redis_wake_arm_at(base, bells.names, count, timeout_ms, ret_fd, error);
    else
        status = culex__fail(error, CULEX_ENOMEM, "out of memory");
    free(bells.texts);
    free(bells.names);
    return status;
}
