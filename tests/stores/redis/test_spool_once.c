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

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_begin, scene_end)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_comes_into_a_copy_is_no_repeat),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
