/* suite/cases_follow.c - follow-ups: runs that come in with the end of another, once or never. */
#include "suite.h"

#include "cases.h"

enum { SOME = 3 };

/* An end with follow-ups, which go to the suite's queue unless the case says another. */
struct end {
    struct culex_follow_up follow_ups[SOME];
    struct culex_ack ack;
    struct culex_step step;
};

static void end_make(struct suite *suite, struct end *end, culex_uuid id, uint32_t attempt)
{
    for (size_t i = 0; i < SOME; i++)
        end->follow_ups[i] = (struct culex_follow_up){suite->queue, suite_run(suite)};
    end->ack = (struct culex_ack){.id = id,
                                  .attempt = attempt,
                                  .event = CULEX_EVENT_DONE,
                                  .follow_ups = end->follow_ups,
                                  .follow_up_count = SOME};
    end->step = suite_step_make(suite, ANN, 0);
    end->step.acks = &end->ack;
    end->step.ack_count = 1;
}

static void begin(struct suite *suite, struct end *end, const struct culex_new_run *run)
{
    culex_uuid id = suite_put_run(suite, run);
    end_make(suite, end, id, suite_take(suite, ANN, id));
}

static enum culex_answer tell(struct suite *suite, const struct end *end)
{
    suite_step(suite, &end->step);
    assert_string_equal(suite->reply.follow_ups_left.text, "");
    return suite->reply.acks[0];
}

static culex_queue_stats stats_of(struct suite *suite, const char *queue)
{
    culex_queue_stats stats;
    assert_ok(suite->store->ops->stats(suite->store, queue, &stats, NULL));
    return stats;
}

static void assert_payload(const struct suite *suite, size_t at, const struct culex_new_run *run)
{
    const struct culex_grant *grant = &suite->reply.grants[at];
    assert_string_equal(grant->job, run->job);
    assert_int_equal(grant->payload_len, run->payload_len);
    assert_memory_equal(grant->payload, run->payload, run->payload_len);
}

void case_follow__come_in_with_the_end_in_their_order(struct suite *suite)
{
    static const char *const payloads[SOME] = {"{\"n\":1}", "{\"n\":2}", "{\"n\":3}"};
    struct culex_new_run run = suite_run(suite);
    struct end end;
    begin(suite, &end, &run);
    for (size_t i = 0; i < SOME; i++) {
        end.follow_ups[i].run.payload = payloads[i];
        end.follow_ups[i].run.payload_len = strlen(payloads[i]);
    }
    assert_int_equal(tell(suite, &end), CULEX_ANSWER_OK);
    assert_false(suite->reply.is_empty);
    assert_state(suite, end.ack.id, CULEX_RUN_DONE);
    assert_int_equal(suite_claim(suite, BOB, 9), SOME);
    for (size_t i = 0; i < SOME; i++)
        assert_payload(suite, i, &end.follow_ups[i].run);
    assert_int_equal(suite_stats(suite).enqueued, 1 + SOME);
}

void case_follow__of_a_run_that_is_kept_for_no_time(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct end end;
    run.keep_success_ms = 0;
    begin(suite, &end, &run);
    assert_int_equal(tell(suite, &end), CULEX_ANSWER_OK);
    assert_null(suite_get(suite, end.ack.id));
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], SOME);
}

void case_follow__keep_the_result_and_the_progress(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct end end;
    begin(suite, &end, &run);
    end.ack.result = "{\"total\":7}";
    end.ack.result_len = strlen(end.ack.result);
    end.ack.progress = "100 all done";
    assert_int_equal(tell(suite, &end), CULEX_ANSWER_OK);
    const culex_run_info *info = suite_get(suite, end.ack.id);
    assert_non_null(info);
    assert_int_equal(info->result.len, end.ack.result_len);
    assert_memory_equal(info->result.data, end.ack.result, info->result.len);
    assert_string_equal(info->progress_text, "all done");
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], SOME);
}

void case_follow__repeated_step_brings_them_once(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct end end;
    begin(suite, &end, &run);
    assert_int_equal(tell(suite, &end), CULEX_ANSWER_OK);
    assert_int_equal(tell(suite, &end), CULEX_ANSWER_OK);
    end.step.nonce = suite_step_make(suite, ANN, 0).nonce;
    assert_int_equal(tell(suite, &end), CULEX_ANSWER_REPEATED);
    assert_int_equal(suite_stats(suite).enqueued, 1 + SOME);
}

void case_follow__of_a_late_attempt_never_come_in(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct end end;
    begin(suite, &end, &run);
    suite->now_ms += SUITE_LEASE_MS;
    suite_claim(suite, BOB, 1);
    assert_int_equal(tell(suite, &end), CULEX_ANSWER_STALE);
    end.ack.id = suite_id(suite);
    end.step.nonce = suite_step_make(suite, ANN, 0).nonce;
    assert_int_equal(tell(suite, &end), CULEX_ANSWER_GONE);
    assert_int_equal(suite_stats(suite).enqueued, 1);
}

void case_follow__go_to_other_queues(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct end end;
    begin(suite, &end, &run);
    end.follow_ups[0].queue = "elsewhere";
    end.follow_ups[2].queue = "elsewhere";
    assert_int_equal(tell(suite, &end), CULEX_ANSWER_OK);
    assert_int_equal(stats_of(suite, "elsewhere").count[CULEX_RUN_WAITING], 2);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 1);
    assert_int_equal(tell(suite, &end), CULEX_ANSWER_OK);
    assert_int_equal(stats_of(suite, "elsewhere").enqueued, 2);
    strcpy(suite->queue, "elsewhere");
    assert_int_equal(suite_claim(suite, BOB, 9), 2);
}

void case_follow__pass_the_bound_of_the_queue(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct end end;
    begin(suite, &end, &run);
    assert_ok(suite->store->ops->limit(suite->store, suite->queue, 1, NULL));
    assert_int_equal(suite_enqueue(suite, &run), CULEX_ENQUEUED_FULL);
    assert_int_equal(tell(suite, &end), CULEX_ANSWER_OK);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], SOME);
}

void case_follow__are_judged_by_their_keys(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite), held = suite_run(suite);
    struct end end;
    held.unique_key = "ab12";
    held.unique_while = CULEX_UNIQUE_LIVE;
    begin(suite, &end, &run);
    suite_put_run(suite, &held);
    end.follow_ups[0].run = held;
    end.follow_ups[1].run.idempotency_key = "invoice 7";
    end.follow_ups[1].run.window_ms = SUITE_MINUTE_MS;
    end.follow_ups[2].run = end.follow_ups[1].run;
    assert_int_equal(tell(suite, &end), CULEX_ANSWER_OK);
    assert_int_equal(suite_stats(suite).enqueued, 3);
    assert_int_equal(suite_enqueue(suite, &end.follow_ups[1].run), CULEX_ENQUEUED_DUPLICATE);
}

void case_follow__with_delay_priority_and_limits(struct suite *suite)
{
    const struct culex_run_limit one = {.kind = CULEX_LIMIT_CONCURRENCY, .name = "one", .count = 1};
    struct culex_new_run run = suite_run(suite);
    struct end end;
    begin(suite, &end, &run);
    end.follow_ups[0].run.delay_ms = SUITE_MINUTE_MS;
    end.follow_ups[1].run.priority = 9;
    end.follow_ups[1].run.limits = end.follow_ups[2].run.limits = &one;
    end.follow_ups[1].run.limit_count = end.follow_ups[2].run.limit_count = 1;
    assert_int_equal(tell(suite, &end), CULEX_ANSWER_OK);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_SCHEDULED], 1);
    assert_int_equal(suite_claim(suite, BOB, 9), 1);
    assert_int_equal(suite->reply.grants[0].facts.attempt, 1);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 1);
    suite->now_ms += SUITE_MINUTE_MS;
    suite_pass(suite, 0);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_SCHEDULED], 0);
}

void case_follow__are_not_granted_by_the_step_that_brings_them(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct end end;
    begin(suite, &end, &run);
    end.step.want = 9;
    assert_int_equal(tell(suite, &end), CULEX_ANSWER_OK);
    assert_int_equal(suite->reply.grant_count, 0);
    assert_false(suite->reply.is_empty);
    assert_int_equal(suite_claim(suite, ANN, 9), SOME);
}

void case_follow__of_many_that_end_in_one_step(struct suite *suite)
{
    enum { MANY = 40 };
    static struct culex_ack acks[MANY];
    struct culex_new_run runs[MANY];
    struct culex_enqueue_result results[MANY];
    struct culex_follow_up follow_up = {suite->queue, suite_run(suite)};
    for (size_t i = 0; i < MANY; i++)
        runs[i] = suite_run(suite);
    suite_put_many(suite, runs, MANY, results);
    assert_int_equal(suite_claim(suite, ANN, MANY), MANY);
    for (size_t i = 0; i < MANY; i++) {
        acks[i] = (struct culex_ack){.id = suite->reply.grants[i].facts.id,
                                     .attempt = 1,
                                     .event = i % 5 == 0 ? CULEX_EVENT_DISCARD : CULEX_EVENT_DONE,
                                     .claim_ms = suite->reply.grants[i].facts.claim_ms};
        if (i % 5 != 0 && i % 2 == 0)
            acks[i].follow_ups = &follow_up, acks[i].follow_up_count = 1;
    }
    struct culex_step step = suite_step_make(suite, ANN, 0);
    step.acks = acks;
    step.ack_count = MANY;
    suite_step(suite, &step);
    assert_int_equal(suite_stats(suite).done, MANY - MANY / 5);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], MANY / 2 - MANY / 10);
}

void case_follow__of_any_other_event_are_refused(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_step_reply reply;
    culex_error error = {0};
    struct end end;
    begin(suite, &end, &run);
    end.ack.event = CULEX_EVENT_FAIL;
    assert_int_equal(suite->store->ops->step(suite->store, &end.step, &reply, &error),
                     CULEX_EINVAL);
    assert_non_null(strstr(error.text, "only a run that is done has follow-ups"));
    end.ack.event = CULEX_EVENT_DONE;
    end.follow_ups[1].queue = "a{b";
    assert_int_equal(suite->store->ops->step(suite->store, &end.step, &reply, &error),
                     CULEX_EINVAL);
    end.follow_ups[1].queue = suite->queue;
    end.ack.follow_up_count = CULEX_FOLLOW_UPS_MAX + 1;
    assert_int_equal(suite->store->ops->step(suite->store, &end.step, &reply, &error),
                     CULEX_ELIMIT);
    end.ack.follow_up_count = SOME;
    assert_int_equal(tell(suite, &end), CULEX_ANSWER_OK);
}
