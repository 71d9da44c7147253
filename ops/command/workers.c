/* ops/command/workers.c - culex workers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <culex/workers.h>

#include "command/ask.h"
#include "command/print.h"
#include "command/shape.h"
#include "command/value.h"

/* --- lists ------------------------------------------------------------------------------------ */

struct listing {
    bool is_json;
    struct ops_table table;
};

static void worker_line(const culex_worker_info *worker)
{
    struct ops_json json = {.out = stdout};
    ops_worker_json(&json, worker);
    ops_json_line_end(&json);
}

static void busy_add(struct ops_table *table, const culex_worker_info *worker)
{
    char text[48];
    snprintf(text, sizeof text, "%zu/%u", worker->runs_total, worker->concurrency);
    ops_table_text(table, text);
}

static void memory_add(struct ops_table *table, int64_t bytes)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64 " MB", bytes / 1000000);
    ops_table_text(table, text);
}

static const char *worker_state(const culex_worker_info *worker)
{
    if (worker->is_stopping)
        return "stopping";
    if (worker->is_pending)
        return worker->is_quiet ? "quiet, has an order" : "has an order";
    return worker->is_quiet ? "quiet" : "";
}

static bool worker_add(const culex_worker_info *worker, void *user)
{
    struct listing *listing = user;
    if (listing->is_json) {
        worker_line(worker);
        return !ferror(stdout);
    }
    char pid[24];
    snprintf(pid, sizeof pid, "%" PRId64, worker->pid);
    ops_table_text(&listing->table, worker->id);
    ops_table_text(&listing->table, worker->name);
    ops_table_text(&listing->table, worker->host);
    ops_table_text(&listing->table, pid);
    busy_add(&listing->table, worker);
    ops_table_count(&listing->table, worker->done);
    ops_table_count(&listing->table, worker->failed);
    memory_add(&listing->table, worker->memory_bytes + worker->children_bytes);
    ops_table_time(&listing->table, worker->started_ms);
    ops_table_text(&listing->table, worker_state(worker));
    return true;
}

static culex_status list_print(struct ops *ops, culex_error *error)
{
    static const char *const heads[] = {"ID",        "~NAME",  "~7HOST",   ">8PID",
                                        ">AT WORK",  ">6DONE", ">5FAILED", ">4MEMORY",
                                        "@9STARTED", "~",      NULL};
    struct listing listing = {.is_json = ops->options.wants_json};
    ops_table_begin(&listing.table, heads);
    culex_status status = culex_client_workers(ops->client, worker_add, &listing, error);
    if (status == CULEX_OK && !listing.is_json)
        ops_table_print(&listing.table, stdout);
    ops_table_end(&listing.table);
    return status;
}

/* --- steering --------------------------------------------------------------------------------- */

/* The worker that the user named. */
struct search {
    const char *text;
    char *id; /* owned; of the one that was found last */
    size_t count;
};

static bool worker_compare(const culex_worker_info *worker, void *user)
{
    struct search *search = user;
    bool is_its_id = strcmp(worker->id, search->text) == 0;
    if (!is_its_id && strcmp(worker->name, search->text) != 0)
        return true;
    free(search->id);
    search->id = ops_copy(worker->id, strlen(worker->id));
    search->count = is_its_id ? 1 : search->count + 1;
    return !is_its_id;
}

static culex_status worker_find(struct ops *ops, const char *text, char **ret_id,
                                culex_error *error)
{
    struct search search = {.text = text};
    culex_status status = culex_client_workers(ops->client, worker_compare, &search, error);
    if (status == CULEX_OK && search.count == 0)
        status =
            ops_fail(error, CULEX_ENOTFOUND,
                     "there is no worker %s: culex workers lists those that are alive; orders are "
                     "quiet, go, stop and concurrency",
                     text);
    else if (status == CULEX_OK && search.count > 1)
        status =
            ops_usage(error, "%zu workers have the name %s: say the id of one", search.count, text);
    if (status == CULEX_OK)
        *ret_id = search.id;
    else
        free(search.id);
    return status;
}

static bool is_before(char *const *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(ids[i], ids[count]) == 0)
            return true;
    }
    return false;
}

/* All are known before the first is told. */
static culex_status named_set(struct ops *ops, const char *const *names, size_t count,
                              const culex_worker_order *order, size_t *told, culex_error *error)
{
    char **ids = ops_alloc(NULL, (count + 1) * sizeof *ids);
    culex_status status = CULEX_OK;
    size_t known = 0;
    for (; known < count && status == CULEX_OK; known += status == CULEX_OK)
        status = worker_find(ops, names[known], &ids[known], error);
    for (size_t i = 0; i < known && status == CULEX_OK; i++) {
        size_t one = 0;
        if (!is_before(ids, i))
            status = culex_client_worker_set(ops->client, ids[i], order, &one, error);
        *told += one;
    }
    for (size_t i = 0; i < known; i++)
        free(ids[i]);
    free(ids);
    return status;
}

static bool worker_count(const culex_worker_info *worker, void *user)
{
    size_t *count = user;
    *count += worker != NULL;
    return true;
}

/* To stop all of them is asked about. */
static culex_status all_set(struct ops *ops, const culex_worker_order *order, size_t *told,
                            culex_error *error)
{
    size_t count = 0;
    bool is_wanted = true;
    culex_status status = culex_client_workers(ops->client, worker_count, &count, error);
    if (status == CULEX_OK && order->stop && count > 0)
        status = ops_ask(ops, &is_wanted, error, "stop all %zu workers", count);
    return status == CULEX_OK && is_wanted
               ? culex_client_worker_set(ops->client, NULL, order, told, error)
               : status;
}

/* Reads the verb, and for one its number: *ret_words of the arguments. */
static culex_status order_read(const struct ops *ops, culex_worker_order *ret_order,
                               size_t *ret_words, culex_error *error)
{
    const char *verb = ops->arguments[0];
    uint64_t number;
    *ret_order = (culex_worker_order){.quiet = CULEX_SWITCH_KEEP};
    *ret_words = 1;
    if (strcmp(verb, "quiet") == 0)
        ret_order->quiet = CULEX_SWITCH_ON;
    else if (strcmp(verb, "go") == 0)
        ret_order->quiet = CULEX_SWITCH_OFF;
    else if (strcmp(verb, "stop") == 0)
        ret_order->stop = true;
    if (strcmp(verb, "concurrency") != 0)
        return CULEX_OK;
    if (ops->argument_count < 2)
        return ops_usage(error, "workers concurrency: how many runs at a time?");
    *ret_words = 2;
    culex_status status = ops_value_count("concurrency", ops->arguments[1], &number, error);
    if (status == CULEX_OK && (number == 0 || number > CULEX_WORKER_CONCURRENCY_MAX))
        return ops_usage(error, "concurrency: 1 to %d runs at a time",
                         CULEX_WORKER_CONCURRENCY_MAX);
    ret_order->concurrency = (unsigned)number;
    return status;
}

static void told_print(const struct ops *ops, size_t told)
{
    struct ops_json json = {.out = stdout};
    if (!ops->options.wants_json) {
        printf("told %zu workers\n", told);
        return;
    }
    ops_json_object(&json, NULL);
    ops_json_count(&json, "told", told);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static culex_status order_give(struct ops *ops, culex_error *error)
{
    culex_worker_order order;
    size_t words, told = 0;
    culex_status status = order_read(ops, &order, &words, error);
    if (status != CULEX_OK)
        return status;
    bool is_named = ops->argument_count > words;
    if (ops->options.is_all && is_named)
        return ops_usage(error, "workers: either --all or the ids or names of some");
    if (!ops->options.is_all && !is_named)
        return ops_usage(error, "workers: which? Say their ids or names, or --all");
    status = is_named ? named_set(ops, ops->arguments + words, ops->argument_count - words, &order,
                                  &told, error)
                      : all_set(ops, &order, &told, error);
    if (status == CULEX_OK && ops->code == 0)
        told_print(ops, told);
    return status;
}

/* --- one of them -------------------------------------------------------------------------------
 */

enum { HEAD_WIDTH = 12 };

/* The head of a line, empty for those below the first. */
static void line_begin(const char *name)
{
    printf("%-*s", HEAD_WIDTH, name);
}

static void text_line(const char *name, const char *text)
{
    line_begin(name);
    ops_print_text(stdout, text[0] != '\0' ? text : "-", text[0] != '\0' ? strlen(text) : 1, false,
                   0);
    putchar('\n');
}

static void served_print(const culex_worker_info *worker)
{
    for (size_t i = 0; i < worker->queue_count; i++) {
        const culex_queue_served *queue = &worker->queues[i];
        line_begin(i == 0 ? "queues" : "");
        ops_print_text(stdout, queue->name, strlen(queue->name), false, 0);
        if (queue->weight != 1)
            printf(", weight %u", queue->weight);
        if (queue->most > 0)
            printf(", at most %u at a time", queue->most);
        putchar('\n');
    }
    if (worker->queues_total > worker->queue_count)
        printf("%*s(%zu more)\n", HEAD_WIDTH, "", worker->queues_total - worker->queue_count);
}

static void at_work_print(const culex_worker_info *worker)
{
    for (size_t i = 0; i < worker->run_count; i++) {
        const culex_run_at_work *run = &worker->runs[i];
        char id[CULEX_UUID_TEXT_SIZE], since[OPS_TIME_SIZE];
        culex_uuid_format(run->id, id);
        line_begin(i == 0 ? "runs" : "");
        printf("%s  since %s  ", id, ops_time_format(run->since_ms, since));
        ops_print_text(stdout, run->queue, strlen(run->queue), false, 0);
        fputs("  ", stdout);
        ops_print_text(stdout, run->job, strlen(run->job), false, 0);
        putchar('\n');
    }
    if (worker->runs_total > worker->run_count)
        printf("%*s(%zu more)\n", HEAD_WIDTH, "", worker->runs_total - worker->run_count);
}

static void worker_print(const culex_worker_info *worker)
{
    char time[OPS_TIME_SIZE];
    const char *state = worker_state(worker);
    text_line("worker", worker->id);
    text_line("name", worker->name);
    text_line("host", worker->host);
    line_begin("pid");
    printf("%" PRId64 "\n", worker->pid);
    text_line("state", state[0] != '\0' ? state : "claims runs");
    text_line("version", worker->version);
    text_line("started", ops_time_format(worker->started_ms, time));
    text_line("heard of", ops_time_format(worker->told_ms, time));
    text_line("isolation", worker->isolation);
    text_line("offers", worker->offers);
    line_begin("at work");
    printf("%zu of %u at a time, at most %u\n", worker->runs_total, worker->concurrency,
           worker->concurrency_max);
    line_begin("ended");
    printf("%" PRIu64 " done, %" PRIu64 " failed\n", worker->done, worker->failed);
    line_begin("memory");
    printf("%" PRId64 " MB, its children %" PRId64 " MB\n", worker->memory_bytes / 1000000,
           worker->children_bytes / 1000000);
    served_print(worker);
    at_work_print(worker);
}

struct showing {
    const char *id;
    bool is_json, is_there;
};

static bool worker_show(const culex_worker_info *worker, void *user)
{
    struct showing *showing = user;
    if (strcmp(worker->id, showing->id) != 0)
        return true;
    showing->is_there = true;
    if (showing->is_json)
        worker_line(worker);
    else
        worker_print(worker);
    return false;
}

static culex_status one_show(struct ops *ops, const char *text, culex_error *error)
{
    char *id = NULL;
    culex_status status = worker_find(ops, text, &id, error);
    if (status != CULEX_OK)
        return status;
    struct showing showing = {.id = id, .is_json = ops->options.wants_json};
    status = culex_client_workers(ops->client, worker_show, &showing, error);
    free(id);
    return status == CULEX_OK && !showing.is_there
               ? ops_fail(error, CULEX_ENOTFOUND, "worker %s has just ended", text)
               : status;
}

static bool is_verb(const char *word)
{
    static const char *const verbs[] = {"quiet", "go", "stop", "concurrency"};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(verbs[i], word) == 0)
            return true;
    }
    return false;
}

static culex_status some_show(struct ops *ops, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < ops->argument_count && status == CULEX_OK; i++) {
        if (i > 0 && !ops->options.wants_json)
            putchar('\n');
        status = one_show(ops, ops->arguments[i], error);
    }
    return status;
}

culex_status ops_workers(struct ops *ops, culex_error *error)
{
    bool is_order = ops->argument_count > 0 && is_verb(ops->arguments[0]);
    if (!is_order && ops->options.is_all)
        return ops_usage(error, "workers: --all goes with quiet, go, stop and concurrency");
    if (ops->argument_count == 0)
        return list_print(ops, error);
    return is_order ? order_give(ops, error) : some_show(ops, error);
}
