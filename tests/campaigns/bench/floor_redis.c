/* bench/floor_redis.c - the floor of Redis: one script a call, over hiredis.
 *
 * Of declared runs each takes a key of its own until it is forgotten, and a call counts what it
 * starts and what has ended of one concurrency and one rate. */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "floor.h"

static const char put_script[] =
    "local runs, payloads, ids = {}, {}, {}\n"
    "for i = 1, #ARGV, 3 do\n"
    "  local id = ARGV[i]\n"
    "  runs[#runs + 1] = id; runs[#runs + 1] = ARGV[i + 1]\n"
    "  payloads[#payloads + 1] = id; payloads[#payloads + 1] = ARGV[i + 2]\n"
    "  ids[#ids + 1] = id\n"
    "end\n"
    "redis.call('HSET', KEYS[1], unpack(runs))\n"
    "redis.call('HSET', KEYS[2], unpack(payloads))\n"
    "if #KEYS > 4 then\n"
    "  for i = 1, #ids do redis.call('HSETNX', KEYS[5], ids[i], ids[i]) end\n"
    "end\n"
    "return redis.call('RPUSH', KEYS[3], unpack(ids))\n";

static const char take_script[] =
    "if #ARGV > 1 then\n"
    "  local done = {}\n"
    "  for i = 2, #ARGV do done[i - 1] = ARGV[i] end\n"
    "  for i = 1, #done do redis.call('LREM', KEYS[4], 1, done[i]) end\n"
    "  redis.call('HDEL', KEYS[1], unpack(done))\n"
    "  redis.call('HDEL', KEYS[2], unpack(done))\n"
    "  if #KEYS > 4 then\n"
    "    redis.call('HDEL', KEYS[5], unpack(done))\n"
    "    redis.call('HINCRBY', KEYS[6], 'concurrency', -#done)\n"
    "  end\n"
    "end\n"
    "local ids = redis.call('LPOP', KEYS[3], ARGV[1])\n"
    "if not ids then return {} end\n"
    "redis.call('RPUSH', KEYS[4], unpack(ids))\n"
    "if #KEYS > 4 then\n"
    "  redis.call('HINCRBY', KEYS[6], 'concurrency', #ids)\n"
    "  redis.call('HINCRBY', KEYS[6], 'rate', #ids)\n"
    "end\n"
    "return {ids, redis.call('HMGET', KEYS[2], unpack(ids))}\n";

static const char record[] = "1|W|0|0|0|0|0|-|0|1795000000000|5|bench|0|1795000000000|0|0|"
                             "1000|86400000|0123456789abcdef|0123456789abcdef|-|";

static const char *const keys[] = {"floor:{q}:runs",   "floor:{q}:payloads", "floor:{q}:ready",
                                   "floor:{q}:active", "floor:{q}:keys",     "floor:{q}:counters"};
enum { KEY_COUNT = 4, DECLARED_KEY_COUNT = 6, SHA = 41, WORDS_MAX = 16 + 3 * FLOOR_BATCH_MAX };

struct redis {
    redisContext *context;
    char put[SHA], take[SHA];
    int key_count;
};

/* The words of one command. */
struct words {
    const char *texts[WORDS_MAX];
    size_t lens[WORDS_MAX];
    int count;
};

static redisReply *reply_check(redisContext *context, void *reply)
{
    if (reply == NULL)
        floor_die("command", context->errstr);
    if (((redisReply *)reply)->type == REDIS_REPLY_ERROR)
        floor_die("command", ((redisReply *)reply)->str);
    return reply;
}

/* redis+unix://PATH or redis://HOST:PORT */
static redisContext *server_connect(const char *url)
{
    char host[256];
    const char *unix_scheme = "redis+unix://", *scheme = "redis://";
    redisContext *context = NULL;
    if (strncmp(url, unix_scheme, strlen(unix_scheme)) == 0) {
        context = redisConnectUnix(url + strlen(unix_scheme));
    } else {
        snprintf(host, sizeof host, "%s", url + strlen(scheme));
        char *colon = strrchr(host, ':');
        if (colon == NULL)
            floor_die("connect", url);
        *colon = '\0';
        context = redisConnect(host, (int)strtol(colon + 1, NULL, 10));
    }
    if (context == NULL || context->err != 0)
        floor_die("connect", context == NULL ? "out of memory" : context->errstr);
    return context;
}

static void script_load(redisContext *context, const char *script, char *ret_sha)
{
    redisReply *reply = reply_check(context, redisCommand(context, "SCRIPT LOAD %s", script));
    memcpy(ret_sha, reply->str, SHA);
    freeReplyObject(reply);
}

static void *redis_open(const struct knobs *knobs)
{
    struct redis *redis = calloc(1, sizeof *redis);
    redis->context = server_connect(knobs->url);
    redis->key_count = knobs->is_declared ? DECLARED_KEY_COUNT : KEY_COUNT;
    script_load(redis->context, put_script, redis->put);
    script_load(redis->context, take_script, redis->take);
    return redis;
}

static void word_add(struct words *words, const void *text, size_t len)
{
    words->texts[words->count] = text;
    words->lens[words->count++] = len;
}

static void words_begin(const struct redis *redis, struct words *words, const char *sha)
{
    words->count = 0;
    word_add(words, "EVALSHA", 7);
    word_add(words, sha, SHA - 1);
    word_add(words, redis->key_count == KEY_COUNT ? "4" : "6", 1);
    for (int i = 0; i < redis->key_count; i++)
        word_add(words, keys[i], strlen(keys[i]));
}

static redisReply *words_send(struct redis *redis, struct words *words)
{
    return reply_check(redis->context,
                       redisCommandArgv(redis->context, words->count, words->texts, words->lens));
}

static void redis_put(void *store, size_t first, size_t count, const char *payload, size_t len)
{
    struct floor_id ids[FLOOR_BATCH_MAX];
    struct words words;
    struct redis *redis = store;
    words_begin(redis, &words, redis->put);
    for (size_t i = 0; i < count; i++) {
        ids[i] = (struct floor_id){first + i, floor_token()};
        word_add(&words, &ids[i], sizeof ids[i]);
        word_add(&words, record, sizeof record - 1);
        word_add(&words, payload, len);
    }
    freeReplyObject(words_send(redis, &words));
}

static void id_read(const redisReply *reply, struct floor_id *ret_id)
{
    if (reply->len != sizeof *ret_id)
        floor_die("take", "an id of another length");
    memcpy(ret_id, reply->str, sizeof *ret_id);
}

static size_t redis_take(void *store, const struct floor_id *done, size_t done_count, size_t want,
                         struct floor_id *ids)
{
    char number[16];
    struct words words;
    struct redis *redis = store;
    words_begin(redis, &words, redis->take);
    snprintf(number, sizeof number, "%zu", want);
    word_add(&words, number, strlen(number));
    for (size_t i = 0; i < done_count; i++)
        word_add(&words, &done[i], sizeof done[i]);
    redisReply *reply = words_send(redis, &words);
    size_t count = reply->elements == 2 ? reply->element[0]->elements : 0;
    for (size_t i = 0; i < count; i++)
        id_read(reply->element[0]->element[i], &ids[i]);
    freeReplyObject(reply);
    return count;
}

static bool redis_await(void *store, struct meter *meter, struct floor_id *ret_id)
{
    struct redis *redis = store;
    (void)meter;
    redisReply *reply =
        reply_check(redis->context, redisCommand(redis->context, "BLPOP %s 1", keys[2]));
    bool is_taken = reply->elements == 2;
    if (is_taken) {
        id_read(reply->element[1], ret_id);
        freeReplyObject(reply);
        reply = reply_check(redis->context, redisCommand(redis->context, "HGET %s %b", keys[1],
                                                         ret_id, sizeof *ret_id));
    }
    freeReplyObject(reply);
    return is_taken;
}

static void redis_close(void *store)
{
    struct redis *redis = store;
    redisFree(redis->context);
    free(redis);
}

const struct floor_store floor_redis = {redis_open, redis_put, redis_take, redis_await,
                                        redis_close};
