/* Who tells the store which schemas, and when: worker/schemas.h and client/publishing.h. On a
 * driven clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <culex/schemas.h>

#include "base/error.h"
#include "client/publishing.h"
#include "world.h"

enum { HOUR_MS = 3600000, LAST = 9 /* number of the run that stops its worker */ };

static struct sight {
    const struct culex_store_ops *inner;
    struct culex_store_ops ops;
    unsigned calls, failures; /* so many to come fail, */
    culex_status status;      /* with this, */
    uint64_t refused;         /* or those of this fingerprint alone */
} sight;

static culex_status publish(struct culex_store *store, const char *queue,
                            const struct culex_schema_text *schema, culex_error *error)
{
    sight.calls++;
    if (sight.failures > 0 && (sight.refused == 0 || sight.refused == schema->id.fingerprint)) {
        sight.failures--;
        return culex__fail(error, sight.status, "so told");
    }
    return sight.inner->schema_publish(store, queue, schema, error);
}

static void sight_put(struct culex_store *store)
{
    sight = (struct sight){.inner = store->ops, .ops = *store->ops};
    sight.ops.schema_publish = publish;
    store->ops = &sight.ops;
}

static int setup(void **state)
{
    struct world *world = world_open();
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    world_close(*state);
    return 0;
}

static culex_outcome act_stop(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    if (n == LAST)
        culex_worker_stop(world->worker);
    return CULEX_DONE;
}

/* Of two jobs, in queue numbers and perhaps in a second one; a run stops it after so long. */
static void worker_live(struct world *world, const char *second, int64_t ms)
{
    const char *const queues[] = {"numbers", second};
    static culex_job_type one, other;
    culex_enqueue_options options = culex_enqueue_options_make();
    struct number params = {LAST};
    one = number_type();
    other = number_type();
    other.name = other.wire = "t.other";
    other.fingerprint = 2;
    options.has_delay = true;
    options.delay = ms * CULEX_MILLISECOND;
    world->act = act_stop;
    culex_error error = {0};
    if (culex_client_enqueue(world->client, &one, &params, &options, NULL, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    world_worker(world,
                 (culex_worker_options){.queues = queues, .queue_count = second != NULL ? 2 : 1},
                 &one);
    culex__worker_set_telling(world->worker);
    assert_int_equal(
        culex_worker_register(world->worker, &other, number_call, number_handler, world), 0);
    world_run(world);
}

static void assert_told(struct world *world, const char *queue, int64_t from_ms, int64_t to_ms)
{
    culex_schemas *schemas = NULL;
    assert_int_equal(culex_client_schemas(world->client, queue, &schemas, NULL), CULEX_OK);
    assert_int_equal(schemas->count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(schemas->items[i].wire, i == 0 ? "t.number" : "t.other");
        assert_int_equal(schemas->items[i].fingerprint, i + 1);
        assert_in_range(schemas->items[i].told_ms - WORLD_START_MS, from_ms, to_ms);
    }
    culex_schemas_free(schemas);
}

static void test_worker_tells_all_jobs_in_each_queue_at_its_start(void **state)
{
    struct world *world = *state;
    char *text = NULL;
    size_t len = 0;
    sight_put(&world->base);
    worker_live(world, "mail", 60000);
    assert_told(world, "numbers", 0, 1000);
    assert_told(world, "mail", 0, 1000);
    assert_int_equal(sight.calls, 4);
    assert_int_equal(
        culex_client_schema_text(world->client, "mail", "t.other", 0, 0, &text, &len, NULL),
        CULEX_OK);
    assert_int_equal(strlen(text), len);
    assert_int_equal(text[0], '{');
    free(text);
}

static void test_drain_that_finds_nothing_has_told_all_jobs(void **state)
{
    struct world *world = *state;
    static culex_job_type one, other;
    one = number_type();
    other = number_type();
    other.name = other.wire = "t.other";
    other.fingerprint = 2;
    world_worker(world, (culex_worker_options){.drain = true}, &one);
    culex__worker_set_telling(world->worker);
    assert_int_equal(
        culex_worker_register(world->worker, &other, number_call, number_handler, world), 0);
    world_run(world);
    assert_told(world, "numbers", 0, 1000);
}

static void test_worker_tells_them_again_each_hour(void **state)
{
    struct world *world = *state;
    sight_put(&world->base);
    worker_live(world, NULL, 2 * HOUR_MS + HOUR_MS / 2);
    assert_told(world, "numbers", 2 * HOUR_MS, 2 * HOUR_MS + HOUR_MS / 4);
    assert_int_equal(sight.calls, 6);
}

static void test_worker_tells_the_others_when_one_is_refused(void **state)
{
    struct world *world = *state;
    culex_schemas *schemas = NULL;
    sight_put(&world->base);
    sight.status = CULEX_ELIMIT;
    sight.failures = 3;
    sight.refused = 1;
    worker_live(world, NULL, 2 * HOUR_MS + HOUR_MS / 2);
    assert_int_equal(sight.calls, 6);
    assert_int_equal(culex_client_schemas(world->client, "numbers", &schemas, NULL), CULEX_OK);
    assert_int_equal(schemas->count, 1);
    assert_int_equal(schemas->items[0].fingerprint, 2);
    culex_schemas_free(schemas);
    assert_int_equal(world_log_count(world, "cannot all be told: so told"), 1);
}

static void test_worker_tells_again_what_was_lost(void **state)
{
    struct world *world = *state;
    sight_put(&world->base);
    sight.status = CULEX_EUNKNOWN;
    sight.failures = 1;
    worker_live(world, NULL, 60000);
    assert_told(world, "numbers", 9000, 20000);
    assert_int_equal(sight.calls, 3);
}

/* Of versions that the worker lacks; a run of the one is in the queue. */
static void old_make(struct world *world)
{
    culex_job_type type = number_type();
    const struct culex_schema_text old = {{"t.number", 77, 1}, "old", 3},
                                   gone = {{"t.gone", 5, 1}, "gone", 4};
    type.fingerprint = 77;
    world_enqueue(world, &type, 1);
    assert_int_equal(world->base.ops->schema_publish(&world->base, "numbers", &old, NULL),
                     CULEX_OK);
    assert_int_equal(world->base.ops->schema_publish(&world->base, "numbers", &gone, NULL),
                     CULEX_OK);
}

static bool is_kept(struct world *world, const char *wire, uint64_t fingerprint)
{
    char *text = NULL;
    culex_status status =
        culex_client_schema_text(world->client, "numbers", wire, fingerprint, 0, &text, NULL, NULL);
    free(text);
    return status == CULEX_OK;
}

static void test_worker_forgets_what_nobody_tells_and_no_run_needs(void **state)
{
    struct world *world = *state;
    old_make(world);
    world_pass(world, 23 * HOUR_MS);
    worker_live(world, NULL, HOUR_MS / 2);
    assert_true(is_kept(world, "t.gone", 5));
    world_pass(world, HOUR_MS);
    worker_live(world, NULL, HOUR_MS / 2);
    assert_false(is_kept(world, "t.gone", 5));
    assert_true(is_kept(world, "t.number", 1));
}

static void test_worker_keeps_what_a_run_needs(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_enqueue_options options = culex_enqueue_options_make();
    struct number params = {1};
    type.fingerprint = 77;
    old_make(world);
    options.has_delay = true;
    options.delay = 30 * 3600 * CULEX_SECOND;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, NULL, NULL), 0);
    world_pass(world, 25 * HOUR_MS);
    worker_live(world, NULL, HOUR_MS / 2);
    assert_false(is_kept(world, "t.gone", 5));
    assert_true(is_kept(world, "t.number", 77));
    world_pass(world, 8 * HOUR_MS);
    worker_live(world, NULL, 2 * HOUR_MS); /* it has ended, and its record is forgotten */
    world_pass(world, HOUR_MS);
    worker_live(world, NULL, 2 * HOUR_MS);
    assert_false(is_kept(world, "t.number", 77));
}

static void test_client_tells_each_job_once(void **state)
{
    struct world *world = *state;
    culex_job_type one = number_type(), other = number_type();
    other.wire = "t.other";
    other.fingerprint = 2;
    sight_put(world->client->store);
    world_enqueue(world, &one, 1);
    assert_int_equal(sight.calls, 0); /* it was not asked to */
    assert_int_equal(culex__publishing_create(&world->client->publishing, NULL), CULEX_OK);
    for (int i = 0; i < 3; i++) {
        world_enqueue(world, &one, 1);
        world_enqueue(world, &other, 1);
    }
    assert_int_equal(sight.calls, 2);
    assert_told(world, "numbers", 0, 1000);
    world->client->store->ops = sight.inner;
}

static void test_client_tells_all_jobs_of_a_call(void **state)
{
    struct world *world = *state;
    culex_job_type one = number_type(), other = number_type();
    struct number params = {1};
    culex_enqueue_item items[2] = {{.type = &one, .params = &params},
                                   {.type = &other, .params = &params}};
    other.wire = "t.other";
    other.fingerprint = 2;
    assert_int_equal(culex__publishing_create(&world->client->publishing, NULL), CULEX_OK);
    assert_int_equal(culex_client_enqueue_all(world->client, items, 2, NULL), CULEX_OK);
    assert_told(world, "numbers", 0, 1000);
}

static void test_enqueue_does_not_fail_with_what_it_tells(void **state)
{
    struct world *world = *state;
    culex_job_type one = number_type();
    assert_int_equal(culex__publishing_create(&world->client->publishing, NULL), CULEX_OK);
    sight_put(world->client->store);
    sight.status = CULEX_ELIMIT;
    sight.failures = 1;
    world_enqueue(world, &one, 1);
    world_enqueue(world, &one, 1);
    assert_int_equal(sight.calls, 1);
    world->client->store->ops = sight.inner;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_worker_tells_all_jobs_in_each_queue_at_its_start),
        TEST(test_drain_that_finds_nothing_has_told_all_jobs),
        TEST(test_worker_tells_them_again_each_hour),
        TEST(test_worker_tells_the_others_when_one_is_refused),
        TEST(test_worker_tells_again_what_was_lost),
        TEST(test_worker_forgets_what_nobody_tells_and_no_run_needs),
        TEST(test_worker_keeps_what_a_run_needs),
        TEST(test_client_tells_each_job_once),
        TEST(test_client_tells_all_jobs_of_a_call),
        TEST(test_enqueue_does_not_fail_with_what_it_tells),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
