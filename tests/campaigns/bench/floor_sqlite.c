/* bench/floor_sqlite.c - the floor of SQLite: prepared statements in one transaction a call, with
 * pages and checkpoints as in the product, in a file beside the product's.
 *
 * Of declared runs each has a key of its own in a unique index until it is forgotten, and a call
 * counts what it starts and what has ended of one concurrency and one rate. */
#include <semaphore.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "floor.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS run(seq INTEGER PRIMARY KEY, number INTEGER NOT NULL, queue TEXT,"
    " job TEXT, state INTEGER, run_at INTEGER, priority INTEGER, attempts INTEGER, payload BLOB,"
    " key TEXT) STRICT;"
    "CREATE INDEX IF NOT EXISTS ready ON run(queue, priority, run_at, seq) WHERE state = 1;"
    "CREATE UNIQUE INDEX IF NOT EXISTS keys ON run(queue, key) WHERE key IS NOT NULL;"
    "CREATE TABLE IF NOT EXISTS counter(name TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT,"
    " WITHOUT ROWID;";

enum { PATIENCE_MS = 60000, KEY_SIZE = 17 };

enum { PUT, TAKE, MARK, FORGET, COUNT, BEGIN, COMMIT, STATEMENTS };

static const char *const texts[STATEMENTS] = {
    [PUT] = "INSERT INTO run(number, queue, job, state, run_at, priority, attempts, payload,"
            " key) VALUES(?1, 'bench', 'bench', 1, ?2, 0, 5, ?3, ?4)",
    [TAKE] = "SELECT seq, number, payload FROM run WHERE queue = 'bench' AND state = 1"
             " ORDER BY priority, run_at, seq LIMIT ?1",
    [MARK] = "UPDATE run SET state = 2 WHERE seq = ?1",
    [FORGET] = "DELETE FROM run WHERE seq = ?1",
    [COUNT] = "INSERT INTO counter VALUES(?2, ?1)"
              " ON CONFLICT(name) DO UPDATE SET count = count + ?1",
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
};

struct sqlite {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    bool is_declared;
};

static void sqlite_check(struct sqlite *sqlite, int code)
{
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        floor_die("sqlite", sqlite3_errmsg(sqlite->db));
}

static int statement_step(struct sqlite *sqlite, int which)
{
    int code = sqlite3_step(sqlite->statements[which]);
    sqlite_check(sqlite, code);
    if (code != SQLITE_ROW)
        sqlite3_reset(sqlite->statements[which]);
    return code;
}

static void statement_step_for(struct sqlite *sqlite, int which, uint64_t number)
{
    sqlite3_bind_int64(sqlite->statements[which], 1, (sqlite3_int64)number);
    statement_step(sqlite, which);
}

/* SQLite does not wait for its lock where several make the file at once. */
static void sql_run(struct sqlite *sqlite, const char *sql)
{
    const struct timespec pause = {0, 1000000};
    int code = SQLITE_BUSY;
    for (int tries = 0; tries < PATIENCE_MS && code == SQLITE_BUSY; tries++) {
        code = sqlite3_exec(sqlite->db, sql, NULL, NULL, NULL);
        if (code == SQLITE_BUSY)
            nanosleep(&pause, NULL);
    }
    sqlite_check(sqlite, code);
}

static void *sqlite_open(const struct knobs *knobs)
{
    char path[512], pragmas[256];
    struct sqlite *sqlite = calloc(1, sizeof *sqlite);
    sqlite->is_declared = knobs->is_declared != 0;
    const char *colon = strchr(knobs->url, ':');
    snprintf(path, sizeof path, "%s.floor", colon != NULL ? colon + 1 : knobs->url);
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA page_size=2048; PRAGMA journal_mode=WAL; PRAGMA synchronous=%s;"
             "PRAGMA wal_autocheckpoint=4000;",
             knobs->synchronous);
    if (sqlite3_open(path, &sqlite->db) != SQLITE_OK)
        floor_die("sqlite", path);
    sqlite3_busy_timeout(sqlite->db, PATIENCE_MS);
    sql_run(sqlite, pragmas);
    sql_run(sqlite, schema);
    for (int i = 0; i < STATEMENTS; i++)
        sqlite_check(sqlite,
                     sqlite3_prepare_v2(sqlite->db, texts[i], -1, &sqlite->statements[i], NULL));
    return sqlite;
}

/* Keys of neighbours are far from each other, as those of a digest are. */
static void key_bind(sqlite3_stmt *put, uint64_t number, char key[KEY_SIZE])
{
    snprintf(key, KEY_SIZE, "%016llx", (unsigned long long)(number * 0x9e3779b97f4a7c15u));
    sqlite3_bind_text(put, 4, key, KEY_SIZE - 1, SQLITE_STATIC);
}

static void count_add(struct sqlite *sqlite, const char *name, int64_t count)
{
    if (!sqlite->is_declared || count == 0)
        return;
    sqlite3_bind_text(sqlite->statements[COUNT], 2, name, -1, SQLITE_STATIC);
    statement_step_for(sqlite, COUNT, (uint64_t)count);
}

static void sqlite_put(void *store, size_t first, size_t count, const char *payload, size_t len)
{
    char key[KEY_SIZE];
    struct sqlite *sqlite = store;
    sqlite3_stmt *put = sqlite->statements[PUT];
    statement_step(sqlite, BEGIN);
    for (size_t i = 0; i < count; i++) {
        sqlite3_bind_int64(put, 2, (sqlite3_int64)(first + i));
        sqlite3_bind_blob(put, 3, payload, (int)len, SQLITE_STATIC);
        if (sqlite->is_declared)
            key_bind(put, first + i, key);
        statement_step_for(sqlite, PUT, first + i);
    }
    statement_step(sqlite, COMMIT);
}

static size_t sqlite_take(void *store, const struct floor_id *done, size_t done_count, size_t want,
                          struct floor_id *ids)
{
    struct sqlite *sqlite = store;
    sqlite3_stmt *take = sqlite->statements[TAKE];
    size_t count = 0;
    statement_step(sqlite, BEGIN);
    for (size_t i = 0; i < done_count; i++)
        statement_step_for(sqlite, FORGET, done[i].token);
    sqlite3_bind_int64(take, 1, (sqlite3_int64)want);
    while (statement_step(sqlite, TAKE) == SQLITE_ROW) {
        sqlite3_column_blob(take, 2);
        ids[count++] = (struct floor_id){(uint64_t)sqlite3_column_int64(take, 1),
                                         (uint64_t)sqlite3_column_int64(take, 0)};
    }
    for (size_t i = 0; i < count; i++)
        statement_step_for(sqlite, MARK, ids[i].token);
    count_add(sqlite, "concurrency", (int64_t)count - (int64_t)done_count);
    count_add(sqlite, "rate", (int64_t)count);
    statement_step(sqlite, COMMIT);
    return count;
}

/* There is no bell in SQLite; the producer's own one stands for it. */
static bool sqlite_await(void *store, struct meter *meter, struct floor_id *ret_id)
{
    (void)store;
    (void)ret_id;
    while (sem_wait(&meter->filled) != 0) {
    }
    return false;
}

static void sqlite_close(void *store)
{
    struct sqlite *sqlite = store;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(sqlite->statements[i]);
    sqlite3_close(sqlite->db);
    free(sqlite);
}

const struct floor_store floor_sqlite = {sqlite_open, sqlite_put, sqlite_take, sqlite_await,
                                         sqlite_close};
