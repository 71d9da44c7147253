/* ops/command/bench.c - culex bench: what this store can do, asked from here.
 *
 * Each row calls for as long as --for says, with one connection and one thread. The floor is the
 * least that a store can be asked to write; what enqueues and runs take is a ratio to that, which
 * says the same on a quiet machine and on a busy one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <culex/schema.h>
#include <culex/worker.h>

#include "command/ask.h"
#include "command/command.h"
#include "command/print.h"

enum {
    CALLS_MAX = 200000, /* of a row, and as many runs: memory and stores are bounded */
    TOGETHER = 100,
    BYTES_MAX = 65536,
    PURGE_PAGE = 10000,
    LIST_PAGE = 1000
};

#define JOB "culex_bench"

static const char default_queue[] = "culex.bench";

static const char schema_text[] =
    "{\"schema\":1,\"name\":\"" JOB "\",\"wire\":\"" JOB "\",\"fingerprint\":"
    "\"6265636e63756c78\",\"priority\":0,\"timeout_ms\":0,\"expires_ms\":0,\"keep_success_ms\":0,"
    "\"keep_failure_ms\":0,\"keep_log\":0,\"memory_bytes\":0,\"retry\":{\"max\":0,\"for_ms\":0,"
    "\"backoff\":\"constant\",\"base_ms\":0,\"factor\":1,\"cap_ms\":0,\"jitter\":\"none\","
    "\"jitter_ratio\":0},\"params\":{\"name\":\"" JOB "\",\"fields\":[{\"name\":\"body\","
    "\"kind\":\"string\",\"shape\":\"single\",\"flags\":[\"required\"]}]}}";

struct params {
    const char *body;
};

/* What one kind of call came to. */
struct row {
    const char *what;
    uint64_t calls, runs;
    double seconds;
    uint32_t *took_us; /* of each call; owned */
    double ratio;      /* of its runs a second to calls of the floor; 0: none is told */
};

struct bench {
    struct ops *ops;
    const char *queue;
    culex_schema *schema;
    const culex_job_type *type;
    struct params params;
    culex_duration each;
    double floor; /* calls a second */
    culex_worker *worker;
    uint64_t begun; /* runs of the worker, one after the other */
    bool is_wanted; /* false: somebody was asked, and said no */
    struct ops_table table;
};

/* ---- time -------------------------------------------------------------------------------------
 */

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * CULEX_SECOND + now.tv_nsec;
}

static int us_compare(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

/* So many of a thousand calls took no longer. */
static int64_t quantile_us(const struct row *row, uint64_t per_mille)
{
    return row->calls == 0 ? 0 : row->took_us[(row->calls - 1) * per_mille / 1000];
}

/* ---- calls ------------------------------------------------------------------------------------
 */

/* Makes one call and returns how many runs came of it, or a status below 0. */
typedef int (*call_fn)(struct bench *bench, uint64_t number, culex_error *error);

static int call_read(struct bench *bench, uint64_t number, culex_error *error)
{
    culex_queue_stats stats;
    (void)number;
    culex_status status = culex_client_stats(bench->ops->client, bench->queue, &stats, error);
    return status == CULEX_OK ? 1 : (int)status;
}

static int call_write(struct bench *bench, uint64_t number, culex_error *error)
{
    culex_status status = number % 2 == 0
                              ? culex_client_pause(bench->ops->client, bench->queue, error)
                              : culex_client_resume(bench->ops->client, bench->queue, error);
    return status == CULEX_OK ? 1 : (int)status;
}

static int call_enqueue(struct bench *bench, uint64_t number, culex_error *error)
{
    culex_enqueue_options options = culex_enqueue_options_make();
    (void)number;
    options.queue = bench->queue;
    culex_status status = culex_client_enqueue(bench->ops->client, bench->type, &bench->params,
                                               &options, NULL, error);
    return status == CULEX_OK ? 1 : (int)status;
}

static int call_enqueue_many(struct bench *bench, uint64_t number, culex_error *error)
{
    struct params params[TOGETHER];
    culex_enqueue_options options = culex_enqueue_options_make();
    (void)number;
    options.queue = bench->queue;
    for (size_t i = 0; i < TOGETHER; i++)
        params[i] = bench->params;
    culex_status status =
        culex_client_enqueue_many(bench->ops->client, bench->type, params, sizeof params[0],
                                  TOGETHER, &options, NULL, NULL, error);
    return status == CULEX_OK ? TOGETHER : (int)status;
}

/* An even number of calls: what the first one of two does the second one undoes. */
static culex_status row_measure(struct bench *bench, struct row *row, call_fn call,
                                culex_error *error)
{
    row->took_us = ops_alloc(NULL, CALLS_MAX * sizeof *row->took_us);
    int64_t begin_ns = now_ns(), then_ns = begin_ns;
    while ((then_ns - begin_ns < bench->each && !ops_is_interrupted() &&
            row->runs + TOGETHER <= CALLS_MAX) ||
           row->calls % 2 != 0) {
        int got = call(bench, row->calls, error);
        int64_t at_ns = now_ns();
        if (got < 0)
            return (culex_status)got;
        row->took_us[row->calls++] = (uint32_t)((at_ns - then_ns) / CULEX_MICROSECOND);
        row->runs += (uint64_t)got;
        then_ns = at_ns;
    }
    row->seconds = (double)(then_ns - begin_ns) / (double)CULEX_SECOND;
    qsort(row->took_us, row->calls, sizeof *row->took_us, us_compare);
    return CULEX_OK;
}

/* ---- a worker ---------------------------------------------------------------------------------
 */

static culex_outcome run_take(culex_run *run, culex_handler_fn handler, const void *params,
                              void *user)
{
    struct bench *bench = user;
    (void)run;
    (void)handler;
    (void)params;
    bench->begun++;
    if (ops_is_interrupted())
        culex_worker_stop(bench->worker);
    return CULEX_DONE;
}

static void handler(void)
{
}

/* In this process, one run at a time: what is measured is the store and the way to it. */
static culex_status worker_make(struct bench *bench, culex_error *error)
{
    const struct ops_options *given = &bench->ops->options;
    const culex_worker_options options = {
        .url = given->url,
        .url_file = given->url_file,
        .prefix = given->prefix,
        .store_timeout_ms = given->store_timeout / CULEX_MILLISECOND,
        .queues = &bench->queue,
        .queue_count = 1,
        .concurrency = 1,
        .isolation = CULEX_ISOLATION_NONE,
        .drain = true,
        .log_level = 1,
        .unlisted = true,
        .uncounted = true,
    };
    culex_status status = culex_worker_create(&options, &bench->worker, error);
    return status == CULEX_OK
               ? culex_worker_register(bench->worker, bench->type, run_take, handler, bench)
               : status;
}

static culex_status worker_measure(struct bench *bench, struct row *row, culex_error *error)
{
    culex_status status = worker_make(bench, error);
    int64_t begin_ns = now_ns();
    if (status == CULEX_OK)
        status = culex_worker_run(bench->worker, error);
    row->seconds = (double)(now_ns() - begin_ns) / (double)CULEX_SECOND;
    row->runs = bench->begun;
    culex_worker_free(bench->worker);
    bench->worker = NULL;
    return status;
}

/* ---- what is told -----------------------------------------------------------------------------
 */

static double per_second(const struct row *row)
{
    return row->seconds > 0 ? (double)row->runs / row->seconds : 0;
}

static void real_json(struct ops_json *json, const char *name, double value)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%.3f", value);
    ops_json_raw(json, name, text, (size_t)len);
}

static void row_json(const struct row *row)
{
    struct ops_json json = {.out = stdout};
    ops_json_object(&json, NULL);
    ops_json_text(&json, "what", row->what);
    ops_json_count(&json, "calls", row->calls);
    ops_json_count(&json, "runs", row->runs);
    real_json(&json, "seconds", row->seconds);
    real_json(&json, "per_second", per_second(row));
    if (row->calls > 0) {
        ops_json_int(&json, "p50_us", quantile_us(row, 500));
        ops_json_int(&json, "p99_us", quantile_us(row, 990));
    }
    if (row->ratio > 0)
        real_json(&json, "of_floor", row->ratio);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static void row_tell(struct bench *bench, const struct row *row)
{
    char ratio[32] = "-";
    if (bench->ops->options.wants_json) {
        row_json(row);
        return;
    }
    if (row->ratio > 0)
        snprintf(ratio, sizeof ratio, "%.2f", row->ratio);
    ops_table_text(&bench->table, row->what);
    ops_table_count(&bench->table, (uint64_t)per_second(row));
    for (uint64_t per_mille = 500; per_mille <= 990; per_mille += 490) {
        if (row->calls > 0)
            ops_table_span(&bench->table, quantile_us(row, per_mille));
        else
            ops_table_text(&bench->table, "-");
    }
    ops_table_text(&bench->table, ratio);
}

static culex_status row_make(struct bench *bench, const char *what, call_fn call,
                             culex_error *error)
{
    struct row row = {.what = what};
    if (ops_is_interrupted())
        return CULEX_OK;
    culex_status status =
        call != NULL ? row_measure(bench, &row, call, error) : worker_measure(bench, &row, error);
    if (call == call_write)
        bench->floor = per_second(&row);
    row.ratio = bench->floor > 0 ? per_second(&row) / bench->floor : 0;
    if (status == CULEX_OK)
        row_tell(bench, &row);
    free(row.took_us);
    return status;
}

/* ---- the queue --------------------------------------------------------------------------------
 */

static culex_status queue_empty(struct bench *bench, culex_error *error)
{
    culex_status status = culex_client_resume(bench->ops->client, bench->queue, error);
    for (size_t i = 0; i < CULEX_RUN_STATE_COUNT && status == CULEX_OK; i++) {
        uint64_t deleted = PURGE_PAGE;
        while (i != CULEX_RUN_ACTIVE && status == CULEX_OK && deleted == PURGE_PAGE)
            status = culex_client_purge(bench->ops->client, bench->queue, (culex_run_state)i,
                                        PURGE_PAGE, &deleted, error);
    }
    return status;
}

/* All that there are, active ones too. */
static culex_status runs_count(struct bench *bench, uint64_t *ret_count, bool *ret_is_paused,
                               culex_error *error)
{
    culex_queue_stats stats;
    culex_status status = culex_client_stats(bench->ops->client, bench->queue, &stats, error);
    *ret_count = 0;
    for (size_t i = 0; i < CULEX_RUN_STATE_COUNT && status == CULEX_OK; i++)
        *ret_count += stats.count[i];
    *ret_is_paused = status == CULEX_OK && stats.paused;
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

static bool job_see(const culex_run_info *run, void *user)
{
    bool *is_other = user;
    *is_other = strcmp(run->job, JOB) != 0;
    return !*is_other;
}

/* Nothing of somebody else's may be run or deleted. */
static culex_status owner_check(struct bench *bench, culex_error *error)
{
    culex_list_cursor cursor = {.place = 0};
    culex_status status;
    bool is_other = false;
    do {
        status = culex_client_find(bench->ops->client, bench->queue, NULL, &cursor, LIST_PAGE,
                                   job_see, &is_other, error);
    } while (status == CULEX_OK && !is_other && cursor.place != 0);
    return status == CULEX_OK && is_other
               ? ops_usage(error,
                           "queue %.64s has runs: name one by --queue that is empty, or has never "
                           "been",
                           bench->queue)
               : status;
}

/* What a killed worker had begun is purged by nobody: a worker runs it when its lease is over, and
 * ends when there is no more. */
static culex_status begun_empty(struct bench *bench, culex_error *error)
{
    struct row ignored = {.what = ""};
    culex_status status = worker_measure(bench, &ignored, error);
    bench->begun = 0;
    return status == CULEX_OK ? queue_empty(bench, error) : status;
}

/* A bench that was killed leaves its runs, and maybe a pause. */
static culex_status leavings_clear(struct bench *bench, uint64_t count, culex_error *error)
{
    bool is_paused;
    uint64_t left = 0;
    culex_status status = owner_check(bench, error);
    if (status == CULEX_OK)
        status = ops_ask(bench->ops, &bench->is_wanted, error,
                         "queue %.64s has %" PRIu64
                         " runs of a bench that was killed, or is at work; delete them",
                         bench->queue, count);
    if (status != CULEX_OK || !bench->is_wanted)
        return status;
    status = queue_empty(bench, error);
    if (status == CULEX_OK)
        status = runs_count(bench, &left, &is_paused, error);
    return status == CULEX_OK && left > 0 ? begun_empty(bench, error) : status;
}

static culex_status queue_check(struct bench *bench, culex_error *error)
{
    uint64_t count;
    bool is_paused;
    culex_status status = runs_count(bench, &count, &is_paused, error);
    if (status == CULEX_OK && count > 0)
        return leavings_clear(bench, count, error);
    return status == CULEX_OK && is_paused
               ? ops_usage(error, "queue %.64s is paused: resume it first", bench->queue)
               : status;
}

static culex_status rows_make(struct bench *bench, culex_error *error)
{
    culex_status status = call_enqueue(bench, 0, error) < 0 ? error->code : CULEX_OK;
    if (status == CULEX_OK)
        status = row_make(bench, "read", call_read, error);
    if (status == CULEX_OK)
        status = row_make(bench, "write", call_write, error);
    if (status == CULEX_OK)
        status = row_make(bench, "enqueue", call_enqueue, error);
    if (status == CULEX_OK)
        status = row_make(bench, "enqueue 100", call_enqueue_many, error);
    return status == CULEX_OK ? row_make(bench, "run", NULL, error) : status;
}

static culex_status bench_go(struct bench *bench, culex_error *error)
{
    culex_error ignored;
    culex_status status = rows_make(bench, error);
    culex_status emptied = queue_empty(bench, status == CULEX_OK ? error : &ignored);
    if (status == CULEX_OK)
        status = emptied;
    if (status == CULEX_OK && ops_is_interrupted())
        status = ops_fail(error, CULEX_ESTATE, "it was stopped; queue %.64s is empty again",
                          bench->queue);
    return status;
}

/* ---- the command ------------------------------------------------------------------------------
 */

static culex_status bench_begin(struct bench *bench, culex_error *error)
{
    const struct ops_options *given = &bench->ops->options;
    uint64_t bytes = ops_is_given(given, "bytes") ? given->bytes : 100;
    bench->queue = given->queue != NULL ? given->queue : default_queue;
    bench->each = ops_is_given(given, "for") ? given->duration : 2 * CULEX_SECOND;
    if (bytes > BYTES_MAX)
        return ops_usage(error, "--bytes: at most %d", BYTES_MAX);
    if (bench->each < CULEX_MILLISECOND || bench->each > CULEX_MINUTE)
        return ops_usage(error, "--for: 1ms to 1m");
    char *body = ops_alloc(NULL, bytes + 1);
    memset(body, 'x', bytes);
    body[bytes] = '\0';
    bench->params.body = body;
    culex_status status =
        culex_schema_read(schema_text, sizeof schema_text - 1, &bench->schema, error);
    bench->type = culex_schema_type(bench->schema);
    return status == CULEX_OK ? queue_check(bench, error) : status;
}

culex_status ops_bench(struct ops *ops, culex_error *error)
{
    static const char *const heads[] = {"WHAT", ">A SECOND", ">P50", ">P99", ">OF A WRITE", NULL};
    struct bench bench = {.ops = ops, .is_wanted = true};
    culex_status status = bench_begin(&bench, error);
    if (status == CULEX_OK && bench.is_wanted) {
        ops_interrupts_catch();
        ops_table_begin(&bench.table, heads);
        status = bench_go(&bench, error);
        if (!ops->options.wants_json)
            ops_table_print(&bench.table, stdout);
        ops_table_end(&bench.table);
    }
    culex_schema_free(bench.schema);
    free((char *)bench.params.body);
    return status;
}
