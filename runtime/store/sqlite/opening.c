#include "store/sqlite/opening.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/checkpoint.h"
#include "store/sqlite/clock.h"
#include "store/sqlite/error.h"
#include "store/sqlite/file.h"
#include "store/sqlite/heritage.h"
#include "store/sqlite/ledger.h"
#include "store/sqlite/option.h"
#include "store/sqlite/place.h"
#include "store/sqlite/reserve.h"
#include "store/sqlite/room.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/wake.h"
#include "store/register.h"
#include "base/error.h"

void culex__sqlite_close(struct culex_store *base)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    if (store == NULL)
        return;
    culex__sqlite_wake_close(store);
    for (int i = 0; i < CULEX__SQLITE_STATEMENT_COUNT; i++)
        sqlite3_finalize(store->statements[i]);
    /* What is in its place by now may be somebody's copy: nothing more is written there. */
    if (store->place.is_lost) {
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        culex__sqlite_guard_abandon(store);
    } else {
        culex__sqlite_guard_close(store);
    }
    culex__sqlite_reserve_close(store);
    culex__sqlite_place_close(store);
    sqlite3_close(store->db);
    culex__sqlite_heritage_leave(store);
    free(store->idle.queue);
    free(store->recent.name);
    culex__sqlite_ledger_free(store);
    culex__event_notes_release(&store->events);
    free(store->path);
    free(store->given);
    free(store->uri);
    free(store);
}

/* SQLite forbids everything with an inherited handle, closing it too, and closing its descriptors
 * would drop the locks of a handle that this process may have opened since. So both stay, and with
 * them what they use. */
void culex__sqlite_abandon(struct culex_store *base)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    culex__sqlite_wake_abandon(store);
    culex__sqlite_guard_abandon(store);
    culex__sqlite_reserve_close(store);
    culex__sqlite_place_close(store);
}

/* A memory store's name becomes part of a URI; hex digits need no quoting there. */
static char *memory_uri(const char *name)
{
    static const char head[] = "file:/culex-", tail[] = "?vfs=memdb";
    size_t len = strlen(name);
    char *uri = malloc(sizeof head + 2 * len + sizeof tail);
    if (uri == NULL)
        return NULL;
    char *at = stpcpy(uri, head);
    for (size_t i = 0; i < len; i++)
        at += sprintf(at, "%02x", (unsigned)(unsigned char)name[i]);
    strcpy(at, tail);
    return uri;
}

static char *memory_path(const char *name)
{
    char *path = malloc(sizeof "memory:" + strlen(name));
    if (path != NULL)
        strcpy(stpcpy(path, "memory:"), name);
    return path;
}

/* False when out of memory. */
static bool store_name(struct culex_sqlite *store, const char *rest)
{
    char *name = culex__sqlite_option_path(rest);
    if (name != NULL && store->is_memory) {
        store->path = memory_path(name);
        store->uri = memory_uri(name);
    } else if (name != NULL) {
        store->path = strdup(name);
        store->uri = strdup(name);
    }
    free(name);
    return store->path != NULL && store->uri != NULL;
}

static struct culex_sqlite *store_create(int version, const char *rest, bool is_memory,
                                         const struct culex_store_options *options,
                                         const struct culex_env *env)
{
    enum { TIMEOUT_MS = 5000 };
    struct culex_sqlite *store = calloc(1, sizeof *store);
    if (store == NULL)
        return NULL;
    culex__store_init(&store->base, &culex__sqlite_ops, env,
                      options != NULL ? options->until_ns : NULL);
    store->is_memory = is_memory;
    store->is_guarded = !is_memory && version < CULEX__SQLITE_WAL_RESET_FIXED;
    store->lock_fd = store->reserve.fd = store->place.log_fd = -1;
    store->timeout_ms =
        options != NULL && options->timeout_ms > 0 ? options->timeout_ms : TIMEOUT_MS;
    culex__sqlite_wake_init(store);
    if (!store_name(store, rest)) {
        culex__sqlite_close(&store->base);
        return NULL;
    }
    return store;
}

culex_status culex__sqlite_open_as(int version, const char *rest, bool is_memory,
                                   const struct culex_store_options *options,
                                   const struct culex_env *env, struct culex_store **ret_store,
                                   culex_error *error)
{
    struct culex_sqlite_options wishes = {0};
    culex_status status = culex__sqlite_option_read(rest, is_memory, &wishes, error);
    if (status != CULEX_OK)
        return status;
    struct culex_sqlite *store = store_create(version, rest, is_memory, options, env);
    if (store == NULL)
        return culex__sqlite_no_memory(error);
    int64_t timeout_ms = store->timeout_ms;
    store->options = wishes;
    if (options != NULL && options->opening_ms > 0)
        store->timeout_ms = options->opening_ms;
    culex__sqlite_clock_start(store);
    status = culex__sqlite_file_open(store, options, error);
    if (status == CULEX_OK)
        status = culex__sqlite_prepare(store, error);
    if (status == CULEX_OK) {
        store->timeout_ms = timeout_ms;
        *ret_store = &store->base;
        return CULEX_OK;
    }
    /* Nothing was enqueued, so the log can wait for whoever opens it next; and SQLite before 3.38
     * crashes in a checkpoint when the log's index could not be mapped. */
    culex__sqlite_guard_abandon(store);
    culex__sqlite_close(&store->base);
    return status;
}

culex_status culex__sqlite_open(const char *rest, bool is_memory,
                                const struct culex_store_options *options,
                                const struct culex_env *env, struct culex_store **ret_store,
                                culex_error *error)
{
    return culex__sqlite_open_as(sqlite3_libversion_number(), rest, is_memory, options, env,
                                 ret_store, error);
}

static culex_status store_open(const struct culex__store_kind *kind, const char *url,
                               const struct culex_store_options *options,
                               const struct culex_env *env, struct culex_store **ret_store,
                               culex_error *error)
{
    return culex__sqlite_open(url + strlen(kind->scheme), kind->is_private, options, env, ret_store,
                              error);
}

const struct culex__store_kind culex__sqlite_kinds[] = {
    {
        .scheme = "sqlite:",
        .example = "sqlite:PATH",
        .params = {"synchronous", "store-timeout", "reserve", "accept-network"},
        .is_path = true,
        .open = store_open,
    },
    {
        .scheme = "memory:",
        .example = "memory:",
        .params = {"store-timeout"},
        .is_path = true,
        .is_private = true,
        .open = store_open,
    },
    {.scheme = NULL},
};
