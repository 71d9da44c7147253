/* store/sqlite/metadata.c - what jobs keep from run to run: METADATA and METADATA_SET. */
#include <assert.h>
#include <string.h>

#include "store/argument.h"
#include "store/metadata_list.h"
#include "store/refusal.h"
#include "store/sqlite/body.h"
#include "store/sqlite/error.h"
#include "store/sqlite/run.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/verb.h"
#include "store/sqlite/verbs.h"

/* --- METADATA ------------------------------------------------------------------------------- */

struct list_request {
    const char *job; /* NULL: all */
    struct culex_metadata_list *list;
};

/* What it points to lives until the statement goes on. */
static struct culex_metadata_row row_read(sqlite3_stmt *found)
{
    return (struct culex_metadata_row){
        .job = (const char *)sqlite3_column_text(found, 0),
        .version = (uint64_t)sqlite3_column_int64(found, 1),
        .set_ms = sqlite3_column_int64(found, 2),
        .bytes = sqlite3_column_blob(found, 3),
        .len = (size_t)sqlite3_column_bytes(found, 3),
    };
}

static culex_status rows_read(struct culex_sqlite *store, sqlite3_stmt *found,
                              struct culex_metadata_list *list, culex_error *error)
{
    culex_status status = CULEX_OK;
    int has = 0;
    while (status == CULEX_OK && (has = culex__sqlite_next(store, found, error)) > 0) {
        struct culex_metadata_row row = row_read(found);
        if (row.job == NULL || !culex__metadata_list_add(list, &row))
            status = culex__sqlite_no_memory(error);
    }
    culex__sqlite_end(found);
    return has < 0 ? (culex_status)has : status;
}

static culex_status list_all(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             void *user, culex_error *error)
{
    const struct list_request *request = user;
    sqlite3_stmt *found = request->job != NULL ? SQL_BIND(store, METADATA_GET, SQL_INT(queue->key),
                                                          SQL_TEXT(request->job))
                                               : SQL_BIND(store, METADATA_LIST, SQL_INT(queue->key),
                                                          SQL_INT(CULEX_STORE_METADATA_MAX));
    return rows_read(store, found, request->list, error);
}

culex_status culex__sqlite_metadata(struct culex_store *base, const char *queue, const char *job,
                                    struct culex_metadata_list *ret_list, culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct culex_metadata_list list = {0};
    struct list_request request = {job, &list};
    culex_status status = culex__sqlite_verb_read(store, queue, CULEX__SQLITE_ABSENT_EMPTY,
                                                  list_all, &request, error);
    list.now_ms = store->now_ms;
    if (status == CULEX_OK)
        *ret_list = list;
    else
        culex__metadata_list_release(&list);
    return status;
}

/* --- METADATA_SET --------------------------------------------------------------------------- */

struct set_request {
    const char *queue;
    const struct culex_metadata_set *set;
};

static culex_status version_find(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                 const char *job, uint64_t *ret_version, culex_error *error)
{
    struct culex_metadata_list list = {0};
    culex_status status = rows_read(
        store, SQL_BIND(store, METADATA_GET, SQL_INT(queue->key), SQL_TEXT(job)), &list, error);
    *ret_version = list.count > 0 ? list.rows[0].version : 0;
    culex__metadata_list_release(&list);
    return status;
}

/* Of an ordinary run, which has had one attempt at the most. */
static culex_status body_is_held(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                 const struct culex_holder *holder, bool *ret_is_held,
                                 culex_error *error)
{
    struct culex_sqlite_stand stand;
    culex_run_state state;
    culex_status status = culex__sqlite_body_state(store, queue, holder->id, &state, error);
    if (status == CULEX_ENOTFOUND)
        return CULEX_OK;
    if (status != CULEX_OK || state != CULEX_RUN_ACTIVE || holder->attempt != 1)
        return status;
    status =
        culex__sqlite_stand_find(store, culex__sqlite_queue_seq(queue, holder->id), &stand, error);
    *ret_is_held = status == CULEX_OK && strcmp(stand.block.session, holder->session) == 0;
    return status;
}

static culex_status holder_check(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                 const struct culex_holder *holder, culex_error *error)
{
    struct culex_sqlite_run run;
    bool is_held = false;
    int64_t seq = culex__sqlite_queue_seq(queue, holder->id);
    culex_status status = culex__sqlite_run_one(
        store, SQL_BIND(store, RUN_FIND, SQL_INT(seq), SQL_ID(&holder->id)), &run, error);
    if (status == CULEX_OK)
        is_held = run.state == CULEX_RUN_ACTIVE && run.attempt == holder->attempt &&
                  strcmp(run.owner, holder->session) == 0;
    else if (status == CULEX_ENOTFOUND)
        status = body_is_held(store, queue, holder, &is_held, error);
    return status == CULEX_OK && !is_held ? culex__refuse_holder(error) : status;
}

static culex_status room_check(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               const struct set_request *request, culex_error *error)
{
    int64_t count = 0;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, METADATA_COUNT, SQL_INT(queue->key), SQL_TEXT(request->set->job)), 0,
        &count, error);
    return status == CULEX_OK && count >= CULEX_STORE_METADATA_MAX
               ? culex__refuse_keeper(request->queue, error)
               : status;
}

static culex_status set_write(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              const struct set_request *request, culex_error *error)
{
    const struct culex_metadata_set *set = request->set;
    if (set->version == 0)
        return culex__sqlite_finish(
            store, SQL_BIND(store, METADATA_DROP, SQL_INT(queue->key), SQL_TEXT(set->job)), error);
    culex_status status = room_check(store, queue, request, error);
    if (status != CULEX_OK)
        return status;
    return culex__sqlite_finish(store,
                                SQL_BIND(store, METADATA_SET, SQL_INT(queue->key),
                                         SQL_TEXT(set->job), SQL_INT((int64_t)set->version),
                                         SQL_INT(store->now_ms),
                                         SQL_BYTES(set->len > 0 ? set->bytes : "", set->len)),
                                error);
}

static culex_status set_all(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                            void *user, culex_error *error)
{
    const struct set_request *request = user;
    const struct culex_metadata_set *set = request->set;
    uint64_t version = 0;
    culex_status status = version_find(store, queue, set->job, &version, error);
    if (status != CULEX_OK || version == set->version)
        return status;
    if (set->holder != NULL)
        status = holder_check(store, queue, set->holder, error);
    if (status == CULEX_OK && set->before != CULEX_METADATA_ANY && set->before != version)
        status = culex__refuse_metadata(set->job, error);
    return status == CULEX_OK ? set_write(store, queue, request, error) : status;
}

culex_status culex__sqlite_metadata_set(struct culex_store *base, const char *queue,
                                        const struct culex_metadata_set *set, culex_error *error)
{
    struct set_request request = {queue, set};
    assert(culex__argument_metadata_set(queue, set, NULL) == CULEX_OK);
    return culex__sqlite_verb_write(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_REFUSED,
                                    set_all, &request, error);
}
