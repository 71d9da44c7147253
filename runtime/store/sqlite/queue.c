#include "store/sqlite/queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/columns.h"
#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "base/error.h"
#include "core/run_id.h"

/* --- rows ------------------------------------------------------------------------------------- */

/* What the rear counts is in the members that it belongs to. */
static void queue_count(struct culex_sqlite_queue *queue, int64_t arrived)
{
    queue->kept[CULEX_RUN_WAITING] += arrived;
    queue->enqueued += arrived;
}

/* Without those of a damaged row its followers miss some. */
static void events_read(sqlite3_stmt *statement, int column, struct culex_sqlite_queue *ret_queue)
{
    const void *bytes = sqlite3_column_blob(statement, column);
    size_t len = (size_t)sqlite3_column_bytes(statement, column);
    if (bytes == NULL || len > sizeof ret_queue->events)
        return;
    memcpy(ret_queue->events, bytes, len);
    ret_queue->events_len = len;
}

static void rear_read(sqlite3_stmt *statement, int column, struct culex_sqlite_queue *ret_queue)
{
    struct culex_sqlite_rear rear = {
        .arrived = sqlite3_column_int64(statement, column),
        .newest_ms = sqlite3_column_int64(statement, column + 1),
        .number = sqlite3_column_int64(statement, column + 2),
    };
    bool is_there = sqlite3_column_type(statement, column + 3) == SQLITE_BLOB;
    const void *bytes = sqlite3_column_blob(statement, column + 3);
    size_t len = (size_t)sqlite3_column_bytes(statement, column + 3);
    ret_queue->is_rear_lost = !is_there || !culex__sqlite_rear_read(bytes, len, &rear);
    if (!ret_queue->is_rear_lost)
        ret_queue->rear = ret_queue->saved_rear = rear;
}

static void queue_read(sqlite3_stmt *statement, struct culex_sqlite_queue *ret_queue)
{
    int column = 0;
    ret_queue->key = sqlite3_column_int64(statement, column++);
#define READ(name, member) ret_queue->member = sqlite3_column_int64(statement, column++);
    CULEX__SQLITE_QUEUE_COLUMNS(READ, READ)
#undef READ
    events_read(statement, column++, ret_queue);
    rear_read(statement, column, ret_queue);
    queue_count(ret_queue, ret_queue->rear.arrived);
}

static culex_status rear_write(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               culex_error *error)
{
    const struct culex_sqlite_rear *rear = &queue->rear;
    unsigned char bytes[CULEX__SQLITE_LAST_BYTES * CULEX__SQLITE_LASTS_MAX];
    size_t len = culex__sqlite_rear_write(rear, bytes);
    return culex__sqlite_finish(store,
                                SQL_BIND(store, REAR_SET, SQL_INT(culex__sqlite_queue_rear(queue)),
                                         SQL_INT(rear->arrived), SQL_INT(rear->newest_ms),
                                         SQL_INT(rear->number), SQL_BYTES(bytes, len)),
                                error);
}

/* A rear that damage took away: no number that a run has may be given again. What it counted, FSCK
 * finds out. */
static culex_status rear_restore(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                 culex_error *error)
{
    return culex__sqlite_first_int(store,
                                   SQL_BIND(store, REAR_NUMBER,
                                            SQL_INT(culex__sqlite_queue_first(queue)),
                                            SQL_INT(culex__sqlite_queue_last(queue))),
                                   0, &queue->rear.number, error);
}

static culex_status queue_write(struct culex_sqlite *store, const struct culex_sqlite_queue *whole,
                                culex_error *error)
{
    struct culex_sqlite_queue row = *whole, *queue = &row;
    queue_count(queue, -queue->rear.arrived);
#define VALUE(name, member) SQL_INT(queue->member),
    sqlite3_stmt *statement = SQL_BIND(store, QUEUE_SAVE,
                                       CULEX__SQLITE_QUEUE_COLUMNS(VALUE, VALUE)
                                           SQL_BYTES(queue->events, queue->events_len),
                                       SQL_INT(queue->key));
#undef VALUE
    return culex__sqlite_finish(store, statement, error);
}

/* The queue stands in the keys of its runs, which have room for so many. */
static culex_status room_check(struct culex_sqlite *store, culex_error *error)
{
    int64_t last;
    culex_status status = culex__sqlite_first_int(
        store, culex__sqlite_bind(store, CULEX__SQLITE_QUEUE_LAST, NULL, 0), 0, &last, error);
    if (status != CULEX_OK || last < CULEX__SQLITE_QUEUES_MAX)
        return status;
    return culex__fail(error, CULEX_EUNSUPPORTED, "%s has %d queues, and no room for another one",
                       store->path, CULEX__SQLITE_QUEUES_MAX);
}

static culex_status queue_add(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              culex_error *error)
{
    culex_status status = room_check(store, error);
    if (status != CULEX_OK)
        return status;
    queue->sweep = 1;
    queue->kinds_left = CULEX__SQLITE_KINDS_MIN;
    queue->salt = (int64_t)(culex__env_random(store->base.env) & CULEX_RUN_SALT_MAX);
    sqlite3_stmt *statement =
        SQL_BIND(store, QUEUE_ADD, SQL_TEXT(queue->name), SQL_INT(queue->salt));
    status = culex__sqlite_finish(store, statement, error);
    queue->key = sqlite3_last_insert_rowid(store->db);
    return status == CULEX_OK ? rear_write(store, queue, error) : status;
}

/* --- the row kept from transaction to transaction --------------------------------------------- */

/* Changes with every write of this connection, and when another one's is noticed. */
static uint32_t data_version(struct culex_sqlite *store)
{
    unsigned version = 0;
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
    return version;
}

/* Only under the write lock: a reader's snapshot begins with its first statement, so another
 * connection may write between this look and that. */
void culex__sqlite_queue_begin(struct culex_sqlite *store)
{
    struct culex_sqlite_recent *recent = &store->recent;
    recent->is_saved = false;
    recent->is_current = store->is_writing && !store->is_memory && recent->name != NULL &&
                         data_version(store) == recent->version;
}

void culex__sqlite_queue_end(struct culex_sqlite *store, bool is_committed)
{
    struct culex_sqlite_recent *recent = &store->recent;
    recent->is_current = false;
    if (!store->is_writing)
        return;
    if (is_committed && recent->is_saved) {
        recent->version = data_version(store);
        return;
    }
    free(recent->name);
    recent->name = NULL;
    store->recent_kind.key = 0; /* it may have been made, or seen, in vain */
}

static bool is_recent(const struct culex_sqlite_recent *recent, const char *name)
{
    return recent->is_current && recent->name != NULL && strcmp(recent->name, name) == 0;
}

/* Without memory for the name the row is just read again. */
static void recent_keep(struct culex_sqlite_recent *recent, const struct culex_sqlite_queue *queue)
{
    if (!is_recent(recent, queue->name)) {
        free(recent->name);
        recent->name = strdup(queue->name);
        recent->has_targets = false;
    }
    recent->queue = *queue;
    recent->is_saved = recent->is_current = recent->name != NULL;
}

/* --- loading and saving ---------------------------------------------------------------- */

static void recent_load(const struct culex_sqlite_recent *recent, const char *name,
                        struct culex_sqlite_queue *ret_queue)
{
    *ret_queue = recent->queue;
    ret_queue->name = name;
    ret_queue->is_changed = ret_queue->has_new_work = ret_queue->has_news = false;
}

culex_status culex__sqlite_queue_load(struct culex_sqlite *store, const char *name, bool is_wanted,
                                      struct culex_sqlite_queue *ret_queue, culex_error *error)
{
    assert(!sqlite3_get_autocommit(store->db)); /* a row is true within a transaction only */
    if (store->schema != NULL)
        store->recent_kind.key = 0; /* a part of it may have been undone */
    if (is_recent(&store->recent, name)) {
        recent_load(&store->recent, name, ret_queue);
        return CULEX_OK;
    }
    memset(ret_queue, 0, sizeof *ret_queue);
    ret_queue->name = name;
    sqlite3_stmt *statement = SQL_BIND(store, QUEUE_FIND, SQL_TEXT(name));
    int has = culex__sqlite_next(store, statement, error);
    if (has > 0)
        queue_read(statement, ret_queue);
    culex__sqlite_end(statement);
    if (has > 0 && ret_queue->is_rear_lost)
        return rear_restore(store, ret_queue, error);
    if (has == 0 && is_wanted)
        return queue_add(store, ret_queue, error);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

static culex_status rear_save(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              culex_error *error)
{
    if (!queue->is_rear_lost && culex__sqlite_rear_is_same(&queue->rear, &queue->saved_rear))
        return CULEX_OK;
    culex_status status = rear_write(store, queue, error);
    queue->saved_rear = queue->rear;
    queue->is_rear_lost = false;
    return status;
}

culex_status culex__sqlite_queue_save(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      culex_error *error)
{
    culex_status status = CULEX_OK;
    assert(store->is_writing || store->schema != NULL); /* or in somebody else's transaction */
    if (queue->is_changed && queue->key != 0)
        status = queue_write(store, queue, error);
    if (status == CULEX_OK && queue->key != 0)
        status = rear_save(store, queue, error);
    /* What becomes of somebody else's transaction, or of a part of it, is not seen here. */
    if (status == CULEX_OK && queue->key != 0 && store->schema == NULL)
        recent_keep(&store->recent, queue);
    return status;
}

bool culex__sqlite_queue_is_paused(const struct culex_sqlite *store,
                                   const struct culex_sqlite_queue *queue)
{
    return queue->paused_until_ms > store->now_ms;
}

int64_t culex__sqlite_queue_resumes_ms(const struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue)
{
    return culex__sqlite_queue_is_paused(store, queue) ? queue->paused_until_ms : INT64_MAX;
}

int64_t culex__sqlite_queue_back(struct culex_sqlite *store, struct culex_sqlite_queue *queue)
{
    if (store->now_ms > queue->rear.newest_ms)
        queue->rear.newest_ms = store->now_ms;
    return queue->rear.newest_ms;
}

int64_t culex__sqlite_queue_front(struct culex_sqlite_queue *queue)
{
    queue->is_changed = true;
    return --queue->front;
}

bool culex__sqlite_queue_id_at(const struct culex_sqlite_queue *queue, int64_t ms, int lane,
                               int64_t number, culex_uuid *ret_id)
{
    if (queue->salt < 0 || queue->salt > CULEX_RUN_SALT_MAX || number < 1 ||
        number > (int64_t)CULEX_RUN_NUMBER_MAX)
        return false;
    *ret_id = culex__run_id_make((struct culex_run_id_parts){
        .ms = ms > 0 ? ms & ((INT64_C(1) << 48) - 1) : 0,
        .salt = (uint32_t)queue->salt,
        .lane = (uint32_t)lane,
        .number = (uint64_t)number,
    });
    return true;
}

int64_t culex__sqlite_queue_seq(const struct culex_sqlite_queue *queue, culex_uuid id)
{
    struct culex_run_id_parts parts;
    if (!culex__run_id_read(id, &parts))
        return 0;
    int64_t seq = culex__sqlite_queue_lane(queue, parts.lane) | (int64_t)parts.number;
    return seq <= culex__sqlite_queue_last(queue) ? seq : 0;
}

bool culex__sqlite_queue_id_of(const struct culex_sqlite_queue *queue, int64_t seq, int64_t ms,
                               culex_uuid *ret_id)
{
    int lane = (int)(seq >> CULEX__SQLITE_LANE_SHIFT & CULEX_RUN_LANE_MAX);
    return culex__sqlite_queue_id_at(queue, ms, lane, seq & (int64_t)CULEX_RUN_NUMBER_MAX, ret_id);
}

culex_status culex__sqlite_queue_id(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                    int priority, culex_uuid *ret_id, culex_error *error)
{
    /* Counted without a sign: in a damaged row it may be any number. */
    int64_t number = (int64_t)((uint64_t)queue->rear.number + 1);
    if (!culex__sqlite_queue_id_at(queue, store->now_ms, priority, number, ret_id))
        return culex__sqlite_bad_row(store, error);
    queue->rear.number = number;
    return CULEX_OK;
}

void culex__sqlite_queue_arrive(struct culex_sqlite_queue *queue)
{
    queue->rear.arrived++;
    queue_count(queue, 1);
    queue->has_new_work = true;
}

int64_t culex__sqlite_queue_horizon(const struct culex_sqlite *store,
                                    const struct culex_sqlite_queue *queue)
{
    return store->now_ms > queue->rear.newest_ms ? store->now_ms : queue->rear.newest_ms;
}
