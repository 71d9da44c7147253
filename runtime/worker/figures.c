#include "worker/figures.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "worker/flight.h"
#include "worker/outage.h"
#include "worker/worker_private.h"

enum { TELL_MS = 1000, REFUSED_MS = 10000, GIVE_UP_MS = CULEX_FIGURES_REPEAT_MS / 2 };

/* Nobody could read what a kit's store, or another that is given, was told. */
static bool is_on(const culex_worker *worker)
{
    return !worker->options.uncounted && worker->given_store == NULL;
}

/* --- counting ----------------------------------------------------------------------------------
 */

/* NULL when out of memory: a run is not counted. */
static struct culex_figure *figure_of(struct culex_lane_figures *figures,
                                      const culex_job_type *type)
{
    for (size_t i = 0; i < figures->count; i++) {
        if (figures->jobs[i].type == type)
            return &figures->jobs[i].figure;
    }
    if (figures->count == figures->capacity) {
        size_t wider = figures->capacity > 0 ? figures->capacity * 2 : 1;
        struct culex_job_figures *jobs = realloc(figures->jobs, wider * sizeof *jobs);
        if (jobs == NULL)
            return NULL;
        figures->jobs = jobs;
        figures->capacity = wider;
    }
    struct culex_job_figures *job = &figures->jobs[figures->count++];
    memset(job, 0, sizeof *job);
    job->type = type;
    return &job->figure;
}

static void counts_add(struct culex_figure *figure, const struct culex_tally *before,
                       const struct culex_tally *after)
{
    static const enum culex_tally_row rows[CULEX_FIGURE_COUNTS] = {
        [CULEX_FIGURE_DONE] = CULEX_TALLY_DONE,
        [CULEX_FIGURE_FAILED] = CULEX_TALLY_FAILED,
        [CULEX_FIGURE_CRASHED] = CULEX_TALLY_CRASHED,
        [CULEX_FIGURE_LOST] = CULEX_TALLY_LOST,
        [CULEX_FIGURE_DEAD] = CULEX_TALLY_DEAD,
        [CULEX_FIGURE_CANCELLED] = CULEX_TALLY_CANCELLED,
    };
    for (size_t i = 0; i < CULEX_FIGURE_COUNTS; i++)
        figure->counts[i] += after->counts[rows[i]] - before->counts[rows[i]];
}

static void times_add(struct culex_figure *figure, const culex_worker *worker,
                      const struct culex_run *run, int64_t started_ns)
{
    int64_t begun_ms = started_ns / CULEX_MS_NS + worker->clock.offset_ms;
    if (run->facts.due_ms > 0 && worker->clock.is_known)
        figure->waited.of[culex__figure_bucket((begun_ms - run->facts.due_ms) * 1000)]++;
    figure->ran.of[culex__figure_bucket(run->end.duration_ns / 1000)]++;
}

void culex__figures_note(struct culex_flight *flight, const struct culex_tally *before)
{
    culex_worker *worker = flight->lane->worker;
    struct culex_lane_figures *figures = &flight->lane->figures;
    const struct culex_run *run = &flight->run;
    int64_t started_ns = atomic_load_explicit(&run->started_ns, memory_order_relaxed);
    if (!is_on(worker) || run->job.type == NULL || started_ns == 0)
        return;
    bool was_empty = figures->count == 0;
    struct culex_figure *figure = figure_of(figures, run->job.type);
    if (figure == NULL)
        return;
    if (was_empty && figures->sent.count == 0)
        figures->due_ns = culex__worker_now_ns(worker) + TELL_MS * CULEX_MS_NS;
    counts_add(figure, before, &worker->tally);
    times_add(figure, worker, run, started_ns);
}

/* --- calls -------------------------------------------------------------------------------------
 */

/* What was counted by now goes on its way; what is left of many jobs goes with the next call. */
static bool sent_fill(struct culex_lane *lane, int64_t now_ns)
{
    struct culex_lane_figures *figures = &lane->figures;
    struct culex_figures_sent *sent = &figures->sent;
    size_t most =
        figures->count < CULEX_STORE_FIGURES_MAX ? figures->count : CULEX_STORE_FIGURES_MAX;
    sent->texts = malloc(most * sizeof *sent->texts);
    if (sent->texts == NULL)
        return false;
    while (sent->count < most) {
        const struct culex_job_figures *job = &figures->jobs[--figures->count];
        culex__figure_write(&job->figure, sent->texts[sent->count]);
        sent->rows[sent->count] =
            (struct culex_figure_row){.job = job->type->name, .text = sent->texts[sent->count]};
        sent->count++;
    }
    sent->number = ++figures->number;
    sent->since_ns = now_ns;
    memcpy(sent->session, lane->greeting.session, sizeof sent->session);
    return true;
}

static void sent_drop(struct culex_figures_sent *sent)
{
    free(sent->texts);
    *sent = (struct culex_figures_sent){.count = 0};
}

/* What nobody knows for so long whether it was told is not told again. */
static void tell_fail(struct culex_lane *lane, culex_status status, const culex_error *error,
                      int64_t now_ns)
{
    struct culex_lane_figures *figures = &lane->figures;
    const struct culex_log_subject subject = {.queue = lane->name};
    if (status == CULEX_ECONNECT || status == CULEX_EUNKNOWN)
        culex__worker_call_failed(lane->worker, lane, &lane->trouble, status, error);
    else if (culex__notice_tell(&figures->notice, error->text, now_ns))
        culex__log_write(&lane->worker->log, CULEX_LOG_WARNING, &subject,
                         "queue %s: the figures of its runs cannot be told: %s", lane->name,
                         error->text);
    if (now_ns - figures->sent.since_ns > GIVE_UP_MS * CULEX_MS_NS)
        sent_drop(&figures->sent);
    figures->due_ns = now_ns + REFUSED_MS * CULEX_MS_NS;
}

static void tell(struct culex_lane *lane, int64_t now_ns)
{
    struct culex_store *store = lane->worker->store;
    struct culex_lane_figures *figures = &lane->figures;
    struct culex_figures_sent *sent = &figures->sent;
    culex_error error = {0};
    figures->due_ns = now_ns + TELL_MS * CULEX_MS_NS;
    if (sent->count > 0 && now_ns - sent->since_ns > GIVE_UP_MS * CULEX_MS_NS)
        sent_drop(sent); /* a worker that was stopped for long: the store may have forgotten it */
    if (sent->count == 0 && !sent_fill(lane, now_ns))
        return;
    culex_status status = store->ops->figures_add(store, lane->name, sent->session, sent->number,
                                                  sent->rows, sent->count, &error);
    if (status == CULEX_OK)
        sent_drop(sent);
    else
        tell_fail(lane, status, &error, now_ns);
}

static bool has_some(const struct culex_lane_figures *figures)
{
    return figures->count > 0 || figures->sent.count > 0;
}

static int64_t lane_next_ns(const struct culex_lane *lane)
{
    int64_t call_ns = culex__outage_call_ns(lane);
    if (!has_some(&lane->figures))
        return INT64_MAX;
    return lane->figures.due_ns > call_ns ? lane->figures.due_ns : call_ns;
}

int64_t culex__figures_next_ns(const culex_worker *worker)
{
    int64_t next_ns = INT64_MAX;
    for (size_t i = 0; i < worker->lane_count; i++)
        next_ns = culex__min_ns(next_ns, lane_next_ns(&worker->lanes[i]));
    return next_ns;
}

void culex__figures_turn(culex_worker *worker, int64_t now_ns)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (now_ns >= lane_next_ns(&worker->lanes[i]))
            tell(&worker->lanes[i], now_ns);
    }
}

void culex__figures_leave(culex_worker *worker)
{
    int64_t now_ns = culex__worker_now_ns(worker);
    for (size_t i = 0; i < worker->lane_count; i++) {
        struct culex_lane *lane = &worker->lanes[i];
        while (worker->store != NULL && !worker->outage.is_on && has_some(&lane->figures)) {
            size_t left = lane->figures.count;
            tell(lane, now_ns);
            if (lane->figures.sent.count > 0 || lane->figures.count == left)
                break;
        }
    }
}

void culex__figures_free(struct culex_lane *lane)
{
    sent_drop(&lane->figures.sent);
    free(lane->figures.jobs);
    lane->figures.jobs = NULL;
    lane->figures.count = lane->figures.capacity = 0;
}
