/* suite/cases_deadline.c - the time for retries: what begins it, what it ends, what it leaves
 * alone. */
#include "suite.h"

#include "cases.h"

#include <string.h>

#include "base/limits.h"

enum { FOR_MS = 2 * SUITE_LEASE_MS, DELAY_MS = 1000 };

#define LATE "the retry deadline has passed"

static culex_uuid put_bounded(struct suite *suite, uint32_t attempts_max)
{
    struct culex_new_run run = suite_run(suite);
    run.retry_for_ms = FOR_MS;
    run.attempts_max = attempts_max;
    return suite_put_run(suite, &run);
}

/* The next attempt of `id` ends by `event`, with the text "boom". */
static void end_next(struct suite *suite, culex_uuid id, enum culex_run_event event,
                     int64_t delay_ms)
{
    struct culex_ack ack = {.id = id,
                            .attempt = suite_take(suite, ANN, id),
                            .event = event,
                            .delay_ms = delay_ms,
                            .has_begun = event == CULEX_EVENT_RELEASE,
                            .text = "boom"};
    assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
}

static void assert_dead(struct suite *suite, culex_uuid id, const char *text)
{
    const culex_run_info *info = suite_get(suite, id);
    assert_int_equal(info->state, CULEX_RUN_DEAD);
    assert_string_equal(info->error_text, text);
}

void case_deadline__is_counted_from_the_first_failure(struct suite *suite)
{
    static const enum culex_run_event ends[] = {CULEX_EVENT_FAIL, CULEX_EVENT_CRASH,
                                                CULEX_EVENT_LOSS};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        culex_uuid id = put_bounded(suite, 1000);
        suite->now_ms += FOR_MS; /* to wait for a worker takes nothing of it */
        assert_int_equal(suite_get(suite, id)->expires_at_ms, 0);
        end_next(suite, id, ends[i],
                 ends[i] == CULEX_EVENT_LOSS ? FOR_MS : 0); /* a loss has none */
        int64_t until_ms = suite->now_ms + FOR_MS;
        assert_int_equal(suite_get(suite, id)->expires_at_ms, until_ms);
        suite->now_ms += DELAY_MS;
        end_next(suite, id, ends[i], 0);
        assert_int_equal(suite_get(suite, id)->expires_at_ms, until_ms);
        suite_cancel(suite, id);
    }
}

void case_deadline__next_attempt_before_it_is_begun(struct suite *suite)
{
    culex_uuid id = put_bounded(suite, 1000);
    end_next(suite, id, CULEX_EVENT_FAIL, FOR_MS - 1);
    assert_state(suite, id, CULEX_RUN_SCHEDULED);
    suite->now_ms += FOR_MS - 1;
    uint32_t attempt = suite_take(suite, ANN, id);
    suite->now_ms += FOR_MS; /* it may end later, and by then be good */
    suite_beat(suite, ANN, id, attempt, SUITE_LEASE_MS);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0);
    assert_state(suite, id, CULEX_RUN_DONE);
}

void case_deadline__failure_whose_next_attempt_is_later_is_final(struct suite *suite)
{
    culex_uuid first = put_bounded(suite, 1000);
    end_next(suite, first, CULEX_EVENT_FAIL, FOR_MS);
    assert_dead(suite, first, LATE ": boom");
    culex_uuid id = put_bounded(suite, 1000);
    end_next(suite, id, CULEX_EVENT_CRASH, DELAY_MS);
    suite->now_ms += DELAY_MS;
    end_next(suite, id, CULEX_EVENT_FAIL, FOR_MS - DELAY_MS);
    assert_dead(suite, id, LATE ": boom");
    assert_int_equal(suite_stats(suite).dead, 2);
}

void case_deadline__loss_after_it_is_final(struct suite *suite)
{
    culex_uuid id = put_bounded(suite, 1000);
    end_next(suite, id, CULEX_EVENT_FAIL, DELAY_MS);
    suite->now_ms += FOR_MS - 1;
    suite_take(suite, EVE, id);
    suite_pass(suite, SUITE_LEASE_MS); /* nobody tells how it ended */
    const culex_run_info *info = suite_get(suite, id);
    assert_int_equal(info->state, CULEX_RUN_DEAD);
    assert_int_equal(info->losses, 1);
    assert_memory_equal(info->error_text, LATE ": the lease of ", strlen(LATE ": the lease of "));
}

void case_deadline__run_that_waits_beyond_it_dies_unstarted(struct suite *suite)
{
    culex_uuid id = put_bounded(suite, 1000), mute = put_bounded(suite, 1000);
    end_next(suite, id, CULEX_EVENT_FAIL, DELAY_MS);
    uint32_t attempt = suite_take(suite, ANN, mute);
    suite_end(suite, ANN, mute, attempt, CULEX_EVENT_LOSS, 0); /* without a text */
    suite->now_ms += FOR_MS;
    assert_int_equal(suite_claim(suite, BOB, 5), 0);
    assert_int_equal(suite->reply.expired_count, 2);
    assert_dead(suite, id, LATE ": boom");
    assert_int_equal(suite_get(suite, id)->attempt, 1);
    assert_dead(suite, mute, LATE);
}

void case_deadline__number_of_attempts_ends_a_run_before(struct suite *suite)
{
    culex_uuid id = put_bounded(suite, 2);
    end_next(suite, id, CULEX_EVENT_FAIL, 0);
    end_next(suite, id, CULEX_EVENT_FAIL, FOR_MS);
    assert_dead(suite, id, "boom");
    culex_uuid only = put_bounded(suite, 1);
    end_next(suite, only, CULEX_EVENT_FAIL, FOR_MS);
    assert_dead(suite, only, "boom");
    culex_uuid pointless = put_bounded(suite, 9);
    end_next(suite, pointless, CULEX_EVENT_FAIL, 0);
    uint32_t attempt = suite_take(suite, ANN, pointless);
    suite->now_ms += FOR_MS;
    suite_beat(suite, ANN, pointless, attempt, SUITE_LEASE_MS);
    suite_end(suite, ANN, pointless, attempt, CULEX_EVENT_DISCARD, 0);
    assert_state(suite, pointless, CULEX_RUN_DEAD);
    assert_true(strstr(suite->info->error_text, LATE) == NULL);
}

void case_deadline__return_of_a_run_neither_begins_nor_ends_it(struct suite *suite)
{
    culex_uuid id = put_bounded(suite, 1000);
    end_next(suite, id, CULEX_EVENT_RELEASE, DELAY_MS);
    assert_int_equal(suite_get(suite, id)->expires_at_ms, 0);
    suite->now_ms += FOR_MS;
    end_next(suite, id, CULEX_EVENT_FAIL, 0);
    int64_t until_ms = suite->now_ms + FOR_MS;
    end_next(suite, id, CULEX_EVENT_RELEASE, FOR_MS);
    assert_int_equal(suite_get(suite, id)->expires_at_ms, until_ms);
    suite->now_ms += FOR_MS;
    assert_int_equal(suite_claim(suite, BOB, 1), 0);
    assert_dead(suite, id, LATE ": boom");
}

void case_deadline__operator_begins_it_anew(struct suite *suite)
{
    culex_uuid id = put_bounded(suite, 1000);
    end_next(suite, id, CULEX_EVENT_FAIL, FOR_MS);
    assert_ok(suite->store->ops->retry(suite->store, suite->queue, id, NULL));
    assert_int_equal(suite_get(suite, id)->expires_at_ms, 0);
    suite->now_ms += 2 * FOR_MS;
    end_next(suite, id, CULEX_EVENT_FAIL, 0);
    assert_int_equal(suite_get(suite, id)->expires_at_ms, suite->now_ms + FOR_MS);
}

void case_deadline__failure_lifts_the_expiry_before_it(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.expires_ms = DELAY_MS;
    run.retry_for_ms = FOR_MS;
    culex_uuid id = suite_put_run(suite, &run);
    assert_int_equal(suite_get(suite, id)->expires_at_ms, suite->now_ms + DELAY_MS);
    end_next(suite, id, CULEX_EVENT_FAIL, 0);
    assert_int_equal(suite_get(suite, id)->expires_at_ms, suite->now_ms + FOR_MS);
    culex_uuid unbegun = suite_put_run(suite, &run);
    suite->now_ms += DELAY_MS;
    assert_int_equal(suite_claim(suite, BOB, 5), 1);
    assert_dead(suite, unbegun, "expired");
}

void case_deadline__reason_stands_before_a_text_of_4_kib(struct suite *suite)
{
    char text[CULEX_ERROR_TEXT_MAX + 1], late[CULEX_ERROR_TEXT_MAX + 1];
    for (size_t i = 0; i < CULEX_ERROR_TEXT_MAX; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    text[CULEX_ERROR_TEXT_MAX] = '\0';
    culex_uuid id = put_bounded(suite, 1000);
    struct culex_ack ack = {.id = id,
                            .attempt = suite_take(suite, ANN, id),
                            .event = CULEX_EVENT_FAIL,
                            .delay_ms = FOR_MS,
                            .text = text};
    assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
    size_t head = strlen(LATE ": "), room = CULEX_ERROR_TEXT_MAX - head;
    memcpy(late, LATE ": ", head);
    memcpy(late + head, text, room - room % 2);
    late[head + room - room % 2] = '\0';
    assert_dead(suite, id, late);
}
