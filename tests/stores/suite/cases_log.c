/* suite/cases_log.c - log lines that are kept with a run. */
#include "suite.h"

#include "base/buf.h"
#include "cases.h"
#include "core/run_log.h"

enum { MOST_BYTES = 262144 };

static struct culex_log_lines lines_of(const char *text, uint32_t most)
{
    return (struct culex_log_lines){text, strlen(text), most};
}

/* All that the run has kept; NULL for `text`: there is no such run. */
static void assert_log(struct suite *suite, culex_uuid id, const char *text)
{
    culex_buf lines;
    culex_buf_init(&lines, 0);
    culex_status status = suite->store->ops->run_log(suite->store, suite->queue, id, &lines, NULL);
    assert_int_equal(status, text != NULL ? CULEX_OK : CULEX_ENOTFOUND);
    assert_string_equal(lines.len > 0 ? lines.data : "", text != NULL ? text : "");
    culex_buf_release(&lines);
}

static enum culex_answer beat(struct suite *suite, const char *session, culex_uuid id,
                              uint32_t attempt, const char *text, uint32_t most)
{
    return suite_tell(
        suite, session,
        (struct culex_beat){.id = id, .attempt = attempt, .log = lines_of(text, most)});
}

static enum culex_answer end(struct suite *suite, const char *session, culex_uuid id,
                             uint32_t attempt, enum culex_run_event event, const char *text)
{
    return suite_ack(suite, session,
                     (struct culex_ack){
                         .id = id, .attempt = attempt, .event = event, .log = lines_of(text, 100)});
}

void case_log__nothing_is_kept_at_first(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    assert_log(suite, id, "");
    suite_take(suite, ANN, id);
    assert_log(suite, id, "");
    assert_log(suite, suite_id(suite), NULL);
}

void case_log__lines_come_with_beats_and_the_end(struct suite *suite)
{
    static const enum culex_run_event events[] = {CULEX_EVENT_DONE, CULEX_EVENT_FAIL,
                                                  CULEX_EVENT_CRASH, CULEX_EVENT_DISCARD,
                                                  CULEX_EVENT_RELEASE};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        struct culex_new_run run = suite_run(suite);
        run.priority = (int)(i & 1);
        culex_uuid id = suite_put_run(suite, &run);
        uint32_t attempt = suite_take(suite, ANN, id);
        beat(suite, ANN, id, attempt, "1|1|3|one\n2|1|1|it's | \"two\" \xe2\x82\xac\n", 100);
        assert_log(suite, id, "1|1|3|one\n2|1|1|it's | \"two\" \xe2\x82\xac\n");
        beat(suite, ANN, id, attempt, "", 100);
        assert_int_equal(end(suite, ANN, id, attempt, events[i], "3|1|4|three\n"), CULEX_ANSWER_OK);
        assert_log(suite, id, "1|1|3|one\n2|1|1|it's | \"two\" \xe2\x82\xac\n3|1|4|three\n");
        suite_purge(suite, CULEX_RUN_WAITING, 10);
    }
}

/* Of an ordinary run, which has nothing of its own before. */
void case_log__comes_with_the_end_alone(struct suite *suite)
{
    culex_uuid id = suite_put(suite), other = suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 2), 2);
    end(suite, ANN, id, 1, CULEX_EVENT_DONE, "1|1|3|all\n");
    suite_end(suite, ANN, other, 1, CULEX_EVENT_DONE, 0);
    assert_log(suite, id, "1|1|3|all\n");
    assert_log(suite, other, "");
    assert_state(suite, id, CULEX_RUN_DONE);
}

void case_log__stands_beside_progress_and_result(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    struct culex_beat tell = {.id = id,
                              .attempt = suite_take(suite, ANN, id),
                              .progress = "40 half",
                              .log = lines_of("1|1|3|a\n", 10)};
    struct culex_ack ack = {.id = id,
                            .attempt = tell.attempt,
                            .event = CULEX_EVENT_DONE,
                            .progress = "99 all",
                            .result = "7",
                            .result_len = 1,
                            .log = lines_of("2|1|3|b\n", 10)};
    suite_tell(suite, ANN, tell);
    assert_int_equal(suite_get(suite, id)->progress, 40);
    assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
    assert_string_equal(suite_get(suite, id)->progress_text, "all");
    assert_int_equal(suite->info->result.len, 1);
    assert_log(suite, id, "1|1|3|a\n2|1|3|b\n");
}

void case_log__goes_on_in_later_attempts(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    suite_take(suite, ANN, id);
    end(suite, ANN, id, 1, CULEX_EVENT_FAIL, "1|1|3|first\n");
    suite_take(suite, BOB, id);
    assert_log(suite, id, "1|1|3|first\n");
    beat(suite, BOB, id, 2, "2|2|3|second\n", 100);
    suite_pass(suite, 10 * SUITE_LEASE_MS); /* it is lost */
    suite_take(suite, ANN, id);
    end(suite, ANN, id, 3, CULEX_EVENT_DISCARD, "3|3|3|third\n");
    assert_ok(suite->store->ops->retry(suite->store, suite->queue, id, NULL));
    assert_log(suite, id, "1|1|3|first\n2|2|3|second\n3|3|3|third\n");
}

void case_log__of_too_many_lines_the_oldest_go(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    beat(suite, ANN, id, attempt, "1|1|3|a\n2|1|3|b\n", 3);
    beat(suite, ANN, id, attempt, "3|1|3|c\n4|1|3|d\n", 3);
    assert_log(suite, id, "2|1|3|b\n3|1|3|c\n4|1|3|d\n");
    beat(suite, ANN, id, attempt, "5|1|3|e\n6|1|3|f\n", 1);
    assert_log(suite, id, "6|1|3|f\n");
}

/* `count` lines of 1,000 bytes of text each, to be freed. */
static char *lines_long(size_t count, char letter)
{
    char line[1024] = "1|1|3|";
    memset(line + 6, letter, 1000);
    line[1006] = '\n';
    char *text = calloc(count, 1007 + 1);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * 1007, line, 1007);
    return text;
}

void case_log__of_too_many_bytes_the_oldest_go(struct suite *suite)
{
    char *first = lines_long(200, 'a'), *second = lines_long(100, 'b');
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    culex_buf lines;
    culex_buf_init(&lines, 0);
    beat(suite, ANN, id, attempt, first, 1000);
    beat(suite, ANN, id, attempt, second, 1000);
    assert_ok(suite->store->ops->run_log(suite->store, suite->queue, id, &lines, NULL));
    assert_int_equal(lines.len, MOST_BYTES / 1007 * 1007);
    assert_int_equal(lines.data[(MOST_BYTES / 1007 - 100) * 1007 - 2], 'a');
    assert_memory_equal(lines.data + lines.len - strlen(second), second, strlen(second));
    culex_buf_release(&lines);
    free(first);
    free(second);
}

/* What the run should keep once `text` has come. */
static void expect_more(culex_buf *expected, const char *text, uint32_t most)
{
    assert_int_equal(culex__buf_append(expected, text, strlen(text)), CULEX_OK);
    size_t excess = culex__run_log_excess(expected->data, expected->len, most);
    memmove(expected->data, expected->data + excess, expected->len - excess);
    culex__buf_cut(expected, expected->len - excess);
    assert_int_equal(culex__buf_append(expected, "", 1), CULEX_OK);
    culex__buf_cut(expected, expected->len - 1);
}

/* `count` lines of some length, with a number each, to be freed. */
static char *lines_some(unsigned count, unsigned *number)
{
    char *text = calloc(count + 1, 1024);
    size_t at = 0;
    assert_non_null(text);
    for (unsigned i = 0; i < count; i++, ++*number)
        at += (size_t)snprintf(text + at, 1024, "%u|1|3|%0*u\n", *number,
                               (int)(1 + *number * 7919 % 900), *number);
    return text;
}

/* However they come, and of however many chunks some store makes them. */
void case_log__of_any_length_has_the_last_lines(struct suite *suite)
{
    static const struct {
        unsigned count;
        uint32_t most;
    } beats[] = {{1, 9},      {8, 9},      {3, 9},      {200, 100}, {1, 100},  {99, 100},
                 {250, 1000}, {250, 1000}, {250, 1000}, {1, 1000},  {7, 1000}, {250, 1000},
                 {9, 40},     {30, 1000},  {250, 1},    {0, 1},     {5, 1000}};
    culex_buf expected;
    unsigned number = 1;
    culex_uuid id = suite_put(suite), other = suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 2), 2);
    beat(suite, ANN, other, 1, "1|1|3|other\n", 9);
    culex_buf_init(&expected, 0);
    for (size_t i = 0; i < sizeof beats / sizeof beats[0]; i++) {
        char *text = lines_some(beats[i].count, &number);
        if (beats[i].count > 0)
            expect_more(&expected, text, beats[i].most);
        beat(suite, ANN, id, 1, text, beats[i].most);
        assert_log(suite, id, expected.data);
        free(text);
    }
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
    end(suite, ANN, id, 1, CULEX_EVENT_DONE, "");
    assert_ok(suite->store->ops->forget(suite->store, suite->queue, id, NULL));
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
    assert_log(suite, other, "1|1|3|other\n");
    culex_buf_release(&expected);
}

/* Ten times what may be kept: what is gone leaves nothing behind. */
void case_log__without_end_goes_on(struct suite *suite)
{
    char *text = lines_long(250, 'a');
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    for (int i = 0; i < 10; i++)
        beat(suite, ANN, id, attempt, text, 1000);
    text[250 * 1007 - 2] = 'z';
    beat(suite, ANN, id, attempt, text, 250);
    assert_log(suite, id, text);
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
    free(text);
}

void case_log__of_who_does_not_hold_the_run_is_not_kept(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_int_equal(beat(suite, BOB, id, attempt, "1|1|3|x\n", 9), CULEX_ANSWER_STALE);
    assert_int_equal(beat(suite, ANN, id, attempt + 1, "1|1|3|x\n", 9), CULEX_ANSWER_STALE);
    assert_int_equal(end(suite, BOB, id, attempt, CULEX_EVENT_FAIL, "1|1|3|x\n"),
                     CULEX_ANSWER_STALE);
    assert_log(suite, id, "");
    end(suite, ANN, id, attempt, CULEX_EVENT_DONE, "1|1|3|y\n");
    assert_int_equal(end(suite, ANN, id, attempt, CULEX_EVENT_DONE, "1|1|3|z\n"),
                     CULEX_ANSWER_REPEATED);
    assert_log(suite, id, "1|1|3|y\n");
}

void case_log__of_a_repeated_step_comes_in_once(struct suite *suite)
{
    culex_uuid id = suite_put(suite), other = suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 2), 2);
    struct culex_step step = suite_step_make(suite, ANN, 0);
    struct culex_beat tell = {.id = id, .attempt = 1, .log = lines_of("1|1|3|a\n", 9)};
    struct culex_ack ack = {
        .id = other, .attempt = 1, .event = CULEX_EVENT_FAIL, .log = lines_of("1|1|3|b\n", 9)};
    step.beats = &tell;
    step.acks = &ack;
    step.beat_count = step.ack_count = 1;
    suite_step(suite, &step);
    suite_step(suite, &step);
    assert_log(suite, id, "1|1|3|a\n");
    assert_log(suite, other, "1|1|3|b\n");
}

static culex_uuid put_logged(struct suite *suite, enum culex_run_event event)
{
    culex_uuid id = suite_put(suite);
    suite_take(suite, ANN, id);
    end(suite, ANN, id, 1, event, "1|1|3|a\n");
    assert_log(suite, id, "1|1|3|a\n");
    return id;
}

/* Whatever is left of lines without a run FSCK finds at the end. */
void case_log__goes_with_the_run(struct suite *suite)
{
    culex_uuid forgotten = put_logged(suite, CULEX_EVENT_DONE);
    assert_ok(suite->store->ops->forget(suite->store, suite->queue, forgotten, NULL));
    assert_log(suite, forgotten, NULL);
    culex_uuid done = put_logged(suite, CULEX_EVENT_DONE),
               dead = put_logged(suite, CULEX_EVENT_DISCARD);
    suite_pass(suite, 2 * SUITE_MINUTE_MS);
    assert_log(suite, done, NULL);
    assert_log(suite, dead, "1|1|3|a\n");
    suite_pass(suite, 61 * SUITE_MINUTE_MS);
    assert_log(suite, dead, NULL);
    culex_uuid purged = put_logged(suite, CULEX_EVENT_DONE);
    suite_purge(suite, CULEX_RUN_DONE, 10);
    assert_log(suite, purged, NULL);
    culex_uuid failed = put_logged(suite, CULEX_EVENT_FAIL);
    suite_purge(suite, CULEX_RUN_WAITING, 10);
    assert_log(suite, failed, NULL);
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
}

void case_log__of_a_run_that_is_kept_for_no_time_goes_at_once(struct suite *suite)
{
    for (int priority = 0; priority < 2; priority++) {
        struct culex_new_run run = suite_run(suite);
        run.keep_success_ms = 0;
        run.priority = priority;
        culex_uuid id = suite_put_run(suite, &run), other = suite_put_run(suite, &run);
        assert_int_equal(suite_claim(suite, ANN, 2), 2);
        beat(suite, ANN, id, 1, "1|1|3|a\n", 9);
        end(suite, ANN, id, 1, CULEX_EVENT_DONE, "2|1|3|b\n");
        end(suite, ANN, other, 1, CULEX_EVENT_DONE, "2|1|3|b\n");
        assert_log(suite, id, NULL);
        assert_log(suite, other, NULL);
    }
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
}

void case_log__out_of_form_is_refused_whole(struct suite *suite)
{
    char *many = lines_long(261, 'x'), *wide = lines_long(1, 'x');
    wide[1006] = 'x';
    wide = realloc(wide, 1010);
    assert_non_null(wide);
    memcpy(wide + 1007, "\n", 2);
    const struct culex_log_lines bad[] = {lines_of("1|1|3|a", 9),
                                          lines_of("1|1|3|a\nb\n", 9),
                                          lines_of("1|1|3|\xff\n", 9),
                                          lines_of("1|1|3|a\tb\n", 9),
                                          lines_of("1|1|0|a\n", 9),
                                          lines_of("1|1|5|a\n", 9),
                                          lines_of("-1|1|3|a\n", 9),
                                          lines_of("1||3|a\n", 9),
                                          lines_of("\n", 9),
                                          lines_of("1|1|3|a\n", 0),
                                          lines_of("1|1|3|a\n", 1001),
                                          lines_of(many, 1000),
                                          lines_of("1|4294967296|3|a\n", 9),
                                          lines_of(wide, 9)};
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct culex_beat tell = {.id = id, .attempt = attempt, .log = bad[i]};
        struct culex_ack ack = {
            .id = id, .attempt = attempt, .event = CULEX_EVENT_DONE, .log = bad[i]};
        struct culex_step step = suite_step_make(suite, ANN, 0), last = step;
        struct culex_step_reply reply = {0};
        step.beats = &tell;
        last.acks = &ack;
        step.beat_count = last.ack_count = 1;
        assert_int_equal(suite->store->ops->step(suite->store, &step, &reply, NULL), CULEX_EINVAL);
        assert_int_equal(suite->store->ops->step(suite->store, &last, &reply, NULL), CULEX_EINVAL);
    }
    assert_state(suite, id, CULEX_RUN_ACTIVE);
    assert_log(suite, id, "");
    free(many);
    free(wide);
}
