/* ops/console/lists.c - /schemas, /schedules, /limits and /workers: lists that come whole. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "command/find.h"
#include "command/shape.h"
#include "console/body.h"
#include "console/query.h"
#include "console/routes.h"

/* ---- of each queue -----------------------------------------------------------------------------
 */

typedef culex_status (*queue_fn)(struct request *request, const char *queue, culex_error *error);

/* Of the queue that is asked for, or of all. */
static culex_status queues_tell(struct request *request, queue_fn tell, culex_error *error)
{
    const char *named;
    struct ops_names names = {.of = NULL};
    culex_status status = query_queue(request, &named, error);
    if (status != CULEX_OK || named != NULL)
        return status == CULEX_OK ? tell(request, named, error) : status;
    status = ops_names_read(&request->ops, &names, error);
    for (size_t i = 0; i < names.count && status == CULEX_OK; i++) {
        status = tell(request, names.of[i], error);
        if (status == CULEX_ENOTFOUND)
            status = CULEX_OK; /* Redis has the name of a queue before there is one */
    }
    ops_names_free(&names);
    return status;
}

static culex_status list_tell(struct request *request, const char *name, queue_fn tell,
                              culex_error *error)
{
    struct ops_json *json = &request->json;
    ops_json_object(json, NULL);
    ops_json_array(json, name);
    culex_status status = queues_tell(request, tell, error);
    ops_json_array_end(json);
    ops_json_object_end(json);
    ops_json_line_end(json);
    return status;
}

/* ---- schemas -----------------------------------------------------------------------------------
 */

static culex_status schemas_tell(struct request *request, const char *queue, culex_error *error)
{
    culex_schemas *schemas = NULL;
    culex_status status = culex_client_schemas(request->ops.client, queue, &schemas, error);
    for (size_t i = 0; status == CULEX_OK && i < schemas->count; i++)
        ops_schema_json(&request->json, queue, &schemas->items[i]);
    culex_schemas_free(schemas);
    return status;
}

culex_status route_schemas(struct request *request, culex_error *error)
{
    return list_tell(request, "schemas", schemas_tell, error);
}

static bool live_tell(const culex_live_schema *schema, void *user)
{
    ops_live_json(user, schema, true);
    return true;
}

static culex_status queue_live(struct request *request, const char *queue, culex_error *error)
{
    struct ops_json *json = &request->json;
    ops_json_object(json, NULL);
    ops_json_array(json, "schemas");
    culex_status status =
        culex_client_live(request->ops.client, queue, true, live_tell, json, error);
    ops_json_array_end(json);
    ops_json_object_end(json);
    ops_json_line_end(json);
    return status;
}

static culex_status counting_refuse(struct request *request)
{
    request->refusal = failure_make(503, "busy", "one is answered at a time: ask again",
                                    "somebody else has runs counted just now");
    request->refusal.retry_after_s = 5;
    return CULEX_EBUSY;
}

/* It reads each run of the queue, so there is one of these at a time. */
culex_status route_live(struct request *request, culex_error *error)
{
    const char *queue;
    culex_status status = query_queue(request, &queue, error);
    if (status != CULEX_OK)
        return status;
    if (queue == NULL)
        return body_blame(ops_usage(error, "queue: of which queue runs are counted"), "queue",
                          error);
    if (atomic_exchange(&request->console->is_counting, true))
        return counting_refuse(request);
    status = queue_live(request, queue, error);
    atomic_store(&request->console->is_counting, false);
    return status;
}

static culex_status fingerprint_read(const char *text, uint64_t *ret_fingerprint,
                                     culex_error *error)
{
    char *end;
    *ret_fingerprint = text != NULL ? strtoull(text, &end, 16) : 0;
    if (text == NULL ||
        (strlen(text) == 16 && *end == '\0' && strspn(text, "0123456789abcdef") == 16))
        return CULEX_OK;
    return body_blame(ops_usage(error, "fingerprint: 16 digits, as GET schemas tells them"),
                      "fingerprint", error);
}

culex_status route_schema(struct request *request, culex_error *error)
{
    char *text = NULL;
    size_t len = 0;
    uint64_t fingerprint;
    culex_status status =
        fingerprint_read(request_query(request, "fingerprint"), &fingerprint, error);
    if (status == CULEX_OK)
        status = culex_client_schema_text(request->ops.client, request->parts[0], request->parts[1],
                                          fingerprint, 0, &text, &len, error);
    if (status == CULEX_OK)
        ops_json_raw(&request->json, NULL, text, len);
    free(text);
    return status;
}

/* ---- schedules ---------------------------------------------------------------------------------
 */

static bool schedule_tell(const culex_schedule_info *schedule, void *user)
{
    ops_schedule_json(user, schedule);
    return true;
}

static culex_status schedules_tell(struct request *request, const char *queue, culex_error *error)
{
    struct ops_json *json = &request->json;
    ops_json_object(json, NULL);
    ops_json_text(json, "queue", queue);
    ops_json_array(json, "schedules");
    culex_status status =
        culex_client_schedules(request->ops.client, queue, schedule_tell, json, error);
    ops_json_array_end(json);
    ops_json_object_end(json);
    return status;
}

culex_status route_schedules(struct request *request, culex_error *error)
{
    return list_tell(request, "queues", schedules_tell, error);
}

/* ---- limits ------------------------------------------------------------------------------------
 */

static bool limit_tell(const culex_limit_info *limit, void *user)
{
    ops_limit_json(user, limit);
    return true;
}

static culex_status limits_tell(struct request *request, const char *queue, culex_error *error)
{
    struct ops_json *json = &request->json;
    ops_json_object(json, NULL);
    ops_json_text(json, "queue", queue);
    ops_json_array(json, "limits");
    culex_status status = culex_client_limits(request->ops.client, queue, limit_tell, json, error);
    ops_json_array_end(json);
    ops_json_object_end(json);
    return status;
}

culex_status route_limits(struct request *request, culex_error *error)
{
    return list_tell(request, "queues", limits_tell, error);
}

/* ---- workers -----------------------------------------------------------------------------------
 */

static bool worker_tell(const culex_worker_info *worker, void *user)
{
    ops_worker_json(user, worker);
    return true;
}

culex_status route_workers(struct request *request, culex_error *error)
{
    struct ops_json *json = &request->json;
    ops_json_object(json, NULL);
    ops_json_array(json, "workers");
    culex_status status = culex_client_workers(request->ops.client, worker_tell, json, error);
    ops_json_array_end(json);
    ops_json_object_end(json);
    ops_json_line_end(json);
    return status;
}
