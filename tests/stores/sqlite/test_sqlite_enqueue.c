/* What a file keeps of enqueue calls: the numbers of its queues, the last call of each producer,
 * and idempotency keys. What callers see of them is in suite/cases_ticket.c and cases_key.c. */
#include "fixture.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/run_id.h"
#include "store/digest.h"

#define ONE "aaaaaaaaaaaaaaaa"

enum { MINUTE_MS = 60000, SOME = 3, CROWD = CULEX__SQLITE_LASTS_MAX + 3, MANY = 300 };

/* --- short verbs ---------------------------------------------------------------------------- */

static struct culex_ticket ticket_of(const struct fixture *fixture, uint64_t producer)
{
    return (struct culex_ticket){producer, (uint64_t)fixture->now_ms << 12};
}

/* A call of `count` runs with these contents. */
static culex_status call(struct fixture *fixture, const char *queue, struct culex_ticket ticket,
                         const uint64_t *contents, size_t count,
                         struct culex_enqueue_result *results)
{
    struct culex_new_run runs[SOME];
    for (size_t i = 0; i < count; i++) {
        runs[i] = fixture_run("x", 1);
        runs[i].content = contents[i];
    }
    return fixture->store->ops->enqueue(fixture->store, queue, &ticket, runs, count, results, NULL);
}

static culex_uuid call_one(struct fixture *fixture, const char *queue, struct culex_ticket ticket)
{
    static const uint64_t content = 1;
    struct culex_enqueue_result result;
    assert_int_equal(call(fixture, queue, ticket, &content, 1, &result), CULEX_OK);
    assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
    return result.id;
}

/* The call was made before and was answered with `id`. */
static void assert_repeated(struct fixture *fixture, struct culex_ticket ticket, culex_uuid id)
{
    int64_t before = fixture_ask(fixture, "SELECT sum(enqueued) FROM queues");
    culex_uuid again = call_one(fixture, "q", ticket);
    assert_memory_equal(&again, &id, sizeof id);
    assert_int_equal(fixture_ask(fixture, "SELECT sum(enqueued) FROM queues"), before);
}

static void assert_refused(struct fixture *fixture, struct culex_ticket ticket, uint64_t content,
                           culex_status status)
{
    struct culex_enqueue_result result;
    int64_t before = fixture_ask(fixture, "SELECT sum(enqueued) FROM queues");
    assert_int_equal(call(fixture, "q", ticket, &content, 1, &result), status);
    assert_int_equal(fixture_ask(fixture, "SELECT sum(enqueued) FROM queues"), before);
}

static struct culex_enqueue_result put_keyed(struct fixture *fixture, const char *queue,
                                             const char *key, uint64_t content)
{
    struct culex_new_run run = fixture_run("x", 1);
    struct culex_enqueue_result result;
    run.idempotency_key = key;
    run.window_ms = 10 * MINUTE_MS;
    run.content = content;
    assert_int_equal(
        fixture->store->ops->enqueue(fixture->store, queue, NULL, &run, 1, &result, NULL),
        CULEX_OK);
    return result;
}

static uint64_t number_of(culex_uuid id)
{
    struct culex_run_id_parts parts;
    assert_true(culex__run_id_read(id, &parts));
    return parts.number;
}

static culex_uuid put(struct fixture *fixture, const char *queue)
{
    struct culex_new_run run = fixture_run("x", 1);
    return fixture_put(fixture->store, queue, &run);
}

static void reopen(struct fixture *fixture)
{
    if (fixture->store != NULL)
        fixture->store->ops->close(fixture->store);
    fixture->store = fixture_open(fixture, sqlite3_libversion_number());
}

static int64_t producers_count(struct fixture *fixture)
{
    return fixture_ask(fixture, "SELECT (SELECT count(*) FROM producer) +"
                                " (SELECT coalesce(sum(lasts), 0) FROM queues)");
}

/* --- ids ------------------------------------------------------------------------------------ */

static void test_ids__come_from_the_row_of_the_queue(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid id = put(fixture, "q"), other = put(fixture, "other");
    struct culex_run_id_parts parts, others;
    assert_true(culex__run_id_read(id, &parts) && culex__run_id_read(other, &others));
    assert_int_equal(parts.ms, fixture->now_ms);
    assert_int_equal(parts.number, 1);
    assert_int_equal(others.number, 1);
    assert_int_equal(parts.lane, 5); /* its priority */
    assert_int_equal(fixture_ask(fixture, "SELECT salt FROM queue WHERE name = 'q'"), parts.salt);
    assert_int_not_equal(parts.salt, others.salt);
}

/* A number that was given is gone: with its run, with the handle, with another one's writes. */
static void test_ids__numbers_only_grow(void **state)
{
    struct fixture *fixture = *state;
    struct culex_purge_reply purged;
    assert_int_equal(number_of(put(fixture, "q")), 1);
    assert_int_equal(
        fixture->store->ops->purge(fixture->store, "q", CULEX_RUN_WAITING, 9, &purged, NULL),
        CULEX_OK);
    assert_int_equal(number_of(put(fixture, "q")), 2);
    struct culex_store *first = fixture->store;
    fixture->store = fixture_open(fixture, sqlite3_libversion_number());
    assert_int_equal(number_of(put(fixture, "q")), 3);
    fixture->store->ops->close(fixture->store);
    fixture->store = first;
    assert_int_equal(number_of(put(fixture, "q")), 4);
    fixture->now_ms -= 86400000;
    reopen(fixture);
    assert_int_equal(number_of(put(fixture, "q")), 5);
}

/* A call that fails gives its numbers back, and nobody has seen them. */
static void test_ids__of_a_failed_call_are_nobodys(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run run = fixture_run("x", 1);
    struct culex_enqueue_result result;
    put(fixture, "q");
    fixture_sql(fixture, "CREATE TRIGGER stop BEFORE INSERT ON body WHEN new." FIXTURE_REAR " BEGIN"
                         " SELECT raise(ABORT, 'no'); END");
    assert_int_not_equal(
        fixture->store->ops->enqueue(fixture->store, "q", NULL, &run, 1, &result, NULL), CULEX_OK);
    fixture_sql(fixture, "DROP TRIGGER stop");
    assert_int_equal(number_of(put(fixture, "q")), 2);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 2);
}

/* Of a row that cannot be true no id is made. */
static void test_ids__damaged_row_is_told(void **state)
{
    static const char *const damages[] = {
        "queue SET salt = 67108864",
        "queue SET salt = -1",
        "body SET checksum = -2 WHERE " FIXTURE_REAR,
        "body SET checksum = 17592186044415 WHERE " FIXTURE_REAR,
        "body SET checksum = 9223372036854775807 WHERE " FIXTURE_REAR,
    };
    static const char good[] = "PRAGMA ignore_check_constraints=1; UPDATE queue SET salt = 5;"
                               "UPDATE body SET checksum = 1 WHERE " FIXTURE_REAR;
    struct fixture *fixture = *state;
    struct culex_new_run run = fixture_run("x", 1);
    struct culex_enqueue_result result;
    char sql[128];
    put(fixture, "q");
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        fixture_sql(fixture, good);
        snprintf(sql, sizeof sql, "PRAGMA ignore_check_constraints=1; UPDATE %s", damages[i]);
        fixture_sql(fixture, sql);
        assert_int_equal(
            fixture->store->ops->enqueue(fixture->store, "q", NULL, &run, 1, &result, NULL),
            CULEX_ECORRUPT);
    }
    fixture_sql(fixture, good);
    assert_int_equal(number_of(put(fixture, "q")), 2);
}

/* --- producers ------------------------------------------------------------------------------ */

/* The newest calls are in the queue's rear and the others in the table: all can be repeated, by
 * whichever handle, and in any order. */
static void test_ticket__calls_of_several_producers_are_known(void **state)
{
    struct fixture *fixture = *state;
    struct culex_ticket tickets[CROWD];
    culex_uuid ids[CROWD];
    for (int round = 0; round < 4; round++) {
        for (uint64_t i = 0; i < CROWD; i++) {
            tickets[i] = ticket_of(fixture, i + 1);
            ids[i] = call_one(fixture, "q", tickets[i]);
        }
        for (int i = 0; i < CROWD; i++)
            assert_repeated(fixture, tickets[i], ids[i]);
        /* Those in the queue's rear may have an older call in the table. */
        assert_in_range(producers_count(fixture), CROWD, CROWD + CULEX__SQLITE_LASTS_MAX);
        fixture->now_ms += MINUTE_MS / 3;
        reopen(fixture);
        assert_true(fixture_ask(fixture, "SELECT count(*) FROM producer") > 0);
        for (int i = CROWD; i-- > 0;)
            assert_repeated(fixture, tickets[i], ids[i]);
        tickets[1].sequence--;
        assert_refused(fixture, tickets[1], 1, CULEX_ECONFLICT);
    }
    for (int i = 0; i < CROWD; i++)
        assert_refused(fixture, tickets[i], 2, CULEX_ECONFLICT);
}

/* Nor do a few together; each call leaves the others'. */
static void test_ticket__of_few_producers_takes_no_row(void **state)
{
    struct fixture *fixture = *state;
    struct culex_ticket tickets[CULEX__SQLITE_LASTS_MAX];
    culex_uuid ids[CULEX__SQLITE_LASTS_MAX];
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < CULEX__SQLITE_LASTS_MAX; i++) {
            tickets[i] = ticket_of(fixture, i + 1);
            ids[i] = call_one(fixture, "q", tickets[i]);
        }
        for (int i = 0; i < CULEX__SQLITE_LASTS_MAX; i++)
            assert_repeated(fixture, tickets[i], ids[i]);
    }
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM producer"), 0);
    assert_int_equal(producers_count(fixture), CULEX__SQLITE_LASTS_MAX);
}

/* A producer that is alone costs no row of the table. */
static void test_ticket__of_a_single_producer_takes_no_row(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 5; i++) {
        call_one(fixture, "q", ticket_of(fixture, 9));
        fixture->now_ms += 1000;
    }
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM producer"), 0);
    assert_int_equal(
        fixture_ask(fixture,
                    "SELECT lasts = 1 AND last_producer = x'0000000000000009' FROM queues"),
        1);
}

/* Calls with a run that was refused are in the table, ordinary ones of the same producer before
 * and behind them in the queue's row: the last one counts, wherever it is. */
static void test_ticket__mixed_calls_and_ordinary_ones_take_turns(void **state)
{
    static const uint64_t contents[] = {1, 2};
    struct fixture *fixture = *state;
    struct culex_enqueue_result first[2], again[2];
    struct culex_ticket before, ticket;
    put(fixture, "q");
    for (int round = 1; round < 4; round++) {
        before = ticket_of(fixture, 7);
        call_one(fixture, "q", before);
        fixture->now_ms++;
        ticket = ticket_of(fixture, 7);
        assert_int_equal(
            fixture->store->ops->limit(fixture->store, "q", (uint64_t)round * 2 + 1, NULL),
            CULEX_OK);
        assert_int_equal(call(fixture, "q", ticket, contents, 2, first), CULEX_OK);
        assert_int_equal(first[0].outcome, CULEX_ENQUEUED_NEW);
        assert_int_equal(first[1].outcome, CULEX_ENQUEUED_FULL);
        assert_int_equal(fixture->store->ops->limit(fixture->store, "q", 0, NULL), CULEX_OK);
        assert_refused(fixture, before, 1, CULEX_ECONFLICT);
        assert_int_equal(call(fixture, "q", ticket, contents, 2, again), CULEX_OK);
        assert_memory_equal(first, again, sizeof first);
        fixture->now_ms++;
    }
    before = ticket_of(fixture, 7);
    assert_repeated(fixture, before, call_one(fixture, "q", before));
    assert_refused(fixture, ticket, 1, CULEX_ECONFLICT);
}

/* What the file says of a call is not trusted either. */
static void test_ticket__damaged_answers_are_told(void **state)
{
    static const uint64_t contents[] = {1, 2};
    static const char *const answers[] = {"x'00'",
                                          "x'0009'",
                                          "x'0004'",
                                          "x'00041122'",
                                          "x'0001'",
                                          "x''",
                                          "CAST(x'0009' || zeroblob(16) AS BLOB)"};
    struct fixture *fixture = *state;
    struct culex_enqueue_result results[2];
    struct culex_ticket ticket = ticket_of(fixture, 7);
    char sql[128];
    put(fixture, "q");
    assert_int_equal(fixture->store->ops->limit(fixture->store, "q", 2, NULL), CULEX_OK);
    assert_int_equal(call(fixture, "q", ticket, contents, 2, results), CULEX_OK);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        snprintf(sql, sizeof sql, "UPDATE producer SET answers = %s", answers[i]);
        fixture_sql(fixture, sql);
        assert_int_equal(call(fixture, "q", ticket, contents, 2, results), CULEX_ECORRUPT);
    }
    fixture_sql(fixture, "UPDATE producer SET answers = x'0003', number = 9223372036854775807");
    assert_int_equal(call(fixture, "q", ticket, contents, 2, results), CULEX_ECORRUPT);
    fixture_sql(fixture, "UPDATE producer SET answers = x'0003', number = 0");
    assert_int_equal(call(fixture, "q", ticket, contents, 2, results), CULEX_ECORRUPT);
    fixture_sql(fixture, "UPDATE producer SET answers = x'0003', number = 2");
    assert_int_equal(call(fixture, "q", ticket, contents, 2, results), CULEX_OK);
}

/* --- what is forgotten ---------------------------------------------------------------------- */

static void producers_come(struct fixture *fixture, const char *queue, int count)
{
    static uint64_t newest = 1000;
    for (int i = 0; i < count; i++)
        call_one(fixture, queue, ticket_of(fixture, ++newest));
}

/* Their time, and the minute in which it ends. */
static void producers_grow_old(struct fixture *fixture)
{
    fixture->now_ms += CULEX_TICKET_HORIZON_MS + MINUTE_MS;
}

static void test_producers__step_of_any_queue_forgets_them(void **state)
{
    struct fixture *fixture = *state;
    producers_come(fixture, "q", MANY);
    producers_come(fixture, "left_alone", MANY);
    producers_grow_old(fixture);
    for (int i = 0; i < 2 * MANY / CULEX_FORGET_MAX + 1; i++) {
        struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 0, NULL, 0);
        fixture->store->ops->step_release(fixture->store, &reply);
    }
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM producer"), 0);
    assert_int_equal(fixture_ask(fixture, "SELECT lasts FROM queues WHERE name = 'q'"), 0);
}

/* One call forgets no more than a portion. */
static void test_producers__are_forgotten_in_portions(void **state)
{
    struct fixture *fixture = *state;
    producers_come(fixture, "q", MANY);
    int64_t before = fixture_ask(fixture, "SELECT count(*) FROM producer");
    producers_grow_old(fixture);
    struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 0, NULL, 0);
    fixture->store->ops->step_release(fixture->store, &reply);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM producer"),
                     before - CULEX_FORGET_MAX);
}

/* Without a worker: where each call is another producer's, and where one producer is left. */
static void test_producers__calls_forget_them_where_no_worker_comes_by(void **state)
{
    struct fixture *fixture = *state;
    for (int round = 0; round < 4; round++) {
        producers_come(fixture, round % 2 == 0 ? "q" : "other", MANY);
        assert_in_range(producers_count(fixture), MANY, MANY + CULEX__SQLITE_LASTS_MAX + 1);
        producers_grow_old(fixture);
    }
    struct culex_ticket ticket = ticket_of(fixture, 1);
    for (int minute = 0; minute < MANY / CULEX_FORGET_MAX + 1; minute++) {
        culex__ticket_next(&ticket, fixture->now_ms);
        call_one(fixture, "q", ticket);
        culex__ticket_next(&ticket, fixture->now_ms);
        call_one(fixture, "q", ticket);
        fixture->now_ms += MINUTE_MS;
    }
    /* Those in the rear of the queue that nobody uses stay. */
    assert_in_range(producers_count(fixture), 1, 1 + CULEX__SQLITE_LASTS_MAX);
}

/* Rows that may still be asked for stay to the end. */
static void test_producers__stay_until_their_time_is_over(void **state)
{
    struct fixture *fixture = *state;
    fixture->now_ms -= fixture->now_ms % MINUTE_MS + 1;
    producers_come(fixture, "q", 5); /* their minute is over before the others' */
    fixture->now_ms += 1;
    struct culex_ticket ticket = ticket_of(fixture, 5);
    culex_uuid id = call_one(fixture, "q", ticket);
    producers_come(fixture, "q", 5);
    fixture->now_ms += CULEX_TICKET_HORIZON_MS;
    producers_come(fixture, "q", 5);
    assert_int_equal(producers_count(fixture), 11);
    struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 0, NULL, 0);
    fixture->store->ops->step_release(fixture->store, &reply);
    assert_repeated(fixture, ticket, id);
    fixture->now_ms++;
    assert_refused(fixture, ticket, 1, CULEX_EEXPIRED);
}

/* --- keys ------------------------------------------------------------------------------------ */

static void keys_come(struct fixture *fixture, const char *queue, int count)
{
    static int newest;
    char key[32];
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "order %d", ++newest);
        assert_int_equal(put_keyed(fixture, queue, key, 1).outcome, CULEX_ENQUEUED_NEW);
    }
}

static int64_t keys_count(struct fixture *fixture)
{
    return fixture_ask(fixture, "SELECT count(*) FROM idempotency");
}

static void test_keys__runs_without_one_are_not_there(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "q");
    put_keyed(fixture, "q", "", 1);
    assert_int_equal(keys_count(fixture), 0);
    put_keyed(fixture, "q", "k", 1);
    put_keyed(fixture, "q", "k", 1);
    put_keyed(fixture, "other", "k", 1);
    assert_int_equal(keys_count(fixture), 2);
}

/* One whose time is over may still be in the table: it leads nowhere, and its row is used again. */
static void test_keys__row_that_is_over_leads_nowhere(void **state)
{
    struct fixture *fixture = *state;
    struct culex_enqueue_result first = put_keyed(fixture, "q", "k", 1), second;
    fixture->now_ms += 10 * MINUTE_MS - 1;
    second = put_keyed(fixture, "q", "k", 1);
    assert_int_equal(second.outcome, CULEX_ENQUEUED_DUPLICATE);
    assert_memory_equal(&second.id, &first.id, sizeof first.id);
    fixture->now_ms++;
    assert_int_equal(keys_count(fixture), 1);
    second = put_keyed(fixture, "q", "k", 2);
    assert_int_equal(second.outcome, CULEX_ENQUEUED_NEW);
    assert_int_equal(put_keyed(fixture, "q", "k", 1).outcome, CULEX_ENQUEUED_CONFLICT);
    assert_int_equal(keys_count(fixture), 1);
}

static void test_keys__step_of_any_queue_forgets_them_in_portions(void **state)
{
    struct fixture *fixture = *state;
    keys_come(fixture, "q", MANY / 2);
    keys_come(fixture, "left_alone", MANY / 2);
    fixture->now_ms += 10 * MINUTE_MS;
    for (int left = MANY; left > 0; left -= CULEX_FORGET_MAX) {
        assert_int_equal(keys_count(fixture), left);
        struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 0, NULL, 0);
        fixture->store->ops->step_release(fixture->store, &reply);
    }
    assert_int_equal(keys_count(fixture), 0);
}

static void test_keys__calls_forget_them_where_no_worker_comes_by(void **state)
{
    struct fixture *fixture = *state;
    for (int round = 0; round < 4; round++) {
        keys_come(fixture, round % 2 == 0 ? "q" : "other", MANY);
        assert_int_equal(keys_count(fixture), MANY);
        fixture->now_ms += 10 * MINUTE_MS;
    }
}

/* --- runner ----------------------------------------------------------------------------------- */

static int setup(void **state)
{
    int status = fixture_setup(state);
    if (status == 0)
        reopen(*state);
    return status;
}

static int teardown(void **state)
{
    assert_sound(*state);
    return fixture_teardown(state);
}

/* --- ordinary runs -------------------------------------------------------------------------- */

enum { BODIES = 400, STEPS = 40, WANT = 10 };

static size_t step_of_no_bytes(struct fixture *fixture)
{
    struct culex_step step = {
        .queue = "q", .session = ONE, .nonce = fixture_nonce(), .want = WANT, .lease_ms = 60000};
    struct culex_step_reply reply;
    assert_int_equal(fixture->store->ops->step(fixture->store, &step, &reply, NULL), CULEX_OK);
    size_t granted = reply.grant_count;
    fixture->store->ops->step_release(fixture->store, &reply);
    return granted;
}

/* Steps that grant less than they want leave no more and more of them as runs of their own. */
static void test_ordinary__few_are_moved_that_are_not_granted(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < BODIES; i++)
        put(fixture, "q");
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM bodies"), BODIES);
    for (int i = 0; i < STEPS; i++)
        assert_int_equal(step_of_no_bytes(fixture), 1);
    assert_in_range(fixture_ask(fixture, "SELECT count(*) FROM run WHERE state = 'W'"), 0,
                    CULEX_FORGET_MAX + 2 * WANT);
    assert_sound(fixture);
}

/* An idle worker that asks to be woken is told of one that waits already. */
static void test_ordinary__wakes_who_comes_later(void **state)
{
    struct fixture *fixture = *state;
    const char *const queues[] = {"q"};
    bool is_woken = false;
    int fd = -1;
    put(fixture, "q");
    assert_int_equal(fixture->store->ops->wake_arm(fixture->store, queues, 1, 10000, &fd, NULL),
                     CULEX_OK);
    struct pollfd door = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&door, 1, 0), 1);
    assert_int_equal(fixture->store->ops->wake_take(fixture->store, &is_woken, NULL), CULEX_OK);
    assert_true(is_woken);
}

/* An id that leads to its key, with another time, is nobody's. */
static void test_ordinary__is_known_by_its_whole_id(void **state)
{
    struct fixture *fixture = *state;
    const struct culex_store_ops *ops = fixture->store->ops;
    culex_run_state run_state;
    culex_run_info *info = NULL;
    culex_uuid id = put(fixture, "q"), other = id;
    other.b[5] ^= 1;
    assert_int_equal(ops->get(fixture->store, "q", other, &info, NULL), CULEX_ENOTFOUND);
    assert_int_equal(ops->cancel(fixture->store, "q", other, &run_state, NULL), CULEX_ENOTFOUND);
    struct culex_ack ack = {.id = other, .attempt = 1, .event = CULEX_EVENT_DONE};
    struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 0, &ack, 1);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_GONE);
    ops->step_release(fixture->store, &reply);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM bodies"), 1);
    assert_int_equal(ops->get(fixture->store, "q", id, &info, NULL), CULEX_OK);
    assert_memory_equal(&info->id, &id, sizeof id);
    assert_int_equal(info->state, CULEX_RUN_WAITING);
    culex_run_info_free(info);
}

/* It has no place but its time. */
static void test_ordinary__is_none_behind_the_clock(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run own = fixture_own_run("x", 1);
    culex_uuid first = fixture_put(fixture->store, "q", &own);
    fixture->now_ms -= 3600000;
    put(fixture, "q");
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM bodies"), 0);
    struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 1, NULL, 0);
    assert_int_equal(reply.grant_count, 1);
    assert_memory_equal(&reply.grants[0].facts.id, &first, sizeof first);
    fixture->store->ops->step_release(fixture->store, &reply);
}

/* The newest one's number is not given again, whatever became of it. */
static void test_ordinary__number_of_one_that_is_gone_stays_given(void **state)
{
    struct fixture *fixture = *state;
    const struct culex_store_ops *ops = fixture->store->ops;
    culex_run_state run_state;
    culex_uuid first = put(fixture, "q");
    assert_int_equal(ops->cancel(fixture->store, "q", first, &run_state, NULL), CULEX_OK);
    assert_int_equal(ops->forget(fixture->store, "q", first, NULL), CULEX_OK);
    culex_uuid second = put(fixture, "q");
    assert_memory_not_equal(&first, &second, sizeof first);
    assert_int_equal(number_of(second), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ordinary__few_are_moved_that_are_not_granted),
        TEST(test_ordinary__wakes_who_comes_later),
        TEST(test_ordinary__is_known_by_its_whole_id),
        TEST(test_ordinary__is_none_behind_the_clock),
        TEST(test_ordinary__number_of_one_that_is_gone_stays_given),
        TEST(test_ids__come_from_the_row_of_the_queue),
        TEST(test_ids__numbers_only_grow),
        TEST(test_ids__of_a_failed_call_are_nobodys),
        TEST(test_ids__damaged_row_is_told),
        TEST(test_ticket__calls_of_several_producers_are_known),
        TEST(test_ticket__of_a_single_producer_takes_no_row),
        TEST(test_ticket__of_few_producers_takes_no_row),
        TEST(test_ticket__mixed_calls_and_ordinary_ones_take_turns),
        TEST(test_ticket__damaged_answers_are_told),
        TEST(test_producers__step_of_any_queue_forgets_them),
        TEST(test_producers__are_forgotten_in_portions),
        TEST(test_producers__calls_forget_them_where_no_worker_comes_by),
        TEST(test_producers__stay_until_their_time_is_over),
        TEST(test_keys__runs_without_one_are_not_there),
        TEST(test_keys__row_that_is_over_leads_nowhere),
        TEST(test_keys__step_of_any_queue_forgets_them_in_portions),
        TEST(test_keys__calls_forget_them_where_no_worker_comes_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
