#include "stores.h"

#include <assert.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sqlite3.h>

#include "redis_check.h"

/* How a kind is started, named by URL and looked into. What is NULL does nothing, and finds nothing
 * wrong. */
struct fixture {
    bool (*start)(bool is_durable);
    void (*url_write)(const char *name, char *ret_url, size_t size);
    bool has_one_ready_state;
    bool (*check)(const char *name, const char *queue);
    int64_t (*remembered)(const char *name, const char *queue);
    bool (*fault)(unsigned random);
};

struct kind {
    const char *word;
    const struct fixture *fixture;
};

static struct redis_server server;
static const struct fixture *fixture;
static char directory[64];

/* --- SQLite ---------------------------------------------------------------------------- */

static void file_url(const char *name, char *ret_url, size_t size)
{
    snprintf(ret_url, size, "sqlite:%s/%s.db", directory, name);
}

static void memory_url(const char *name, char *ret_url, size_t size)
{
    snprintf(ret_url, size, "memory:%s", name);
}

static int64_t rows_remembered(const char *name, const char *queue)
{
    static const char text[] =
        "SELECT (SELECT count(*) FROM producer p WHERE p.queue = q.queue) +"
        " (SELECT count(*) FROM idempotency i WHERE i.queue = q.queue) +"
        " (SELECT count(*) FROM wait w WHERE w.queue = q.queue) + length(payload) / 40"
        " FROM queue q JOIN body ON seq = (q.queue << 48) + 281474976710655 WHERE name = ?";
    char path[128];
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    int64_t count = -1;
    stores_file(name, path, sizeof path);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, text, -1, &row, NULL) == SQLITE_OK &&
        sqlite3_bind_text(row, 1, queue, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW)
        count = sqlite3_column_int64(row, 0);
    assert(count >= 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return count;
}

static const struct fixture fixture_sqlite = {
    .url_write = file_url, .has_one_ready_state = true, .remembered = rows_remembered};
static const struct fixture fixture_memory = {.url_write = memory_url, .has_one_ready_state = true};

/* --- Redis ----------------------------------------------------------------------------- */

static bool server_start(bool is_durable)
{
    static const char *const words[] = {"--appendonly", "yes", "--appendfsync", "always", NULL};
    if (redis_server_start(&server, is_durable ? words : NULL))
        return true;
    fprintf(stderr, "skipped: no redis-server can be started here\n");
    return false;
}

static void server_url(const char *name, char *ret_url, size_t size)
{
    (void)name; /* it is the prefix of the keys */
    snprintf(ret_url, size, "%s", server.url);
}

static bool keys_check(const char *name, const char *queue)
{
    return redis_check(&server, name, queue);
}

static int64_t fields_count(const char *name, const char *queue, const char *key)
{
    redisReply *reply = redis_server_command(&server, "HLEN %s:{%s}:%s", name, queue, key);
    assert(reply != NULL && reply->type == REDIS_REPLY_INTEGER);
    int64_t count = reply->integer;
    freeReplyObject(reply);
    return count;
}

static int64_t keys_remembered(const char *name, const char *queue)
{
    return fields_count(name, queue, "producers") + fields_count(name, queue, "keys") +
           fields_count(name, queue, "waits");
}

static bool server_says_ok(const char *command)
{
    redisReply *reply = redis_server_command(&server, command);
    bool is_ok = reply != NULL && reply->type != REDIS_REPLY_ERROR;
    freeReplyObject(reply);
    return is_ok;
}

static bool server_fault(unsigned random)
{
    switch (random % 16) {
    case 0:
        redis_server_kill(&server);
        return redis_server_restart(&server);
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
        return server_says_ok("SCRIPT FLUSH");
    default:
        return server_says_ok("CLIENT KILL TYPE normal SKIPME yes");
    }
}

static const struct fixture fixture_redis = {.start = server_start,
                                             .url_write = server_url,
                                             .check = keys_check,
                                             .remembered = keys_remembered,
                                             .fault = server_fault};

/* --- all of them ----------------------------------------------------------------------- */

static const struct fixture fixture_model = {.has_one_ready_state = true};

/* A store of the build that has no fixture here does not compile. */
static const struct kind kinds[] = {
    {"model", &fixture_model},
    {"memory", &fixture_memory},
#define STORE(name) {#name, &fixture_##name},
#include "store/stores.def"
#undef STORE
};

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

static const struct fixture *fixture_find(const char *word)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strcmp(kinds[i].word, word) == 0)
            return kinds[i].fixture;
    }
    fprintf(stderr, "unknown store '%s'; known are", word);
    for (size_t i = 0; i < KIND_COUNT; i++)
        fprintf(stderr, " %s", kinds[i].word);
    fputc('\n', stderr);
    return NULL;
}

static int remove_one(const char *path, const struct stat *stat, int flag, struct FTW *ftw)
{
    (void)stat, (void)flag, (void)ftw;
    return remove(path);
}

void stores_stop(void)
{
    redis_server_stop(&server);
    nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int stores_start(const char *store, bool is_durable)
{
    fixture = fixture_find(store);
    if (fixture == NULL)
        return STORES_UNKNOWN;
    snprintf(directory, sizeof directory, "/tmp/culex-suite-XXXXXX");
    if (mkdtemp(directory) == NULL)
        return STORES_SKIP;
    if (fixture->start == NULL || fixture->start(is_durable))
        return 0;
    stores_stop();
    return STORES_SKIP;
}

struct culex_store *stores_open(const struct culex_env *env, const char *name)
{
    char url[256];
    struct culex_store *store = NULL;
    culex_error error = {0};
    struct culex_store_options options = {.prefix = name, .synchronous = "off"};
    assert(fixture->url_write != NULL); /* the model has no URL */
    fixture->url_write(name, url, sizeof url);
    culex_status status = culex__store_open(url, &options, env, &store, &error);
    if (status == CULEX_OK)
        return store;
    fprintf(stderr, "%s: %s\n", url, error.text);
    return NULL;
}

bool stores_have_one_ready_state(void)
{
    return fixture->has_one_ready_state;
}

bool stores_check(const char *name, const char *queue)
{
    return fixture->check == NULL || fixture->check(name, queue);
}

int64_t stores_remembered(const char *name, const char *queue)
{
    return fixture->remembered != NULL ? fixture->remembered(name, queue) : -1;
}

const struct redis_server *stores_server(void)
{
    return &server;
}

void stores_file(const char *name, char *ret_path, size_t size)
{
    snprintf(ret_path, size, "%s/%s.db", directory, name);
}

bool stores_fault(unsigned random)
{
    return fixture->fault != NULL && fixture->fault(random);
}

void stores_wait(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}
