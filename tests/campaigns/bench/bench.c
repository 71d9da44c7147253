/* bench/bench.c - measures the product beside its floors; bench.py runs it and prints the table.
 *
 * usage: bench WHAT URL SERVER COUNT
 * SERVER is host:port, or a socket path, for the bare calls; "-" for SQLite.
 * Each WHAT prints lines "name product floor unit", medians of interleaved rounds.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <culex/culex.h>

#include "store/store.h"
#include "floor.h"
#include "product.h"

enum { ROUNDS = 5, LATENCY_SAMPLES = 200, REQUEST_MAX = 65536 };

static void pause_ms(long ms)
{
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&wait, NULL);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

static struct floor_server server_parse(char *text)
{
    struct floor_server server = {NULL, NULL, 0};
    char *colon = strrchr(text, ':');
    if (text[0] == '/' || colon == NULL) {
        server.path = text;
    } else {
        *colon = '\0';
        server.host = text;
        server.port = atoi(colon + 1);
    }
    return server;
}

static void figure_print(const char *name, double *product_s, double *floor_s, size_t rounds,
                         size_t count)
{
    printf("%s %.0f %.0f runs/s\n", name, (double)count / median(product_s, rounds),
           (double)count / median(floor_s, rounds));
}

/* --- one enqueue, byte for byte -------------------------------------------------- */

/* The system's effects, with the last request kept: all that was sent since the last answer. */
struct recorder {
    struct culex_env env;
    char request[REQUEST_MAX];
    size_t len;
    bool is_answered;
};

static ssize_t recorder_send(void *self, int fd, const void *bytes, size_t len)
{
    struct recorder *recorder = self;
    const struct culex_env *system = culex__env_system();
    ssize_t sent = system->send(system->self, fd, bytes, len);
    if (recorder->is_answered)
        recorder->len = 0;
    recorder->is_answered = false;
    if (sent > 0 && recorder->len + (size_t)sent <= sizeof recorder->request) {
        memcpy(recorder->request + recorder->len, bytes, (size_t)sent);
        recorder->len += (size_t)sent;
    }
    return sent;
}

static ssize_t recorder_recv(void *self, int fd, void *ret_bytes, size_t len, int timeout_ms)
{
    struct recorder *recorder = self;
    const struct culex_env *system = culex__env_system();
    recorder->is_answered = true;
    return system->recv(system->self, fd, ret_bytes, len, timeout_ms);
}

/* The request that enqueues one run, and where the second half of its id stands in it. */
static size_t request_record(const char *url, struct recorder *recorder, size_t *ret_offsets)
{
    culex_error error;
    struct culex_store *store = NULL;
    recorder->env = *culex__env_system();
    recorder->env.self = recorder;
    recorder->env.send = recorder_send;
    recorder->env.recv = recorder_recv;
    if (culex__store_open(url, NULL, &recorder->env, &store, &error) != CULEX_OK)
        product_die("open", &error);
    bench_job job = product_job(1);
    culex_buf payload;
    culex_buf_init(&payload, 0);
    int64_t now_ms = 0;
    if (bench_job_encode(&job, &payload, &error) != CULEX_OK ||
        store->ops->now(store, &now_ms, &error) != CULEX_OK)
        product_die("encode", &error);
    struct culex_new_run run = {.job = "bench",
                                .attempts_max = 5,
                                .keep_success_ms = 1000,
                                .keep_failure_ms = 86400000,
                                .fingerprint = 1,
                                .content = 2,
                                .tags = "",
                                .payload = payload.data,
                                .payload_len = payload.len};
    for (int i = 0; i < 6; i++)
        run.id.b[i] = (uint8_t)(now_ms >> (40 - 8 * i));
    memcpy(run.id.b + 8, "\x9f\x8e\x7d\x6c\x5b\x4a\x39\x28", 8);
    struct culex_enqueue_result result;
    /* Twice: the first call may also load the script and name the queue. */
    for (int i = 0; i < 2; i++) {
        run.id.b[7] = (uint8_t)i;
        if (store->ops->enqueue(store, "bench", &run, 1, &result, &error) != CULEX_OK)
            product_die("enqueue", &error);
    }
    size_t count = 0;
    for (size_t at = 0; at + 16 <= recorder->len && count < 8; at++)
        if (memcmp(recorder->request + at, run.id.b, 16) == 0)
            ret_offsets[count++] = at + 8;
    culex_buf_release(&payload);
    store->ops->close(store);
    return count;
}

static void bench_enqueue_single(const char *url, char *server_text, size_t count)
{
    static struct recorder recorder;
    size_t offsets[8];
    struct floor_server server = server_parse(server_text);
    size_t offset_count = request_record(url, &recorder, offsets);
    if (offset_count == 0) {
        fprintf(stderr, "bench: the id does not stand in the recorded request\n");
        exit(1);
    }
    double product[ROUNDS], floor[ROUNDS];
    culex_client *client = product_client(url);
    for (int i = 0; i < ROUNDS; i++) {
        floor[i] = floor_round_trips(&server, recorder.request, recorder.len, offsets, offset_count,
                                     count);
        product[i] = product_enqueue(client, count);
        culex_client_purge(client, "bench", CULEX_RUN_WAITING, SIZE_MAX, &(size_t){0}, NULL);
    }
    culex_client_close(client);
    figure_print("enqueue-single", product, floor, ROUNDS, count);
}

/* --- bulk -------------------------------------------------------------------------- */

static void bench_bulk(const char *url, char *server_text, size_t count)
{
    struct floor_server server = server_parse(server_text);
    double enqueue[ROUNDS], enqueue_floor[ROUNDS], drain[ROUNDS], drain_floor[ROUNDS];
    count -= count % 3200;
    culex_client *client = product_client(url);
    for (int i = 0; i < ROUNDS; i++) {
        enqueue_floor[i] = floor_enqueue(&server, count, 100);
        drain_floor[i] = floor_drain(&server, count, 32);
        enqueue[i] = product_enqueue_many(client, count);
        drain[i] = product_drain(url, CULEX_ISOLATION_NONE);
    }
    culex_client_close(client);
    figure_print("enqueue-bulk", enqueue, enqueue_floor, ROUNDS, count);
    figure_print("drain-32", drain, drain_floor, ROUNDS, count);
}

static void bench_sqlite(const char *url, size_t count)
{
    double enqueue[ROUNDS], floor[ROUNDS], drain[ROUNDS];
    char path[512];
    culex_client *client = product_client(url);
    for (int i = 0; i < ROUNDS; i++) {
        snprintf(path, sizeof path, "%s.floor%d", strchr(url, ':') + 1, i);
        floor[i] = floor_sqlite_enqueue(path, count);
        enqueue[i] = product_enqueue(client, count);
        drain[i] = product_drain(url, CULEX_ISOLATION_NONE);
    }
    culex_client_close(client);
    figure_print("sqlite-enqueue-single", enqueue, floor, ROUNDS, count);
    printf("sqlite-drain-32 %.0f 0 runs/s\n", (double)count / median(drain, ROUNDS));
}

/* The same runs drained by handlers in a child process and by handlers on a thread, in turn. */
static void bench_isolation(const char *url, size_t count)
{
    double process[ROUNDS], thread[ROUNDS];
    culex_client *client = product_client(url);
    for (int i = 0; i < ROUNDS; i++) {
        product_enqueue_many(client, count);
        thread[i] = product_drain(url, CULEX_ISOLATION_NONE);
        product_enqueue_many(client, count);
        process[i] = product_drain(url, CULEX_ISOLATION_PROCESS);
    }
    culex_client_close(client);
    figure_print("drain-isolated", process, thread, ROUNDS, count);
}

/* --- start latency ------------------------------------------------------------------ */

struct starts {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    double sent_s, spent_s[LATENCY_SAMPLES];
    size_t count;
};

static culex_outcome handle_start(culex_run *run, const bench_job *job, void *user)
{
    struct starts *starts = user;
    (void)run;
    (void)job;
    pthread_mutex_lock(&starts->lock);
    starts->spent_s[starts->count++] = product_now_s() - starts->sent_s;
    pthread_cond_signal(&starts->changed);
    pthread_mutex_unlock(&starts->lock);
    return CULEX_DONE;
}

static void *worker_thread(void *user)
{
    culex_error error;
    if (culex_worker_run(user, &error) != CULEX_OK)
        product_die("worker", &error);
    return NULL;
}

static void bench_latency(const char *url)
{
    static struct starts starts = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, {0}, 0};
    culex_error error;
    culex_client *client = product_client(url);
    culex_worker *worker = product_worker(url, false, CULEX_ISOLATION_NONE, handle_start, &starts);
    pthread_t thread;
    pthread_create(&thread, NULL, worker_thread, worker);
    for (size_t i = 0; i < LATENCY_SAMPLES; i++) {
        pause_ms(i == 0 ? 500 : 5); /* the worker is to be idle when the run comes */
        bench_job job = product_job(0);
        pthread_mutex_lock(&starts.lock);
        starts.sent_s = product_now_s();
        pthread_mutex_unlock(&starts.lock);
        if (bench_job_enqueue(client, &job, NULL, NULL, &error) != CULEX_OK)
            product_die("enqueue", &error);
        pthread_mutex_lock(&starts.lock);
        while (starts.count <= i)
            pthread_cond_wait(&starts.changed, &starts.lock);
        pthread_mutex_unlock(&starts.lock);
    }
    culex_worker_stop(worker);
    pthread_join(thread, NULL);
    culex_worker_free(worker);
    culex_client_close(client);
    double p50 = median(starts.spent_s, LATENCY_SAMPLES) * 1e6;
    printf("start-p50 %.0f 0 us\nstart-p99 %.0f 0 us\n", p50,
           starts.spent_s[LATENCY_SAMPLES * 99 / 100] * 1e6);
}

/* Keeps a worker idle for `seconds`; bench.py counts what the server saw meanwhile. */
static void bench_idle(const char *url, size_t seconds)
{
    culex_worker *worker =
        product_worker(url, false, CULEX_ISOLATION_NONE, product_handle_nothing, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, worker_thread, worker);
    pause_ms(1000);
    puts("idle");
    fflush(stdout);
    pause_ms((long)seconds * 1000);
    puts("over");
    fflush(stdout);
    getchar();
    culex_worker_stop(worker);
    pthread_join(thread, NULL);
    culex_worker_free(worker);
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fputs("usage: bench WHAT URL SERVER COUNT\n", stderr);
        return 2;
    }
    const char *what = argv[1], *url = argv[2];
    size_t count = strtoul(argv[4], NULL, 10);
    if (strcmp(what, "enqueue-single") == 0)
        bench_enqueue_single(url, argv[3], count);
    else if (strcmp(what, "bulk") == 0)
        bench_bulk(url, argv[3], count);
    else if (strcmp(what, "sqlite") == 0)
        bench_sqlite(url, count);
    else if (strcmp(what, "isolation") == 0)
        bench_isolation(url, count);
    else if (strcmp(what, "latency") == 0)
        bench_latency(url);
    else if (strcmp(what, "idle") == 0)
        bench_idle(url, count);
    else
        return 2;
    return 0;
}
