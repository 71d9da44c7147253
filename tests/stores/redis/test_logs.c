/* redis/test_logs.c - log lines that runs keep: what a new one costs, and what becomes of them when
 * the server is short of memory. */
#include "fixture.h"

#include "base/buf.h"

enum { LONG_LINES = 250, LINE_BYTES = 1007 };

#define LOGS "culex:{q}:logs"

/* Lines of 1,000 bytes of text, to be freed. */
static char *lines_long(size_t count)
{
    char *text = calloc(count, LINE_BYTES + 1);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++)
        snprintf(text + i * LINE_BYTES, LINE_BYTES + 1, "1|1|3|%01000zu\n", i);
    return text;
}

static struct culex_log_lines lines_of(const char *text)
{
    return (struct culex_log_lines){text, strlen(text), 1000};
}

/* Beats the run; returns whether its lines were left out. */
static bool beat(struct fixture *fixture, culex_uuid id, const char *text)
{
    struct culex_step step = fixture_step(fixture, SESSION_A, 0);
    struct culex_beat beat = {.id = id, .attempt = 1, .log = lines_of(text)};
    struct culex_step_reply reply;
    step.beats = &beat;
    step.beat_count = 1;
    fixture_run_step(fixture, &step, &reply);
    assert_int_equal(reply.beats[0], CULEX_ANSWER_OK);
    bool left = reply.lines_left;
    fixture->store->ops->step_release(fixture->store, &reply);
    return left;
}

static bool end(struct fixture *fixture, culex_uuid id, const char *text)
{
    struct culex_step step = fixture_step(fixture, SESSION_A, 0);
    struct culex_ack ack = {
        .id = id, .attempt = 1, .event = CULEX_EVENT_DONE, .log = lines_of(text)};
    struct culex_step_reply reply;
    step.acks = &ack;
    step.ack_count = 1;
    fixture_run_step(fixture, &step, &reply);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    bool left = reply.lines_left;
    fixture->store->ops->step_release(fixture->store, &reply);
    return left;
}

static void assert_log(struct fixture *fixture, culex_uuid id, const char *text)
{
    culex_buf lines;
    culex_buf_init(&lines, 0);
    assert_ok(fixture->store->ops->run_log(fixture->store, "q", id, &lines, &call_error));
    assert_string_equal(lines.len > 0 ? lines.data : "", text);
    culex_buf_release(&lines);
}

static void copy(struct fixture *fixture)
{
    fixture_say(fixture, "EVAL %s 2 " LOGS " copy",
                "redis.call('DEL',KEYS[2])"
                "redis.call('HSET',KEYS[2],unpack(redis.call('HGETALL',KEYS[1])))");
}

/* Bytes of what was put there or changed since the copy. */
static long long bytes_changed(struct fixture *fixture)
{
    return fixture_say(fixture, "EVAL %s 2 " LOGS " copy",
                       "local all,bytes=redis.call('HGETALL',KEYS[1]),0 "
                       "for at=1,#all,2 do "
                       "if redis.call('HGET',KEYS[2],all[at])~=all[at+1] then "
                       "bytes=bytes+#all[at]+#all[at+1] end end return bytes");
}

static void test_logs__a_new_line_costs_no_more_behind_many(void **state)
{
    struct fixture *fixture = *state;
    char *text = lines_long(LONG_LINES);
    struct culex_new_run run = fixture_run();
    culex_uuid id = fixture_enqueue(fixture, &run);
    fixture_claim(fixture, id);
    beat(fixture, id, text);
    for (int i = 0; i < 20; i++) {
        copy(fixture);
        beat(fixture, id, "1|1|3|one\n");
        assert_in_range(bytes_changed(fixture), 10, 4096 + 200);
    }
    copy(fixture);
    end(fixture, id, "1|1|3|one\n");
    assert_in_range(bytes_changed(fixture), 10, 4096 + 200);
    free(text);
}

/* As an enqueue, they would have the server take more than it may. */
static void test_logs__go_short_of_memory_and_ends_do_not(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run run = fixture_run();
    culex_uuid id = fixture_enqueue(fixture, &run);
    fixture_claim(fixture, id);
    assert_false(beat(fixture, id, "1|1|3|before\n"));
    fixture_say(fixture, "CONFIG SET maxmemory %s", "1");
    assert_false(beat(fixture, id, ""));
    assert_true(beat(fixture, id, "1|1|3|lost\n"));
    assert_true(end(fixture, id, "1|1|3|lost, too\n"));
    fixture_say(fixture, "CONFIG SET maxmemory %s", "0");
    assert_int_equal(fixture_state(fixture, id), CULEX_RUN_DONE);
    assert_log(fixture, id, "1|1|3|before\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_logs__a_new_line_costs_no_more_behind_many,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_logs__go_short_of_memory_and_ends_do_not,
                                        fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
