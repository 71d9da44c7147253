/* store/redis/wake.c - sleeping until a queue has work: BLPOP on a connection of its own. */
#include "store/redis/redis.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/instant.h"
#include "store/redis/scripts.h"
#include "store/argument.h"

/* The server is allowed to be this late with the end of the wait before we give it up. */
static const int64_t grace_ns = INT64_C(5000000000);

/* How long it may take to let us go. */
static const int64_t farewell_ns = INT64_C(250000000);

static void wake_drop(struct culex__redis_wake *wake)
{
    culex__redis_conn_close(&wake->conn);
    wake->is_armed = false;
}

/* Of a queue, or of "QUEUE NEEDS": its list has the needs behind its name. */
static void bell_add(const struct culex__redis *redis, struct culex__redis_request *request,
                     const char *bell)
{
    const char *name = culex__redis_key_names[CULEX__REDIS_KEY_WAKE];
    size_t queue_len = strcspn(bell, " ");
    struct culex__redis_piece pieces[] = {{redis->prefix, strlen(redis->prefix)},
                                          {":{", 2},
                                          {bell, queue_len},
                                          {"}:", 2},
                                          {name, strlen(name)},
                                          {bell + queue_len, strlen(bell + queue_len)}};
    culex__redis_request_join(request, pieces, sizeof pieces / sizeof pieces[0]);
}

static void wake_request(const struct culex__redis *redis, struct culex__redis_request *request,
                         const char *const *queues, size_t count, int64_t timeout_ms)
{
    char seconds[32];
    if (timeout_ms < 1)
        timeout_ms = 1; /* 0 would mean for ever */
    snprintf(seconds, sizeof seconds, "%lld.%03d", (long long)(timeout_ms / 1000),
             (int)(timeout_ms % 1000));
    culex__redis_request_text(request, "BLPOP");
    for (size_t i = 0; i < count; i++)
        bell_add(redis, request, queues[i]);
    culex__redis_request_text(request, seconds);
}

static culex_status wake_send(struct culex__redis *redis, const char *const *queues, size_t count,
                              int64_t timeout_ms, culex_error *error)
{
    struct culex__redis_wake *wake = &redis->wake;
    struct culex__redis_request request = {.data = NULL};
    int64_t deadline_ns = culex__redis_deadline(redis);
    culex_status status = culex__redis_conn_open(&wake->conn, deadline_ns, error);
    if (status != CULEX_OK)
        return status;
    char head[24];
    wake_request(redis, &request, queues, count, timeout_ms);
    int len = snprintf(head, sizeof head, "*%zu\r\n", request.count);
    status = culex__redis_conn_send(&wake->conn, head, (size_t)len, &request, deadline_ns, error);
    culex__redis_request_release(&request);
    wake->is_armed = status == CULEX_OK;
    wake->until_ns = culex__env_boottime_ns(redis->base.env) + timeout_ms * CULEX_MS_NS + grace_ns;
    return status;
}

culex_status culex__redis_wake_arm_at(struct culex_store *base, const char *const *bells,
                                      size_t count, int64_t timeout_ms, int *ret_fd,
                                      culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    struct culex__redis_wake *wake = &redis->wake;
    culex_status status = CULEX_OK;
    timeout_ms =
        culex__redis_delay(timeout_ms) > 3600000 ? 3600000 : culex__redis_delay(timeout_ms);
    if (wake->is_armed && culex__env_boottime_ns(redis->base.env) > wake->until_ns)
        wake_drop(wake);
    if (!wake->is_armed)
        status = wake_send(redis, bells, count, timeout_ms, error);
    if (status == CULEX_OK)
        *ret_fd = wake->conn.fd;
    return status;
}

culex_status culex__redis_wake_arm(struct culex_store *base, const char *const *queues,
                                   size_t count, int64_t timeout_ms, int *ret_fd,
                                   culex_error *error)
{
    assert(culex__argument_queues(queues, count, NULL) == CULEX_OK);
    return culex__redis_wake_arm_at(base, queues, count, timeout_ms, ret_fd, error);
}

culex_status culex__redis_wake_take(struct culex_store *base, bool *ret_woken, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    struct culex__redis_wake *wake = &redis->wake;
    redisReply *reply = NULL;
    *ret_woken = false;
    if (!wake->is_armed)
        return CULEX_OK;
    culex_status status = culex__redis_conn_take(&wake->conn, &reply, error);
    if (status != CULEX_OK) {
        wake_drop(wake);
        return status;
    }
    if (reply == NULL)
        return CULEX_OK; /* not whole yet: still armed */
    wake->is_armed = false;
    if (reply->type == REDIS_REPLY_ERROR) {
        status = culex__redis_conn_refused(&wake->conn, reply->str, error);
        wake_drop(wake);
    } else {
        *ret_woken = reply->type == REDIS_REPLY_ARRAY;
    }
    freeReplyObject(reply);
    return status;
}

/* The server hears that we say no more, takes us off its list of waiting clients and closes. Only
 * closing on our side would leave the order of that and of our next call to chance, and the server
 * might still hand us the wake-up of a run that this call gives back. */
void culex__redis_wake_disarm(struct culex_store *base)
{
    struct culex__redis *redis = culex__redis_of(base);
    struct culex__redis_wake *wake = &redis->wake;
    const struct culex_env *env = redis->base.env;
    int64_t deadline_ns = culex__env_boottime_ns(env) + farewell_ns;
    redisReply *reply = NULL;
    if (wake->is_armed && wake->conn.fd >= 0)
        env->hang_up(env->self, wake->conn.fd);
    while (wake->is_armed && wake->conn.fd >= 0 &&
           culex__redis_conn_receive(&wake->conn, deadline_ns, &reply, NULL) == CULEX_OK)
        freeReplyObject(reply);
    wake_drop(wake);
}
