/* What a spool sends, and what it makes of the answers: each run once, at its time, and what
 * cannot be told stands aside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <unistd.h>

#include "client/client_private.h"
#include "client/spooling.h"
#include "proxy.h"
#include "spool_scene.h"

static uint64_t waiting_in(culex_client *client, const char *queue)
{
    culex_queue_stats stats;
    culex_error error = {0};
    if (culex_client_stats(client, queue, &stats, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return stats.count[CULEX_RUN_WAITING];
}

/* --- its keys -------------------------------------------------------------------------------- */

static void file_copy(const char *from, const char *to)
{
    char bytes[65536];
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    assert_non_null(in);
    assert_non_null(out);
    size_t len = fread(bytes, 1, sizeof bytes, in);
    assert_true(len > 0 && len < sizeof bytes);
    assert_int_equal(fwrite(bytes, 1, len, out), len);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* As by an image of a machine, or a backup that was put back. */
static void test_what_comes_into_a_copy_is_no_repeat(void **state)
{
    struct scene *scene = *state;
    char copy[128], original[128];
    redis_server_kill(&scene->server);
    culex_client_close(client_open(scene, 0));
    snprintf(original, sizeof original, "%s", scene->spool);
    snprintf(copy, sizeof copy, "%s/copy", scene->server.folder);
    file_copy(original, copy);
    scene->client = client_open(scene, 0);
    snprintf(scene->spool, sizeof scene->spool, "%s", copy);
    culex_client *other = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_SPOOLED);
    number_add(other, 0, CULEX_ENQUEUE_SPOOLED);
    assert_true(redis_server_restart(&scene->server));
    forward_all(scene->client);
    forward_all(other);
    assert_int_equal(stats_of(other).aside, 0);
    assert_int_equal(waiting_in(other, "q"), 2);
    culex_client_close(other);
}

/* --- calls without an answer ----------------------------------------------------------------- */

static void numbers_add(culex_client *client, int64_t first, size_t count)
{
    const culex_job_type type = number_type();
    struct number numbers[8];
    culex_enqueue_outcome outcomes[8];
    culex_error error = {0};
    culex_enqueue_options options = culex_enqueue_options_make();
    options.queue = "q";
    options.ret_outcomes = outcomes;
    for (size_t i = 0; i < count; i++)
        numbers[i].n = first + (int64_t)i;
    if (culex_client_enqueue_many(client, &type, numbers, sizeof *numbers, count, &options, NULL,
                                  NULL, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(outcomes[count - 1], CULEX_ENQUEUE_SPOOLED);
}

/* Enqueues while the server does not answer, which then finds the call and carries it out. */
static void numbers_add_unheard(struct scene *scene, int64_t first, size_t count)
{
    culex_client *hasty = client_open_for(scene, HASTY_MS, 0);
    culex_uuid ticket;
    assert_int_equal(culex_client_new_ticket(hasty, &ticket, NULL), CULEX_OK); /* it is connected */
    assert_int_equal(kill(scene->server.pid, SIGSTOP), 0);
    numbers_add(hasty, first, count);
    assert_int_equal(kill(scene->server.pid, SIGCONT), 0);
    culex_client_close(hasty);
}

static void test_a_call_of_which_a_part_came_in_brings_the_rest(void **state)
{
    struct scene *scene = *state;
    culex_forward_counts counts;
    scene->client = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_NEW);
    assert_int_equal(culex_client_limit(scene->client, "q", 3, NULL), CULEX_OK);
    numbers_add_unheard(scene, 1, 4);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(culex_client_forward(scene->client, 0, &counts, NULL), CULEX_EFULL);
        assert_int_equal(counts.forwarded, i == 0 ? 2 : 0);
        assert_int_equal(counts.left, 2);
        assert_int_equal(counts.aside, 0);
    }
    assert_int_equal(culex_client_limit(scene->client, "q", 0, NULL), CULEX_OK);
    forward_all(scene->client);
    claims_expect(scene, "q", 0, 5);
}

/* A call that brought nothing is not remembered: it goes as the call that it was. */
static void test_a_call_of_which_nothing_came_in_brings_all(void **state)
{
    struct scene *scene = *state;
    culex_forward_counts counts;
    scene->client = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_NEW);
    assert_int_equal(culex_client_limit(scene->client, "q", 1, NULL), CULEX_OK);
    numbers_add_unheard(scene, 1, 4);
    assert_int_equal(culex_client_forward(scene->client, 0, &counts, NULL), CULEX_EFULL);
    assert_int_equal(counts.left, 4);
    assert_int_equal(culex_client_limit(scene->client, "q", 0, NULL), CULEX_OK);
    forward_all(scene->client);
    claims_expect(scene, "q", 0, 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_begin, scene_end)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_comes_into_a_copy_is_no_repeat),
        TEST(test_a_call_of_which_a_part_came_in_brings_the_rest),
        TEST(test_a_call_of_which_nothing_came_in_brings_all),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
