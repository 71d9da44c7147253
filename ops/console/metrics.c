/* ops/console/metrics.c - /metrics: what is in the queues, and how the server is asked, for
 * Prometheus. What a worker tells, too, has the name that it has there. */
#include <string.h>

#include <culex/culex.h>

#include "command/find.h"
#include "command/survey.h"
#include "console/routes.h"
#include "console/tally.h"
#include "core/exposition.h"

enum {
    QUEUES_MAX = 1000,
    LOOKED_AT = 100, /* waiting runs of a queue, for the oldest */
    TEXT_MAX = 16 * 1024 * 1024
};

static const char plain_type[] = "text/plain; version=0.0.4; charset=utf-8";
static const char open_type[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/* ---- queues -----------------------------------------------------------------------------------
 */

typedef void (*view_put)(struct culex_exposition *out, const struct ops_queue_view *view,
                         const struct culex_metric_label *queue);

static void runs_put(struct culex_exposition *out, const struct ops_queue_view *view,
                     const struct culex_metric_label *queue)
{
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        const struct culex_metric_label labels[] = {
            *queue, {"state", culex_run_state_name((culex_run_state)state)}};
        culex__exposition_put(out, labels, 2, view->stats.count[state]);
    }
}

static void paused_put(struct culex_exposition *out, const struct ops_queue_view *view,
                       const struct culex_metric_label *queue)
{
    culex__exposition_put(out, queue, 1, view->stats.paused);
}

static void oldest_put(struct culex_exposition *out, const struct ops_queue_view *view,
                       const struct culex_metric_label *queue)
{
    culex__exposition_put_us(out, queue, 1, view->age_ms > 0 ? (uint64_t)view->age_ms * 1000 : 0);
}

static void capacity_put(struct culex_exposition *out, const struct ops_queue_view *view,
                         const struct culex_metric_label *queue)
{
    culex__exposition_put(out, queue, 1, view->stats.limit);
}

static void workers_put(struct culex_exposition *out, const struct ops_queue_view *view,
                        const struct culex_metric_label *queue)
{
    culex__exposition_put(out, queue, 1, view->workers);
}

static void enqueued_put(struct culex_exposition *out, const struct ops_queue_view *view,
                         const struct culex_metric_label *queue)
{
    culex__exposition_put(out, queue, 1, view->stats.enqueued);
}

static void put_by(struct culex_exposition *out, const struct culex_metric_label *queue,
                   const char *label, const char *value, uint64_t count)
{
    const struct culex_metric_label labels[] = {*queue, {label, value}};
    culex__exposition_put(out, labels, 2, count);
}

static void ended_put(struct culex_exposition *out, const struct ops_queue_view *view,
                      const struct culex_metric_label *queue)
{
    put_by(out, queue, "state", "done", view->stats.done);
    put_by(out, queue, "state", "dead", view->stats.dead);
    put_by(out, queue, "state", "cancelled", view->stats.cancelled);
}

static void failed_put(struct culex_exposition *out, const struct ops_queue_view *view,
                       const struct culex_metric_label *queue)
{
    put_by(out, queue, "outcome", "failed", view->stats.failed);
    put_by(out, queue, "outcome", "crashed", view->stats.crashed);
    put_by(out, queue, "outcome", "lost", view->stats.lost);
}

static const struct {
    struct culex_metric metric;
    view_put put;
} of_queues[] = {
    {{"culex_queue_runs", CULEX_METRIC_GAUGE, NULL, "Runs in the queue, by their state."},
     runs_put},
    {{"culex_queue_paused", CULEX_METRIC_GAUGE, NULL, "1 while the queue is paused, else 0."},
     paused_put},
    {{"culex_queue_oldest_waiting_seconds", CULEX_METRIC_GAUGE, "seconds",
      "How long the oldest run has waited, of the first hundred that wait; 0 when none does."},
     oldest_put},
    {{"culex_queue_capacity", CULEX_METRIC_GAUGE, NULL,
      "Most runs that have not ended, 0 for no bound."},
     capacity_put},
    {{"culex_queue_workers", CULEX_METRIC_GAUGE, NULL,
      "Workers that are alive and serve the queue."},
     workers_put},
    {{"culex_queue_enqueued", CULEX_METRIC_COUNTER, NULL, "Runs since the queue began."},
     enqueued_put},
    {{"culex_queue_ended", CULEX_METRIC_COUNTER, NULL,
      "Runs that have ended since the queue began, by how."},
     ended_put},
    {{"culex_queue_failed_attempts", CULEX_METRIC_COUNTER, NULL,
      "Attempts that did not succeed since the queue began, by how."},
     failed_put},
};

/* A queue that went while it was asked for has nothing to tell. */
static void queues_put(struct culex_exposition *out, const struct ops_survey *survey)
{
    for (size_t i = 0; i < sizeof of_queues / sizeof of_queues[0]; i++) {
        culex__exposition_family(out, &of_queues[i].metric);
        for (size_t k = 0; k < survey->count; k++) {
            const struct culex_metric_label queue = {"queue", survey->of[k].name};
            if (survey->of[k].wrong == NULL)
                of_queues[i].put(out, &survey->of[k], &queue);
        }
    }
}

/* ---- the rest ---------------------------------------------------------------------------------
 */

static void number_put(struct culex_exposition *out, const char *name, const char *help,
                       uint64_t value)
{
    const struct culex_metric metric = {name, CULEX_METRIC_GAUGE, NULL, help};
    culex__exposition_family(out, &metric);
    culex__exposition_put(out, NULL, 0, value);
}

static void build_put(struct culex_exposition *out)
{
    static const struct culex_metric build = {"culex_build", CULEX_METRIC_INFO, NULL,
                                              "The version of the Culex library."};
    const struct culex_metric_label version = {"version", culex_version()};
    culex__exposition_family(out, &build);
    culex__exposition_put(out, &version, 1, 1);
}

static void request_put(const char *route, unsigned status, uint64_t count, void *user)
{
    char text[16];
    snprintf(text, sizeof text, "%u", status);
    const struct culex_metric_label labels[] = {{"route", route}, {"status", text}};
    culex__exposition_put(user, labels, 2, count);
}

static void requests_put(struct culex_exposition *out, struct console *console)
{
    static const struct culex_metric requests = {
        "culex_console_requests", CULEX_METRIC_COUNTER, NULL,
        "Requests that this server has answered, by operation and status."};
    culex__exposition_family(out, &requests);
    tally_each(console->tally, request_put, out);
    number_put(out, "culex_console_requests_active",
               "Requests that are being answered, this one and those that wait among them.",
               atomic_load(&console->at_work));
}

/* ---- a scrape ---------------------------------------------------------------------------------
 */

struct scrape {
    struct ops_names names; /* of all queues */
    struct ops_survey survey;
    bool is_up; /* the store has answered */
};

static culex_status store_read(struct request *request, struct scrape *scrape, culex_error *error)
{
    culex_status status = ops_names_read(&request->ops, &scrape->names, error);
    size_t count = scrape->names.count < QUEUES_MAX ? scrape->names.count : QUEUES_MAX;
    if (status == CULEX_OK && count > 0)
        status = ops_survey_read(&request->ops, (const char *const *)scrape->names.of, count,
                                 LOOKED_AT, &scrape->survey, error);
    else if (status == CULEX_OK)
        status = ops_survey_read(&request->ops, NULL, 0, LOOKED_AT, &scrape->survey, error);
    return status;
}

/* A store that is away is an answer here, and no failure. */
static void scrape_read(struct request *request, struct scrape *scrape)
{
    culex_error error;
    struct pool *pool = request->console->pool;
    culex_status status = pool_take(pool, POOL_OTHER, &request->ops.client, &error);
    if (status == CULEX_OK)
        status = store_read(request, scrape, &error);
    pool_give(pool, request->ops.client, status);
    request->ops.client = NULL;
    scrape->is_up = status == CULEX_OK;
}

static void scrape_put(struct culex_exposition *out, const struct scrape *scrape,
                       struct console *console)
{
    build_put(out);
    number_put(out, "culex_store_up", "1 when the store has answered, else 0.", scrape->is_up);
    if (scrape->is_up) {
        number_put(out, "culex_queues",
                   "Queues of the store; of more than 1000 the first are told.",
                   scrape->names.count);
        number_put(out, "culex_workers", "Workers that are alive.", scrape->survey.workers);
        queues_put(out, &scrape->survey);
    }
    requests_put(out, console);
}

static bool wants_open(const struct request *request)
{
    const char *accepted = request_header(request, "Accept");
    return accepted != NULL && strstr(accepted, "application/openmetrics-text") != NULL;
}

culex_status route_metrics(struct request *request, culex_error *error)
{
    struct scrape scrape = {.is_up = false};
    struct culex_exposition out;
    bool is_open = wants_open(request);
    culex_buf buf;
    scrape_read(request, &scrape);
    culex_buf_init(&buf, TEXT_MAX);
    culex__exposition_begin(&out, &buf, !is_open);
    scrape_put(&out, &scrape, request->console);
    bool is_whole = culex__exposition_end(&out);
    if (is_whole)
        fwrite(buf.data, 1, buf.len, request->json.out);
    request->type = is_open ? open_type : plain_type;
    culex_buf_release(&buf);
    ops_survey_free(&scrape.survey);
    ops_names_free(&scrape.names);
    return is_whole ? CULEX_OK
                    : ops_fail(error, CULEX_ENOMEM, "there is no memory for the metrics");
}
