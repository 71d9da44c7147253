/* Where a run that comes due stands among those that wait: behind what was enqueued before, and
 * what that costs the server. */
#include "fixture.h"

enum { DUES = 64 };

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

/* How often a step that claims `want` calls the command of that name. */
static long calls_of_step(struct fixture *f, uint32_t want, const char *name)
{
    struct culex_step step = fixture_step(f, SESSION_A, want);
    struct culex_step_reply reply;
    char field[64];
    fixture_say(f, "CONFIG %s", "RESETSTAT");
    fixture_run_step(f, &step, &reply);
    f->store->ops->step_release(f->store, &reply);
    redisReply *info = redis_server_command(&f->server, "INFO commandstats");
    assert_non_null(info);
    snprintf(field, sizeof field, "cmdstat_%s:calls=", name);
    const char *at = strstr(info->str, field);
    long calls = at != NULL ? strtol(at + strlen(field), NULL, 10) : 0;
    freeReplyObject(info);
    return calls;
}

/* Nothing is looked at to make it ready, however many wait. */
static void test_due__is_made_ready_without_a_look(void **state)
{
    enum { RUNS = 2000 };
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[RUNS];
    put_due(f, &dues, 700);
    put_line(f, line, RUNS);
    assert_int_equal(calls_of_step(f, 0, "hget"), 1); /* its session */
    assert_int_equal(take_in_order(f, &dues), RUNS + 1);
}

/* A claim of a line in which due runs stand here and there reads its bodies once, not anew after
 * each of them; they may be long. */
static void test_due__bodies_are_read_once(void **state)
{
    enum { RUNS = 32 };
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[RUNS];
    for (int i = 0; i < RUNS; i++)
        put_due(f, &dues, i + 1);
    put_line(f, line, RUNS);
    /* Whether the step is a plain one (redis/lib_lean.lua); of the step; of its due runs; of each
     * due run that is claimed its record and payload. */
    assert_in_range(calls_of_step(f, 2 * RUNS, "hmget"), 3 + 2 * RUNS, 5 + 2 * RUNS);
    assert_int_equal(take_in_order(f, &dues), 0);
}

/* A queue without them pays for none. */
static void test_due__none_costs_nothing(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run odd = fixture_run();
    odd.expires_ms = 600000;
    fixture_enqueue(f, &odd);
    calls_of_step(f, 0, "zcard"); /* its first step looks after other things */
    assert_int_equal(calls_of_step(f, 1, "zrangebyscore"), 0);
    fixture_enqueue(f, &odd);
    assert_int_equal(calls_of_step(f, 1, "zcard"), 2);
    odd.priority = 3;
    for (int i = 0; i < 2; i++) {
        fixture_enqueue(f, &odd);
        assert_int_equal(calls_of_step(f, 1, "zrangebyscore"), 1);
    }
}

/* A failure that waits for nothing comes due at once, behind all that waits. */
static void test_due__is_placed_before_what_the_step_ends(void **state)
{
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[2];
    put_line(f, line, 1);
    fixture_claim(f, line[0]);
    put_due(f, &dues, 5);
    f->now_ms += 10;
    put_line(f, line + 1, 1);
    f->now_ms += 1;
    assert_int_equal(fixture_ack(f, SESSION_A, line[0], 1, CULEX_EVENT_FAIL), CULEX_ANSWER_OK);
    fixture_claim(f, dues.ids[0]);
    fixture_claim(f, line[1]);
    fixture_claim(f, line[0]);
}

/* More than a step makes ready. */
static void test_due__many_are_made_ready_by_and_by(void **state)
{
    enum { RUNS = 2048 };
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[RUNS];
    for (int i = 0; i < DUES; i++)
        put_due(f, &dues, 10 + 31 * i);
    put_line(f, line, RUNS);
    f->now_ms += 10;
    calls_of_step(f, 0, "zadd");
    assert_int_equal(fixture_say(f, "ZCARD %s", "culex:{q}:scheduled"), 0);
    assert_int_equal(take_in_order(f, &dues), RUNS + DUES);
}

/* One that is due last goes first, by its priority, though more are due than a step makes ready. */
static void test_due__urgent_ones_wait_for_nobody(void **state)
{
    enum { RUNS = 200 };
    struct fixture *f = *state;
    struct culex_new_run urgent = fixture_run();
    culex_uuid line[RUNS];
    struct dues dues = {.count = 0};
    urgent.priority = 3, urgent.delay_ms = RUNS - 5;
    for (int i = 0; i < DUES; i++)
        put_due(f, &dues, 10);
    culex_uuid urgent_id = fixture_enqueue(f, &urgent);
    put_line(f, line, RUNS);
    fixture_claim(f, urgent_id);
}

/* Of one priority, too, and with a clock that was set back behind what was enqueued by then. */
static void test_due__urgent_ones_stand_where_they_came_due(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run now = fixture_run(), late = fixture_run();
    now.priority = late.priority = 3;
    late.delay_ms = 15;
    culex_uuid due = fixture_enqueue(f, &late), ids[4];
    for (int i = 0; i < 3; i++) {
        f->now_ms += 10;
        ids[i] = fixture_enqueue(f, &now);
    }
    f->now_ms -= 12; /* the second is not overtaken */
    ids[3] = fixture_enqueue(f, &now);
    f->now_ms += 100;
    fixture_claim(f, ids[0]);
    fixture_claim(f, due);
    fixture_claim(f, ids[1]);
}

/* A `back` that is no instant is none: it would lead out of the priority's band. */
static void test_claim__damaged_back_keeps_priorities_apart(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    run.expires_ms = 600000;
    culex_uuid last = fixture_enqueue(f, &run);
    run.priority = 3;
    culex_uuid second = fixture_enqueue(f, &run);
    fixture_say(f, "HSET culex:{q}:meta back %s", "99999999999999999");
    run.priority = 9;
    culex_uuid first = fixture_enqueue(f, &run);
    fixture_claim(f, first);
    fixture_claim(f, second);
    fixture_claim(f, last);
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

/* Many more holes in a row than a claim looks at. */
static void test_due__endless_holes_are_stepped_over(void **state)
{
    enum { RUNS = 1500 };
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[RUNS];
    put_due(f, &dues, 10);
    put_line(f, line, RUNS);
    for (int i = 0; i < RUNS - 2; i++)
        leave_hole(f, line[i]);
    assert_int_equal(take_in_order(f, &dues), 3);
}

/* Times that are in no order lead to some place of the line, in bounds, and nobody is lost. */
static void test_due__clock_that_stepped_back_does_no_harm(void **state)
{
    enum { RUNS = 300 };
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[RUNS];
    size_t grants = 0;
    for (int i = 0; i < DUES; i++)
        put_due(f, &dues, 5 * i);
    for (int part = 0; part < 3; part++) {
        put_line(f, line + 100 * part, RUNS / 3);
        f->now_ms += part == 0 ? -150 : 400;
    }
    for (int steps = 0; steps < 2 * DUES && grants < RUNS + DUES; steps++) {
        struct culex_step step = fixture_step(f, SESSION_A, 10);
        struct culex_step_reply reply;
        fixture_run_step(f, &step, &reply);
        grants += reply.grant_count;
        f->store->ops->step_release(f->store, &reply);
    }
    assert_int_equal(grants, RUNS + DUES);
}

/* Runs that are ready are not overtaken by all that is enqueued until the clock is where it was. */
static void test_due__clock_that_is_set_back_lets_nobody_overtake(void **state)
{
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    struct culex_new_run run = fixture_run();
    put_due(f, &dues, 1000);
    put_due(f, &dues, 1001);
    put_due(f, &dues, 1002);
    f->now_ms += 2000;
    assert_int_equal(fixture_claim(f, dues.ids[0]), 1); /* which makes all of them ready */
    f->now_ms -= 3600000;
    culex_uuid fresh = fixture_enqueue(f, &run);
    assert_int_equal(fixture_claim(f, dues.ids[1]), 1);
    assert_int_equal(fixture_claim(f, dues.ids[2]), 1);
    assert_int_equal(fixture_claim(f, fresh), 1);
}

/* It was enqueued before. */
static void test_due__goes_before_those_of_its_time(void **state)
{
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[10];
    put_due(f, &dues, 5);
    put_line(f, line, 10);
    for (int i = 0; i < 4; i++)
        fixture_claim(f, line[i]);
    fixture_claim(f, dues.ids[0]);
    for (int i = 4; i < 10; i++)
        fixture_claim(f, line[i]);
    struct culex_new_run odd = fixture_run();
    odd.expires_ms = 600000;
    put_due(f, &dues, 5);
    f->now_ms += 5;
    culex_uuid odd_id = fixture_enqueue(f, &odd);
    fixture_claim(f, dues.ids[1]);
    fixture_claim(f, odd_id);
}

static void test_due__stands_among_records_that_were_ready(void **state)
{
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[20], odd_id;
    struct culex_new_run odd = fixture_run();
    odd.expires_ms = 600000;
    put_due(f, &dues, 5);
    put_due(f, &dues, 11);
    put_line(f, line, 10);
    odd_id = fixture_enqueue(f, &odd);
    put_line(f, line + 10, 10);
    for (int i = 0; i < 4; i++)
        fixture_claim(f, line[i]);
    fixture_claim(f, dues.ids[0]);
    for (int i = 4; i < 10; i++)
        fixture_claim(f, line[i]);
    fixture_claim(f, odd_id);
    fixture_claim(f, dues.ids[1]);
    for (int i = 10; i < 20; i++)
        fixture_claim(f, line[i]);
}

/* What a repair has put right. */
static uint64_t fsck_wrong(struct fixture *f)
{
    struct culex_fsck_reply reply = {.cursor = 0};
    uint64_t wrong = 0;
    do {
        assert_ok(f->store->ops->fsck(f->store, "q", reply.cursor, true, &reply, &call_error));
        wrong += reply.counts.wrong;
    } while (reply.cursor != 0);
    return wrong;
}

/* What has been granted before is a ghost in the list, and stands where FSCK puts it. */
static void test_claim__granted_run_of_the_list_is_a_ghost(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    culex_uuid suspect = fixture_enqueue(f, &run), other;
    run.expires_ms = 600000;
    for (int i = 0; i < 2; i++) {
        fixture_claim(f, suspect);
        f->now_ms += 20000;
    }
    calls_of_step(f, 0, "zadd");
    other = fixture_enqueue(f, &run);
    fixture_say(f, "DEL %s", "culex:{q}:urgent");
    redisReply *reply =
        redis_server_command(&f->server, "LPUSH culex:{q}:ready %b0", suspect.b, sizeof suspect.b);
    freeReplyObject(reply);
    struct culex_step step = fixture_step(f, SESSION_A, 2);
    struct culex_step_reply answer;
    fixture_run_step(f, &step, &answer);
    assert_int_equal(answer.grant_count, 1);
    assert_memory_equal(&answer.grants[0].facts.id, &other, sizeof other);
    f->store->ops->step_release(f->store, &answer);
    assert_true(fsck_wrong(f) > 0);
    fixture_claim(f, suspect);
}

/* An entry of the list that is none, and a body that cannot be read, keep nobody waiting. */
static void test_due__damaged_neighbours_are_passed(void **state)
{
    struct fixture *f = *state;
    struct dues dues = {.count = 0};
    culex_uuid line[2];
    put_due(f, &dues, 1);
    put_line(f, line, 2);
    fixture_say(f, "RPUSH culex:{q}:ready %s", "short");
    fixture_say(f, "HSET culex:{q}:bodies 1 %s", "no body at all");
    fixture_claim(f, dues.ids[0]);
    fixture_claim(f, line[1]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, places_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_due__is_made_ready_without_a_look),
        TEST(test_due__bodies_are_read_once),
        TEST(test_due__none_costs_nothing),
        TEST(test_due__is_placed_before_what_the_step_ends),
        TEST(test_due__many_are_made_ready_by_and_by),
        TEST(test_due__urgent_ones_wait_for_nobody),
        TEST(test_due__urgent_ones_stand_where_they_came_due),
        TEST(test_claim__damaged_back_keeps_priorities_apart),
        TEST(test_due__place_is_found_among_holes),
        TEST(test_due__long_row_of_holes_is_stepped_over),
        TEST(test_due__endless_holes_are_stepped_over),
        TEST(test_due__clock_that_stepped_back_does_no_harm),
        TEST(test_due__clock_that_is_set_back_lets_nobody_overtake),
        TEST(test_due__goes_before_those_of_its_time),
        TEST(test_due__stands_among_records_that_were_ready),
        TEST(test_claim__granted_run_of_the_list_is_a_ghost),
        TEST(test_due__damaged_neighbours_are_passed),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
