/* store/sqlite/events.c - EVENTS_KEEP and EVENTS: what becomes of runs. */
#include "store/sqlite/events.h"

#include <assert.h>

#include "store/argument.h"
#include "store/event_entry.h"
#include "store/sqlite/error.h"
#include "store/sqlite/event_notes.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/verb.h"
#include "store/sqlite/verbs.h"

/* --- EVENTS_KEEP ----------------------------------------------------------------------------- */

/* From some to none takes a position: who was behind the newest finds that there was a time
 * without. */
static culex_status keep(struct culex_sqlite *store, struct culex_sqlite_queue *queue, void *user,
                         culex_error *error)
{
    const uint64_t *most = user;
    if (!culex__sqlite_events_are_good(queue))
        return culex__sqlite_bad_row(store, error);
    if (*most == 0 && queue->events_kept > 0)
        queue->events_last++;
    queue->events_kept = (int64_t)*most;
    queue->is_changed = true;
    if (*most > 0)
        return CULEX_OK;
    queue->events_len = 0;
    return culex__sqlite_finish(store,
                                SQL_BIND(store, EVENTS_DROP,
                                         SQL_INT(culex__sqlite_queue_first(queue)),
                                         SQL_INT(culex__sqlite_queue_last(queue))),
                                error);
}

culex_status culex__sqlite_events_keep(struct culex_store *base, const char *queue, uint64_t most,
                                       culex_error *error)
{
    assert(culex__argument_events_keep(queue, most, NULL) == CULEX_OK);
    return culex__sqlite_verb_write(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_REFUSED,
                                    keep, &most, error);
}

/* --- EVENTS ---------------------------------------------------------------------------------- */

struct page {
    uint64_t after;
    size_t most;
    struct culex_event_list list;
};

/* The rows behind the list's position, until the page is full: *ret_is_over when no row is left. */
static culex_status rows_read(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              struct page *page, bool *ret_is_over, culex_error *error)
{
    struct culex_event_list *list = &page->list;
    size_t bytes = 0;
    culex_status status = CULEX_OK;
    int has = 0;
    sqlite3_stmt *row =
        SQL_BIND(store, EVENT_PAGE, SQL_INT(culex__sqlite_event_key(queue, list->position)),
                 SQL_INT(culex__sqlite_event_key(queue, (uint64_t)queue->events_last)));
    while (status == CULEX_OK && list->count < page->most && bytes < CULEX_STORE_EVENTS_BYTES &&
           (has = culex__sqlite_next(store, row, error)) > 0) {
        const char *entries = sqlite3_column_blob(row, 1);
        size_t len = (size_t)sqlite3_column_bytes(row, 1);
        bytes += len;
        if (!culex__event_entries_add(
                list, entries != NULL ? entries : "", len,
                culex__sqlite_event_position(queue, sqlite3_column_int64(row, 0)), page->most))
            status = culex__sqlite_no_memory(error);
    }
    culex__sqlite_end(row);
    *ret_is_over = bytes < CULEX_STORE_EVENTS_BYTES && has == 0;
    return has < 0 ? (culex_status)has : status;
}

/* Behind all rows are those in the queue's own. */
static culex_status page_read(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              void *user, culex_error *error)
{
    struct page *page = user;
    uint64_t last = (uint64_t)queue->events_last;
    bool is_over = false;
    if (!culex__sqlite_events_are_good(queue))
        return culex__sqlite_bad_row(store, error);
    culex__event_page_begin(&page->list, page->after, (uint64_t)queue->events_kept, last);
    culex_status status =
        queue->key != 0 ? rows_read(store, queue, page, &is_over, error) : CULEX_OK;
    if (status != CULEX_OK || !is_over)
        return status;
    if (queue->events_len > 0 &&
        !culex__event_entries_add(&page->list, queue->events, queue->events_len, last, page->most))
        return culex__sqlite_no_memory(error);
    culex__event_page_end(&page->list, page->most, last);
    return CULEX_OK;
}

culex_status culex__sqlite_events(struct culex_store *base, const char *queue, uint64_t after,
                                  size_t most, struct culex_event_list *ret_list,
                                  culex_error *error)
{
    struct page page = {.after = after, .most = most};
    assert(culex__argument_events(queue, after, most, NULL) == CULEX_OK);
    culex_status status = culex__sqlite_verb_read(
        culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_EMPTY, page_read, &page, error);
    if (status == CULEX_OK)
        *ret_list = page.list;
    else
        culex__event_list_release(&page.list);
    return status;
}

/* --- FSCK ------------------------------------------------------------------------------------ */

/* Those of the queue's row, and that no row is beyond the newest position. */
static culex_status queue_check(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                bool is_repairing, uint64_t *wrong, culex_error *error)
{
    int64_t newest;
    culex_status status = culex__sqlite_first_int(
        store,
        SQL_BIND(store, FSCK_EVENT_LAST, SQL_INT(culex__sqlite_queue_first(queue)),
                 SQL_INT(culex__sqlite_queue_last(queue))),
        0, &newest, error);
    bool is_behind = !culex__sqlite_events_are_good(queue) ||
                     newest > culex__sqlite_event_key(queue, (uint64_t)queue->events_last);
    bool is_bad =
        queue->events_len > 0 && !culex__event_entries_are_good(queue->events, queue->events_len,
                                                                (uint64_t)queue->events_last);
    if (status != CULEX_OK || !(is_behind || is_bad))
        return status;
    ++*wrong;
    if (!is_repairing)
        return CULEX_OK;
    queue->events_len = 0;
    if (is_behind)
        queue->events_last = newest > 0 ? (int64_t)culex__sqlite_event_position(queue, newest) : 0;
    queue->is_changed = true;
    return CULEX_OK;
}

static culex_status rows_check(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               bool is_repairing, uint64_t *wrong, culex_error *error)
{
    enum { BAD_MAX = 64 };
    int64_t bad[BAD_MAX];
    size_t count = 0;
    int has = 0;
    culex_status status = CULEX_OK;
    sqlite3_stmt *row = SQL_BIND(store, EVENT_PAGE, SQL_INT(culex__sqlite_queue_first(queue)),
                                 SQL_INT(culex__sqlite_queue_last(queue)));
    while (count < BAD_MAX && (has = culex__sqlite_next(store, row, error)) > 0) {
        const char *entries = sqlite3_column_blob(row, 1);
        int64_t key = sqlite3_column_int64(row, 0);
        if (!culex__event_entries_are_good(entries != NULL ? entries : "",
                                           (size_t)sqlite3_column_bytes(row, 1),
                                           culex__sqlite_event_position(queue, key)))
            bad[count++] = key;
    }
    culex__sqlite_end(row);
    *wrong += count;
    for (size_t i = 0; i < count && is_repairing && status == CULEX_OK; i++)
        status = culex__sqlite_finish(store, SQL_BIND(store, EVENT_DROP, SQL_INT(bad[i])), error);
    return has < 0 ? (culex_status)has : status;
}

culex_status culex__sqlite_events_check(struct culex_sqlite *store,
                                        struct culex_sqlite_queue *queue, bool is_repairing,
                                        uint64_t *wrong, culex_error *error)
{
    culex_status status = rows_check(store, queue, is_repairing, wrong, error);
    return status == CULEX_OK ? queue_check(store, queue, is_repairing, wrong, error) : status;
}
