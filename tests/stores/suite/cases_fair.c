/* suite/cases_fair.c - a fair share beside other limits: its keys take turns behind each of them.
 */
#include "suite.h"

#include <ctype.h>
#include <string.h>

#include "cases.h"
#include "store/limit_list.h"

#define ALL      "shop.send_email:concurrency"
#define HOST     "shop.send_email:concurrency_by_host"
#define OWN      "shop.send_email:concurrency_by_tenant"
#define OWN_RATE "shop.send_email:rate_by_tenant"
#define RATE     "shop.send_email:rate"
#define FAIR     "shop.send_email:fair_by_tenant"

enum { BACKLOG = 30, LIMITS_MAX = 4, SHAPES_MAX = 4 };

/* --- short verbs ------------------------------------------------------------------------------ */

static const struct culex_run_limit all = {CULEX_LIMIT_CONCURRENCY, ALL, "", 2, 0, 0};
static const struct culex_run_limit host = {CULEX_LIMIT_CONCURRENCY, HOST, "h1", 2, 0, 0};
static const struct culex_run_limit own = {CULEX_LIMIT_CONCURRENCY, OWN, "?", 2, 0, 0};
static const struct culex_run_limit rate = {CULEX_LIMIT_RATE, RATE, "", 2, SUITE_SECOND_MS, 2};
static const struct culex_run_limit share = {CULEX_LIMIT_FAIR, FAIR, "?", 0, 0, 0};
static const struct culex_run_limit gpu = {CULEX_LIMIT_NEEDS, "needs gpu:1", NULL, 0, 0, 0};
static const struct culex_run_limit tape = {CULEX_LIMIT_NEEDS, "needs tape:1", NULL, 0, 0, 0};

/* What the runs of a tenant are limited by: a key of "?" is the tenant. */
struct shape {
    struct culex_run_limit limits[LIMITS_MAX];
    size_t count;
};

static struct culex_new_run run_of(struct suite *suite, struct shape *shape, const char *tenant)
{
    struct culex_new_run run = suite_run(suite);
    for (size_t i = 0; i < shape->count; i++) {
        if (strstr(shape->limits[i].name, "_by_tenant") != NULL)
            shape->limits[i].key = tenant;
    }
    run.tags = tenant;
    run.limits = shape->limits;
    run.limit_count = shape->count;
    return run;
}

static culex_uuid put_one(struct suite *suite, const struct shape *shape, const char *tenant,
                          int priority)
{
    struct shape own_shape = *shape;
    struct culex_new_run run = run_of(suite, &own_shape, tenant);
    run.priority = priority;
    return suite_put_run(suite, &run);
}

/* One after the other; they become ready later than all before them. */
static void put_some(struct suite *suite, const struct shape *shape, const char *tenant,
                     size_t count, culex_uuid *ret_ids)
{
    suite->now_ms++;
    for (size_t i = 0; i < count; i++) {
        culex_uuid id = put_one(suite, shape, tenant, suite->priority);
        if (ret_ids != NULL)
            ret_ids[i] = id;
    }
}

/* Whose the run is: the first letter of its tenant, a capital for one that needs something. */
static char tenant_of(struct suite *suite, culex_uuid id, bool is_needy)
{
    char tenant = suite_get(suite, id)->tags[0];
    return is_needy ? (char)toupper((unsigned char)tenant) : tenant;
}

static size_t claim(struct suite *suite, uint32_t want, const char *offers)
{
    struct culex_step step = suite_step_make(suite, ANN, want);
    step.offers = offers;
    return suite_step(suite, &step);
}

/* Steps of a worker that takes so many at a time and ends them before its next, a second each,
 * until `most` were granted; returns whose they were, in the order of the grants. */
static const char *work_with(struct suite *suite, uint32_t want, size_t most, const char *offers)
{
    static char order[200];
    struct culex_run_facts held[16];
    bool are_needy[16];
    size_t count = 0;
    assert_true(want <= 16 && most + want < sizeof order);
    for (int idle = 0; count < most && idle < 5; idle++) {
        size_t granted = claim(suite, want, offers);
        for (size_t i = 0; i < granted; i++) {
            held[i] = suite->reply.grants[i].facts;
            are_needy[i] = suite->reply.grants[i].needs != NULL;
        }
        for (size_t i = 0; i < granted; i++) {
            order[count + i] = tenant_of(suite, held[i].id, are_needy[i]);
            suite_end(suite, ANN, held[i].id, held[i].attempt, CULEX_EVENT_DONE, 0);
        }
        idle = granted > 0 ? 0 : idle;
        count += granted;
        suite->now_ms += SUITE_SECOND_MS;
    }
    order[count < most ? count : most] = '\0';
    return order;
}

static const char *work(struct suite *suite, uint32_t want, size_t most)
{
    return work_with(suite, want, most, NULL);
}

/* At which grant the tenant's first run was, from 1 on. */
static size_t first_of(const char *order, char tenant)
{
    const char *at = strchr(order, tenant);
    if (at == NULL)
        fail_msg("nothing of %c in %s", tenant, order);
    return (size_t)(at - order) + 1;
}

static struct culex_limit_key_row key_row(struct suite *suite, const char *name, const char *key)
{
    struct culex_limit_key_list list = {.rows = NULL};
    struct culex_limit_key_row row = {.key = NULL};
    assert_ok(
        suite->store->ops->limit_keys(suite->store, suite->queue, name, NULL, 1000, &list, NULL));
    for (size_t i = 0; i < list.count; i++) {
        if (strcmp(list.rows[i].key, key) == 0)
            row = list.rows[i];
    }
    row.key = NULL;
    culex__limit_key_list_release(&list);
    return row;
}

static struct culex_limit_row limit_row(struct suite *suite, const char *name)
{
    struct culex_limit_list list = {.rows = NULL};
    assert_ok(suite->store->ops->limits(suite->store, suite->queue, &list, NULL));
    const struct culex_limit_row *found = culex__limit_list_find(&list, name);
    assert_non_null(found);
    struct culex_limit_row row = *found;
    row.name = NULL;
    culex__limit_list_release(&list);
    return row;
}

static void assert_sound(struct suite *suite)
{
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
}

static void assert_nothing_remains(struct suite *suite, const struct shape *shape)
{
    for (int i = 0; i < 4; i++)
        suite_pass(suite, 60 * SUITE_MINUTE_MS);
    for (size_t i = 0; i < shape->count; i++) {
        struct culex_limit_row row = limit_row(suite, shape->limits[i].name);
        assert_int_equal(row.keys + row.active + row.parked, 0);
    }
    assert_sound(suite);
}

/* --- turns ------------------------------------------------------------------------------------ */

/* How many of one tenant may stand before another's comes: as many as a limit of two has room for,
 * in SQLite for each priority up to its own. */
static size_t stood_before(const struct suite *suite)
{
    bool is_sqlite = strcmp(suite->kind, "sqlite") == 0 || strcmp(suite->kind, "memory") == 0;
    return 2 * (1 + (is_sqlite ? (size_t)suite->priority : 0));
}

static void put_backlogs(struct suite *suite, const struct shape *shape)
{
    put_some(suite, shape, "a", BACKLOG, NULL);
    put_some(suite, shape, "b", BACKLOG, NULL);
}

/* Of those, worked off two at a time: the second one's first run comes at once, and from then on
 * they take turns. */
static void assert_turns(const struct suite *suite, const char *order)
{
    size_t stood = stood_before(suite);
    char first = order[0] != '\0' && isupper((unsigned char)order[0]) ? 'A' : 'a';
    assert_int_equal(strlen(order), 2 * BACKLOG);
    assert_true(first_of(order, (char)(first + 1)) <= stood + 2);
    for (size_t i = stood, ours = 0; i < 2 * (BACKLOG - stood); i++) {
        ours += order[i] == first;
        if (2 * ours > i - stood + 4 || 2 * ours + 4 < i - stood)
            fail_msg("no turns are taken: %s", order);
    }
}

static void turns_are_taken(struct suite *suite, const struct shape *shape)
{
    put_backlogs(suite, shape);
    assert_turns(suite, work(suite, 2, 2 * BACKLOG));
    assert_nothing_remains(suite, shape);
}

/* Whichever of the limits the schema names first. */
static void turns_are_taken_beside(struct suite *suite, struct culex_run_limit other)
{
    turns_are_taken(suite, &(struct shape){{share, other}, 2});
    turns_are_taken(suite, &(struct shape){{other, share}, 2});
}

void case_fair__takes_turns_behind_a_shared_concurrency(struct suite *suite)
{
    turns_are_taken_beside(suite, all);
}

void case_fair__takes_turns_behind_a_shared_rate(struct suite *suite)
{
    turns_are_taken_beside(suite, rate);
}

void case_fair__takes_turns_behind_a_concurrency_by_another_param(struct suite *suite)
{
    turns_are_taken_beside(suite, host);
}

void case_fair__takes_turns_behind_several_limits(struct suite *suite)
{
    turns_are_taken(suite, &(struct shape){{all, share, rate}, 3});
    turns_are_taken(suite, &(struct shape){{rate, host, all, share}, 4});
}

/* Two tenants on two hosts. */
static void put_crossed(struct suite *suite, struct shape shape, size_t each)
{
    static const char *const hosts[] = {"h1", "h2"}, *const tenants[] = {"a", "b"};
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < shape.count; k++) {
            if (strcmp(shape.limits[k].name, HOST) == 0)
                shape.limits[k].key = hosts[i % 2];
        }
        put_some(suite, &shape, tenants[i / 2], each, NULL);
    }
}

/* Behind both concurrencies some are parked, and come in from one past the other. */
static void none_is_left(struct suite *suite, struct shape shape)
{
    enum { EACH = 5, TOGETHER = 4 * EACH };
    for (uint32_t want = 1; want <= 5; want++) {
        put_crossed(suite, shape, EACH);
        assert_int_equal(strlen(work(suite, want, TOGETHER)), TOGETHER);
    }
    assert_nothing_remains(suite, &shape);
}

void case_fair__nobody_is_parked_for_ever_between_two_concurrencies(struct suite *suite)
{
    struct culex_run_limit three = all;
    three.count = 3;
    none_is_left(suite, (struct shape){{three, host, share}, 3});
    none_is_left(suite, (struct shape){{host, three, share}, 3});
    none_is_left(suite, (struct shape){{rate, three, share, host}, 4});
}

/* Those of both tenants that nobody serves came first, and their limits are the same. */
static void unserved_take_no_turns(struct suite *suite, struct culex_run_limit one,
                                   struct culex_run_limit other)
{
    const struct shape plain = {{one, other}, 2}, unserved = {{one, other, tape}, 3};
    put_backlogs(suite, &unserved);
    put_backlogs(suite, &plain);
    assert_turns(suite, work_with(suite, 2, 2 * BACKLOG, "gpu:9"));
    assert_int_equal(claim(suite, 2, "gpu:9"), 0);
    assert_sound(suite);
    assert_turns(suite, work_with(suite, 2, 2 * BACKLOG, "tape:2"));
    assert_nothing_remains(suite, &unserved);
}

void case_fair__what_nobody_offers_takes_no_turns(struct suite *suite)
{
    unserved_take_no_turns(suite, share, all);
    unserved_take_no_turns(suite, rate, share);
}

/* Writes those of an order that need something, or those that do not. */
static const char *order_of(const char *order, bool are_needy)
{
    static char some[200];
    size_t count = 0;
    for (; *order != '\0'; order++) {
        if ((isupper((unsigned char)*order) != 0) == are_needy)
            some[count++] = *order;
    }
    some[count] = '\0';
    return some;
}

/* Runs that the worker has what they need for, among others: turns are taken among both. */
static void served_take_turns(struct suite *suite, struct culex_run_limit one,
                              struct culex_run_limit other)
{
    const struct shape plain = {{one, other}, 2}, served = {{one, other, gpu}, 3};
    put_backlogs(suite, &served);
    assert_turns(suite, work_with(suite, 2, 2 * BACKLOG, "gpu:2"));
    put_backlogs(suite, &plain);
    put_backlogs(suite, &served);
    const char *order = work_with(suite, 2, 4 * BACKLOG, "gpu:2");
    assert_turns(suite, order_of(order, true));
    assert_turns(suite, order_of(order, false));
    assert_nothing_remains(suite, &served);
}

void case_fair__what_needs_the_same_takes_turns(struct suite *suite)
{
    served_take_turns(suite, share, all);
    served_take_turns(suite, rate, share);
}

void case_fair__takes_turns_beside_a_concurrency_of_each(struct suite *suite)
{
    turns_are_taken(suite, &(struct shape){{all, own, share}, 3});
    const struct shape shape = {{own, share}, 2};
    put_some(suite, &shape, "a", BACKLOG, NULL);
    put_some(suite, &shape, "b", BACKLOG, NULL);
    assert_int_equal(suite_claim(suite, ANN, 16), 4);
    assert_int_equal(key_row(suite, OWN, "a").active, 2);
    assert_int_equal(key_row(suite, OWN, "b").active, 2);
    assert_sound(suite);
}

/* Whose own limit has room for each run as the one before it ends, which is older than all that
 * others have. Whoever came late has his first after few of each of the two. */
static void late_one_is_near(struct suite *suite, struct shape shape, uint32_t want)
{
    size_t most = 2 * stood_before(suite) + want;
    put_some(suite, &shape, "a", BACKLOG, NULL);
    work(suite, want, 2 * want);
    put_some(suite, &shape, "b", BACKLOG, NULL);
    work(suite, want, 2 * want);
    put_some(suite, &shape, "c", 5, NULL);
    put_some(suite, &shape, "a", BACKLOG, NULL);
    const char *order = work(suite, want, most);
    if (first_of(order, 'c') > most)
        fail_msg("steps of %u: %s", want, order);
    work(suite, 4, 4 * BACKLOG);
    assert_nothing_remains(suite, &shape);
}

void case_fair__takes_turns_beside_a_limit_of_the_same_key(struct suite *suite)
{
    struct culex_run_limit own_rate = {CULEX_LIMIT_RATE, OWN_RATE, "?", 6, SUITE_SECOND_MS, 2};
    const struct shape shapes[] = {{{own, share}, 2},      {{share, own}, 2},
                                   {{own, all, share}, 3}, {{all, own, share}, 3},
                                   {{share, all, own}, 3}, {{own_rate, share}, 2},
                                   {{share, own_rate}, 2}, {{own_rate, own, share}, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        for (uint32_t want = 1; want <= 2; want++)
            late_one_is_near(suite, shapes[i], want);
    }
}

/* While the first one's goes on coming in, and steps are of one. */
void case_fair__late_one_is_next(struct suite *suite)
{
    const struct shape shape = {{all, share}, 2};
    put_some(suite, &shape, "a", BACKLOG, NULL);
    work(suite, 1, 7);
    put_some(suite, &shape, "a", BACKLOG, NULL);
    put_some(suite, &shape, "b", 1, NULL);
    put_some(suite, &shape, "a", BACKLOG, NULL);
    size_t most = stood_before(suite) + 2;
    assert_true(first_of(work(suite, 1, most), 'b') <= most);
}

void case_fair__each_of_many_has_its_turn(struct suite *suite)
{
    enum { TENANTS = 12 };
    static const char *const names[TENANTS] = {"l", "c", "a", "k", "e", "b",
                                               "j", "d", "i", "f", "h", "g"};
    const struct shape shape = {{all, share}, 2};
    for (int i = 0; i < TENANTS; i++)
        put_some(suite, &shape, names[i], 5, NULL);
    const char *order = work(suite, 2, TENANTS + stood_before(suite));
    for (int i = 0; i < TENANTS; i++)
        assert_true(first_of(order, names[i][0]) <= TENANTS + stood_before(suite));
    assert_sound(suite);
}

/* A higher priority goes first, whosever it is; within one they take turns. */
void case_fair__turns_are_taken_within_a_priority(struct suite *suite)
{
    const struct shape shape = {{share, all}, 2};
    put_some(suite, &shape, "x", 2, NULL);
    assert_int_equal(suite_claim(suite, BOB, 2), 2);
    static const struct {
        const char *tenant;
        int priority;
    } parts[] = {{"a", 0}, {"b", 0}, {"a", 8}, {"b", 8}};
    for (size_t part = 0; part < 4; part++) {
        suite->now_ms++;
        for (int i = 0; i < 6; i++)
            put_one(suite, &shape, parts[part].tenant, parts[part].priority);
    }
    assert_int_equal(suite_claim(suite, ANN, 2), 0);
    suite->now_ms +=
        SUITE_LEASE_MS + 1; /* the leases of the two end: they come back to the front */
    const char *order = work(suite, 1, 26);
    assert_int_equal(strlen(order), 26);
    const char *high = order + 2, *low = order + 14;
    if (suite->priority < 8)
        high = order;
    assert_true(first_of(high, 'b') <= 3);
    assert_true(first_of(low, 'b') <= 4);
    assert_true(first_of(low, 'a') <= 4);
    assert_sound(suite);
}

/* Of one tenant the order stays. */
void case_fair__of_one_key_the_oldest_is_first(struct suite *suite)
{
    const struct shape shape = {{all, share}, 2};
    culex_uuid ids[20];
    for (int i = 0; i < 20; i++)
        put_some(suite, &shape, "a", 1, &ids[i]);
    for (int i = 0; i < 20; i++) {
        uint32_t attempt = suite_take(suite, ANN, ids[i]);
        suite_end(suite, ANN, ids[i], attempt, CULEX_EVENT_DONE, 0);
    }
    assert_nothing_remains(suite, &shape);
}

/* Ends what is held, and claims two more; whether the first one's are granted in their order. */
static void assert_in_order(struct suite *suite, const culex_uuid *ids, size_t count)
{
    size_t next = 0;
    for (int idle = 0; next < count && idle < 5; idle++) {
        size_t granted = claim(suite, 2, NULL);
        struct culex_run_facts held[2];
        for (size_t i = 0; i < granted; i++)
            held[i] = suite->reply.grants[i].facts;
        for (size_t i = 0; i < granted; i++) {
            if (tenant_of(suite, held[i].id, false) == 'a')
                assert_true(next < count && suite_same_id(held[i].id, ids[next++]));
            suite_end(suite, ANN, held[i].id, held[i].attempt, CULEX_EVENT_DONE, 0);
        }
        idle = granted > 0 ? 0 : idle;
        suite->now_ms += SUITE_SECOND_MS;
    }
    assert_int_equal(next, count);
}

/* Some are parked behind their tenant's own limit, and the younger ones behind that of all; then
 * the first of these has room at its own. */
void case_fair__who_is_parked_again_keeps_his_order(struct suite *suite)
{
    struct shape shape = {{all, own, share}, 3};
    culex_uuid ids[12];
    struct culex_run_facts held[3];
    shape.limits[0].count = 3;
    put_some(suite, &shape, "a", 6, ids);
    assert_int_equal(suite_claim(suite, BOB, 3), 2);
    held[0] = suite->reply.grants[0].facts;
    held[1] = suite->reply.grants[1].facts;
    put_some(suite, &shape, "b", 1, NULL);
    assert_int_equal(suite_claim(suite, BOB, 3), 1);
    held[2] = suite->reply.grants[0].facts;
    put_some(suite, &shape, "a", 6, &ids[6]);
    put_some(suite, &shape, "b", 6, NULL);
    for (size_t i = 0; i < 3; i++)
        suite_end(suite, BOB, held[i].id, held[i].attempt, CULEX_EVENT_DONE, 0);
    assert_in_order(suite, &ids[2], 10);
    work(suite, 2, 12);
    assert_nothing_remains(suite, &shape);
}

/* More than a step lets in wait behind the first one's own limit, and others behind that of all:
 * none of both keeps the other from it, and a slot that comes free is taken at once. */
void case_fair__two_long_queues_hold_up_nobody(struct suite *suite)
{
    bool is_model = strcmp(suite->kind, "model") == 0; /* which knows no steps, and is slow */
    const size_t many = is_model ? BACKLOG : 2 * CULEX_ADMIT_MAX + BACKLOG;
    struct shape shape = {{all, own, share}, 3};
    shape.limits[0].count = 3;
    shape.limits[1].count = 1;
    put_some(suite, &shape, "a", many, NULL);
    put_some(suite, &shape, "b", many, NULL);
    put_some(suite, &shape, "c", 1, NULL);
    assert_int_equal(suite_claim(suite, BOB, 4), 3);
    const struct culex_run_facts ours = suite->reply.grants[0].facts;
    put_some(suite, &shape, "d", 1, NULL);
    put_some(suite, &shape, "a", many, NULL);
    suite_end(suite, BOB, ours.id, ours.attempt, CULEX_EVENT_DONE, 0);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(claim(suite, 1, NULL), 1);
        struct culex_run_facts next = suite->reply.grants[0].facts;
        suite_end(suite, ANN, next.id, next.attempt, CULEX_EVENT_DONE, 0);
    }
    assert_sound(suite);
    while (suite_purge(suite, CULEX_RUN_WAITING, 100) > 0)
        ;
    suite_pass(suite, SUITE_LEASE_MS + 1);
    work(suite, 4, 4);
    assert_nothing_remains(suite, &shape);
}

/* --- who stands in nobody's way --------------------------------------------------------------- */

/* What waits for a limit takes no place of its share. */
void case_fair__runs_for_a_full_limit_hold_up_none_of_their_key(struct suite *suite)
{
    const struct shape busy = {{share, host}, 2};
    struct shape free_one = busy;
    free_one.limits[1].key = "h2";
    put_some(suite, &busy, "a", 2, NULL);
    assert_int_equal(suite_claim(suite, BOB, 2), 2);
    put_some(suite, &busy, "a", 100, NULL);
    culex_uuid id;
    put_some(suite, &free_one, "a", 1, &id);
    suite_take(suite, ANN, id);
    assert_sound(suite);
}

/* --- what an operator sees -------------------------------------------------------------------- */

void case_fair__keys_tell_whose_runs_are_held_back(struct suite *suite)
{
    const struct shape shape = {{all, share}, 2};
    culex_uuid ids[BACKLOG];
    put_some(suite, &shape, "a", 2, NULL);
    assert_int_equal(suite_claim(suite, ANN, 2), 2);
    put_some(suite, &shape, "a", BACKLOG, ids);
    put_some(suite, &shape, "b", 3, NULL);
    suite_claim(suite, BOB, 8);
    assert_int_equal(key_row(suite, FAIR, "a").parked, BACKLOG);
    assert_int_equal(key_row(suite, FAIR, "a").active, 2);
    assert_int_equal(key_row(suite, FAIR, "b").parked, 3);
    assert_int_equal(limit_row(suite, FAIR).parked, BACKLOG + 3);
    assert_int_equal(limit_row(suite, FAIR).keys, 2);
    assert_int_equal(limit_row(suite, ALL).parked, BACKLOG + 3);
    for (int i = 0; i < BACKLOG; i++)
        suite_cancel(suite, ids[i]);
    assert_int_equal(key_row(suite, FAIR, "a").parked, 0);
    assert_int_equal(limit_row(suite, FAIR).parked, 3);
    assert_sound(suite);
}

/* Those that only the share keeps aside are among them. */
void case_fair__keys_tell_what_the_share_holds_back(struct suite *suite)
{
    const struct shape shape = {{share}, 1};
    put_some(suite, &shape, "a", 100, NULL);
    struct culex_limit_key_row row = key_row(suite, FAIR, "a");
    assert_in_range(row.parked, 100 - 25, 100 - 16);
    assert_int_equal(row.active, 0);
}

/* --- transitions ------------------------------------------------------------------------------ */

static void move(struct suite *suite, culex_uuid id, struct culex_place place)
{
    assert_ok(suite->store->ops->move(suite->store, suite->queue, id, &place, NULL));
}

/* Out of what is parked, in each way there is; the others go on taking turns. */
void case_fair__who_is_parked_may_leave_in_any_way(struct suite *suite)
{
    const struct shape shape = {{all, share, rate}, 3};
    culex_uuid ids[BACKLOG];
    put_some(suite, &shape, "x", 2, NULL);
    assert_int_equal(suite_claim(suite, BOB, 2), 2);
    const struct culex_run_facts held[2] = {suite->reply.grants[0].facts,
                                            suite->reply.grants[1].facts};
    put_some(suite, &shape, "a", BACKLOG, ids);
    put_some(suite, &shape, "b", 5, NULL);
    suite_claim(suite, EVE, 4);
    suite_cancel(suite, ids[0]);
    assert_ok(suite->store->ops->forget(suite->store, suite->queue, ids[0], NULL));
    suite_cancel(suite, ids[7]);
    assert_sound(suite);
    move(suite, ids[1], (struct culex_place){.has_time = true, .delay_ms = 3, .priority = -1});
    assert_sound(suite);
    move(suite, ids[2], (struct culex_place){.priority = 9});
    move(suite, ids[3], (struct culex_place){.priority = 3});
    assert_sound(suite);
    assert_ok(suite->store->ops->limit_set(suite->store, suite->queue, ALL,
                                           &(culex_limit_value){.count = 4}, NULL));
    suite->now_ms += SUITE_SECOND_MS;
    assert_int_equal(suite_claim(suite, ANN, 4), 2);
    assert_sound(suite);
    suite_end(suite, BOB, held[0].id, held[0].attempt, CULEX_EVENT_RELEASE, 0);
    suite_end(suite, BOB, held[1].id, held[1].attempt, CULEX_EVENT_FAIL, SUITE_SECOND_MS);
    assert_sound(suite);
    suite->now_ms += SUITE_LEASE_MS + 1;
    suite_claim(suite, ANN, 1);
    assert_sound(suite);
    suite_purge(suite, CULEX_RUN_WAITING, 3);
    assert_sound(suite);
    while (suite_purge(suite, CULEX_RUN_WAITING, 100) > 0)
        ;
    assert_sound(suite);
    suite_pass(suite, SUITE_LEASE_MS + 1);
    work(suite, 2, 40);
    assert_nothing_remains(suite, &shape);
}

/* It was admitted by its turn, and waits at the front for a limit that was lowered meanwhile:
 * whoever's turn is next comes behind it. */
void case_fair__run_at_the_front_waits_for_no_turn(struct suite *suite)
{
    const struct shape shape = {{all, share}, 2};
    const culex_limit_value one = {.count = 1};
    culex_uuid ours[4];
    put_some(suite, &shape, "a", 4, ours);
    put_some(suite, &shape, "b", 3, NULL);
    assert_int_equal(suite_claim(suite, ANN, 2), 2);
    suite_end(suite, ANN, ours[0], 1, CULEX_EVENT_DONE, 0);
    assert_int_equal(suite_claim(suite, ANN, 1), 1);
    const struct culex_run_facts admitted = suite->reply.grants[0].facts;
    assert_ok(suite->store->ops->limit_set(suite->store, suite->queue, ALL, &one, NULL));
    suite_end(suite, ANN, admitted.id, admitted.attempt, CULEX_EVENT_RELEASE, 0);
    assert_int_equal(suite_claim(suite, BOB, 2), 0);
    suite_end(suite, ANN, ours[1], 1, CULEX_EVENT_DONE, 0);
    suite_take(suite, BOB, admitted.id);
    assert_sound(suite);
}

/* A run that is given back is the next of all again, whosever turn it is. */
void case_fair__released_run_is_before_those_that_take_turns(struct suite *suite)
{
    const struct shape shape = {{all, share}, 2};
    put_some(suite, &shape, "z", 2, NULL);
    assert_int_equal(suite_claim(suite, ANN, 2), 2);
    const struct culex_run_facts facts = suite->reply.grants[1].facts;
    put_some(suite, &shape, "a", 5, NULL);
    put_some(suite, &shape, "b", 5, NULL);
    suite_claim(suite, BOB, 2);
    suite_end(suite, ANN, facts.id, facts.attempt, CULEX_EVENT_RELEASE, 0);
    suite_take(suite, BOB, facts.id);
    suite->now_ms += SUITE_LEASE_MS + 1; /* both are lost */
    const char *order = work(suite, 1, 12);
    assert_int_equal(strlen(order), 12);
    assert_int_equal(order[0] == 'z' && order[1] == 'z', true);
    assert_nothing_remains(suite, &shape);
}

static struct culex_new_run rival(struct suite *suite, struct shape *shape, const char *tenant)
{
    struct culex_new_run run = run_of(suite, shape, tenant);
    run.unique_key = "abc";
    run.unique_while = 1 << CULEX_RUN_SCHEDULED | 1 << CULEX_RUN_WAITING;
    run.unique_replaces = true;
    return run;
}

/* It counts for its new key alone, and has that one's turn. */
void case_fair__replaced_run_changes_its_key(struct suite *suite)
{
    struct shape shape = {{all, share}, 2};
    put_some(suite, &shape, "x", 2, NULL);
    assert_int_equal(suite_claim(suite, ANN, 2), 2);
    const struct culex_run_facts facts = suite->reply.grants[0].facts;
    put_some(suite, &shape, "a", 10, NULL);
    struct shape first = shape, second = shape;
    struct culex_new_run run = rival(suite, &first, "a");
    culex_uuid id = suite_put_run(suite, &run);
    suite_claim(suite, BOB, 2);
    assert_int_equal(key_row(suite, FAIR, "a").parked, 11);
    run = rival(suite, &second, "b");
    struct culex_enqueue_result result = suite_try(suite, &run);
    assert_int_equal(result.outcome, CULEX_ENQUEUED_REPLACED);
    assert_true(suite_same_id(result.id, id));
    assert_int_equal(key_row(suite, FAIR, "a").parked, 10);
    assert_int_equal(key_row(suite, FAIR, "b").parked, 1);
    assert_sound(suite);
    suite_end(suite, ANN, facts.id, facts.attempt, CULEX_EVENT_DONE, 0);
    size_t most = stood_before(suite) + 2;
    assert_true(first_of(work(suite, 1, most), 'b') <= most);
    suite_pass(suite, SUITE_LEASE_MS + 1);
    work(suite, 2, 40);
    assert_nothing_remains(suite, &shape);
}

/* Without a share, or of an older program that knows of none: they are one more that takes turns.
 */
void case_fair__runs_without_a_share_take_turns_as_one(struct suite *suite)
{
    const struct shape shared = {{all, share}, 2}, bare = {{all}, 1};
    put_some(suite, &shared, "a", BACKLOG, NULL);
    put_some(suite, &bare, "-", BACKLOG, NULL);
    const char *order = work(suite, 2, 2 * BACKLOG);
    assert_int_equal(strlen(order), 2 * BACKLOG);
    assert_true(first_of(order, '-') <= 40);
    assert_nothing_remains(suite, &shared);
}
