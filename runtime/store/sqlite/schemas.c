/* store/sqlite/schemas.c - the texts of schemas: SCHEMA_PUBLISH, SCHEMAS, SCHEMA_TEXT, and which
 * of them go: SCHEMA_SWEEP and SCHEMA_DROP. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "store/argument.h"
#include "store/refusal.h"
#include "store/schema_list.h"
#include "store/sqlite/error.h"
#include "store/sqlite/schemas.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/verb.h"
#include "store/sqlite/verbs.h"

/* A schema's place in the table. */
#define PLACE(queue, id)                                                                           \
    SQL_INT((queue)->key), SQL_TEXT((id)->job), SQL_INT((int64_t)(id)->fingerprint),               \
        SQL_INT((int64_t)(id)->digest)

/* --- SCHEMA_PUBLISH ----------------------------------------------------------------------------
 */

/* What is there under the place of a schema that somebody tells. */
struct standing {
    bool is_there;
    bool is_told; /* a short time ago, and no other one of the job since */
};

static bool was_told_lately(int64_t told_ms, int64_t now_ms)
{
    return told_ms > now_ms - CULEX_SCHEMA_TOLD_GAP_MS &&
           told_ms < now_ms + CULEX_SCHEMA_TOLD_GAP_MS;
}

static culex_status standing_find(struct culex_sqlite *store,
                                  const struct culex_sqlite_queue *queue,
                                  const struct culex_schema_id *id, struct standing *ret_standing,
                                  culex_error *error)
{
    *ret_standing = (struct standing){false, false};
    sqlite3_stmt *row = SQL_BIND(store, SCHEMA_GET, PLACE(queue, id));
    int has = culex__sqlite_next(store, row, error);
    if (has > 0) {
        ret_standing->is_there = true;
        ret_standing->is_told = sqlite3_column_int(row, 1) == 0 &&
                                was_told_lately(sqlite3_column_int64(row, 0), store->now_ms);
    }
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

/* Drops the one that was told first, if nobody has its job any more. */
static culex_status oldest_drop(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                culex_error *error)
{
    char job[CULEX_JOB_NAME_MAX + 1] = "";
    struct culex_schema_id id = {.job = job};
    sqlite3_stmt *row = SQL_BIND(store, SCHEMA_OLDEST, SQL_INT(queue->key),
                                 SQL_INT(store->now_ms - CULEX_SCHEMA_STALE_MS));
    int has = culex__sqlite_next(store, row, error);
    if (has > 0) {
        const char *name = (const char *)sqlite3_column_text(row, 0);
        if (name != NULL)
            snprintf(job, sizeof job, "%s", name);
        id.fingerprint = (uint64_t)sqlite3_column_int64(row, 1);
        id.digest = (uint64_t)sqlite3_column_int64(row, 2);
    }
    culex__sqlite_end(row);
    if (has < 0)
        return (culex_status)has;
    if (has == 0)
        return culex__refuse_schemas(queue->name, error);
    return culex__sqlite_finish(store, SQL_BIND(store, SCHEMA_DROP, PLACE(queue, &id)), error);
}

static culex_status room_make(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              culex_error *error)
{
    int64_t count = 0;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, SCHEMA_COUNT, SQL_INT(queue->key)), 0, &count, error);
    return status == CULEX_OK && count >= CULEX_STORE_SCHEMAS_MAX ? oldest_drop(store, queue, error)
                                                                  : status;
}

static culex_status schema_put(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               void *user, culex_error *error)
{
    const struct culex_schema_text *schema = user;
    struct standing standing;
    culex_status status = standing_find(store, queue, &schema->id, &standing, error);
    if (status != CULEX_OK || standing.is_told)
        return status;
    if (!standing.is_there)
        status = room_make(store, queue, error);
    if (status != CULEX_OK)
        return status;
    return culex__sqlite_finish(store,
                                SQL_BIND(store, SCHEMA_PUT, PLACE(queue, &schema->id),
                                         SQL_INT(store->now_ms),
                                         SQL_BYTES(schema->text, schema->len)),
                                error);
}

struct look {
    const struct culex_schema_text *schema;
    struct standing standing;
};

static culex_status schema_look(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                void *user, culex_error *error)
{
    struct look *look = user;
    return standing_find(store, queue, &look->schema->id, &look->standing, error);
}

/* Looks first, so that who tells what is known never waits for others who write. */
culex_status culex__sqlite_schema_publish(struct culex_store *base, const char *queue,
                                          const struct culex_schema_text *schema,
                                          culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct look look = {.schema = schema};
    assert(culex__argument_schema_publish(queue, schema, NULL) == CULEX_OK);
    culex_status status = culex__sqlite_verb_read(store, queue, CULEX__SQLITE_ABSENT_REFUSED,
                                                  schema_look, &look, error);
    if (status != CULEX_OK || look.standing.is_told)
        return status;
    return culex__sqlite_verb_write(store, queue, CULEX__SQLITE_ABSENT_REFUSED, schema_put,
                                    (void *)schema, error);
}

/* --- SCHEMAS -----------------------------------------------------------------------------------
 */

static culex_status rows_read(struct culex_sqlite *store, sqlite3_stmt *found,
                              struct culex_schema_list *list, culex_error *error)
{
    culex_status status = CULEX_OK;
    int has = 0;
    while (status == CULEX_OK && (has = culex__sqlite_next(store, found, error)) > 0) {
        const struct culex_schema_row row = {
            .id = {.job = (const char *)sqlite3_column_text(found, 0),
                   .fingerprint = (uint64_t)sqlite3_column_int64(found, 1),
                   .digest = (uint64_t)sqlite3_column_int64(found, 2)},
            .told_ms = sqlite3_column_int64(found, 3),
            .len = (size_t)sqlite3_column_int64(found, 4),
        };
        if (row.id.job == NULL || !culex__schema_list_add(list, &row))
            status = culex__sqlite_no_memory(error);
    }
    culex__sqlite_end(found);
    return has < 0 ? (culex_status)has : status;
}

static culex_status list_all(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             void *user, culex_error *error)
{
    return rows_read(
        store, SQL_BIND(store, SCHEMA_LIST, SQL_INT(queue->key), SQL_INT(CULEX_STORE_SCHEMAS_MAX)),
        user, error);
}

culex_status culex__sqlite_schemas(struct culex_store *base, const char *queue,
                                   struct culex_schema_list *ret_list, culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct culex_schema_list list = {0};
    culex_status status =
        culex__sqlite_verb_read(store, queue, CULEX__SQLITE_ABSENT_EMPTY, list_all, &list, error);
    list.now_ms = store->now_ms;
    culex__schema_list_sort(&list);
    if (status == CULEX_OK)
        *ret_list = list;
    else
        culex__schema_list_release(&list);
    return status;
}

/* --- SCHEMA_TEXT -------------------------------------------------------------------------------
 */

struct text_request {
    const struct culex_schema_id *id;
    culex_buf *text;
};

static culex_status text_find(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              void *user, culex_error *error)
{
    const struct text_request *request = user;
    sqlite3_stmt *row = SQL_BIND(store, SCHEMA_NEWEST, PLACE(queue, request->id));
    int has = culex__sqlite_next(store, row, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    if (has == 0)
        status = culex__refuse_schema(queue->name, request->id, error);
    else if (has > 0 && culex__buf_append(request->text, sqlite3_column_blob(row, 0),
                                          (size_t)sqlite3_column_bytes(row, 0)) != CULEX_OK)
        status = culex__sqlite_no_memory(error);
    culex__sqlite_end(row);
    return status;
}

culex_status culex__sqlite_schema_text(struct culex_store *base, const char *queue,
                                       const struct culex_schema_id *id, culex_buf *ret_text,
                                       culex_error *error)
{
    struct text_request request = {id, ret_text};
    return culex__sqlite_verb_read(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_EMPTY,
                                   text_find, &request, error);
}

/* --- SCHEMA_SWEEP and SCHEMA_DROP --------------------------------------------------------------
 */

struct sweep {
    struct culex_schema_list list;
    uint64_t arrivals;
};

static culex_status stale_read(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               void *user, culex_error *error)
{
    struct sweep *sweep = user;
    int64_t now_ms = store->now_ms;
    culex__schema_list_release(&sweep->list);
    sweep->arrivals = (uint64_t)queue->rear.number;
    return rows_read(store,
                     SQL_BIND(store, SCHEMA_STALE, SQL_INT(queue->key),
                              SQL_INT(now_ms - CULEX_SCHEMA_STALE_MS),
                              SQL_INT(now_ms - CULEX_SCHEMA_LOOK_GAP_MS), SQL_INT(now_ms),
                              SQL_INT(CULEX_SCHEMA_LOOK_MAX)),
                     &sweep->list, error);
}

static culex_status stale_take(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               void *user, culex_error *error)
{
    struct sweep *sweep = user;
    culex_status status = stale_read(store, queue, sweep, error);
    for (size_t i = 0; i < sweep->list.count && status == CULEX_OK; i++) {
        const struct culex_schema_id *id = &sweep->list.rows[i].id;
        status = culex__sqlite_schema_look(store, queue, id, store->now_ms, error);
    }
    return status;
}

culex_status culex__sqlite_schema_look(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue,
                                       const struct culex_schema_id *id, int64_t looked_ms,
                                       culex_error *error)
{
    return culex__sqlite_finish(
        store, SQL_BIND(store, SCHEMA_LOOK, PLACE(queue, id), SQL_INT(looked_ms)), error);
}

/* Looks first, so that who finds none never waits for others who write. */
culex_status culex__sqlite_schema_sweep(struct culex_store *base, const char *queue,
                                        struct culex_schema_list *ret_list, uint64_t *ret_arrivals,
                                        culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct sweep sweep = {.list = {0}};
    culex_status status = culex__sqlite_verb_read(store, queue, CULEX__SQLITE_ABSENT_REFUSED,
                                                  stale_read, &sweep, error);
    if (status == CULEX_OK && sweep.list.count > 0)
        status = culex__sqlite_verb_write(store, queue, CULEX__SQLITE_ABSENT_REFUSED, stale_take,
                                          &sweep, error);
    if (status != CULEX_OK) {
        culex__schema_list_release(&sweep.list);
        return status;
    }
    sweep.list.now_ms = store->now_ms;
    culex__schema_list_sort(&sweep.list);
    *ret_list = sweep.list;
    *ret_arrivals = sweep.arrivals;
    return CULEX_OK;
}

static culex_status drop_try(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             void *user, culex_error *error)
{
    const struct culex_schema_drop *drop = user;
    int64_t count = 0;
    culex_status status = culex__sqlite_first_int(
        store,
        SQL_BIND(store, SCHEMA_IS_LOOKED, PLACE(queue, &drop->id), SQL_INT(drop->looked_ms),
                 SQL_INT(drop->looked_ms - CULEX_SCHEMA_STALE_MS)),
        0, &count, error);
    if (status != CULEX_OK || count == 0 || drop->arrivals != (uint64_t)queue->rear.number)
        return status;
    return culex__sqlite_finish(store, SQL_BIND(store, SCHEMA_DROP, PLACE(queue, &drop->id)),
                                error);
}

culex_status culex__sqlite_schema_drop(struct culex_store *base, const char *queue,
                                       const struct culex_schema_drop *drop, culex_error *error)
{
    return culex__sqlite_verb_write(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_REFUSED,
                                    drop_try, (void *)drop, error);
}
