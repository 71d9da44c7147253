#include "product.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void product_die(const char *what, const culex_error *error)
{
    fprintf(stderr, "bench: %s: %s\n", what, error->text);
    exit(1);
}

double product_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

bench_job product_job(int64_t number)
{
    culex_uuid campaign = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
    return bench_job_make("ann@shop.example", "Hello, is anybody there?", number, campaign);
}

culex_client *product_client(const char *url)
{
    culex_error error;
    culex_client *client = NULL;
    culex_client_options options = {.synchronous = "normal"};
    if (culex_client_open(url, &options, &client, &error) != CULEX_OK)
        product_die("open", &error);
    return client;
}

culex_worker *product_worker(const char *url, bool is_drain, culex_isolation isolation,
                             bench_job_handler handler, void *user)
{
    culex_error error;
    culex_worker *worker = NULL;
    culex_worker_options options = {.url = url,
                                    .concurrency = 1,
                                    .drain = is_drain,
                                    .isolation = isolation,
                                    .log_level = 1,
                                    .synchronous = "normal"};
    if (culex_worker_create(&options, &worker, &error) != CULEX_OK ||
        bench_job_register(worker, handler, user) != CULEX_OK)
        product_die("worker", &error);
    return worker;
}

culex_outcome product_handle_nothing(culex_run *run, const bench_job *job, void *user)
{
    (void)run;
    (void)job;
    (void)user;
    return CULEX_DONE;
}

double product_enqueue(culex_client *client, size_t count)
{
    culex_error error;
    double start = product_now_s();
    for (size_t i = 0; i < count; i++) {
        bench_job job = product_job((int64_t)i);
        if (bench_job_enqueue(client, &job, NULL, NULL, &error) != CULEX_OK)
            product_die("enqueue", &error);
    }
    return product_now_s() - start;
}

double product_enqueue_many(culex_client *client, size_t count)
{
    culex_error error;
    bench_job *jobs = calloc(count, sizeof *jobs);
    for (size_t i = 0; i < count; i++)
        jobs[i] = product_job((int64_t)i);
    double start = product_now_s();
    if (bench_job_enqueue_many(client, jobs, count, NULL, NULL, NULL, &error) != CULEX_OK)
        product_die("enqueue_many", &error);
    double spent = product_now_s() - start;
    free(jobs);
    return spent;
}

double product_drain(const char *url, culex_isolation isolation)
{
    culex_error error;
    culex_worker *worker = product_worker(url, true, isolation, product_handle_nothing, NULL);
    double start = product_now_s();
    if (culex_worker_run(worker, &error) != CULEX_OK)
        product_die("drain", &error);
    double spent = product_now_s() - start;
    culex_worker_free(worker);
    return spent;
}

double product_codec(size_t count)
{
    culex_error error;
    culex_buf buf;
    culex_arena *arena = culex_arena_create();
    culex_buf_init(&buf, 0);
    double start = product_now_s();
    for (size_t i = 0; i < count; i++) {
        bench_job job = product_job((int64_t)i);
        const bench_job *decoded;
        buf.len = 0;
        culex_arena_reset(arena);
        if (bench_job_encode(&job, &buf, &error) != CULEX_OK ||
            bench_job_decode(arena, buf.data, buf.len, &decoded, &error) != CULEX_OK)
            product_die("codec", &error);
    }
    double spent = product_now_s() - start;
    culex_buf_release(&buf);
    culex_arena_free(arena);
    return spent;
}
