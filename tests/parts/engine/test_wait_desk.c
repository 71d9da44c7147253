/* The desk where the threads of a client wait for ends of runs, alone: a store that tells what it
 * is told to, and a clock that stands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/wait_desk.h"
#include "platform/descriptor.h"
#include "platform/env.h"
#include "platform/events.h"
#include "store/store.h"

enum { START_MS = 1000000 };

struct world {
    struct culex_env env;
    struct culex_store store;
    struct culex_wait_desk desk;
    pthread_mutex_t lock; /* guards the next four */
    pthread_cond_t news;
    int64_t now_ms;
    unsigned clock_looks;
    int polled_ms; /* as long as the newest poll was to last */

    int bell_fd; /* what the store gives to be polled */
    bool is_word_there;
    culex_status refusal; /* of what is armed, the next time that it is asked */
    unsigned arms, disarms;
    size_t queue_count; /* that it is armed for */
    char queues[256];   /* the first of them, in their order */
    char log[4096];
};

static int64_t fake_boottime_ns(void *self)
{
    struct world *world = self;
    pthread_mutex_lock(&world->lock);
    int64_t now_ms = world->now_ms;
    world->clock_looks++;
    pthread_cond_broadcast(&world->news);
    pthread_mutex_unlock(&world->lock);
    return now_ms * 1000000;
}

static int64_t fake_clock_ms(void *self)
{
    return ((struct world *)self)->now_ms;
}

/* Nothing comes. */
static int fake_poll(void *self, struct pollfd *fds, nfds_t count, int timeout_ms)
{
    struct world *world = self;
    int ready = count > 0 ? poll(fds, count, 0) : 0;
    if (ready > 0)
        return ready;
    pthread_mutex_lock(&world->lock);
    world->polled_ms = timeout_ms;
    world->now_ms += timeout_ms;
    pthread_mutex_unlock(&world->lock);
    return 0;
}

static struct world *world_of(struct culex_store *store)
{
    return store->env->self;
}

static culex_status fake_take(struct culex_store *store, bool *ret_woken, culex_error *error)
{
    struct world *world = world_of(store);
    culex_status status = world->refusal;
    *ret_woken = status == CULEX_OK && world->is_word_there;
    world->is_word_there = false;
    world->refusal = CULEX_OK;
    if (status != CULEX_OK && error != NULL)
        snprintf(error->text, sizeof error->text, "the store says no");
    return status;
}

static culex_status fake_arm(struct culex_store *store, const char *const *queues, size_t count,
                             int64_t timeout_ms, int *ret_fd, culex_error *error)
{
    struct world *world = world_of(store);
    size_t len = 0;
    (void)timeout_ms, (void)error;
    world->arms++;
    world->queue_count = count;
    world->queues[0] = '\0';
    for (size_t i = 0; i < count && len < sizeof world->queues; i++)
        len += (size_t)snprintf(world->queues + len, sizeof world->queues - len, "%s ", queues[i]);
    *ret_fd = world->bell_fd;
    return CULEX_OK;
}

static void fake_disarm(struct culex_store *store)
{
    world_of(store)->disarms++;
}

static void fake_write(void *self, const char *line, size_t len)
{
    struct world *world = self;
    size_t end = strlen(world->log);
    if (len < sizeof world->log - end)
        memcpy(world->log + end, line, len);
}

static const struct culex_store_ops fake_ops = {
    .wake_take = fake_take, .wait_arm = fake_arm, .wake_disarm = fake_disarm};

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->env = (struct culex_env){.self = world,
                                    .clock_ms = fake_clock_ms,
                                    .boottime_ns = fake_boottime_ns,
                                    .poll = fake_poll};
    world->store = (struct culex_store){.ops = &fake_ops, .env = &world->env};
    world->now_ms = START_MS;
    world->bell_fd = culex__bell_open();
    pthread_mutex_init(&world->lock, NULL);
    pthread_cond_init(&world->news, NULL);
    culex__wait_desk_init(&world->desk, &world->env);
    world->desk.log.sink = (struct culex_log_sink){.write = fake_write, .self = world};
    assert_int_equal(culex__wait_desk_open(&world->desk, NULL), CULEX_OK);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    culex__wait_desk_release(&world->desk, true);
    pthread_cond_destroy(&world->news);
    pthread_mutex_destroy(&world->lock);
    culex__descriptor_close(world->bell_fd);
    free(world);
    return 0;
}

static void join(struct world *world, const char *queue)
{
    assert_int_equal(culex__wait_desk_join(&world->desk, queue, NULL), CULEX_OK);
}

static uint64_t arm(struct world *world, bool is_leader)
{
    uint64_t seen = 0;
    assert_int_equal(culex__wait_desk_arm(&world->desk, &world->store, is_leader, &seen, NULL),
                     CULEX_OK);
    return seen;
}

static bool leader_is_rung(const struct world *world)
{
    struct pollfd bell = {.fd = world->desk.bell_fd, .events = POLLIN};
    return poll(&bell, 1, 0) == 1;
}

/* --- the leader --------------------------------------------------------------------------------
 */

struct follower {
    struct world *world;
    bool is_leader;
};

static void *follow(void *arg)
{
    struct follower *follower = arg;
    struct world *world = follower->world;
    culex__wait_desk_sleep(&world->desk, &world->env, 0, 5000, &follower->is_leader);
    culex__wait_desk_leave(&world->desk, follower->is_leader);
    return NULL;
}

static void test_follower_who_leads_then_polls_no_longer_than_it_has(void **state)
{
    struct world *world = *state;
    struct follower follower = {.world = world};
    pthread_t thread;
    join(world, "a");
    arm(world, false);
    world->desk.has_leader = true;
    unsigned looks = world->clock_looks;
    assert_int_equal(pthread_create(&thread, NULL, follow, &follower), 0);
    pthread_mutex_lock(&world->lock);
    while (world->clock_looks == looks) /* it has reckoned when its time is over */
        pthread_cond_wait(&world->news, &world->lock);
    world->now_ms += 4000;
    pthread_mutex_unlock(&world->lock);
    culex__wait_desk_leave(&world->desk, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(follower.is_leader);
    assert_int_equal(world->polled_ms, 1000);
    assert_int_equal(world->now_ms, START_MS + 5000);
}

/* The word is gone from the descriptor by then: its poll would sleep on. */
static void test_leader_is_rung_when_another_takes_the_word(void **state)
{
    struct world *world = *state;
    bool is_leader = false;
    join(world, "a");
    uint64_t seen = arm(world, false);
    world->desk.has_leader = true;
    culex__bell_take(world->desk.bell_fd);
    world->is_word_there = true;
    assert_int_equal(arm(world, false), seen + 1);
    assert_true(leader_is_rung(world));
    world->desk.has_leader = false;
    culex__wait_desk_sleep(&world->desk, &world->env, seen, 5000, &is_leader);
    assert_int_equal(world->now_ms, START_MS);
}

/* A connection that was made anew may have the number of the one before. */
static void test_leader_is_rung_whatever_the_number_of_the_descriptor(void **state)
{
    struct world *world = *state;
    join(world, "a");
    arm(world, false);
    culex__bell_take(world->desk.bell_fd);
    arm(world, false);
    assert_true(leader_is_rung(world));
    culex__bell_take(world->desk.bell_fd);
    arm(world, true);
    assert_false(leader_is_rung(world)); /* it polls next what it was given */
}

/* --- what the store is armed for ---------------------------------------------------------------
 */

static void test_queue_that_nobody_waits_for_is_dropped(void **state)
{
    struct world *world = *state;
    join(world, "a");
    join(world, "b");
    join(world, "b");
    arm(world, true);
    assert_string_equal(world->queues, "a b ");
    culex__wait_desk_part(&world->desk, "a");
    culex__wait_desk_part(&world->desk, "b");
    arm(world, true);
    assert_string_equal(world->queues, "b ");
}

static void test_queue_that_comes_back_costs_nothing(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < 3; i++) {
        join(world, "a");
        arm(world, true);
        culex__wait_desk_part(&world->desk, "a");
    }
    assert_int_equal(world->disarms, 0);
    world->is_word_there = true;
    arm(world, true);
    join(world, "b"); /* what was armed for a has told its word, and is over */
    world->is_word_there = true;
    arm(world, true);
    assert_string_equal(world->queues, "b ");
}

/* What was armed may have had a word for others, which is lost with it. */
static void test_all_look_when_the_queues_change(void **state)
{
    struct world *world = *state;
    join(world, "a");
    uint64_t seen = arm(world, true);
    join(world, "b");
    assert_int_equal(arm(world, false), seen + 1);
    assert_int_equal(world->disarms, 1);
    assert_string_equal(world->queues, "a b ");
    assert_int_equal(arm(world, false), seen + 1);
    assert_int_equal(world->disarms, 1);
}

static void many_join(struct world *world, char letter)
{
    char name[16];
    for (int i = 0; i < CULEX_STORE_BATCH_MAX; i++) {
        snprintf(name, sizeof name, "%c%d", letter, i);
        join(world, name);
    }
}

static void many_part(struct world *world, char letter)
{
    char name[16];
    for (int i = 0; i < CULEX_STORE_BATCH_MAX; i++) {
        snprintf(name, sizeof name, "%c%d", letter, i);
        culex__wait_desk_part(&world->desk, name);
    }
}

static void test_thousand_queues_then_a_thousand_others(void **state)
{
    struct world *world = *state;
    culex_error error = {0};
    many_join(world, 'a');
    arm(world, true);
    assert_int_equal(world->queue_count, 1000);
    assert_int_equal(culex__wait_desk_join(&world->desk, "b", &error), CULEX_ELIMIT);
    many_part(world, 'a');
    many_join(world, 'b');
    arm(world, true);
    assert_int_equal(world->queue_count, 1000);
    assert_memory_equal(world->queues, "b0 b1 ", 6);
}

/* --- a store that refuses to wake --------------------------------------------------------------
 */

static void test_refused_wake_is_no_spin(void **state)
{
    struct world *world = *state;
    bool is_leader = false;
    unsigned looks = 0;
    join(world, "a");
    while (world->now_ms < START_MS + 60000) {
        uint64_t seen = arm(world, is_leader);
        assert_null(looks == 1 ? strstr(world->log, "the store says no") : NULL);
        culex__wait_desk_tell(&world->desk);
        if (world->desk.fd >= 0) {
            world->refusal = CULEX_EDENIED;
            culex__bell_ring(world->bell_fd);
        }
        culex__wait_desk_sleep(&world->desk, &world->env, seen, 5000, &is_leader);
        culex__bell_take(world->bell_fd);
        assert_true(++looks < 1000);
    }
    assert_in_range(looks, 60, 122);
    assert_in_range(world->arms, 30, 61);
    const char *said = strstr(world->log, "the store says no");
    assert_non_null(said);
    assert_null(strstr(said + 1, "the store says no"));
}

/* Meanwhile others look, too, and none of them arms. */
static void test_refused_wake_is_no_spin_of_many(void **state)
{
    struct world *world = *state;
    join(world, "a");
    arm(world, true);
    world->refusal = CULEX_EDENIED;
    uint64_t seen = arm(world, true);
    for (int i = 0; i < 9; i++)
        assert_int_equal(arm(world, false), seen);
    assert_int_equal(world->arms, 1);
    assert_int_equal(world->desk.fd, -1);
    world->now_ms += 1000;
    arm(world, false);
    assert_int_equal(world->arms, 2);
}

/* A connection that ends says nothing: it comes again. */
static void test_lost_connection_is_not_told(void **state)
{
    struct world *world = *state;
    join(world, "a");
    uint64_t seen = arm(world, true);
    world->refusal = CULEX_EUNKNOWN;
    assert_int_equal(arm(world, true), seen + 1); /* a word may be lost with it */
    assert_string_equal(world->log, "");
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(test_follower_who_leads_then_polls_no_longer_than_it_has),
        IN_WORLD(test_leader_is_rung_when_another_takes_the_word),
        IN_WORLD(test_leader_is_rung_whatever_the_number_of_the_descriptor),
        IN_WORLD(test_queue_that_nobody_waits_for_is_dropped),
        IN_WORLD(test_queue_that_comes_back_costs_nothing),
        IN_WORLD(test_all_look_when_the_queues_change),
        IN_WORLD(test_thousand_queues_then_a_thousand_others),
        IN_WORLD(test_refused_wake_is_no_spin),
        IN_WORLD(test_refused_wake_is_no_spin_of_many),
        IN_WORLD(test_lost_connection_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
