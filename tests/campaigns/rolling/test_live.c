/* culex_client_live on every store: what it counts, and how it sorts. (That no run escapes
 * while workers move it is a claim on LIST: the conformance suite has it.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <culex/culex.h>

#include "store/store.h"
#include "redis_server.h"

enum { SEEN_MAX = 16 };

struct stage {
    const char *url;
    culex_client *client;
    struct culex_store *store; /* a second handle: the worker */
    uint64_t nonce;
};

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        culex_error call_error = {.code = CULEX_OK};                                               \
        if ((call) != CULEX_OK)                                                                    \
            fail_msg("%s: %s", culex_status_name(call_error.code), call_error.text);               \
    } while (0)

/* --- jobs and runs --------------------------------------------------------------------------- */

static const culex_struct_type no_params = {"shop.ping", 1, NULL, 0};

static culex_job_type job_type(const char *name, const char *queue, uint64_t fingerprint)
{
    return (culex_job_type){.descriptor_version = CULEX_DESCRIPTOR_VERSION,
                            .name = name,
                            .wire = name,
                            .queue = queue,
                            .params = &no_params,
                            .fingerprint = fingerprint,
                            .keep_success_ms = 3600000,
                            .keep_failure_ms = 3600000};
}

static culex_uuid put(struct stage *s, const char *name, const char *queue, uint64_t fingerprint,
                      culex_duration delay)
{
    const culex_job_type type = job_type(name, queue, fingerprint);
    const char params = 0;
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_uuid id;
    options.has_delay = delay > 0;
    options.delay = delay;
    assert_ok(culex_client_enqueue(s->client, &type, &params, &options, &id, &call_error));
    return id;
}

/* Claims `want` runs and ends the first of them with `event`, if that is not CLAIM. */
static size_t claim(struct stage *s, const char *queue, uint32_t want, enum culex_run_event event)
{
    static const char session[] = "aaaaaaaaaaaaaaaa";
    struct culex_step step = {.queue = queue,
                              .session = session,
                              .nonce = ++s->nonce,
                              .want = want,
                              .max_bytes = 1000,
                              .lease_ms = 3600000};
    struct culex_step_reply reply;
    struct culex_ack acks[100];
    assert_ok(s->store->ops->step(s->store, &step, &reply, &call_error));
    size_t count = reply.grant_count;
    for (size_t i = 0; i < count; i++)
        acks[i] = (struct culex_ack){.id = reply.grants[i].facts.id,
                                     .attempt = reply.grants[i].facts.attempt,
                                     .event = event};
    s->store->ops->step_release(s->store, &reply);
    if (event == CULEX_EVENT_CLAIM)
        return count;
    step.want = 0;
    step.nonce = ++s->nonce;
    step.acks = acks;
    step.ack_count = count;
    assert_ok(s->store->ops->step(s->store, &step, &reply, &call_error));
    s->store->ops->step_release(s->store, &reply);
    return count;
}

/* --- what is seen ------------------------------------------------------------------------------
 */

struct seen {
    culex_live_schema rows[SEEN_MAX];
    char names[SEEN_MAX][2][32];
    size_t count, most;
};

static bool seen_add(const culex_live_schema *schema, void *user)
{
    struct seen *seen = user;
    assert_true(seen->count < SEEN_MAX);
    size_t at = seen->count++;
    snprintf(seen->names[at][0], 32, "%s", schema->queue);
    snprintf(seen->names[at][1], 32, "%s", schema->job);
    seen->rows[at] = *schema;
    seen->rows[at].queue = seen->names[at][0];
    seen->rows[at].job = seen->names[at][1];
    return seen->count != seen->most;
}

static void live(struct stage *s, const char *queue, bool with_ended, struct seen *ret_seen)
{
    memset(ret_seen, 0, sizeof *ret_seen);
    assert_ok(culex_client_live(s->client, queue, with_ended, seen_add, ret_seen, &call_error));
}

static void assert_row(const struct seen *seen, size_t at, const char *queue, const char *job,
                       uint64_t fingerprint, uint64_t runs)
{
    assert_true(at < seen->count);
    assert_string_equal(seen->rows[at].queue, queue);
    assert_string_equal(seen->rows[at].job, job);
    assert_true(seen->rows[at].fingerprint == fingerprint);
    assert_int_equal(seen->rows[at].runs, runs);
}

/* --- claims ------------------------------------------------------------------------------------
 */

static void test_live_counts_each_version_of_each_job_by_state(void **state)
{
    struct stage *s = *state;
    struct seen seen;
    const uint64_t old = UINT64_C(0x9c1f0e7ab2d44e10), new = UINT64_MAX;
    live(s, NULL, true, &seen);
    assert_int_equal(seen.count, 0);
    int64_t before_ms, after_ms;
    assert_ok(s->store->ops->now(s->store, &before_ms, &call_error));
    put(s, "shop.ping", "mail", old, 0); /* becomes done */
    assert_int_equal(claim(s, "mail", 1, CULEX_EVENT_DONE), 1);
    put(s, "shop.ping", "mail", old, 0); /* becomes dead */
    assert_int_equal(claim(s, "mail", 1, CULEX_EVENT_DISCARD), 1);
    put(s, "shop.ping", "mail", old, 0); /* becomes active */
    assert_int_equal(claim(s, "mail", 1, CULEX_EVENT_CLAIM), 1);
    put(s, "shop.ping", "mail", old, 0);
    put(s, "shop.ping", "mail", old, 3600 * CULEX_SECOND);
    culex_uuid cancelled = put(s, "shop.ping", "mail", new, 0);
    assert_ok(culex_client_cancel(s->client, "mail", cancelled, NULL, &call_error));
    put(s, "shop.ping", "mail", new, 0);
    put(s, "shop.add", "mail", 7, 0);
    put(s, "shop.ping", "late", old, 0);
    assert_ok(s->store->ops->now(s->store, &after_ms, &call_error));

    live(s, NULL, false, &seen);
    assert_int_equal(seen.count, 4);
    assert_row(&seen, 0, "late", "shop.ping", old, 1);
    assert_row(&seen, 1, "mail", "shop.add", 7, 1);
    assert_row(&seen, 2, "mail", "shop.ping", old, 4);
    assert_row(&seen, 3, "mail", "shop.ping", new, 1);
    static const uint64_t counts[CULEX_RUN_STATE_COUNT] = {1, 1, 1, 0, 1, 0};
    assert_memory_equal(seen.rows[2].count, counts, sizeof counts);
    for (size_t i = 0; i < seen.count; i++)
        assert_in_range(seen.rows[i].oldest_ms, before_ms, after_ms);

    live(s, "mail", true, &seen);
    assert_int_equal(seen.count, 3);
    assert_row(&seen, 1, "mail", "shop.ping", old, 4);
    assert_int_equal(seen.rows[1].count[CULEX_RUN_DONE], 1);
    assert_row(&seen, 2, "mail", "shop.ping", new, 1);
    assert_int_equal(seen.rows[2].count[CULEX_RUN_CANCELLED], 1);

    culex_error error;
    assert_int_equal(culex_client_live(s->client, "nowhere", true, seen_add, &seen, &error),
                     CULEX_ENOTFOUND);
}

static void test_live_counts_the_oldest_run(void **state)
{
    struct stage *s = *state;
    struct seen seen;
    culex_uuid first = put(s, "shop.ping", "mail", 1, 0);
    culex_run_info *run = NULL;
    assert_ok(culex_client_get(s->client, "mail", first, &run, &call_error));
    for (int64_t now_ms = 0; now_ms <= run->created_at_ms;)
        assert_ok(s->store->ops->now(s->store, &now_ms, &call_error));
    put(s, "shop.ping", "mail", 1, 0);
    live(s, NULL, false, &seen);
    assert_row(&seen, 0, "mail", "shop.ping", 1, 2);
    assert_int_equal(seen.rows[0].oldest_ms, run->created_at_ms);
    culex_run_info_free(run);
}

static void test_live_stops_when_the_visitor_has_had_enough(void **state)
{
    struct stage *s = *state;
    put(s, "shop.ping", "mail", 1, 0);
    put(s, "shop.ping", "mail", 2, 0);
    put(s, "shop.ping", "z", 3, 0);
    for (size_t most = 1; most <= 2; most++) {
        struct seen seen = {.most = most};
        assert_ok(culex_client_live(s->client, NULL, false, seen_add, &seen, &call_error));
        assert_int_equal(seen.count, most);
    }
}

static void test_live_refuses_nonsense(void **state)
{
    struct stage *s = *state;
    struct seen seen = {.count = 0};
    culex_error error = {.code = CULEX_OK};
    assert_int_equal(culex_client_live(NULL, NULL, false, seen_add, &seen, &error), CULEX_EINVAL);
    assert_int_equal(culex_client_live(s->client, NULL, false, NULL, &seen, &error), CULEX_EINVAL);
    assert_int_equal(culex_client_live(s->client, "a{b", false, seen_add, &seen, &error),
                     CULEX_EINVAL);
    assert_non_null(strstr(error.text, "a{b"));
}

static void test_live_sees_all_of_many_pages(void **state)
{
    enum { COUNT = 1700 };
    struct stage *s = *state;
    struct seen seen = {.count = 0};
    for (int i = 0; i < COUNT; i++)
        put(s, "shop.ping", "mail", (uint64_t)(i % 3), i % 2 == 0 ? 0 : 3600 * CULEX_SECOND);
    assert_ok(culex_client_live(s->client, NULL, false, seen_add, &seen, &call_error));
    assert_int_equal(seen.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_row(&seen, i, "mail", "shop.ping", i, i == 2 ? 566 : 567);
}

/* --- stores -------------------------------------------------------------------------------------
 */

static struct redis_server server;
static char folder[] = "/tmp/culex-live-XXXXXX";
static const char *store;

static int stage_open(void **state)
{
    static char url[256];
    static int number;
    static struct stage stage;
    culex_error error = {.code = CULEX_OK};
    number++;
    if (strcmp(store, "redis") == 0) {
        freeReplyObject(redis_server_command(&server, "FLUSHALL"));
        snprintf(url, sizeof url, "%s", server.url);
    } else if (strcmp(store, "sqlite") == 0) {
        snprintf(url, sizeof url, "sqlite:%s/%d.db?reserve=0", folder, number);
    } else {
        snprintf(url, sizeof url, "memory:live-%d", number);
    }
    stage = (struct stage){.url = url};
    size_t released;
    int64_t now_ms;
    if (culex_client_open(url, NULL, &stage.client, &error) != CULEX_OK ||
        culex__store_open(url, NULL, culex__env_system(), &stage.store, &error) != CULEX_OK ||
        stage.store->ops->hello(stage.store, "mail", "w", "aaaaaaaaaaaaaaaa", &released, &now_ms,
                                &error) != CULEX_OK) {
        fprintf(stderr, "%s\n", error.text);
        return -1;
    }
    *state = &stage;
    return 0;
}

static int stage_close(void **state)
{
    struct stage *s = *state;
    culex_client_close(s->client);
    s->store->ops->close(s->store);
    return 0;
}

static int group_open(void **state)
{
    (void)state;
    if (strcmp(store, "redis") == 0)
        return redis_server_start(&server, NULL) ? 0 : -1;
    return strcmp(store, "sqlite") != 0 || mkdtemp(folder) != NULL ? 0 : -1;
}

static int group_close(void **state)
{
    (void)state;
    char command[64];
    redis_server_stop(&server);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return strcmp(store, "sqlite") != 0 || system(command) == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, stage_open, stage_close)
    const struct CMUnitTest tests[] = {
        TEST(test_live_counts_each_version_of_each_job_by_state),
        TEST(test_live_counts_the_oldest_run),
        TEST(test_live_stops_when_the_visitor_has_had_enough),
        TEST(test_live_refuses_nonsense),
        TEST(test_live_sees_all_of_many_pages),
    };
    if (argc < 2)
        return 2;
    store = argv[1];
    return cmocka_run_group_tests(tests, group_open, group_close);
}
