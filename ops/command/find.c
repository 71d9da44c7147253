#include "command/find.h"

#include <stdlib.h>
#include <string.h>

static bool name_add(const char *queue, void *user)
{
    struct ops_names *names = user;
    names->of = ops_alloc(names->of, (names->count + 1) * sizeof *names->of);
    names->of[names->count++] = ops_copy(queue, strlen(queue));
    return true;
}

culex_status ops_names_read(struct ops *ops, struct ops_names *ret_names, culex_error *error)
{
    *ret_names = (struct ops_names){.of = NULL};
    culex_status status = culex_client_queues(ops->client, name_add, ret_names, error);
    if (status != CULEX_OK)
        ops_names_free(ret_names);
    return status;
}

void ops_names_free(struct ops_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->of[i]);
    free(names->of);
    *names = (struct ops_names){.of = NULL};
}

culex_status ops_queues_print(struct ops *ops, const char *const *heads, ops_queue_add add,
                              culex_error *error)
{
    struct ops_names names = {.of = NULL};
    struct ops_table table;
    bool is_named = ops->argument_count > 0;
    culex_status status = is_named ? CULEX_OK : ops_names_read(ops, &names, error);
    size_t count = is_named ? ops->argument_count : names.count;
    ops_table_begin(&table, heads);
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        status = add(ops, is_named ? ops->arguments[i] : names.of[i], &table, error);
        if (!is_named && status == CULEX_ENOTFOUND)
            status = CULEX_OK; /* Redis has the name of a queue before there is one */
    }
    if (!ops->options.wants_json && (status == CULEX_OK || table.count > 0))
        ops_table_print(&table, stdout);
    ops_table_end(&table);
    ops_names_free(&names);
    return status;
}

culex_list_filter ops_filter_make(const struct ops_options *options)
{
    return (culex_list_filter){.states = options->states,
                               .job = options->job,
                               .tag = options->tag,
                               .error_part = options->error_part,
                               .has_since = ops_is_given(options, "since"),
                               .since = options->since,
                               .has_before = ops_is_given(options, "before"),
                               .before = options->before};
}

culex_status ops_filter_check(const struct ops_options *options, culex_error *error)
{
    static const char *const names[] = {"since", "before"};
    const culex_time times[] = {options->since, options->before}, begin = 978307200 * CULEX_SECOND;
    for (size_t i = 0; i < 2; i++) {
        if (ops_is_given(options, names[i]) && times[i] < begin)
            return ops_usage(error, "--%s: before 2001, when no run was enqueued", names[i]);
    }
    if (ops_is_given(options, "since") && ops_is_given(options, "before") &&
        options->since >= options->before)
        return ops_usage(error, "--since is not before --before: no run was enqueued in between");
    return CULEX_OK;
}

/* Looks for the run in all queues. */
static culex_status all_read(struct ops *ops, struct ops_run *run, culex_run_info **ret_info,
                             culex_error *error)
{
    struct ops_names names;
    culex_status status = ops_names_read(ops, &names, error);
    if (status != CULEX_OK)
        return status;
    status = CULEX_ENOTFOUND;
    for (size_t i = 0; i < names.count && status == CULEX_ENOTFOUND; i++) {
        status = culex_client_get(ops->client, names.of[i], run->id, ret_info, error);
        if (status == CULEX_OK)
            snprintf(run->queue, sizeof run->queue, "%s", names.of[i]);
    }
    ops_names_free(&names);
    return status == CULEX_ENOTFOUND
               ? ops_fail(error, status, "no queue has such a run: it is forgotten, or never was")
               : status;
}

culex_status ops_run_read(struct ops *ops, const char *text, struct ops_run *ret_run,
                          culex_run_info **ret_info, culex_error *error)
{
    const char *named = ops->options.queue;
    culex_status status = ops_value_run(text, ret_run->queue, &ret_run->id, error);
    if (status != CULEX_OK)
        return status;
    if (ret_run->queue[0] == '\0' && named == NULL)
        return all_read(ops, ret_run, ret_info, error);
    if (ret_run->queue[0] == '\0')
        status = ops_value_queue("--queue", named, ret_run->queue, error);
    else if (named != NULL && strcmp(named, ret_run->queue) != 0)
        return ops_usage(error, "%s is not of queue %s", text, named);
    return status == CULEX_OK
               ? culex_client_get(ops->client, ret_run->queue, ret_run->id, ret_info, error)
               : status;
}

culex_status ops_run_find(struct ops *ops, const char *text, struct ops_run *ret_run,
                          culex_error *error)
{
    culex_run_info *info = NULL;
    culex_status status = ops_run_read(ops, text, ret_run, &info, error);
    culex_run_info_free(info);
    return status;
}

culex_status ops_runs_check(const struct ops *ops, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < ops->argument_count && status == CULEX_OK; i++) {
        struct ops_run run;
        status = ops_value_run(ops->arguments[i], run.queue, &run.id, error);
    }
    return status;
}

culex_status ops_go_on(struct ops *ops, culex_status status, const char *text, culex_error *error)
{
    if (status != CULEX_ESTATE && status != CULEX_ENOTFOUND && status != CULEX_EUNIQUE)
        return ops_name_failure(status, text, error);
    fflush(stdout);
    ops_name_failure(status, text, error);
    ops_failure_print(error->text);
    ops->code = OPS_EXIT_FAILED;
    return CULEX_OK;
}
