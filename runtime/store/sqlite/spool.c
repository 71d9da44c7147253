#include "store/sqlite/spool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/error.h"
#include "store/sqlite/spool_file.h"
#include "base/error.h"

#define COLUMNS                                                                                    \
    "number, queue, asked_ms, delay_ms, at_ms, key, window_ms, ticket, tried_ms, is_strict, "      \
    "body, aside, salt, is_again"

/* One, or the first `?2` of them. */
#define OF_ASIDE                                                                                   \
    "SELECT number FROM entry WHERE aside IS NOT NULL AND (?1 = 0 OR number = ?1)"                 \
    " ORDER BY number LIMIT ?2"

enum statement {
    LOOK,
    OLDEST,
    ADD,
    NEXT,
    NEXT_ASIDE,
    TRY,
    UNTRY,
    DELETE,
    PUT_ASIDE,
    AGAIN,
    DROP,
    STATEMENTS
};

static const char *const texts[STATEMENTS] = {
    [LOOK] = "SELECT runs, aside, bytes, ?1 IS NOT NULL AND EXISTS(SELECT 1 FROM entry"
             " WHERE queue = ?1 AND aside IS NULL) FROM spool",
    [OLDEST] = "SELECT asked_ms FROM entry WHERE aside IS NULL ORDER BY number LIMIT 1",
    [ADD] = "INSERT INTO entry(queue, asked_ms, delay_ms, at_ms, key, window_ms, ticket, tried_ms,"
            " is_strict, body, salt) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    [NEXT] =
        "SELECT " COLUMNS " FROM entry WHERE aside IS NULL AND queue = (SELECT queue FROM entry"
        " WHERE aside IS NULL AND queue > ?1 ORDER BY queue LIMIT 1) ORDER BY number LIMIT ?2",
    [NEXT_ASIDE] = "SELECT " COLUMNS " FROM entry WHERE aside IS NOT NULL AND number > ?1"
                   " ORDER BY number LIMIT 1",
    [TRY] = "UPDATE entry SET tried_ms = ?2 WHERE number = ?1 AND tried_ms = 0",
    [UNTRY] = "UPDATE entry SET tried_ms = 0, ticket = NULL WHERE number = ?1",
    [DELETE] = "DELETE FROM entry WHERE number = ?1",
    [PUT_ASIDE] = "UPDATE entry SET aside = ?2 WHERE number = ?1",
    [AGAIN] = "UPDATE entry SET aside = NULL, ticket = NULL, tried_ms = 0, is_again = 1"
              " WHERE number IN (" OF_ASIDE ")",
    [DROP] = "DELETE FROM entry WHERE number IN (" OF_ASIDE ")",
};

struct culex_spool {
    struct culex_spool_file file;
    const struct culex_env *env;
    sqlite3_stmt *statements[STATEMENTS];
};

/* --- SQL --------------------------------------------------------------------------------- */

static culex_status statement_get(struct culex_spool *spool, enum statement which,
                                  sqlite3_stmt **ret_statement, culex_error *error)
{
    sqlite3_stmt **slot = &spool->statements[which];
    int rc = SQLITE_OK;
    if (*slot == NULL)
        rc = sqlite3_prepare_v3(spool->file.sqlite.db, texts[which], -1, SQLITE_PREPARE_PERSISTENT,
                                slot, NULL);
    *ret_statement = *slot;
    return rc == SQLITE_OK ? CULEX_OK : culex__spool_file_fail(&spool->file, rc, error);
}

/* Ends the statement; `rc` is what its last step gave. */
static culex_status statement_end(struct culex_spool *spool, sqlite3_stmt *statement, int rc,
                                  culex_error *error)
{
    culex_status status = rc == SQLITE_DONE || rc == SQLITE_ROW
                              ? CULEX_OK
                              : culex__spool_file_fail(&spool->file, rc, error);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
}

/* --- opening ----------------------------------------------------------------------------- */

culex_status culex__spool_open(const char *path, const char *place, const struct culex_env *env,
                               struct culex_spool **ret_spool, culex_error *error)
{
    struct culex_spool *spool = calloc(1, sizeof *spool);
    if (spool == NULL)
        return culex__sqlite_no_memory(error);
    spool->env = env;
    culex_status status = culex__spool_file_open(&spool->file, path, place, error);
    if (status != CULEX_OK) {
        culex__spool_close(spool);
        return status;
    }
    *ret_spool = spool;
    return CULEX_OK;
}

void culex__spool_close(struct culex_spool *spool)
{
    for (size_t i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(spool->statements[i]);
    culex__spool_file_close(&spool->file);
    free(spool);
}

/* It stays in the list of files that were inherited, so its memory does too. */
void culex__spool_abandon(struct culex_spool *spool)
{
    culex__spool_file_abandon(&spool->file);
}

const char *culex__spool_path(const struct culex_spool *spool)
{
    return spool->file.sqlite.path;
}

/* --- looking ----------------------------------------------------------------------------- */

static culex_status look(struct culex_spool *spool, const char *queue,
                         struct culex_spool_state *ret_state, culex_error *error)
{
    sqlite3_stmt *statement;
    culex_status status = statement_get(spool, LOOK, &statement, error);
    if (status != CULEX_OK)
        return status;
    int rc = sqlite3_bind_text(statement, 1, queue, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *ret_state =
            (struct culex_spool_state){.runs = (uint64_t)sqlite3_column_int64(statement, 0),
                                       .aside = (uint64_t)sqlite3_column_int64(statement, 1),
                                       .bytes = (uint64_t)sqlite3_column_int64(statement, 2),
                                       .has_queue = sqlite3_column_int64(statement, 3) != 0};
    status = statement_end(spool, statement, rc, error);
    return status == CULEX_OK && rc != SQLITE_ROW
               ? culex__sqlite_bad_row(&spool->file.sqlite, error)
               : status;
}

culex_status culex__spool_look(struct culex_spool *spool, const char *queue,
                               struct culex_spool_state *ret_state, culex_error *error)
{
    culex_status status = culex__spool_file_look_begin(&spool->file, error);
    if (status == CULEX_OK)
        status = look(spool, queue, ret_state, error);
    return culex__spool_file_look_end(&spool->file, status);
}

static culex_status oldest(struct culex_spool *spool, int64_t *ret_asked_ms, culex_error *error)
{
    sqlite3_stmt *statement;
    culex_status status = statement_get(spool, OLDEST, &statement, error);
    if (status != CULEX_OK)
        return status;
    int rc = sqlite3_step(statement);
    *ret_asked_ms = rc == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    return statement_end(spool, statement, rc, error);
}

culex_status culex__spool_oldest(struct culex_spool *spool, int64_t *ret_asked_ms,
                                 culex_error *error)
{
    culex_status status = culex__spool_file_look_begin(&spool->file, error);
    if (status == CULEX_OK)
        status = oldest(spool, ret_asked_ms, error);
    return culex__spool_file_look_end(&spool->file, status);
}

/* --- adding ------------------------------------------------------------------------------ */

static culex_status room_check(struct culex_spool *spool, const struct culex_spool_entry *entries,
                               size_t count, uint64_t runs_max, uint64_t bytes_max,
                               culex_error *error)
{
    struct culex_spool_state state = {0};
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += entries[i].body_len;
    culex_status status = look(spool, NULL, &state, error);
    if (status != CULEX_OK)
        return status;
    if (state.runs + state.aside + count <= runs_max && state.bytes + bytes <= bytes_max)
        return CULEX_OK;
    return culex__fail(error, CULEX_EFULL,
                       "the spool %s is full, with %" PRIu64 " runs (%" PRIu64
                       " aside) and %" PRIu64 " bytes: bring the store back, settle what stands "
                       "aside (culex-spool), or allow more than %" PRIu64 " runs and %" PRIu64
                       " bytes",
                       spool->file.sqlite.path, state.runs + state.aside, state.aside, state.bytes,
                       runs_max, bytes_max);
}

static int entry_bind(sqlite3_stmt *statement, const struct culex_spool_entry *entry)
{
    const int64_t numbers[][2] = {{2, entry->asked_ms}, {3, entry->delay_ms},
                                  {4, entry->at_ms},    {6, entry->window_ms},
                                  {8, entry->tried_ms}, {9, entry->is_strict}};
    int rc = sqlite3_bind_text(statement, 1, entry->queue, -1, SQLITE_STATIC);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && rc == SQLITE_OK; i++)
        rc = sqlite3_bind_int64(statement, (int)numbers[i][0], numbers[i][1]);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(statement, 5, entry->key, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK && entry->has_ticket)
        rc = sqlite3_bind_blob(statement, 7, &entry->ticket, sizeof entry->ticket, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_blob64(statement, 10, entry->body, entry->body_len, SQLITE_STATIC);
    return rc;
}

static culex_status entry_add(struct culex_spool *spool, const struct culex_spool_entry *entry,
                              culex_error *error)
{
    sqlite3_stmt *statement;
    culex_status status = statement_get(spool, ADD, &statement, error);
    if (status != CULEX_OK)
        return status;
    int rc = entry_bind(statement, entry);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_int64(statement, 11, (int64_t)culex__env_random(spool->env));
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    return statement_end(spool, statement, rc, error);
}

culex_status culex__spool_add(struct culex_spool *spool, const struct culex_spool_entry *entries,
                              size_t count, uint64_t runs_max, uint64_t bytes_max,
                              culex_error *error)
{
    culex_status status = culex__spool_file_change_begin(&spool->file, error);
    if (status == CULEX_OK)
        status = room_check(spool, entries, count, runs_max, bytes_max, error);
    if (status == CULEX_OK)
        status = culex__spool_file_take(&spool->file, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = entry_add(spool, &entries[i], error);
    if (status == CULEX_OK)
        status = culex__spool_file_keep_room(&spool->file, error);
    return culex__spool_file_change_end(&spool->file, status, error);
}

/* --- taking out -------------------------------------------------------------------------- */

static char *room_add(char *at, const void *bytes, size_t len, const char **ret_text)
{
    *ret_text = at;
    if (len > 0)
        memcpy(at, bytes, len);
    at[len] = '\0';
    return at + len + 1;
}

/* Copies what the row points to. False without memory. */
static bool texts_take(sqlite3_stmt *row, struct culex_spool_entry *entry, char **ret_room)
{
    enum { QUEUE = 1, KEY = 5, BODY = 10, ASIDE = 11 };
    static const int columns[] = {QUEUE, KEY, ASIDE, BODY};
    const char *copies[4] = {NULL};
    const void *bytes[4];
    size_t lens[4], total = 0;
    for (size_t i = 0; i < 4; i++) {
        bytes[i] = sqlite3_column_blob(row, columns[i]);
        lens[i] = (size_t)sqlite3_column_bytes(row, columns[i]);
        total += lens[i] + 1;
    }
    char *at = *ret_room = malloc(total);
    if (at == NULL)
        return false;
    for (size_t i = 0; i < 4; i++)
        at = room_add(at, bytes[i], lens[i], &copies[i]);
    entry->queue = copies[0];
    entry->key = sqlite3_column_type(row, KEY) != SQLITE_NULL ? copies[1] : NULL;
    entry->aside = sqlite3_column_type(row, ASIDE) != SQLITE_NULL ? copies[2] : NULL;
    entry->body = copies[3];
    entry->body_len = lens[3];
    return true;
}

static bool entry_take(sqlite3_stmt *row, struct culex_spool_entry *entry, char **ret_room)
{
    *entry = (struct culex_spool_entry){.number = sqlite3_column_int64(row, 0),
                                        .asked_ms = sqlite3_column_int64(row, 2),
                                        .delay_ms = sqlite3_column_int64(row, 3),
                                        .at_ms = sqlite3_column_int64(row, 4),
                                        .window_ms = sqlite3_column_int64(row, 6),
                                        .tried_ms = sqlite3_column_int64(row, 8),
                                        .is_strict = sqlite3_column_int64(row, 9) != 0,
                                        .salt = (uint64_t)sqlite3_column_int64(row, 12),
                                        .is_again = sqlite3_column_int64(row, 13) != 0};
    entry->has_ticket = sqlite3_column_type(row, 7) != SQLITE_NULL;
    if (sqlite3_column_bytes(row, 7) == (int)sizeof entry->ticket)
        memcpy(&entry->ticket, sqlite3_column_blob(row, 7), sizeof entry->ticket);
    return texts_take(row, entry, ret_room);
}

/* Whether it goes with the first of the batch. */
static bool is_fellow(const struct culex_spool_entry *first, const struct culex_spool_entry *entry)
{
    return first->has_ticket == entry->has_ticket &&
           (!first->has_ticket ||
            memcmp(&first->ticket, &entry->ticket, sizeof first->ticket) == 0);
}

static culex_status rows_take(struct culex_spool *spool, sqlite3_stmt *statement, size_t most,
                              struct culex_spool_batch *batch, culex_error *error)
{
    size_t bytes = 0;
    int rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW && batch->count < CULEX_SPOOL_BATCH_MAX) {
        struct culex_spool_entry *entry = &batch->entries[batch->count];
        char **room = &batch->rooms[batch->count];
        if (!entry_take(statement, entry, room)) {
            statement_end(spool, statement, rc, NULL);
            return culex__sqlite_no_memory(error);
        }
        bytes += entry->body_len;
        bool is_over = batch->count > 0 && !entry->has_ticket &&
                       (bytes > CULEX_SPOOL_BATCH_BYTES || batch->count == most);
        if (is_over || !is_fellow(&batch->entries[0], entry)) {
            free(*room);
            break;
        }
        batch->count++;
    }
    return statement_end(spool, statement, rc, error);
}

/* `after` or `number` says where to go on. */
static culex_status batch_take(struct culex_spool *spool, enum statement which, const char *after,
                               int64_t number, size_t most, struct culex_spool_batch *batch,
                               culex_error *error)
{
    sqlite3_stmt *statement;
    batch->count = 0;
    culex_status status = culex__spool_file_look_begin(&spool->file, error);
    if (status == CULEX_OK)
        status = statement_get(spool, which, &statement, error);
    if (status != CULEX_OK)
        return status;
    int rc = after != NULL ? sqlite3_bind_text(statement, 1, after, -1, SQLITE_STATIC)
                           : sqlite3_bind_int64(statement, 1, number);
    if (rc == SQLITE_OK && after != NULL)
        rc = sqlite3_bind_int64(statement, 2, CULEX_SPOOL_BATCH_MAX);
    if (rc != SQLITE_OK)
        return statement_end(spool, statement, rc, error);
    status = rows_take(spool, statement, most, batch, error);
    if (status != CULEX_OK)
        culex__spool_batch_release(batch);
    return status;
}

culex_status culex__spool_next(struct culex_spool *spool, const char *after, size_t most,
                               struct culex_spool_batch *ret_batch, culex_error *error)
{
    culex_status status = batch_take(spool, NEXT, after, 0, most, ret_batch, error);
    return culex__spool_file_look_end(&spool->file, status);
}

culex_status culex__spool_next_aside(struct culex_spool *spool, int64_t number,
                                     struct culex_spool_batch *ret_batch, culex_error *error)
{
    culex_status status = batch_take(spool, NEXT_ASIDE, NULL, number, 1, ret_batch, error);
    return culex__spool_file_look_end(&spool->file, status);
}

void culex__spool_batch_release(struct culex_spool_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        free(batch->rooms[i]);
    batch->count = 0;
}

static culex_status change_one(struct culex_spool *spool, const struct culex_spool_change *change,
                               culex_error *error)
{
    static const enum statement statements[] = {[CULEX_SPOOL_TRIED] = TRY,
                                                [CULEX_SPOOL_UNTRIED] = UNTRY,
                                                [CULEX_SPOOL_GONE] = DELETE,
                                                [CULEX_SPOOL_ASIDE] = PUT_ASIDE};
    sqlite3_stmt *statement;
    culex_status status = statement_get(spool, statements[change->fate], &statement, error);
    if (status != CULEX_OK)
        return status;
    int rc = sqlite3_bind_int64(statement, 1, change->number);
    if (rc == SQLITE_OK && change->fate == CULEX_SPOOL_TRIED)
        rc = sqlite3_bind_int64(statement, 2, change->tried_ms);
    if (rc == SQLITE_OK && change->fate == CULEX_SPOOL_ASIDE)
        rc = sqlite3_bind_text(statement, 2, change->text, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    return statement_end(spool, statement, rc, error);
}

culex_status culex__spool_change(struct culex_spool *spool,
                                 const struct culex_spool_change *changes, size_t count,
                                 culex_error *error)
{
    culex_status status = culex__spool_file_change_begin(&spool->file, error);
    if (status == CULEX_OK)
        status = culex__spool_file_use_room(&spool->file, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        if (changes[i].fate != CULEX_SPOOL_KEPT)
            status = change_one(spool, &changes[i], error);
    }
    return culex__spool_file_change_end(&spool->file, status, error);
}

/* *ret_count: of at most `most`. */
static culex_status aside_part(struct culex_spool *spool, enum statement which, int64_t number,
                               int64_t most, uint64_t *ret_count, culex_error *error)
{
    sqlite3_stmt *statement;
    culex_status status = culex__spool_file_change_begin(&spool->file, error);
    if (status == CULEX_OK)
        status = culex__spool_file_use_room(&spool->file, error);
    if (status == CULEX_OK)
        status = statement_get(spool, which, &statement, error);
    if (status == CULEX_OK) {
        int rc = sqlite3_bind_int64(statement, 1, number);
        if (rc == SQLITE_OK)
            rc = sqlite3_bind_int64(statement, 2, most);
        if (rc == SQLITE_OK)
            rc = sqlite3_step(statement);
        *ret_count = (uint64_t)sqlite3_changes(spool->file.sqlite.db);
        status = statement_end(spool, statement, rc, error);
    }
    return culex__spool_file_change_end(&spool->file, status, error);
}

/* In parts, for which the journal has room: where it has not, one by one. */
static culex_status aside_change(struct culex_spool *spool, enum statement which, int64_t number,
                                 uint64_t *ret_count, culex_error *error)
{
    int64_t most = CULEX_SPOOL_BATCH_MAX;
    uint64_t count = 1;
    culex_status status = CULEX_OK;
    *ret_count = 0;
    while (status == CULEX_OK && count > 0) {
        status = aside_part(spool, which, number, most, &count, error);
        if (status == CULEX_EFULL && most > 1) {
            most = 1;
            status = CULEX_OK;
        } else if (status == CULEX_OK)
            *ret_count += count;
    }
    return status;
}

culex_status culex__spool_again(struct culex_spool *spool, int64_t number, uint64_t *ret_count,
                                culex_error *error)
{
    return aside_change(spool, AGAIN, number, ret_count, error);
}

culex_status culex__spool_drop(struct culex_spool *spool, int64_t number, uint64_t *ret_count,
                               culex_error *error)
{
    return aside_change(spool, DROP, number, ret_count, error);
}

/* --- who forwards ------------------------------------------------------------------------ */

culex_status culex__spool_lock(struct culex_spool *spool, bool *ret_is_ours, culex_error *error)
{
    return culex__spool_file_lock(&spool->file, ret_is_ours, error);
}

void culex__spool_unlock(struct culex_spool *spool)
{
    culex__spool_file_unlock(&spool->file);
}
