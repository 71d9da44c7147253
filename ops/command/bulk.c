/* ops/command/bulk.c - culex retry, cancel, delete and purge: of named runs, or of many.
 *
 * Many are listed first, so that what is done is done to those that were counted, and to no run
 * that has come to be meant since. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/ask.h"
#include "command/find.h"
#include "command/hint.h"
#include "command/job_name.h"
#include "command/print.h"

/* What is done to runs, and to those of which states. */
struct deed {
    const char *name, *past;
    unsigned states;
    culex_status (*call)(culex_client *client, const char *queue, culex_uuid id, bool *ret_is_asked,
                         culex_error *error);
};

static culex_status run_retry(culex_client *client, const char *queue, culex_uuid id,
                              bool *ret_is_asked, culex_error *error)
{
    *ret_is_asked = false;
    return culex_client_retry(client, queue, id, error);
}

static culex_status run_delete(culex_client *client, const char *queue, culex_uuid id,
                               bool *ret_is_asked, culex_error *error)
{
    *ret_is_asked = false;
    return culex_client_delete(client, queue, id, error);
}

static culex_status run_cancel(culex_client *client, const char *queue, culex_uuid id,
                               bool *ret_is_asked, culex_error *error)
{
    culex_run_state state = CULEX_RUN_CANCELLED;
    culex_status status = culex_client_cancel(client, queue, id, &state, error);
    *ret_is_asked = state == CULEX_RUN_ACTIVE;
    return status;
}

/* --- counts ----------------------------------------------------------------------------------- */

struct counts {
    uint64_t matched, done;
    uint64_t asked;   /* of those done: at work, and asked to stop */
    uint64_t skipped; /* had changed meanwhile, or another run has their unique key */
};

static void counts_json(const struct ops *ops, const char *queue, const struct counts *counts)
{
    struct ops_json json = {.out = stdout};
    ops_json_object(&json, NULL);
    ops_json_text(&json, "queue", queue);
    ops_json_bool(&json, "dry_run", ops->options.is_dry);
    ops_json_count(&json, "matched", counts->matched);
    ops_json_count(&json, "done", counts->done);
    ops_json_count(&json, "asked_to_stop", counts->asked);
    ops_json_count(&json, "skipped", counts->skipped);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static void counts_print(const struct ops *ops, const char *queue, const char *past,
                         const struct counts *counts)
{
    if (ops->options.wants_json) {
        counts_json(ops, queue, counts);
        return;
    }
    if (ops->options.is_dry) {
        printf("%" PRIu64 " runs of queue %s would be %s\n", counts->matched, queue, past);
        return;
    }
    printf("%" PRIu64 " runs of queue %s %s\n", counts->done - counts->asked, queue, past);
    if (counts->asked > 0)
        printf("%" PRIu64 " are at work, and were asked to stop\n", counts->asked);
    if (counts->skipped > 0)
        printf("%" PRIu64 " were left: they had changed meanwhile, or another run has their unique "
               "key\n",
               counts->skipped);
}

/* What was done by then is told, whatever ended it. */
static culex_status end_tell(struct ops *ops, const char *queue, const char *past,
                             const struct counts *counts, culex_status status, culex_error *error)
{
    ops_progress_end();
    if (status != CULEX_OK && counts->done == 0)
        return status;
    counts_print(ops, queue, past, counts);
    if (status == CULEX_OK && ops_is_interrupted() &&
        counts->done + counts->skipped < counts->matched && !ops->options.is_dry)
        return ops_fail(error, CULEX_ESTATE, "interrupted: %" PRIu64 " of %" PRIu64 " were done",
                        counts->done, counts->matched);
    return status;
}

/* --- many ------------------------------------------------------------------------------------- */

struct ids {
    culex_uuid *of; /* owned */
    size_t count, capacity;
};

static bool id_add(const culex_run_info *run, void *user)
{
    struct ids *ids = user;
    if (ids->count == ids->capacity) {
        ids->capacity = ids->capacity > 0 ? ids->capacity * 2 : 256;
        ids->of = ops_alloc(ids->of, ids->capacity * sizeof *ids->of);
    }
    ids->of[ids->count++] = run->id;
    return true;
}

/* A job that is named without its package is told whole, before anything is done to its runs. */
static culex_status job_take(struct ops *ops, culex_list_filter *filter, culex_error *error)
{
    const char *given = filter->job;
    culex_status status = ops_job_name_take(ops, ops->options.queue, error);
    filter->job = ops->options.job;
    if (status == CULEX_OK && given != NULL && strcmp(given, filter->job) != 0)
        fprintf(stderr, "culex: the job %s is %s\n", given, filter->job);
    return status;
}

/* Which runs are meant has to be said: nobody empties a store by a forgotten word. */
static culex_status filter_make(struct ops *ops, const struct deed *deed,
                                culex_list_filter *ret_filter, culex_error *error)
{
    const struct ops_options *options = &ops->options;
    *ret_filter = ops_filter_make(options);
    if (ret_filter->states == 0)
        ret_filter->states = deed->states;
    bool is_narrow = options->states != 0 || options->job != NULL || options->tag != NULL ||
                     options->error_part != NULL || ret_filter->has_since || ret_filter->has_before;
    if (options->queue == NULL)
        return ops_usage(error, "%s: name runs by their ids, or say --queue and which of it",
                         deed->name);
    if (!is_narrow && !options->is_all)
        return ops_usage(error,
                         "%s: which runs of queue %s? Say --state, --job, --tag, --error, --since "
                         "or --before, or --all",
                         deed->name, options->queue);
    if (is_narrow && options->is_all)
        return ops_usage(error, "%s: --all goes with nothing else that tells which", deed->name);
    if ((options->states & ~deed->states) != 0)
        return ops_usage(error, "%s: not of each of these states; culex %s --help tells of which",
                         deed->name, deed->name);
    culex_status status = ops_filter_check(options, error);
    return status == CULEX_OK ? job_take(ops, ret_filter, error) : status;
}

static culex_status ids_find(struct ops *ops, const culex_list_filter *filter, struct ids *ids,
                             culex_error *error)
{
    culex_list_cursor cursor = {.place = 0};
    culex_status status;
    do
        status = culex_client_find(ops->client, ops->options.queue, filter, &cursor, 0, id_add, ids,
                                   error);
    while (status == CULEX_OK && cursor.place != 0);
    return status;
}

static bool is_skipped(culex_status status)
{
    return status == CULEX_ESTATE || status == CULEX_ENOTFOUND || status == CULEX_EUNIQUE;
}

static culex_status ids_do(struct ops *ops, const struct deed *deed, const struct ids *ids,
                           struct counts *counts, culex_error *error)
{
    for (size_t i = 0; i < ids->count && !ops_is_interrupted(); i++) {
        bool is_asked;
        culex_status status =
            deed->call(ops->client, ops->options.queue, ids->of[i], &is_asked, error);
        counts->done += status == CULEX_OK;
        counts->asked += status == CULEX_OK && is_asked;
        counts->skipped += is_skipped(status);
        if (status != CULEX_OK && !is_skipped(status))
            return status;
        ops_progress_show(i + 1, ids->count);
    }
    return CULEX_OK;
}

static culex_status filtered_do(struct ops *ops, const struct deed *deed, struct ids *ids,
                                culex_error *error)
{
    culex_list_filter filter;
    bool is_wanted = true;
    culex_status status = filter_make(ops, deed, &filter, error);
    if (status == CULEX_OK)
        status = ids_find(ops, &filter, ids, error);
    if (status != CULEX_OK)
        return status;
    struct counts counts = {.matched = ids->count};
    if (ids->count == 0)
        ops_hint_print(ops, ops->options.queue);
    if (!ops->options.is_dry && ids->count > 0)
        status = ops_ask(ops, &is_wanted, error, "%s %zu runs of queue %s", deed->name, ids->count,
                         ops->options.queue);
    if (status != CULEX_OK || !is_wanted)
        return status;
    ops_interrupts_catch();
    if (!ops->options.is_dry)
        status = ids_do(ops, deed, ids, &counts, error);
    return end_tell(ops, ops->options.queue, deed->past, &counts, status, error);
}

/* --- named ones ------------------------------------------------------------------------------- */

static void run_tell(const struct ops *ops, const struct ops_run *run, const char *word)
{
    char id[CULEX_UUID_TEXT_SIZE];
    struct ops_json json = {.out = stdout};
    culex_uuid_format(run->id, id);
    if (!ops->options.wants_json) {
        printf("%s: %s\n", id, word);
        return;
    }
    ops_json_object(&json, NULL);
    ops_json_text(&json, "id", id);
    ops_json_text(&json, "queue", run->queue);
    ops_json_text(&json, "now", word);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static culex_status named_check(const struct ops *ops, const struct deed *deed, culex_error *error)
{
    static const char *const filters[] = {"state", "job",    "tag", "error",
                                          "since", "before", "all", "dry-run"};
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        if (ops_is_given(&ops->options, filters[i]))
            return ops_usage(error, "%s: --%s does not go with ids", deed->name, filters[i]);
    }
    return ops_runs_check(ops, error);
}

static culex_status named_do(struct ops *ops, const struct deed *deed, const char *text,
                             culex_error *error)
{
    struct ops_run run;
    bool is_asked = false;
    culex_status status = ops_run_find(ops, text, &run, error);
    if (status == CULEX_OK)
        status = deed->call(ops->client, run.queue, run.id, &is_asked, error);
    if (status == CULEX_OK)
        run_tell(ops, &run, is_asked ? "asked to stop" : deed->past);
    return status;
}

static culex_status deed_do(struct ops *ops, const struct deed *deed, culex_error *error)
{
    if (ops->argument_count == 0) {
        struct ids ids = {.of = NULL};
        culex_status status = filtered_do(ops, deed, &ids, error);
        free(ids.of);
        return status;
    }
    size_t at = 0;
    culex_status status = named_check(ops, deed, error);
    ops_interrupts_catch();
    for (; at < ops->argument_count && status == CULEX_OK && !ops_is_interrupted(); at++)
        status = ops_go_on(ops, named_do(ops, deed, ops->arguments[at], error), ops->arguments[at],
                           error);
    if (status == CULEX_OK && ops_is_interrupted() && at < ops->argument_count)
        return ops_fail(error, CULEX_ESTATE,
                        "interrupted: %zu of %zu runs were gone through; the next would be %.64s",
                        at, ops->argument_count, ops->arguments[at]);
    return status;
}

culex_status ops_retry(struct ops *ops, culex_error *error)
{
    static const struct deed deed = {"retry", "put back to waiting",
                                     CULEX_LIST_STATE(CULEX_RUN_DEAD), run_retry};
    return deed_do(ops, &deed, error);
}

culex_status ops_cancel(struct ops *ops, culex_error *error)
{
    static const struct deed deed = {"cancel", "cancelled",
                                     CULEX_LIST_STATE(CULEX_RUN_SCHEDULED) |
                                         CULEX_LIST_STATE(CULEX_RUN_WAITING) |
                                         CULEX_LIST_STATE(CULEX_RUN_ACTIVE),
                                     run_cancel};
    return deed_do(ops, &deed, error);
}

culex_status ops_delete(struct ops *ops, culex_error *error)
{
    static const struct deed deed = {"delete", "deleted",
                                     CULEX_LIST_STATE(CULEX_RUN_DONE) |
                                         CULEX_LIST_STATE(CULEX_RUN_DEAD) |
                                         CULEX_LIST_STATE(CULEX_RUN_CANCELLED),
                                     run_delete};
    return deed_do(ops, &deed, error);
}

/* --- purge ------------------------------------------------------------------------------------ */

static culex_status state_read(const char *text, culex_run_state *ret_state, culex_error *error)
{
    unsigned states;
    culex_status status = ops_value_states("STATE", text, &states, error);
    if (status != CULEX_OK)
        return status;
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        if (states == CULEX_LIST_STATE(state))
            *ret_state = (culex_run_state)state;
    }
    if ((states & (states - 1)) != 0)
        return ops_usage(error, "purge: one state at a time");
    if (*ret_state == CULEX_RUN_ACTIVE)
        return ops_usage(error,
                         "purge: runs at work are not deleted; culex cancel asks them to stop");
    return CULEX_OK;
}

/* No more than were counted. */
static culex_status pages_purge(struct ops *ops, culex_run_state state, struct counts *counts,
                                culex_error *error)
{
    enum { AT_A_TIME = 500 };
    culex_status status = CULEX_OK;
    bool is_over = false;
    while (status == CULEX_OK && !is_over && counts->done < counts->matched &&
           !ops_is_interrupted()) {
        uint64_t left = counts->matched - counts->done;
        size_t wanted = left < AT_A_TIME ? (size_t)left : AT_A_TIME, deleted = 0;
        status = culex_client_purge(ops->client, ops->arguments[0], state, wanted, &deleted, error);
        is_over = deleted < wanted;
        counts->done += deleted;
        ops_progress_show(counts->done, counts->matched);
    }
    return status;
}

culex_status ops_purge(struct ops *ops, culex_error *error)
{
    const char *queue = ops->arguments[0];
    culex_run_state state = CULEX_RUN_DONE;
    culex_queue_stats stats;
    struct counts counts = {.matched = 0};
    bool is_wanted = true;
    culex_status status = state_read(ops->arguments[1], &state, error);
    if (status == CULEX_OK)
        status = culex_client_stats(ops->client, queue, &stats, error);
    if (status != CULEX_OK)
        return status;
    uint64_t most = ops_is_given(&ops->options, "limit") ? ops->options.limit : UINT64_MAX;
    counts.matched = stats.count[state] < most ? stats.count[state] : most;
    if (!ops->options.is_dry && counts.matched > 0)
        status = ops_ask(ops, &is_wanted, error, "delete %" PRIu64 " %s runs of queue %s",
                         counts.matched, culex_run_state_name(state), queue);
    if (status != CULEX_OK || !is_wanted)
        return status;
    ops_interrupts_catch();
    if (!ops->options.is_dry)
        status = pages_purge(ops, state, &counts, error);
    return end_tell(ops, queue, "deleted", &counts, status, error);
}
