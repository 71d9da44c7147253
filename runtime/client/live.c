/* client/live.c - which versions of the schemas the runs in a store were encoded with.
 *
 * The records are counted queue by queue into a sorted table, which is shown when the queue is
 * done. Pages come from LIST; nothing of the store is held between them. */
#include <culex/maintain.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/queue_name.h"
#include "client/advice.h"
#include "client/client_private.h"

enum { PAGE = 500, SCHEMAS_MAX = 65536 };

/* Sorted by job and fingerprint; names are owned. */
struct table {
    culex_live_schema *rows;
    size_t count, cap;
    bool with_ended;
};

static void table_empty(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free((void *)(uintptr_t)table->rows[i].job);
    table->count = 0;
}

static int row_compare(const culex_live_schema *row, const culex_run_info *run)
{
    int order = strcmp(row->job, run->job);
    if (order != 0)
        return order;
    return (row->fingerprint > run->fingerprint) - (row->fingerprint < run->fingerprint);
}

/* Where the run's row is, or belongs. */
static size_t row_find(const struct table *table, const culex_run_info *run)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (row_compare(&table->rows[middle], run) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool table_grow(struct table *table)
{
    if (table->count < table->cap)
        return true;
    size_t cap = table->cap == 0 ? 64 : table->cap * 2;
    culex_live_schema *grown = realloc(table->rows, cap * sizeof *grown);
    if (grown == NULL)
        return false;
    table->rows = grown;
    table->cap = cap;
    return true;
}

static culex_status row_insert(struct table *table, size_t at, const culex_run_info *run,
                               culex_error *error)
{
    if (table->count == SCHEMAS_MAX)
        return culex__fail(error, CULEX_ELIMIT, "queue %s has runs of more than %d schemas",
                           run->queue, SCHEMAS_MAX);
    char *job = strdup(run->job);
    if (job == NULL || !table_grow(table)) {
        free(job);
        return culex__fail(error, CULEX_ENOMEM, "no memory for %zu schemas", table->count + 1);
    }
    culex_live_schema *row = &table->rows[at];
    memmove(row + 1, row, (table->count++ - at) * sizeof *row);
    *row = (culex_live_schema){
        .job = job, .fingerprint = run->fingerprint, .oldest_ms = run->created_at_ms};
    return CULEX_OK;
}

static bool state_is_ended(culex_run_state state)
{
    return state == CULEX_RUN_DONE || state == CULEX_RUN_CANCELLED;
}

/* What fsck leaves in the place of a record that it could not read. */
static bool run_is_nobodys(const culex_run_info *run)
{
    return strcmp(run->job, "-") == 0;
}

static culex_status run_count(struct table *table, const culex_run_info *run, culex_error *error)
{
    bool is_ended = state_is_ended(run->state);
    if (run_is_nobodys(run) || (is_ended && !table->with_ended))
        return CULEX_OK;
    size_t at = row_find(table, run);
    if (at == table->count || row_compare(&table->rows[at], run) != 0) {
        culex_status status = row_insert(table, at, run, error);
        if (status != CULEX_OK)
            return status;
    }
    culex_live_schema *row = &table->rows[at];
    row->count[run->state]++;
    row->runs += !is_ended;
    if (run->created_at_ms < row->oldest_ms)
        row->oldest_ms = run->created_at_ms;
    return CULEX_OK;
}

/* --- pages ------------------------------------------------------------------------------- */

struct page_call {
    const char *queue;
    culex_list_cursor cursor;
    struct table *table;
};

/* Repeating a call that failed takes the same page again: nothing of it was counted. */
static culex_status page_call(struct culex_store *store, void *arg, culex_error *error)
{
    struct page_call *call = arg;
    struct culex_list_reply page = {0};
    culex_status status = store->ops->list(store, call->queue, CULEX_LIST_OF(CULEX_LIST_ANY),
                                           call->cursor, PAGE, &page, error);
    if (status == CULEX_ENOTFOUND)
        return culex__advise_queue(store, call->queue, error);
    if (status != CULEX_OK)
        return status;
    for (size_t i = 0; i < page.count && status == CULEX_OK; i++)
        status = run_count(call->table, &page.runs[i], error);
    call->cursor = page.cursor;
    store->ops->list_release(store, &page);
    return status;
}

static culex_status queue_count(culex_client *client, const char *queue, struct table *table,
                                culex_error *error)
{
    struct page_call call = {.queue = queue, .table = table};
    culex_status status;
    do
        status = culex__client_perform(client, page_call, &call, error);
    while (status == CULEX_OK && call.cursor.place != 0);
    return status;
}

/* --- the walk ------------------------------------------------------------------------------ */

struct walk {
    culex_client *client;
    struct table table;
    bool is_all; /* queues, whatever their names are */
    culex_live_visitor visit;
    void *user;
    culex_status status;
    culex_error *error;
};

static bool queue_visit(const char *queue, void *user)
{
    struct walk *walk = user;
    bool is_wanted = true;
    walk->status = queue_count(walk->client, queue, &walk->table, walk->error);
    if (walk->status == CULEX_ENOTFOUND && walk->is_all)
        walk->status = CULEX_OK; /* a name without a run or a worker so far */
    for (size_t i = 0; walk->status == CULEX_OK && is_wanted && i < walk->table.count; i++) {
        walk->table.rows[i].queue = queue;
        is_wanted = walk->visit(&walk->table.rows[i], walk->user);
    }
    table_empty(&walk->table);
    return walk->status == CULEX_OK && is_wanted;
}

culex_status culex_client_live(culex_client *client, const char *queue, bool with_ended,
                               culex_live_visitor visit, void *user, culex_error *error)
{
    if (client == NULL || visit == NULL)
        return culex__fail(error, CULEX_EINVAL, client == NULL ? "no client" : "no visitor");
    struct walk walk = {.client = client,
                        .table = {.with_ended = with_ended},
                        .is_all = queue == NULL,
                        .visit = visit,
                        .user = user,
                        .status = queue != NULL ? culex__queue_check(queue, error) : CULEX_OK,
                        .error = error};
    if (walk.status == CULEX_OK && queue != NULL)
        queue_visit(queue, &walk);
    else if (walk.status == CULEX_OK) {
        culex_status status = culex_client_queues(client, queue_visit, &walk, error);
        walk.status = status != CULEX_OK ? status : walk.status;
    }
    free(walk.table.rows);
    return walk.status;
}
