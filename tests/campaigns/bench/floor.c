#include "floor.h"

#include <hiredis/hiredis.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAYLOAD_SIZE = 120, ID_SIZE = 16 };

static const char enqueue_script[] =
    "local now = redis.call('TIME')\n"
    "local runs, payloads, ids = {}, {}, {}\n"
    "for i = 1, #ARGV, 3 do\n"
    "  local id = ARGV[i]\n"
    "  runs[#runs + 1] = id; runs[#runs + 1] = ARGV[i + 1]\n"
    "  payloads[#payloads + 1] = id; payloads[#payloads + 1] = ARGV[i + 2]\n"
    "  ids[#ids + 1] = id\n"
    "end\n"
    "redis.call('HSET', KEYS[1], unpack(runs))\n"
    "redis.call('HSET', KEYS[2], unpack(payloads))\n"
    "return redis.call('RPUSH', KEYS[3], unpack(ids))\n";

static const char drain_script[] =
    "if #ARGV > 1 then\n"
    "  local done = {}\n"
    "  for i = 2, #ARGV do done[i - 1] = ARGV[i] end\n"
    "  for i = 1, #done do redis.call('LREM', KEYS[4], 1, done[i]) end\n"
    "  redis.call('HDEL', KEYS[1], unpack(done))\n"
    "  redis.call('HDEL', KEYS[2], unpack(done))\n"
    "end\n"
    "local ids = redis.call('LPOP', KEYS[3], ARGV[1])\n"
    "if not ids then return {} end\n"
    "redis.call('RPUSH', KEYS[4], unpack(ids))\n"
    "return {ids, redis.call('HMGET', KEYS[2], unpack(ids))}\n";

static const char *const keys[] = {"floor:{q}:runs", "floor:{q}:payloads", "floor:{q}:ready",
                                   "floor:{q}:active"};
enum { KEY_COUNT = 4 };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench: floor: %s: %s\n", what, why);
    exit(1);
}

static redisContext *server_connect(const struct floor_server *server)
{
    redisContext *context = server->path != NULL ? redisConnectUnix(server->path)
                                                 : redisConnect(server->host, server->port);
    if (context == NULL || context->err != 0)
        die("connect", context == NULL ? "out of memory" : context->errstr);
    return context;
}

static redisReply *reply_check(redisContext *context, void *reply)
{
    if (reply == NULL)
        die("command", context->errstr);
    if (((redisReply *)reply)->type == REDIS_REPLY_ERROR)
        die("command", ((redisReply *)reply)->str);
    return reply;
}

static void script_load(redisContext *context, const char *script, char *ret_sha)
{
    redisReply *reply = reply_check(context, redisCommand(context, "SCRIPT LOAD %s", script));
    memcpy(ret_sha, reply->str, 41);
    freeReplyObject(reply);
}

static uint64_t random_bits(void)
{
    static uint64_t state = UINT64_C(0x9E3779B97F4A7C15);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

double floor_round_trips(const struct floor_server *server, const char *request, size_t len,
                         const size_t *id_offsets, size_t id_count, size_t count)
{
    redisContext *context = server_connect(server);
    char *bytes = malloc(len);
    memcpy(bytes, request, len);
    double start = now_s();
    for (size_t i = 0; i < count; i++) {
        uint64_t fresh = random_bits() ^ (uint64_t)(start * 1e9);
        for (size_t k = 0; k < id_count; k++)
            memcpy(bytes + id_offsets[k], &fresh, sizeof fresh);
        void *reply = NULL;
        redisAppendFormattedCommand(context, bytes, len);
        redisGetReply(context, &reply);
        freeReplyObject(reply_check(context, reply));
    }
    double spent = now_s() - start;
    free(bytes);
    redisFree(context);
    return spent;
}

struct arguments {
    const char *argv[8 + 3 * 256];
    size_t lens[8 + 3 * 256];
    int count;
};

static void argument_add(struct arguments *arguments, const char *bytes, size_t len)
{
    arguments->argv[arguments->count] = bytes;
    arguments->lens[arguments->count++] = len;
}

static void arguments_begin(struct arguments *arguments, const char *sha)
{
    arguments->count = 0;
    argument_add(arguments, "EVALSHA", 7);
    argument_add(arguments, sha, 40);
    argument_add(arguments, "4", 1);
    for (int i = 0; i < KEY_COUNT; i++)
        argument_add(arguments, keys[i], strlen(keys[i]));
}

static redisReply *arguments_send(redisContext *context, struct arguments *arguments)
{
    return reply_check(
        context, redisCommandArgv(context, arguments->count, arguments->argv, arguments->lens));
}

double floor_enqueue(const struct floor_server *server, size_t count, size_t batch)
{
    static const char record[] = "1|W|0|0|0|0|0|-|0|1795000000000|5|bench|0|1795000000000|0|0|"
                                 "1000|86400000|0123456789abcdef|0123456789abcdef|-|";
    char payload[PAYLOAD_SIZE], ids[256][ID_SIZE], sha[41];
    redisContext *context = server_connect(server);
    memset(payload, 'x', sizeof payload);
    script_load(context, enqueue_script, sha);
    double start = now_s();
    for (size_t sent = 0; sent < count; sent += batch) {
        struct arguments arguments;
        arguments_begin(&arguments, sha);
        for (size_t i = 0; i < batch; i++) {
            uint64_t parts[2] = {random_bits(), random_bits()};
            memcpy(ids[i], parts, ID_SIZE);
            argument_add(&arguments, ids[i], ID_SIZE);
            argument_add(&arguments, record, sizeof record - 1);
            argument_add(&arguments, payload, sizeof payload);
        }
        freeReplyObject(arguments_send(context, &arguments));
    }
    double spent = now_s() - start;
    redisFree(context);
    return spent;
}

double floor_drain(const struct floor_server *server, size_t count, size_t batch)
{
    char sha[41], want[16], done[256][ID_SIZE];
    size_t done_count = 0, total = 0;
    redisContext *context = server_connect(server);
    script_load(context, drain_script, sha);
    snprintf(want, sizeof want, "%zu", batch);
    double start = now_s();
    do {
        struct arguments arguments;
        arguments_begin(&arguments, sha);
        argument_add(&arguments, want, strlen(want));
        for (size_t i = 0; i < done_count; i++)
            argument_add(&arguments, done[i], ID_SIZE);
        redisReply *reply = arguments_send(context, &arguments);
        done_count = reply->elements == 2 ? reply->element[0]->elements : 0;
        for (size_t i = 0; i < done_count; i++)
            memcpy(done[i], reply->element[0]->element[i]->str, ID_SIZE);
        total += done_count;
        freeReplyObject(reply);
    } while (done_count > 0);
    double spent = now_s() - start;
    if (total != count)
        die("drain", "the queue did not hold what was enqueued");
    redisFree(context);
    return spent;
}

static void sqlite_check(sqlite3 *db, int code)
{
    if (code != SQLITE_OK && code != SQLITE_DONE)
        die("sqlite", sqlite3_errmsg(db));
}

double floor_sqlite_enqueue(const char *path, size_t count)
{
    static const char schema[] =
        "PRAGMA page_size=2048; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
        "PRAGMA wal_autocheckpoint=4000;" /* as the product does */
        "CREATE TABLE run(seq INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, queue TEXT, job TEXT,"
        " state INTEGER, run_at INTEGER, priority INTEGER, attempts INTEGER, payload BLOB) STRICT;"
        "CREATE INDEX ready ON run(queue, priority, run_at, seq) WHERE state = 1;";
    sqlite3 *db = NULL;
    sqlite3_stmt *insert = NULL;
    char payload[PAYLOAD_SIZE];
    memset(payload, 'x', sizeof payload);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        die("sqlite", path);
    sqlite_check(db, sqlite3_exec(db, schema, NULL, NULL, NULL));
    sqlite_check(db,
                 sqlite3_prepare_v2(db,
                                    "INSERT INTO run(id, queue, job, state, run_at, priority,"
                                    " attempts, payload) VALUES(?1,'bench','bench',1,?2,0,5,?3)",
                                    -1, &insert, NULL));
    double start = now_s();
    for (size_t i = 0; i < count; i++) {
        uint64_t id[2] = {i, random_bits()};
        sqlite3_bind_blob(insert, 1, id, sizeof id, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 2, (sqlite3_int64)i);
        sqlite3_bind_blob(insert, 3, payload, sizeof payload, SQLITE_STATIC);
        sqlite_check(db, sqlite3_step(insert));
        sqlite3_reset(insert);
    }
    double spent = now_s() - start;
    sqlite3_finalize(insert);
    sqlite3_close(db);
    return spent;
}
