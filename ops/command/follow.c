/* ops/command/follow.c - culex runs --follow, by the queue's events. */
#include "command/follow.h"

#include <inttypes.h>
#include <string.h>

#include <culex/events.h>

#include "command/ask.h"
#include "command/print.h"
#include "command/run_print.h"

static bool has_tag(const char *tags, const char *tag)
{
    size_t len = strlen(tag);
    while (*tags != '\0') {
        size_t its = strcspn(tags, ",");
        if (its == len && memcmp(tags, tag, len) == 0)
            return true;
        tags += its + (tags[its] == ',');
    }
    return false;
}

/* The state that an event tells of. Some leave it open, which are those that may be followed by
 * several: then it is the run's own, as long as the run waits and has not been begun since. False:
 * nobody can say. */
static bool state_told(const culex_event *event, const culex_run_info *run,
                       culex_run_state *ret_state)
{
    static const struct {
        culex_events_kind kind;
        culex_run_state state;
    } told[] = {{CULEX_EVENTS_STARTED, CULEX_RUN_ACTIVE},
                {CULEX_EVENTS_DONE, CULEX_RUN_DONE},
                {CULEX_EVENTS_DEAD, CULEX_RUN_DEAD},
                {CULEX_EVENTS_CANCELLED, CULEX_RUN_CANCELLED}};
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        *ret_state = told[i].state;
        if (told[i].kind == event->kind)
            return true;
    }
    *ret_state = run->state;
    return run->attempt == event->attempt &&
           (run->state == CULEX_RUN_SCHEDULED || run->state == CULEX_RUN_WAITING);
}

/* What the run has failed with is the event's, unless there was another attempt. */
static bool has_error(const culex_event *event, const culex_run_info *run)
{
    bool is_bad = event->kind == CULEX_EVENTS_FAILED || event->kind == CULEX_EVENTS_CRASHED ||
                  event->kind == CULEX_EVENTS_LOST || event->kind == CULEX_EVENTS_DEAD;
    return is_bad && run->attempt == event->attempt && run->error_text[0] != '\0';
}

/* As the store judges a run, but by the state that the event tells of. */
static bool is_taken(const struct ops_options *options, const culex_event *event,
                     const culex_run_info *run)
{
    const int64_t created = run->created_at_ms;
    culex_run_state state;
    if (options->states != 0 &&
        (!state_told(event, run, &state) || (options->states & CULEX_LIST_STATE(state)) == 0))
        return false;
    return (options->job == NULL || strcmp(options->job, run->job) == 0) &&
           (options->tag == NULL || has_tag(run->tags, options->tag)) &&
           (options->error_part == NULL || strstr(run->error_text, options->error_part) != NULL) &&
           (!ops_is_given(options, "since") || created >= options->since / CULEX_MILLISECOND) &&
           (!ops_is_given(options, "before") || created < options->before / CULEX_MILLISECOND);
}

static void change_json(const culex_event *event, const culex_run_info *run)
{
    struct ops_json json = {.out = stdout};
    culex_run_state state;
    ops_json_object(&json, NULL);
    ops_json_text(&json, "event", culex_events_kind_name(event->kind));
    ops_json_int(&json, "event_at_ms", event->at_ms);
    ops_json_id(&json, "id", run->id);
    ops_json_text(&json, "queue", run->queue);
    ops_json_text(&json, "job", run->job);
    if (state_told(event, run, &state))
        ops_json_text(&json, "state", culex_run_state_name(state));
    ops_json_count(&json, "attempt", event->attempt);
    ops_json_int(&json, "created_at_ms", run->created_at_ms);
    ops_tags_json(&json, run->tags);
    if (has_error(event, run))
        ops_json_text(&json, "error", run->error_text);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static void change_print(const culex_event *event, const culex_run_info *run)
{
    char at[OPS_TIME_SIZE], id[CULEX_UUID_TEXT_SIZE];
    culex_run_state state;
    bool has_state = state_told(event, run, &state);
    culex_uuid_format(run->id, id);
    printf("%s  %-9s  %s  %-9s  ", ops_time_format(event->at_ms, at),
           culex_events_kind_name(event->kind), id, has_state ? culex_run_state_name(state) : "-");
    ops_print_text(stdout, run->job, strlen(run->job), false, 0);
    if (has_error(event, run)) {
        fputs("  ", stdout);
        ops_print_text(stdout, run->error_text, strcspn(run->error_text, "\n"), false, 0);
    }
    putchar('\n');
}

/* A run that is forgotten by now, and an event of the queue, have no line. */
static culex_status event_show(struct ops *ops, const culex_event *event, uint64_t *left,
                               culex_error *error)
{
    static const culex_uuid none;
    culex_run_info *run = NULL;
    if (memcmp(&event->id, &none, sizeof none) == 0)
        return CULEX_OK;
    culex_status status = culex_client_get(ops->client, ops->arguments[0], event->id, &run, error);
    if (status == CULEX_OK && is_taken(&ops->options, event, run)) {
        if (ops->options.wants_json)
            change_json(event, run);
        else
            change_print(event, run);
        --*left;
    }
    culex_run_info_free(run);
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

static culex_status page_show(struct ops *ops, const culex_events *page, uint64_t *left,
                              culex_error *error)
{
    culex_status status = CULEX_OK;
    if (page->kept == 0)
        return ops_fail(error, CULEX_ESTATE,
                        "queue %s keeps no events, by which runs are followed: culex events %s "
                        "--keep 10000 has it do so",
                        ops->arguments[0], ops->arguments[0]);
    if (page->is_gap)
        fputs("culex: some changes are missing: they came faster than they were read\n", stderr);
    for (size_t i = 0; i < page->count && status == CULEX_OK && *left > 0; i++)
        status = event_show(ops, &page->of[i], left, error);
    fflush(stdout);
    return status;
}

culex_status ops_runs_follow(struct ops *ops, culex_error *error)
{
    enum { PAGE = 100 };
    uint64_t left = ops_is_given(&ops->options, "limit") ? ops->options.limit : UINT64_MAX;
    uint64_t position = CULEX_EVENTS_NOW;
    culex_status status = CULEX_OK;
    ops_interrupts_catch();
    while (status == CULEX_OK && left > 0 && !ops_is_interrupted() && !ferror(stdout)) {
        culex_events *page = NULL;
        status = culex_client_events(ops->client, ops->arguments[0], position, PAGE,
                                     300 * CULEX_MILLISECOND, &page, error);
        if (status != CULEX_OK)
            break;
        status = page_show(ops, page, &left, error);
        position = page->position;
        culex_events_free(page);
    }
    return status;
}
