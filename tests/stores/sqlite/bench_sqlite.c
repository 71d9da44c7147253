/* bench_sqlite.c - runs per second, and us of CPU a run, on a file in the current folder:
 * bench_sqlite [normal|full|off [KEEP_MS [PAYLOAD_BYTES [BULK_ROUNDS]]]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/sqlite/opening.h"
#include "store/sqlite/sqlite.h"

enum { RUNS = 30000 };

static const struct culex_env *env;

static double seconds(void)
{
    return (double)culex__env_boottime_ns(env) / 1e9;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct span {
    double start, cpu_start;
};

static struct span span_begin(void)
{
    return (struct span){seconds(), cpu_seconds()};
}

static void span_tell(struct span span, const char *what, size_t batch, size_t runs)
{
    printf("%s, %3zu a transaction  %8.0f runs/s  %6.2f us\n", what, batch,
           (double)runs / (seconds() - span.start),
           (cpu_seconds() - span.cpu_start) * 1e6 / (double)runs);
}

static void die(const char *what, const culex_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->text);
    exit(1);
}

static int64_t keep_ms;
static size_t payload_len = 32;

static struct culex_new_run make_run(void)
{
    static const char payload[4096];
    struct culex_new_run run = {.job = "mail.send",
                                .priority = 5,
                                .attempts_max = 5,
                                .keep_success_ms = keep_ms,
                                .keep_failure_ms = 86400000,
                                .tags = "",
                                .payload = payload,
                                .payload_len = payload_len};
    return run;
}

/* Each call with the next ticket of one producer, as a client makes them. */
static void enqueue(struct culex_store *store, size_t batch)
{
    struct culex_ticket ticket = {culex__env_random(env) >> 3 | 1, 0};
    struct culex_new_run runs[256];
    struct culex_enqueue_result results[256];
    culex_error error;
    struct span span = span_begin();
    for (size_t done = 0; done < RUNS; done += batch) {
        for (size_t i = 0; i < batch; i++)
            runs[i] = make_run();
        culex__ticket_next(&ticket, culex__env_clock_ms(env));
        if (store->ops->enqueue(store, "bench", &ticket, runs, batch, results, &error) != CULEX_OK)
            die("enqueue", &error);
    }
    span_tell(span, "enqueue", batch, RUNS);
}

static void drain(struct culex_store *store, uint32_t batch)
{
    static uint64_t nonce; /* never a smaller one of this session */
    struct culex_ack acks[256];
    struct culex_step step = {.queue = "bench",
                              .session = "0123456789abcdef",
                              .want = batch,
                              .max_bytes = 1 << 20,
                              .lease_ms = 1000,
                              .acks = acks};
    struct culex_step_reply reply;
    culex_error error;
    size_t done = 0;
    struct span span = span_begin();
    do {
        step.nonce = ++nonce;
        if (store->ops->step(store, &step, &reply, &error) != CULEX_OK)
            die("step", &error);
        step.ack_count = reply.grant_count;
        for (size_t i = 0; i < reply.grant_count; i++)
            acks[i] = (struct culex_ack){.id = reply.grants[i].facts.id,
                                         .attempt = reply.grants[i].facts.attempt,
                                         .event = CULEX_EVENT_DONE};
        done += reply.grant_count;
        store->ops->step_release(store, &reply);
    } while (step.ack_count > 0);
    span_tell(span, "drain  ", batch, done);
}

int main(int argc, char **argv)
{
    struct culex_store_options options = {.synchronous = argc > 1 ? argv[1] : "normal"};
    char path[] = "bench-sqlite-XXXXXX";
    char command[128];
    culex_error error;
    struct culex_store *store;
    keep_ms = argc > 2 ? atoi(argv[2]) : 0;
    payload_len = argc > 3 ? (size_t)atoi(argv[3]) % 4096 : payload_len;
    env = culex__env_system();
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    if (culex__sqlite_open(path, false, &options, env, &store, &error) != CULEX_OK)
        die("open", &error);
    printf("synchronous=%s, SQLite %s\n", options.synchronous, sqlite3_libversion());
    for (int round = argc > 4 ? atoi(argv[4]) : 0; round > 0; round--) {
        enqueue(store, 100);
        drain(store, 32);
    }
    if (argc < 5) {
        enqueue(store, 1);
        drain(store, 1);
        enqueue(store, 100);
        drain(store, 32);
    }
    store->ops->close(store);
    snprintf(command, sizeof command, "rm -rf '%s' '%s'-* '%s'.d", path, path, path);
    return system(command) == 0 ? 0 : 1;
}
