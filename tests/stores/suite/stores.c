#include "stores.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "redis_check.h"

static struct redis_server server;
static const char *kind;
static char directory[64];

static int remove_one(const char *path, const struct stat *stat, int flag, struct FTW *ftw)
{
    (void)stat, (void)flag, (void)ftw;
    return remove(path);
}

bool stores_start(const char *store, bool is_durable)
{
    static const char *const words[] = {"--appendonly", "yes", "--appendfsync", "always", NULL};
    kind = store;
    if (strcmp(store, "redis") == 0) {
        if (!redis_server_start(&server, is_durable ? words : NULL)) {
            fprintf(stderr, "skipped: no redis-server can be started here\n");
            return false;
        }
        return true;
    }
    snprintf(directory, sizeof directory, "/tmp/culex-suite-XXXXXX");
    return mkdtemp(directory) != NULL;
}

void stores_stop(void)
{
    redis_server_stop(&server);
    if (directory[0] != '\0')
        nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void url_make(const char *name, char *ret_url, size_t size)
{
    if (strcmp(kind, "redis") == 0)
        snprintf(ret_url, size, "%s", server.url);
    else if (strcmp(kind, "memory") == 0)
        snprintf(ret_url, size, "memory:%s", name);
    else
        snprintf(ret_url, size, "sqlite:%s/%s.db", directory, name);
}

struct culex_store *stores_open(const struct culex_env *env, const char *name)
{
    char url[256];
    struct culex_store *store = NULL;
    culex_error error = {0};
    struct culex_store_options options = {.prefix = name, .synchronous = "off"};
    url_make(name, url, sizeof url);
    culex_status status = culex__store_open(url, &options, env, &store, &error);
    if (status == CULEX_OK)
        return store;
    fprintf(stderr, "%s: %s\n", url, error.text);
    return NULL;
}

bool stores_have_one_ready_state(void)
{
    return strcmp(kind, "redis") != 0;
}

bool stores_check(const char *name, const char *queue)
{
    return strcmp(kind, "redis") != 0 || redis_check(&server, name, queue);
}

bool stores_know(const char *name, const char *queue, culex_uuid id)
{
    return strcmp(kind, "redis") != 0 || redis_check_knows(&server, name, queue, id);
}

static bool server_says_ok(const char *command)
{
    redisReply *reply = redis_server_command(&server, command);
    bool is_ok = reply != NULL && reply->type != REDIS_REPLY_ERROR;
    freeReplyObject(reply);
    return is_ok;
}

bool stores_fault(unsigned random)
{
    if (strcmp(kind, "redis") != 0)
        return false;
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

void stores_wait(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}
