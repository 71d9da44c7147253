/* ops/command/show.c - culex show and wait. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/find.h"
#include "command/history.h"
#include "command/holder.h"
#include "command/open.h"
#include "command/parked.h"
#include "command/print.h"
#include "command/run_print.h"
#include "command/schema_find.h"
#include "command/trace.h"
#include "command/values.h"

/* --- a run for people ------------------------------------------------------------------------- */

enum { HEAD_WIDTH = 12 };

static void head_print(const char *name)
{
    printf("%-*s", HEAD_WIDTH, name);
}

static void text_line(const char *name, const char *text, size_t len)
{
    if (len == 0)
        return;
    head_print(name);
    ops_print_text(stdout, text, len, true, HEAD_WIDTH);
    putchar('\n');
}

static void time_line(const char *name, int64_t ms)
{
    char text[OPS_TIME_SIZE];
    if (ms != 0)
        text_line(name, ops_time_format(ms, text), strlen(ops_time_format(ms, text)));
}

/* Attempts are counted for ever. Failures, by which a run dies, begin anew with a retry by hand. */
static void attempts_line(const culex_run_info *run)
{
    head_print("attempt");
    printf("%" PRIu32 "; %" PRIu32 " of %" PRIu32 " failures (%" PRIu32 " failed, %" PRIu32
           " crashed; %" PRIu32 " lost)\n",
           run->attempt, run->failures + run->crashes, run->attempts_max, run->failures,
           run->crashes, run->losses);
}

static void progress_line(const culex_run_info *run)
{
    if (run->progress < 0)
        return;
    head_print("progress");
    printf("%d %%%s", run->progress, run->progress_text[0] != '\0' ? " " : "");
    ops_print_text(stdout, run->progress_text, strlen(run->progress_text), false, 0);
    putchar('\n');
}

static void trace_line(const culex_run_info *run)
{
    char parent[OPS_TRACEPARENT_SIZE];
    if (!ops_trace_find(run->payload, parent))
        return;
    head_print("trace");
    printf("%.32s, from span %.16s, %s\n", parent + 3, parent + 36,
           strchr("13579bdf", parent[54]) != NULL ? "recorded" : "not recorded");
}

static void part_raw(const struct ops *ops, const struct ops_part *part)
{
    static const char hidden[] = "(not shown: --params)";
    if (ops->options.wants_params)
        text_line(part->name, (const char *)part->text.data, part->text.len);
    else
        text_line(part->name, hidden, strlen(hidden));
}

static void part_typed(const struct ops *ops, const struct ops_part *part,
                       const culex_struct_type *type, const void *value)
{
    const struct ops_values_style style = {.shows_secrets = ops->options.wants_params,
                                           .wants_docs = ops->options.is_verbose,
                                           .indent = HEAD_WIDTH};
    head_print(part->name);
    ops_values_print(stdout, type, value, &style);
    ops_strangers_print(stdout, part->type,
                        (struct ops_slice){(const char *)part->text.data, part->text.len},
                        HEAD_WIDTH);
}

/* What does not fit its schema is shown as if there were none. */
static void part_print(const struct ops *ops, const struct ops_part *part)
{
    const culex_struct_type *type;
    const void *value;
    culex_error error = {.code = CULEX_OK};
    culex_arena *arena = culex_arena_create();
    if (part->text.len == 0) {
        culex_arena_free(arena);
        return;
    }
    bool is_typed =
        part->type != NULL && ops_part_decode(part, arena, &type, &value, &error) == CULEX_OK;
    if (is_typed)
        part_typed(ops, part, type, value);
    else
        part_raw(ops, part);
    if (error.code != CULEX_OK) {
        head_print("");
        fputs(is_typed ? "(not opened: " : "(not by the schema: ", stdout);
        ops_print_text(stdout, error.text, strlen(error.text), false, 0);
        fputs(")\n", stdout);
    }
    culex_arena_free(arena);
}

static void parts_lines(const struct ops *ops, const culex_run_info *run,
                        const struct ops_schema *schema)
{
    struct ops_part parts[2];
    ops_parts_make(run, schema, ops->options.wants_params, parts);
    text_line("schema", schema->note, strlen(schema->note));
    part_print(ops, &parts[0]);
    part_print(ops, &parts[1]);
}

static void lines_print(const culex_run_lines *lines)
{
    static const char *const levels[] = {"?", "error", "warning", "info", "debug"};
    for (size_t i = 0; i < lines->count; i++) {
        const culex_run_line *line = &lines->items[i];
        char at[OPS_TIME_SIZE];
        bool is_known = (unsigned)line->level < sizeof levels / sizeof levels[0];
        const char *level = levels[is_known ? line->level : 0];
        head_print(i == 0 ? "log" : "");
        printf("%s  attempt %" PRIu32 "  %-7s  ", ops_time_format(line->at / CULEX_MILLISECOND, at),
               line->attempt, level);
        ops_print_text(stdout, line->text, strlen(line->text), false, 0);
        putchar('\n');
    }
}

/* The store does not tell which runs stand aside, only how many do behind each limit. */
static void parked_line(struct ops *ops, const struct ops_run *run, const culex_run_info *info)
{
    struct ops_parked parked;
    culex_error ignored = {.code = CULEX_OK};
    if (info->state != CULEX_RUN_WAITING ||
        ops_parked_read(ops, run->queue, info->job, &parked, &ignored) != CULEX_OK ||
        parked.count == 0)
        return;
    head_print("");
    fputs("maybe parked: ", stdout);
    ops_print_text(stdout, parked.text, strlen(parked.text), false, 0);
    putchar('\n');
}

static void holder_line(struct ops *ops, const culex_run_info *info)
{
    struct ops_holder holder;
    char since[OPS_TIME_SIZE];
    if (info->state != CULEX_RUN_ACTIVE || !ops_holder_find(ops, info->id, &holder))
        return;
    head_print("holder");
    ops_print_text(stdout, holder.name, strlen(holder.name), false, 0);
    fputs(" (", stdout);
    ops_print_text(stdout, holder.host, strlen(holder.host), false, 0);
    printf(", process %" PRId64 "), since %s\n", holder.pid,
           ops_time_format(holder.since_ms, since));
}

static void history_lines(const struct ops_history *history)
{
    static const char cut[] = "(what was before is kept no more)";
    if (history->count > 0 && !history->is_whole)
        text_line("history", cut, sizeof cut - 1);
    for (size_t i = 0; i < history->count; i++) {
        const struct ops_moment *moment = &history->of[i];
        char at[OPS_TIME_SIZE];
        head_print(i == 0 && history->is_whole ? "history" : "");
        printf("%s  attempt %" PRIu32 "  %s\n", ops_time_format(moment->at_ms, at), moment->attempt,
               culex_events_kind_name(moment->kind));
    }
}

static void run_print(struct ops *ops, const struct ops_run *run, const culex_run_info *info,
                      const struct ops_schema *schema, const struct ops_history *history,
                      const culex_run_lines *lines)
{
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(run->id, id);
    text_line("run", id, strlen(id));
    text_line("queue", run->queue, strlen(run->queue));
    text_line("job", info->job, strlen(info->job));
    const char *state = culex_run_state_name(info->state);
    text_line("state", state, strlen(state));
    if (info->cancel_requested)
        text_line("", "is asked to stop", sizeof "is asked to stop" - 1);
    parked_line(ops, run, info);
    attempts_line(info);
    head_print("priority");
    printf("%d\n", info->priority);
    time_line("enqueued", info->created_at_ms);
    time_line(ops_run_at_name(info->state), info->at_ms);
    holder_line(ops, info);
    time_line("expires", info->expires_at_ms);
    text_line("tags", info->tags, strlen(info->tags));
    trace_line(info);
    progress_line(info);
    text_line("error", info->error_text, strlen(info->error_text));
    parts_lines(ops, info, schema);
    history_lines(history);
    lines_print(lines);
}

/* --- show ------------------------------------------------------------------------------------- */

static void holder_json(struct ops *ops, struct ops_json *json, const culex_run_info *info)
{
    struct ops_holder holder;
    if (info->state != CULEX_RUN_ACTIVE || !ops_holder_find(ops, info->id, &holder))
        return;
    ops_json_object(json, "holder");
    ops_json_text(json, "id", holder.id);
    ops_json_text(json, "name", holder.name);
    ops_json_text(json, "host", holder.host);
    ops_json_int(json, "pid", holder.pid);
    ops_json_int(json, "since_ms", holder.since_ms);
    ops_json_object_end(json);
}

/* None is told of a queue that keeps no events. */
static void history_json(struct ops_json *json, const struct ops_history *history)
{
    if (history->kept == 0)
        return;
    ops_json_bool(json, "history_is_whole", history->is_whole);
    ops_json_array(json, "history");
    for (size_t i = 0; i < history->count; i++) {
        ops_json_object(json, NULL);
        ops_json_text(json, "event", culex_events_kind_name(history->of[i].kind));
        ops_json_count(json, "attempt", history->of[i].attempt);
        ops_json_int(json, "at_ms", history->of[i].at_ms);
        ops_json_object_end(json);
    }
    ops_json_array_end(json);
}

static void run_line(struct ops *ops, const culex_run_info *info, const struct ops_schema *schema,
                     const struct ops_history *history, const culex_run_lines *lines)
{
    struct ops_json json = {.out = stdout};
    ops_json_object(&json, NULL);
    ops_run_members_json(&json, info, schema, lines, ops->options.wants_params);
    holder_json(ops, &json, info);
    history_json(&json, history);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static culex_status run_show(struct ops *ops, const char *text, culex_error *error)
{
    struct ops_run run;
    culex_run_info *info = NULL;
    culex_run_lines *lines = NULL;
    struct ops_schema schema = {.schema = NULL};
    struct ops_history history = {.of = NULL};
    culex_status status =
        ops_name_failure(ops_run_read(ops, text, &run, &info, error), text, error);
    if (status == CULEX_OK)
        status = culex_client_run_log(ops->client, run.queue, run.id, &lines, error);
    if (status == CULEX_OK)
        status = ops_history_read(ops, &run, &history, error);
    if (status == CULEX_OK)
        status = ops_schema_of_run(ops, run.queue, info->job, info->fingerprint, &schema, error);
    schema.keys = ops_has_keys(ops) ? ops->client : NULL;
    if (status == CULEX_OK && ops->options.wants_json)
        run_line(ops, info, &schema, &history, lines);
    else if (status == CULEX_OK)
        run_print(ops, &run, info, &schema, &history, lines);
    ops_schema_release(&schema);
    ops_history_free(&history);
    culex_run_lines_free(lines);
    culex_run_info_free(info);
    return status;
}

culex_status ops_show(struct ops *ops, culex_error *error)
{
    culex_status status = CULEX_OK;
    if (ops->options.keys != NULL && !ops->options.wants_params)
        return ops_usage(error, "--keys opens what --params shows: say both");
    for (size_t i = 0; i < ops->argument_count && status == CULEX_OK; i++) {
        if (i > 0 && !ops->options.wants_json)
            putchar('\n');
        status = run_show(ops, ops->arguments[i], error);
    }
    return status;
}

/* --- wait ------------------------------------------------------------------------------------- */

/* What a run that is done has failed with is of an earlier attempt. */
static void end_print(const struct ops *ops, const culex_wait *wait)
{
    char id[CULEX_UUID_TEXT_SIZE];
    bool is_good = wait->run == NULL || wait->end == CULEX_WAIT_DONE;
    const char *text = is_good ? "" : wait->run->error_text;
    struct ops_json json = {.out = stdout};
    culex_uuid_format(wait->id, id);
    if (ops->options.wants_json) {
        ops_json_object(&json, NULL);
        ops_json_text(&json, "id", id);
        ops_json_text(&json, "queue", wait->queue);
        ops_json_text(&json, "end", culex_wait_end_name(wait->end));
        ops_json_text(&json, "error", text);
        ops_json_object_end(&json);
        ops_json_line_end(&json);
        return;
    }
    printf("%s: %s%s", id, culex_wait_end_name(wait->end), text[0] != '\0' ? ": " : "");
    ops_print_text(stdout, text, strlen(text), false, 0);
    putchar('\n');
}

static culex_status runs_wait(struct ops *ops, struct ops_run *runs, culex_wait *waits,
                              culex_error *error)
{
    culex_status status = CULEX_OK;
    size_t count = ops->argument_count;
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        status = ops_name_failure(ops_run_find(ops, ops->arguments[i], &runs[i], error),
                                  ops->arguments[i], error);
        waits[i].queue = runs[i].queue;
        waits[i].id = runs[i].id;
    }
    culex_duration timeout =
        ops_is_given(&ops->options, "timeout") ? ops->options.timeout : CULEX_DAY;
    if (status == CULEX_OK)
        status = culex_client_wait(ops->client, waits, count, count, timeout, error);
    for (size_t i = 0; i < count; i++) {
        if (status == CULEX_OK || waits[i].end != CULEX_WAIT_PENDING)
            end_print(ops, &waits[i]);
        if (waits[i].end != CULEX_WAIT_DONE)
            ops->code = OPS_EXIT_FAILED;
    }
    return status;
}

culex_status ops_wait(struct ops *ops, culex_error *error)
{
    size_t count = ops->argument_count;
    struct ops_run *runs = ops_alloc(NULL, count * sizeof *runs);
    culex_wait *waits = ops_alloc(NULL, count * sizeof *waits);
    memset(waits, 0, count * sizeof *waits);
    culex_status status = runs_wait(ops, runs, waits, error);
    for (size_t i = 0; i < count; i++)
        culex_run_info_free(waits[i].run);
    free(waits);
    free(runs);
    return status;
}
