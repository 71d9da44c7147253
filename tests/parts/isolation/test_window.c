/* The runs that one child holds, what is sent of them, and what its mailbox tells the zygote: no
 * process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "executor/children.h"

enum { COUNT = CULEX_BATCH_MAX };

struct hold {
    struct culex_child_link child;
    struct culex_mailbox mailbox;
    struct culex_run *runs[COUNT];
    size_t returned;
};

static int setup(void **state)
{
    struct hold *hold = calloc(1, sizeof *hold);
    assert_non_null(hold);
    hold->child.fd = -1;
    hold->child.mailbox = &hold->mailbox;
    for (size_t i = 0; i < COUNT; i++) {
        hold->runs[i] = culex__run_create();
        atomic_store(&hold->runs[i]->lease_ns, 1000 + (int64_t)i);
    }
    *state = hold;
    return 0;
}

static int teardown(void **state)
{
    struct hold *hold = *state;
    for (size_t i = 0; i < COUNT; i++)
        culex__run_free(hold->runs[i]);
    free(hold);
    return 0;
}

static void assign_all(struct hold *hold)
{
    for (size_t i = 0; i < COUNT; i++) {
        assert_false(culex__window_is_full(&hold->child.window));
        culex__child_link_assign(&hold->child, hold->runs[i], false);
    }
}

static void returned_take(void *self, struct culex_run *run)
{
    struct hold *hold = self;
    assert_ptr_equal(run, hold->runs[COUNT - 1 - hold->returned]); /* newest first */
    hold->returned++;
}

static void test_child_takes_as_many_runs_as_a_step_claims(void **state)
{
    struct hold *hold = *state;
    const struct culex_child_sink sink = {.self = hold, .returned = returned_take};
    assign_all(hold);
    culex__child_link_take_back(&hold->child, &sink);
    assert_int_equal(hold->returned, COUNT);
}

static size_t leases_of(const struct culex_mailbox *mailbox)
{
    size_t count = 0;
    for (size_t i = 0; i < CULEX_WINDOW; i++)
        count += atomic_load(&mailbox->lease_ns[i]) != 0;
    return count;
}

/* It looks at none where the count is 0. */
static void test_leases_are_counted_for_the_zygote(void **state)
{
    struct hold *hold = *state;
    const struct culex_child_sink sink = {.self = hold, .returned = returned_take};
    assign_all(hold);
    assert_int_equal(leases_of(&hold->mailbox), COUNT);
    assert_int_equal(atomic_load(&hold->mailbox.lease_count), COUNT);
    culex__child_link_take_back(&hold->child, &sink);
    assert_int_equal(leases_of(&hold->mailbox), 0);
    assert_int_equal(atomic_load(&hold->mailbox.lease_count), 0);
}

static void skip_first(struct hold *hold)
{
    hold->child.window.sent = hold->child.window.assigned;
    hold->mailbox.ends[culex__mailbox_index(1)] =
        (struct culex_mailbox_end){.seq = 1, .flags = CULEX_END_SKIPPED};
    atomic_store(&hold->mailbox.started, 1);
    atomic_store(&hold->mailbox.finished, 1);
}

static void first_take(void *self, struct culex_run *run)
{
    struct hold *hold = self;
    assert_ptr_equal(run, hold->runs[0]);
    hold->returned++;
}

static void test_lease_of_a_run_that_is_back_counts_no_more(void **state)
{
    struct hold *hold = *state;
    const struct culex_child_sink sink = {.self = hold, .returned = first_take};
    assign_all(hold);
    skip_first(hold);
    culex__child_link_receive(&hold->child, NULL, &sink, 1);
    assert_int_equal(hold->returned, 1);
    assert_int_equal(leases_of(&hold->mailbox), COUNT - 1);
    assert_int_equal(atomic_load(&hold->mailbox.lease_count), COUNT - 1);
}

static void test_run_that_is_asked_to_stop_is_known_until_the_child_is_idle(void **state)
{
    struct hold *hold = *state;
    struct culex_window *window = &hold->child.window;
    struct culex_window_entry *first = culex__window_add(window, hold->runs[0]);
    assert_false(window->has_asked);
    culex__window_ask(window, first, 2000, 3000);
    culex__window_ask(window, first, 2500, 2500); /* may only hurry */
    assert_int_equal(first->term_ns, 2000);
    assert_int_equal(first->kill_ns, 2500);
    culex__window_add(window, hold->runs[1]);
    assert_true(window->has_asked);
    culex__window_unassign(window);
    culex__window_unassign(window);
    culex__window_add(window, hold->runs[1]);
    assert_false(window->has_asked);
}

/* A handler has begun by the time at which it was seen at work: a child that names a later one
 * would have the timeout count from there. */
static void test_start_that_a_child_names_is_none_after_it_was_seen(void **state)
{
    struct hold *hold = *state;
    const struct culex_child_sink sink = {.self = hold, .ended = first_take};
    const struct {
        int64_t seen_ns, told_ns, is_ns;
    } rows[] = {{0, 900, 900}, {500, 400, 400}, {500, 900, 500}, {500, INT64_MAX, 500}};
    for (uint64_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        culex__child_link_assign(&hold->child, hold->runs[0], false);
        hold->child.window.sent = i + 1;
        atomic_store(&hold->runs[0]->started_ns, rows[i].seen_ns);
        hold->mailbox.ends[culex__mailbox_index(i + 1)] = (struct culex_mailbox_end){
            .seq = i + 1, .event = CULEX_EVENT_DONE, .started_ns = rows[i].told_ns};
        atomic_store(&hold->mailbox.started, i + 1);
        atomic_store(&hold->mailbox.finished, i + 1);
        culex__child_link_receive(&hold->child, NULL, &sink, 1000);
        assert_null(hold->child.wrong);
        assert_int_equal(hold->returned, i + 1);
        assert_int_equal(atomic_load(&hold->runs[0]->started_ns), rows[i].is_ns);
    }
}

/* It was at work on the run before the handler began, for its line in the log was waited for. */
static void test_end_is_when_the_handler_ended(void **state)
{
    struct hold *hold = *state;
    const struct culex_child_sink sink = {.self = hold, .ended = first_take};
    const struct {
        int64_t told_ns, took_ns, is_ns;
    } rows[] = {{700, 200, 900}, {0, 200, 0}, {700, INT64_MAX, 0}, {INT64_MAX, 0, INT64_MAX}};
    for (uint64_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        culex__child_link_assign(&hold->child, hold->runs[0], false);
        hold->child.window.sent = i + 1;
        atomic_store(&hold->runs[0]->started_ns, 500);
        hold->mailbox.ends[culex__mailbox_index(i + 1)] =
            (struct culex_mailbox_end){.seq = i + 1,
                                       .event = CULEX_EVENT_DONE,
                                       .started_ns = rows[i].told_ns,
                                       .duration_ns = rows[i].took_ns};
        atomic_store(&hold->mailbox.started, i + 1);
        atomic_store(&hold->mailbox.finished, i + 1);
        culex__child_link_receive(&hold->child, NULL, &sink, 1000);
        assert_null(hold->child.wrong);
        assert_int_equal(hold->runs[0]->end.ended_ns, rows[i].is_ns);
    }
}

/* Its child was seen to begin it, and skipped it in that moment. */
static void test_run_that_goes_elsewhere_has_not_begun(void **state)
{
    struct hold *hold = *state;
    struct culex_children *children = calloc(1, sizeof *children);
    assert_non_null(children);
    atomic_store(&hold->runs[0]->started_ns, 500);
    culex__children_return(children, hold->runs[0]);
    assert_ptr_equal(culex__run_list_pop(&children->to_start), hold->runs[0]);
    assert_int_equal(atomic_load(&hold->runs[0]->started_ns), 0);
    free(children);
}

static bool is_zero(const char *from, const char *to)
{
    while (from < to && *from == 0)
        from++;
    return from >= to;
}

/* The buffer is that of all children: what stands in it is not for each of them. */
static void test_nothing_is_sent_that_was_not_written(void **state)
{
    enum { HEAD = sizeof(struct culex_record) + sizeof(struct culex_record_run) };
    static struct culex_child_buffers buffers;
    static char packet[CULEX_PACKET_MAX];
    const struct culex_job job = {0};
    const struct culex_handler_config config = {.jobs = &job, .job_count = 1};
    struct hold *hold = *state;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
    hold->child.fd = fds[0];
    hold->child.state = CULEX_CHILD_LIVE;
    memset(&buffers, 0xa5, sizeof buffers);
    assert_true(culex__run_set_payload(hold->runs[0], "abc", 3));
    culex__child_link_assign(&hold->child, hold->runs[0], true);
    culex__child_link_flush(&hold->child, &config, &buffers);
    ssize_t len = recv(fds[1], packet, sizeof packet, MSG_DONTWAIT);
    assert_int_equal(len, HEAD + culex__record_padded(3));
    assert_memory_equal(packet + HEAD, "abc", 3);
    assert_true(is_zero(packet + HEAD + 3, packet + len));
    const char *is_last =
        packet + sizeof(struct culex_record) + offsetof(struct culex_record_run, is_last);
    assert_int_equal(*is_last, 1);
    assert_true(is_zero(is_last + 1, packet + HEAD));
    close(fds[0]);
    close(fds[1]);
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(test_child_takes_as_many_runs_as_a_step_claims),
        UNIT(test_nothing_is_sent_that_was_not_written),
        UNIT(test_leases_are_counted_for_the_zygote),
        UNIT(test_lease_of_a_run_that_is_back_counts_no_more),
        UNIT(test_start_that_a_child_names_is_none_after_it_was_seen),
        UNIT(test_end_is_when_the_handler_ended),
        UNIT(test_run_that_goes_elsewhere_has_not_begun),
        UNIT(test_run_that_is_asked_to_stop_is_known_until_the_child_is_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
