/* ops/command/queues.c - culex queues, pause, resume and capacity. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "command/ask.h"
#include "command/find.h"
#include "command/parked.h"
#include "command/print.h"
#include "command/shape.h"

/* --- queues ----------------------------------------------------------------------------------- */

/* Adds one to a list of marks. */
CULEX_PRINTF(3, 4)
static void mark_add(char *text, size_t size, const char *format, ...)
{
    size_t len = strlen(text);
    va_list arguments;
    if (len > 0 && len + 2 < size) {
        strcpy(text + len, ", ");
        len += 2;
    }
    va_start(arguments, format);
    vsnprintf(text + len, size - len, format, arguments);
    va_end(arguments);
}

static void marks_add(struct ops_table *table, const culex_queue_stats *stats, uint64_t parked)
{
    char text[200] = "", until[OPS_TIME_SIZE];
    if (stats->paused && stats->paused_until_ms != 0)
        mark_add(text, sizeof text, "paused until %s",
                 ops_time_format(stats->paused_until_ms, until));
    else if (stats->paused)
        mark_add(text, sizeof text, "paused");
    if (ops_queue_is_full(stats))
        mark_add(text, sizeof text, "FULL (at most %" PRIu64 ")", stats->limit);
    else if (stats->limit > 0)
        mark_add(text, sizeof text, "at most %" PRIu64, stats->limit);
    if (stats->dead_limit > 0)
        mark_add(text, sizeof text, "dead at most %" PRIu64, stats->dead_limit);
    if (parked > 0)
        mark_add(text, sizeof text, "%" PRIu64 " parked", parked);
    ops_table_text(table, text);
}

static void stats_row(struct ops_table *table, const char *queue, const culex_queue_stats *stats,
                      uint64_t parked)
{
    ops_table_text(table, queue);
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++)
        ops_table_count(table, stats->count[state]);
    ops_table_count(table, stats->enqueued);
    marks_add(table, stats, parked);
}

static void queue_line(const char *queue, const culex_queue_stats *stats, uint64_t parked)
{
    struct ops_json json = {.out = stdout};
    ops_json_object(&json, NULL);
    ops_queue_json(&json, queue, stats, parked);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static culex_status queue_add(struct ops *ops, const char *queue, struct ops_table *table,
                              culex_error *error)
{
    culex_queue_stats stats;
    struct ops_parked parked = {.count = 0};
    culex_status status = culex_client_stats(ops->client, queue, &stats, error);
    if (status == CULEX_OK && stats.count[CULEX_RUN_WAITING] > 0)
        status = ops_parked_read(ops, queue, NULL, &parked, error);
    if (status == CULEX_OK && ops->options.wants_json)
        queue_line(queue, &stats, parked.count);
    else if (status == CULEX_OK)
        stats_row(table, queue, &stats, parked.count);
    return status;
}

culex_status ops_queues(struct ops *ops, culex_error *error)
{
    static const char *const heads[] = {"~QUEUE", ">SCHEDULED",  ">WAITING",   ">ACTIVE", ">9DONE",
                                        ">DEAD",  ">7CANCELLED", ">8ENQUEUED", "~",       NULL};
    return ops_queues_print(ops, heads, queue_add, error);
}

/* --- steering --------------------------------------------------------------------------------- */

static void done_tell(const struct ops *ops, const char *queue, const char *what)
{
    struct ops_json json = {.out = stdout};
    if (!ops->options.wants_json) {
        printf("%s: %s\n", queue, what);
        return;
    }
    ops_json_object(&json, NULL);
    ops_json_text(&json, "queue", queue);
    ops_json_text(&json, "now", what);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static culex_status pause_span_check(const struct ops_options *options, culex_error *error)
{
    enum { DAYS_MAX = 36500 };
    if (!ops_is_given(options, "for"))
        return CULEX_OK;
    if (options->duration < CULEX_MILLISECOND)
        return ops_usage(error, "--for: a pause lasts 1 ms or more; culex resume ends one");
    if (options->duration > DAYS_MAX * CULEX_DAY)
        return ops_usage(error, "--for: more than 100 years; without it a pause has no end");
    return CULEX_OK;
}

/* "paused until ..., in place of a pause without an end", by what the store said before and says
 * now. */
static void pause_tell(const struct ops *ops, const char *queue, const culex_queue_stats *before,
                       const culex_queue_stats *now)
{
    struct ops_json json = {.out = stdout};
    char text[128] = "paused", until[OPS_TIME_SIZE];
    bool was_without_end =
        before->paused && before->paused_until_ms == 0 && now->paused_until_ms != 0;
    if (now->paused_until_ms != 0)
        snprintf(text, sizeof text, "paused until %s%s",
                 ops_time_format(now->paused_until_ms, until),
                 was_without_end ? ", in place of a pause without an end" : "");
    if (!ops->options.wants_json) {
        done_tell(ops, queue, text);
        return;
    }
    ops_json_object(&json, NULL);
    ops_json_text(&json, "queue", queue);
    ops_json_text(&json, "now", "paused");
    ops_json_int(&json, "until_ms", now->paused_until_ms);
    ops_json_bool(&json, "was_without_end", was_without_end);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static culex_status queue_pause(struct ops *ops, const char *queue, culex_error *error)
{
    culex_queue_stats before, now;
    culex_status status = culex_client_stats(ops->client, queue, &before, error);
    if (status == CULEX_OK)
        status = ops_is_given(&ops->options, "for")
                     ? culex_client_pause_for(ops->client, queue, ops->options.duration, error)
                     : culex_client_pause(ops->client, queue, error);
    if (status == CULEX_OK)
        status = culex_client_stats(ops->client, queue, &now, error);
    if (status == CULEX_OK)
        pause_tell(ops, queue, &before, &now);
    return status;
}

culex_status ops_pause(struct ops *ops, culex_error *error)
{
    culex_status status = pause_span_check(&ops->options, error);
    for (size_t i = 0; i < ops->argument_count && status == CULEX_OK; i++)
        status = queue_pause(ops, ops->arguments[i], error);
    return status;
}

culex_status ops_resume(struct ops *ops, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < ops->argument_count && status == CULEX_OK; i++) {
        status = culex_client_resume(ops->client, ops->arguments[i], error);
        if (status == CULEX_OK)
            done_tell(ops, ops->arguments[i], "resumed");
    }
    return status;
}

/* Those beyond the bound are forgotten, which nobody takes back. */
static culex_status dead_bound(struct ops *ops, const char *queue, uint64_t most,
                               culex_error *error)
{
    culex_queue_stats stats;
    bool is_wanted = true;
    culex_status status = culex_client_stats(ops->client, queue, &stats, error);
    if (status != CULEX_OK)
        return status;
    uint64_t dead = stats.count[CULEX_RUN_DEAD];
    if (most > 0 && dead > most)
        status = ops_ask(ops, &is_wanted, error,
                         "forget %" PRIu64 " of %" PRIu64 " dead runs of queue %s", dead - most,
                         dead, queue);
    return status == CULEX_OK && is_wanted
               ? culex_client_dead_limit(ops->client, queue, most, error)
               : status;
}

culex_status ops_capacity(struct ops *ops, culex_error *error)
{
    uint64_t most;
    char text[64] = "not bounded";
    const char *queue = ops->arguments[0];
    culex_status status = ops_value_count("N", ops->arguments[1], &most, error);
    if (status == CULEX_OK && ops->options.is_of_dead)
        status = dead_bound(ops, queue, most, error);
    else if (status == CULEX_OK)
        status = culex_client_limit(ops->client, queue, most, error);
    if (status != CULEX_OK || ops->code != 0)
        return status;
    if (most > 0)
        snprintf(text, sizeof text, "at most %" PRIu64 " %s", most,
                 ops->options.is_of_dead ? "dead runs" : "runs that have not ended");
    done_tell(ops, queue, text);
    return CULEX_OK;
}
