/* Children whose memory is damaged, and that say anything: the supervisor stays whole, the run at
 * hand fails, the others do not notice. */
#include <sys/socket.h>
#include <unistd.h>

#include "executor/child_link.h"
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
        "a result that is too long, or follow-ups",
        "a part outside its whole",
        "parts of a result or of follow-ups out of order",
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
        "an end without its text, result or follow-ups",
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

static void run_keep(void *keeper, struct culex_run *run)
{
    *(struct culex_run **)keeper = run;
}

static void line_drop(void *keeper, const char *line, size_t len)
{
    (void)keeper, (void)line, (void)len;
}

/* A child died with runs unread, which resets its channel: the kernel tells that before what the
 * child had sent. Taken for silence, its ends would lack their texts and their runs be executed
 * a second time. */
static void test_reset_channel_is_read_to_its_end(void **state)
{
    static struct culex_child_buffers buffers;
    struct culex_mailbox mailbox = {0};
    struct culex_child_link child = {.mailbox = &mailbox, .state = CULEX_CHILD_LIVE};
    struct culex_run *run = culex__run_create(), *ended = NULL;
    struct {
        struct culex_record record;
        char text[8];
    } words = {{CULEX_RECORD_TEXT, 4, 1}, "oops"};
    struct culex_child_sink sink = {&ended, run_keep, run_keep, line_drop};
    int fds[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    child.fd = fds[0];
    culex__child_link_assign(&child, run, false);
    child.window.sent = 1;
    assert_int_equal(send(fds[0], "unread", 6, 0), 6);
    assert_int_equal(send(fds[1], &words, 20, 0), 20);
    mailbox.ends[culex__mailbox_index(1)] =
        (struct culex_mailbox_end){.seq = 1, .event = CULEX_EVENT_FAIL, .flags = CULEX_END_TEXT};
    atomic_store(&mailbox.started, 1);
    atomic_store(&mailbox.finished, 1);
    close(fds[1]);
    culex__child_link_receive(&child, &buffers, &sink, 1);
    if (child.wrong != NULL)
        fail_msg("%s", child.wrong);
    assert_ptr_equal(ended, run);
    assert_string_equal(run->end.text, "oops");
    close(fds[0]);
    culex__run_free(run);
}

enum { DEEP = 150 }; /* packets, more than are read at a go; the channel holds them */

/* The supervisor comes late: the words of a run's end lie behind much else. They are read before
 * anything is judged, or a handler that has returned would be killed for taking too long. */
static void test_end_deep_in_the_channel_is_read_at_once(void **state)
{
    static struct culex_child_buffers buffers;
    struct culex_mailbox mailbox = {0};
    struct culex_child_link child = {.mailbox = &mailbox, .state = CULEX_CHILD_LIVE};
    struct culex_run *run = culex__run_create(), *ended = NULL;
    struct {
        struct culex_record record;
        char text[8];
    } line = {{CULEX_RECORD_LOG, 5, 1}, "line\n"}, words = {{CULEX_RECORD_TEXT, 4, 1}, "oops"};
    struct culex_child_sink sink = {&ended, run_keep, run_keep, line_drop};
    int fds[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    child.fd = fds[0];
    culex__child_link_assign(&child, run, false);
    child.window.sent = 1;
    for (int i = 0; i < DEEP; i++)
        assert_int_equal(send(fds[1], &line, 21, MSG_DONTWAIT), 21);
    assert_int_equal(send(fds[1], &words, 20, MSG_DONTWAIT), 20);
    mailbox.ends[culex__mailbox_index(1)] =
        (struct culex_mailbox_end){.seq = 1, .event = CULEX_EVENT_FAIL, .flags = CULEX_END_TEXT};
    atomic_store(&mailbox.started, 1);
    atomic_store(&mailbox.finished, 1);
    culex__child_link_receive(&child, &buffers, &sink, 1);
    assert_null(child.wrong);
    assert_ptr_equal(ended, run);
    assert_string_equal(run->end.text, "oops");
    close(fds[0]);
    close(fds[1]);
    culex__run_free(run);
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
        cmocka_unit_test(test_end_deep_in_the_channel_is_read_at_once),
        cmocka_unit_test(test_reset_channel_is_read_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
