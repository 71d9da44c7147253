#include "worker/outage.h"

#include "core/patience.h"
#include "worker/metrics.h"
#include "worker/repair.h"
#include "worker/worker_private.h"

enum {
    TRIES_A_LEASE = 4, /* a store that is away is tried at least this often in a lease */
    HURRY_MS = 250,    /* the longest wait between tries once handlers were told to stop */
    /* The least time between two log lines: */
    OUTAGE_LOG_MS = 60000, /* about the same trouble with the store */
    CHANGE_LOG_MS = 1000,  /* about one trouble and the next */
    JUMP_LOG_MS = 60000,   /* about jumps of the store's clock */
    ROOM_LOG_MS = 60000,   /* about a store that is short of room */
};

bool culex__status_is_fatal(culex_status status)
{
    return status == CULEX_EURL || status == CULEX_EVERSION || status == CULEX_EUNSUPPORTED ||
           status == CULEX_EDENIED || status == CULEX_EINVAL || status == CULEX_EUSAGE ||
           status == CULEX_ENOMEM || status == CULEX_ECORRUPT;
}

void culex__outage_reset(culex_worker *worker)
{
    worker->outage = (struct culex_outage){0};
}

void culex__outage_hurry(culex_worker *worker)
{
    worker->outage.until_ns = 0;
    for (size_t i = 0; i < worker->lane_count; i++)
        worker->lanes[i].trouble.retry_ns = 0;
}

static void outage_log(culex_worker *worker, int64_t now_ns, culex_status status, const char *text)
{
    struct culex_outage *outage = &worker->outage;
    char span[CULEX_LOG_SPAN_SIZE];
    if (!outage->is_told) {
        culex__log_write(&worker->log, CULEX_LOG_ERROR, NULL,
                         "the store is in trouble, trying again: %s", text);
        outage->is_told = true;
    } else if (now_ns - outage->logged_ns >=
               (status == outage->logged_status ? OUTAGE_LOG_MS : CHANGE_LOG_MS) * CULEX_MS_NS) {
        culex__log_format_span((now_ns - outage->since_ns) / 1000000000 * 1000, span);
        culex__log_write(&worker->log, CULEX_LOG_ERROR, NULL,
                         "the store is still in trouble after %s: %s", span, text);
    } else
        return;
    outage->logged_ns = now_ns;
    outage->logged_status = status;
}

static void outage_log_end(culex_worker *worker)
{
    char span[CULEX_LOG_SPAN_SIZE];
    int64_t age_ns = culex__worker_now_ns(worker) - worker->outage.since_ns;
    culex__log_format_span(age_ns / CULEX_MS_NS, span);
    culex__log_write(&worker->log, CULEX_LOG_WARNING, NULL, "the store is back after %s", span);
}

/* Our own stop ends the calls: the phase that gives them time again is still to be entered. */
static bool calls_are_cut(const culex_worker *worker, int64_t now_ns)
{
    int64_t until_ns = atomic_load(&worker->until_ns);
    return until_ns != 0 && until_ns <= now_ns && until_ns < worker->phases.patient_ns;
}

/* A call that was cut says nothing of the store; the next one does. */
static void outage_note(culex_worker *worker, int64_t now_ns, culex_status status, const char *text)
{
    struct culex_outage *outage = &worker->outage;
    if (!outage->is_on)
        outage->since_ns = now_ns;
    outage->is_on = true;
    if (!calls_are_cut(worker, now_ns))
        outage_log(worker, now_ns, status, text);
}

/* A part of a call that failed so may have been carried out. */
static bool may_be_torn(const struct culex_store *store, culex_status status)
{
    return store->tears &&
           (status == CULEX_EDENIED || status == CULEX_ECORRUPT || status == CULEX_ESTORE);
}

bool culex__call_may_be_applied(const struct culex_store *store, culex_status status)
{
    return status == CULEX_EUNKNOWN || may_be_torn(store, status);
}

void culex__worker_call_failed(culex_worker *worker, struct culex_lane *lane,
                               struct culex_trouble *trouble, culex_status status,
                               const culex_error *error)
{
    int64_t now_ns = culex__worker_now_ns(worker);
    bool is_away = status == CULEX_ECONNECT || status == CULEX_EUNKNOWN;
    bool is_everybodys = is_away || trouble == NULL;
    uint32_t *failures = is_everybodys ? &worker->outage.failures : &trouble->failures;
    const char *text = error->text[0] != '\0' ? error->text : culex_status_text(status);
    culex__metrics_note_failure(worker, !worker->outage.is_on);
    outage_note(worker, now_ns, status, text);
    *failures += *failures < UINT32_MAX;
    int64_t wait_ms = culex__patience_ms(*failures, culex__env_random(worker->env));
    if (worker->phases.current >= CULEX_WORKER_CANCELLING && wait_ms > HURRY_MS)
        wait_ms = HURRY_MS;
    /* Beats go with these calls: without a call in time, leases would run out. */
    if (wait_ms > worker->options.lease_ms / TRIES_A_LEASE)
        wait_ms = worker->options.lease_ms / TRIES_A_LEASE;
    int64_t until_ns = now_ns + wait_ms * CULEX_MS_NS;
    if (is_everybodys)
        worker->outage.until_ns = until_ns;
    if (trouble != NULL)
        trouble->retry_ns = until_ns;
    if (lane != NULL && may_be_torn(worker->store, status))
        culex__repair_want(lane);
}

static bool is_somebody_in_trouble(const culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (worker->lanes[i].trouble.failures > 0)
            return true;
    }
    for (size_t i = 0; i < worker->tick_count; i++) {
        if (worker->ticks[i].trouble.failures > 0)
            return true;
    }
    return false;
}

void culex__worker_call_succeeded(culex_worker *worker, struct culex_trouble *trouble)
{
    struct culex_outage *outage = &worker->outage;
    if (trouble != NULL)
        *trouble = (struct culex_trouble){.failures = 0};
    if (!outage->is_on || is_somebody_in_trouble(worker))
        return;
    if (outage->is_told)
        outage_log_end(worker);
    *outage = (struct culex_outage){0};
}

int64_t culex__outage_call_ns(const struct culex_lane *lane)
{
    const struct culex_outage *outage = &lane->worker->outage;
    return outage->is_on && outage->until_ns > lane->trouble.retry_ns ? outage->until_ns
                                                                      : lane->trouble.retry_ns;
}

void culex__worker_learn_clock(culex_worker *worker, int64_t store_ms, int64_t sent_ns)
{
    int64_t jump_ms =
        culex__storeclock_learn(&worker->clock, worker->env, store_ms, sent_ns / CULEX_MS_NS);
    int64_t size_ms = jump_ms < 0 ? -jump_ms : jump_ms, now_ns = culex__worker_now_ns(worker);
    bool is_told =
        worker->jump_logged_ns != 0 && now_ns - worker->jump_logged_ns < JUMP_LOG_MS * CULEX_MS_NS;
    if (size_ms <= worker->options.lease_ms / 4 || is_told)
        return;
    char span[CULEX_LOG_SPAN_SIZE];
    culex__log_format_span(size_ms, span);
    worker->jump_logged_ns = now_ns;
    culex__log_write(
        &worker->log, CULEX_LOG_WARNING, NULL,
        "the store's clock jumped %s by %s: leases end too %s, see to its time service",
        jump_ms < 0 ? "back" : "ahead", span, jump_ms < 0 ? "late" : "early");
}

/* A worse shortage is logged at once, another one of the same kind after a minute. */
void culex__worker_learn_room(culex_worker *worker, enum culex_room room)
{
    struct culex_shortage *shortage = &worker->shortage;
    if (room == CULEX_ROOM_ENOUGH && shortage->told == CULEX_ROOM_ENOUGH)
        return;
    int64_t now_ns = culex__worker_now_ns(worker);
    bool is_told =
        shortage->logged_ns != 0 && now_ns - shortage->logged_ns < ROOM_LOG_MS * CULEX_MS_NS;
    if (room == CULEX_ROOM_ENOUGH) {
        culex__log_write(&worker->log, CULEX_LOG_WARNING, NULL, "the store has room again");
        shortage->told = room;
        return;
    }
    if (is_told && room <= shortage->worst)
        return;
    culex__log_write(
        &worker->log, CULEX_LOG_ERROR, NULL,
        room == CULEX_ROOM_SHORT
            ? "the store is short of room: new runs may be refused, those it holds go on; make "
              "room on its disk"
            : "the store has no room: nothing new is started, only results are recorded; make "
              "room on its disk");
    shortage->told = shortage->worst = room;
    shortage->logged_ns = now_ns;
}
