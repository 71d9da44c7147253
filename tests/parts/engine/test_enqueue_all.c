/* culex_client_enqueue_all: several jobs and queues in one call, on the driven world's store. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <culex/hooks.h>

#include "world.h"

enum { COUNT = 5 };

/* Jobs of two queues in turns: numbers, other, numbers, other, numbers. */
struct scene {
    struct world *world;
    culex_job_type types[2];
    struct number params[COUNT];
    culex_enqueue_options options[COUNT];
    culex_enqueue_item items[COUNT];
    culex_error error;
};

static int setup(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    scene->world = world_open();
    scene->types[0] = scene->types[1] = number_type();
    scene->types[1].name = scene->types[1].wire = "t.other";
    scene->types[1].queue = "other";
    for (int i = 0; i < COUNT; i++) {
        scene->params[i].n = i;
        scene->options[i] = culex_enqueue_options_make();
        scene->items[i].type = &scene->types[i % 2];
        scene->items[i].params = &scene->params[i];
        scene->items[i].options = &scene->options[i];
    }
    *state = scene;
    return 0;
}

static int teardown(void **state)
{
    struct scene *scene = *state;
    world_close(scene->world);
    free(scene);
    return 0;
}

static culex_status call(struct scene *scene)
{
    return culex_client_enqueue_all(scene->world->client, scene->items, COUNT, &scene->error);
}

static uint64_t enqueued(struct scene *scene, const char *queue)
{
    culex_queue_stats stats = {0};
    culex_status status = culex_client_stats(scene->world->client, queue, &stats, NULL);
    if (status == CULEX_ENOTFOUND)
        return 0;
    assert_int_equal(status, CULEX_OK);
    return stats.enqueued;
}

static void assert_enqueued(struct scene *scene, uint64_t numbers, uint64_t others)
{
    assert_int_equal(enqueued(scene, "numbers"), numbers);
    assert_int_equal(enqueued(scene, "other"), others);
}

static void assert_marks(const struct scene *scene, const char *marks)
{
    char got[COUNT + 1] = "";
    for (int i = 0; i < COUNT; i++)
        got[i] = scene->items[i].is_enqueued ? '+' : scene->items[i].is_unknown ? '?' : '-';
    assert_string_equal(got, marks);
}

static void test_each_run_is_in_its_queue(void **state)
{
    struct scene *scene = *state;
    scene->options[4].has_priority = true;
    scene->options[4].priority = 3;
    scene->options[3].queue = "third";
    scene->items[1].options = NULL;
    assert_int_equal(call(scene), CULEX_OK);
    assert_marks(scene, "+++++");
    assert_enqueued(scene, 3, 1);
    assert_int_equal(enqueued(scene, "third"), 1);
    for (int i = 0; i < COUNT; i++) {
        culex_run_info *run = NULL;
        const char *queue = i == 3 ? "third" : scene->types[i % 2].queue;
        char expected[32];
        snprintf(expected, sizeof expected, "{\"n\":%d}", i);
        assert_int_equal(
            culex_client_get(scene->world->client, queue, scene->items[i].id, &run, NULL),
            CULEX_OK);
        assert_string_equal(run->job, scene->types[i % 2].wire);
        assert_int_equal(run->payload.len, strlen(expected));
        assert_memory_equal(run->payload.data, expected, run->payload.len);
        assert_int_equal(run->priority, i == 4 ? 3 : number_type().priority);
        assert_int_equal(scene->items[i].outcome, CULEX_ENQUEUE_NEW);
        culex_run_info_free(run);
    }
}

static void test_none_is_nothing(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(culex_client_enqueue_all(scene->world->client, NULL, 0, NULL), CULEX_OK);
    assert_int_equal(culex_client_enqueue_all(scene->world->client, NULL, 1, NULL), CULEX_EINVAL);
    assert_int_equal(culex_client_enqueue_all(NULL, scene->items, 1, NULL), CULEX_EINVAL);
    assert_int_equal(scene->world->enqueues, 0);
}

/* The first queue comes whole, the second not at all; the next call brings what is left. */
static void test_queue_without_room_for_all_takes_none(void **state)
{
    struct scene *scene = *state;
    world_enqueue(scene->world, &scene->types[1], 9);
    assert_int_equal(culex_client_limit(scene->world->client, "other", 2, NULL), CULEX_OK);
    assert_int_equal(call(scene), CULEX_EFULL);
    assert_non_null(strstr(scene->error.text, "queue 'other'"));
    assert_marks(scene, "+-+-+");
    assert_enqueued(scene, 3, 1);
    assert_int_equal(culex_client_limit(scene->world->client, "other", 3, NULL), CULEX_OK);
    assert_int_equal(call(scene), CULEX_OK);
    assert_marks(scene, "+++++");
    assert_enqueued(scene, 3, 3);
}

static void test_conflict_of_one_holds_its_queue(void **state)
{
    struct scene *scene = *state;
    scene->options[0].idempotency_key = scene->options[4].idempotency_key = "order 7";
    assert_int_equal(call(scene), CULEX_ECONFLICT);
    assert_non_null(strstr(scene->error.text, "another run of this call"));
    assert_marks(scene, "-----");
    assert_enqueued(scene, 0, 0);
    scene->params[4].n = 0;
    assert_int_equal(call(scene), CULEX_OK);
    assert_int_equal(scene->items[4].outcome, CULEX_ENQUEUE_DUPLICATE);
    assert_memory_equal(&scene->items[4].id, &scene->items[0].id, sizeof scene->items[0].id);
    assert_enqueued(scene, 2, 2);
}

static void test_taken_key_holds_its_queue_where_that_is_an_error(void **state)
{
    struct scene *scene = *state;
    scene->types[1].unique.is_unique = true;
    scene->types[1].unique.while_states = CULEX_UNIQUE_LIVE;
    scene->params[3].n = scene->params[1].n;
    scene->types[1].unique.on_conflict = CULEX_ON_CONFLICT_ERROR;
    assert_int_equal(call(scene), CULEX_EUNIQUE);
    assert_non_null(strstr(scene->error.text, "another run of this call has its unique key"));
    assert_marks(scene, "+-+-+");
    scene->types[1].unique.on_conflict = CULEX_ON_CONFLICT_KEEP;
    assert_int_equal(call(scene), CULEX_OK);
    assert_int_equal(scene->items[3].outcome, CULEX_ENQUEUE_KEPT);
    assert_enqueued(scene, 3, 1);
}

static void lose(struct scene *scene, enum world_fault fault, unsigned count, unsigned skip)
{
    scene->world->enqueue_fault = fault;
    scene->world->enqueue_fault_count = count;
    scene->world->enqueue_skip = skip;
}

/* Of the second queue, whether it was carried out or not: the call is made again as it is. */
static void test_call_without_an_answer_is_made_again(void **state)
{
    struct scene *scene = *state;
    static const enum world_fault faults[] = {WORLD_LOSE_REPLY, WORLD_LOSE_TRY};
    for (size_t i = 0; i < 2; i++) {
        lose(scene, faults[i], UINT_MAX, 1);
        assert_int_equal(call(scene), CULEX_EUNKNOWN);
        assert_marks(scene, "+?+?+");
        lose(scene, WORLD_OK, 0, 0);
        assert_int_equal(call(scene), CULEX_OK);
        assert_marks(scene, "+++++");
        assert_enqueued(scene, 3 * (i + 1), 2 * (i + 1));
        for (int at = 0; at < COUNT; at++)
            scene->items[at].is_enqueued = false;
    }
}

/* A repeat that is refused says nothing of the first call. */
static void test_what_is_unknown_stays_so_until_it_is_known(void **state)
{
    struct scene *scene = *state;
    lose(scene, WORLD_LOSE_REPLY, UINT_MAX, 1);
    assert_int_equal(call(scene), CULEX_EUNKNOWN);
    lose(scene, WORLD_REFUSE, UINT_MAX, 0);
    assert_int_not_equal(call(scene), CULEX_OK);
    assert_marks(scene, "+?+?+");
    lose(scene, WORLD_OK, 0, 0);
    assert_int_equal(call(scene), CULEX_OK);
    assert_enqueued(scene, 3, 2);
}

static void test_other_items_are_no_part_of_a_repeat(void **state)
{
    struct scene *scene = *state;
    lose(scene, WORLD_LOSE_REPLY, UINT_MAX, 1);
    assert_int_equal(call(scene), CULEX_EUNKNOWN);
    lose(scene, WORLD_OK, 0, 0);
    scene->items[0].is_enqueued = false;
    scene->options[0].queue = "other";
    assert_int_equal(call(scene), CULEX_EINVAL);
    assert_non_null(strstr(scene->error.text, "the same items"));
    scene->items[0].is_enqueued = true;
    scene->params[1].n = 77; /* nor are other params */
    assert_int_equal(call(scene), CULEX_ECONFLICT);
    assert_marks(scene, "+?+?+");
    assert_enqueued(scene, 3, 2);
}

/* A ticket is known in its queue alone: sent to another, the runs would come twice. */
static void test_repeat_goes_to_no_other_queue(void **state)
{
    struct scene *scene = *state;
    lose(scene, WORLD_LOSE_REPLY, UINT_MAX, 1);
    assert_int_equal(call(scene), CULEX_EUNKNOWN);
    lose(scene, WORLD_OK, 0, 0);
    scene->options[1].queue = scene->options[3].queue = "third";
    assert_int_equal(call(scene), CULEX_EINVAL);
    assert_non_null(strstr(scene->error.text, "to another queue than 'third'"));
    assert_int_equal(enqueued(scene, "third"), 0);
    scene->options[1].queue = scene->options[3].queue = NULL;
    assert_int_equal(call(scene), CULEX_OK);
    assert_enqueued(scene, 3, 2);
}

/* Where each run has a key, that tells: also when the ticket is too old. */
static void test_repeat_of_keyed_runs_is_told_by_their_keys(void **state)
{
    struct scene *scene = *state;
    scene->options[1].idempotency_key = "order 1";
    scene->options[3].idempotency_key = "order 3";
    lose(scene, WORLD_LOSE_REPLY, UINT_MAX, 1);
    assert_int_equal(call(scene), CULEX_EUNKNOWN);
    lose(scene, WORLD_OK, 0, 0);
    world_pass(scene->world, 11 * 60000);
    assert_int_equal(call(scene), CULEX_OK);
    assert_int_equal(scene->items[3].outcome, CULEX_ENQUEUE_DUPLICATE);
    assert_enqueued(scene, 3, 2);
}

/* Nothing is sent before all is known to be right. */
static void test_item_that_cannot_be_enqueued_holds_all(void **state)
{
    struct scene *scene = *state;
    scene->options[4].has_priority = true;
    scene->options[4].priority = 10;
    assert_int_equal(call(scene), CULEX_EINVAL);
    assert_non_null(strstr(scene->error.text, "item 4"));
    scene->options[4] = culex_enqueue_options_make();
    scene->options[4].has_ticket = true;
    assert_int_equal(culex_client_new_ticket(scene->world->client, &scene->options[4].ticket, NULL),
                     CULEX_OK);
    assert_int_equal(call(scene), CULEX_EINVAL);
    assert_non_null(strstr(scene->error.text, "takes no ticket"));
    scene->items[4].params = NULL;
    assert_int_equal(call(scene), CULEX_EINVAL);
    assert_int_equal(scene->world->enqueues, 0);
}

static void test_most_of_a_queue(void **state)
{
    enum { MOST = 200 };
    struct scene *scene = *state;
    static culex_enqueue_item items[MOST + 2];
    for (int i = 0; i < MOST + 2; i++) {
        items[i] = scene->items[0];
        items[i].options = NULL;
    }
    items[MOST].type = &scene->types[1];
    assert_int_equal(culex_client_enqueue_all(scene->world->client, items, MOST + 2, &scene->error),
                     CULEX_ELIMIT);
    assert_non_null(strstr(scene->error.text, "queue 'numbers': at most 200 runs"));
    assert_int_equal(scene->world->enqueues, 0);
    assert_int_equal(culex_client_enqueue_all(scene->world->client, items, MOST + 1, &scene->error),
                     CULEX_OK);
    assert_enqueued(scene, MOST, 1);
}

/* --- the client's hook -------------------------------------------------------------------------
 */

/* Moves all to a queue whose name is gone when it returns, with a tag of its own. */
static culex_status move_all(culex_enqueue_call *call, void *user, culex_error *error)
{
    unsigned *calls = user;
    char tag[16];
    (void)error;
    call->options->queue = "moved";
    snprintf(tag, sizeof tag, "tag%u", (*calls)++);
    return culex_enqueue_tag(call, tag, error);
}

static void test_hook_sees_each_run(void **state)
{
    struct scene *scene = *state;
    unsigned calls = 0;
    culex_run_info *run = NULL;
    assert_int_equal(culex_client_on_enqueue(scene->world->client, move_all, &calls, NULL),
                     CULEX_OK);
    assert_int_equal(call(scene), CULEX_OK);
    assert_int_equal(calls, COUNT);
    assert_int_equal(enqueued(scene, "moved"), COUNT);
    assert_int_equal(
        culex_client_get(scene->world->client, "moved", scene->items[3].id, &run, NULL), CULEX_OK);
    assert_string_equal(run->tags, "tag3");
    culex_run_info_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_run_is_in_its_queue, setup, teardown),
        cmocka_unit_test_setup_teardown(test_none_is_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_queue_without_room_for_all_takes_none, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_conflict_of_one_holds_its_queue, setup, teardown),
        cmocka_unit_test_setup_teardown(test_taken_key_holds_its_queue_where_that_is_an_error,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_call_without_an_answer_is_made_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_unknown_stays_so_until_it_is_known, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_other_items_are_no_part_of_a_repeat, setup, teardown),
        cmocka_unit_test_setup_teardown(test_repeat_goes_to_no_other_queue, setup, teardown),
        cmocka_unit_test_setup_teardown(test_repeat_of_keyed_runs_is_told_by_their_keys, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_item_that_cannot_be_enqueued_holds_all, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_most_of_a_queue, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hook_sees_each_run, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
