#include "suite.h"

#include "model.h"
#include "core/run_id.h"
#include "stores.h"

static int64_t driven_clock(void *self)
{
    return ((struct suite *)self)->now_ms;
}

/* The system's functions take no notice of `self`, so the clock's may ride along. */
static void world_init(struct suite *suite)
{
    suite->env = *culex__env_system();
    suite->env.self = suite;
    suite->env.store_clock_ms = driven_clock;
}

struct culex_store *suite_open_again(struct suite *suite)
{
    struct culex_store *store = stores_open(&suite->env, suite->name);
    assert_non_null(store);
    return store;
}

void suite_open(struct suite *suite, const char *kind, int priority)
{
    static unsigned opened;
    memset(suite, 0, sizeof *suite);
    world_init(suite);
    suite->kind = kind;
    suite->priority = priority;
    suite->now_ms = INT64_C(1800000000000);
    snprintf(suite->queue, sizeof suite->queue, "mail");
    snprintf(suite->name, sizeof suite->name, "case%u", ++opened);
    bool is_model = strcmp(kind, "model") == 0;
    suite->store = is_model ? model_open(&suite->env) : suite_open_again(suite);
}

void suite_close(struct suite *suite)
{
    if (suite->store != NULL) {
        suite->store->ops->step_release(suite->store, &suite->reply);
        suite->store->ops->close(suite->store);
    }
    culex_run_info_free(suite->info);
    memset(suite, 0, sizeof *suite);
}

culex_uuid suite_id(struct suite *suite)
{
    uint64_t serial = ++suite->serial;
    return culex__run_id_make((struct culex_run_id_parts){
        .ms = suite->now_ms, .salt = 7, .lane = CULEX_RUN_LANE_MAX, .number = serial << 20});
}

struct culex_ticket suite_ticket(struct suite *suite)
{
    struct culex_ticket first = {.producer = ++suite->serial};
    return culex__ticket_next(&first, suite->now_ms);
}

struct culex_new_run suite_run(struct suite *suite)
{
    struct culex_new_run run = {.job = "shop.send_email",
                                .priority = suite->priority,
                                .attempts_max = 5,
                                .unique_while = CULEX_UNIQUE_LIVE,
                                .keep_success_ms = SUITE_MINUTE_MS,
                                .keep_failure_ms = 60 * SUITE_MINUTE_MS,
                                .fingerprint = 0xfedcba9876543210u,
                                .tags = "",
                                .payload = "{}",
                                .payload_len = 2};
    run.content = 0x8000000000000000u + ++suite->serial;
    return run;
}

culex_status suite_call(struct suite *suite, const struct culex_ticket *ticket,
                        const struct culex_new_run *runs, size_t count,
                        struct culex_enqueue_result *results)
{
    return suite->store->ops->enqueue(suite->store, suite->queue, ticket, runs, count, results,
                                      NULL);
}

void suite_put_many(struct suite *suite, const struct culex_new_run *runs, size_t count,
                    struct culex_enqueue_result *results)
{
    struct culex_ticket ticket = suite_ticket(suite);
    culex_error error = {0};
    culex_status status = suite->store->ops->enqueue(suite->store, suite->queue, &ticket, runs,
                                                     count, results, &error);
    if (status != CULEX_OK)
        fail_msg("enqueue: %s", error.text);
}

struct culex_enqueue_result suite_try(struct suite *suite, const struct culex_new_run *run)
{
    struct culex_enqueue_result result;
    suite_put_many(suite, run, 1, &result);
    return result;
}

enum culex_enqueued suite_enqueue(struct suite *suite, const struct culex_new_run *run)
{
    return suite_try(suite, run).outcome;
}

culex_uuid suite_put_run(struct suite *suite, const struct culex_new_run *run)
{
    struct culex_enqueue_result result = suite_try(suite, run);
    assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
    return result.id;
}

culex_uuid suite_put(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    return suite_put_run(suite, &run);
}

struct culex_step suite_step_make(struct suite *suite, const char *session, uint32_t want)
{
    struct culex_step step = {.queue = suite->queue,
                              .session = session,
                              .nonce = ++suite->serial,
                              .want = want,
                              .max_bytes = 1 << 20,
                              .lease_ms = SUITE_LEASE_MS};
    return step;
}

size_t suite_step(struct suite *suite, const struct culex_step *step)
{
    culex_error error = {0};
    suite->store->ops->step_release(suite->store, &suite->reply);
    if (suite->store->ops->step(suite->store, step, &suite->reply, &error) != CULEX_OK)
        fail_msg("step: %s", error.text);
    assert_int_equal(suite->reply.now_ms, suite->now_ms);
    assert_true(suite->reply.grant_count <= step->want);
    return suite->reply.grant_count;
}

size_t suite_claim(struct suite *suite, const char *session, uint32_t want)
{
    struct culex_step step = suite_step_make(suite, session, want);
    return suite_step(suite, &step);
}

size_t suite_claim_for(struct suite *suite, const char *session, uint32_t want, uint32_t starts,
                       bool in_company)
{
    struct culex_step step = suite_step_make(suite, session, want);
    step.ahead = want - starts;
    step.in_company = in_company;
    return suite_step(suite, &step);
}

uint32_t suite_take(struct suite *suite, const char *session, culex_uuid id)
{
    assert_int_equal(suite_claim(suite, session, 1), 1);
    assert_memory_equal(&suite->reply.grants[0].facts.id, &id, sizeof id);
    return suite->reply.grants[0].facts.attempt;
}

void suite_pass(struct suite *suite, int64_t ms)
{
    suite->now_ms += ms;
    assert_int_equal(suite_claim(suite, "00000000000000ff", 0), 0);
}

enum culex_answer suite_ack(struct suite *suite, const char *session, struct culex_ack ack)
{
    struct culex_step step = suite_step_make(suite, session, 0);
    step.acks = &ack;
    step.ack_count = 1;
    suite_step(suite, &step);
    return suite->reply.acks[0];
}

enum culex_answer suite_end(struct suite *suite, const char *session, culex_uuid id,
                            uint32_t attempt, enum culex_run_event event, int64_t delay_ms)
{
    struct culex_ack ack = {.id = id, .attempt = attempt, .event = event, .delay_ms = delay_ms};
    return suite_ack(suite, session, ack);
}

enum culex_answer suite_beat(struct suite *suite, const char *session, culex_uuid id,
                             uint32_t attempt, int64_t lease_ms)
{
    struct culex_step step = suite_step_make(suite, session, 0);
    struct culex_beat beat = {.id = id, .attempt = attempt};
    step.lease_ms = lease_ms;
    step.beats = &beat;
    step.beat_count = 1;
    suite_step(suite, &step);
    return suite->reply.beats[0];
}

enum culex_answer suite_tell(struct suite *suite, const char *session, struct culex_beat beat)
{
    struct culex_step step = suite_step_make(suite, session, 0);
    step.beats = &beat;
    step.beat_count = 1;
    suite_step(suite, &step);
    return suite->reply.beats[0];
}

const culex_run_info *suite_get(struct suite *suite, culex_uuid id)
{
    culex_error error = {0};
    culex_run_info_free(suite->info);
    suite->info = NULL;
    culex_status status =
        suite->store->ops->get(suite->store, suite->queue, id, &suite->info, &error);
    if (status != CULEX_OK && status != CULEX_ENOTFOUND)
        fail_msg("get: %s", error.text);
    return suite->info;
}

culex_run_state suite_state(struct suite *suite, culex_uuid id)
{
    const culex_run_info *run = suite_get(suite, id);
    return run != NULL ? run->state : CULEX_RUN_STATE_COUNT;
}

culex_queue_stats suite_stats(struct suite *suite)
{
    culex_queue_stats stats = {0};
    assert_ok(suite->store->ops->stats(suite->store, suite->queue, &stats, NULL));
    assert_int_equal(stats.now_ms, suite->now_ms);
    return stats;
}

size_t suite_purge(struct suite *suite, culex_run_state state, size_t limit)
{
    struct culex_purge_reply purged = {0};
    assert_ok(suite->store->ops->purge(suite->store, suite->queue, state, limit, &purged, NULL));
    assert_true(purged.deleted <= limit);
    return purged.deleted;
}

void suite_cancel(struct suite *suite, culex_uuid id)
{
    culex_run_state state;
    assert_ok(suite->store->ops->cancel(suite->store, suite->queue, id, &state, NULL));
}

size_t suite_hello(struct suite *suite, const char *worker, const char *session)
{
    size_t released = 0;
    int64_t now_ms = 0;
    assert_ok(suite->store->ops->hello(suite->store, suite->queue, worker, session, &released,
                                       &now_ms, NULL));
    assert_int_equal(now_ms, suite->now_ms);
    return released;
}

culex_fsck_counts suite_fsck(struct suite *suite, bool is_repairing)
{
    struct culex_fsck_reply reply = {.cursor = 0};
    culex_fsck_counts counts = {0};
    for (int calls = 0; calls == 0 || reply.cursor != 0; calls++) {
        assert_ok(suite->store->ops->fsck(suite->store, suite->queue, reply.cursor, is_repairing,
                                          &reply, NULL));
        counts.records += reply.counts.records;
        counts.wrong += reply.counts.wrong;
        counts.damaged += reply.counts.damaged;
        assert_true(calls < 1000);
    }
    return counts;
}

void suite_check(struct suite *suite)
{
    char **names = NULL;
    assert_ok(suite->store->ops->queues(suite->store, &names, NULL));
    for (size_t i = 0; names[i] != NULL; i++) {
        snprintf(suite->queue, sizeof suite->queue, "%s", names[i]);
        culex_fsck_counts counts = suite_fsck(suite, false);
        bool is_sound = stores_check(suite->name, suite->queue);
        if (counts.wrong + counts.damaged > 0 || !is_sound)
            fail_msg("the case leaves the queue '%s' with indexes that disagree with its records",
                     suite->queue);
    }
    free(names);
}

int64_t suite_remembered(struct suite *suite)
{
    return stores_remembered(suite->name, suite->queue);
}

bool suite_same_id(culex_uuid left, culex_uuid right)
{
    return memcmp(&left, &right, sizeof left) == 0;
}
