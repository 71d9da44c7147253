/* suite/cases_argument.c - the bounds of what every verb takes, and why a verb is refused: the same
 * for all stores, and in the same words (store/argument.c, store/refusal.c). */
#include "suite.h"

#include "cases.h"
#include "base/limits.h"

static void refused(culex_status status, culex_status wanted, const culex_error *error,
                    const char *words)
{
    if (status != wanted || strstr(error->text, words) == NULL)
        fail_msg("status %d, '%s' instead of '%s'", status, error->text, words);
}

/* `count` letters and the NUL. */
static const char *letters(char *text, size_t count)
{
    memset(text, 'a', count);
    text[count] = '\0';
    return text;
}

static void run_refused(struct suite *suite, const char *queue, const struct culex_new_run *run,
                        culex_status wanted, const char *words)
{
    struct culex_ticket ticket = suite_ticket(suite);
    struct culex_enqueue_result result;
    culex_error error = {0};
    struct culex_store *store = suite->store;
    refused(store->ops->enqueue(store, queue, &ticket, run, 1, &result, &error), wanted, &error,
            words);
}

static void enqueue_refused(struct suite *suite, const char *queue, const struct culex_new_run *run,
                            const char *words)
{
    run_refused(suite, queue, run, CULEX_EINVAL, words);
}

void case_argument__run_out_of_form_is_refused(struct suite *suite)
{
    char key[CULEX_STORE_KEY_MAX + 2], job[CULEX_JOB_NAME_MAX + 2], tags[4096];
    struct culex_new_run run = suite_run(suite), good = run;
    enqueue_refused(suite, "a b", &run, "queue name 'a b'");
    enqueue_refused(suite, "a\nb", &run, "queue name 'a\\nb'");
    enqueue_refused(suite, "", &run, "a queue needs a name");
    run.job = NULL;
    enqueue_refused(suite, suite->queue, &run, "the name of a job has 1 to 255 bytes");
    run.job = letters(job, CULEX_JOB_NAME_MAX + 1);
    enqueue_refused(suite, suite->queue, &run, "the name of a job has 1 to 255 bytes");
    run.job = "a|b";
    enqueue_refused(suite, suite->queue, &run, "the name of a job holds");
    run = good, run.priority = 10;
    enqueue_refused(suite, suite->queue, &run, "run 0: priority is 0 to 9");
    run = good, run.attempts_max = 0;
    enqueue_refused(suite, suite->queue, &run, "attempts are 1 or more");
    run = good, run.unique_key = letters(key, CULEX_STORE_KEY_MAX + 1);
    enqueue_refused(suite, suite->queue, &run, "a unique key has at most 64");
    run = good, run.tags = "a|b";
    enqueue_refused(suite, suite->queue, &run, "the tags are too long or hold");
    run.tags = letters(tags, sizeof tags - 1);
    enqueue_refused(suite, suite->queue, &run, "the tags are too long or hold");
    run = good, run.payload = NULL;
    enqueue_refused(suite, suite->queue, &run, "the payload is missing");
    assert_int_equal(suite_enqueue(suite, &good), CULEX_ENQUEUED_NEW);
}

void case_argument__unique_key_is_hex(struct suite *suite)
{
    char key[CULEX_STORE_KEY_MAX + 1];
    struct culex_new_run run = suite_run(suite);
    run.unique_key = "zz top";
    enqueue_refused(suite, suite->queue, &run, "a unique key has at most 64 hex characters");
    run.unique_key = letters(key, CULEX_STORE_KEY_MAX);
    assert_int_equal(suite_enqueue(suite, &run), CULEX_ENQUEUED_NEW);
}

void case_argument__span_below_zero_is_refused(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    int64_t *const spans[] = {&run.expires_ms, &run.retry_for_ms, &run.timeout_ms,
                              &run.keep_success_ms, &run.keep_failure_ms};
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        int64_t good = *spans[i];
        *spans[i] = -1;
        enqueue_refused(suite, suite->queue, &run,
                        "expiry, time for retries, timeout and retention are 0 or more");
        *spans[i] = good;
    }
    assert_int_equal(suite_enqueue(suite, &run), CULEX_ENQUEUED_NEW);
}

void case_argument__payload_has_up_to_1_mib(struct suite *suite)
{
    static char payload[CULEX_PAYLOAD_BYTES_MAX + 1];
    struct culex_new_run run = suite_run(suite);
    memset(payload, ' ', sizeof payload);
    run.payload = payload;
    run.payload_len = sizeof payload;
    run_refused(suite, suite->queue, &run, CULEX_ELIMIT,
                "the payload is longer than 1048576 bytes");
    run.payload_len--;
    assert_int_equal(suite_enqueue(suite, &run), CULEX_ENQUEUED_NEW);
}

void case_argument__interval_is_1_ms_or_more(struct suite *suite)
{
    static const int64_t bads[] = {0, -7, INT64_MIN};
    struct culex_new_run run = suite_run(suite);
    struct culex_tick tick = {.queue = suite->queue, .schedule = "nightly", .run = &run};
    struct culex_tick_reply reply;
    struct culex_store *store = suite->store;
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        culex_error error = {0};
        tick.interval_ms = bads[i];
        refused(store->ops->tick(store, &tick, &reply, &error), CULEX_EINVAL, &error,
                "the interval of a schedule is 1 ms or more");
    }
    tick.interval_ms = 1;
    assert_ok(store->ops->tick(store, &tick, &reply, NULL));
    assert_true(reply.is_enqueued);
}

void case_argument__batch_is_bounded(struct suite *suite)
{
    enum { MOST = CULEX_STORE_BATCH_MAX };
    static struct culex_new_run runs[MOST + 1];
    static struct culex_enqueue_result results[MOST + 1];
    struct culex_store *store = suite->store;
    culex_error error = {0};
    for (size_t i = 0; i <= MOST; i++)
        runs[i] = suite_run(suite);
    struct culex_ticket ticket = suite_ticket(suite);
    refused(store->ops->enqueue(store, suite->queue, &ticket, runs, MOST + 1, results, &error),
            CULEX_ELIMIT, &error, "at most 1000 runs in one call");
    assert_ok(store->ops->enqueue(store, suite->queue, &ticket, runs, MOST, results, NULL));
    assert_int_equal(results[MOST - 1].outcome, CULEX_ENQUEUED_NEW);
}

static void step_refused(struct suite *suite, const struct culex_step *step, culex_status wanted,
                         const char *words)
{
    struct culex_step_reply reply;
    culex_error error = {0};
    refused(suite->store->ops->step(suite->store, step, &reply, &error), wanted, &error, words);
}

void case_argument__session_is_up_to_32_hex_digits(struct suite *suite)
{
    char session[CULEX_STORE_SESSION_MAX + 2];
    const char *const bads[] = {NULL, "", "worker", "00 0",
                                letters(session, CULEX_STORE_SESSION_MAX + 1)};
    struct culex_store *store = suite->store;
    size_t released;
    int64_t now_ms;
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        struct culex_step step = suite_step_make(suite, bads[i], 1);
        culex_error error = {0};
        step_refused(suite, &step, CULEX_EINVAL, "a session is a token of 1 to 32 hex digits");
        refused(store->ops->hello(store, suite->queue, "w", bads[i], &released, &now_ms, &error),
                CULEX_EINVAL, &error, "a session is a token of 1 to 32 hex digits");
    }
    letters(session, CULEX_STORE_SESSION_MAX);
    suite_hello(suite, "w", session);
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, session, id);
    assert_int_equal(suite_end(suite, session, id, attempt, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
}

void case_argument__step_is_bounded(struct suite *suite)
{
    struct culex_step step = suite_step_make(suite, ANN, CULEX_STORE_BATCH_MAX + 1);
    step_refused(suite, &step, CULEX_ELIMIT, "at most 1000 acks, beats and runs in one step");
    step.want = CULEX_STORE_BATCH_MAX;
    assert_int_equal(suite_step(suite, &step), 0);
}

void case_argument__lease_is_0_ms_or_more(struct suite *suite)
{
    struct culex_step step = suite_step_make(suite, ANN, 1);
    step.lease_ms = -5;
    step_refused(suite, &step, CULEX_EINVAL, "a lease is 0 ms or more");
}

/* Cut nowhere: whoever writes a text knows where it may be cut. */
void case_argument__ack_text_is_up_to_4096_bytes_of_utf8(struct suite *suite)
{
    char text[CULEX_ERROR_TEXT_MAX + 2];
    const char *const bads[] = {"bad \xff\xfe", letters(text, CULEX_ERROR_TEXT_MAX + 1)};
    culex_uuid id = suite_put(suite);
    struct culex_ack ack = {.id = id, .event = CULEX_EVENT_DISCARD};
    ack.attempt = suite_take(suite, ANN, id);
    struct culex_step step = suite_step_make(suite, ANN, 0);
    step.acks = &ack;
    step.ack_count = 1;
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        ack.text = bads[i];
        step_refused(suite, &step, CULEX_EINVAL, "ack 0: text too long or not UTF-8");
    }
    ack.text = letters(text, CULEX_ERROR_TEXT_MAX);
    suite_step(suite, &step);
    const culex_run_info *info = suite_get(suite, id);
    assert_string_equal(info->error_text, text);
}

void case_argument__worker_is_named_by_up_to_127_bytes(struct suite *suite)
{
    char worker[CULEX_STORE_WORKER_MAX + 2];
    const char *const bads[] = {NULL,  "",    "a|b",
                                "{a}", "a\n", letters(worker, CULEX_STORE_WORKER_MAX + 1)};
    struct culex_store *store = suite->store;
    size_t released;
    int64_t now_ms;
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        culex_error error = {0};
        refused(store->ops->hello(store, suite->queue, bads[i], ANN, &released, &now_ms, &error),
                CULEX_EINVAL, &error, "the name of a worker ");
    }
    suite_hello(suite, letters(worker, CULEX_STORE_WORKER_MAX), ANN);
}

void case_argument__operator_verb_out_of_form_is_refused(struct suite *suite)
{
    struct culex_store *store = suite->store;
    struct culex_list_reply page;
    const char *queue = suite->queue, *const none = NULL;
    culex_error error = {0};
    struct culex_purge_reply purged;
    int fd;
    suite_put(suite);
    refused(store->ops->purge(store, queue, CULEX_RUN_ACTIVE, 1, &purged, &error), CULEX_EINVAL,
            &error, "runs in this state cannot be purged");
    refused(store->ops->purge(store, queue, CULEX_RUN_DEAD, 0, &purged, &error), CULEX_EINVAL,
            &error, "1 to 500 runs are purged at once");
    refused(
        store->ops->purge(store, queue, CULEX_RUN_DEAD, CULEX_STORE_PURGE_MAX + 1, &purged, &error),
        CULEX_EINVAL, &error, "1 to 500 runs are purged at once");
    refused(store->ops->limit(store, queue, CULEX_QUEUE_LIMIT_MAX + 1, &error), CULEX_EINVAL,
            &error, "the bound on a queue's backlog is at most 1000000000, or 0 for none");
    refused(store->ops->dead_limit(store, queue, CULEX_QUEUE_LIMIT_MAX + 1, &error), CULEX_EINVAL,
            &error, "the bound on a queue's dead runs is at most 1000000000, or 0 for none");
    struct culex_place place = {.priority = 10};
    culex_uuid id = suite_id(suite);
    refused(store->ops->move(store, queue, id, &place, &error), CULEX_EINVAL, &error,
            "priority is 0 to 9, or -1 for the one it has");
    place = (struct culex_place){.priority = -1};
    refused(store->ops->move(store, queue, id, &place, &error), CULEX_EINVAL, &error,
            "a move to where the run stands");
    place = (struct culex_place){.has_time = true, .at_ms = CULEX_INSTANT_MAX_MS + 1};
    refused(store->ops->move(store, queue, id, &place, &error), CULEX_EINVAL, &error,
            "a run is moved by up to 100 years, to an instant from 1970 to 2149");
    place = (struct culex_place){.has_time = true, .delay_ms = CULEX_DELAY_MAX_MS + 1};
    refused(store->ops->move(store, queue, id, &place, &error), CULEX_EINVAL, &error,
            "a run is moved by up to 100 years, to an instant from 1970 to 2149");
    refused(store->ops->pause_for(store, queue, 0, &error), CULEX_EINVAL, &error,
            "a pause that ends by itself lasts 1 to 3155760000000 ms");
    refused(store->ops->pause_for(store, queue, CULEX_STORE_PAUSE_MAX_MS + 1, &error), CULEX_EINVAL,
            &error, "a pause that ends by itself lasts 1 to 3155760000000 ms");
    assert_ok(store->ops->pause_for(store, queue, CULEX_STORE_PAUSE_MAX_MS, NULL));
    refused(store->ops->list(store, queue, CULEX_LIST_OF(CULEX_RUN_WAITING), CULEX_LIST_START, 0,
                             &page, &error),
            CULEX_EINVAL, &error, "a page has 1 to 1000 runs");
    refused(store->ops->list(store, queue, CULEX_LIST_OF(CULEX_RUN_WAITING), CULEX_LIST_START,
                             CULEX_STORE_PAGE_MAX + 1, &page, &error),
            CULEX_EINVAL, &error, "a page has 1 to 1000 runs");
    refused(store->ops->list(store, queue, CULEX_LIST_OF(CULEX_LIST_ANY + 1), CULEX_LIST_START, 1,
                             &page, &error),
            CULEX_EINVAL, &error, "filter.states has the bit of no state");
    refused(store->ops->pause(store, "{q}", true, &error), CULEX_EINVAL, &error,
            "queue name '{q}'");
    refused(store->ops->wake_arm(store, &none, 0, 1, &fd, &error), CULEX_ELIMIT, &error,
            "1 to 1000 queues to wait for");
    assert_ok(store->ops->limit(store, queue, CULEX_QUEUE_LIMIT_MAX, NULL));
}

void case_argument__cursor_beyond_all_places_is_refused(struct suite *suite)
{
    static const uint64_t beyonds[] = {CULEX_STORE_CURSOR_MAX + UINT64_C(1), UINT64_MAX};
    static const uint64_t behinds[] = {UINT64_C(1) << 53, CULEX_STORE_CURSOR_MAX};
    struct culex_store *store = suite->store;
    struct culex_list_reply page;
    suite_put(suite);
    for (int state = 0; state <= CULEX_LIST_ANY; state++) {
        for (size_t i = 0; i < sizeof beyonds / sizeof beyonds[0]; i++) {
            culex_error error = {0};
            const culex_list_cursor cursor = {.place = beyonds[i]};
            refused(store->ops->list(store, suite->queue, CULEX_LIST_OF((culex_run_state)state),
                                     cursor, 1, &page, &error),
                    CULEX_EINVAL, &error, "this cursor is not one of LIST");
        }
    }
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        for (size_t i = 0; i < sizeof behinds / sizeof behinds[0]; i++) {
            const culex_list_cursor cursor = {.place = behinds[i]};
            assert_ok(store->ops->list(store, suite->queue, CULEX_LIST_OF((culex_run_state)state),
                                       cursor, 1, &page, NULL));
            assert_int_equal(page.count, 0);
            assert_int_equal(page.cursor.place, 0);
            store->ops->list_release(store, &page);
        }
    }
}

void case_refusal__says_the_same_in_all_stores(struct suite *suite)
{
    struct culex_store *store = suite->store;
    const struct culex_store_ops *ops = store->ops;
    struct culex_new_run keyed = suite_run(suite), rival = suite_run(suite);
    culex_run_state state;
    culex_run_info *run;
    culex_error error = {0};
    refused(ops->pause(store, "nobody", true, &error), CULEX_ENOTFOUND, &error,
            "the store has no queue 'nobody'");
    snprintf(suite->queue, sizeof suite->queue, "mail");
    keyed.unique_key = rival.unique_key = "abc";
    culex_uuid keyed_id = suite_put_run(suite, &keyed);
    refused(ops->get(store, "mail", suite_id(suite), &run, &error), CULEX_ENOTFOUND, &error,
            "no such run in queue 'mail'");
    refused(ops->cancel(store, "mail", suite_id(suite), &state, &error), CULEX_ENOTFOUND, &error,
            "no such run in queue 'mail'");
    refused(ops->retry(store, "mail", keyed_id, &error), CULEX_ESTATE, &error,
            "only a dead run can be retried");
    refused(ops->forget(store, "mail", keyed_id, &error), CULEX_ESTATE, &error,
            "the run is not over yet");
    uint32_t attempt = suite_take(suite, ANN, keyed_id);
    suite_end(suite, ANN, keyed_id, attempt, CULEX_EVENT_DISCARD, 0);
    refused(ops->cancel(store, "mail", keyed_id, &state, &error), CULEX_ESTATE, &error,
            "the run is dead already");
    suite_put_run(suite, &rival);
    refused(ops->retry(store, "mail", keyed_id, &error), CULEX_EUNIQUE, &error,
            "another run holds its unique key by now");
}
