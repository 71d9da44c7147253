/* The virtual Redis against a real one: the same random commands, the same answers.
 *
 *   test_commands [SEED [COMMANDS]]
 *
 * Answers without an order (of HGETALL, say) are sorted, errors compared by their first word. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis_server.h"
#include "random.h"
#include "redis.h"

enum { WORDS_MAX = 12, WORD_SIZE = 400 };

struct pair {
    struct sim_random random;
    struct sim_redis redis;
    struct redis_server server;
    redisContext *context;
    char words[WORDS_MAX][WORD_SIZE];
    size_t count;
    uint64_t errors, done;
};

/* --- answers as texts ---------------------------------------------------------------------- */

static int texts_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *answer_text(const redisReply *reply, bool is_sorted);

static char *array_text(const redisReply *reply, bool is_sorted)
{
    char **items = calloc(reply->elements + 1, sizeof *items);
    size_t size = 8;
    for (size_t i = 0; i < reply->elements; i++) {
        items[i] = answer_text(reply->element[i], is_sorted);
        size += strlen(items[i]) + 2;
    }
    if (is_sorted)
        qsort(items, reply->elements, sizeof *items, texts_compare);
    char *text = malloc(size), *at = stpcpy(text, "[");
    for (size_t i = 0; i < reply->elements; i++) {
        at = stpcpy(stpcpy(at, items[i]), ",");
        free(items[i]);
    }
    strcpy(at, "]");
    free(items);
    return text;
}

static char *answer_text(const redisReply *reply, bool is_sorted)
{
    char *text = NULL;
    int len = 0;
    switch (reply->type) {
    case REDIS_REPLY_ARRAY:
        return array_text(reply, is_sorted);
    case REDIS_REPLY_INTEGER:
        len = asprintf(&text, "%lld", reply->integer);
        break;
    case REDIS_REPLY_ERROR:
        len = asprintf(&text, "-%.*s", (int)strcspn(reply->str, " "), reply->str);
        break;
    case REDIS_REPLY_STATUS:
        len = asprintf(&text, "+%s", reply->str);
        break;
    case REDIS_REPLY_NIL:
        len = asprintf(&text, "nil");
        break;
    default:
        len = asprintf(&text, "\"%s\"", reply->str);
    }
    return len < 0 ? NULL : text;
}

/* --- random commands ----------------------------------------------------------------------- */

static void word(struct pair *pair, const char *text)
{
    snprintf(pair->words[pair->count++], WORD_SIZE, "%s", text);
}

static void word_draw(struct pair *pair, char kind)
{
    static const char *const bounds[] = {"-inf", "+inf", "(1", "(2", "0", "2", "3.5", "-1", "x"};
    static const char *const numbers[] = {"0", "1", "-1", "2", "3", "-2", "7", "100", "1.5", "n"};
    static const char *const scores[] = {"0",  "1",   "1",  "2",   "3.5", "-1",
                                         "10", "1e3", "17", "inf", "z",   "1795000000123"};
    static const char *const keys[] = {"h1", "h2", "l1", "l2", "s1", "s2", "z1", "z2"};
    struct sim_random *random = &pair->random;
    char text[16];
    switch (kind) {
    case 'h':
    case 'l':
    case 's':
    case 'z':
        snprintf(text, sizeof text, "%c%d", kind, (int)sim_between(random, 1, 2));
        word(pair, sim_chance(random, 30) ? keys[sim_below(random, 8)] : text);
        break;
    case 'k':
        word(pair, keys[sim_below(random, 8)]);
        break;
    case 'f':
        snprintf(text, sizeof text, "f%d", (int)sim_below(random, 6));
        word(pair, text);
        break;
    case 'n':
        word(pair, numbers[sim_below(random, 10)]);
        break;
    case 'b':
        word(pair, bounds[sim_below(random, 9)]);
        break;
    default: /* 'c': a score */
        word(pair, scores[sim_below(random, 12)]);
    }
}

/* The pattern of a command's words; a capital word stands for itself, '*' repeats what follows. */
static const char *const patterns[] = {"HSET h f n *fn",
                                       "HGET h f",
                                       "HMGET h f *f",
                                       "HDEL h f *f",
                                       "HLEN h",
                                       "HEXISTS h f",
                                       "HSTRLEN h f",
                                       "HINCRBY h f n",
                                       "HKEYS h",
                                       "HGETALL h",
                                       "HSCAN h 0",
                                       "LPUSH l f *f",
                                       "RPUSH l f *f",
                                       "LPOP l",
                                       "LPOP l n",
                                       "RPOP l",
                                       "RPOP l n",
                                       "LLEN l",
                                       "LRANGE l n n",
                                       "LREM l n f",
                                       "LSET l n f",
                                       "LPOS l f RANK -1 MAXLEN n",
                                       "SADD s f *f",
                                       "SREM s f *f",
                                       "SISMEMBER s f",
                                       "SMISMEMBER s f *f",
                                       "SCARD s",
                                       "SMEMBERS s",
                                       "SSCAN s 0",
                                       "ZADD z c f *cf",
                                       "ZADD z XX c f",
                                       "ZREM z f *f",
                                       "ZCARD z",
                                       "ZSCORE z f",
                                       "ZRANGE z n n",
                                       "ZRANGE z n n WITHSCORES",
                                       "ZRANGEBYSCORE z b b",
                                       "ZRANGEBYSCORE z b b WITHSCORES",
                                       "ZRANGEBYSCORE z b b LIMIT n n",
                                       "ZRANGEBYSCORE z b b WITHSCORES LIMIT n n",
                                       "ZREVRANGEBYSCORE z b b WITHSCORES LIMIT n n",
                                       "ZREVRANGEBYSCORE z b b LIMIT n n",
                                       "ZSCAN z 0",
                                       "ZCOUNT z b b",
                                       "ZREMRANGEBYRANK z n n",
                                       "ZREMRANGEBYSCORE z b b",
                                       "DEL k",
                                       "UNLINK k *k",
                                       "EXISTS k k",
                                       "TYPE k",
                                       "PERSIST k",
                                       "PTTL k",
                                       "HSET h f",
                                       "ZADD z c",
                                       "NOSUCH k",
                                       "SELECT 0",
                                       "BLPOP l 0.001"};

static const char *const scripts[] = {
    "return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])",
    "return {1, 2.9, -3.9, 'x', false, true, {4, 'y'}, nil, 5}",
    "return redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')",
    "redis.call('ZADD', KEYS[2], 1795000000123 + 7, ARGV[1]) return redis.call('ZCARD', KEYS[2])",
    "redis.call('HSET', KEYS[1], 'x', 9 * 1099511627776) return redis.call('HGET', KEYS[1], 'x')",
    "return (1795000000123 + 7) .. '|' .. 3.0 .. '|' .. 12345678901234",
    "local t = redis.pcall('HSET', KEYS[2], 'a', 'b') return type(t) == 'table' and t.err or t",
    "return redis.call('HSET', KEYS[2], 'a', 'b')",
    "redis.call('LPUSH', KEYS[3], ARGV[1], ARGV[2]) return redis.call('LPOP', KEYS[3], 5)",
    "return redis.call('LPOP', KEYS[3])",
    "return redis.call('HMGET', KEYS[1], 'nope', ARGV[1])",
    "return redis.call('HGET', KEYS[1], 'nope') == false and 'false' or 'else'",
    "return {ok = 'FINE'}",
    "return {err = 'BAD thing'}",
    "return redis.call('TYPE', KEYS[1]).ok",
    "return redis.call('NOSUCH')",
    "local n = 0 for a in string.gmatch('1;2;', '(%d+);') do n = n + tonumber(a) end return n",
    "return redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', 3, 'LIMIT', 0, 2)",
    "return math.floor(1795000000123 / 300000) % 6 + 1",
    "return tostring(1795000000123) .. string.format('%d', 3)",
    "return struct.pack('>I2I4I2', 4660, 4294967295, 65535):gsub('%W', string.byte)",
    "return {struct.unpack('>I2I1I4', 'abcdefghijklmnop', 7)}",
    "return {struct.unpack('>I2I4', struct.pack('>I2I4', 28672, 3000000000))}",
    "return {pcall(struct.unpack, '>I8', 'abc')}",
};

static void command_draw(struct pair *pair)
{
    pair->count = 0;
    if (sim_chance(&pair->random, 150)) {
        static const char *const names[] = {"h1", "z1", "l1"};
        word(pair, "EVAL");
        word(pair, scripts[sim_below(&pair->random, sizeof scripts / sizeof scripts[0])]);
        word(pair, "3");
        for (int i = 0; i < 3; i++)
            word(pair, names[i]);
        word_draw(pair, 'f');
        word_draw(pair, 'n');
        return;
    }
    const char *at = patterns[sim_below(&pair->random, sizeof patterns / sizeof patterns[0])];
    while (*at != '\0') {
        size_t len = strcspn(at, " ");
        if (at[0] == '*') {
            for (int64_t i = sim_below(&pair->random, 3); i > 0; i--) {
                for (size_t k = 1; k < len; k++)
                    word_draw(pair, at[k]);
            }
        } else if (len == 1 && strchr("hlszkfnbc", at[0]) != NULL) {
            word_draw(pair, at[0]);
        } else {
            char text[32];
            snprintf(text, sizeof text, "%.*s", (int)len, at);
            word(pair, text);
        }
        at += len + (at[len] == ' ');
    }
}

/* --- both ---------------------------------------------------------------------------------- */

static bool is_unordered(const char *name)
{
    return strcmp(name, "HKEYS") == 0 || strcmp(name, "HGETALL") == 0 ||
           strcmp(name, "HSCAN") == 0 || strcmp(name, "SMEMBERS") == 0 ||
           strcmp(name, "SSCAN") == 0;
}

static char *virtual_answer(struct pair *pair)
{
    struct sim_arg args[WORDS_MAX];
    struct sim_bytes bytes = {0};
    void *reply = NULL;
    for (size_t i = 0; i < pair->count; i++)
        args[i] = (struct sim_arg){pair->words[i], strlen(pair->words[i])};
    sim_redis_run(&pair->redis, args, pair->count, &bytes);
    if (bytes.len == 8 && memcmp(bytes.data, "+BLOCK\r\n", 8) == 0) {
        sim_bytes_free(&bytes);
        return strdup("nil"); /* it times out: nobody pushes */
    }
    redisReader *reader = redisReaderCreate();
    redisReaderFeed(reader, bytes.data, bytes.len);
    if (redisReaderGetReply(reader, &reply) != REDIS_OK || reply == NULL) {
        fprintf(stderr, "not a reply: %.*s\n", (int)bytes.len, bytes.data);
        exit(1);
    }
    char *text = answer_text(reply, is_unordered(pair->words[0]));
    freeReplyObject(reply);
    redisReaderFree(reader);
    sim_bytes_free(&bytes);
    return text;
}

static char *real_answer(struct pair *pair)
{
    const char *words[WORDS_MAX];
    for (size_t i = 0; i < pair->count; i++)
        words[i] = pair->words[i];
    redisReply *reply = redisCommandArgv(pair->context, (int)pair->count, words, NULL);
    if (reply == NULL) {
        fprintf(stderr, "the real server does not answer: %s\n", pair->context->errstr);
        exit(1);
    }
    char *text = answer_text(reply, is_unordered(pair->words[0]));
    freeReplyObject(reply);
    return text;
}

static bool compare(struct pair *pair)
{
    char *theirs = real_answer(pair), *ours = virtual_answer(pair);
    bool is_good = strcmp(ours, theirs) == 0;
    pair->done++;
    pair->errors += theirs[0] == '-';
    if (!is_good) {
        fprintf(stderr, "command %" PRIu64 ":", pair->done);
        for (size_t i = 0; i < pair->count; i++)
            fprintf(stderr, " %s", pair->words[i]);
        fprintf(stderr, "\n  virtual: %s\n  real:    %s\n", ours, theirs);
    }
    free(ours);
    free(theirs);
    return is_good;
}

static bool say(struct pair *pair, const char *const *words, size_t count)
{
    pair->count = 0;
    for (size_t i = 0; i < count; i++)
        word(pair, words[i]);
    return compare(pair);
}

/* Short of memory, a script may go on once it has written, and not begin with a write that needs
 * more: STEP's promise that acks pass rests on it. */
static bool oom_compare(struct pair *pair)
{
    static const char *const begins[] = {"EVAL", "return redis.call('HSET', KEYS[1], 'a', 'b')",
                                         "1", "h1"};
    static const char *const goes_on[] = {
        "EVAL", "redis.call('ZREM', KEYS[2], '') return redis.call('HSET', KEYS[1], 'oom', 'b')",
        "2", "h1", "z1"};
    static const char *const plain[] = {"HSET", "h1", "a", "b"};
    static const char *const drops[] = {"HDEL", "h1", "a"};
    redisReply *reply = redisCommand(pair->context, "CONFIG SET maxmemory 1");
    freeReplyObject(reply);
    pair->redis.mode = SIM_MODE_OOM;
    bool is_good =
        say(pair, begins, 4) && say(pair, goes_on, 5) && say(pair, plain, 4) && say(pair, drops, 3);
    reply = redisCommand(pair->context, "CONFIG SET maxmemory 0");
    freeReplyObject(reply);
    pair->redis.mode = SIM_MODE_OK;
    return is_good;
}

static bool readonly_compare(struct pair *pair)
{
    static const char *const plain[] = {"HSET", "h1", "a", "b"};
    static const char *const reads[] = {"HLEN", "h1"};
    static const char *const script[] = {"EVAL", "return redis.call('ZREM', KEYS[1], '')", "1",
                                         "z1"};
    redisReply *reply = redisCommand(pair->context, "REPLICAOF 127.0.0.1 1");
    freeReplyObject(reply);
    pair->redis.mode = SIM_MODE_READONLY;
    bool is_good = say(pair, plain, 4) && say(pair, reads, 2) && say(pair, script, 4);
    reply = redisCommand(pair->context, "REPLICAOF NO ONE");
    freeReplyObject(reply);
    pair->redis.mode = SIM_MODE_OK;
    return is_good;
}

int main(int argc, char **argv)
{
    struct pair pair = {.random = {argc > 1 ? strtoull(argv[1], NULL, 10) : 1}};
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 12000;
    if (!redis_server_start(&pair.server, NULL)) {
        fputs("no redis-server\n", stderr);
        return 1;
    }
    pair.context = redisConnectUnix(pair.server.socket);
    pair.redis.scripts = sim_scripts_create();
    pair.redis.script_epoch = 1;
    bool is_good = pair.context != NULL && pair.context->err == 0;
    for (uint64_t i = 0; i < count && is_good; i++) {
        command_draw(&pair);
        is_good = compare(&pair);
    }
    is_good = is_good && oom_compare(&pair) && readonly_compare(&pair);
    printf("%" PRIu64 " commands, %" PRIu64 " of them refused, %s\n", pair.done, pair.errors,
           is_good ? "all answered alike" : "one answered otherwise");
    sim_space_clear(&pair.redis.space);
    sim_scripts_free(pair.redis.scripts);
    if (pair.context != NULL)
        redisFree(pair.context);
    redis_server_stop(&pair.server);
    return !is_good;
}
