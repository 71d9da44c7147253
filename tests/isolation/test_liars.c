/* Children whose memory is damaged, and that say anything: the supervisor stays whole, the run at
 * hand fails, the others do not notice. */
#include "pen.h"

static int finish(void **state)
{
    struct pen *pen = *state;
    pen_close(pen);
    free(pen);
    return 0;
}

static struct pen *pen_begin(void **state)
{
    struct pen *pen = malloc(sizeof *pen);
    assert_non_null(pen);
    pen_init(pen, 2);
    pen_open(pen);
    *state = pen;
    return pen;
}

static void lie_expect(struct pen *pen, int64_t which, const char *part)
{
    const char *text = pen_expect(pen, "lies", which, CULEX_EVENT_CRASH);
    if (strstr(text, part) == NULL)
        print_message("lie %d: %s\n", (int)which, text);
    assert_non_null(strstr(text, part));
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
}

static void test_malformed_messages_kill_their_child(void **state)
{
    static const char *const parts[] = {
        "a packet of the wrong length",
        "a record that does not fill its packet",
        "a record of an unknown type",
        "a log line that is none",
        "a log line that is none",
        "a text that is too long",
        "a message about a run that it does not have",
        "a text that is too long",
        "a negative time",
        "a result that is too long",
        "a part outside its result",
        "parts of a result out of order",
        "a record of an unknown type",
        "a packet that is too long",
    };
    struct pen *pen = pen_begin(state);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        lie_expect(pen, (int64_t)i, parts[i]);
}

/* Row 31: heap corruption that does not crash may change the only page that is shared. */
static void test_lies_in_the_mailbox_kill_their_child(void **state)
{
    static const char *const parts[] = {
        "ends of runs that it does not have",
        "ends of runs that it does not have",
        "the end of another run",
        "an end of an unknown kind",
        "an end with a negative time",
        "an end without its text or result",
    };
    struct pen *pen = pen_begin(state);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        lie_expect(pen, 100 + (int64_t)i, parts[i]);
    lie_expect(pen, 106, "killed by SIGSEGV");
    lie_expect(pen, 107, "its memory is damaged");
}

/* Runs that wait behind the liar are not charged for it. */
static void test_liar_is_charged_alone(void **state)
{
    struct pen *pen = pen_begin(state);
    enum { COUNT = 60 };
    struct culex_run *runs[COUNT];
    for (int i = 0; i < 200; i++)
        pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    pen_forget(pen);
    for (int i = 0; i < COUNT; i++)
        runs[i] = pen_make(pen, i == 0 ? "lies" : "nothing", 100, NULL);
    pen->executor->ops->submit(pen->executor, runs, COUNT);
    PEN_AWAIT(pen, pen->ended_count == COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(runs[i]->end.event, i == 0 ? CULEX_EVENT_CRASH : CULEX_EVENT_DONE);
}

#define LIE_TEST(name) cmocka_unit_test_teardown(name, finish)

/* An argument is a pattern: only tests with such a name run. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        LIE_TEST(test_malformed_messages_kill_their_child),
        LIE_TEST(test_lies_in_the_mailbox_kill_their_child),
        LIE_TEST(test_liar_is_charged_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
