/* Handlers in child processes: a run that misbehaves fails alone. */
#include "pen.h"

#include <signal.h>
#include <unistd.h>

static void test_run_is_done(void **state)
{
    struct pen pen;
    (void)state;
    pen_init(&pen, 2);
    pen_open(&pen);
    pen_expect(&pen, "nothing", 0, CULEX_EVENT_DONE);
    assert_int_not_equal(atomic_load(&zoo_board->pid), (int)getpid());
    pen_close(&pen);
}

static void test_null_write_fails_its_run_alone(void **state)
{
    struct pen pen;
    (void)state;
    pen_init(&pen, 2);
    pen_open(&pen);
    const char *text = pen_expect(&pen, "null_write", 0, CULEX_EVENT_CRASH);
    print_message("%s\n", text);
    assert_non_null(strstr(text, "killed by SIGSEGV (address not mapped) at 0x0 in null_write+"));
    pen_expect(&pen, "nothing", 0, CULEX_EVENT_DONE);
    pen_close(&pen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_is_done),
        cmocka_unit_test(test_null_write_fails_its_run_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
