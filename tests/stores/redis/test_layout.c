/* A queue that was laid out by another version: every verb refuses it, names both versions and
 * touches nothing. */
#include "fixture.h"

#include "platform/env.h"

static const char digest_script[] =
    "local all, names = {}, redis.call('KEYS', '*') table.sort(names) "
    "for _, name in ipairs(names) do all[#all + 1] = name .. redis.call('DUMP', name) end "
    "return redis.sha1hex(table.concat(all, ' '))";

enum { DIGEST_SIZE = 41 };

/* Of all that the server holds. */
static void digest_take(struct fixture *f, char ret_digest[DIGEST_SIZE])
{
    redisReply *reply = redis_server_command(&f->server, "EVAL %s 0", digest_script);
    assert_non_null(reply);
    assert_int_equal(reply->type, REDIS_REPLY_STRING);
    snprintf(ret_digest, DIGEST_SIZE, "%s", reply->str);
    freeReplyObject(reply);
}

/* As version 1 left it. */
static void old_queue_make(struct fixture *f)
{
    fixture_say(f, "FLUSHALL %s", "SYNC");
    fixture_say(f, "HSET culex:{q}:meta enqueued 2 slot %s", "5833333");
    fixture_say(f, "HSET culex:{q}:runs 0123456789abcdef %s", "1|W|0||0|0|0|0|0|0|0|0|0|1|0||1|j");
    fixture_say(f, "HSET culex:{q}:payloads 0123456789abcdef %s", "{}");
    fixture_say(f, "RPUSH culex:{q}:ready %s", "0123456789abcdef");
    fixture_say(f, "SADD culex:{q}:seen1 %s", "0123456789abcdee");
}

/* --- verbs ----------------------------------------------------------------------------------- */

static culex_status act_enqueue(struct fixture *f, culex_error *error)
{
    struct culex_new_run run = fixture_run();
    struct culex_ticket ticket = fixture_ticket(f, 7);
    struct culex_enqueue_result result;
    return f->store->ops->enqueue(f->store, "q", &ticket, &run, 1, &result, error);
}

/* One that is not ordinary, which another script takes in. */
static culex_status act_enqueue_odd(struct fixture *f, culex_error *error)
{
    struct culex_new_run run = fixture_run();
    struct culex_enqueue_result result;
    run.priority = 1;
    return f->store->ops->enqueue(f->store, "q", NULL, &run, 1, &result, error);
}

static culex_status act_enqueue_each(struct fixture *f, culex_error *error)
{
    struct culex_new_run run = fixture_run();
    struct culex_ticket ticket = fixture_ticket(f, 8);
    struct culex_enqueue_result result;
    return f->store->ops->enqueue_each(f->store, "q", &ticket, &run, 1, &result, error);
}

static culex_status act_tick(struct fixture *f, culex_error *error)
{
    struct culex_new_run run = fixture_run();
    struct culex_tick tick = {.queue = "q", .schedule = "j", .interval_ms = 1, .run = &run};
    struct culex_tick_reply reply;
    return f->store->ops->tick(f->store, &tick, &reply, error);
}

static culex_status act_hello(struct fixture *f, culex_error *error)
{
    size_t released;
    int64_t now_ms;
    return f->store->ops->hello(f->store, "q", "w", SESSION_A, &released, &now_ms, error);
}

static culex_status act_step(struct fixture *f, culex_error *error)
{
    struct culex_step step = fixture_step(f, SESSION_A, 5);
    struct culex_step_reply reply;
    culex_status status = f->store->ops->step(f->store, &step, &reply, error);
    if (status == CULEX_OK)
        f->store->ops->step_release(f->store, &reply);
    return status;
}

static culex_status act_cancel(struct fixture *f, culex_error *error)
{
    culex_run_state state;
    return f->store->ops->cancel(f->store, "q", fixture_stranger(f), &state, error);
}

static culex_status act_retry(struct fixture *f, culex_error *error)
{
    return f->store->ops->retry(f->store, "q", fixture_stranger(f), error);
}

static culex_status act_forget(struct fixture *f, culex_error *error)
{
    return f->store->ops->forget(f->store, "q", fixture_stranger(f), error);
}

static culex_status act_pause(struct fixture *f, culex_error *error)
{
    return f->store->ops->pause(f->store, "q", true, error);
}

static culex_status act_move(struct fixture *f, culex_error *error)
{
    struct culex_place place = {.priority = 3};
    return f->store->ops->move(f->store, "q", fixture_stranger(f), &place, error);
}

static culex_status act_pause_for(struct fixture *f, culex_error *error)
{
    return f->store->ops->pause_for(f->store, "q", 1000, error);
}

static culex_status act_limit(struct fixture *f, culex_error *error)
{
    return f->store->ops->limit(f->store, "q", 10, error);
}

static culex_status act_events_keep(struct fixture *f, culex_error *error)
{
    return f->store->ops->events_keep(f->store, "q", 10, error);
}

static culex_status act_events(struct fixture *f, culex_error *error)
{
    struct culex_event_list list;
    return f->store->ops->events(f->store, "q", 0, 1, &list, error);
}

static culex_status act_dead_limit(struct fixture *f, culex_error *error)
{
    return f->store->ops->dead_limit(f->store, "q", 10, error);
}

static culex_status act_purge(struct fixture *f, culex_error *error)
{
    struct culex_purge_reply reply;
    return f->store->ops->purge(f->store, "q", CULEX_RUN_WAITING, 10, &reply, error);
}

static culex_status act_stats(struct fixture *f, culex_error *error)
{
    culex_queue_stats stats;
    return f->store->ops->stats(f->store, "q", &stats, error);
}

static culex_status act_get(struct fixture *f, culex_error *error)
{
    culex_run_info *run = NULL;
    culex_status status = f->store->ops->get(f->store, "q", fixture_stranger(f), &run, error);
    culex_run_info_free(run);
    return status;
}

static culex_status act_list(struct fixture *f, culex_error *error)
{
    struct culex_list_reply reply;
    culex_status status = f->store->ops->list(f->store, "q", CULEX_LIST_OF(CULEX_LIST_ANY),
                                              CULEX_LIST_START, 10, &reply, error);
    if (status == CULEX_OK)
        f->store->ops->list_release(f->store, &reply);
    return status;
}

static culex_status act_fsck(struct fixture *f, culex_error *error)
{
    struct culex_fsck_reply reply;
    return f->store->ops->fsck(f->store, "q", 0, true, &reply, error);
}

static culex_status act_batch(struct fixture *f, culex_error *error)
{
    const struct culex_batch_order order = {.act = CULEX_BATCH_OPEN,
                                            .queue = "q",
                                            .id = fixture_stranger(f),
                                            .open_ms = 1000,
                                            .keep_ms = 1000};
    return f->store->ops->batch(f->store, &order, error);
}

static culex_status act_batch_look(struct fixture *f, culex_error *error)
{
    culex_batch_info info;
    return f->store->ops->batch_look(f->store, "q", fixture_stranger(f), &info, error);
}

static culex_status act_batch_review(struct fixture *f, culex_error *error)
{
    struct culex_batch_review review;
    return f->store->ops->batch_review(f->store, "q", &review, error);
}

static const struct verb {
    const char *name;
    culex_status (*act)(struct fixture *f, culex_error *error);
    bool begins; /* a queue, where there is none */
} verbs[] = {
    {"enqueue", act_enqueue, true},
    {"enqueue, odd", act_enqueue_odd, true},
    {"enqueue_each", act_enqueue_each, true},
    {"tick", act_tick, true},
    {"hello", act_hello, true},
    {"step", act_step, false},
    {"cancel", act_cancel, false},
    {"retry", act_retry, false},
    {"forget", act_forget, false},
    {"pause", act_pause, false},
    {"move", act_move, false},
    {"pause_for", act_pause_for, false},
    {"limit", act_limit, false},
    {"dead_limit", act_dead_limit, false},
    {"events_keep", act_events_keep, false},
    {"events", act_events, false},
    {"purge", act_purge, false},
    {"stats", act_stats, false},
    {"get", act_get, false},
    {"list", act_list, false},
    {"fsck", act_fsck, false},
    {"batch", act_batch, true},
    {"batch_look", act_batch_look, false},
    {"batch_review", act_batch_review, false},
};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

/* --- the tests ------------------------------------------------------------------------------- */

/* `other`: how the text names the version of the queue. */
static void refusal_expect(struct fixture *f, const struct verb *verb, const char *other)
{
    char before[DIGEST_SIZE], after[DIGEST_SIZE];
    culex_error error = {.text = ""};
    digest_take(f, before);
    culex_status status = verb->act(f, &error);
    digest_take(f, after);
    if (status != CULEX_EVERSION || strcmp(before, after) != 0)
        fail_msg("%s: %s, and the queue is %s: %s", verb->name, culex_status_name(status),
                 strcmp(before, after) == 0 ? "as it was" : "touched", error.text);
    assert_non_null(strstr(error.text, other));
    assert_non_null(strstr(error.text, "of version 8"));
}

static void handle_renew(struct fixture *f)
{
    f->store->ops->close(f->store);
    f->store = fixture_open(f, f->server.url);
}

static void test_layout__another_one_is_refused_by_every_verb(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < VERBS; i++) {
        old_queue_make(f);
        handle_renew(f);
        refusal_expect(f, &verbs[i], "layout version 1,");
        fixture_say(f, "HSET culex:{q}:meta layout %s", "2");
        refusal_expect(f, &verbs[i], "layout version 2,");
        fixture_say(f, "HSET culex:{q}:meta layout %s", "9");
        refusal_expect(f, &verbs[i], "layout version 9,");
        fixture_say(f, "HDEL culex:{q}:meta %s", "layout");
        fixture_say(f, "HDEL culex:{q}:meta %s", "enqueued");
        fixture_say(f, "HSET culex:{q}:meta served %s", "1");
        refusal_expect(f, &verbs[i], "layout version 1,");
    }
}

static int64_t later_boottime(void *self)
{
    (void)self;
    return culex__env_system()->boottime_ns(NULL) + INT64_C(31000000000);
}

/* The server was emptied and filled by others, under a handle that has used the queue: at once, and
 * when the handle would announce the queue's name again. */
static void test_layout__another_one_is_noticed_by_a_handle_in_use(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < VERBS; i++) {
        culex_error error;
        fixture_say(f, "FLUSHALL %s", "SYNC");
        handle_renew(f);
        f->env.boottime_ns = culex__env_system()->boottime_ns;
        assert_int_equal(act_hello(f, &error), CULEX_OK);
        assert_int_equal(act_enqueue(f, &error), CULEX_OK);
        old_queue_make(f);
        refusal_expect(f, &verbs[i], "layout version 1,");
        f->env.boottime_ns = later_boottime;
        refusal_expect(f, &verbs[i], "layout version 1,");
        f->env.boottime_ns = culex__env_system()->boottime_ns;
    }
}

/* 0 when there is none. An open queue has its salt behind it. */
static long marked_version(struct fixture *f)
{
    redisReply *layout = redis_server_command(&f->server, "HGET culex:{q}:meta layout");
    assert_non_null(layout);
    long version = layout->type == REDIS_REPLY_STRING ? strtol(layout->str, NULL, 10) : 0;
    freeReplyObject(layout);
    return version;
}

/* What begins a queue marks it, so that later versions know it. */
static void test_layout__is_marked_as_a_queue_begins(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < VERBS; i++) {
        culex_error error;
        fixture_say(f, "FLUSHALL %s", "SYNC");
        handle_renew(f);
        culex_status status = verbs[i].act(f, &error);
        assert_int_not_equal(status, CULEX_EVERSION);
        assert_int_equal(marked_version(f), verbs[i].begins ? 8 : 0);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_layout__another_one_is_refused_by_every_verb),
        TEST(test_layout__another_one_is_noticed_by_a_handle_in_use),
        TEST(test_layout__is_marked_as_a_queue_begins),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
