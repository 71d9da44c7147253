/* A store's file that is removed, replaced or emptied while it is open: every call says so, and
 * nothing is written into a file that nobody reads. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GUARDED = 3040001 };

static const char *named(const struct fixture *fixture, const char *suffix)
{
    static char name[2][160];
    static int turn;
    turn = !turn;
    snprintf(name[turn], sizeof name[turn], "%s%s", fixture->path, suffix);
    return name[turn];
}

static void move(const struct fixture *fixture, const char *from, const char *to)
{
    assert_int_equal(rename(named(fixture, from), named(fixture, to)), 0);
}

static culex_status try_enqueue(struct fixture *fixture, culex_error *error)
{
    struct culex_new_run run = fixture_run(fixture, "{}", 2);
    struct culex_enqueue_result result;
    return fixture->store->ops->enqueue(fixture->store, "q", &run, 1, &result, error);
}

/* Of all that a worker and a client do. */
static void expect_moved(struct fixture *fixture, const char *says)
{
    culex_error error = {.text = ""};
    culex_queue_stats stats;
    struct culex_step_reply reply;
    struct culex_step step = {.queue = "q",
                              .session = "aaaaaaaaaaaaaaaa",
                              .nonce = fixture_nonce(),
                              .want = 1,
                              .lease_ms = 1000};
    const struct culex_backend_ops *ops = fixture->store->ops;
    assert_int_equal(try_enqueue(fixture, &error), CULEX_EMOVED);
    if (strstr(error.text, says) == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(ops->step(fixture->store, &step, &reply, &error), CULEX_EMOVED);
    assert_int_equal(ops->stats(fixture->store, "q", &stats, &error), CULEX_EMOVED);
}

static void begin(struct fixture *fixture)
{
    culex_error error = {.text = ""};
    fixture->store = fixture_open(fixture, GUARDED);
    assert_int_equal(try_enqueue(fixture, &error), CULEX_OK);
}

static void end(struct fixture *fixture)
{
    fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
}

static void test_removed__is_told_and_put_back_goes_on(void **state)
{
    struct fixture *fixture = *state;
    culex_error error = {.text = ""};
    begin(fixture);
    move(fixture, "", ".away");
    expect_moved(fixture, "was removed while it was open");
    move(fixture, ".away", "");
    assert_int_equal(try_enqueue(fixture, &error), CULEX_OK);
    end(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM run"), 2);
}

static void test_replaced__is_told_until_it_is_opened_anew(void **state)
{
    struct fixture *fixture = *state;
    struct fixture other;
    culex_error error = {.text = ""};
    fixture_init(&other);
    begin(&other);
    end(&other);
    begin(fixture);
    assert_int_equal(rename(other.path, fixture->path), 0);
    expect_moved(fixture, "was replaced by another file");
    end(fixture);
    unlink(named(fixture, "-wal"));
    unlink(named(fixture, "-shm"));
    begin(fixture);
    assert_int_equal(try_enqueue(fixture, &error), CULEX_OK);
    end(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM run"), 3);
    fixture_release(&other);
}

static void test_emptied__is_told(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture);
    assert_int_equal(truncate(fixture->path, 0), 0);
    expect_moved(fixture, "was emptied while it was open");
}

/* What was committed before comes into the file when its users close it. */
static void test_removed_log__is_told_and_saved_at_the_end(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture);
    assert_int_equal(unlink(named(fixture, "-wal")), 0);
    expect_moved(fixture, "q.db-wal, the log of the store");
    end(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM run"), 1);
    assert_sound(fixture);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_removed__is_told_and_put_back_goes_on),
        TEST(test_replaced__is_told_until_it_is_opened_anew),
        TEST(test_emptied__is_told),
        TEST(test_removed_log__is_told_and_saved_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
