/* Lengths that only somebody else can have written: one run's bytes never cost the others. */
#include "fixture.h"

#include "store/metadata_list.h"

enum { LONG = 2 << 20 /* thirty of them are more than a reply may have */ };

/* Has the server make `len` bytes of the value of every run in `key`. */
static void values_swell(struct fixture *f, const char *key, int len)
{
    char script[512];
    snprintf(script, sizeof script,
             "local key = 'culex:{q}:%s' for _, id in ipairs(redis.call('HKEYS', "
             "'culex:{q}:runs')) do local text = redis.call('HGET', key, id) or '' "
             "redis.call('HSET', key, id, text .. string.rep('x', %d - #text)) end",
             key, len);
    fixture_say(f, "EVAL %s 0", script);
}

/* No ordinary run. */
static struct culex_new_run odd_run(void)
{
    struct culex_new_run run = fixture_run();
    run.expires_ms = INT64_C(1000000000);
    return run;
}

/* One run whose value in `key` is swollen, and one that is well, behind it. */
static void pair_make(struct fixture *f, const char *key, int len, culex_uuid *ret_bad,
                      culex_uuid *ret_good)
{
    struct culex_new_run run = odd_run();
    *ret_bad = fixture_enqueue(f, &run);
    values_swell(f, key, len);
    *ret_good = fixture_enqueue(f, &run);
}

static void good_expect(struct fixture *f, culex_uuid good)
{
    struct culex_step step = fixture_step(f, SESSION_A, 5);
    struct culex_step_reply reply;
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.grant_count, 1);
    assert_memory_equal(&reply.grants[0].facts.id, &good, sizeof good);
    f->store->ops->step_release(f->store, &reply);
    assert_int_equal(fixture_ack(f, SESSION_A, good, 1, CULEX_EVENT_DONE), CULEX_ANSWER_OK);
}

static culex_run_info *info_get(struct fixture *f, culex_uuid id)
{
    culex_run_info *info = NULL;
    assert_ok(f->store->ops->get(f->store, "q", id, &info, &call_error));
    return info;
}

static void dead_expect(struct fixture *f, culex_uuid id)
{
    culex_run_info *info = info_get(f, id);
    assert_int_equal(info->state, CULEX_RUN_DEAD);
    assert_int_equal(info->attempt, 0);
    assert_non_null(strstr(info->error_text, "the payload is longer than 1048576 bytes"));
    assert_int_equal(info->payload.len, 0);
    culex_run_info_free(info);
}

static void test_long_payload__is_set_aside_and_kept(void **state)
{
    static const int lens[] = {CULEX_PAYLOAD_BYTES_MAX + 1, LONG};
    struct fixture *f = *state;
    culex_uuid bad, good;
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        pair_make(f, "payloads", lens[i], &bad, &good);
        good_expect(f, good);
        dead_expect(f, bad);
        assert_int_equal(fixture_say(f, "HLEN %s", "culex:{q}:payloads"), 1);
        fixture_say(f, "FLUSHALL %s", "SYNC");
    }
}

/* A retried run has no fresh record, and is looked at again. */
static void test_long_payload__is_set_aside_again_after_a_retry(void **state)
{
    struct fixture *f = *state;
    culex_uuid bad, good;
    pair_make(f, "payloads", LONG, &bad, &good);
    good_expect(f, good);
    assert_ok(f->store->ops->retry(f->store, "q", bad, &call_error));
    struct culex_new_run more = odd_run();
    culex_uuid more_id = fixture_enqueue(f, &more);
    good_expect(f, more_id);
    dead_expect(f, bad);
}

/* The answer to a repeated step is put together anew from what is in the store by then. */
static void test_long_payload__is_not_in_a_repeated_answer(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = odd_run();
    struct culex_step step = fixture_step(f, SESSION_A, 5);
    struct culex_step_reply reply;
    fixture_enqueue(f, &run);
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.grant_count, 1);
    f->store->ops->step_release(f->store, &reply);
    values_swell(f, "payloads", LONG);
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.grant_count, 0);
    f->store->ops->step_release(f->store, &reply);
}

/* Lists of dead runs and of all, which must have their end whatever lies there. */
static void lists_expect(struct fixture *f)
{
    struct culex_list_reply reply;
    const culex_run_state states[] = {CULEX_RUN_WAITING, CULEX_RUN_ACTIVE, CULEX_RUN_DEAD,
                                      CULEX_LIST_ANY};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        assert_ok(f->store->ops->list(f->store, "q", CULEX_LIST_OF(states[i]), CULEX_LIST_START, 10,
                                      &reply, &call_error));
        f->store->ops->list_release(f->store, &reply);
    }
}

static void test_long_record__stands_in_nobodys_way(void **state)
{
    static const int lens[] = {CULEX_RECORD_BYTES_MAX + 1, LONG};
    struct fixture *f = *state;
    culex_uuid bad, good;
    culex_run_info *info;
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        pair_make(f, "runs", lens[i], &bad, &good);
        lists_expect(f);
        good_expect(f, good);
        lists_expect(f);
        info = info_get(f, bad);
        assert_int_equal(info->state, CULEX_RUN_DEAD);
        assert_non_null(strstr(info->error_text, "damaged"));
        culex_run_info_free(info);
        assert_int_equal(fixture_say(f, "ZCARD %s", "culex:{q}:dead"), 1);
        assert_int_equal(fixture_say(f, "LLEN %s", "culex:{q}:ready"), 0);
        fixture_say(f, "FLUSHALL %s", "SYNC");
    }
}

static void test_long_record__of_an_active_run_ends_with_its_lease(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run bad = odd_run(), good = odd_run();
    culex_uuid bad_id = fixture_enqueue(f, &bad);
    fixture_claim(f, bad_id);
    values_swell(f, "runs", LONG);
    assert_int_equal(fixture_ack(f, SESSION_A, bad_id, 1, CULEX_EVENT_FAIL), CULEX_ANSWER_GONE);
    f->now_ms += 2000;
    culex_uuid good_id = fixture_enqueue(f, &good);
    good_expect(f, good_id);
    assert_int_equal(fixture_say(f, "ZCARD %s", "culex:{q}:active"), 0);
    assert_int_equal(fixture_say(f, "ZCARD %s", "culex:{q}:dead"), 1);
}

/* What is shown of a run is cut to what a run may have. */
static void test_get__answers_whatever_lies_beside_the_record(void **state)
{
    static const char *const keys[] = {"payloads", "errors", "results", "progress"};
    struct fixture *f = *state;
    struct culex_new_run run = odd_run();
    culex_uuid run_id = fixture_enqueue(f, &run);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        values_swell(f, keys[i], LONG);
    culex_run_info *info = info_get(f, run_id);
    assert_int_equal(info->payload.len, 0);
    assert_int_equal(info->result.len, 0);
    assert_int_equal(strlen(info->error_text), 4096);
    assert_int_equal(strlen(info->progress_text), 0);
    culex_run_info_free(info);
}

/* --- ordinary runs ------------------------------------------------------------------------------
 */

/* Has the server lengthen every body. */
static void bodies_swell(struct fixture *f, int len)
{
    char script[512];
    snprintf(script, sizeof script,
             "local key = 'culex:{q}:bodies' for _, n in ipairs(redis.call('HKEYS', key)) do "
             "local text = redis.call('HGET', key, n) "
             "redis.call('HSET', key, n, text .. string.rep('x', %d - #text)) end",
             len);
    fixture_say(f, "EVAL %s 0", script);
}

static void test_long_body__is_set_aside_and_kept(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    culex_uuid bad = fixture_enqueue(f, &run);
    bodies_swell(f, LONG);
    culex_uuid good = fixture_enqueue(f, &run);
    culex_run_info *info = info_get(f, bad);
    assert_int_equal(info->state, CULEX_RUN_WAITING);
    assert_int_equal(info->payload.len, 0);
    culex_run_info_free(info);
    lists_expect(f);
    good_expect(f, good);
    dead_expect(f, bad);
    assert_int_equal(fixture_say(f, "HLEN %s", "culex:{q}:payloads"), 1);
}

/* A page of LIST has as many of them as it has room for, and goes on behind. */
static void test_list__long_bodies_come_in_portions(void **state)
{
    enum { RUNS = 90 };
    static const culex_run_state states[] = {CULEX_RUN_WAITING, CULEX_RUN_ACTIVE, CULEX_LIST_ANY};
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    struct culex_step_reply grants;
    for (int i = 0; i < 2 * RUNS; i++)
        fixture_enqueue(f, &run);
    struct culex_step step = fixture_step(f, SESSION_A, RUNS);
    fixture_run_step(f, &step, &grants);
    assert_int_equal(grants.grant_count, RUNS);
    f->store->ops->step_release(f->store, &grants);
    bodies_swell(f, 100000);
    for (size_t i = 0; i < 3; i++) {
        size_t seen = 0, pages = 0;
        culex_list_cursor cursor = CULEX_LIST_START;
        do {
            struct culex_list_reply page;
            assert_ok(f->store->ops->list(f->store, "q", CULEX_LIST_OF(states[i]), cursor, 1000,
                                          &page, &call_error));
            cursor = page.cursor;
            seen += page.count;
            pages++;
            f->store->ops->list_release(f->store, &page);
        } while (cursor.place != 0);
        assert_int_equal(seen, states[i] == CULEX_LIST_ANY ? 2 * RUNS : RUNS);
        assert_in_range(pages, 2, 20);
    }
}

/* --- metadata --------------------------------------------------------------------------------- */

static culex_status metadata_set(struct fixture *f, uint64_t before, uint64_t version)
{
    const struct culex_metadata_set set = {
        .job = "j", .before = before, .version = version, .bytes = "{}", .len = 2};
    return f->store->ops->metadata_set(f->store, "q", &set, NULL);
}

/* What somebody else has written there. It is told, so that nobody takes it for nothing. */
static void assert_metadata_stands_as(struct fixture *f, const char *text, size_t len)
{
    struct culex_metadata_list told;
    assert_int_equal(metadata_set(f, 0, 7), CULEX_ECONFLICT);
    for (int i = 0; i < 2; i++) {
        assert_ok(f->store->ops->metadata(f->store, "q", i == 0 ? "j" : NULL, &told, NULL));
        assert_int_equal(told.count, 1);
        assert_int_equal(told.rows[0].version, 1);
        assert_int_equal(told.rows[0].len, len);
        assert_memory_equal(told.rows[0].bytes, text, strlen(text));
        culex__metadata_list_release(&told);
    }
    assert_int_equal(metadata_set(f, 1, 8), CULEX_OK);
    assert_int_equal(metadata_set(f, 8, 0), CULEX_OK);
}

static void test_metadata__out_of_form_is_never_taken_for_nothing(void **state)
{
    struct fixture *f = *state;
    const struct culex_new_run run = fixture_run();
    fixture_enqueue(f, &run);
    fixture_say(f, "HSET culex:{q}:metadata j %s", "{\"count\":3}");
    assert_metadata_stands_as(f, "{\"count\":3}", strlen("{\"count\":3}"));
    fixture_say(f, "HSET culex:{q}:metadata j %s", "|");
    assert_metadata_stands_as(f, "|", 1);
    fixture_say(f, "EVAL %s 0",
                "redis.call('HSET', 'culex:{q}:metadata', 'j', '5|6|' .. string.rep('x', 3e6))");
    assert_metadata_stands_as(f, "xxx", CULEX_METADATA_BYTES_MAX);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_long_payload__is_set_aside_and_kept),
        TEST(test_long_payload__is_set_aside_again_after_a_retry),
        TEST(test_long_payload__is_not_in_a_repeated_answer),
        TEST(test_long_record__stands_in_nobodys_way),
        TEST(test_long_record__of_an_active_run_ends_with_its_lease),
        TEST(test_get__answers_whatever_lies_beside_the_record),
        TEST(test_long_body__is_set_aside_and_kept),
        TEST(test_list__long_bodies_come_in_portions),
        TEST(test_metadata__out_of_form_is_never_taken_for_nothing),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
