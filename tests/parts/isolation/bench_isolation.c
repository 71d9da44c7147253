/* bench_isolation - what handlers in processes cost, beside handlers on threads:
 *
 *     bench_isolation [CRASHES]
 *
 * Prints the dispatch latency, the rate of no-op runs of both executors, and what a crash costs. */
#include "pen.h"

#include <poll.h>
#include <sys/resource.h>

enum { STAMPS = 2000, RUNS = 200000, IN_FLIGHT = 256 };

static int by_value(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void wait_one(struct pen *pen)
{
    size_t before = pen->ended_count;
    while (pen->ended_count == before)
        pen_turn(pen, 100);
    pen_forget(pen);
}

static void dispatch_measure(unsigned isolation)
{
    static int64_t took[STAMPS];
    struct pen pen;
    pen_init(&pen, 1);
    pen.config.isolation = (culex_isolation)isolation;
    pen_open(&pen);
    for (size_t i = 0; i < STAMPS; i++) {
        struct culex_run *run = pen_make(&pen, "stamps", 0, NULL);
        int64_t began_ns = pen_now_ns();
        pen_hand_over(&pen, run);
        wait_one(&pen);
        took[i] = (int64_t)atomic_load(&zoo_board->first_ns) - began_ns;
    }
    qsort(took, STAMPS, sizeof took[0], by_value);
    printf("dispatch, %s: median %.1f us, 99%% %.1f us\n",
           isolation == CULEX_ISOLATION_JOB ? "a process per run" : "process",
           (double)took[STAMPS / 2] / 1e3, (double)took[STAMPS * 99 / 100] / 1e3);
    pen_close(&pen);
}

static double rate_measure(bool is_process, unsigned count)
{
    struct pen pen;
    struct culex_run *free_runs[IN_FLIGHT];
    size_t free_count = 0, ended = 0, begun = 0;
    pen_init(&pen, count);
    zoo_open();
    culex_error error;
    culex_status status = is_process
                              ? culex__executor_children_create(&pen.config, &pen.executor, &error)
                              : culex__executor_threads_create(&pen.config, &pen.executor, &error);
    if (status != CULEX_OK)
        exit(1);
    const struct culex_executor_ops *ops = pen.executor->ops;
    for (size_t i = 0; i < IN_FLIGHT; i++)
        free_runs[free_count++] = pen_make(&pen, "nothing", 0, NULL);
    int64_t began_ns = pen_now_ns();
    while (ended < RUNS) {
        if (free_count >= 32 && begun < RUNS) {
            ops->submit(pen.executor, free_runs + free_count - 32, 32);
            free_count -= 32;
            begun += 32;
            continue;
        }
        struct pollfd wait = {.fd = ops->fd(pen.executor), .events = POLLIN};
        poll(&wait, 1, 1);
        size_t got = ops->collect(pen.executor, free_runs + free_count, IN_FLIGHT - free_count);
        free_count += got;
        ended += got;
    }
    double rate = (double)RUNS / ((double)(pen_now_ns() - began_ns) / 1e9);
    printf("no-op runs, %s x %u: %.0f a second\n", ops->name, count, rate);
    (ops->stop)(pen.executor, INT64_MAX); /* cmocka 2 has a macro stop */
    for (size_t i = 0; i < free_count; i++)
        culex__run_free(free_runs[i]);
    free(pen.log);
    zoo_close();
    return rate;
}

static int64_t cpu_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000) +
           usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

static long rss_kib(void)
{
    long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL && fscanf(file, "%ld %ld", &total, &resident) != 2)
        resident = 0;
    if (file != NULL)
        fclose(file);
    return resident * 4;
}

static void crashes_measure(int count)
{
    struct pen pen;
    pen_init(&pen, 1);
    pen_open(&pen);
    for (int i = 0; i < 50; i++)
        pen_expect(&pen, "null_write", 0, CULEX_EVENT_CRASH);
    pen_forget(&pen);
    long rss = rss_kib();
    size_t descriptors = pen_descriptors();
    int64_t began_ns = pen_now_ns(), began_us = cpu_us();
    for (int i = 0; i < count; i++) {
        pen_submit(&pen, "null_write", 0, NULL);
        wait_one(&pen);
    }
    printf("%d crashes: %.0f us each, %.0f us of them the supervisor's; descriptors %zu -> %zu, "
           "memory %ld -> %ld KiB, processes %zu\n",
           count, (double)(pen_now_ns() - began_ns) / 1e3 / count,
           (double)(cpu_us() - began_us) / count, descriptors, pen_descriptors(), rss, rss_kib(),
           pen_descendants());
    pen_close(&pen);
}

int main(int argc, char **argv)
{
    dispatch_measure(CULEX_ISOLATION_PROCESS);
    dispatch_measure(CULEX_ISOLATION_JOB);
    for (unsigned count = 1; count <= 4; count *= 2) {
        double threads = rate_measure(false, count);
        double processes = rate_measure(true, count);
        printf("ratio %.2f\n", processes / threads);
    }
    crashes_measure(argc > 1 ? atoi(argv[1]) : 1000);
    return 0;
}
