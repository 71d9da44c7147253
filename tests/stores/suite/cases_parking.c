/* suite/cases_parking.c - limits of runs: who may begin, who stands aside, who is next. */
#include "suite.h"

#include <string.h>

#include "cases.h"
#include "store/limit_list.h"

#define NAME "shop.send_email:concurrency"
#define RATE "shop.send_email:rate"
#define FAIR "shop.send_email:fair_by_tenant"

/* --- short verbs ------------------------------------------------------------------------------ */

static struct culex_run_limit at_most(uint32_t count, const char *key)
{
    return (struct culex_run_limit){CULEX_LIMIT_CONCURRENCY, NAME, key, .count = count};
}

static struct culex_run_limit at_rate(uint32_t count, int64_t per_ms, uint32_t burst)
{
    return (struct culex_run_limit){CULEX_LIMIT_RATE, RATE, "k", count, per_ms, burst};
}

static struct culex_run_limit fair(const char *key)
{
    return (struct culex_run_limit){CULEX_LIMIT_FAIR, FAIR, key, .count = 0};
}

static struct culex_new_run limited(struct suite *suite, const struct culex_run_limit *limits,
                                    size_t count)
{
    struct culex_new_run run = suite_run(suite);
    run.limits = limits;
    run.limit_count = count;
    return run;
}

static culex_uuid put(struct suite *suite, struct culex_run_limit limit)
{
    struct culex_new_run run = limited(suite, &limit, 1);
    return suite_put_run(suite, &run);
}

/* In batches. */
static void put_many(struct suite *suite, struct culex_run_limit limit, size_t count,
                     culex_uuid *ret_ids)
{
    static struct culex_new_run runs[CULEX_STORE_BATCH_MAX];
    static struct culex_enqueue_result results[CULEX_STORE_BATCH_MAX];
    for (size_t done = 0; done < count;) {
        size_t part = count - done < CULEX_STORE_BATCH_MAX ? count - done : CULEX_STORE_BATCH_MAX;
        for (size_t i = 0; i < part; i++)
            runs[i] = limited(suite, &limit, 1);
        suite_put_many(suite, runs, part, results);
        for (size_t i = 0; i < part; i++, done++) {
            assert_int_equal(results[i].outcome, CULEX_ENQUEUED_NEW);
            if (ret_ids != NULL)
                ret_ids[done] = results[i].id;
        }
    }
}

/* Of key `key`; zeroes when nothing is kept of it. */
static struct culex_limit_key_row key_row(struct suite *suite, const char *name, const char *key)
{
    struct culex_limit_key_list list = {.rows = NULL};
    struct culex_limit_key_row row = {.key = NULL};
    assert_ok(
        suite->store->ops->limit_keys(suite->store, suite->queue, name, NULL, 1000, &list, NULL));
    assert_int_equal(list.now_ms, suite->now_ms);
    for (size_t i = 0; i < list.count; i++) {
        if (strcmp(list.rows[i].key, key) == 0)
            row = list.rows[i];
    }
    row.key = NULL;
    culex__limit_key_list_release(&list);
    return row;
}

/* Of limit `name`; its name is gone. */
static struct culex_limit_row limit_row(struct suite *suite, const char *name)
{
    struct culex_limit_list list = {.rows = NULL};
    assert_ok(suite->store->ops->limits(suite->store, suite->queue, &list, NULL));
    assert_int_equal(list.now_ms, suite->now_ms);
    const struct culex_limit_row *found = culex__limit_list_find(&list, name);
    assert_non_null(found);
    struct culex_limit_row row = *found;
    row.name = NULL;
    culex__limit_list_release(&list);
    return row;
}

static void set(struct suite *suite, const char *name, culex_limit_value value)
{
    assert_ok(suite->store->ops->limit_set(suite->store, suite->queue, name, &value, NULL));
}

static void set_count(struct suite *suite, uint32_t count)
{
    set(suite, NAME, (culex_limit_value){.count = count});
}

static struct culex_step_reply look(struct suite *suite)
{
    suite_claim(suite, EVE, 0);
    return suite->reply;
}

static void done(struct suite *suite, const char *session, culex_uuid id, uint32_t attempt)
{
    assert_int_equal(suite_end(suite, session, id, attempt, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
}

/* Claims and ends, one after the other, whoever is left; returns how many there were. */
static size_t work_off(struct suite *suite)
{
    size_t count = 0;
    while (suite_claim(suite, ANN, 1) > 0) {
        const struct culex_run_facts facts = suite->reply.grants[0].facts;
        done(suite, ANN, facts.id, facts.attempt);
        count++;
    }
    return count;
}

/* Time passes until nothing is kept of the limit's keys. */
static void assert_nothing_remains(struct suite *suite, const char *name)
{
    for (int i = 0; i < 4; i++)
        suite_pass(suite, 60 * SUITE_MINUTE_MS);
    struct culex_limit_row row = limit_row(suite, name);
    assert_int_equal(row.keys, 0);
    assert_int_equal(row.active + row.parked, 0);
}

/* --- concurrency ------------------------------------------------------------------------------ */

void case_concurrency__as_many_as_its_number_are_at_work_of_a_key(struct suite *suite)
{
    culex_uuid ours[10];
    put_many(suite, at_most(2, "a"), 10, ours);
    put_many(suite, at_most(2, "b"), 3, NULL);
    assert_int_equal(suite_claim(suite, ANN, 32), 4);
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, ours[0]));
    assert_true(suite_same_id(suite->reply.grants[1].facts.id, ours[1]));
    assert_int_equal(suite_claim(suite, BOB, 32), 0);
    assert_int_equal(key_row(suite, NAME, "a").active, 2);
    assert_int_equal(key_row(suite, NAME, "a").parked, 8);
    assert_int_equal(key_row(suite, NAME, "b").parked, 1);
    struct culex_limit_row row = limit_row(suite, NAME);
    assert_int_equal(row.keys, 2);
    assert_int_equal(row.active, 4);
    assert_int_equal(row.parked, 9);
}

static int key_of(struct suite *suite, const culex_uuid *ids, size_t each, culex_uuid id)
{
    for (size_t i = 0; i < 3 * each; i++) {
        if (suite_same_id(ids[i], id))
            return (int)(i / each);
    }
    fail_msg("an unknown run");
    (void)suite;
    return 0;
}

struct held {
    culex_uuid id;
    uint32_t attempt;
    const char *session;
    int key;
};

/* By steps of many sessions and sizes, with other ends among them; all get their turn. */
void case_concurrency__is_kept_under_steps_of_many_sessions(struct suite *suite)
{
    enum { EACH = 30, MOST = 3 };
    static const char *const sessions[] = {ANN, BOB, EVE}, *const keys[] = {"a", "b", "c"};
    static culex_uuid ids[3 * EACH];
    static struct held held[3 * MOST + 1];
    size_t held_count = 0, ended = 0;
    int active[3] = {0};
    for (int key = 0; key < 3; key++)
        put_many(suite, at_most(MOST, keys[key]), EACH, &ids[key * EACH]);
    for (int round = 0; ended < 3 * EACH; round++) {
        const char *session = sessions[round % 3];
        assert_true(round < 2000);
        suite_claim(suite, session, (uint32_t)(1 + round * 7 % 9));
        for (size_t i = 0; i < suite->reply.grant_count; i++) {
            const struct culex_run_facts *facts = &suite->reply.grants[i].facts;
            int key = key_of(suite, ids, EACH, facts->id);
            held[held_count++] = (struct held){facts->id, facts->attempt, session, key};
            assert_true(++active[key] <= MOST);
        }
        for (int n = 0; n < 1 + round % 3 && held_count > 0; n++) {
            size_t at = (size_t)(round * 13 + n) % held_count;
            struct held one = held[at];
            bool is_done = round % 4 != 0;
            suite_end(suite, one.session, one.id, one.attempt,
                      is_done ? CULEX_EVENT_DONE : CULEX_EVENT_RELEASE, 0);
            held[at] = held[--held_count];
            active[one.key]--;
            ended += is_done;
        }
    }
    assert_nothing_remains(suite, NAME);
}

/* The run that had the only slot ends so; the other one is next, at once. */
static void end_admits(struct suite *suite, enum culex_run_event event, int64_t delay_ms)
{
    culex_uuid first = put(suite, at_most(1, "a")), second = put(suite, at_most(1, "a"));
    uint32_t attempt = suite_take(suite, ANN, first);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    suite_end(suite, ANN, first, attempt, event, delay_ms);
    attempt = suite_take(suite, BOB, second);
    assert_int_equal(suite_claim(suite, ANN, 8), 0);
    assert_int_equal(key_row(suite, NAME, "a").active, 1);
    suite->now_ms += delay_ms;
    assert_int_equal(suite_claim(suite, ANN, 8), 0); /* its time has come, but there is no slot */
    done(suite, BOB, second, attempt);
    work_off(suite);
}

void case_concurrency__each_end_admits_the_next(struct suite *suite)
{
    end_admits(suite, CULEX_EVENT_DONE, 0);
    end_admits(suite, CULEX_EVENT_DISCARD, 0);
    end_admits(suite, CULEX_EVENT_FAIL, 5 * SUITE_SECOND_MS);
    end_admits(suite, CULEX_EVENT_CRASH, 5 * SUITE_SECOND_MS);
    end_admits(suite, CULEX_EVENT_RELEASE, 5 * SUITE_SECOND_MS);
    assert_nothing_remains(suite, NAME);
}

/* It goes to the front and takes the slot again, before those that were parked. */
void case_concurrency__released_run_is_next_itself(struct suite *suite)
{
    culex_uuid first = put(suite, at_most(1, "a")), second = put(suite, at_most(1, "a"));
    uint32_t attempt = suite_take(suite, ANN, first);
    look(suite);
    suite_end(suite, ANN, first, attempt, CULEX_EVENT_RELEASE, 0);
    attempt = suite_take(suite, BOB, first);
    done(suite, BOB, first, attempt);
    suite_take(suite, BOB, second);
}

void case_concurrency__lost_lease_frees_its_slot(struct suite *suite)
{
    put_many(suite, at_most(2, "a"), 6, NULL);
    assert_int_equal(suite_claim(suite, ANN, 8), 2);
    suite->now_ms += SUITE_LEASE_MS + 1;
    assert_int_equal(suite_claim(suite, BOB, 8), 2);
    assert_int_equal(suite_claim(suite, EVE, 8), 0);
    assert_int_equal(key_row(suite, NAME, "a").active, 2);
    assert_int_equal(key_row(suite, NAME, "a").parked, 4);
}

void case_concurrency__hello_of_another_session_frees_its_slots(struct suite *suite)
{
    suite_hello(suite, "w1", ANN);
    put_many(suite, at_most(2, "a"), 6, NULL);
    assert_int_equal(suite_claim(suite, ANN, 8), 2);
    assert_int_equal(suite_hello(suite, "w1", BOB), 2);
    assert_int_equal(key_row(suite, NAME, "a").active, 0);
    assert_int_equal(suite_claim(suite, BOB, 8), 2);
    assert_int_equal(suite_claim(suite, EVE, 8), 0);
}

void case_concurrency__stale_ack_frees_nothing(struct suite *suite)
{
    culex_uuid id = put(suite, at_most(1, "a"));
    put(suite, at_most(1, "a"));
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_int_equal(suite_end(suite, BOB, id, attempt, CULEX_EVENT_DONE, 0), CULEX_ANSWER_STALE);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    done(suite, ANN, id, attempt);
    assert_int_equal(suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0),
                     CULEX_ANSWER_REPEATED);
    assert_int_equal(suite_claim(suite, BOB, 8), 1);
    assert_int_equal(key_row(suite, NAME, "a").active, 1);
}

void case_concurrency__cancelled_run_keeps_its_slot_until_it_ends(struct suite *suite)
{
    culex_uuid first = put(suite, at_most(1, "a")), second = put(suite, at_most(1, "a"));
    uint32_t attempt = suite_take(suite, ANN, first);
    suite_cancel(suite, first);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    suite_end(suite, ANN, first, attempt, CULEX_EVENT_RELEASE, 0);
    assert_state(suite, first, CULEX_RUN_CANCELLED);
    suite_take(suite, BOB, second);
}

void case_concurrency__two_limits_need_room_in_both(struct suite *suite)
{
    struct culex_run_limit both[] = {
        at_most(2, "a"), {CULEX_LIMIT_CONCURRENCY, "shop.send_email:hosts", "h1", 1, 0, 0}};
    struct culex_new_run one = limited(suite, both, 2);
    culex_uuid first = suite_put_run(suite, &one);
    one = limited(suite, both, 2);
    culex_uuid second = suite_put_run(suite, &one);
    culex_uuid third = put(suite, at_most(2, "a")), fourth = put(suite, at_most(2, "a"));
    assert_int_equal(suite_claim(suite, ANN, 8),
                     2); /* the second waits for the host, and for it alone */
    uint32_t attempt = suite->reply.grants[0].facts.attempt;
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, first));
    assert_true(suite_same_id(suite->reply.grants[1].facts.id, third));
    done(suite, ANN, third, 1);
    assert_int_equal(suite_claim(suite, ANN, 8), 1);
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, fourth));
    done(suite, ANN, first, attempt);
    suite_take(suite, BOB, second);
    assert_int_equal(key_row(suite, NAME, "a").active, 2);
    assert_int_equal(key_row(suite, "shop.send_email:hosts", "h1").active, 1);
}

/* Older than all that is parked there: it does not go from one limit to the other behind them. */
void case_concurrency__released_run_of_two_limits_goes_before_who_waits_for_one(struct suite *suite)
{
    const struct culex_run_limit host = {
        CULEX_LIMIT_CONCURRENCY, "shop.send_email:hosts", "h1", 1, 0, 0};
    struct culex_run_limit both[] = {at_most(1, "a"), host};
    struct culex_new_run one = limited(suite, both, 2);
    culex_uuid first = suite_put_run(suite, &one);
    uint32_t attempt = suite_take(suite, ANN, first);
    for (int i = 0; i < 300; i++) {
        put(suite, at_most(1, "a"));
        put(suite, host);
    }
    suite_end(suite, ANN, first, attempt, CULEX_EVENT_RELEASE, 0);
    assert_int_equal(suite_claim(suite, BOB, 8), 1);
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, first));
    done(suite, BOB, first, attempt + 1);
    assert_int_equal(suite_claim(suite, BOB, 8), 2);
}

/* Some are parked behind the one limit, and others of the same instant behind the other; then both
 * have room at once. */
void case_concurrency__runs_of_one_instant_pass_each_other(struct suite *suite)
{
    const struct culex_run_limit host = {
        CULEX_LIMIT_CONCURRENCY, "shop.send_email:hosts", "h1", 2, 0, 0};
    struct culex_run_limit both[] = {at_most(1, "a"), host}, others[] = {at_most(1, "b"), host};
    struct culex_run_limit thirds[] = {at_most(1, "c"), host};
    struct culex_new_run other = limited(suite, others, 2), third = limited(suite, thirds, 2);
    suite_put_run(suite, &other);
    culex_uuid last = suite_put_run(suite, &third);
    assert_int_equal(suite_claim(suite, BOB, 8), 2);
    for (int i = 0; i < 3; i++) {
        struct culex_new_run one = limited(suite, both, 2);
        suite_put_run(suite, &one);
    }
    done(suite, BOB, last, 1);
    assert_int_equal(suite_claim(suite, ANN, 1), 1);
    struct culex_run_facts ours = suite->reply.grants[0].facts;
    for (int i = 0; i < 3; i++) {
        struct culex_new_run one = limited(suite, both, 2);
        suite_put_run(suite, &one);
    }
    for (int i = 0; i < 5; i++) {
        done(suite, ANN, ours.id, ours.attempt);
        assert_int_equal(suite_claim(suite, ANN, 8), 1);
        ours = suite->reply.grants[0].facts;
    }
}

void case_concurrency__names_and_queues_count_apart(struct suite *suite)
{
    struct culex_run_limit other = at_most(1, "a");
    other.name = "shop.other:concurrency";
    put(suite, at_most(1, "a"));
    put(suite, other);
    snprintf(suite->queue, sizeof suite->queue, "elsewhere");
    put(suite, at_most(1, "a"));
    assert_int_equal(suite_claim(suite, ANN, 8), 1);
    snprintf(suite->queue, sizeof suite->queue, "default");
    snprintf(suite->queue, sizeof suite->queue, "%s", "elsewhere");
    assert_int_equal(key_row(suite, NAME, "a").active, 1);
}

void case_concurrency__key_may_be_empty_or_strange(struct suite *suite)
{
    static const char *const keys[] = {"", " ", "'\"\\", "\xc3\xa4,b", "a,b", "%s{}[]", "0"};
    enum { COUNT = sizeof keys / sizeof keys[0] };
    for (size_t i = 0; i < COUNT; i++)
        put_many(suite, at_most(1, keys[i]), 2, NULL);
    assert_int_equal(suite_claim(suite, ANN, 32), COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(key_row(suite, NAME, keys[i]).active, 1);
    assert_int_equal(limit_row(suite, NAME).keys, COUNT);
}

void case_concurrency__missing_key_is_the_empty_one(struct suite *suite)
{
    put(suite, at_most(1, NULL));
    put(suite, at_most(1, ""));
    assert_int_equal(suite_claim(suite, ANN, 8), 1);
    assert_int_equal(key_row(suite, NAME, "").active, 1);
}

/* --- runs that are parked -----------------------------------------------------------------------
 */

void case_parked__many_hold_up_nobody(struct suite *suite)
{
    put_many(suite, at_most(1, "a"), 2000, NULL);
    culex_uuid free_one = suite_put(suite), other = put(suite, at_most(1, "b"));
    assert_int_equal(suite_claim(suite, ANN, 3), 3);
    assert_true(suite_same_id(suite->reply.grants[1].facts.id, free_one));
    assert_true(suite_same_id(suite->reply.grants[2].facts.id, other));
    assert_int_equal(suite_claim(suite, BOB, 3), 0);
}

void case_parked__is_waiting_to_everybody(struct suite *suite)
{
    culex_uuid ids[6];
    put_many(suite, at_most(1, "a"), 6, ids);
    assert_int_equal(suite_claim(suite, ANN, 8), 1);
    for (int i = 1; i < 6; i++)
        assert_state(suite, ids[i], CULEX_RUN_WAITING);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 5);
    struct culex_list_reply page = {.runs = NULL};
    culex_list_cursor cursor = CULEX_LIST_START;
    size_t listed = 0;
    do {
        assert_ok(suite->store->ops->list(
            suite->store, suite->queue, CULEX_LIST_OF(CULEX_RUN_WAITING), cursor, 2, &page, NULL));
        listed += page.count;
        cursor = page.cursor;
        suite->store->ops->list_release(suite->store, &page);
    } while (cursor.place != 0);
    assert_int_equal(listed, 5);
    assert_false(look(suite).is_empty);
}

void case_parked__order_is_priority_then_age(struct suite *suite)
{
    static const int priorities[] = {0, 3, 0, 9, 3, 9};
    static const int order[] = {3, 5, 1, 4, 0, 2};
    culex_uuid ids[6], gate = put(suite, at_most(1, "a"));
    uint32_t attempt = suite_take(suite, ANN, gate);
    struct culex_run_limit limit = at_most(1, "a");
    for (int i = 0; i < 6; i++) {
        struct culex_new_run run = limited(suite, &limit, 1);
        run.priority = priorities[i];
        ids[i] = suite_put_run(suite, &run);
        suite->now_ms++;
    }
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    done(suite, ANN, gate, attempt);
    for (int i = 0; i < 6; i++)
        done(suite, ANN, ids[order[i]], suite_take(suite, ANN, ids[order[i]]));
}

/* One that comes now is not before those that wait aside. */
void case_parked__new_one_is_behind_the_older(struct suite *suite)
{
    culex_uuid first = put(suite, at_most(1, "a")), second = put(suite, at_most(1, "a"));
    uint32_t attempt = suite_take(suite, ANN, first);
    assert_int_equal(suite_claim(suite, BOB, 1), 0);
    done(suite, ANN, first, attempt);
    culex_uuid third = put(suite, at_most(1, "a"));
    done(suite, ANN, second, suite_take(suite, ANN, second));
    suite_take(suite, ANN, third);
}

void case_parked__is_cancelled_deleted_and_purged(struct suite *suite)
{
    culex_uuid ids[8];
    put_many(suite, at_most(1, "a"), 8, ids);
    uint32_t attempt = suite_take(suite, ANN, ids[0]);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    suite_cancel(suite, ids[1]);
    assert_state(suite, ids[1], CULEX_RUN_CANCELLED);
    assert_ok(suite->store->ops->forget(suite->store, suite->queue, ids[1], NULL));
    assert_int_equal(key_row(suite, NAME, "a").parked, 6);
    done(suite, ANN, ids[0], attempt);
    done(suite, ANN, ids[2], suite_take(suite, ANN, ids[2]));
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 100), 5);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    assert_nothing_remains(suite, NAME);
}

/* Before one that stands in the list there are some that are gone by now. */
void case_parked__purge_of_few_counts_what_is_left(struct suite *suite)
{
    culex_uuid gone[4];
    put_many(suite, at_most(9, "b"), 4, gone);
    put(suite, at_most(9, "a"));
    for (size_t i = 0; i < 4; i++)
        suite_cancel(suite, gone[i]);
    size_t deleted = 0;
    for (int call = 0; call < 9 && deleted == 0; call++) {
        deleted += suite_purge(suite, CULEX_RUN_WAITING, 2);
        assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], deleted == 0);
    }
    assert_int_equal(deleted, 1);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 0);
    assert_nothing_remains(suite, NAME);
}

void case_parked__expires_when_its_turn_comes(struct suite *suite)
{
    struct culex_run_limit limit = at_most(1, "a");
    culex_uuid first = put(suite, limit);
    struct culex_new_run brief = limited(suite, &limit, 1);
    brief.expires_ms = 5 * SUITE_SECOND_MS;
    culex_uuid second = suite_put_run(suite, &brief), third = put(suite, limit);
    uint32_t attempt = suite_take(suite, ANN, first);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    suite->now_ms += 6 * SUITE_SECOND_MS;
    done(suite, ANN, first, attempt);
    attempt = suite_take(suite, BOB, third);
    assert_state(suite, second, CULEX_RUN_DEAD);
    assert_string_equal(suite_get(suite, second)->error_text, "expired");
    assert_ok(suite->store->ops->retry(suite->store, suite->queue, second, NULL));
    assert_state(suite, second, CULEX_RUN_WAITING);
    assert_int_equal(suite_claim(suite, ANN, 8), 0);
    done(suite, BOB, third, attempt);
    suite_take(suite, ANN, second);
}

void case_parked__delayed_run_stands_aside_when_it_is_due(struct suite *suite)
{
    struct culex_run_limit limit = at_most(1, "a");
    struct culex_new_run later = limited(suite, &limit, 1);
    later.delay_ms = SUITE_SECOND_MS;
    culex_uuid second = suite_put_run(suite, &later), first = put(suite, limit);
    uint32_t attempt = suite_take(suite, ANN, first);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    suite->now_ms += 2 * SUITE_SECOND_MS;
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    assert_state(suite, second, CULEX_RUN_WAITING);
    done(suite, ANN, first, attempt);
    suite_take(suite, BOB, second);
}

void case_parked__paused_queue_starts_none_of_them(struct suite *suite)
{
    culex_uuid ids[4];
    put_many(suite, at_most(1, "a"), 4, ids);
    uint32_t attempt = suite_take(suite, ANN, ids[0]);
    assert_ok(suite->store->ops->pause(suite->store, suite->queue, true, NULL));
    done(suite, ANN, ids[0], attempt);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    assert_state(suite, ids[1], CULEX_RUN_WAITING);
    assert_ok(suite->store->ops->pause(suite->store, suite->queue, false, NULL));
    assert_int_equal(suite_claim(suite, BOB, 8), 1);
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, ids[1]));
}

void case_parked__drain_finds_the_queue_not_empty(struct suite *suite)
{
    culex_uuid first = put(suite, at_most(1, "a"));
    put(suite, at_most(1, "a"));
    uint32_t attempt = suite_take(suite, ANN, first);
    assert_false(look(suite).is_empty);
    done(suite, ANN, first, attempt);
    assert_false(look(suite).is_empty);
    assert_int_equal(work_off(suite), 1);
    assert_true(look(suite).is_empty);
}

void case_parked__repeated_step_grants_the_same_once(struct suite *suite)
{
    put_many(suite, at_most(2, "a"), 5, NULL);
    struct culex_step step = suite_step_make(suite, ANN, 8);
    assert_int_equal(suite_step(suite, &step), 2);
    culex_uuid id = suite->reply.grants[0].facts.id;
    assert_int_equal(suite_step(suite, &step), 2);
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, id));
    assert_int_equal(key_row(suite, NAME, "a").active, 2);
    struct culex_step next = suite_step_make(suite, ANN, 8);
    struct culex_ack ack = {.id = id, .attempt = 1, .event = CULEX_EVENT_DONE};
    next.acks = &ack;
    next.ack_count = 1;
    assert_int_equal(suite_step(suite, &next),
                     1); /* the slot is free in the step that brings the end */
    assert_int_equal(suite_step(suite, &next), 1);
    assert_int_equal(key_row(suite, NAME, "a").active, 2);
}

void case_parked__run_of_a_schedule_is_too(struct suite *suite)
{
    struct culex_run_limit limit = at_most(1, "a");
    struct culex_new_run run = limited(suite, &limit, 1);
    culex_uuid first = put(suite, limit);
    suite_take(suite, ANN, first);
    struct culex_tick tick = {
        .queue = suite->queue, .schedule = "nightly", .interval_ms = SUITE_MINUTE_MS, .run = &run};
    struct culex_tick_reply reply;
    assert_ok(suite->store->ops->tick(suite->store, &tick, &reply, NULL));
    assert_true(reply.is_enqueued);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    assert_int_equal(key_row(suite, NAME, "a").parked, 1);
}

static size_t ids_shown(const struct culex_list_reply *page, culex_uuid id)
{
    size_t count = 0;
    for (size_t i = 0; i < page->count; i++)
        count += suite_same_id(page->runs[i].id, id);
    return count;
}

/* The last ones wait for a place of their share, and get it while a listing is under way, by a
 * clock that was set back: it has shown all but the last, and is to show that still. */
static void listed_while_set_back(struct suite *suite, int priority, int64_t delay_ms)
{
    enum { COUNT = CULEX_FAIR_QUEUED + 12 };
    culex_uuid ids[COUNT];
    struct culex_run_limit share = fair("a");
    struct culex_list_reply page = {.runs = NULL};
    culex_list_cursor cursor = CULEX_LIST_START;
    for (int i = 0; i < COUNT; i++, suite->now_ms++) {
        struct culex_new_run run = limited(suite, &share, 1);
        run.priority = priority;
        run.delay_ms = delay_ms;
        ids[i] = suite_put_run(suite, &run);
    }
    look(suite);
    assert_ok(suite->store->ops->list(suite->store, suite->queue, CULEX_LIST_OF(CULEX_RUN_WAITING),
                                      cursor, COUNT - 1, &page, NULL));
    cursor = page.cursor;
    size_t shown = ids_shown(&page, ids[COUNT - 1]);
    suite->store->ops->list_release(suite->store, &page);
    suite->now_ms -= SUITE_MINUTE_MS;
    for (int i = 0; i < 3; i++)
        assert_int_equal(suite_claim(suite, ANN, 8), 8);
    assert_state(suite, ids[COUNT - 1], CULEX_RUN_WAITING);
    for (; cursor.place != 0; cursor = page.cursor) {
        assert_ok(suite->store->ops->list(suite->store, suite->queue,
                                          CULEX_LIST_OF(CULEX_RUN_WAITING), cursor, COUNT, &page,
                                          NULL));
        shown += ids_shown(&page, ids[COUNT - 1]);
        suite->store->ops->list_release(suite->store, &page);
    }
    assert_true(shown > 0);
}

void case_fair__listing_misses_none_that_comes_in_after_the_clock_was_set_back(struct suite *suite)
{
    listed_while_set_back(suite, 0, 0);
    snprintf(suite->queue, sizeof suite->queue, "others");
    listed_while_set_back(suite, 3, 1);
}

/* --- what an operator sets ----------------------------------------------------------------------
 */

void case_limit_set__raised_one_admits_at_once(struct suite *suite)
{
    put_many(suite, at_most(1, "a"), 10, NULL);
    put_many(suite, at_most(1, "b"), 2, NULL);
    assert_int_equal(suite_claim(suite, ANN, 20), 2);
    set_count(suite, 4);
    assert_int_equal(look(suite).due_in_ms >= 0, true);
    assert_int_equal(suite_claim(suite, BOB, 20), 4);
    assert_int_equal(key_row(suite, NAME, "a").active, 4);
    struct culex_limit_row row = limit_row(suite, NAME);
    assert_int_equal(row.declared.count, 1);
    assert_int_equal(row.set.count, 4);
    assert_int_equal(row.kind, CULEX_LIMIT_CONCURRENCY);
}

/* The next step looks at all that is wanted of both. */
void case_limit_set__two_raised_at_once_admit_in_one_step(struct suite *suite)
{
    struct culex_run_limit hosts = {CULEX_LIMIT_CONCURRENCY, "shop.send_email:hosts", "h", 1, 0, 0};
    put_many(suite, at_most(1, "a"), 2, NULL);
    put_many(suite, hosts, 2, NULL);
    assert_int_equal(suite_claim(suite, ANN, 8), 2);
    suite_claim(suite, ANN, 8);
    set_count(suite, 2);
    set(suite, hosts.name, (culex_limit_value){.count = 2});
    assert_int_equal(suite_claim(suite, BOB, 8), 2);
    assert_int_equal(look(suite).due_in_ms > 0, true);
}

/* One is at work and one is parked, and then the limit is raised by a clock that is set back behind
 * it. */
static void raise_and_set_back(struct suite *suite, void (*raise)(struct suite *suite))
{
    put_many(suite, at_most(1, "a"), 2, NULL);
    assert_int_equal(suite_claim(suite, ANN, 8), 1);
    suite_claim(suite, ANN, 1);
    suite->now_ms += 5000;
    raise(suite);
    suite->now_ms -= 2000;
    assert_int_equal(look(suite).due_in_ms >= 0, true);
    assert_int_equal(suite_claim(suite, BOB, 8), 1);
    assert_int_equal(look(suite).due_in_ms, SUITE_LEASE_MS - 3000);
}

static void raise_by_operator(struct suite *suite)
{
    set_count(suite, 2);
}

void case_limit_set__raised_one_is_seen_after_the_clock_was_set_back(struct suite *suite)
{
    raise_and_set_back(suite, raise_by_operator);
}

/* That itself is not due yet. */
static void raise_by_run(struct suite *suite)
{
    struct culex_run_limit two = at_most(2, "a");
    struct culex_new_run run = limited(suite, &two, 1);
    run.delay_ms = SUITE_MINUTE_MS;
    suite_put_run(suite, &run);
}

void case_limit__raised_one_is_seen_after_the_clock_was_set_back(struct suite *suite)
{
    raise_and_set_back(suite, raise_by_run);
}

void case_limit_set__lowered_one_starts_none_until_enough_have_ended(struct suite *suite)
{
    culex_uuid ids[8];
    put_many(suite, at_most(4, "a"), 8, ids);
    assert_int_equal(suite_claim(suite, ANN, 8), 4);
    set_count(suite, 2);
    for (int i = 0; i < 2; i++) {
        done(suite, ANN, ids[i], 1);
        assert_int_equal(suite_claim(suite, BOB, 8), 0);
    }
    assert_int_equal(key_row(suite, NAME, "a").active, 2);
    done(suite, ANN, ids[2], 1);
    assert_int_equal(suite_claim(suite, BOB, 8), 1);
    assert_ok(suite->store->ops->limit_set(suite->store, suite->queue, NAME, NULL, NULL));
    assert_int_equal(limit_row(suite, NAME).set.count, 0);
    assert_int_equal(suite_claim(suite, BOB, 8), 2);
}

/* For the cancelled run's place, and for the new number: once. */
void case_limit_set__key_is_looked_at_for_two_reasons(struct suite *suite)
{
    struct culex_run_limit both[] = {
        at_most(1, "a"), {CULEX_LIMIT_CONCURRENCY, "shop.send_email:hosts", "h1", 1, 0, 0}};
    culex_uuid first = put(suite, both[0]);
    struct culex_new_run run = limited(suite, both, 2);
    culex_uuid second = suite_put_run(suite, &run);
    suite_cancel(suite, first);
    set_count(suite, 4);
    look(suite);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 1);
    done(suite, ANN, second, suite_take(suite, ANN, second));
    assert_nothing_remains(suite, NAME);
    assert_nothing_remains(suite, "shop.send_email:hosts");
}

void case_limit_set__wins_over_what_runs_declare(struct suite *suite)
{
    put(suite, at_most(1, "a"));
    set_count(suite, 2);
    put_many(suite, at_most(5, "a"), 5, NULL);
    assert_int_equal(limit_row(suite, NAME).declared.count, 5);
    assert_int_equal(suite_claim(suite, ANN, 8), 2);
}

void case_limit_set__same_again_changes_nothing(struct suite *suite)
{
    put_many(suite, at_most(1, "a"), 3, NULL);
    set_count(suite, 2);
    set_count(suite, 2);
    assert_int_equal(suite_claim(suite, ANN, 8), 2);
    assert_ok(suite->store->ops->limit_set(suite->store, suite->queue, NAME, NULL, NULL));
    assert_ok(suite->store->ops->limit_set(suite->store, suite->queue, NAME, NULL, NULL));
    assert_int_equal(limit_row(suite, NAME).set.count, 0);
}

static void set_refused(struct suite *suite, const char *name, culex_limit_value value,
                        culex_status wanted, const char *words)
{
    culex_error error = {0};
    assert_int_equal(suite->store->ops->limit_set(suite->store, suite->queue, name, &value, &error),
                     wanted);
    if (strstr(error.text, words) == NULL)
        fail_msg("'%s' is not in: %s", words, error.text);
}

void case_limit_set__what_a_limit_cannot_have_is_refused(struct suite *suite)
{
    put(suite, at_most(3, "a"));
    put(suite, at_rate(10, SUITE_SECOND_MS, 5));
    put(suite, fair("a"));
    set_refused(suite, NAME, (culex_limit_value){.count = 0}, CULEX_EINVAL, "0 would hold");
    set_refused(suite, "nobody:this", (culex_limit_value){.count = 1}, CULEX_ENOTFOUND,
                "nobody:this");
    set_refused(suite, "a|b", (culex_limit_value){.count = 1}, CULEX_EINVAL, "name of a limit");
    set_refused(suite, NAME, (culex_limit_value){.count = 1000001}, CULEX_EINVAL, NAME);
    set_refused(suite, NAME, (culex_limit_value){1, 1000, 1}, CULEX_EINVAL, NAME);
    set_refused(suite, FAIR, (culex_limit_value){.count = 1}, CULEX_EINVAL, FAIR);
    set_refused(suite, RATE, (culex_limit_value){1, -1, 1}, CULEX_EINVAL, RATE);
    set_refused(suite, RATE, (culex_limit_value){1001, 1, 1}, CULEX_EINVAL, RATE);
    set_refused(suite, RATE, (culex_limit_value){1, INT64_C(31622400000), 2}, CULEX_EINVAL, RATE);
    assert_int_equal(limit_row(suite, NAME).set.count, 0);
    assert_int_equal(limit_row(suite, RATE).set.count, 0);
    snprintf(suite->queue, sizeof suite->queue, "untouched");
    set_refused(suite, NAME, (culex_limit_value){.count = 1}, CULEX_ENOTFOUND, "");
}

void case_limit_set__what_is_left_out_of_a_rate_stays(struct suite *suite)
{
    put(suite, at_rate(10, SUITE_SECOND_MS, 5));
    set(suite, RATE, (culex_limit_value){.count = 20});
    struct culex_limit_row row = limit_row(suite, RATE);
    assert_int_equal(row.set.count, 20);
    assert_int_equal(row.set.per_ms, SUITE_SECOND_MS);
    assert_int_equal(row.set.burst, 5);
    set(suite, RATE, (culex_limit_value){.count = 3, .per_ms = SUITE_MINUTE_MS, .burst = 2});
    set(suite, RATE, (culex_limit_value){.count = 4});
    row = limit_row(suite, RATE);
    assert_int_equal(row.set.per_ms, SUITE_MINUTE_MS);
    assert_int_equal(row.set.burst, 2);
}

/* As many at once as before would be no brake. */
void case_limit_set__a_burst_is_no_more_than_a_rate_that_is_set(struct suite *suite)
{
    put(suite, at_rate(1000, SUITE_SECOND_MS, 1000));
    for (int i = 0; i < 4; i++)
        put(suite, at_rate(1000, SUITE_SECOND_MS, 1000));
    set(suite, RATE, (culex_limit_value){.count = 2, .per_ms = SUITE_MINUTE_MS});
    assert_int_equal(limit_row(suite, RATE).set.burst, 2);
    assert_int_equal(suite_claim(suite, ANN, 8), 2);
    set(suite, RATE, (culex_limit_value){.count = 1});
    assert_int_equal(limit_row(suite, RATE).set.burst, 1);
    set(suite, RATE, (culex_limit_value){.count = 1, .burst = 3});
    assert_int_equal(limit_row(suite, RATE).set.burst, 3);
}

void case_limits__newest_run_tells_the_number(struct suite *suite)
{
    put_many(suite, at_most(1, "a"), 4, NULL);
    assert_int_equal(suite_claim(suite, ANN, 8), 1);
    put(suite, at_most(3, "a"));
    assert_int_equal(suite_claim(suite, ANN, 8), 2);
    put(suite, at_most(1, "a"));
    assert_int_equal(limit_row(suite, NAME).declared.count, 1);
    assert_int_equal(suite_claim(suite, ANN, 8), 0);
}

void case_limits__are_listed_by_name(struct suite *suite)
{
    struct culex_limit_list list = {.rows = NULL};
    put(suite, fair("b"));
    put(suite, at_rate(10, SUITE_SECOND_MS, 5));
    put(suite, at_most(2, "a"));
    assert_ok(suite->store->ops->limits(suite->store, suite->queue, &list, NULL));
    assert_int_equal(list.count, 3);
    assert_string_equal(list.rows[0].name, NAME);
    assert_string_equal(list.rows[1].name, FAIR);
    assert_string_equal(list.rows[2].name, RATE);
    assert_int_equal(list.rows[2].kind, CULEX_LIMIT_RATE);
    assert_int_equal(list.rows[2].declared.per_ms, SUITE_SECOND_MS);
    assert_int_equal(list.rows[2].declared.burst, 5);
    assert_int_equal(list.rows[1].keys, 1);
    culex__limit_list_release(&list);
    snprintf(suite->queue, sizeof suite->queue, "untouched");
    assert_ok(suite->store->ops->limits(suite->store, suite->queue, &list, NULL));
    assert_int_equal(list.count, 0);
    culex__limit_list_release(&list);
}

/* Keys that come and go between two pages leave the others where they are. */
void case_limit_keys__pages_follow_the_order_of_keys(struct suite *suite)
{
    static const char *const keys[] = {"", "a", "b", "ba", "c", "d"};
    struct culex_limit_key_list page = {.rows = NULL};
    struct culex_store *store = suite->store;
    char after[CULEX_STORE_KEY_MAX + 1] = "";
    for (size_t i = 0; i < 6; i++)
        put(suite, at_most(1, keys[(i * 5 + 3) % 6]));
    assert_ok(store->ops->limit_keys(store, suite->queue, NAME, NULL, 3, &page, NULL));
    assert_int_equal(page.count, 3);
    assert_true(page.is_more);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(page.rows[i].key, keys[i]);
    snprintf(after, sizeof after, "%s", page.rows[2].key);
    culex__limit_key_list_release(&page);
    put(suite, at_most(1, "aa"));
    assert_ok(store->ops->limit_keys(store, suite->queue, NAME, after, 3, &page, NULL));
    assert_int_equal(page.count, 3);
    assert_false(page.is_more);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(page.rows[i].key, keys[3 + i]);
    culex__limit_key_list_release(&page);
    assert_int_equal(store->ops->limit_keys(store, suite->queue, "no:body", NULL, 3, &page, NULL),
                     CULEX_ENOTFOUND);
}

/* --- rate ---------------------------------------------------------------------------------------
 */

void case_rate__burst_then_one_at_a_time(struct suite *suite)
{
    put_many(suite, at_rate(4, SUITE_SECOND_MS, 3), 12, NULL); /* one in 250 ms */
    assert_int_equal(suite_claim(suite, ANN, 32), 3);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(suite_claim(suite, ANN, 32), 0);
        assert_in_range(suite->reply.due_in_ms, 0, 250);
        suite->now_ms += 249;
        assert_int_equal(suite_claim(suite, ANN, 32), 0);
        assert_int_equal(key_row(suite, RATE, "k").next_ms, 1);
        suite->now_ms += 1;
        assert_int_equal(suite_claim(suite, ANN, 32), 1);
    }
    suite->now_ms += 510;
    assert_int_equal(suite_claim(suite, ANN, 32), 2);
    suite->now_ms += SUITE_MINUTE_MS; /* leases run out: there are enough who would begin */
    assert_int_equal(suite_claim(suite, ANN, 32), 3);
}

/* No more than 7 in any second, by a clock that counts ms. */
void case_rate__fractions_of_a_ms_are_never_too_many(struct suite *suite)
{
    int granted = 0;
    put_many(suite, at_rate(7, SUITE_SECOND_MS, 1), 30, NULL);
    for (int ms = 0; ms < 2000; ms += 1) {
        granted += (int)suite_claim(suite, ANN, 5);
        suite->now_ms += 1;
    }
    assert_in_range(granted, 13, 14);
}

void case_rate__token_is_not_given_back(struct suite *suite)
{
    culex_uuid ids[3];
    put_many(suite, at_rate(1, SUITE_SECOND_MS, 2), 3, ids);
    assert_int_equal(suite_claim(suite, ANN, 8), 2);
    suite_end(suite, ANN, ids[0], 1, CULEX_EVENT_RELEASE, 0);
    assert_int_equal(suite_claim(suite, ANN, 8), 0);
    suite->now_ms += SUITE_SECOND_MS;
    assert_int_equal(suite_claim(suite, ANN, 8), 1);
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, ids[0]));
}

void case_rate__run_without_room_elsewhere_takes_no_token(struct suite *suite)
{
    struct culex_run_limit both[] = {at_rate(1, SUITE_SECOND_MS, 3), at_most(1, "a")};
    for (int i = 0; i < 3; i++) {
        struct culex_new_run run = limited(suite, both, 2);
        suite_put_run(suite, &run);
    }
    assert_int_equal(suite_claim(suite, ANN, 8), 1);
    assert_int_equal(suite_claim(suite, ANN, 8), 0);
    put_many(suite, both[0], 4, NULL);
    assert_int_equal(suite_claim(suite, ANN, 8), 2);
}

void case_rate__clock_set_back_delays_by_one_bucket_at_most(struct suite *suite)
{
    put_many(suite, at_rate(1, SUITE_SECOND_MS, 2), 8, NULL);
    assert_int_equal(suite_claim(suite, ANN, 8), 2);
    suite_claim(suite, ANN, 1);
    suite->now_ms -= 60 * SUITE_MINUTE_MS;
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    size_t granted = 0;
    for (int i = 0; i < 30; i++) {
        suite->now_ms += 100;
        granted += suite_claim(suite, BOB, 8);
    }
    assert_int_equal(granted, 3);
}

/* The place that it leaves is looked at, though the clock is set back before a step comes. */
void case_rate__place_left_by_a_cancel_is_seen_after_the_clock_was_set_back(struct suite *suite)
{
    culex_uuid ids[2];
    put_many(suite, at_rate(1, SUITE_MINUTE_MS, 1), 2, ids);
    suite->now_ms += 5000;
    suite_cancel(suite, ids[0]);
    suite->now_ms -= 3000;
    suite_take(suite, ANN, ids[1]);
}

/* Whoever comes by before the next step, and does so by the clock as it is then. */
void case_rate__clock_set_back_is_seen_after_a_cancel(struct suite *suite)
{
    culex_uuid ids[6];
    put_many(suite, at_rate(1, SUITE_SECOND_MS, 2), 6, ids);
    assert_int_equal(suite_claim(suite, ANN, 8), 2);
    suite_claim(suite, ANN, 1);
    suite->now_ms -= 60 * SUITE_MINUTE_MS;
    suite_cancel(suite, ids[5]);
    size_t granted = 0;
    for (int i = 0; i < 40; i++) {
        suite->now_ms += 100;
        granted += suite_claim(suite, BOB, 8);
    }
    assert_in_range(granted, 2, 3);
}

/* Nor does it matter that it was a run of another limit. */
void case_rate__clock_set_back_is_seen_after_a_cancel_elsewhere(struct suite *suite)
{
    put(suite, at_most(1, "other"));
    culex_uuid parked = put(suite, at_most(1, "other"));
    put_many(suite, at_rate(1, SUITE_SECOND_MS, 2), 6, NULL);
    assert_int_equal(suite_claim(suite, ANN, 8), 3);
    suite_claim(suite, ANN, 1);
    suite->now_ms -= 60 * SUITE_MINUTE_MS;
    suite_cancel(suite, parked);
    size_t granted = 0;
    for (int i = 0; i < 40; i++) {
        suite->now_ms += 100;
        granted += suite_claim(suite, BOB, 8);
    }
    assert_in_range(granted, 2, 3);
}

void case_rate__raised_one_gives_its_tokens_at_once(struct suite *suite)
{
    put_many(suite, at_rate(1, 60 * SUITE_MINUTE_MS, 1), 9, NULL);
    assert_int_equal(suite_claim(suite, ANN, 8), 1);
    assert_int_equal(suite_claim(suite, ANN, 8), 0);
    set(suite, RATE, (culex_limit_value){.count = 1, .per_ms = SUITE_SECOND_MS});
    look(suite);
    suite->now_ms += SUITE_SECOND_MS;
    assert_int_equal(suite_claim(suite, ANN, 8), 1);
    assert_in_range(look(suite).due_in_ms, 0, SUITE_SECOND_MS);
}

void case_rate__full_bucket_is_forgotten(struct suite *suite)
{
    culex_uuid ids[2];
    put_many(suite, at_rate(1, SUITE_SECOND_MS, 2), 2, ids);
    assert_int_equal(suite_claim(suite, ANN, 8), 2);
    for (int i = 0; i < 2; i++)
        done(suite, ANN, ids[i], 1);
    assert_int_equal(limit_row(suite, RATE).keys, 1);
    assert_int_equal(key_row(suite, RATE, "k").next_ms, SUITE_SECOND_MS);
    if (strcmp(suite->kind, "model") != 0) { /* which keeps buckets until it is closed */
        assert_in_range(look(suite).due_in_ms, SUITE_SECOND_MS, 2 * SUITE_SECOND_MS);
        assert_int_equal(suite_claim(suite, EVE, 1), 0); /* who would, is told as well */
        assert_in_range(suite->reply.due_in_ms, SUITE_SECOND_MS, 2 * SUITE_SECOND_MS);
    }
    suite_pass(suite, 2 * SUITE_SECOND_MS);
    assert_int_equal(limit_row(suite, RATE).keys, 0);
}

/* A suspect keeps its place, and one token; whoever stands behind it comes in with the second. */
void case_rate__token_beyond_those_who_stand_admits_the_next(struct suite *suite)
{
    culex_uuid suspect = put(suite, at_rate(1, SUITE_SECOND_MS, 2));
    for (int i = 0; i < 2; i++) {
        suite_take(suite, ANN, suspect);
        suite_pass(suite, SUITE_LEASE_MS + 1);
    }
    assert_int_equal(suite_get(suite, suspect)->losses, 2);
    for (int i = 0; i < 2; i++)
        put(suite, at_rate(1, SUITE_SECOND_MS, 2));
    assert_int_equal(suite_claim_for(suite, ANN, 1, 1, true), 1);
    /* The token that is left is for who stands there. */
    assert_true(look(suite).due_in_ms >= SUITE_SECOND_MS);
    suite->now_ms += SUITE_SECOND_MS;
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
    assert_int_equal(suite_claim_for(suite, ANN, 1, 1, true), 1);
}

/* --- a suspect and two limits -------------------------------------------------------------------
 */

/* One of each limit may be at work. The suspect stands at one of them and keeps its place there,
 * somebody younger stands at the other; who was ready before both wants both. They may let it go
 * first, but where it does not get both no claim may be over with that: it is for the others. */
void case_concurrency__suspect_in_company_holds_up_nobody_else(struct suite *suite)
{
    const struct culex_run_limit both[] = {at_most(1, NULL),
                                           {CULEX_LIMIT_CONCURRENCY, "hosts", NULL, .count = 1}};
    culex_uuid suspect = put(suite, both[0]);
    for (int i = 0; i < 2; i++) {
        suite_pass(suite, i * SUITE_LEASE_MS);
        suite_take(suite, ANN, suspect);
    }
    struct culex_new_run older = limited(suite, both, 2);
    older.delay_ms = SUITE_LEASE_MS - 1;
    suite_put_run(suite, &older);
    suite_pass(suite, SUITE_LEASE_MS);
    assert_int_equal(suite_get(suite, suspect)->losses, 2);
    suite->now_ms++;
    put(suite, both[1]);
    culex_uuid plain = suite_put(suite);
    assert_int_equal(suite_claim_for(suite, ANN, 8, 8, true), 2);
    assert_state(suite, suspect, CULEX_RUN_WAITING);
    assert_state(suite, plain, CULEX_RUN_ACTIVE);
    assert_true(look(suite).due_in_ms != 0);
}

/* --- fair ---------------------------------------------------------------------------------------
 */

void case_fair__first_run_of_another_is_near(struct suite *suite)
{
    size_t most = strcmp(suite->kind, "model") == 0 ? 300 : 10000;
    put_many(suite, fair("big"), most, NULL);
    culex_uuid small = put(suite, fair("small"));
    bool is_met = false;
    for (int claims = 0; claims < 2 && !is_met; claims++) {
        suite_claim(suite, ANN, 32);
        for (size_t i = 0; i < suite->reply.grant_count; i++)
            is_met = is_met || suite_same_id(suite->reply.grants[i].facts.id, small);
    }
    assert_true(is_met);
}

void case_fair__two_take_turns(struct suite *suite)
{
    static culex_uuid left[100];
    size_t ours = 0, granted = 0;
    put_many(suite, fair("left"), 100, left);
    put_many(suite, fair("right"), 100, NULL);
    while (granted < 120) {
        suite->now_ms++;
        assert_true(suite_claim(suite, ANN, 8) > 0);
        for (size_t i = 0; i < suite->reply.grant_count; i++, granted++) {
            for (size_t k = 0; k < 100; k++)
                ours += suite_same_id(suite->reply.grants[i].facts.id, left[k]);
        }
    }
    assert_in_range(ours, 40, 84);
}

void case_fair__alone_it_gets_all_there_is(struct suite *suite)
{
    static culex_uuid ids[100];
    put_many(suite, fair("a"), 100, ids);
    for (int claims = 0; claims < 2; claims++) {
        assert_int_equal(suite_claim(suite, ANN, 40), 40);
        for (size_t i = 0; i < 40; i++)
            assert_true(suite_same_id(suite->reply.grants[i].facts.id, ids[claims * 40 + (int)i]));
    }
    assert_int_equal(suite_claim(suite, ANN, 40), 20);
}

void case_fair__who_leaves_makes_room(struct suite *suite)
{
    static culex_uuid ids[40];
    put_many(suite, fair("a"), 40, ids);
    for (int i = 0; i < 30; i++)
        suite_cancel(suite, ids[i]);
    assert_int_equal(suite_claim(suite, ANN, 40), 10);
    assert_int_equal(work_off(suite), 0);
}

/* --- replacing and moving -----------------------------------------------------------------------
 */

/* The run that holds the key, or takes over from it. */
static struct culex_new_run rival(struct suite *suite, const struct culex_run_limit *limit)
{
    struct culex_new_run run = limited(suite, limit, limit != NULL ? 1 : 0);
    run.unique_key = "abc";
    run.unique_while = 1 << CULEX_RUN_SCHEDULED | 1 << CULEX_RUN_WAITING;
    run.unique_replaces = true;
    return run;
}

static culex_uuid rival_put(struct suite *suite, struct culex_run_limit limit)
{
    struct culex_new_run run = rival(suite, &limit);
    return suite_put_run(suite, &run);
}

/* By one that is due at once; `limit` NULL: without any. */
static void replace(struct suite *suite, culex_uuid id, const struct culex_run_limit *limit)
{
    struct culex_new_run run = rival(suite, limit);
    struct culex_enqueue_result result = suite_try(suite, &run);
    assert_int_equal(result.outcome, CULEX_ENQUEUED_REPLACED);
    assert_true(suite_same_id(result.id, id));
}

static void move(struct suite *suite, culex_uuid id, struct culex_place place)
{
    assert_ok(suite->store->ops->move(suite->store, suite->queue, id, &place, NULL));
}

static struct culex_place in(int64_t delay_ms)
{
    return (struct culex_place){.has_time = true, .delay_ms = delay_ms, .priority = -1};
}

static struct culex_place ranked(int priority)
{
    return (struct culex_place){.priority = priority};
}

static void assert_sound(struct suite *suite)
{
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
}

/* Claims one by one, and ends them: these, in this order. */
static void take_in_order(struct suite *suite, const culex_uuid *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        done(suite, ANN, ids[i], suite_take(suite, ANN, ids[i]));
}

void case_parked__replaced_run_counts_for_its_new_key_alone(struct suite *suite)
{
    struct culex_run_limit other = at_most(1, "b");
    suite_take(suite, ANN, put(suite, at_most(1, "a")));
    culex_uuid id = rival_put(suite, at_most(1, "a"));
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    assert_int_equal(key_row(suite, NAME, "a").parked, 1);
    replace(suite, id, &other);
    assert_int_equal(key_row(suite, NAME, "a").parked, 0);
    assert_sound(suite);
    done(suite, BOB, id, suite_take(suite, BOB, id));
    assert_int_equal(key_row(suite, NAME, "a").active, 1);
    assert_int_equal(key_row(suite, NAME, "b").active, 0);
    assert_sound(suite);
}

/* The place that it had is the next one's at once. */
void case_parked__replaced_run_leaves_the_place_where_it_stood(struct suite *suite)
{
    struct culex_run_limit other = at_most(1, "b");
    culex_uuid id = rival_put(suite, at_most(1, "a")), next = put(suite, at_most(1, "a"));
    replace(suite, id, &other);
    assert_sound(suite);
    assert_int_equal(suite_claim(suite, ANN, 8), 2);
    assert_int_equal(key_row(suite, NAME, "a").active, 1);
    assert_int_equal(key_row(suite, NAME, "b").active, 1);
    done(suite, ANN, id, 1);
    done(suite, ANN, next, 1);
    assert_nothing_remains(suite, NAME);
}

void case_parked__replaced_run_may_lose_its_limits_or_get_some(struct suite *suite)
{
    struct culex_run_limit limit = at_most(1, "a");
    culex_uuid gate = put(suite, limit), id = rival_put(suite, limit);
    uint32_t attempt = suite_take(suite, ANN, gate);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    replace(suite, id, NULL);
    assert_int_equal(key_row(suite, NAME, "a").parked, 0);
    replace(suite, id, &limit);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    assert_int_equal(key_row(suite, NAME, "a").parked, 1);
    replace(suite, id, NULL);
    assert_sound(suite);
    suite_take(suite, BOB, id);
    assert_int_equal(key_row(suite, NAME, "a").active, 1);
    done(suite, ANN, gate, attempt);
    assert_nothing_remains(suite, NAME);
}

/* With the same limits it stays where it is, with others it comes in as if it were ready now. */
void case_parked__replaced_run_stays_only_behind_the_same_limits(struct suite *suite)
{
    struct culex_run_limit same = at_most(1, "a"), other = at_most(1, "b");
    culex_uuid gates[] = {put(suite, same), put(suite, other)};
    assert_int_equal(suite_claim(suite, ANN, 8), 2);
    culex_uuid id = rival_put(suite, same);
    suite->now_ms++;
    culex_uuid behind = put(suite, same), before = put(suite, other);
    suite->now_ms++;
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    replace(suite, id, &same);
    done(suite, ANN, gates[0], 1);
    assert_int_equal(suite_claim(suite, BOB, 8), 1);
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, id));
    done(suite, BOB, id, 1);
    done(suite, ANN, behind, suite_take(suite, ANN, behind));

    id = rival_put(suite, same);
    replace(suite, id, &other);
    done(suite, ANN, gates[1], 1);
    take_in_order(suite, (const culex_uuid[]){before, id}, 2);
    assert_sound(suite);
}

void case_parked__replaced_run_with_a_delay_waits_for_its_time_first(struct suite *suite)
{
    struct culex_run_limit limit = at_most(1, "a");
    culex_uuid gate = put(suite, limit), id = rival_put(suite, limit);
    uint32_t attempt = suite_take(suite, ANN, gate);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    struct culex_new_run run = rival(suite, &limit);
    run.delay_ms = SUITE_SECOND_MS;
    assert_int_equal(suite_try(suite, &run).outcome, CULEX_ENQUEUED_REPLACED);
    assert_state(suite, id, CULEX_RUN_SCHEDULED);
    assert_int_equal(key_row(suite, NAME, "a").parked, 0);
    suite->now_ms += SUITE_SECOND_MS;
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    assert_int_equal(key_row(suite, NAME, "a").parked, 1);
    replace(suite, id, &limit);
    done(suite, ANN, gate, attempt);
    assert_sound(suite);
    suite_take(suite, BOB, id);
}

/* Its name and number are told anew, where it stays as well. */
void case_parked__replacing_run_tells_the_number(struct suite *suite)
{
    struct culex_run_limit more = at_most(2, "a");
    suite_take(suite, ANN, put(suite, at_most(1, "a")));
    culex_uuid id = rival_put(suite, at_most(1, "a"));
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    replace(suite, id, &more);
    assert_int_equal(limit_row(suite, NAME).declared.count, 2);
    suite_take(suite, BOB, id);
    assert_int_equal(key_row(suite, NAME, "a").active, 2);
}

void case_parked__moved_to_a_later_time_leaves_its_place(struct suite *suite)
{
    culex_uuid ids[3];
    put_many(suite, at_most(1, "a"), 3, ids);
    move(suite, ids[0], in(SUITE_MINUTE_MS)); /* it stood */
    assert_state(suite, ids[0], CULEX_RUN_SCHEDULED);
    assert_sound(suite);
    uint32_t attempt = suite_take(suite, ANN, ids[1]);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    move(suite, ids[2], in(SUITE_SECOND_MS)); /* it was parked */
    assert_state(suite, ids[2], CULEX_RUN_SCHEDULED);
    assert_int_equal(key_row(suite, NAME, "a").parked, 0);
    done(suite, ANN, ids[1], attempt);
    assert_int_equal(suite_claim(suite, ANN, 8), 0);
    suite->now_ms += SUITE_MINUTE_MS;
    take_in_order(suite, (const culex_uuid[]){ids[2], ids[0]}, 2);
    assert_sound(suite);
    assert_nothing_remains(suite, NAME);
}

void case_parked__moved_to_now_keeps_its_place(struct suite *suite)
{
    culex_uuid ids[3], gate = put(suite, at_most(1, "a"));
    uint32_t attempt = suite_take(suite, ANN, gate);
    put_many(suite, at_most(1, "a"), 3, ids);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    suite->now_ms++;
    move(suite, ids[0], in(0));
    assert_int_equal(key_row(suite, NAME, "a").parked, 3);
    done(suite, ANN, gate, attempt);
    take_in_order(suite, ids, 3);
}

void case_parked__scheduled_run_moved_to_now_stands_aside(struct suite *suite)
{
    struct culex_run_limit limit = at_most(1, "a");
    struct culex_new_run later = limited(suite, &limit, 1);
    later.delay_ms = SUITE_MINUTE_MS;
    culex_uuid id = suite_put_run(suite, &later), gate = put(suite, limit);
    uint32_t attempt = suite_take(suite, ANN, gate);
    move(suite, id, in(0));
    assert_state(suite, id, CULEX_RUN_WAITING);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    assert_int_equal(key_row(suite, NAME, "a").parked, 1);
    assert_sound(suite);
    done(suite, ANN, gate, attempt);
    suite_take(suite, BOB, id);
}

void case_parked__moved_to_another_priority_stands_there_by_its_age(struct suite *suite)
{
    culex_uuid ids[4], gate = put(suite, at_most(1, "a"));
    uint32_t attempt = suite_take(suite, ANN, gate);
    for (int i = 0; i < 4; i++) {
        ids[i] = put(suite, at_most(1, "a"));
        suite->now_ms++;
    }
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    move(suite, ids[3], ranked(9));
    move(suite, ids[1], ranked(9));
    move(suite, ids[2], ranked(3));
    move(suite, ids[2], ranked(suite->priority));
    assert_int_equal(key_row(suite, NAME, "a").parked, 4);
    assert_sound(suite);
    done(suite, ANN, gate, attempt);
    take_in_order(suite, (const culex_uuid[]){ids[1], ids[3], ids[0], ids[2]}, 4);
    assert_nothing_remains(suite, NAME);
}

/* Those that stood do not keep out one that is before them now. */
void case_parked__lowered_runs_give_up_their_places(struct suite *suite)
{
    enum { COUNT = 12, HIGH = 5 };
    culex_uuid ids[COUNT];
    struct culex_run_limit limit = at_most(1, "a");
    for (int i = 0; i < COUNT; i++) {
        struct culex_new_run run = limited(suite, &limit, 1);
        run.priority = HIGH;
        ids[i] = suite_put_run(suite, &run);
        suite->now_ms++;
    }
    for (int i = 0; i < COUNT - 1; i++)
        move(suite, ids[i], ranked(0));
    assert_sound(suite);
    take_in_order(suite, &ids[COUNT - 1], 1);
    take_in_order(suite, ids, COUNT - 1);
    assert_nothing_remains(suite, NAME);
}

/* It goes before a younger one of that priority, although that stands in all places there are; and
 * before all that come behind it. */
void case_parked__raised_run_goes_before_younger_ones_that_stand(struct suite *suite)
{
    enum { LOW, AGED, YOUNG, FREE, COUNT };
    culex_uuid ids[COUNT];
    struct culex_run_limit limit = at_most(1, "a");
    for (int i = 0; i < COUNT; i++) {
        struct culex_new_run run = limited(suite, &limit, i == FREE ? 0 : 1);
        run.priority = i == YOUNG ? 1 : 0;
        ids[i] = suite_put_run(suite, &run);
        suite->now_ms++;
    }
    move(suite, ids[AGED], ranked(1));
    assert_sound(suite);
    take_in_order(suite, (const culex_uuid[]){ids[AGED], ids[YOUNG], ids[LOW], ids[FREE]}, COUNT);
    assert_nothing_remains(suite, NAME);
}

/* In whichever order many are raised, and with more than one slot. */
void case_parked__raised_runs_go_by_age(struct suite *suite)
{
    enum { COUNT = 24, FIRST = 4 };
    culex_uuid ids[COUNT], right[COUNT];
    struct culex_run_limit limit = at_most(2, "a");
    for (int i = 0; i < COUNT; i++) {
        struct culex_new_run run = limited(suite, &limit, 1);
        run.priority = 0;
        ids[i] = suite_put_run(suite, &run);
        suite->now_ms++;
    }
    for (int i = COUNT - 1; i >= FIRST; i--)
        move(suite, ids[i], ranked(1));
    for (int i = 0; i < COUNT; i++)
        right[i] = ids[(i + FIRST) % COUNT];
    assert_sound(suite);
    take_in_order(suite, right, COUNT);
    assert_nothing_remains(suite, NAME);
}

/* Both at once: it is scheduled, and has its new priority when its time comes. */
void case_parked__moved_in_time_and_priority(struct suite *suite)
{
    culex_uuid ids[3], gate = put(suite, at_most(1, "a"));
    uint32_t attempt = suite_take(suite, ANN, gate);
    put_many(suite, at_most(1, "a"), 3, ids);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    struct culex_place place = in(SUITE_SECOND_MS);
    place.priority = 9;
    move(suite, ids[2], place);
    assert_int_equal(key_row(suite, NAME, "a").parked, 2);
    suite->now_ms += SUITE_SECOND_MS;
    move(suite, ids[1], ranked(9));
    done(suite, ANN, gate, attempt);
    take_in_order(suite, (const culex_uuid[]){ids[1], ids[2], ids[0]}, 3);
}

/* It leaves its place among those of its share; the next of them comes in. */
void case_fair__moved_run_makes_room(struct suite *suite)
{
    static culex_uuid ids[40];
    put_many(suite, fair("a"), 40, ids);
    for (int i = 0; i < 30; i++)
        move(suite, ids[i], in(60 * SUITE_MINUTE_MS));
    assert_sound(suite);
    assert_int_equal(suite_claim(suite, ANN, 40), 10);
    assert_int_equal(suite_claim(suite, ANN, 40), 0);
    suite->now_ms += 60 * SUITE_MINUTE_MS;
    assert_int_equal(work_off(suite), 40);
}

void case_fair__replaced_run_makes_room(struct suite *suite)
{
    struct culex_run_limit other = fair("b");
    culex_uuid id = rival_put(suite, fair("a"));
    put_many(suite, fair("a"), 30, NULL);
    replace(suite, id, &other);
    assert_sound(suite);
    assert_int_equal(suite_claim(suite, ANN, 40), 31);
    assert_int_equal(key_row(suite, FAIR, "a").active, 30);
    assert_int_equal(key_row(suite, FAIR, "b").active, 1);
}
