/* ops/command/runs.c - culex runs and move. */
#include <stdlib.h>
#include <string.h>

#include "command/find.h"
#include "command/follow.h"
#include "command/group.h"
#include "command/hint.h"
#include "command/job_name.h"
#include "command/parked.h"
#include "command/print.h"
#include "command/run_print.h"

enum { RUNS_LIMIT = 100 };

/* --- lists ------------------------------------------------------------------------------------ */

/* What is listed so far. */
struct listing {
    struct ops *ops;
    struct ops_table table;
    uint64_t most, count;
    bool has_waiting; /* one of the runs waits */
    culex_status status;
    culex_error *error;
};

/* The first line of what a dead run failed with, which a list does not have: "" for another run,
 * and for one that is forgotten meanwhile. */
static culex_status error_read(struct ops *ops, const culex_run_info *run, char **ret_text,
                               culex_error *error)
{
    culex_run_info *whole = NULL;
    culex_status status = CULEX_OK;
    if (run->state == CULEX_RUN_DEAD)
        status = culex_client_get(ops->client, run->queue, run->id, &whole, error);
    const char *text = whole != NULL ? whole->error_text : "";
    *ret_text = ops_copy(text, strcspn(text, "\n"));
    culex_run_info_free(whole);
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

static void row_add(struct ops_table *table, const culex_run_info *run, const char *error_text)
{
    char id[CULEX_UUID_TEXT_SIZE], failures[32];
    culex_uuid_format(run->id, id);
    snprintf(failures, sizeof failures, "%u/%u", (unsigned)(run->failures + run->crashes),
             (unsigned)run->attempts_max);
    ops_table_text(table, id);
    ops_table_text(table, culex_run_state_name(run->state));
    ops_table_text(table, run->job);
    ops_table_count(table, run->attempt);
    ops_table_text(table, failures);
    ops_table_time(table, run->created_at_ms);
    ops_table_time(table, run->at_ms);
    ops_table_text(table, run->tags);
    ops_table_text(table, error_text);
}

static void run_json(const culex_run_info *run, const char *error_text)
{
    struct ops_json json = {.out = stdout};
    ops_json_object(&json, NULL);
    ops_run_json(&json, run);
    if (run->state == CULEX_RUN_DEAD)
        ops_json_text(&json, "error", error_text);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static bool run_add(const culex_run_info *run, void *user)
{
    struct listing *listing = user;
    char *error_text;
    if (listing->count == listing->most)
        return false;
    listing->status = error_read(listing->ops, run, &error_text, listing->error);
    listing->count += listing->status == CULEX_OK;
    listing->has_waiting |= run->state == CULEX_RUN_WAITING;
    if (listing->status == CULEX_OK && listing->ops->options.wants_json)
        run_json(run, error_text);
    else if (listing->status == CULEX_OK)
        row_add(&listing->table, run, error_text);
    free(error_text);
    return listing->status == CULEX_OK && !ferror(stdout);
}

/* Of one state, whose order both stores have. */
static culex_status state_add(struct listing *listing, culex_run_state state,
                              culex_list_cursor *cursor)
{
    struct ops *ops = listing->ops;
    culex_list_filter filter = ops_filter_make(&ops->options);
    culex_status status;
    filter.states = CULEX_LIST_STATE(state);
    do
        status = culex_client_find(ops->client, ops->arguments[0], &filter, cursor,
                                   (size_t)(listing->most - listing->count), run_add, listing,
                                   listing->error);
    while (status == CULEX_OK && listing->status == CULEX_OK && cursor->place != 0 &&
           listing->count < listing->most && !ferror(stdout));
    return status == CULEX_OK ? listing->status : status;
}

/* State after state, what is at work first: a store that is asked for several at once tells them in
 * no order. Whether there may be more. */
static culex_status all_add(struct listing *listing, bool *ret_are_more)
{
    static const culex_run_state order[CULEX_RUN_STATE_COUNT] = {
        CULEX_RUN_ACTIVE, CULEX_RUN_WAITING, CULEX_RUN_SCHEDULED,
        CULEX_RUN_DEAD,   CULEX_RUN_DONE,    CULEX_RUN_CANCELLED};
    unsigned states = listing->ops->options.states;
    culex_status status = CULEX_OK;
    *ret_are_more = false;
    for (size_t i = 0; i < CULEX_RUN_STATE_COUNT && status == CULEX_OK && !*ret_are_more; i++) {
        culex_list_cursor cursor = {.place = 0};
        if (states != 0 && (states & CULEX_LIST_STATE(order[i])) == 0)
            continue;
        *ret_are_more = listing->count == listing->most;
        if (!*ret_are_more)
            status = state_add(listing, order[i], &cursor);
        *ret_are_more |= cursor.place != 0;
    }
    return status;
}

/* A run that stands aside looks like one that waits for a worker: what holds some back is told. */
static void parked_tell(struct ops *ops)
{
    struct ops_parked parked;
    culex_error ignored = {.code = CULEX_OK};
    char text[OPS_PARKED_SIZE + 100];
    if (ops_parked_read(ops, ops->arguments[0], ops->options.job, &parked, &ignored) != CULEX_OK ||
        parked.count == 0)
        return;
    snprintf(text, sizeof text, "of the runs that wait some are parked: %s", parked.text);
    ops_failure_print(text);
}

culex_status ops_runs(struct ops *ops, culex_error *error)
{
    static const char *const heads[] = {"ID",       "STATE",      "~JOB",       ">7ATTEMPT",
                                        ">6FAILED", "@5ENQUEUED", "@8DUE/ENDS", "~?9TAGS",
                                        "~?1ERROR", NULL};
    struct listing listing = {.ops = ops, .most = RUNS_LIMIT, .error = error};
    bool are_more = false;
    if (ops_is_given(&ops->options, "limit"))
        listing.most = ops->options.limit;
    if (listing.most == 0)
        return ops_usage(error, "--limit: 0 runs are none");
    culex_status status = ops_filter_check(&ops->options, error);
    if (status == CULEX_OK)
        status = ops_job_name_take(ops, ops->arguments[0], error);
    if (status == CULEX_OK && ops->options.by != NULL)
        return ops_runs_by_error(ops, error);
    if (status == CULEX_OK && ops->options.is_following)
        return ops_runs_follow(ops, error);
    if (status != CULEX_OK)
        return status;
    ops_table_begin(&listing.table, heads);
    status = all_add(&listing, &are_more);
    if (!ops->options.wants_json && (status == CULEX_OK || listing.count > 0))
        ops_table_print(&listing.table, stdout);
    ops_table_end(&listing.table);
    fflush(stdout);
    if (status == CULEX_OK && are_more)
        fprintf(stderr, "culex: there may be more; --limit tells how many are listed\n");
    if (status == CULEX_OK && listing.has_waiting && !ops->options.wants_json)
        parked_tell(ops);
    if (status == CULEX_OK && listing.count == 0)
        ops_hint_print(ops, ops->arguments[0]);
    return status;
}

/* --- move ------------------------------------------------------------------------------------- */

static void moved_tell(const struct ops *ops, const culex_run_info *run)
{
    char id[CULEX_UUID_TEXT_SIZE], at[OPS_TIME_SIZE];
    struct ops_json json = {.out = stdout};
    culex_uuid_format(run->id, id);
    if (!ops->options.wants_json) {
        printf("%s: %s, priority %d%s%s\n", id, culex_run_state_name(run->state), run->priority,
               run->state == CULEX_RUN_SCHEDULED ? ", due " : "",
               run->state == CULEX_RUN_SCHEDULED ? ops_time_format(run->at_ms, at) : "");
        return;
    }
    ops_json_object(&json, NULL);
    ops_run_json(&json, run);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static culex_status run_move(struct ops *ops, const char *text, const culex_move *move,
                             culex_error *error)
{
    struct ops_run run;
    culex_run_info *info = NULL;
    culex_status status = ops_run_find(ops, text, &run, error);
    if (status == CULEX_OK)
        status = culex_client_move(ops->client, run.queue, run.id, move, error);
    if (status == CULEX_OK &&
        culex_client_get(ops->client, run.queue, run.id, &info, error) == CULEX_OK)
        moved_tell(ops, info);
    culex_run_info_free(info);
    return status;
}

culex_status ops_move(struct ops *ops, culex_error *error)
{
    const struct ops_options *options = &ops->options;
    const culex_move move = {.has_delay = ops_is_given(options, "delay"),
                             .delay = options->delay,
                             .has_at = ops_is_given(options, "at"),
                             .at = options->at,
                             .has_priority = ops_is_given(options, "priority"),
                             .priority = options->priority < 100 ? (int)options->priority : 100};
    if (!move.has_delay && !move.has_at && !move.has_priority)
        return ops_usage(error, "move: --delay, --at or --priority tells where to");
    if (move.has_delay && move.has_at)
        return ops_usage(error, "move: --delay or --at");
    culex_status status = ops_runs_check(ops, error);
    for (size_t i = 0; i < ops->argument_count && status == CULEX_OK; i++)
        status = ops_go_on(ops, run_move(ops, ops->arguments[i], &move, error), ops->arguments[i],
                           error);
    return status;
}
