/* What passes between a handler in its own process and the supervisor. */
#include "pen.h"

#include <culex/worker.h>
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"

static struct pen *pen_new(void **state, unsigned count)
{
    struct pen *pen = malloc(sizeof *pen);
    assert_non_null(pen);
    pen_init(pen, count);
    *state = pen;
    return pen;
}

static struct pen *pen_begin(void **state, unsigned count)
{
    struct pen *pen = pen_new(state, count);
    pen_open(pen);
    return pen;
}

static int finish(void **state)
{
    struct pen *pen = *state;
    if (pen == NULL)
        return 0; /* the test closed it itself */
    pen_close(pen);
    free(pen);
    return 0;
}

static void test_failure_text_passes(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    const struct culex_run *run = pen_submit(pen, "fails", 0, "gr\xc3\xbc\xc3\x9f");
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_FAIL);
    assert_string_equal(run->end.text, "no: gr\xc3\xbc\xc3\x9f");
    assert_true(atomic_load(&run->started_ns) > 0);
}

/* Row 36: error text is cut and cleaned wherever it comes from. */
static void test_long_hostile_failure_text_is_cut_and_cleaned(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    const char *text = pen_expect(pen, "fails_long", 0, CULEX_EVENT_FAIL);
    assert_int_equal(strlen(text), CULEX_ERROR_TEXT_MAX);
    assert_int_equal(text[10], '?');
    assert_int_equal(text[20], '?');
}

static void test_discard_and_snooze_pass(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    assert_string_equal(pen_expect(pen, "discards", 0, CULEX_EVENT_DISCARD), "never: ");
    const struct culex_run *run = pen_submit(pen, "snoozes", 1500, NULL);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_RELEASE);
    assert_true(run->end.is_snoozed);
    assert_int_equal(run->end.delay_ms, 1500);
    run = pen_submit(pen, "snoozes", 0, NULL);
    pen_await(pen, run);
    assert_int_equal(run->end.delay_ms, 1000);
}

static void test_handler_knows_its_run(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    struct culex_run *run = pen_make(pen, "knows_itself", 0, NULL);
    run->facts.attempt = 3;
    run->facts.counters.failures = 2;
    pen_hand_over(pen, run);
    pen_await(pen, run);
    assert_string_equal(run->end.text, "01000000-0000-0000-0000-000000000000 3 2 zoo.knows_itself "
                                       "zoo token-1 1234000000 no secret");
}

static void test_undecodable_payload_is_discarded(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    struct culex_run *run = pen_make(pen, "nothing", 0, NULL);
    assert_true(culex__run_set_payload(run, "{\"n\":\"x\"}", 9));
    pen_hand_over(pen, run);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_DISCARD);
    assert_non_null(strstr(run->end.text, "the payload cannot be decoded: n"));
}

/* A MiB there, a MiB back. */
static void test_largest_payload_and_result_pass(void **state)
{
    struct pen *pen = pen_begin(state, 2);
    size_t len = CULEX_PAYLOAD_MAX - 17;
    char *text = malloc(len + 1);
    assert_non_null(text);
    for (size_t i = 0; i < len; i++)
        text[i] = (char)('a' + i % 26);
    text[len] = '\0';
    struct culex_run *runs[6];
    for (int i = 0; i < 6; i++)
        runs[i] = pen_submit(pen, "echoes", 1, text);
    for (int i = 0; i < 6; i++) {
        pen_await(pen, runs[i]);
        assert_int_equal(runs[i]->end.event, CULEX_EVENT_DONE);
        assert_true(runs[i]->has_result);
        assert_true(runs[i]->payload_len > CULEX_PAYLOAD_MAX - 4);
        assert_int_equal(runs[i]->result.len, runs[i]->payload_len);
        assert_memory_equal(runs[i]->result.data, runs[i]->payload, runs[i]->payload_len);
    }
    free(text);
}

/* The executor does not rely on who hands runs over: the child must not read beyond what it has. */
static void test_payload_over_the_limit_is_refused_by_the_decoder(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    size_t len = 3 * CULEX_PAYLOAD_MAX;
    char *payload = malloc(len);
    assert_non_null(payload);
    memset(payload, ' ', len);
    struct culex_run *run = pen_make(pen, "nothing", 0, NULL);
    assert_true(culex__run_set_payload(run, payload, len));
    free(payload);
    pen_hand_over(pen, run);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_DISCARD);
    assert_non_null(strstr(run->end.text, "the payload cannot be decoded"));
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
}

/* Sizes around what fits one packet. */
static void test_payloads_around_a_packet_pass(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    static char text[70000];
    memset(text, 'x', sizeof text);
    for (size_t len = 32300; len < 32800; len++) {
        text[len] = '\0';
        const struct culex_run *run = pen_submit(pen, "echoes", 1, text);
        pen_await(pen, run);
        assert_int_equal(run->end.event, CULEX_EVENT_DONE);
        assert_memory_equal(run->result.data, run->payload, run->payload_len);
        pen_forget(pen);
        text[len] = 'x';
    }
}

static void test_progress_and_extension_pass(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    struct culex_run *run = pen_make(pen, "reports", 60000, "half way");
    char text[CULEX_PROGRESS_MAX + 1] = "";
    run->facts.timeout_ms = 1000;
    pen_hand_over(pen, run);
    PEN_AWAIT(pen, culex__news_until_ns(&run->news) != 0);
    assert_true(culex__news_until_ns(&run->news) > pen_now_ns() + INT64_C(30000000000));
    assert_true(atomic_load(&pen->executor->has_news));
    assert_int_not_equal(culex__news_take_progress(&run->news, 0, text), 0);
    assert_string_equal(text, "40 half way");
    atomic_store(&zoo_board->may_end, 1);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_DONE);
}

static void test_log_line_is_one_line(void **state)
{
    struct pen *pen = pen_new(state, 1);
    pen->logger.level = CULEX_LOG_INFO;
    pen_open(pen);
    pen_expect(pen, "logs", 1, CULEX_EVENT_DONE);
    assert_int_equal(pen->log_lines, 2); /* started, and the handler's */
    assert_non_null(strstr(pen->log, "attempt 1 started\n"));
    assert_non_null(strstr(pen->log, "attempt 1 line 0\\x0aof \\x1b[31m \n"));
}

/* A handler that floods is read in portions: others are served, nothing is lost. */
static void test_flood_of_log_lines_starves_nobody(void **state)
{
    struct pen *pen = pen_new(state, 2);
    enum { LINES = 100000 };
    pen->logger.level = CULEX_LOG_INFO;
    pen_open(pen);
    const struct culex_run *flood = pen_submit(pen, "logs", LINES, "flood");
    PEN_AWAIT(pen, pen->log_lines > 100);
    const struct culex_run *other = pen_submit(pen, "nothing", 0, NULL);
    pen_await(pen, other);
    assert_false(pen_has_ended(pen, flood));
    pen_await(pen, flood);
    assert_int_equal(flood->end.event, CULEX_EVENT_DONE);
    PEN_AWAIT(pen, pen->log_lines >= LINES + 2); /* an end may overtake the last lines */
    assert_int_equal(pen->log_lines, LINES + 2);
}

static void test_cancel_flag_passes(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    struct culex_run *run = pen_submit(pen, "gate", 0, NULL);
    PEN_AWAIT(pen, atomic_load(&zoo_board->starts) == 1);
    pen->executor->ops->cancel(pen->executor, run, INT64_MAX, INT64_MAX);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_FAIL);
    assert_string_equal(run->end.text, "cancelled");
}

static void test_cancelled_run_does_not_start(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    const struct culex_run *first = pen_submit(pen, "gate", 0, NULL);
    struct culex_run *second = pen_submit(pen, "nothing", 0, NULL);
    struct culex_run *third = pen_make(pen, "nothing", 0, NULL);
    atomic_store(&third->is_cancelled, true);
    pen_hand_over(pen, third);
    PEN_AWAIT(pen, atomic_load(&zoo_board->starts) == 1);
    pen->executor->ops->cancel(pen->executor, second, INT64_MAX, INT64_MAX);
    pen_await(pen, second);
    atomic_store(&zoo_board->may_end, 1);
    pen_await(pen, first);
    pen_await(pen, third);
    assert_int_equal(second->end.event, CULEX_EVENT_RELEASE);
    assert_int_equal(third->end.event, CULEX_EVENT_RELEASE);
    assert_int_equal(atomic_load(&zoo_board->starts), 1);
}

static void test_run_over_its_lease_does_not_start(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    struct culex_run *run = pen_make(pen, "nothing", 0, NULL);
    atomic_store(&run->lease_ns, pen_now_ns() - 1);
    pen_hand_over(pen, run);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_RELEASE);
    assert_int_equal(atomic_load(&zoo_board->starts), 0);
}

/* Row 28: what waits behind a long run was not started, and comes back so, newest first. */
static void test_withdrawn_runs_never_start(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    enum { COUNT = 40 };
    struct culex_run *runs[COUNT], *back[COUNT];
    for (int i = 0; i < 200; i++) /* until a child holds many */
        pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    pen_forget(pen);
    int before = atomic_load(&zoo_board->starts);
    for (int i = 0; i < COUNT; i++)
        runs[i] = pen_make(pen, i == 0 ? "gate" : "nothing", i, NULL);
    pen->executor->ops->submit(pen->executor, runs, COUNT);
    PEN_AWAIT(pen, atomic_load(&zoo_board->starts) == before + 1);
    assert_int_equal(pen->executor->ops->queued(pen->executor), COUNT - 1);
    assert_int_equal(pen->executor->ops->withdraw(pen->executor, back, COUNT), COUNT - 1);
    for (int i = 0; i < COUNT - 1; i++) {
        assert_ptr_equal(back[i], runs[COUNT - 1 - i]);
        culex__run_free(back[i]);
        pen->alive--;
    }
    assert_int_equal(pen->executor->ops->queued(pen->executor), 0);
    atomic_store(&zoo_board->may_end, 1);
    pen_await(pen, runs[0]);
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    assert_int_equal(atomic_load(&zoo_board->starts), before + 2);
}

/* Any number of times, at any moment: each run either runs once or comes back. */
static void test_withdrawal_races_with_starts(void **state)
{
    struct pen *pen = pen_begin(state, 2);
    enum { COUNT = 60, ROUNDS = 200 };
    for (int round = 0; round < ROUNDS; round++) {
        struct culex_run *runs[COUNT], *back[COUNT];
        int before = atomic_load(&zoo_board->starts);
        for (int i = 0; i < COUNT; i++)
            runs[i] = pen_make(pen, "nothing", i, NULL);
        pen->executor->ops->submit(pen->executor, runs, COUNT);
        for (int i = 0; i < round % 10; i++)
            pen_turn(pen, 0);
        size_t withdrawn = pen->executor->ops->withdraw(pen->executor, back, COUNT);
        PEN_AWAIT(pen, pen->ended_count + withdrawn == COUNT);
        assert_int_equal(atomic_load(&zoo_board->starts) - before, (int)pen->ended_count);
        for (size_t i = 0; i < withdrawn; i++)
            culex__run_free(back[i]);
        pen->alive -= withdrawn;
        pen_forget(pen);
    }
}

/* A run that turns out long holds up nobody who was sent behind it. */
static void test_runs_behind_a_long_one_go_elsewhere(void **state)
{
    struct pen *pen = pen_begin(state, 2);
    enum { COUNT = 40 };
    struct culex_run *runs[COUNT];
    for (int i = 0; i < 200; i++)
        pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    pen_forget(pen);
    for (int i = 0; i < COUNT; i++)
        runs[i] = pen_make(pen, i == 0 ? "gate" : "nothing", i, NULL);
    pen->executor->ops->submit(pen->executor, runs, COUNT);
    PEN_AWAIT(pen, pen->ended_count == COUNT - 1);
    assert_false(pen_has_ended(pen, runs[0]));
    atomic_store(&zoo_board->may_end, 1);
    pen_await(pen, runs[0]);
}

/* Those of this process, the folder's own left out; `from` on. */
static void descriptors_list(char *text, size_t size)
{
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    text[0] = '\0';
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        size_t len = strlen(text);
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(folder))
            snprintf(text + len, size - len, "%s ", entry->d_name);
    }
    closedir(folder);
}

static size_t numbers_count(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += *text == ' ';
    return count;
}

/* The channel, and what has a control group's bound changed. */
static size_t own_count(const struct pen *pen)
{
    return pen->config.cgroup != NULL ? 4 : 1;
}

/* The zygote has its channel and one more. While it forks it has another child's channel, too. */
static void zygote_descriptors_expect(struct pen *pen, const char *before)
{
    int64_t until_ns = pen_now_ns() + PEN_WAIT_MS * INT64_C(1000000);
    const char *text;
    do {
        pen_turn(pen, 10); /* a child that has had many runs is replaced, which takes a fork */
        text = pen_expect(pen, "lists_descriptors", 1, CULEX_EVENT_FAIL);
    } while (numbers_count(text) > numbers_count(before) + 2 && pen_now_ns() < until_ns);
    assert_memory_equal(text, before, strlen(before));
    assert_int_equal(numbers_count(text), numbers_count(before) + 2);
}

/* What the program had open before, in the same places, and ours, out of its way. */
static void descriptors_expect(struct pen *pen, const char *before)
{
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    const char *text = pen_expect(pen, "lists_descriptors", 0, CULEX_EVENT_FAIL);
    assert_memory_equal(text, before, strlen(before));
    const char *own = text + strlen(before);
    assert_true(atoi(own) > 100);
    assert_int_equal(numbers_count(own), own_count(pen));
    zygote_descriptors_expect(pen, before);
}

/* Row 33. Another worker of the same program is not inherited either: its channels would stay open,
 * and its connections carry a password. */
static void test_child_has_the_programs_descriptors_and_its_own(void **state)
{
    char before[512];
    struct pen other;
    culex_worker *worker;
    FILE *file = tmpfile();
    assert_non_null(file);
    struct pen *pen = pen_new(state, 2);
    descriptors_list(before, sizeof before);
    pen_init(&other, 2);
    pen_open(&other);
    pen_expect(&other, "nothing", 0, CULEX_EVENT_DONE);
    assert_int_equal(culex_worker_create(NULL, &worker, NULL), CULEX_OK);
    pen_open(pen);
    descriptors_expect(pen, before);
    size_t open = pen_descriptors();
    (other.executor->ops->stop)(other.executor, pen_now_ns()); /* as in pen_close */
    pen_forget(&other);
    free(other.log);
    culex_worker_free(worker);
    pen->descriptors -= open - pen_descriptors();
    finish(state);
    fclose(file);
    *state = NULL;
}

/* A log file that was opened before is as usable in a handler as in main(). */
static void test_handler_writes_to_a_file_that_the_program_opened(void **state)
{
    char text[64] = "";
    zoo_file = tmpfile();
    assert_non_null(zoo_file);
    struct pen *pen = pen_begin(state, 1);
    for (int i = 0; i < 2; i++) {
        const struct culex_run *run = pen_submit(pen, "writes_down", 0, "a line\n");
        pen_await(pen, run);
        if (run->end.event != CULEX_EVENT_DONE)
            fail_msg("%s", run->end.text);
    }
    rewind(zoo_file);
    assert_int_equal(fread(text, 1, sizeof text - 1, zoo_file), 14);
    assert_string_equal(text, "a line\na line\n");
    finish(state);
    fclose(zoo_file);
    zoo_file = NULL;
    *state = NULL;
}

/* A program that was started with standard input closed gets its number for the next file. */
static void test_file_in_the_place_of_standard_input_is_kept(void **state)
{
    int input = dup(STDIN_FILENO);
    assert_true(input > 0);
    close(STDIN_FILENO);
    zoo_file = tmpfile();
    assert_non_null(zoo_file);
    assert_int_equal(fileno(zoo_file), STDIN_FILENO);
    struct pen *pen = pen_begin(state, 1);
    pen_expect(pen, "writes_down", 0, CULEX_EVENT_DONE);
    const struct culex_run *run = pen_submit(pen, "writes_down", 0, "a line\n");
    pen_await(pen, run);
    fseek(zoo_file, 0, SEEK_END);
    assert_int_equal(ftell(zoo_file), 7);
    finish(state);
    *state = NULL;
    fclose(zoo_file);
    zoo_file = NULL;
    assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
    close(input);
}

/* There may be no high numbers. */
static void test_few_descriptors_are_enough(void **state)
{
    struct rlimit before, few;
    char list[512];
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct pen *pen = pen_new(state, 2);
    descriptors_list(list, sizeof list);
    few = (struct rlimit){pen_descriptors() + 8 + own_count(pen), before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    pen_open(pen);
    const char *text = pen_expect(pen, "lists_descriptors", 0, CULEX_EVENT_FAIL);
    assert_int_equal(numbers_count(text), numbers_count(list) + own_count(pen));
    for (int i = 0; i < 20; i++) {
        pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
        pen_expect(pen, "null_write", 0, CULEX_EVENT_CRASH);
    }
    setrlimit(RLIMIT_NOFILE, &before);
}

static void zoo_forget(void *user)
{
    (void)user;
    atomic_fetch_add(&zoo_board->forgets, 1);
    unsetenv("ZOO_SECRET");
}

static void test_secrets_are_forgotten(void **state)
{
    struct pen *pen = pen_new(state, 1);
    setenv("ZOO_SECRET", "hunter2", 1);
    pen->config.handler.forget = zoo_forget;
    pen_open(pen);
    const char *text = pen_expect(pen, "knows_itself", 0, CULEX_EVENT_FAIL);
    assert_non_null(strstr(text, "no secret"));
    assert_string_equal(getenv("ZOO_SECRET"), "hunter2");
    unsetenv("ZOO_SECRET");
}

#define PASS_TEST(name) cmocka_unit_test_teardown(name, finish)

/* An argument is a pattern: only tests with such a name run. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        PASS_TEST(test_failure_text_passes),
        PASS_TEST(test_long_hostile_failure_text_is_cut_and_cleaned),
        PASS_TEST(test_discard_and_snooze_pass),
        PASS_TEST(test_handler_knows_its_run),
        PASS_TEST(test_undecodable_payload_is_discarded),
        PASS_TEST(test_largest_payload_and_result_pass),
        PASS_TEST(test_payload_over_the_limit_is_refused_by_the_decoder),
        PASS_TEST(test_payloads_around_a_packet_pass),
        PASS_TEST(test_progress_and_extension_pass),
        PASS_TEST(test_log_line_is_one_line),
        PASS_TEST(test_flood_of_log_lines_starves_nobody),
        PASS_TEST(test_cancel_flag_passes),
        PASS_TEST(test_cancelled_run_does_not_start),
        PASS_TEST(test_run_over_its_lease_does_not_start),
        PASS_TEST(test_withdrawn_runs_never_start),
        PASS_TEST(test_withdrawal_races_with_starts),
        PASS_TEST(test_runs_behind_a_long_one_go_elsewhere),
        PASS_TEST(test_child_has_the_programs_descriptors_and_its_own),
        PASS_TEST(test_handler_writes_to_a_file_that_the_program_opened),
        PASS_TEST(test_file_in_the_place_of_standard_input_is_kept),
        PASS_TEST(test_few_descriptors_are_enough),
        PASS_TEST(test_secrets_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
