/* ops/command/bulk.c - culex retry, cancel, delete and purge: of named runs, or of many. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <culex/bulk.h>

#include "command/find.h"
#include "command/print.h"

/* What is done to runs. */
struct deed {
    const char *name, *past;
    culex_bulk_action action;
};

/* --- asking ------------------------------------------------------------------------------------
 */

/* Whether the user wants it done to so many runs. Without a terminal there is nobody to ask. */
static culex_status consent_ask(const struct ops *ops, const char *deed, uint64_t count,
                                const char *queue, bool *ret_is_wanted, culex_error *error)
{
    char answer[16];
    *ret_is_wanted = ops->options.is_sure;
    if (ops->options.is_sure)
        return CULEX_OK;
    if (!isatty(STDIN_FILENO))
        return ops_usage(error,
                         "%s %" PRIu64 " runs of queue %s? Nobody is there to ask: say --yes, or "
                         "--dry-run to count only",
                         deed, count, queue);
    fflush(stdout);
    fprintf(stderr, "%s %" PRIu64 " runs of queue %s? [y/N] ", deed, count, queue);
    if (fgets(answer, sizeof answer, stdin) != NULL)
        *ret_is_wanted = strcmp(answer, "y\n") == 0 || strcmp(answer, "yes\n") == 0;
    if (!*ret_is_wanted)
        fputs("culex: nothing was done\n", stderr);
    return CULEX_OK;
}

static void counts_print(const struct ops *ops, const char *queue, const char *past,
                         const culex_bulk_counts *counts)
{
    struct ops_json json = {.out = stdout};
    if (!ops->options.wants_json) {
        if (ops->options.is_dry)
            printf("%" PRIu64 " runs of queue %s would be %s\n", counts->matched, queue, past);
        else
            printf("%" PRIu64 " runs of queue %s %s\n", counts->done, queue, past);
        if (counts->skipped > 0)
            printf("%" PRIu64 " were left: they had changed meanwhile, or another run has their "
                   "unique key\n",
                   counts->skipped);
        return;
    }
    ops_json_object(&json, NULL);
    ops_json_text(&json, "queue", queue);
    ops_json_bool(&json, "dry_run", ops->options.is_dry);
    ops_json_count(&json, "looked", counts->looked);
    ops_json_count(&json, "matched", counts->matched);
    ops_json_count(&json, "done", counts->done);
    ops_json_count(&json, "skipped", counts->skipped);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

/* --- many --------------------------------------------------------------------------------------
 */

static culex_status many_do(struct ops *ops, const culex_bulk *bulk, culex_bulk_counts *ret_counts,
                            culex_error *error)
{
    culex_bulk_cursor cursor = {.is_over = false};
    culex_status status = CULEX_OK;
    *ret_counts = (culex_bulk_counts){.looked = 0};
    while (status == CULEX_OK && !cursor.is_over) {
        culex_bulk_counts some = {.looked = 0};
        status = culex_client_bulk(ops->client, ops->options.queue, bulk, &cursor, 0, NULL, NULL,
                                   &some, error);
        ret_counts->looked += some.looked;
        ret_counts->matched += some.matched;
        ret_counts->done += some.done;
        ret_counts->skipped += some.skipped;
    }
    return status;
}

/* Which runs are meant has to be said: nobody empties a store by a forgotten word. */
static culex_status filter_make(struct ops *ops, const struct deed *deed, culex_bulk *ret_bulk,
                                culex_error *error)
{
    const struct ops_options *options = &ops->options;
    *ret_bulk = (culex_bulk){.action = deed->action,
                             .is_dry = true,
                             .filter = {.states = options->states,
                                        .job = options->job,
                                        .tag = options->tag,
                                        .error_part = options->error_part,
                                        .has_since = ops_is_given(options, "since"),
                                        .since = options->since,
                                        .has_before = ops_is_given(options, "before"),
                                        .before = options->before}};
    bool is_narrow = options->states != 0 || options->job != NULL || options->tag != NULL ||
                     options->error_part != NULL || ret_bulk->filter.has_since ||
                     ret_bulk->filter.has_before;
    if (options->queue == NULL)
        return ops_usage(error, "%s: name runs by their ids, or say --queue and which of it",
                         deed->name);
    if (!is_narrow && !options->is_all)
        return ops_usage(error,
                         "%s: which runs of queue %s? Say --state, --job, --tag, --error, --since "
                         "or --before, or --all",
                         deed->name, options->queue);
    return is_narrow && options->is_all
               ? ops_usage(error, "%s: --all goes with nothing else that tells which", deed->name)
               : CULEX_OK;
}

static culex_status filtered_do(struct ops *ops, const struct deed *deed, culex_error *error)
{
    culex_bulk bulk;
    culex_bulk_counts counts;
    bool is_wanted = true;
    culex_status status = filter_make(ops, deed, &bulk, error);
    if (status == CULEX_OK)
        status = many_do(ops, &bulk, &counts, error);
    if (status == CULEX_OK && !ops->options.is_dry && counts.matched > 0)
        status =
            consent_ask(ops, deed->name, counts.matched, ops->options.queue, &is_wanted, error);
    if (status != CULEX_OK || !is_wanted)
        return status;
    if (!ops->options.is_dry && counts.matched > 0) {
        bulk.is_dry = false;
        status = many_do(ops, &bulk, &counts, error);
    }
    if (status == CULEX_OK || counts.done > 0)
        counts_print(ops, ops->options.queue, deed->past, &counts);
    return status;
}

/* --- named ones --------------------------------------------------------------------------------
 */

static culex_status run_do(struct ops *ops, const struct deed *deed, const struct ops_run *run,
                           const char **ret_word, culex_error *error)
{
    culex_run_state state = CULEX_RUN_CANCELLED;
    *ret_word = deed->past;
    switch (deed->action) {
    case CULEX_BULK_RETRY:
        return culex_client_retry(ops->client, run->queue, run->id, error);
    case CULEX_BULK_DELETE:
        return culex_client_delete(ops->client, run->queue, run->id, error);
    case CULEX_BULK_CANCEL:
        break;
    }
    culex_status status = culex_client_cancel(ops->client, run->queue, run->id, &state, error);
    if (state == CULEX_RUN_ACTIVE)
        *ret_word = "asked to stop";
    return status;
}

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
    return CULEX_OK;
}

static culex_status deed_do(struct ops *ops, const struct deed *deed, culex_error *error)
{
    if (ops->argument_count == 0)
        return filtered_do(ops, deed, error);
    culex_status status = named_check(ops, deed, error);
    for (size_t i = 0; i < ops->argument_count && status == CULEX_OK; i++) {
        struct ops_run run;
        const char *word = "";
        status = ops_run_find(ops, ops->arguments[i], &run, error);
        if (status == CULEX_OK)
            status =
                ops_name_failure(run_do(ops, deed, &run, &word, error), ops->arguments[i], error);
        if (status == CULEX_OK)
            run_tell(ops, &run, word);
    }
    return status;
}

culex_status ops_retry(struct ops *ops, culex_error *error)
{
    static const struct deed deed = {"retry", "put back to waiting", CULEX_BULK_RETRY};
    return deed_do(ops, &deed, error);
}

culex_status ops_cancel(struct ops *ops, culex_error *error)
{
    static const struct deed deed = {"cancel", "cancelled", CULEX_BULK_CANCEL};
    return deed_do(ops, &deed, error);
}

culex_status ops_delete(struct ops *ops, culex_error *error)
{
    static const struct deed deed = {"delete", "deleted", CULEX_BULK_DELETE};
    return deed_do(ops, &deed, error);
}

/* --- purge -------------------------------------------------------------------------------------
 */

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
    return CULEX_OK;
}

static culex_status pages_purge(struct ops *ops, culex_run_state state, uint64_t most,
                                uint64_t *ret_deleted, culex_error *error)
{
    enum { AT_A_TIME = 10000 };
    culex_status status = CULEX_OK;
    bool is_over = false;
    *ret_deleted = 0;
    while (status == CULEX_OK && !is_over && *ret_deleted < most) {
        uint64_t left = most - *ret_deleted;
        size_t wanted = left < AT_A_TIME ? (size_t)left : AT_A_TIME, deleted = 0;
        status = culex_client_purge(ops->client, ops->arguments[0], state, wanted, &deleted, error);
        is_over = deleted < wanted;
        *ret_deleted += deleted;
    }
    return status;
}

culex_status ops_purge(struct ops *ops, culex_error *error)
{
    const char *queue = ops->arguments[0];
    culex_run_state state = CULEX_RUN_DONE;
    culex_queue_stats stats;
    culex_bulk_counts counts = {.looked = 0};
    bool is_wanted = true;
    culex_status status = state_read(ops->arguments[1], &state, error);
    if (status == CULEX_OK && state == CULEX_RUN_ACTIVE)
        return ops_usage(error,
                         "purge: runs at work are not deleted; culex cancel asks them to stop");
    if (status == CULEX_OK)
        status = culex_client_stats(ops->client, queue, &stats, error);
    if (status != CULEX_OK)
        return status;
    uint64_t most = ops_is_given(&ops->options, "limit") ? ops->options.limit : UINT64_MAX;
    counts.matched = stats.count[state] < most ? stats.count[state] : most;
    if (!ops->options.is_dry && counts.matched > 0)
        status = consent_ask(ops, "purge", counts.matched, queue, &is_wanted, error);
    if (status == CULEX_OK && is_wanted && !ops->options.is_dry)
        status = pages_purge(ops, state, most, &counts.done, error);
    if (is_wanted && (status == CULEX_OK || counts.done > 0))
        counts_print(ops, queue, "deleted", &counts);
    return status;
}
