/* store/redis/opening.c - opening and closing the Redis store, and the table of operations. */
#include "store/redis/redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/register.h"

/* --- opening -------------------------------------------------------------------------- */

static void redis_close(struct culex_store *base)
{
    struct culex__redis *redis = culex__redis_of(base);
    culex__redis_conn_close(&redis->conn);
    culex__redis_conn_close(&redis->wake.conn);
    culex__redis_fsck_release(redis);
    culex__redis_target_release(&redis->target);
    culex__redis_request_release(&redis->request);
    while (redis->queues != NULL) {
        struct culex__redis_queue *next = redis->queues->next;
        free(redis->queues);
        redis->queues = next;
    }
    free(redis);
}

static void place_tell(const struct culex_store *base, char *ret_text, size_t size)
{
    const struct culex__redis *redis = (const struct culex__redis *)base;
    snprintf(ret_text, size, "redis %s %d %s", redis->target.label, redis->target.database,
             redis->prefix);
}

static const struct culex_store_ops redis_ops = {
    .name = "redis",
#define VERB_OF_PRODUCERS(name, effect, parameters, arguments, check) .name = culex__redis_##name,
#ifdef CULEX_PRODUCER_ONLY
    .lacks = CULEX__STORE_PRODUCER_LACKS,
#define VERB(name, effect, parameters, arguments, check)
#else
    .step_send = culex__redis_step_send,
    .step_release = culex__redis_step_release,
    .list_release = culex__redis_list_release,
#define VERB VERB_OF_PRODUCERS
#endif
#include "store/verbs.def"
#undef VERB
    .wake_disarm = culex__redis_wake_disarm,
    .place_tell = place_tell,
    .close = redis_close,
};

static culex_status prefix_set(struct culex__redis *redis, const char *prefix, culex_error *error)
{
    if (prefix == NULL)
        prefix = "culex";
    culex_status status = culex__store_prefix_check(prefix, error);
    if (status == CULEX_OK)
        strcpy(redis->prefix, prefix);
    return status;
}

/* A server that is there and refuses is a failure always. */
static culex_status first_connect(struct culex__redis *redis,
                                  const struct culex_store_options *options, culex_error *error)
{
    int64_t timeout_ms = redis->timeout_ms;
    if (options->opening_ms > 0)
        redis->timeout_ms = culex__redis_delay(options->opening_ms);
    culex_status status = culex__redis_conn_open(&redis->conn, culex__redis_deadline(redis), error);
    redis->timeout_ms = timeout_ms;
    bool is_away = status == CULEX_ECONNECT || status == CULEX_EUNKNOWN || status == CULEX_EBUSY;
    return is_away && options->may_be_away ? CULEX_OK : status;
}

static culex_status redis_open(const struct culex__store_kind *kind, const char *url,
                               const struct culex_store_options *options,
                               const struct culex_env *env, struct culex_store **ret_store,
                               culex_error *error)
{
    (void)kind;
    struct culex__redis *redis = calloc(1, sizeof *redis);
    if (redis == NULL)
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    culex__store_init(&redis->base, &redis_ops, env, options->until_ns);
    redis->base.tears = true;
    redis->timeout_ms =
        options->timeout_ms > 0 ? culex__redis_delay(options->timeout_ms) : CULEX__REDIS_TIMEOUT_MS;
    culex__redis_conn_init(&redis->conn, &redis->base, &redis->target);
    culex__redis_conn_init(&redis->wake.conn, &redis->base, &redis->target);
    culex_status status = prefix_set(redis, options->prefix, error);
    if (status == CULEX_OK)
        status = culex__redis_target_parse(url, &redis->target, error);
    if (status == CULEX_OK && !options->connects_later)
        status = first_connect(redis, options, error);
    if (status != CULEX_OK) {
        redis_close(&redis->base);
        return status;
    }
    *ret_store = &redis->base;
    return CULEX_OK;
}

const struct culex__store_kind culex__redis_kinds[] = {
    {
        .scheme = "redis://",
        .example = "redis://HOST[:PORT][/DB]",
        .params = {"prefix", "store-timeout", "user", "password", "accept-eviction"},
        .open = redis_open,
    },
    {
        .scheme = "rediss://",
        .params = {"prefix", "store-timeout", "user", "password", "accept-eviction"},
        .refusal = "this build has no TLS for rediss://; use redis:// through a TLS tunnel, or a "
                   "UNIX socket with redis+unix://",
    },
    {
        .scheme = "redis+unix://",
        .params = {"prefix", "store-timeout", "db", "user", "password", "accept-eviction"},
        .open = redis_open,
    },
    {.scheme = NULL},
};
