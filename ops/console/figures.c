/* ops/console/figures.c - /queues/{queue}/figures and /batches: what was counted. */
#include <string.h>

#include <culex/batch.h>
#include <culex/figures.h>

#include "command/shape.h"
#include "console/body.h"
#include "console/query.h"
#include "console/routes.h"

/* ---- figures ----------------------------------------------------------------------------------
 */

enum { HOURS = 2 };

static bool job_tell(const culex_figures *figures, void *user)
{
    struct request *request = user;
    ops_figures_json(&request->json, NULL, request->parts[0], figures);
    return true;
}

static culex_status figures_tell(struct request *request, unsigned hours, culex_error *error)
{
    culex_figures all;
    struct ops_json *json = &request->json;
    const char *queue = request->parts[0];
    culex_client *client = request->ops.client;
    culex_status status = culex_client_figures(client, queue, NULL, hours, &all, error);
    if (status != CULEX_OK)
        return status;
    ops_json_object(json, NULL);
    ops_json_text(json, "queue", queue);
    ops_json_count(json, "hours", hours);
    ops_figures_json(json, "all", queue, &all);
    ops_json_array(json, "jobs");
    status = culex_client_figures_by_job(client, queue, hours, job_tell, request, error);
    ops_json_array_end(json);
    ops_json_object_end(json);
    ops_json_line_end(json);
    return status;
}

culex_status route_figures(struct request *request, culex_error *error)
{
    uint64_t hours = HOURS;
    culex_status status = query_count(request, "hours", CULEX_FIGURES_HOURS_MAX, &hours, error);
    return status == CULEX_OK ? figures_tell(request, (unsigned)hours, error) : status;
}

/* ---- batches ----------------------------------------------------------------------------------
 */

static culex_status batch_read(const struct request *request, culex_batch *ret_batch,
                               culex_error *error)
{
    char name[sizeof request->parts + 2];
    snprintf(name, sizeof name, "%s/%s", request->parts[0], request->parts[1]);
    return culex_batch_parse(name, ret_batch)
               ? CULEX_OK
               : body_blame(ops_usage(error, "%.160s is no batch: it has a queue and an id", name),
                            "id", error);
}

static void batch_tell(struct ops_json *json, const culex_batch *batch,
                       const culex_batch_info *info)
{
    ops_json_object(json, NULL);
    ops_json_text(json, "queue", batch->queue);
    ops_json_id(json, "id", batch->id);
    ops_json_count(json, "added", info->added);
    ops_json_count(json, "done", info->done);
    ops_json_count(json, "dead", info->dead);
    ops_json_count(json, "cancelled", info->cancelled);
    ops_json_count(json, "open", info->added - info->done - info->dead - info->cancelled);
    ops_json_bool(json, "is_closed", info->is_closed);
    ops_json_bool(json, "is_ended", info->is_ended);
    ops_json_bool(json, "is_expired", info->is_expired);
    ops_json_object_end(json);
    ops_json_line_end(json);
}

culex_status route_batch(struct request *request, culex_error *error)
{
    culex_batch batch;
    culex_batch_info info;
    culex_status status = batch_read(request, &batch, error);
    if (status == CULEX_OK)
        status = culex_batch_look(request->ops.client, &batch, &info, error);
    if (status == CULEX_OK)
        batch_tell(&request->json, &batch, &info);
    return status;
}
