#include "sets.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "redis_server.h"
#include "store/redis/scripts.h"
#include "stores.h"

struct row {
    const char *store, *name;
    int is_filled;
    int64_t most;
    const char *who;
    int64_t count, peak; /* of the last look, of all */
};

static struct row rows[] = {
#define SET(store, name, is_filled, most, who) {#store, name, is_filled, most, who, 0, 0},
#include "sets.def"
#undef SET
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0], NAME_SIZE = 320 };

static struct {
    const char *kind, *name, *queue;
    bool is_told;
} watched;

static bool is_redis(void)
{
    return strcmp(watched.kind, "redis") == 0;
}

static bool is_watched(const struct row *row)
{
    return strcmp(row->store, watched.kind) == 0;
}

/* --- the table ------------------------------------------------------------------------------ */

static bool fits(const char *pattern, const char *name)
{
    size_t len = strlen(pattern);
    bool is_open = pattern[len - 1] == '*';
    return is_open ? strncmp(pattern, name, len - 1) == 0 : strcmp(pattern, name) == 0;
}

static struct row *row_find(const char *name)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (is_watched(&rows[i]) && fits(rows[i].name, name))
            return &rows[i];
    }
    return NULL;
}

static void set_take(const char *name, int64_t count)
{
    struct row *row = row_find(name);
    if (row != NULL) {
        row->count += count;
        return;
    }
    fprintf(stderr, "forget: sets.def does not say who empties '%s' of %s\n", name, watched.kind);
    watched.is_told = false;
}

/* --- SQLite ---------------------------------------------------------------------------------- */

static sqlite3 *file_open(void)
{
    char path[128];
    sqlite3 *db = NULL;
    stores_file(watched.name, path, sizeof path);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        abort();
    return db;
}

static int64_t file_ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK || sqlite3_step(row) != SQLITE_ROW)
        abort();
    int64_t value = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return value;
}

typedef void (*name_fn)(sqlite3 *db, const char *name);

static void tables_walk(name_fn take)
{
    static const char sql[] =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    sqlite3 *db = file_open();
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK)
        abort();
    while (sqlite3_step(row) == SQLITE_ROW)
        take(db, (const char *)sqlite3_column_text(row, 0));
    sqlite3_finalize(row);
    sqlite3_close(db);
}

static void table_count(sqlite3 *db, const char *name)
{
    char sql[NAME_SIZE];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM \"%s\"", name);
    set_take(name, file_ask(db, sql));
}

static bool table_exists(const char *name)
{
    char sql[NAME_SIZE];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM sqlite_schema WHERE name = '%s'", name);
    sqlite3 *db = file_open();
    bool is_there = file_ask(db, sql) > 0;
    sqlite3_close(db);
    return is_there;
}

static struct sets_size file_size(void)
{
    sqlite3 *db = file_open();
    int64_t bytes = file_ask(db, "PRAGMA page_size"), pages = file_ask(db, "PRAGMA page_count");
    int64_t unused = file_ask(db, "PRAGMA freelist_count");
    sqlite3_close(db);
    return (struct sets_size){(pages - unused) * bytes, pages * bytes};
}

/* --- Redis ----------------------------------------------------------------------------------- */

static redisReply *ask(const char *command, const char *key, size_t len)
{
    char format[64];
    snprintf(format, sizeof format, "%s %%b", command);
    redisReply *reply = redis_server_command(stores_server(), format, key, len);
    if (reply == NULL || reply->type == REDIS_REPLY_ERROR)
        abort();
    return reply;
}

static int64_t ask_int(const char *command, const char *key, size_t len)
{
    redisReply *reply = ask(command, key, len);
    int64_t value = reply->integer;
    freeReplyObject(reply);
    return value;
}

static int64_t entries_count(const char *key, size_t len)
{
    static const char *const commands[][2] = {
        {"hash", "HLEN"}, {"zset", "ZCARD"}, {"list", "LLEN"}, {"set", "SCARD"}};
    redisReply *type = ask("TYPE", key, len);
    int64_t count = 1;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(type->str, commands[i][0]) == 0)
            count = ask_int(commands[i][1], key, len);
    }
    freeReplyObject(type);
    return count;
}

static bool has_fields_told(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (is_watched(&rows[i]) && strncmp(rows[i].name, name, len) == 0 &&
            rows[i].name[len] == '.')
            return true;
    }
    return false;
}

static bool is_text(const redisReply *field)
{
    for (size_t i = 0; i < field->len; i++) {
        if (!isprint((unsigned char)field->str[i]))
            return false;
    }
    return true;
}

static void fields_count(const char *name, const char *key, size_t len)
{
    char told[NAME_SIZE];
    redisReply *fields = ask("HKEYS", key, len);
    for (size_t i = 0; i < fields->elements; i++) {
        const redisReply *field = fields->element[i];
        snprintf(told, sizeof told, "%s.%s", name, is_text(field) ? field->str : "#");
        set_take(told, 1);
    }
    freeReplyObject(fields);
}

/* What a key is called in the table: without its prefix, and a queue's. NULL: of another store. */
static const char *key_name(const char *key)
{
    char begin[NAME_SIZE];
    snprintf(begin, sizeof begin, "%s:", watched.name);
    if (strncmp(key, begin, strlen(begin)) != 0)
        return NULL;
    size_t own = strlen(begin);
    snprintf(begin, sizeof begin, "%s:{%s}:", watched.name, watched.queue);
    if (strncmp(key, begin, strlen(begin)) == 0)
        return key + strlen(begin);
    snprintf(begin, sizeof begin, "%s:{#}:", watched.name); /* of no queue */
    return strncmp(key, begin, strlen(begin)) == 0 ? key + strlen(begin) : key + own;
}

static void key_count(const redisReply *key, int64_t *ret_bytes)
{
    const char *name = key_name(key->str);
    if (name == NULL)
        return;
    if (ret_bytes != NULL) {
        *ret_bytes += ask_int("MEMORY USAGE", key->str, key->len);
        return;
    }
    set_take(name, entries_count(key->str, key->len));
    if (has_fields_told(name))
        fields_count(name, key->str, key->len);
}

/* Counts entries, or bytes when they are asked for. */
static void keys_walk(int64_t *ret_bytes)
{
    redisReply *keys = ask("KEYS", "*", 1);
    for (size_t i = 0; i < keys->elements; i++)
        key_count(keys->element[i], ret_bytes);
    freeReplyObject(keys);
}

static bool key_exists(const char *name)
{
    if (strchr(name, '.') != NULL || strcmp(name, "queues") == 0)
        return true;
    for (size_t i = 0; i < CULEX__REDIS_KEY_COUNT; i++) {
        if (fits(name, culex__redis_key_names[i]) || strcmp(name, "wake *") == 0)
            return true;
    }
    return false;
}

static struct sets_size server_size(void)
{
    struct sets_size size = {0, 0};
    keys_walk(&size.used);
    redisReply *info = ask("INFO", "memory", 6);
    const char *at = strstr(info->str, "used_memory:");
    size.taken = at != NULL ? strtoll(at + strlen("used_memory:"), NULL, 10) : 0;
    freeReplyObject(info);
    return size;
}

/* --- both ------------------------------------------------------------------------------------ */

static bool exists(const char *name)
{
    return is_redis() ? key_exists(name) : table_exists(name);
}

static bool rows_lead_somewhere(void)
{
    bool are_good = true;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (!is_watched(&rows[i]) || exists(rows[i].name))
            continue;
        fprintf(stderr, "forget: sets.def has a row of '%s', which %s has not\n", rows[i].name,
                watched.kind);
        are_good = false;
    }
    return are_good;
}

static bool keys_have_rows(void)
{
    watched.is_told = true;
    for (size_t i = 0; is_redis() && i < CULEX__REDIS_KEY_COUNT; i++)
        set_take(culex__redis_key_names[i], 0);
    return watched.is_told;
}

bool sets_begin(const char *kind, const char *name, const char *queue)
{
    watched.kind = kind;
    watched.name = name;
    watched.queue = queue;
    bool are_told = keys_have_rows();
    return rows_lead_somewhere() && are_told && sets_look();
}

bool sets_look(void)
{
    watched.is_told = true;
    for (size_t i = 0; i < ROW_COUNT; i++)
        rows[i].count = 0;
    if (is_redis())
        keys_walk(NULL);
    else
        tables_walk(table_count);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].count > rows[i].peak)
            rows[i].peak = rows[i].count;
    }
    return watched.is_told;
}

static bool row_judge(const struct row *row, const char *when)
{
    if (row->count <= row->most)
        return true;
    fprintf(stderr, "forget: %s, '%s' of %s still has %lld entries, of %lld; emptied by: %s\n",
            when, row->name, row->store, (long long)row->count, (long long)row->most, row->who);
    return false;
}

bool sets_judge(const char *when)
{
    bool are_good = true;
    for (size_t i = 0; i < ROW_COUNT; i++)
        are_good = (!is_watched(&rows[i]) || row_judge(&rows[i], when)) && are_good;
    return are_good;
}

bool sets_were_filled(void)
{
    bool are_good = true;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (!is_watched(&rows[i]) || !rows[i].is_filled || rows[i].peak > 0)
            continue;
        fprintf(stderr, "forget: nothing was ever in '%s' of %s\n", rows[i].name, rows[i].store);
        are_good = false;
    }
    return are_good;
}

struct sets_size sets_size(void)
{
    return is_redis() ? server_size() : file_size();
}

void sets_print(void)
{
    printf("%-20s %10s %6s  %s\n", watched.kind, "most", "now", "emptied by");
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (is_watched(&rows[i]))
            printf("%-20s %10lld %6lld  %s\n", rows[i].name, (long long)rows[i].peak,
                   (long long)rows[i].count, rows[i].who);
    }
}
