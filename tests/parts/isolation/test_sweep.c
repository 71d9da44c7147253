/* The n-th thing that is asked of the kernel is refused, once or from then on, for every n: no run
 * is lost, nothing hangs, nothing is left behind. */
#include "pen.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* Shared with the zygote, which forks by the same table. */
struct fault {
    atomic_int left; /* calls until one is refused */
    atomic_int refused;
    atomic_bool is_sticky;
};

static struct fault *fault;

static int refuse(void *self, const char *call)
{
    (void)self;
    (void)call;
    int left = atomic_fetch_sub(&fault->left, 1);
    bool is_due = left == 0 || (left < 0 && atomic_load(&fault->is_sticky));
    if (is_due)
        atomic_fetch_add(&fault->refused, 1);
    return is_due ? EMFILE : 0;
}

/* The scene: a few runs, one of them a crash, in an executor that may not come up at all. Returns
 * false when it did not. */
static bool scene(struct pen *pen, size_t *ret_released)
{
    static const char *const names[] = {"nothing", "null_write", "echoes", "fails", "nothing"};
    enum { COUNT = 5 };
    struct culex_run *runs[COUNT];
    culex_error error = {0};
    culex_status status = pen_try_open(pen, &error);
    if (status != CULEX_OK) {
        assert_true(status == CULEX_ENOMEM ||
                    (status == CULEX_EUSAGE && pen->config.cgroup != NULL));
        assert_true(strlen(error.text) > 10);
        return false;
    }
    for (int i = 0; i < COUNT; i++) {
        runs[i] = pen_make(pen, names[i], 1, "x");
        runs[i]->terms.is_suspect = i == 4;
        pen_hand_over(pen, runs[i]);
    }
    PEN_AWAIT(pen, pen->ended_count == COUNT);
    static const enum culex_run_event ends[] = {
        CULEX_EVENT_DONE, CULEX_EVENT_CRASH, CULEX_EVENT_DONE, CULEX_EVENT_FAIL, CULEX_EVENT_DONE};
    for (int i = 0; i < COUNT; i++) {
        *ret_released += runs[i]->end.event == CULEX_EVENT_RELEASE;
        if (runs[i]->end.event != CULEX_EVENT_RELEASE)
            assert_int_equal(runs[i]->end.event, ends[i]);
    }
    return true;
}

/* Returns false when the scene was over before the n-th call. */
static bool sweep_step(int n, bool is_sticky)
{
    struct pen pen;
    size_t released = 0;
    atomic_store(&fault->left, n);
    atomic_store(&fault->refused, 0);
    atomic_store(&fault->is_sticky, is_sticky);
    pen_init(&pen, 2);
    pen.effects = (struct culex_process_effects){NULL, refuse};
    bool is_open = scene(&pen, &released);
    bool is_hit = atomic_load(&fault->refused) > 0;
    atomic_store(&fault->left, 1000000);
    atomic_store(&fault->is_sticky, false);
    if (!is_open)
        pen.executor = NULL;
    /* One refusal is made good by trying again. */
    if (!is_sticky)
        assert_int_equal(released, 0);
    pen_close(&pen);
    return is_hit;
}

static void sweep(bool is_sticky)
{
    int n = 0;
    fault = mmap(NULL, sizeof *fault, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(fault != MAP_FAILED);
    while (n < 200 && sweep_step(n, is_sticky))
        n++;
    print_message("%d calls refused in turn\n", n);
    assert_in_range(n, 15, 199);
    munmap(fault, sizeof *fault);
}

static void test_one_refused_call_loses_no_run(void **state)
{
    (void)state;
    sweep(false);
}

static void test_refusals_for_good_give_the_runs_back(void **state)
{
    (void)state;
    sweep(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_refused_call_loses_no_run),
        cmocka_unit_test(test_refusals_for_good_give_the_runs_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
