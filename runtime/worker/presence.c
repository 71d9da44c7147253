#include "worker/presence.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <culex/culex.h>

#include "base/error.h"
#include "settings/option.h"
#include "store/worker_sheet.h"
#include "worker/flight.h"
#include "worker/outage.h"
#include "worker/outlook.h"
#include "worker/wake.h"
#include "worker/worker_private.h"

enum { TELL_MS = 2500 };

static_assert((int)CULEX_OPTION_CONCURRENCY_MAX == (int)CULEX_WORKER_CONCURRENCY_MAX,
              "whatever a worker has, it may tell");

void culex__presence_reset(culex_worker *worker)
{
    /* A store that is given has nobody else who could look. */
    bool is_on = !worker->options.unlisted && worker->given_store == NULL;
    worker->presence =
        (struct culex_presence){.is_on = is_on, .born_ns = culex__worker_now_ns(worker)};
    if (is_on)
        culex__session_choose(worker, worker->presence.id);
}

/* --- what it tells ------------------------------------------------------------------------------
 */

/* What its lists point to. */
struct told {
    culex_worker_info info;
    struct culex_process_facts process;
    char offers[CULEX__NEEDS_SIZE];
    culex_queue_served queues[CULEX_SHEET_LIST_MAX];
    culex_run_at_work runs[CULEX_SHEET_LIST_MAX];
};

static void run_add(struct told *told, const struct culex_flight *flight, int64_t now_ns)
{
    if (atomic_load_explicit(&flight->run.started_ns, memory_order_relaxed) == 0)
        return;
    told->info.runs_total++;
    if (told->info.run_count == CULEX_SHEET_LIST_MAX)
        return;
    told->runs[told->info.run_count++] =
        (culex_run_at_work){.id = flight->run.facts.id,
                            .job = flight->run.job.type->name,
                            .queue = flight->lane->name,
                            .since_ms = (flight->claimed_ns - now_ns) / CULEX_MS_NS};
}

static void lists_fill(const culex_worker *worker, struct told *told, int64_t now_ns)
{
    told->info.queues_total = worker->lane_count;
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane *lane = &worker->lanes[i];
        if (i < CULEX_SHEET_LIST_MAX)
            told->queues[told->info.queue_count++] = (culex_queue_served){
                lane->name, (unsigned)lane->share.weight, (unsigned)lane->share.most};
        for (size_t k = 0; k < lane->flight_count; k++)
            run_add(told, lane->flights[k], now_ns);
    }
}

static const char *isolation_word(culex_isolation isolation)
{
    return isolation == CULEX_ISOLATION_NONE  ? "none"
           : isolation == CULEX_ISOLATION_JOB ? "job"
                                              : "process";
}

static void told_fill(const culex_worker *worker, struct told *told, int64_t now_ns)
{
    const struct culex_presence *presence = &worker->presence;
    const uint64_t *counts = worker->tally.counts;
    *told = (struct told){.process = culex__env_process_facts(worker->env)};
    culex__needs_write(&worker->units.offers, told->offers);
    told->info =
        (culex_worker_info){.name = worker->identity.name,
                            .host = told->process.host,
                            .pid = told->process.pid,
                            .version = culex_version(),
                            .started_ms = (presence->born_ns - now_ns) / CULEX_MS_NS,
                            .isolation = isolation_word(worker->options.isolation),
                            .offers = told->offers,
                            .concurrency = presence->concurrency > 0 ? presence->concurrency
                                                                     : worker->options.concurrency,
                            .is_quiet = presence->is_quiet,
                            .is_stopping = worker->phases.current != CULEX_WORKER_RUNNING,
                            .memory_bytes = told->process.memory_bytes,
                            .children_bytes = told->process.descendants_bytes,
                            .done = counts[CULEX_TALLY_DONE],
                            .failed = counts[CULEX_TALLY_FAILED] + counts[CULEX_TALLY_CRASHED],
                            .queues = told->queues,
                            .runs = told->runs};
    lists_fill(worker, told, now_ns);
}

/* --- what is wished -----------------------------------------------------------------------------
 */

static void wish_log(const culex_worker *worker, const char *what)
{
    culex__log_write(&worker->log, CULEX_LOG_INFO, NULL, "asked by way of the store to %s", what);
}

/* The next wake-up is for others; what is claimed already is worked off. */
static void quiet_set(culex_worker *worker, bool is_quiet)
{
    if (worker->presence.is_quiet == is_quiet)
        return;
    worker->presence.is_quiet = is_quiet;
    wish_log(worker, is_quiet ? "claim nothing more" : "claim runs again");
    if (is_quiet)
        culex__wake_leave(worker);
    else
        culex__lanes_set_likely(worker);
}

/* Runs that were claimed ahead would begin beside those that may go on. */
bool culex__presence_set_concurrency(culex_worker *worker, unsigned wanted)
{
    unsigned most = worker->options.concurrency, now = wanted < most ? wanted : most;
    if (worker->presence.concurrency == now)
        return false;
    worker->presence.concurrency = now;
    culex__flight_withdraw(worker);
    culex__lanes_set_likely(worker);
    return true;
}

static void concurrency_heed(culex_worker *worker, unsigned wanted)
{
    char what[64];
    if (!culex__presence_set_concurrency(worker, wanted))
        return;
    snprintf(what, sizeof what, "have %u runs at a time", worker->presence.concurrency);
    wish_log(worker, what);
}

static void wish_take(culex_worker *worker, const struct culex_worker_wish *wish)
{
    if (wish->number == 0 || wish->number == worker->presence.heard)
        return;
    worker->presence.heard = wish->number;
    worker->presence.tell_ns = 0; /* that it was heard */
    if (wish->quiet != CULEX_SWITCH_KEEP)
        quiet_set(worker, wish->quiet == CULEX_SWITCH_ON);
    if (wish->concurrency > 0)
        concurrency_heed(worker, wish->concurrency);
    if (wish->is_stop && worker->phases.current == CULEX_WORKER_RUNNING) {
        wish_log(worker, "stop");
        culex__phase_enter(worker, CULEX_WORKER_STOPPING, culex__worker_now_ns(worker));
    }
}

/* --- calls --------------------------------------------------------------------------------------
 */

/* A store that refuses it for good is not asked again. */
static void tell_fail(culex_worker *worker, culex_status status, const culex_error *error,
                      int64_t now_ns)
{
    struct culex_presence *presence = &worker->presence;
    bool is_final = culex__status_is_fatal(status);
    if (status == CULEX_ECONNECT || status == CULEX_EUNKNOWN)
        culex__worker_call_failed(worker, NULL, NULL, status, error);
    else if (is_final || culex__notice_tell(&presence->notice, error->text, now_ns))
        culex__log_write(&worker->log, CULEX_LOG_WARNING, NULL,
                         "this worker is not listed in its store%s: %s",
                         is_final ? ", and takes no orders from there" : " for now", error->text);
    if (is_final)
        presence->is_on = false;
}

static void tell(culex_worker *worker, int64_t now_ns)
{
    struct culex_presence *presence = &worker->presence;
    struct told told;
    char sheet[CULEX_STORE_SHEET_MAX];
    struct culex_worker_wish wish = {0};
    culex_error error = {0};
    told_fill(worker, &told, now_ns);
    const struct culex_worker_tell request = {.id = presence->id,
                                              .heard = presence->heard,
                                              .concurrency = worker->options.concurrency,
                                              .sheet = sheet,
                                              .sheet_len = culex__sheet_write(&told.info, sheet)};
    presence->is_parting = told.info.is_stopping;
    presence->tell_ns = now_ns + TELL_MS * CULEX_MS_NS;
    presence->is_listed = true;
    culex_status status = worker->store->ops->worker_tell(worker->store, &request, &wish, &error);
    if (status != CULEX_OK) {
        tell_fail(worker, status, &error, now_ns);
        return;
    }
    culex__worker_call_succeeded(worker, NULL);
    wish_take(worker, &wish);
}

int64_t culex__presence_next_ns(const culex_worker *worker)
{
    const struct culex_presence *presence = &worker->presence;
    const struct culex_outage *outage = &worker->outage;
    bool begins_to_stop = worker->phases.current != CULEX_WORKER_RUNNING && !presence->is_parting;
    int64_t tell_ns = begins_to_stop ? 0 : presence->tell_ns;
    if (!presence->is_on || worker->phases.current > CULEX_WORKER_STOPPING)
        return INT64_MAX;
    return outage->is_on && outage->until_ns > tell_ns ? outage->until_ns : tell_ns;
}

void culex__presence_turn(culex_worker *worker, int64_t now_ns)
{
    if (now_ns >= culex__presence_next_ns(worker))
        tell(worker, now_ns);
}

void culex__presence_leave(culex_worker *worker)
{
    const struct culex_worker_tell request = {.id = worker->presence.id, .is_leaving = true};
    struct culex_worker_wish wish;
    if (worker->store == NULL || !worker->presence.is_listed || worker->outage.is_on)
        return;
    culex_status status = worker->store->ops->worker_tell(worker->store, &request, &wish, NULL);
    (void)status; /* the entry goes by itself, too */
    worker->presence.is_listed = false;
}
