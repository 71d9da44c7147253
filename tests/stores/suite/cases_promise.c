/* suite/cases_promise.c - promises that other systems have broken: a retry that is due in a while,
 * a periodic run whose worker died, an abandoned run of one queue among many. */
#include "suite.h"

#include "cases.h"

#include <stdio.h>

enum { TEN_MINUTES_MS = 10 * SUITE_MINUTE_MS };

void case_promise__retry_in_ten_minutes_comes_to_the_second(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_FAIL, TEN_MINUTES_MS);
    for (int64_t passed_ms = 0; passed_ms < TEN_MINUTES_MS; passed_ms += SUITE_SECOND_MS) {
        assert_int_equal(suite_claim(suite, BOB, 1), 0);
        assert_state(suite, id, CULEX_RUN_SCHEDULED); /* and has not been dropped */
        suite->now_ms += SUITE_SECOND_MS;
    }
    suite_take(suite, BOB, id);
}

static struct culex_tick_reply beat(struct suite *suite, const struct culex_new_run *run)
{
    struct culex_tick tick = {
        .queue = suite->queue, .schedule = run->job, .interval_ms = SUITE_MINUTE_MS, .run = run};
    struct culex_tick_reply reply;
    assert_ok(suite->store->ops->tick(suite->store, &tick, &reply, NULL));
    return reply;
}

/* The lost run is done by another worker, and every tick behind it has its own. */
void case_promise__periodic_job_of_a_dead_worker_runs_at_its_next_tick(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    assert_true(beat(suite, &run).is_enqueued);
    assert_int_equal(suite_claim(suite, ANN, 1), 1);
    culex_uuid first = suite->reply.grants[0].facts.id; /* Ann is never heard of again */
    suite->now_ms += SUITE_LEASE_MS;
    uint32_t attempt = suite_take(suite, BOB, first);
    suite_end(suite, BOB, first, attempt, CULEX_EVENT_DONE, 0);
    for (int i = 0; i < 3; i++) {
        suite->now_ms += i == 0 ? SUITE_MINUTE_MS - SUITE_LEASE_MS : SUITE_MINUTE_MS;
        assert_true(beat(suite, &run).is_enqueued);
        assert_int_equal(suite_claim(suite, BOB, 1), 1);
        culex_uuid id = suite->reply.grants[0].facts.id;
        assert_false(suite_same_id(id, first));
        suite_end(suite, BOB, id, 1, CULEX_EVENT_DONE, 0);
    }
    assert_int_equal(suite_stats(suite).enqueued, 4);
}

enum { LIVE = 50 };

/* Ann claims as many fresh runs of the queue, and says that she is at work for a long time. */
static void hold_live(struct suite *suite)
{
    struct culex_beat beats[LIVE];
    for (int i = 0; i < LIVE; i++)
        suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, LIVE), LIVE);
    for (int i = 0; i < LIVE; i++)
        beats[i] = (struct culex_beat){.id = suite->reply.grants[i].facts.id, .attempt = 1};
    struct culex_step step = suite_step_make(suite, ANN, 0);
    step.lease_ms = 4 * SUITE_LEASE_MS;
    step.beats = beats;
    step.beat_count = LIVE;
    suite_step(suite, &step);
}

/* Each queue is looked after by whoever steps it, so what others hold there and elsewhere does not
 * matter. */
void case_promise__abandoned_run_of_the_last_queue_comes_back_in_a_lease(struct suite *suite)
{
    for (int queue = 0; queue < 2; queue++) {
        snprintf(suite->queue, sizeof suite->queue, "queue%d", queue);
        hold_live(suite);
    }
    snprintf(suite->queue, sizeof suite->queue, "queue2");
    culex_uuid abandoned = suite_put(suite);
    suite_take(suite, EVE, abandoned);
    hold_live(suite);
    suite->now_ms += SUITE_LEASE_MS;
    suite_take(suite, BOB, abandoned);
}
