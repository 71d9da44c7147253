/* Callbacks of batches that some queue refuses or nobody can read, and what FSCK makes of batches
 * that were damaged: none keeps another one, none comes in twice, no batch stays open for ever. */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

#define ANN "aaaaaaaaaaaaaaaa"

/* Put into the file by hand where a queue has to refuse what goes there. */
#define REFUSAL                                                                                    \
    "CREATE TRIGGER refusal BEFORE INSERT ON body WHEN NEW.seq >> 48 ="                            \
    " (SELECT queue FROM queue WHERE name = 'shut') BEGIN SELECT RAISE(ABORT, 'shut'); END"

static int setup(void **state)
{
    int failed = fixture_setup(state);
    struct fixture *f = *state;
    f->store = fixture_open(f, sqlite3_libversion_number());
    return failed;
}

static culex_uuid batch_id(char which)
{
    return (culex_uuid){{(unsigned char)which, 1}};
}

static void give(struct fixture *f, struct culex_batch_order order, char which)
{
    culex_error error = {.text = ""};
    order.queue = "q";
    order.id = batch_id(which);
    order.open_ms = order.keep_ms = 3600000;
    if (f->store->ops->batch(f->store, &order, &error) != CULEX_OK)
        fail_msg("batch: %s", error.text);
}

/* With a callback into `target` when it has ended. */
static void batch_open(struct fixture *f, char which, const char *target)
{
    const struct culex_follow_up call = {target, fixture_run("payload", 7)};
    give(f, (struct culex_batch_order){.act = CULEX_BATCH_OPEN}, which);
    give(f,
         (struct culex_batch_order){
             .act = CULEX_BATCH_CALL, .when = CULEX_BATCH_ON_COMPLETE, .call = &call},
         which);
}

static void batch_close(struct fixture *f, char which)
{
    give(f, (struct culex_batch_order){.act = CULEX_BATCH_CLOSE}, which);
}

static culex_batch_info look(struct fixture *f, char which)
{
    culex_batch_info info;
    assert_int_equal(f->store->ops->batch_look(f->store, "q", batch_id(which), &info, NULL),
                     CULEX_OK);
    return info;
}

static uint64_t waiting(struct fixture *f, const char *queue)
{
    culex_queue_stats stats = {0};
    culex_status status = f->store->ops->stats(f->store, queue, &stats, NULL);
    assert_true(status == CULEX_OK || status == CULEX_ENOTFOUND);
    return stats.count[CULEX_RUN_WAITING];
}

/* A step; what it says without its parts. */
static struct culex_step_reply step(struct fixture *f)
{
    struct culex_step_reply reply = fixture_step(f->store, "q", ANN, 0, NULL, 0);
    struct culex_step_reply said = reply;
    f->store->ops->step_release(f->store, &reply);
    return said;
}

static culex_fsck_counts fsck(struct fixture *f, bool is_repairing)
{
    struct culex_fsck_reply reply = {.cursor = 0};
    culex_fsck_counts counts = {0};
    do {
        culex_error error = {.text = ""};
        if (f->store->ops->fsck(f->store, "q", reply.cursor, is_repairing, &reply, &error) !=
            CULEX_OK)
            fail_msg("fsck: %s", error.text);
        counts.wrong += reply.counts.wrong;
        counts.damaged += reply.counts.damaged;
    } while (reply.cursor != 0);
    return counts;
}

static void assert_repaired(struct fixture *f, uint64_t wrong, uint64_t damaged)
{
    culex_fsck_counts counts = fsck(f, false);
    assert_int_equal(counts.wrong, wrong);
    assert_int_equal(counts.damaged, damaged);
    counts = fsck(f, true);
    assert_int_equal(counts.wrong, wrong);
    assert_int_equal(counts.damaged, damaged);
    counts = fsck(f, false);
    assert_int_equal(counts.wrong + counts.damaged, 0);
}

/* --- what stays ------------------------------------------------------------------------------ */

static void test_callback_that_is_refused_keeps_no_other(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run("x", 1);
    fixture_put(f->store, "shut", &run);
    fixture_sql(f, REFUSAL);
    batch_open(f, 'a', "shut");
    batch_open(f, 'b', "open");
    batch_open(f, 'c', "shut");
    batch_open(f, 'd', "q");
    for (char which = 'a'; which <= 'd'; which++)
        batch_close(f, which);
    struct culex_step_reply reply = step(f);
    assert_int_equal(waiting(f, "open"), 1);
    assert_int_equal(waiting(f, "q"), 1);
    assert_true(reply.has_brought);
    assert_non_null(strstr(reply.follow_ups_left.text, "into queue shut"));
    assert_false(reply.is_empty);
    assert_in_range(reply.due_in_ms, 1, 1000);
    reply = step(f); /* too soon for a try, and said all the same */
    assert_int_not_equal(reply.follow_ups_left.code, CULEX_OK);
    assert_false(reply.is_empty || reply.has_brought);
    assert_in_range(reply.due_in_ms, 1, 1000);
    fixture_sql(f, "DROP TRIGGER refusal");
    f->now_ms += 1000;
    reply = step(f);
    assert_string_equal(reply.follow_ups_left.text, "");
    assert_int_equal(waiting(f, "shut"), 3);
    f->now_ms += 1000;
    step(f);
    assert_int_equal(waiting(f, "shut") + waiting(f, "open"), 4);
    assert_repaired(f, 0, 0);
}

/* A clock that was set back keeps them no longer. */
static void test_clock_that_is_set_back_keeps_no_callback(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run("x", 1);
    fixture_put(f->store, "shut", &run);
    fixture_sql(f, REFUSAL);
    batch_open(f, 'a', "shut");
    batch_close(f, 'a');
    step(f);
    fixture_sql(f, "DROP TRIGGER refusal");
    f->now_ms -= 3600000;
    step(f);
    assert_int_equal(waiting(f, "shut"), 2);
}

static void test_callback_that_nobody_can_read_is_put_aside(void **state)
{
    static const char *const damages[] = {"run = x'00'", "target = ''", "target = 'no queue/'",
                                          "run = NULL",
                                          "run = CAST(replace(run, 'test.job', 'a|b') AS BLOB)"};
    struct fixture *f = *state;
    char sql[200];
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        const char bad = (char)('a' + 2 * i), good = (char)(bad + 1);
        batch_open(f, bad, "calls");
        batch_open(f, good, "calls");
        batch_close(f, bad);
        batch_close(f, good);
        snprintf(sql, sizeof sql, "UPDATE batch_call SET %s WHERE batch = %zu", damages[i],
                 2 * i + 1);
        fixture_sql(f, sql);
        struct culex_step_reply reply = step(f);
        assert_int_equal(reply.follow_ups_left.code, CULEX_ECORRUPT);
        assert_non_null(strstr(reply.follow_ups_left.text, "a callback of a batch"));
        assert_int_equal(waiting(f, "calls"), i + 1);
        reply = step(f); /* a worker that empties its queue comes to an end */
        assert_string_equal(reply.follow_ups_left.text, "");
        assert_true(reply.is_empty);
        assert_repaired(f, 0, 1);
        assert_int_equal(waiting(f, "calls"), i + 1);
    }
}

/* --- FSCK ------------------------------------------------------------------------------------ */

static culex_uuid member(struct fixture *f, char which)
{
    struct culex_new_run run = fixture_run("x", 1);
    run.has_batch = true;
    run.batch = batch_id(which);
    return fixture_put(f->store, "q", &run);
}

/* It would wait for them for ever. */
static void test_fsck_counts_members_that_are_gone_as_cancelled(void **state)
{
    struct fixture *f = *state;
    batch_open(f, 'a', "calls");
    member(f, 'a');
    member(f, 'a');
    batch_close(f, 'a');
    assert_repaired(f, 0, 0);
    fixture_sql(f, "DELETE FROM member");
    assert_repaired(f, 1, 0);
    assert_true(look(f, 'a').is_ended);
    assert_int_equal(look(f, 'a').added, 2);
    assert_int_equal(look(f, 'a').cancelled, 2);
    step(f);
    assert_int_equal(waiting(f, "calls"), 1);
}

/* What waits for the run beside the batch that is gone still does. */
static void test_fsck_keeps_the_other_batches_of_a_member(void **state)
{
    struct fixture *f = *state;
    const struct culex_follow_up call = {"calls", fixture_run("payload", 7)};
    culex_run_state state_after;
    batch_open(f, 'a', "lost");
    culex_uuid id = member(f, 'a');
    give(f,
         (struct culex_batch_order){
             .act = CULEX_BATCH_AFTER, .run = id, .when = CULEX_BATCH_ON_COMPLETE, .call = &call},
         'b');
    assert_repaired(f, 0, 0);
    fixture_sql(f, "DELETE FROM batch WHERE batch = 1");
    assert_repaired(f, 2, 0); /* and the callback of the one that is gone */
    assert_false(look(f, 'b').is_ended);
    assert_int_equal(f->store->ops->cancel(f->store, "q", id, &state_after, NULL), CULEX_OK);
    assert_true(look(f, 'b').is_ended);
    step(f);
    assert_int_equal(waiting(f, "calls"), 1);
}

/* It would end before them. */
static void test_fsck_counts_members_that_are_there(void **state)
{
    struct fixture *f = *state;
    batch_open(f, 'a', "calls");
    member(f, 'a');
    member(f, 'a');
    fixture_sql(f, "UPDATE batch SET added = 1");
    assert_repaired(f, 1, 0);
    assert_int_equal(look(f, 'a').added, 2);
    batch_close(f, 'a');
    assert_false(look(f, 'a').is_ended);
}

static void test_fsck_counts_batches_that_are_members(void **state)
{
    struct fixture *f = *state;
    batch_open(f, 'a', "calls");
    give(f, (struct culex_batch_order){.act = CULEX_BATCH_OPEN, .parent = batch_id('a')}, 'b');
    member(f, 'b');
    batch_close(f, 'a');
    assert_repaired(f, 0, 0);
    fixture_sql(f, "DELETE FROM batch WHERE batch = 2");
    assert_repaired(f, 2, 0); /* and the member of the one that is gone */
    assert_true(look(f, 'a').is_ended);
    assert_int_equal(look(f, 'a').cancelled, 1);
}

static void test_fsck_ends_what_was_left_to_end(void **state)
{
    struct fixture *f = *state;
    batch_open(f, 'a', "calls");
    batch_close(f, 'a');
    fixture_sql(f, "UPDATE batch SET state = 'C', at_ms = 9223372036854775807;"
                   "UPDATE batch_call SET is_due = 0");
    assert_repaired(f, 1, 0);
    assert_true(look(f, 'a').is_ended);
    step(f);
    assert_int_equal(waiting(f, "calls"), 1);
}

static void test_fsck_finds_what_is_wrong_of_callbacks(void **state)
{
    /* Not to come in; in the care of another queue; of no batch. */
    static const char *const wrongs[] = {"UPDATE batch_call SET is_due = 0",
                                         "UPDATE batch_call SET queue = 77",
                                         ("INSERT INTO batch_call SELECT 99, kind, queue, 0, 0,"
                                          " digest, target, delay_ms, run FROM batch_call")};
    struct fixture *f = *state;
    batch_open(f, 'a', "calls");
    batch_close(f, 'a');
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        fixture_sql(f, wrongs[i]);
        assert_repaired(f, 1, 0);
    }
    step(f);
    assert_int_equal(waiting(f, "calls"), 1);
    assert_repaired(f, 0, 0);
    assert_int_equal(fixture_ask(f, "SELECT count(*) FROM batch_call"), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_callback_that_is_refused_keeps_no_other),
        TEST(test_clock_that_is_set_back_keeps_no_callback),
        TEST(test_callback_that_nobody_can_read_is_put_aside),
        TEST(test_fsck_counts_members_that_are_gone_as_cancelled),
        TEST(test_fsck_keeps_the_other_batches_of_a_member),
        TEST(test_fsck_counts_members_that_are_there),
        TEST(test_fsck_counts_batches_that_are_members),
        TEST(test_fsck_ends_what_was_left_to_end),
        TEST(test_fsck_finds_what_is_wrong_of_callbacks),
    };
    return cmocka_run_group_tests_name("sqlite_batch", tests, NULL, NULL);
}
