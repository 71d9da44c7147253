#include "command/survey.h"

#include <stdlib.h>
#include <string.h>

#include "command/find.h"
#include "command/print.h"

/* --- ages ------------------------------------------------------------------------------------- */

struct oldest {
    int64_t since_ms; /* 0: none */
    size_t left;
};

/* Since when the run waits; 0: nothing tells, for it was begun before. One that is enqueued for a
 * date which is past waits since its enqueue. */
static int64_t since_of(const culex_run_info *run)
{
    if (run->at_ms == 0)
        return run->attempt == 0 ? run->created_at_ms : 0;
    return run->at_ms > run->created_at_ms ? run->at_ms : run->created_at_ms;
}

static bool run_see(const culex_run_info *run, void *user)
{
    struct oldest *oldest = user;
    int64_t since_ms = since_of(run);
    if (since_ms != 0 && (oldest->since_ms == 0 || since_ms < oldest->since_ms))
        oldest->since_ms = since_ms;
    oldest->left--;
    return oldest->left > 0;
}

static culex_status age_read(struct ops *ops, struct ops_queue_view *view, size_t looked_max,
                             culex_error *error)
{
    struct oldest oldest = {.left = looked_max};
    culex_list_cursor cursor = {.place = 0};
    culex_status status = CULEX_OK;
    if (view->stats.count[CULEX_RUN_WAITING] == 0)
        return CULEX_OK;
    do
        status = culex_client_list(ops->client, view->name, CULEX_RUN_WAITING, &cursor, 0, run_see,
                                   &oldest, error);
    while (status == CULEX_OK && cursor.place != 0 && oldest.left > 0);
    if (oldest.since_ms != 0 && oldest.since_ms <= view->stats.now_ms)
        view->age_ms = view->stats.now_ms - oldest.since_ms;
    else if (oldest.since_ms != 0)
        view->age_ms = 0;
    return status;
}

/* --- workers ---------------------------------------------------------------------------------- */

bool ops_worker_is_serving(const culex_worker_info *worker, const char *queue)
{
    if (worker->queues_total > worker->queue_count)
        return true; /* not all of them are listed */
    for (size_t i = 0; i < worker->queue_count; i++) {
        if (strcmp(worker->queues[i].name, queue) == 0)
            return true;
    }
    return false;
}

static bool worker_see(const culex_worker_info *worker, void *user)
{
    struct ops_survey *survey = user;
    survey->workers++;
    survey->at_work += worker->runs_total;
    for (size_t i = 0; i < survey->count && !worker->is_quiet && !worker->is_stopping; i++)
        survey->of[i].workers += ops_worker_is_serving(worker, survey->of[i].name);
    return true;
}

/* --- all -------------------------------------------------------------------------------------- */

/* That one queue cannot be read tells nothing of the others. */
static bool is_of_queue(culex_status status)
{
    return status == CULEX_ENOTFOUND || status == CULEX_EINVAL || status == CULEX_EDENIED;
}

static culex_status view_read(struct ops *ops, const char *name, size_t looked_max,
                              struct ops_survey *survey, culex_error *error)
{
    struct ops_queue_view *view = &survey->of[survey->count];
    *view = (struct ops_queue_view){.name = ops_copy(name, strlen(name)), .age_ms = -1};
    survey->count++;
    culex_status status = culex_client_stats(ops->client, name, &view->stats, error);
    if (status == CULEX_OK)
        status = age_read(ops, view, looked_max, error);
    if (!is_of_queue(status))
        return status;
    view->wrong = ops_copy(error->text, strlen(error->text));
    view->status = status;
    return CULEX_OK;
}

culex_status ops_survey_read(struct ops *ops, const char *const *names, size_t count,
                             size_t looked_max, struct ops_survey *ret_survey, culex_error *error)
{
    struct ops_names all = {.of = NULL};
    *ret_survey = (struct ops_survey){.of = NULL};
    culex_status status = count == 0 ? ops_names_read(ops, &all, error) : CULEX_OK;
    size_t most = count == 0 ? all.count : count;
    ret_survey->of = ops_alloc(NULL, (most + 1) * sizeof *ret_survey->of);
    for (size_t i = 0; i < most && status == CULEX_OK; i++)
        status = view_read(ops, count == 0 ? all.of[i] : names[i], looked_max, ret_survey, error);
    ops_names_free(&all);
    return status == CULEX_OK ? culex_client_workers(ops->client, worker_see, ret_survey, error)
                              : status;
}

void ops_view_free(struct ops_queue_view *view)
{
    free(view->name);
    free(view->wrong);
}

void ops_survey_free(struct ops_survey *survey)
{
    for (size_t i = 0; i < survey->count; i++)
        ops_view_free(&survey->of[i]);
    free(survey->of);
    *survey = (struct ops_survey){.of = NULL};
}
