/* engine/test_table.c - which tables of a store may stand behind the common one. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "store/store.h"

static culex_status now(struct culex_store *store, int64_t *ret_now_ms, culex_error *error)
{
    (void)store, (void)error;
    *ret_now_ms = 1;
    return CULEX_OK;
}

static culex_status step(struct culex_store *store, const struct culex_step *request,
                         struct culex_step_reply *ret_reply, culex_error *error)
{
    (void)store, (void)request, (void)ret_reply, (void)error;
    return CULEX_OK;
}

static culex_status list(struct culex_store *store, const char *queue,
                         const culex_list_filter *filter, culex_list_cursor cursor, size_t limit,
                         struct culex_list_reply *ret_reply, culex_error *error)
{
    (void)store, (void)queue, (void)filter, (void)cursor, (void)limit, (void)ret_reply, (void)error;
    return CULEX_OK;
}

static culex_status wake_arm(struct culex_store *store, const char *const *queues, size_t count,
                             int64_t timeout_ms, int *ret_fd, culex_error *error)
{
    (void)store, (void)queues, (void)count, (void)timeout_ms, (void)ret_fd, (void)error;
    return CULEX_OK;
}

static culex_status wake_take(struct culex_store *store, bool *ret_woken, culex_error *error)
{
    (void)store, (void)ret_woken, (void)error;
    return CULEX_OK;
}

static void step_release(struct culex_store *store, struct culex_step_reply *reply)
{
    (void)store, (void)reply;
}

static void list_release(struct culex_store *store, struct culex_list_reply *reply)
{
    (void)store, (void)reply;
}

static void wake_disarm(struct culex_store *store)
{
    (void)store;
}

static void store_close(struct culex_store *store)
{
    (void)store;
}

static const struct culex_store_ops whole[] = {
    {.now = now, .close = store_close},
    {.now = now, .close = store_close, .step = step, .step_release = step_release},
    {.now = now, .close = store_close, .list = list, .list_release = list_release},
    {.now = now,
     .close = store_close,
     .wake_arm = wake_arm,
     .wake_take = wake_take,
     .wake_disarm = wake_disarm},
};

static const struct culex_store_ops torn[] = {
    {.now = now},
    {.close = store_close},
    {.now = now, .close = store_close, .step = step},
    {.now = now, .close = store_close, .list = list},
    {.now = now, .close = store_close, .wake_arm = wake_arm, .wake_take = wake_take},
    {.now = now, .close = store_close, .wake_arm = wake_arm, .wake_disarm = wake_disarm},
};

/* How a process ends that begins a store with `table`. */
static int end_of_process(const struct culex_store_ops *table)
{
    int end = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct culex_store store;
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        culex__store_init(&store, table, NULL, NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &end, 0), child);
    return end;
}

static void test_whole_table_begins_a_store(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        assert_int_equal(end_of_process(&whole[i]), 0);
}

static void test_verb_without_its_counterpart_is_asserted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof torn / sizeof torn[0]; i++) {
        int end = end_of_process(&torn[i]);
        if (!WIFSIGNALED(end) || WTERMSIG(end) != SIGABRT)
            fail_msg("table %zu begins a store", i);
    }
}

static void test_verb_that_is_left_out_is_unsupported(void **state)
{
    struct culex_store store;
    culex_queue_stats stats;
    int64_t now_ms = 0;
    (void)state;
    culex__store_init(&store, &whole[0], NULL, NULL);
    assert_int_equal(store.ops->now(&store, &now_ms, NULL), CULEX_OK);
    assert_int_equal(now_ms, 1);
    assert_int_equal(store.ops->stats(&store, "q", &stats, NULL), CULEX_EUNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_table_begins_a_store),
        cmocka_unit_test(test_verb_without_its_counterpart_is_asserted),
        cmocka_unit_test(test_verb_that_is_left_out_is_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
