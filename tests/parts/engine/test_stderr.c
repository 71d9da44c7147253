/* Log lines to a standard error that nobody reads. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "log/log.h"
#include "log/stderr.h"

enum { LINES = 500, BOUND_MS = 20000 };

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int real_stderr;

/* Makes `writer` standard error until stderr_restore. */
static void stderr_replace(int writer)
{
    real_stderr = dup(STDERR_FILENO);
    dup2(writer, STDERR_FILENO);
    close(writer);
    alarm(90); /* a write that blocks for ever ends the test */
}

static void stderr_restore(int reader)
{
    alarm(0);
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    close(reader);
    culex__stderr_take_dropped();
}

/* Takes what has arrived; the text ends with a NUL. */
static size_t reader_take(int reader, char *ret_text, size_t size)
{
    size_t len = 0;
    struct pollfd fd = {.fd = reader, .events = POLLIN};
    while (len < size - 1 && poll(&fd, 1, 0) > 0) {
        ssize_t got = read(reader, ret_text + len, size - 1 - len);
        if (got <= 0)
            break;
        len += (size_t)got;
    }
    ret_text[len] = '\0';
    return len;
}

static struct culex_log log_make(culex_log_format format)
{
    return (struct culex_log){.sink = culex__log_stderr(),
                              .env = culex__env_system(),
                              .format = format,
                              .level = CULEX_LOG_INFO};
}

/* Far more than pipe or socket hold. */
static void log_flood(const struct culex_log *log)
{
    static char filler[2000];
    memset(filler, 'x', sizeof filler - 1);
    for (int i = 0; i < LINES; i++)
        culex__log_write(log, CULEX_LOG_INFO, NULL, "line %d %s", i, filler);
}

static void blocked_then_flowing(const int ends[2], culex_log_format format)
{
    static char text[2 * 1024 * 1024];
    struct culex_log log = log_make(format);
    stderr_replace(ends[1]);
    int64_t begin_ms = now_ms();
    log_flood(&log);
    int64_t spent_ms = now_ms() - begin_ms;
    reader_take(ends[0], text, sizeof text);
    culex__log_write(&log, CULEX_LOG_INFO, NULL, "flowing again");
    size_t len = reader_take(ends[0], text, sizeof text);
    culex__log_write(&log, CULEX_LOG_INFO, NULL, "as ever");
    reader_take(ends[0], text + len, sizeof text - len);
    stderr_restore(ends[0]);
    assert_true(spent_ms < BOUND_MS);
    const char *told = strstr(text, " lines of this log were dropped");
    assert_non_null(told);
    assert_true(strstr(text, "flowing again") > told);
    assert_null(strstr(told + 1, " lines of this log were dropped"));
    assert_non_null(strstr(told, "as ever"));
}

static void test_pipe_that_nobody_reads__lines_are_dropped_and_counted(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    blocked_then_flowing(ends, CULEX_LOG_TEXT);
}

static void test_socket_that_nobody_reads__lines_are_dropped_and_counted(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    blocked_then_flowing(ends, CULEX_LOG_JSON);
}

/* What the environment tells may be about another process's standard error. */
static void test_the_journal_is_told_the_level_of_a_line(void **state)
{
    (void)state;
    char text[4096], stream[64];
    struct stat file;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fstat(ends[1], &file), 0);
    stderr_replace(ends[1]);
    snprintf(stream, sizeof stream, "%llu:%llu", (unsigned long long)file.st_dev,
             (unsigned long long)file.st_ino);
    setenv("JOURNAL_STREAM", stream, 1);
    struct culex_log text_log = log_make(CULEX_LOG_TEXT), json_log = log_make(CULEX_LOG_JSON);
    setenv("JOURNAL_STREAM", "1:1", 1);
    struct culex_log plain_log = log_make(CULEX_LOG_TEXT);
    unsetenv("JOURNAL_STREAM");
    culex__log_write(&text_log, CULEX_LOG_ERROR, NULL, "one");
    culex__log_write(&json_log, CULEX_LOG_WARNING, NULL, "two");
    culex__log_write(&text_log, CULEX_LOG_INFO, NULL, "three");
    culex__log_write(&plain_log, CULEX_LOG_ERROR, NULL, "four");
    reader_take(ends[0], text, sizeof text);
    stderr_restore(ends[0]);
    assert_memory_equal(text, "<3>2", 4);
    assert_non_null(strstr(text, "one\n<4>{\"time\""));
    assert_non_null(strstr(text, "\n<6>2"));
    assert_non_null(strstr(text, "three\n2"));
}

/* Every line that is there is whole, or ends where it was cut. */
static void test_lines_stay_lines(void **state)
{
    (void)state;
    static char text[256 * 1024], huge[20000];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    stderr_replace(ends[1]);
    memset(huge, 'h', sizeof huge - 1);
    huge[sizeof huge - 1] = '\n';
    for (int i = 0; i < 4; i++) /* the last one is cut */
        culex__stderr_write(huge, sizeof huge);
    size_t len = reader_take(ends[0], text, sizeof text);
    culex__stderr_write("next\n", 5);
    reader_take(ends[0], text + len, sizeof text - len);
    uint64_t dropped = culex__stderr_take_dropped();
    stderr_restore(ends[0]);
    assert_true(len > 3 * sizeof huge && len < 4 * sizeof huge);
    assert_int_equal(dropped, 1);
    assert_string_equal(text + len, "\nnext\n");
}

static void test_file_takes_every_line_whole(void **state)
{
    (void)state;
    char name[] = "/tmp/culex-stderr-XXXXXX";
    struct culex_log log = log_make(CULEX_LOG_TEXT);
    int file = mkstemp(name), reader = open(name, O_RDONLY | O_CLOEXEC);
    unlink(name);
    stderr_replace(file);
    log_flood(&log);
    off_t size = lseek(STDERR_FILENO, 0, SEEK_CUR);
    uint64_t dropped = culex__stderr_take_dropped();
    stderr_restore(reader);
    assert_true(size > LINES * 2000);
    assert_int_equal(dropped, 0);
}

/* --- a pipe that handlers share ------------------------------------------------------------- */

struct crowd {
    int other; /* a handler's standard error: the same pipe */
    atomic_bool is_over;
    atomic_uint written; /* lines written or dropped */
    atomic_uint ended;   /* of the two threads */
};

static void *handler_main(void *user)
{
    struct crowd *crowd = user;
    static const char page[4096];
    while (!atomic_load(&crowd->is_over) && write(crowd->other, page, sizeof page) > 0)
        ;
    atomic_fetch_add(&crowd->ended, 1);
    return NULL;
}

static void *logger_main(void *user)
{
    struct crowd *crowd = user;
    static const char text[2000] = "a line\n";
    while (!atomic_load(&crowd->is_over)) {
        culex__stderr_write(text, sizeof text);
        atomic_fetch_add(&crowd->written, 1);
    }
    atomic_fetch_add(&crowd->ended, 1);
    return NULL;
}

/* While nobody reads, the logger still gets its lines behind it. */
static bool logger_goes_on(struct crowd *crowd)
{
    unsigned before = atomic_load(&crowd->written);
    int64_t end_ms = now_ms() + BOUND_MS;
    while (atomic_load(&crowd->written) < before + 3 && now_ms() < end_ms)
        sched_yield();
    return atomic_load(&crowd->written) >= before + 3;
}

/* Room that was there a moment ago may have been taken by another process. */
static void test_pipe_with_other_writers__never_holds_a_line_up(void **state)
{
    (void)state;
    static char pages[4 * 4096];
    int ends[2];
    pthread_t handler, logger;
    bool goes_on = true;
    assert_int_equal(pipe(ends), 0);
    struct crowd crowd = {.other = dup(ends[1])};
    stderr_replace(ends[1]);
    pthread_create(&handler, NULL, handler_main, &crowd);
    pthread_create(&logger, NULL, logger_main, &crowd);
    for (int i = 0; i < 400 && goes_on; i++)
        goes_on = read(ends[0], pages, sizeof pages) > 0 && logger_goes_on(&crowd);
    atomic_store(&crowd.is_over, true);
    struct pollfd fd = {.fd = ends[0], .events = POLLIN};
    while (atomic_load(&crowd.ended) < 2) /* the two may wait for room */
        if (poll(&fd, 1, 1) > 0)
            goes_on &= read(ends[0], pages, sizeof pages) > 0;
    pthread_join(handler, NULL);
    pthread_join(logger, NULL);
    close(crowd.other);
    stderr_restore(ends[0]);
    assert_true(goes_on);
}

static void test_closed_pipe_costs_nothing(void **state)
{
    (void)state;
    int ends[2];
    struct culex_log log = log_make(CULEX_LOG_TEXT);
    assert_int_equal(pipe(ends), 0);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    stderr_replace(ends[1]);
    close(ends[0]);
    int64_t begin_ms = now_ms();
    log_flood(&log);
    int64_t spent_ms = now_ms() - begin_ms;
    stderr_restore(-1);
    signal(SIGPIPE, before);
    assert_true(spent_ms < BOUND_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipe_that_nobody_reads__lines_are_dropped_and_counted),
        cmocka_unit_test(test_socket_that_nobody_reads__lines_are_dropped_and_counted),
        cmocka_unit_test(test_the_journal_is_told_the_level_of_a_line),
        cmocka_unit_test(test_lines_stay_lines),
        cmocka_unit_test(test_file_takes_every_line_whole),
        cmocka_unit_test(test_pipe_with_other_writers__never_holds_a_line_up),
        cmocka_unit_test(test_closed_pipe_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
