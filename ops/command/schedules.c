/* ops/command/schedules.c - culex schedules. */
#include <string.h>

#include <culex/schedules.h>
#include <culex/workers.h>

#include "command/command.h"
#include "command/print.h"
#include "command/shape.h"
#include "command/survey.h"

struct listing {
    bool is_json;
    struct ops_table table;
};

static bool schedule_add(const culex_schedule_info *schedule, void *user)
{
    struct listing *listing = user;
    char id[CULEX_UUID_TEXT_SIZE] = "-";
    if (listing->is_json) {
        struct ops_json json = {.out = stdout};
        ops_schedule_json(&json, schedule);
        ops_json_line_end(&json);
        return !ferror(stdout);
    }
    if (ops_schedule_has_run(schedule))
        culex_uuid_format(schedule->newest, id);
    ops_table_text(&listing->table, schedule->name);
    if (ops_schedule_has_run(schedule))
        ops_table_time(&listing->table, schedule->last_ms);
    else
        ops_table_text(&listing->table, "-"); /* it would be when it was begun */
    ops_table_time(&listing->table, schedule->next_ms);
    ops_table_text(&listing->table, id);
    ops_table_text(&listing->table, schedule->is_paused ? "paused" : "");
    return true;
}

static culex_status list_print(struct ops *ops, culex_error *error)
{
    static const char *const heads[] = {"~JOB", "@9LAST", "@NEXT", "8NEWEST RUN", "~", NULL};
    struct listing listing = {.is_json = ops->options.wants_json};
    ops_table_begin(&listing.table, heads);
    culex_status status =
        culex_client_schedules(ops->client, ops->arguments[0], schedule_add, &listing, error);
    if (status == CULEX_OK && !listing.is_json)
        ops_table_print(&listing.table, stdout);
    ops_table_end(&listing.table);
    return status;
}

/* --- steering --------------------------------------------------------------------------------- */

/* A worker that has the job declares it again, and it is not paused then. Which jobs a worker has
 * the store does not know, only its queues. */
struct servers {
    const char *queue;
    size_t count;
};

static bool server_count(const culex_worker_info *worker, void *user)
{
    struct servers *servers = user;
    servers->count += !worker->is_stopping && ops_worker_is_serving(worker, servers->queue);
    return true;
}

static void deleted_print(const char *name, const struct servers *servers)
{
    if (servers->count == 0)
        printf("%s: forgotten; a worker that has the job begins it anew at its next tick, "
               "and not paused\n",
               name);
    else
        printf(
            "%s: forgotten, but %zu workers of queue %s are alive: one that has the job begins it "
            "anew at its next tick, and not paused; pause it to stop it\n",
            name, servers->count, servers->queue);
}

static void did_json(const char *name, const char *verb, const char *run,
                     const struct servers *servers)
{
    struct ops_json json = {.out = stdout};
    ops_json_object(&json, NULL);
    ops_json_text(&json, "schedule", name);
    ops_json_text(&json, "did", verb);
    if (run != NULL)
        ops_json_text(&json, "id", run);
    if (strcmp(verb, "delete") == 0)
        ops_json_count(&json, "workers_alive", servers->count);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static void done_tell(const struct ops *ops, const char *name, const char *verb, const char *run)
{
    struct servers servers = {.queue = ops->arguments[0]};
    culex_error ignored = {.code = CULEX_OK};
    if (strcmp(verb, "delete") == 0 &&
        culex_client_workers(ops->client, server_count, &servers, &ignored) != CULEX_OK)
        servers.count = 0; /* what may come is said all the same */
    if (ops->options.wants_json)
        did_json(name, verb, run, &servers);
    else if (run != NULL)
        printf("%s\n", run);
    else if (strcmp(verb, "delete") == 0)
        deleted_print(name, &servers);
    else
        printf("%s: %sd\n", name, verb);
}

static culex_status schedule_run(struct ops *ops, const char *queue, const char *name,
                                 culex_error *error)
{
    culex_uuid id;
    char text[CULEX_UUID_TEXT_SIZE];
    culex_status status = culex_client_schedule_run(ops->client, queue, name, &id, error);
    if (status != CULEX_OK)
        return status;
    culex_uuid_format(id, text);
    done_tell(ops, name, "run", text);
    return CULEX_OK;
}

culex_status ops_schedules(struct ops *ops, culex_error *error)
{
    static const struct {
        const char *name;
        culex_status (*call)(culex_client *, const char *, const char *, culex_error *);
    } verbs[] = {{"pause", culex_client_schedule_pause},
                 {"resume", culex_client_schedule_resume},
                 {"delete", culex_client_schedule_delete}};
    const char *queue = ops->arguments[0];
    if (ops->argument_count == 1)
        return list_print(ops, error);
    if (ops->argument_count == 2)
        return ops_usage(error, "schedules: %s which? Its name stands behind", ops->arguments[1]);
    const char *verb = ops->arguments[1], *name = ops->arguments[2];
    if (strcmp(verb, "run") == 0)
        return schedule_run(ops, queue, name, error);
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(verbs[i].name, verb) != 0)
            continue;
        culex_status status = verbs[i].call(ops->client, queue, name, error);
        if (status == CULEX_OK)
            done_tell(ops, name, verb, NULL);
        return status;
    }
    return ops_usage(error, "schedules: %s is none of pause, resume, run and delete", verb);
}
