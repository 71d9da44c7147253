#include "product.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <culex/batch.h>

#include "crowd.h"

enum { MANY_MAX = 4096 }; /* runs that are made, and enqueued, at a time */

void product_die(const char *what, const culex_error *error)
{
    fprintf(stderr, "bench: %s: %s\n", what, error->text);
    exit(1);
}

bench_job product_job(int64_t number)
{
    culex_uuid campaign = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
    return bench_job_make("ann@shop.example", "Hello, is anybody there?", number, campaign);
}

/* What another job, with the same params, declares of who may start. */
static void rules_take(culex_job_type *type, const culex_job_type *of)
{
    type->unique = of->unique;
    type->limits = of->limits;
    type->limit_count = of->limit_count;
}

culex_job_type product_type(const struct knobs *knobs)
{
    culex_job_type type = knobs->bytes > 0 ? bench_text_job_type : bench_job_type;
    if (knobs->is_declared)
        rules_take(&type, &bench_declared_job_type);
    if (knobs->is_parked)
        rules_take(&type, &bench_parked_job_type);
    type.keep_success_ms = (int64_t)knobs->keep_ms;
    return type;
}

culex_client *product_client(const struct knobs *knobs)
{
    culex_error error;
    culex_client *client = NULL;
    culex_client_options options = {.synchronous = knobs->synchronous, .timeout_ms = 60000};
    if (culex_client_open(knobs->url, &options, &client, &error) != CULEX_OK)
        product_die("open", &error);
    return client;
}

/* --- enqueue ----------------------------------------------------------------------------- */

/* A text whose payload is `bytes` long, names and quotes included. Owned by the caller. */
static char *text_make(size_t bytes)
{
    size_t frame = strlen("{\"text\":\"\"}");
    size_t len = bytes > frame ? bytes - frame : 1;
    char *text = malloc(len + 1);
    memset(text, 'x', len);
    text[len] = '\0';
    return text;
}

/* `count` params of numbers from `first` on, as an array; *ret_stride bytes apart. */
static void *params_make(const char *text, size_t first, size_t count, size_t *ret_stride)
{
    *ret_stride = text != NULL ? sizeof(bench_text_job) : sizeof(bench_job);
    char *params = calloc(count, *ret_stride);
    for (size_t i = 0; i < count; i++) {
        bench_job job = product_job((int64_t)(first + i));
        bench_text_job long_job = bench_text_job_make(text);
        memcpy(params + i * *ret_stride, text != NULL ? (void *)&long_job : (void *)&job,
               *ret_stride);
    }
    return params;
}

static void params_enqueue(culex_client *client, const struct knobs *knobs,
                           const culex_enqueue_options *options, const char *params, size_t stride,
                           size_t count)
{
    culex_error error;
    culex_job_type type = product_type(knobs);
    size_t batch = knobs->batch > 1 ? knobs->batch : 1;
    for (size_t at = 0; at < count; at += batch) {
        size_t some = count - at < batch ? count - at : batch;
        culex_status status =
            batch == 1
                ? culex_client_enqueue(client, &type, params + at * stride, options, NULL, &error)
                : culex_client_enqueue_many(client, &type, params + at * stride, stride, some,
                                            options, NULL, NULL, &error);
        if (status != CULEX_OK)
            product_die("enqueue", &error);
    }
}

static void runs_enqueue(culex_client *client, const struct knobs *knobs,
                         const culex_enqueue_options *options, size_t first, size_t count)
{
    char *text = knobs->bytes > 0 ? text_make(knobs->bytes) : NULL;
    for (size_t at = 0; at < count; at += MANY_MAX) {
        size_t some = count - at < MANY_MAX ? count - at : MANY_MAX, stride = 0;
        char *params = params_make(text, first + at, some, &stride);
        params_enqueue(client, knobs, options, params, stride, some);
        free(params);
    }
    free(text);
}

void product_enqueue(culex_client *client, const struct knobs *knobs, size_t first, size_t count)
{
    culex_error error;
    culex_batch batch;
    culex_enqueue_options options = culex_enqueue_options_make();
    bench_job callback = product_job(PRODUCT_CALLBACK);
    if (knobs->in_batch == 0) {
        runs_enqueue(client, knobs, &options, first, count);
        return;
    }
    if (culex_batch_open(client, bench_job_type.queue, NULL, &batch, &error) != CULEX_OK)
        product_die("batch", &error);
    options.batch = &batch;
    runs_enqueue(client, knobs, &options, first, count);
    options.batch_when = CULEX_BATCH_ON_COMPLETE;
    if (bench_job_enqueue(client, &callback, &options, NULL, &error) != CULEX_OK ||
        culex_batch_close(client, &batch, &error) != CULEX_OK)
        product_die("batch", &error);
}

/* --- codec ------------------------------------------------------------------------------- */

double product_codec(size_t count)
{
    culex_error error;
    culex_buf buf;
    culex_arena *arena = culex_arena_create();
    culex_buf_init(&buf, 0);
    double start = now_s();
    for (size_t i = 0; i < count; i++) {
        bench_job job = product_job((int64_t)i);
        const bench_job *decoded;
        buf.len = 0;
        culex_arena_reset(arena);
        if (bench_job_encode(&job, &buf, &error) != CULEX_OK ||
            bench_job_decode(arena, buf.data, buf.len, &decoded, &error) != CULEX_OK)
            product_die("codec", &error);
    }
    double spent = now_s() - start;
    culex_buf_release(&buf);
    culex_arena_free(arena);
    return spent;
}
