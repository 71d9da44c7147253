/* store/sqlite/figures.c - FIGURES_ADD and FIGURES: what workers count of runs. */
#include "store/sqlite/figures.h"

#include <assert.h>

#include "core/figures.h"
#include "store/argument.h"
#include "store/figure_list.h"
#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/verb.h"
#include "store/sqlite/verbs.h"

static const char *text_at(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text != NULL ? text : "";
}

/* --- FIGURES_ADD ---------------------------------------------------------------------------- */

struct add_request {
    const char *session;
    uint64_t number;
    const struct culex_figure_row *rows;
    size_t count;
};

/* What the row says; nothing when it is not there or cannot be read. */
static culex_status row_read(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                             int64_t hour, const char *job, struct culex_figure *ret_figure,
                             bool *ret_is_there, culex_error *error)
{
    sqlite3_stmt *row =
        SQL_BIND(store, FIGURE_FIND, SQL_INT(queue->key), SQL_INT(hour), SQL_TEXT(job));
    int has = culex__sqlite_next(store, row, error);
    *ret_is_there = has > 0;
    if (has <= 0 || !culex__figure_read(text_at(row, 0), ret_figure))
        *ret_figure = (struct culex_figure){.counts = {0}};
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

/* Where the row of `job` goes that is not there yet. */
static culex_status job_place(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              const char **job, culex_error *error)
{
    int64_t count;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, FIGURE_ROWS, SQL_INT(queue->key)), 0, &count, error);
    if (status == CULEX_OK && count >= CULEX_FIGURES_ROWS_MAX)
        *job = "";
    return status;
}

static culex_status row_add(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                            const struct culex_figure_row *row, culex_error *error)
{
    int64_t hour = store->now_ms / CULEX_HOUR_MS;
    const char *job = row->job;
    struct culex_figure sum, more;
    char text[CULEX_FIGURE_TEXT_SIZE];
    bool is_there;
    culex_status status = row_read(store, queue, hour, job, &sum, &is_there, error);
    if (status == CULEX_OK && !is_there)
        status = job_place(store, queue, &job, error);
    if (status == CULEX_OK && job != row->job)
        status = row_read(store, queue, hour, job, &sum, &is_there, error);
    if (status != CULEX_OK)
        return status;
    if (culex__figure_read(row->text, &more))
        culex__figure_add(&sum, &more);
    culex__figure_write(&sum, text);
    return culex__sqlite_finish(store,
                                SQL_BIND(store, FIGURE_SET, SQL_INT(queue->key), SQL_INT(hour),
                                         SQL_TEXT(job), SQL_TEXT(text)),
                                error);
}

static culex_status forget(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                           culex_error *error)
{
    int64_t now = store->now_ms / CULEX_HOUR_MS;
    culex_status status =
        culex__sqlite_finish(store,
                             SQL_BIND(store, FIGURES_FORGET_OLD, SQL_INT(queue->key),
                                      SQL_INT(now - CULEX_FIGURES_HOURS)),
                             error);
    if (status == CULEX_OK)
        status = culex__sqlite_finish(store,
                                      SQL_BIND(store, FIGURES_FORGET_AHEAD, SQL_INT(queue->key),
                                               SQL_INT(now + CULEX_FIGURES_HOURS)),
                                      error);
    if (status != CULEX_OK)
        return status;
    return culex__sqlite_finish(store,
                                SQL_BIND(store, FIGURE_CALLS_FORGET, SQL_INT(queue->key),
                                         SQL_INT(store->now_ms - CULEX_FIGURES_REPEAT_MS),
                                         SQL_INT(store->now_ms + CULEX_FIGURES_REPEAT_MS)),
                                error);
}

static culex_status figures_add(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                void *user, culex_error *error)
{
    const struct add_request *request = user;
    int64_t last;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, FIGURE_CALL, SQL_INT(queue->key), SQL_TEXT(request->session)), 0,
        &last, error);
    if (status != CULEX_OK || (int64_t)request->number <= last)
        return status;
    status = forget(store, queue, error);
    for (size_t i = 0; i < request->count && status == CULEX_OK; i++)
        status = row_add(store, queue, &request->rows[i], error);
    if (status != CULEX_OK)
        return status;
    return culex__sqlite_finish(store,
                                SQL_BIND(store, FIGURE_CALL_SET, SQL_INT(queue->key),
                                         SQL_TEXT(request->session),
                                         SQL_INT((int64_t)request->number), SQL_INT(store->now_ms)),
                                error);
}

culex_status culex__sqlite_figures_add(struct culex_store *base, const char *queue,
                                       const char *session, uint64_t number,
                                       const struct culex_figure_row *rows, size_t count,
                                       culex_error *error)
{
    struct add_request request = {session, number, rows, count};
    assert(culex__argument_figures_add(queue, session, number, rows, count, NULL) == CULEX_OK);
    return culex__sqlite_verb_write(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_REFUSED,
                                    figures_add, &request, error);
}

/* --- FIGURES -------------------------------------------------------------------------------- */

struct page_request {
    const char *job;
    unsigned hours;
    const struct culex_figure_row *after;
    size_t most;
    struct culex_figure_list list;
};

static bool page_add(struct page_request *request, sqlite3_stmt *row)
{
    const struct culex_figure_row figures = {sqlite3_column_int64(row, 0), text_at(row, 1),
                                             text_at(row, 2)};
    request->list.is_more = request->list.count == request->most;
    return request->list.is_more || culex__figure_list_add(&request->list, &figures);
}

static culex_status page_read(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              void *user, culex_error *error)
{
    struct page_request *request = user;
    int64_t now = store->now_ms / CULEX_HOUR_MS, before = now - (int64_t)request->hours;
    bool goes_on = request->after != NULL && request->after->hour > before;
    /* All jobs of an hour come before those behind a text that no job has. */
    sqlite3_stmt *row = SQL_BIND(store, FIGURE_PAGE, SQL_INT(queue->key),
                                 SQL_INT(goes_on ? request->after->hour : before),
                                 SQL_TEXT(goes_on ? request->after->job : "\xff"), SQL_INT(now),
                                 SQL_TEXT(request->job), SQL_INT((int64_t)request->most + 1));
    culex_status status = CULEX_OK;
    int has = 0;
    request->list.now_ms = store->now_ms;
    while (status == CULEX_OK && (has = culex__sqlite_next(store, row, error)) > 0) {
        if (!page_add(request, row))
            status = culex__sqlite_no_memory(error);
    }
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : status;
}

culex_status culex__sqlite_figures(struct culex_store *base, const char *queue, const char *job,
                                   unsigned hours, const struct culex_figure_row *after,
                                   size_t most, struct culex_figure_list *ret_list,
                                   culex_error *error)
{
    struct page_request request = {job, hours, after, most, {.rows = NULL}};
    assert(culex__argument_figures(queue, job, hours, after, most, NULL) == CULEX_OK);
    culex_status status = culex__sqlite_verb_read(
        culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_EMPTY, page_read, &request, error);
    if (status == CULEX_OK)
        *ret_list = request.list;
    else
        culex__figure_list_release(&request.list);
    return status;
}

/* --- FSCK ----------------------------------------------------------------------------------- */

static culex_status row_drop(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                             int64_t hour, const char *job, culex_error *error)
{
    return culex__sqlite_finish(
        store, SQL_BIND(store, FSCK_FIGURE_DROP, SQL_INT(queue->key), SQL_INT(hour), SQL_TEXT(job)),
        error);
}

culex_status culex__sqlite_figures_check(struct culex_sqlite *store,
                                         const struct culex_sqlite_queue *queue, bool is_repairing,
                                         uint64_t *wrong, culex_error *error)
{
    sqlite3_stmt *row = SQL_BIND(store, FSCK_FIGURES, SQL_INT(queue->key));
    struct culex_figure figure;
    culex_status status = CULEX_OK;
    int has = 0;
    while (status == CULEX_OK && (has = culex__sqlite_next(store, row, error)) > 0) {
        if (culex__figure_read(text_at(row, 2), &figure))
            continue;
        ++*wrong;
        if (is_repairing)
            status = row_drop(store, queue, sqlite3_column_int64(row, 0), text_at(row, 1), error);
    }
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : status;
}
