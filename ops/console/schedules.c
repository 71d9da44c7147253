/* ops/console/schedules.c - /schedules/{queue}/{schedule}: a periodic job is held, let go, run now
 * or forgotten. */
#include <string.h>

#include <culex/schedules.h>

#include "command/shape.h"
#include "command/survey.h"
#include "console/body.h"
#include "console/routes.h"

typedef culex_status (*set_fn)(culex_client *client, const char *queue, const char *name,
                               culex_error *error);

static culex_status change(struct request *request, set_fn set, culex_error *error)
{
    culex_status status = body_is_empty(request, error);
    return status == CULEX_OK
               ? set(request->ops.client, request->parts[0], request->parts[1], error)
               : status;
}

/* ---- pauses -----------------------------------------------------------------------------------
 */

struct search {
    struct request *request;
    bool is_told;
};

static bool schedule_see(const culex_schedule_info *schedule, void *user)
{
    struct search *search = user;
    if (strcmp(schedule->name, search->request->parts[1]) == 0) {
        ops_schedule_json(&search->request->json, schedule);
        search->is_told = true;
    }
    return !search->is_told;
}

static culex_status change_tell(struct request *request, set_fn set, culex_error *error)
{
    struct search search = {.request = request};
    culex_status status = change(request, set, error);
    if (status == CULEX_OK)
        status = culex_client_schedules(request->ops.client, request->parts[0], schedule_see,
                                        &search, error);
    if (status == CULEX_OK && !search.is_told)
        status = ops_fail(error, CULEX_ENOTFOUND, "the schedule was changed, and is gone");
    ops_json_line_end(&request->json);
    return status;
}

culex_status route_schedule_pause(struct request *request, culex_error *error)
{
    return change_tell(request, culex_client_schedule_pause, error);
}

culex_status route_schedule_resume(struct request *request, culex_error *error)
{
    return change_tell(request, culex_client_schedule_resume, error);
}

/* ---- a run out of turn ------------------------------------------------------------------------
 */

/* Begins the object that tells of it. */
static struct ops_json *answer_begin(struct request *request)
{
    struct ops_json *json = &request->json;
    ops_json_object(json, NULL);
    ops_json_text(json, "queue", request->parts[0]);
    ops_json_text(json, "schedule", request->parts[1]);
    return json;
}

static culex_status answer_end(struct ops_json *json)
{
    ops_json_object_end(json);
    ops_json_line_end(json);
    return CULEX_OK;
}

/* The one that is in its way is told, too. */
culex_status route_schedule_run(struct request *request, culex_error *error)
{
    culex_uuid id;
    culex_status status = body_is_empty(request, error);
    if (status != CULEX_OK)
        return status;
    status = culex_client_schedule_run(request->ops.client, request->parts[0], request->parts[1],
                                       &id, error);
    if (status == CULEX_EUNIQUE)
        culex_uuid_format(id, request->in_way);
    if (status != CULEX_OK)
        return status;
    culex_uuid_format(id, request->audited);
    struct ops_json *json = answer_begin(request);
    ops_json_id(json, "id", id);
    return answer_end(json);
}

/* ---- forgetting it ----------------------------------------------------------------------------
 */

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

/* It is forgotten also where nobody can tell by whom it may be begun anew. */
culex_status route_schedule_delete(struct request *request, culex_error *error)
{
    struct servers servers = {.queue = request->parts[0]};
    culex_error ignored = {.code = CULEX_OK};
    culex_status status = change(request, culex_client_schedule_delete, error);
    if (status != CULEX_OK)
        return status;
    struct ops_json *json = answer_begin(request);
    if (culex_client_workers(request->ops.client, server_count, &servers, &ignored) == CULEX_OK)
        ops_json_count(json, "workers_alive", servers.count);
    return answer_end(json);
}
