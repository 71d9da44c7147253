/* backend/sqlite_queue.c - the row of a queue: its counters and the two ends of its order. */
#include "backend/sqlite.h"

#include <string.h>

#include "base/error.h"

/* ORDER as in QUEUE_FIND. */
static void queue_read(sqlite3_stmt *statement, struct culex_sqlite_queue *ret_queue)
{
    int64_t *fields[] = {&ret_queue->key,
                         &ret_queue->is_paused,
                         &ret_queue->capacity,
                         &ret_queue->front,
                         &ret_queue->newest_ms,
                         &ret_queue->kept[CULEX_RUN_WAITING],
                         &ret_queue->kept[CULEX_RUN_ACTIVE],
                         &ret_queue->kept[CULEX_RUN_DONE],
                         &ret_queue->kept[CULEX_RUN_DEAD],
                         &ret_queue->kept[CULEX_RUN_CANCELLED],
                         &ret_queue->enqueued,
                         &ret_queue->done,
                         &ret_queue->failed,
                         &ret_queue->crashed,
                         &ret_queue->lost,
                         &ret_queue->dead,
                         &ret_queue->cancelled,
                         &ret_queue->stale};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        *fields[i] = sqlite3_column_int64(statement, (int)i);
}

static culex_status queue_add(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              culex_error *error)
{
    sqlite3_stmt *statement = culex__sqlite_bind(store, CULEX__SQLITE_QUEUE_ADD, "t", queue->name);
    culex_status status = culex__sqlite_finish(store, statement, error);
    queue->key = sqlite3_last_insert_rowid(store->db);
    return status;
}

culex_status culex__sqlite_queue_load(struct culex_sqlite *store, const char *name, bool is_wanted,
                                      struct culex_sqlite_queue *ret_queue, culex_error *error)
{
    memset(ret_queue, 0, sizeof *ret_queue);
    ret_queue->name = name;
    sqlite3_stmt *statement = culex__sqlite_bind(store, CULEX__SQLITE_QUEUE_FIND, "t", name);
    int has = culex__sqlite_next(store, statement, error);
    if (has > 0)
        queue_read(statement, ret_queue);
    culex__sqlite_end(statement);
    if (has == 0 && is_wanted)
        return queue_add(store, ret_queue, error);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

culex_status culex__sqlite_queue_save(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      culex_error *error)
{
    culex_status status = CULEX_OK;
    if (queue->is_changed && queue->key != 0)
        status = culex__sqlite_finish(
            store,
            culex__sqlite_bind(store, CULEX__SQLITE_QUEUE_SAVE, "iiiiiiiiiiiiiiiii", queue->key,
                               queue->is_paused, queue->front, queue->newest_ms,
                               queue->kept[CULEX_RUN_WAITING], queue->kept[CULEX_RUN_ACTIVE],
                               queue->kept[CULEX_RUN_DONE], queue->kept[CULEX_RUN_DEAD],
                               queue->kept[CULEX_RUN_CANCELLED], queue->enqueued, queue->done,
                               queue->failed, queue->crashed, queue->lost, queue->dead,
                               queue->cancelled, queue->stale),
            error);
    if (status == CULEX_OK && queue->has_new_work && !queue->is_paused)
        status = culex__sqlite_wake_aim(store, queue->name, error);
    return status;
}

int64_t culex__sqlite_queue_back(struct culex_sqlite *store, struct culex_sqlite_queue *queue)
{
    if (store->now_ms > queue->newest_ms)
        queue->newest_ms = store->now_ms;
    queue->is_changed = true;
    return queue->newest_ms;
}

int64_t culex__sqlite_queue_front(struct culex_sqlite_queue *queue)
{
    queue->is_changed = true;
    return --queue->front;
}

int64_t culex__sqlite_queue_horizon(const struct culex_sqlite *store,
                                    const struct culex_sqlite_queue *queue)
{
    return store->now_ms > queue->newest_ms ? store->now_ms : queue->newest_ms;
}
