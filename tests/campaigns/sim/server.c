/* sim/server.c - the virtual Redis behind the wire: requests in, replies out, restarts. */
#include <stdlib.h>
#include <string.h>

#include "world.h"

enum { ARGS_MAX = 16384 };

/* --- blocked clients ----------------------------------------------------------------------- */

static void blocked_remove(struct sim_server *server, struct sim_conn *conn)
{
    struct sim_conn **at = &server->blocked_first;
    server->blocked_last = NULL;
    for (; *at != NULL && *at != conn; at = &(*at)->next_blocked)
        server->blocked_last = *at;
    if (*at == NULL)
        return;
    *at = conn->next_blocked;
    for (struct sim_conn *last = *at; last != NULL; last = last->next_blocked)
        server->blocked_last = last;
    conn->next_blocked = NULL;
    sim_bytes_free(&conn->blocked);
    conn->block_token++;
}

static void block_over_event(struct sim_world *world, void *subject, uint64_t token,
                             struct sim_bytes *bytes)
{
    struct sim_conn *conn = subject;
    (void)bytes;
    if (conn->blocked.len == 0 || conn->block_token != token)
        return;
    blocked_remove(&world->server, conn);
    sim_reply_send(world, conn, "*-1\r\n", 5);
}

static void block(struct sim_world *world, struct sim_conn *conn, const char *request, size_t len,
                  const struct sim_arg *seconds)
{
    struct sim_server *server = &world->server;
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)seconds->len, seconds->data);
    sim_bytes_add(&conn->blocked, request, len);
    if (server->blocked_last != NULL)
        server->blocked_last->next_blocked = conn;
    else
        server->blocked_first = conn;
    server->blocked_last = conn;
    sim_after(world, (int64_t)(strtod(text, NULL) * 1e9), block_over_event, conn,
              conn->block_token);
}

/* --- requests ------------------------------------------------------------------------------ */

/* The arguments of the request that begins at `data`; its length, 0 while it is incomplete. */
static size_t request_split(const char *data, size_t len, struct sim_arg *args, size_t *ret_count)
{
    const char *end = memchr(data, '\n', len);
    if (end == NULL)
        return 0;
    size_t count = strtoul(data + 1, NULL, 10), at = (size_t)(end + 1 - data);
    if (count > ARGS_MAX)
        abort();
    for (size_t i = 0; i < count; i++) {
        end = at < len ? memchr(data + at, '\n', len - at) : NULL;
        if (end == NULL)
            return 0;
        size_t size = strtoul(data + at + 1, NULL, 10);
        at = (size_t)(end + 1 - data);
        if (len - at < size + 2)
            return 0;
        args[i] = (struct sim_arg){data + at, size};
        at += size + 2;
    }
    *ret_count = count;
    return at;
}

static void redis_now(struct sim_world *world)
{
    world->server.redis.now_us = sim_store_ms(world) * 1000 + world->now_ns / 1000 % 1000;
}

static void blocked_serve(struct sim_world *world)
{
    static struct sim_arg args[ARGS_MAX];
    struct sim_server *server = &world->server;
    struct sim_conn *next;
    server->redis.was_pushed = false;
    for (struct sim_conn *conn = server->blocked_first; conn != NULL; conn = next) {
        struct sim_bytes reply = {0};
        size_t count;
        next = conn->next_blocked;
        request_split(conn->blocked.data, conn->blocked.len, args, &count);
        sim_redis_run(&server->redis, args, count, &reply);
        if (reply.data[0] != '+') {
            blocked_remove(server, conn);
            if (!conn->is_open || conn->is_silent)
                SOMETIMES(WAKE_TOKEN_TO_THE_DEAD);
            sim_reply_send(world, conn, reply.data, reply.len);
        }
        sim_bytes_free(&reply);
    }
}

static void request_run(struct sim_world *world, struct sim_conn *conn, const char *data,
                        size_t len, const struct sim_arg *args, size_t count)
{
    struct sim_redis *redis = &world->server.redis;
    static struct sim_bytes reply;
    reply.len = 0;
    redis_now(world);
    sim_redis_run(redis, args, count, &reply);
    sim_hash_add(world, reply.data, reply.len);
    if (reply.len == 8 && memcmp(reply.data, "+BLOCK\r\n", 8) == 0) {
        block(world, conn, data, len, &args[count - 1]);
        return;
    }
    if (memcmp(reply.data, "-NOSCRIPT", 9) == 0)
        SOMETIMES(NOSCRIPT);
    sim_reply_send(world, conn, reply.data, reply.len);
    if (redis->was_pushed)
        blocked_serve(world);
}

void sim_server_take(struct sim_world *world, struct sim_conn *conn, const struct sim_bytes *bytes)
{
    static struct sim_arg args[ARGS_MAX];
    size_t len, count;
    sim_bytes_add(&conn->asked, bytes->data, bytes->len);
    while (conn->asked.len > 0 && conn->is_served &&
           (len = request_split(conn->asked.data, conn->asked.len, args, &count)) > 0) {
        request_run(world, conn, conn->asked.data, len, args, count);
        sim_bytes_cut(&conn->asked, len);
    }
}

void sim_server_forget(struct sim_world *world, struct sim_conn *conn)
{
    if (conn->blocked.len > 0)
        blocked_remove(&world->server, conn);
}

/* --- life ---------------------------------------------------------------------------------- */

static void mode_event(struct sim_world *world, void *subject, uint64_t token,
                       struct sim_bytes *bytes)
{
    (void)subject;
    (void)token;
    (void)bytes;
    if (world->now_ns >= world->server.mode_until_ns)
        world->server.redis.mode = SIM_MODE_OK;
}

static void up_event(struct sim_world *world, void *subject, uint64_t loading_ns,
                     struct sim_bytes *bytes)
{
    (void)subject;
    (void)bytes;
    struct sim_server *server = &world->server;
    if (world->now_ns < server->down_until_ns)
        return;
    server->is_down = false;
    if (loading_ns == 0)
        return;
    server->redis.mode = SIM_MODE_LOADING;
    server->mode_until_ns = world->now_ns + (int64_t)loading_ns;
    sim_at(world, server->mode_until_ns, mode_event, NULL, 0, NULL);
}

void sim_server_restart(struct sim_world *world, bool is_rolled_back, int64_t down_ns,
                        int64_t loading_ns)
{
    struct sim_server *server = &world->server;
    for (size_t i = 0; i < world->conn_count; i++) {
        if (world->conns[i]->is_served)
            sim_conn_reset(world->conns[i]);
    }
    server->redis.script_epoch++;
    server->redis.mode = SIM_MODE_OK;
    server->is_down = true;
    server->down_until_ns = world->now_ns + down_ns;
    if (is_rolled_back) {
        sim_space_clear(&server->redis.space);
        sim_space_copy(&server->snapshot, &server->redis.space);
        sim_oracle_roll_back(world->oracle);
        sim_slots_forget(world);
        for (size_t i = 0; i < 2; i++) {
            if (world->dead_bounded[i] != SIM_NEVER_BOUNDED)
                world->dead_bounded[i] = SIM_MAYBE_BOUNDED;
        }
    }
    sim_at(world, server->down_until_ns, up_event, NULL, (uint64_t)loading_ns, NULL);
}

void sim_server_init(struct sim_world *world, struct sim_scripts *scripts)
{
    static uint64_t epoch; /* of all servers that ever used these scripts: compiled code is kept,
                              but each server must be told it first */
    struct sim_redis *redis = &world->server.redis;
    epoch += UINT64_C(1) << 32;
    redis->scripts = scripts;
    redis->script_epoch = epoch;
    redis->on_record = sim_oracle_record;
    redis->on_call = sim_oracle_call;
    redis->on_return = sim_oracle_return;
    redis->user = world->oracle;
}

void sim_server_release(struct sim_world *world)
{
    sim_space_clear(&world->server.redis.space);
    sim_space_clear(&world->server.snapshot);
}
