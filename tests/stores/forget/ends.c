#include "ends.h"
#include "store/limit_list.h"

#include "base/limits.h"

enum { CALL_RUNS = 20, WANT = 64, SCHEDULES = 3, LOOK_MS = 5000 };

static const char result[300] = "a result that is longer than what a store keeps in place of it ";
static const char large[70000] = "[]";

/* One portion: who works, and what was enqueued. */
struct portion {
    struct suite *suite;
    const struct ends_end *end;
    ends_watch_fn watch;
    size_t count;
    char worker[32], session[17];
    culex_uuid ids[ENDS_PORTION_MAX];
};

/* How runs are made, what their handlers come to, and what is done before handlers see them. What
 * is NULL is left out. */
struct ends_end {
    const char *name;
    void (*shape)(struct culex_new_run *run, size_t serial);
    bool is_limited; /* its runs have limits */
    void (*act)(struct portion *portion);
    struct culex_ack (*judge)(const struct culex_grant *grant);
    size_t share; /* of a portion's runs; 0 for all */
};

static void look(const struct portion *portion)
{
    if (portion->watch != NULL)
        portion->watch();
}

/* --- sessions ------------------------------------------------------------------------------- */

static void session_begin(struct portion *portion)
{
    struct suite *suite = portion->suite;
    uint64_t serial = ++suite->serial;
    snprintf(portion->worker, sizeof portion->worker, "worker-%llu", (unsigned long long)serial);
    /* Tokens are random, so their order is not that of their time. */
    snprintf(portion->session, sizeof portion->session, "%016llx",
             (unsigned long long)(serial * UINT64_C(0x9e3779b97f4a7c15)));
    suite_hello(suite, portion->worker, portion->session);
}

/* --- enqueueing ------------------------------------------------------------------------------ */

static void runs_make(struct portion *portion, struct culex_new_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        runs[i] = suite_run(portion->suite);
        runs[i].keep_success_ms = runs[i].keep_failure_ms = 0;
        if (portion->end->shape != NULL)
            portion->end->shape(&runs[i], (size_t)portion->suite->serial);
    }
}

static void put_call(struct portion *portion, size_t from, size_t count)
{
    struct culex_new_run runs[CALL_RUNS];
    struct culex_enqueue_result results[CALL_RUNS];
    runs_make(portion, runs, count);
    suite_put_many(portion->suite, runs, count, results);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(results[i].outcome, CULEX_ENQUEUED_NEW);
        portion->ids[from + i] = results[i].id;
    }
    look(portion);
}

static void put_all(struct portion *portion)
{
    for (size_t from = 0; from < portion->count; from += CALL_RUNS) {
        size_t left = portion->count - from;
        put_call(portion, from, left < CALL_RUNS ? left : CALL_RUNS);
    }
}

/* --- working off ----------------------------------------------------------------------------- */

static struct culex_ack ack_of(const struct culex_grant *grant, enum culex_run_event event)
{
    return (struct culex_ack){
        .id = grant->facts.id, .attempt = grant->facts.attempt, .event = event};
}

static struct culex_ack done(const struct culex_grant *grant)
{
    return ack_of(grant, CULEX_EVENT_DONE);
}

static size_t step_with(struct portion *portion, const struct culex_ack *acks, size_t count)
{
    struct culex_step step = suite_step_make(portion->suite, portion->session, WANT);
    step.offers = "gpu:8,tape:8";
    step.acks = acks;
    step.ack_count = count;
    size_t grants = suite_step(portion->suite, &step);
    look(portion);
    return grants;
}

/* Until nothing is waiting, scheduled or active; the clock moves to what is scheduled. */
static void work_by(struct portion *portion, struct culex_ack (*judge)(const struct culex_grant *))
{
    struct suite *suite = portion->suite;
    struct culex_ack acks[WANT];
    size_t count = 0;
    do {
        count = step_with(portion, acks, count);
        for (size_t i = 0; i < count; i++)
            acks[i] = judge(&suite->reply.grants[i]);
        if (count == 0 && suite->reply.due_in_ms > 0)
            suite->now_ms += suite->reply.due_in_ms;
    } while (count > 0 || !suite->reply.is_empty);
}

static void work(struct portion *portion)
{
    work_by(portion, portion->end->judge != NULL ? portion->end->judge : done);
}

/* Claims what there is, WANT at most, and ends nothing. */
static size_t claim(struct portion *portion, struct culex_beat *ret_beats)
{
    size_t count = step_with(portion, NULL, 0);
    for (size_t i = 0; i < count; i++)
        ret_beats[i] = (struct culex_beat){.id = portion->suite->reply.grants[i].facts.id,
                                           .attempt = portion->suite->reply.grants[i].facts.attempt,
                                           .is_started = true,
                                           .progress = "5 begun"};
    return count;
}

static void beat(struct portion *portion, const struct culex_beat *beats, size_t count)
{
    struct culex_step step = suite_step_make(portion->suite, portion->session, 0);
    step.beats = beats;
    step.beat_count = count;
    suite_step(portion->suite, &step);
    look(portion);
}

/* --- ends by what handlers do ------------------------------------------------------------------
 */

static void kept(struct culex_new_run *run, size_t serial)
{
    (void)serial;
    run->keep_success_ms = run->keep_failure_ms = SUITE_SECOND_MS;
}

static void kept_once(struct culex_new_run *run, size_t serial)
{
    kept(run, serial);
    run->attempts_max = 1;
}

static void ranked(struct culex_new_run *run, size_t serial)
{
    run->priority = (int)(1 + serial % 9);
}

static void mixed(struct culex_new_run *run, size_t serial)
{
    run->priority = (int)(serial % 3);
}

static void delayed(struct culex_new_run *run, size_t serial)
{
    mixed(run, serial);
    run->delay_ms = 500;
}

static void heavy(struct culex_new_run *run, size_t serial)
{
    kept(run, serial);
    run->payload = large;
    run->payload_len = sizeof large - 1;
}

static struct culex_ack done_with_result(const struct culex_grant *grant)
{
    struct culex_ack ack = done(grant);
    ack.result = result;
    ack.result_len = sizeof result;
    ack.progress = "100 all";
    return ack;
}

static struct culex_ack failed(const struct culex_grant *grant)
{
    struct culex_ack ack = ack_of(grant, CULEX_EVENT_FAIL);
    ack.text = "no such address";
    ack.delay_ms = 100;
    return ack;
}

static struct culex_ack failed_at_first(const struct culex_grant *grant)
{
    return grant->facts.attempt == 1 ? failed(grant) : done(grant);
}

static struct culex_ack crashed(const struct culex_grant *grant)
{
    return ack_of(grant, CULEX_EVENT_CRASH);
}

static struct culex_ack discarded(const struct culex_grant *grant)
{
    return ack_of(grant, CULEX_EVENT_DISCARD);
}

static struct culex_ack lost(const struct culex_grant *grant)
{
    return ack_of(grant, CULEX_EVENT_LOSS);
}

static struct culex_ack released_at_first(const struct culex_grant *grant)
{
    return grant->facts.attempt == 1 ? ack_of(grant, CULEX_EVENT_RELEASE) : done(grant);
}

/* --- ends that others bring about ---------------------------------------------------------------
 */

static void cancel_all(struct portion *portion)
{
    for (size_t i = 0; i < portion->count; i++)
        suite_cancel(portion->suite, portion->ids[i]);
}

static void claim_and_cancel(struct portion *portion)
{
    struct culex_beat beats[WANT];
    size_t count = claim(portion, beats);
    for (size_t i = 0; i < count; i++)
        suite_cancel(portion->suite, beats[i].id);
    beat(portion, beats, count);
    assert_true(count == 0 || portion->suite->reply.beats[0] == CULEX_ANSWER_CANCEL);
    for (size_t i = 0; i < count; i++)
        suite_end(portion->suite, portion->session, beats[i].id, 1, CULEX_EVENT_RELEASE, 0);
}

static void claim_and_vanish(struct portion *portion)
{
    struct culex_beat beats[WANT];
    beat(portion, beats, claim(portion, beats));
    portion->suite->now_ms += SUITE_LEASE_MS + 1;
}

static void claim_and_be_replaced(struct portion *portion)
{
    struct culex_beat beats[WANT];
    claim(portion, beats);
    snprintf(portion->session, sizeof portion->session, "%016llx",
             (unsigned long long)++portion->suite->serial);
    suite_hello(portion->suite, portion->worker, portion->session);
}

static void doomed(struct culex_new_run *run, size_t serial)
{
    kept(run, serial);
    run->expires_ms = 1;
}

static void wait_long(struct portion *portion)
{
    portion->suite->now_ms += SUITE_SECOND_MS;
}

static void dead(struct culex_new_run *run, size_t serial)
{
    (void)serial;
    run->keep_success_ms = 0;
    run->keep_failure_ms = SUITE_MINUTE_MS;
}

static void discard_and_retry(struct portion *portion)
{
    struct culex_store *store = portion->suite->store;
    work_by(portion, discarded);
    for (size_t i = 0; i < portion->count; i++)
        assert_ok(store->ops->retry(store, portion->suite->queue, portion->ids[i], NULL));
}

static void long_kept(struct culex_new_run *run, size_t serial)
{
    (void)serial;
    run->keep_success_ms = run->keep_failure_ms = SUITE_MINUTE_MS;
}

static void purge_waiting(struct portion *portion)
{
    while (suite_purge(portion->suite, CULEX_RUN_WAITING, CULEX_STORE_PURGE_MAX) > 0)
        continue;
}

static void end_and_purge(struct portion *portion)
{
    work_by(portion, portion->end->judge != NULL ? portion->end->judge : done);
    while (suite_purge(portion->suite, CULEX_RUN_DONE, CULEX_STORE_PURGE_MAX) > 0)
        continue;
}

static void end_and_forget(struct portion *portion)
{
    struct culex_store *store = portion->suite->store;
    work_by(portion, portion->end->judge != NULL ? portion->end->judge : done);
    for (size_t i = 0; i < portion->count; i++)
        assert_ok(store->ops->forget(store, portion->suite->queue, portion->ids[i], NULL));
}

/* --- keys, schedules, limits
 * ----------------------------------------------------------------------- */

/* Serials of runs are distinct, and these texts live for one call. */
static const char *key_of(size_t serial)
{
    static char texts[CALL_RUNS][24];
    char *text = texts[serial % CALL_RUNS];
    snprintf(text, sizeof texts[0], "%zx", serial);
    return text;
}

static void unique(struct culex_new_run *run, size_t serial)
{
    run->unique_key = key_of(serial);
}

static void throttled(struct culex_new_run *run, size_t serial)
{
    run->unique_key = key_of(serial);
    run->unique_while = 0;
    run->unique_for_ms = SUITE_MINUTE_MS;
}

/* Several runs of a call share a key. */
static void limited(struct culex_new_run *run, size_t serial)
{
    static const char *const keys[] = {"a", "b", "c", "d", "e"};
    static struct culex_run_limit limits[5][3];
    struct culex_run_limit *own = limits[serial % 5];
    const char *key = keys[serial % 5];
    kept(run, serial);
    own[0] = (struct culex_run_limit){CULEX_LIMIT_CONCURRENCY, "job:concurrency", key, 3, 0, 0};
    own[1] = (struct culex_run_limit){CULEX_LIMIT_RATE, "job:rate", key, 1000, 1000, 1000};
    own[2] = (struct culex_run_limit){CULEX_LIMIT_FAIR, "job:fair", key, 0, 0, 0};
    run->limits = own;
    run->limit_count = 3;
}

/* One of them is in parts of the others' keys. */
static void needy(struct culex_new_run *run, size_t serial)
{
    static const char *const needs[] = {"needs gpu:1", "needs gpu:2,tape:1"};
    static struct culex_run_limit limits[2][2];
    struct culex_run_limit *own = limits[serial % 2];
    kept(run, serial);
    own[0] = (struct culex_run_limit){CULEX_LIMIT_CONCURRENCY, "job:concurrency", "a", 3, 0, 0};
    own[1] = (struct culex_run_limit){CULEX_LIMIT_NEEDS, needs[serial % 2], NULL, 0, 0, 0};
    run->limits = own;
    run->limit_count = 2;
}

static void keyed(struct culex_new_run *run, size_t serial)
{
    run->idempotency_key = key_of(serial);
    run->window_ms = SUITE_MINUTE_MS;
}

static void tick_all(struct portion *portion)
{
    struct suite *suite = portion->suite;
    for (int i = 0; i < SCHEDULES; i++) {
        char name[] = "report.0";
        struct culex_new_run run = suite_run(suite);
        struct culex_tick tick = {
            .queue = suite->queue, .schedule = name, .interval_ms = 1, .run = &run};
        struct culex_tick_reply reply;
        name[sizeof name - 2] = (char)('0' + i);
        assert_ok(suite->store->ops->tick(suite->store, &tick, &reply, NULL));
    }
}

/* A pause and a limit are facts for ever: what they leave must not grow. */
static void bound_and_lift(struct portion *portion)
{
    struct suite *suite = portion->suite;
    const struct culex_store_ops *ops = suite->store->ops;
    struct culex_new_run run = suite_run(suite);
    assert_ok(ops->limit(suite->store, suite->queue, portion->count, NULL));
    assert_int_equal(suite_enqueue(suite, &run), CULEX_ENQUEUED_FULL);
    assert_ok(ops->limit(suite->store, suite->queue, UINT64_C(1000000000), NULL));
    assert_ok(ops->pause(suite->store, suite->queue, true, NULL));
    assert_int_equal(step_with(portion, NULL, 0), 0);
    look(portion);
    assert_ok(ops->pause(suite->store, suite->queue, false, NULL));
}

static void worker_tell(struct suite *suite, int number, bool is_leaving)
{
    char id[16];
    struct culex_worker_tell tell = {
        .id = id, .is_leaving = is_leaving, .concurrency = 1, .sheet = "n one", .sheet_len = 5};
    struct culex_worker_wish wish;
    snprintf(id, sizeof id, "%x", (unsigned)number);
    assert_ok(suite->store->ops->worker_tell(suite->store, &tell, &wish, NULL));
}

/* Workers that die are cleared away by one that lives, which leaves at its end. */
static void workers_tell(struct portion *portion)
{
    enum { DEAD = 16 };
    struct suite *suite = portion->suite;
    for (int i = 1; i <= DEAD; i++)
        worker_tell(suite, i, false);
    look(portion);
    suite->now_ms += CULEX_WORKER_GONE_MS + 1;
    for (int i = 0; i < DEAD / 8; i++) {
        worker_tell(suite, 0, false);
        suite->now_ms += CULEX_WORKER_STILL_MS;
    }
    worker_tell(suite, 0, true);
}

/* --- all of them -------------------------------------------------------------------------------
 */

static const struct ends_end ends[] = {
    {.name = "done, kept for 0 ms"},
    {.name = "done, kept, with a result", .shape = kept, .judge = done_with_result},
    {.name = "done, by priority", .shape = ranked},
    {.name = "done, once it is due", .shape = delayed},
    {.name = "done, after a failure", .shape = kept, .judge = failed_at_first},
    {.name = "done, after a release", .shape = mixed, .judge = released_at_first},
    {.name = "done, with a large payload", .shape = heavy, .share = 20},
    {.name = "dead of a failure", .shape = kept_once, .judge = failed},
    {.name = "dead of crashes", .shape = kept, .judge = crashed},
    {.name = "dead of losses", .shape = kept, .judge = lost, .share = 20},
    {.name = "discarded", .shape = kept, .judge = discarded},
    {.name = "expired", .shape = doomed, .act = wait_long},
    {.name = "cancelled while it waits", .shape = kept, .act = cancel_all},
    {.name = "cancelled among others", .shape = mixed, .act = cancel_all},
    {.name = "cancelled at work", .shape = kept, .act = claim_and_cancel},
    {.name = "lost with its worker", .act = claim_and_vanish},
    {.name = "taken back from a worker", .act = claim_and_be_replaced},
    {.name = "retried by an operator", .shape = dead, .act = discard_and_retry},
    {.name = "purged while it waits", .act = purge_waiting},
    {.name = "purged when done", .shape = long_kept, .act = end_and_purge},
    {.name = "purged with a result",
     .shape = long_kept,
     .judge = done_with_result,
     .act = end_and_purge},
    {.name = "forgotten by an operator", .shape = long_kept, .act = end_and_forget},
    {.name = "forgotten with a result",
     .shape = long_kept,
     .judge = done_with_result,
     .act = end_and_forget},
    {.name = "held by a unique key", .shape = unique},
    {.name = "with a unique key for a time", .shape = throttled},
    {.name = "behind limits", .shape = limited, .is_limited = true},
    {.name = "for what a worker offers", .shape = needy, .is_limited = true},
    {.name = "cancelled while it waits for that",
     .shape = needy,
     .is_limited = true,
     .act = cancel_all},
    {.name = "with an idempotency key", .shape = keyed},
    {.name = "of a schedule", .act = tick_all, .share = 20},
    {.name = "beside workers that tell of themselves", .act = workers_tell, .share = 20},
    {.name = "in a bounded queue", .act = bound_and_lift},
};

const struct ends_end *ends_at(size_t index)
{
    return index < sizeof ends / sizeof ends[0] ? &ends[index] : NULL;
}

const char *ends_name(const struct ends_end *end)
{
    return end->name;
}

static void portion_run(struct portion *portion)
{
    session_begin(portion);
    put_all(portion);
    if (portion->end->act != NULL)
        portion->end->act(portion);
    look(portion);
    work(portion);
    portion->suite->now_ms += SUITE_SECOND_MS;
}

void ends_run(struct suite *suite, const struct ends_end *end, size_t count, ends_watch_fn watch)
{
    struct culex_limit_list list = {.rows = NULL};
    if (end->is_limited &&
        suite->store->ops->limits(suite->store, suite->queue, &list, NULL) == CULEX_EUNSUPPORTED)
        return;
    culex__limit_list_release(&list);
    size_t left = end->share > 1 ? (count + end->share - 1) / end->share : count;
    while (left > 0) {
        struct portion portion = {.suite = suite, .end = end, .watch = watch};
        portion.count = left < ENDS_PORTION_MAX ? left : ENDS_PORTION_MAX;
        portion_run(&portion);
        left -= portion.count;
    }
}

/* --- time passes
 * ---------------------------------------------------------------------------------- */

void ends_pass_idle(struct suite *suite, int64_t ms)
{
    struct portion portion = {.suite = suite};
    int64_t until_ms = suite->now_ms + ms;
    session_begin(&portion);
    while (suite->now_ms < until_ms) {
        assert_int_equal(step_with(&portion, NULL, 0), 0);
        int64_t due_ms = suite->reply.due_in_ms;
        suite->now_ms += due_ms >= 0 && due_ms < LOOK_MS ? due_ms : LOOK_MS;
    }
}

static void put_standing(struct suite *suite, struct culex_ticket *ticket)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_enqueue_result out;
    run.keep_success_ms = 0;
    *ticket = culex__ticket_next(ticket, suite->now_ms);
    assert_ok(suite_call(suite, ticket, &run, 1, &out));
}

void ends_pass_busy(struct suite *suite, int64_t ms, int64_t gap_ms)
{
    struct portion portion = {.suite = suite};
    struct culex_ticket ticket = suite_ticket(suite);
    struct culex_ack ack;
    int64_t until_ms = suite->now_ms + ms;
    session_begin(&portion);
    for (size_t count = 0; suite->now_ms < until_ms; count = 1) {
        put_standing(suite, &ticket);
        assert_int_equal(step_with(&portion, &ack, count), 1);
        ack = done(&suite->reply.grants[0]);
        suite->now_ms += gap_ms;
    }
    assert_int_equal(step_with(&portion, &ack, 1), 0);
}

void ends_hello(struct suite *suite, size_t workers)
{
    struct portion portion = {.suite = suite};
    for (size_t i = 0; i < workers; i++)
        session_begin(&portion);
}

void ends_burst(struct suite *suite, size_t calls)
{
    struct portion portion = {.suite = suite};
    session_begin(&portion);
    for (size_t i = 0; i < calls; i++) {
        struct culex_new_run run = suite_run(suite);
        run.keep_success_ms = 0;
        run.idempotency_key = key_of((size_t)suite->serial);
        run.window_ms = CULEX_TICKET_HORIZON_MS;
        suite_put_run(suite, &run);
    }
    work_by(&portion, done);
}
