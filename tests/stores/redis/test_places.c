/* Where a run that comes due goes among those that wait: behind what was enqueued until then, found
 * with few looks at the line. */
#include "fixture.h"

enum { DUES = 64, LOOKS_MAX = 64 };

/* Permissions are tried with the first step. */
static int places_setup(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    struct fixture *f = *state;
    struct culex_step step = fixture_step(f, SESSION_B, 0);
    struct culex_step_reply reply;
    fixture_run_step(f, &step, &reply);
    f->store->ops->step_release(f->store, &reply);
    return 0;
}

/* Delayed runs and when each is due. */
struct dues {
    culex_uuid ids[DUES];
    int64_t times[DUES];
    int count;
};

static void put_due(struct fixture *f, struct dues *dues, int64_t delay_ms)
{
    struct culex_new_run run = fixture_run();
    run.delay_ms = delay_ms;
    dues->times[dues->count] = f->now_ms + delay_ms;
    dues->ids[dues->count++] = fixture_enqueue(f, &run);
}

/* One ordinary run each ms. */
static void put_line(struct fixture *f, culex_uuid *ids, int count)
{
    struct culex_new_run run = fixture_run();
    for (int i = 0; i < count; i++) {
        f->now_ms++;
        ids[i] = fixture_enqueue(f, &run);
    }
}

static void leave_hole(struct fixture *f, culex_uuid id)
{
    culex_run_state after;
    assert_ok(f->store->ops->cancel(f->store, "q", id, &after, &call_error));
}

static int64_t ready_at(const struct dues *dues, const struct culex_grant *grant)
{
    for (int i = 0; i < dues->count; i++) {
        if (memcmp(&grant->facts.id, &dues->ids[i], sizeof grant->facts.id) == 0)
            return dues->times[i];
    }
    return grant->facts.created_at_ms;
}

/* Claims all, one by one and as they became ready; returns how many. */
static int take_in_order(struct fixture *f, const struct dues *dues)
{
    int64_t last_ms = 0;
    struct culex_step_reply reply = {.due_in_ms = 0};
    int count = 0;
    for (bool is_over = false; !is_over;) {
        struct culex_step step = fixture_step(f, SESSION_A, 1);
        fixture_run_step(f, &step, &reply);
        is_over = reply.grant_count == 0 && reply.due_in_ms != 0;
        if (reply.grant_count > 0) {
            int64_t at_ms = ready_at(dues, &reply.grants[0]);
            assert_true(at_ms >= last_ms);
            last_ms = at_ms;
            count++;
        }
        f->store->ops->step_release(f->store, &reply);
    }
    return count;
}

/* How many bodies a step that claims nothing looks at: its HGETs but for the one of its session. */
static long looks_of_step(struct fixture *f, int64_t *ret_due_in_ms)
{
    struct culex_step step = fixture_step(f, SESSION_A, 0);
    struct culex_step_reply reply;
    fixture_say(f, "CONFIG %s", "RESETSTAT");
    fixture_run_step(f, &step, &reply);
    *ret_due_in_ms = reply.due_in_ms;
    f->store->ops->step_release(f->store, &reply);
    redisReply *info = redis_server_command(&f->server, "INFO commandstats");
    assert_non_null(info);
    const char *at = strstr(info->str, "cmdstat_hget:calls=");
    assert_non_null(at);
    long calls = strtol(at + strlen("cmdstat_hget:calls="), NULL, 10);
    freeReplyObject(info);
    return calls - 1;
}

static void test_due__place_takes_few_looks(void **state)
{
    enum { RUNS = 2000 };
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[RUNS];
    int64_t due_in_ms;
    put_due(f, &dues, 700);
    put_line(f, line, RUNS);
    assert_in_range(looks_of_step(f, &due_in_ms), 2, 12);
    assert_int_equal(take_in_order(f, &dues), RUNS + 1);
}

static void test_due__behind_all_is_seen_at_once(void **state)
{
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[200];
    int64_t due_in_ms;
    put_due(f, &dues, 200);
    put_due(f, &dues, 210);
    put_line(f, line, 200);
    f->now_ms += 20;
    assert_int_equal(looks_of_step(f, &due_in_ms), 1);
    assert_int_equal(take_in_order(f, &dues), 202);
}

/* Neither an empty line nor one of which only holes are left; held and kept runs have bodies, too.
 */
static void test_due__needs_no_look_where_nothing_waits(void **state)
{
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[4];
    int64_t due_in_ms;
    put_due(f, &dues, 1);
    f->now_ms += 2;
    assert_int_equal(looks_of_step(f, &due_in_ms), 0);
    assert_int_equal(take_in_order(f, &dues), 1);
    put_line(f, line, 4);
    struct culex_step step = fixture_step(f, SESSION_A, 2);
    struct culex_step_reply reply;
    fixture_run_step(f, &step, &reply);
    f->store->ops->step_release(f->store, &reply);
    assert_int_equal(fixture_ack(f, SESSION_A, line[0], 1, CULEX_EVENT_DONE), CULEX_ANSWER_OK);
    put_due(f, &dues, 1);
    f->now_ms += 2;
    leave_hole(f, line[2]);
    leave_hole(f, line[3]);
    assert_int_equal(looks_of_step(f, &due_in_ms), 0);
    assert_int_equal(take_in_order(f, &dues), 1);
}

/* What the step itself is told of held runs tells what waits. */
static void test_due__is_placed_behind_what_the_step_ends(void **state)
{
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[2];
    put_line(f, line, 1);
    fixture_claim(f, line[0]);
    put_due(f, &dues, 5);
    f->now_ms += 10;
    put_line(f, line + 1, 1);
    assert_int_equal(fixture_ack(f, SESSION_A, line[0], 1, CULEX_EVENT_FAIL), CULEX_ANSWER_OK);
    fixture_claim(f, dues.ids[0]);
    fixture_claim(f, line[1]);
}

/* Those whose places are too many to be found in one step wait for the next one, which is wanted at
 * once. */
static void test_due__many_are_found_by_and_by(void **state)
{
    enum { RUNS = 2048 };
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[RUNS];
    int64_t due_in_ms;
    for (int i = 0; i < DUES - 1; i++)
        put_due(f, &dues, 10 + 31 * i);
    put_due(f, &dues, RUNS + 5); /* needs no look, and waits with the others */
    put_line(f, line, RUNS);
    f->now_ms += 10;
    assert_in_range(looks_of_step(f, &due_in_ms), 2, LOOKS_MAX);
    assert_int_equal(due_in_ms, 0);
    assert_in_range(fixture_say(f, "ZCARD %s", "culex:{q}:scheduled"), 1, DUES - 4);
    assert_int_equal(take_in_order(f, &dues), RUNS + DUES);
}

/* Those with a priority need no place in the line, and so wait for no looks. */
static void test_due__urgent_ones_wait_for_nobodys_place(void **state)
{
    enum { RUNS = 2048 };
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    struct culex_new_run urgent = fixture_run();
    culex_uuid line[RUNS];
    int64_t due_in_ms;
    urgent.priority = 3, urgent.delay_ms = RUNS - 5;
    for (int i = 0; i < DUES - 1; i++)
        put_due(f, &dues, 10 + 31 * i);
    culex_uuid urgent_id = fixture_enqueue(f, &urgent);
    put_line(f, line, RUNS);
    looks_of_step(f, &due_in_ms);
    assert_int_equal(due_in_ms, 0);
    assert_int_equal(fixture_say(f, "ZCARD %s", "culex:{q}:urgent"), 1);
    fixture_claim(f, urgent_id);
}

/* Those that are due at one time, or between the same two, need the looks of one. */
static void test_due__many_at_once_share_their_looks(void **state)
{
    enum { RUNS = 500 };
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[RUNS];
    int64_t due_in_ms;
    for (int i = 0; i < DUES; i++)
        put_due(f, &dues, 123);
    put_line(f, line, RUNS);
    assert_in_range(looks_of_step(f, &due_in_ms), 2, 11);
    assert_int_equal(fixture_say(f, "ZCARD %s", "culex:{q}:scheduled"), 0);
    assert_int_equal(take_in_order(f, &dues), RUNS + DUES);
}

/* Which have left, of a line of so many, the newest one among them: here and there, and long rows.
 */
static bool is_hole(int shape, int i, int count)
{
    if (shape == 0)
        return i % 2 == 1;
    if (shape == 1)
        return i % 7 != 3;
    return shape == 2 ? i > count / 4 : i < count * 3 / 4 || i == count - 1;
}

static void test_due__place_is_found_among_holes(void **state)
{
    enum { RUNS = 64 };
    struct fixture *f = *state;
    for (int shape = 0; shape < 4; shape++) {
        struct dues dues = {.count = 0};
        culex_uuid line[RUNS];
        int count = 0;
        for (int i = 0; i < RUNS; i += 5)
            put_due(f, &dues, i + 1);
        put_line(f, line, RUNS);
        for (int i = 0; i < RUNS; i++) {
            if (is_hole(shape, i, RUNS))
                leave_hole(f, line[i]);
            else
                count++;
        }
        assert_int_equal(take_in_order(f, &dues), count + dues.count);
    }
}

static void test_due__long_row_of_holes_is_stepped_over(void **state)
{
    enum { RUNS = 600, FIRST = 200, COUNT = 240 };
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[RUNS];
    put_due(f, &dues, 150);
    put_line(f, line, RUNS);
    for (int i = FIRST; i < FIRST + COUNT; i++)
        leave_hole(f, line[i]);
    assert_int_equal(take_in_order(f, &dues), RUNS - COUNT + 1);
}

/* More holes in a row than may be looked at. */
static void test_due__endless_holes_are_not_walked(void **state)
{
    enum { RUNS = 1500 };
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[RUNS];
    int64_t due_in_ms;
    put_due(f, &dues, 10);
    put_line(f, line, RUNS);
    for (int i = 0; i < RUNS - 2; i++)
        leave_hole(f, line[i]);
    assert_in_range(looks_of_step(f, &due_in_ms), 2, LOOKS_MAX);
    assert_int_equal(fixture_say(f, "ZCARD %s", "culex:{q}:scheduled"), 0);
    assert_int_equal(take_in_order(f, &dues), 3);
}

/* Times that are in no order lead to some place of the line, in bounds, and nobody is lost. */
static void test_due__clock_that_stepped_back_does_no_harm(void **state)
{
    enum { RUNS = 300 };
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[RUNS];
    int64_t due_in_ms;
    size_t grants = 0;
    for (int i = 0; i < DUES; i++)
        put_due(f, &dues, 5 * i);
    for (int part = 0; part < 3; part++) {
        put_line(f, line + 100 * part, RUNS / 3);
        f->now_ms += part == 0 ? -150 : 400;
    }
    assert_in_range(looks_of_step(f, &due_in_ms), 2, LOOKS_MAX);
    for (int steps = 0; steps < 2 * DUES && grants < RUNS + DUES; steps++) {
        struct culex_step step = fixture_step(f, SESSION_A, 10);
        struct culex_step_reply reply;
        fixture_run_step(f, &step, &reply);
        grants += reply.grant_count;
        f->store->ops->step_release(f->store, &reply);
    }
    assert_int_equal(grants, RUNS + DUES);
}

static void test_due__goes_behind_those_of_its_time(void **state)
{
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[10];
    put_due(f, &dues, 5);
    put_line(f, line, 10);
    for (int i = 0; i < 5; i++)
        fixture_claim(f, line[i]);
    fixture_claim(f, dues.ids[0]);
    fixture_claim(f, line[5]);
}

/* It would take a walk to find its place among those. */
static void test_due__stands_behind_records_that_were_ready(void **state)
{
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[20], odd_id;
    struct culex_new_run odd = fixture_run();
    odd.expires_ms = 600000;
    put_due(f, &dues, 5);
    put_line(f, line, 10);
    odd_id = fixture_enqueue(f, &odd);
    put_line(f, line + 10, 10);
    for (int i = 0; i < 10; i++)
        fixture_claim(f, line[i]);
    fixture_claim(f, odd_id);
    fixture_claim(f, dues.ids[0]);
    for (int i = 10; i < 20; i++)
        fixture_claim(f, line[i]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, places_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_due__place_takes_few_looks),
        TEST(test_due__behind_all_is_seen_at_once),
        TEST(test_due__needs_no_look_where_nothing_waits),
        TEST(test_due__is_placed_behind_what_the_step_ends),
        TEST(test_due__many_are_found_by_and_by),
        TEST(test_due__urgent_ones_wait_for_nobodys_place),
        TEST(test_due__many_at_once_share_their_looks),
        TEST(test_due__place_is_found_among_holes),
        TEST(test_due__long_row_of_holes_is_stepped_over),
        TEST(test_due__endless_holes_are_not_walked),
        TEST(test_due__clock_that_stepped_back_does_no_harm),
        TEST(test_due__goes_behind_those_of_its_time),
        TEST(test_due__stands_behind_records_that_were_ready),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
