/* ops/command/group.c - culex runs --by error.
 *
 * Reads each dead run, for lists have no errors, and keeps a bounded number of groups. */
#include "command/group.h"

#include <stdlib.h>
#include <string.h>

#include "command/crash_text.h"
#include "command/find.h"
#include "command/hint.h"
#include "command/print.h"

enum { GROUPS_MAX = 1000 };

struct group {
    char *job, *text;   /* owned */
    char *newest_error; /* owned: the first line, as it is */
    uint64_t count;
    culex_uuid newest;
    int64_t newest_ms;
};

struct grouping {
    struct ops *ops;
    struct group *of; /* owned */
    size_t count;
    uint64_t others; /* beyond GROUPS_MAX */
    culex_status status;
    culex_error *error;
};

/* The one of that job and text; NULL when there is no room for one more. */
static struct group *group_find(struct grouping *grouping, const char *job, const char *text,
                                size_t len)
{
    for (size_t i = 0; i < grouping->count; i++) {
        struct group *group = &grouping->of[i];
        if (strncmp(group->text, text, len) == 0 && group->text[len] == '\0' &&
            strcmp(group->job, job) == 0)
            return group;
    }
    if (grouping->count == GROUPS_MAX)
        return NULL;
    struct group *made = &grouping->of[grouping->count++];
    *made = (struct group){.job = ops_copy(job, strlen(job)),
                           .text = ops_copy(text, len),
                           .newest_error = ops_copy("", 0)};
    return made;
}

static void run_count(struct grouping *grouping, const culex_run_info *run)
{
    size_t len = strcspn(run->error_text, "\n");
    char *text = ops_crash_reduce(run->error_text, len);
    struct group *group = group_find(grouping, run->job, text, strlen(text));
    free(text);
    if (group == NULL) {
        grouping->others++;
        return;
    }
    group->count++;
    if (run->created_at_ms < group->newest_ms)
        return;
    free(group->newest_error);
    group->newest_error = ops_copy(run->error_text, len);
    group->newest = run->id;
    group->newest_ms = run->created_at_ms;
}

/* One that is forgotten meanwhile is none. */
static bool run_see(const culex_run_info *run, void *user)
{
    struct grouping *grouping = user;
    culex_run_info *whole = NULL;
    culex_status status =
        culex_client_get(grouping->ops->client, run->queue, run->id, &whole, grouping->error);
    if (status == CULEX_OK)
        run_count(grouping, whole);
    culex_run_info_free(whole);
    grouping->status = status == CULEX_ENOTFOUND ? CULEX_OK : status;
    return grouping->status == CULEX_OK;
}

static culex_status runs_see(struct grouping *grouping)
{
    struct ops *ops = grouping->ops;
    culex_list_filter filter = ops_filter_make(&ops->options);
    culex_list_cursor cursor = {.place = 0};
    culex_status status;
    filter.states = CULEX_LIST_STATE(CULEX_RUN_DEAD);
    do
        status = culex_client_find(ops->client, ops->arguments[0], &filter, &cursor, 0, run_see,
                                   grouping, grouping->error);
    while (status == CULEX_OK && grouping->status == CULEX_OK && cursor.place != 0);
    return status == CULEX_OK ? grouping->status : status;
}

/* The greatest first. */
static int group_compare(const void *a, const void *b)
{
    const struct group *first = a, *second = b;
    return (first->count < second->count) - (first->count > second->count);
}

static void group_json(const struct group *group)
{
    struct ops_json json = {.out = stdout};
    ops_json_object(&json, NULL);
    ops_json_count(&json, "count", group->count);
    ops_json_text(&json, "job", group->job);
    ops_json_text(&json, "error", group->text);
    ops_json_text(&json, "newest_error", group->newest_error);
    ops_json_id(&json, "newest", group->newest);
    ops_json_int(&json, "newest_ms", group->newest_ms);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static void group_row(struct ops_table *table, const struct group *group)
{
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(group->newest, id);
    ops_table_count(table, group->count);
    ops_table_text(table, group->job);
    ops_table_time(table, group->newest_ms);
    ops_table_text(table, id);
    ops_table_text(table, group->text);
}

static void groups_print(const struct grouping *grouping)
{
    static const char *const heads[] = {">COUNT", "~JOB", "@NEWEST", "8RUN", "~ERROR", NULL};
    struct ops_table table;
    ops_table_begin(&table, heads);
    for (size_t i = 0; i < grouping->count; i++) {
        if (grouping->ops->options.wants_json)
            group_json(&grouping->of[i]);
        else
            group_row(&table, &grouping->of[i]);
    }
    if (!grouping->ops->options.wants_json)
        ops_table_print(&table, stdout);
    ops_table_end(&table);
    fflush(stdout);
    if (grouping->others > 0)
        fprintf(stderr, "culex: %llu more runs have other errors than these %d\n",
                (unsigned long long)grouping->others, GROUPS_MAX);
}

static culex_status options_check(const struct ops_options *options, culex_error *error)
{
    if (strcmp(options->by, "error") != 0)
        return ops_usage(error, "--by: %s is not error, by which alone runs are counted",
                         options->by);
    if (options->states != 0 && options->states != CULEX_LIST_STATE(CULEX_RUN_DEAD))
        return ops_usage(error, "--by error: of dead runs alone");
    if (ops_is_given(options, "limit") || options->is_following)
        return ops_usage(error, "--by error: all dead runs are counted, without %s",
                         options->is_following ? "--follow" : "--limit");
    return CULEX_OK;
}

culex_status ops_runs_by_error(struct ops *ops, culex_error *error)
{
    culex_status status = options_check(&ops->options, error);
    if (status != CULEX_OK)
        return status;
    struct grouping grouping = {
        .ops = ops, .of = ops_alloc(NULL, GROUPS_MAX * sizeof *grouping.of), .error = error};
    status = runs_see(&grouping);
    qsort(grouping.of, grouping.count, sizeof *grouping.of, group_compare);
    if (status == CULEX_OK)
        groups_print(&grouping);
    if (status == CULEX_OK && grouping.count == 0)
        ops_hint_print(ops, ops->arguments[0]);
    for (size_t i = 0; i < grouping.count; i++) {
        free(grouping.of[i].job);
        free(grouping.of[i].text);
        free(grouping.of[i].newest_error);
    }
    free(grouping.of);
    return status;
}
