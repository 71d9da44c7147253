#include "worker/schemas.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/schema_text.h"
#include "store/schema_list.h"
#include "worker/outage.h"
#include "worker/worker_private.h"

enum { ROUND_MS = CULEX_SCHEMA_ROUND_MS, JITTER_MS = ROUND_MS / 10, AWAY_MS = 10000 };

/* Nobody could read what a kit's store, or another that is given, was told. */
static bool is_on(const culex_worker *worker)
{
    return (worker->given_store == NULL || worker->is_telling) &&
           worker->phases.current == CULEX_WORKER_RUNNING;
}

/* Once, but for other words: nothing is lost by it, and nobody is to do anything at once. */
static void warn(struct culex_lane *lane, const char *what, const culex_error *error,
                 int64_t now_ns)
{
    struct culex_notice *notice = &lane->schemas.notice;
    const struct culex_log_subject subject = {.queue = lane->name};
    bool is_known =
        notice->is_standing && strncmp(notice->text, error->text, sizeof notice->text - 1) == 0;
    if (!is_known && culex__notice_tell(notice, error->text, now_ns))
        culex__log_write(&lane->worker->log, CULEX_LOG_WARNING, &subject, "queue %s: %s: %s",
                         lane->name, what, error->text);
}

/* --- searches ----------------------------------------------------------------------------------
 */

static void search_end(struct culex_lane *lane)
{
    culex__schema_list_release(&lane->schemas.search.stale);
    lane->schemas.search.is_on = false;
}

/* Not only what is unknown is given up: the schemas stay, and somebody looks again in an hour. */
static void search_fail(struct culex_lane *lane, culex_status status, const culex_error *error,
                        int64_t now_ns)
{
    search_end(lane);
    if (status == CULEX_ECONNECT || status == CULEX_EUNKNOWN)
        culex__worker_call_failed(lane->worker, lane, &lane->trouble, status, error);
    else
        warn(lane, "old schemas cannot be forgotten", error, now_ns);
}

static void search_begin(struct culex_lane *lane, int64_t now_ns)
{
    struct culex_store *store = lane->worker->store;
    struct culex_schema_search *search = &lane->schemas.search;
    culex_error error = {0};
    *search = (struct culex_schema_search){.is_on = true};
    culex_status status =
        store->ops->schema_sweep(store, lane->name, &search->stale, &search->arrivals, &error);
    if (status != CULEX_OK)
        search_fail(lane, status, &error, now_ns);
    else if (search->stale.count == 0)
        search_end(lane);
}

/* A run that needs some of them: each text of its version. */
static void run_meet(struct culex_schema_list *stale, const culex_run_info *run)
{
    for (size_t i = stale->count; i-- > 0;) {
        struct culex_schema_row *row = &stale->rows[i];
        if (row->id.fingerprint != run->fingerprint || strcmp(row->id.job, run->job) != 0)
            continue;
        free((char *)row->id.job);
        memmove(row, row + 1, (--stale->count - i) * sizeof *row);
    }
}

static culex_status page_look(struct culex_lane *lane, culex_error *error)
{
    struct culex_store *store = lane->worker->store;
    struct culex_schema_search *search = &lane->schemas.search;
    struct culex_list_reply page;
    const culex_list_filter all = {.states = 0};
    culex_status status = store->ops->list(store, lane->name, &all, search->cursor,
                                           CULEX_STORE_PAGE_MAX, &page, error);
    if (status != CULEX_OK)
        return status;
    for (size_t i = 0; i < page.count; i++)
        run_meet(&search->stale, &page.runs[i]);
    search->cursor = page.cursor;
    store->ops->list_release(store, &page);
    return CULEX_OK;
}

static culex_status rest_drop(struct culex_lane *lane, culex_error *error)
{
    struct culex_store *store = lane->worker->store;
    const struct culex_schema_search *search = &lane->schemas.search;
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < search->stale.count && status == CULEX_OK; i++) {
        const struct culex_schema_drop drop = {search->stale.rows[i].id, search->stale.now_ms,
                                               search->arrivals};
        status = store->ops->schema_drop(store, lane->name, &drop, error);
    }
    return status;
}

static void search_go(struct culex_lane *lane, int64_t now_ns)
{
    struct culex_schema_search *search = &lane->schemas.search;
    culex_error error = {0};
    culex_status status = page_look(lane, &error);
    bool is_over = search->cursor.place == 0;
    if (status == CULEX_OK && is_over)
        status = rest_drop(lane, &error);
    if (status != CULEX_OK)
        search_fail(lane, status, &error, now_ns);
    else if (is_over || search->stale.count == 0)
        search_end(lane);
}

void culex__schemas_free(struct culex_lane *lane)
{
    search_end(lane);
}

/* --- rounds ------------------------------------------------------------------------------------
 */

static void round_end(struct culex_lane *lane, int64_t now_ns)
{
    int64_t jitter_ms = (int64_t)(culex__env_random(lane->worker->env) % JITTER_MS);
    lane->schemas.next = 0;
    lane->schemas.due_ns = now_ns + (ROUND_MS + jitter_ms) * CULEX_MS_NS;
    search_begin(lane, now_ns);
}

static culex_status schema_tell(struct culex_lane *lane, const struct culex_job *job,
                                culex_error *error)
{
    struct culex_store *store = lane->worker->store;
    const culex_job_type *type = job->type;
    char *text = NULL;
    size_t len = 0;
    culex_status status = culex__schema_text(type, job->call == NULL, &text, &len);
    if (status != CULEX_OK)
        return culex__fail(error, status, "job %s: its schema cannot be written as a text",
                           type->name);
    const struct culex_schema_text schema = {
        {type->wire, type->fingerprint, culex__schema_digest(text, len)}, text, len};
    status = store->ops->schema_publish(store, lane->name, &schema, error);
    free(text);
    return status;
}

/* A call that was lost is made again; one that was refused only with the next round. */
static void tell_fail(struct culex_lane *lane, culex_status status, const culex_error *error,
                      int64_t now_ns)
{
    struct culex_lane_schemas *schemas = &lane->schemas;
    if (status == CULEX_ECONNECT || status == CULEX_EUNKNOWN) {
        culex__worker_call_failed(lane->worker, lane, &lane->trouble, status, error);
        schemas->due_ns = now_ns + AWAY_MS * CULEX_MS_NS;
        return;
    }
    schemas->next++;
    warn(lane, "the schemas of its jobs cannot all be told", error, now_ns);
}

/* Tells the next one; a type that was made by hand may have none. */
static void tell(struct culex_lane *lane, int64_t now_ns)
{
    const culex_worker *worker = lane->worker;
    struct culex_lane_schemas *schemas = &lane->schemas;
    culex_error error = {0};
    while (schemas->next < worker->job_count && worker->jobs[schemas->next].type->fingerprint == 0)
        schemas->next++;
    if (schemas->next < worker->job_count) {
        culex_status status = schema_tell(lane, &worker->jobs[schemas->next], &error);
        if (status == CULEX_OK)
            schemas->next++;
        else
            tell_fail(lane, status, &error, now_ns);
    }
    if (schemas->next >= worker->job_count)
        round_end(lane, now_ns);
}

static int64_t lane_next_ns(const struct culex_lane *lane)
{
    int64_t call_ns = culex__outage_call_ns(lane);
    if (!lane->greeting.is_done || lane->greeting.is_barred)
        return INT64_MAX;
    int64_t due_ns = lane->schemas.search.is_on ? call_ns : lane->schemas.due_ns;
    return due_ns > call_ns ? due_ns : call_ns;
}

/* A drain may be over in the next turn: it tells all at once. */
static void round_go(struct culex_lane *lane, int64_t now_ns)
{
    do
        tell(lane, now_ns);
    while (lane->worker->options.drain && !lane->schemas.search.is_on &&
           now_ns >= lane_next_ns(lane));
}

int64_t culex__schemas_next_ns(const culex_worker *worker)
{
    int64_t next_ns = INT64_MAX;
    for (size_t i = 0; i < worker->lane_count && is_on(worker); i++)
        next_ns = culex__min_ns(next_ns, lane_next_ns(&worker->lanes[i]));
    return next_ns;
}

void culex__schemas_turn(culex_worker *worker, int64_t now_ns)
{
    for (size_t i = 0; i < worker->lane_count && is_on(worker); i++) {
        struct culex_lane *lane = &worker->lanes[i];
        if (now_ns < lane_next_ns(lane))
            continue;
        if (lane->schemas.search.is_on)
            search_go(lane, now_ns);
        else
            round_go(lane, now_ns);
    }
}
