/* ops/console/run.c - /runs/{queue}/{id}: one run, its end, and what may be done to it. */
#include <string.h>

#include <culex/lines.h>

#include "command/run_print.h"
#include "command/schema_find.h"
#include "console/body.h"
#include "console/routes.h"
#include "console/span.h"

enum { WAIT_DEFAULT_S = 30, WAIT_MAX_S = 60 };

static culex_status id_read(const struct request *request, culex_uuid *ret_id, culex_error *error)
{
    if (culex_uuid_parse(request->parts[1], ret_id))
        return CULEX_OK;
    return body_blame(ops_usage(error, "%.100s is no id of a run", request->parts[1]), "id", error);
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static culex_status run_tell(struct request *request, const culex_run_info *run, culex_error *error)
{
    culex_run_lines *lines = NULL;
    struct ops_schema schema = {.schema = NULL};
    struct ops *ops = &request->ops;
    culex_status status = culex_client_run_log(ops->client, run->queue, run->id, &lines, error);
    if (status == CULEX_OK)
        status = ops_schema_of_run(ops, run->queue, run->job, run->fingerprint, &schema, error);
    if (status == CULEX_OK)
        ops_run_whole_json(&request->json, run, &schema, lines, false);
    ops_schema_release(&schema);
    culex_run_lines_free(lines);
    return status;
}

culex_status route_run(struct request *request, culex_error *error)
{
    culex_uuid id;
    culex_run_info *run = NULL;
    culex_status status = id_read(request, &id, error);
    if (status == CULEX_OK)
        status = culex_client_get(request->ops.client, request->parts[0], id, &run, error);
    if (status == CULEX_OK)
        status = run_tell(request, run, error);
    ops_json_line_end(&request->json);
    culex_run_info_free(run);
    return status;
}

/* ---- its end ----------------------------------------------------------------------------------
 */

static culex_status timeout_read(const struct request *request, culex_duration *ret_timeout,
                                 culex_error *error)
{
    static const struct span span = {"timeout", 0, WAIT_MAX_S * CULEX_SECOND,
                                     "at most 60s; ask again when it is over"};
    const char *text = request_query(request, "timeout");
    *ret_timeout = WAIT_DEFAULT_S * CULEX_SECOND;
    return text != NULL ? span_read(&span, text, ret_timeout, error) : CULEX_OK;
}

/* A second at a time: whoever asked may have gone, and the server may be told to end. */
static culex_status end_wait(const struct request *request, culex_duration timeout,
                             culex_wait *wait, culex_error *error)
{
    culex_status status;
    do {
        culex_duration piece = timeout < CULEX_SECOND ? timeout : CULEX_SECOND;
        status = culex_client_wait(request->ops.client, wait, 1, 1, piece, error);
        timeout -= piece;
    } while (status == CULEX_OK && wait->end == CULEX_WAIT_PENDING && timeout > 0 &&
             !atomic_load(&request->console->is_ending) && !request_is_deserted(request));
    return status;
}

static culex_status end_tell(struct request *request, const culex_wait *wait, culex_error *error)
{
    struct ops_json *json = &request->json;
    culex_status status = CULEX_OK;
    if (wait->end == CULEX_WAIT_FORGOTTEN)
        return ops_fail(error, CULEX_ENOTFOUND,
                        "queue %.64s has no such run: it is forgotten, or never was", wait->queue);
    ops_json_object(json, NULL);
    ops_json_text(json, "end", culex_wait_end_name(wait->end));
    if (wait->run != NULL) {
        ops_json_raw(json, "run", "", 0);
        json->has_before = false;
        status = run_tell(request, wait->run, error);
    }
    ops_json_object_end(json);
    ops_json_line_end(json);
    return status;
}

culex_status route_run_wait(struct request *request, culex_error *error)
{
    culex_duration timeout;
    culex_wait wait = {.queue = request->parts[0]};
    culex_status status = id_read(request, &wait.id, error);
    if (status == CULEX_OK)
        status = timeout_read(request, &timeout, error);
    if (status == CULEX_OK)
        status = end_wait(request, timeout, &wait, error);
    if (status == CULEX_OK)
        status = end_tell(request, &wait, error);
    culex_run_info_free(wait.run);
    return status;
}

/* ---- changes ----------------------------------------------------------------------------------
 */

static culex_status change_begin(struct request *request, culex_uuid *ret_id, culex_error *error)
{
    culex_status status = id_read(request, ret_id, error);
    if (status == CULEX_OK)
        snprintf(request->audited, sizeof request->audited, "%.60s", request->parts[1]);
    return status == CULEX_OK ? body_is_empty(request, error) : status;
}

static culex_status state_tell(struct request *request, culex_uuid id, const char *state)
{
    struct ops_json *json = &request->json;
    ops_json_object(json, NULL);
    ops_json_id(json, "id", id);
    ops_json_text(json, "queue", request->parts[0]);
    ops_json_text(json, "state", state);
    ops_json_object_end(json);
    ops_json_line_end(json);
    return CULEX_OK;
}

culex_status route_run_cancel(struct request *request, culex_error *error)
{
    culex_uuid id;
    culex_run_state state = CULEX_RUN_CANCELLED;
    culex_status status = change_begin(request, &id, error);
    if (status == CULEX_OK)
        status = culex_client_cancel(request->ops.client, request->parts[0], id, &state, error);
    return status == CULEX_OK ? state_tell(request, id, culex_run_state_name(state)) : status;
}

culex_status route_run_retry(struct request *request, culex_error *error)
{
    culex_uuid id;
    culex_status status = change_begin(request, &id, error);
    if (status == CULEX_OK)
        status = culex_client_retry(request->ops.client, request->parts[0], id, error);
    return status == CULEX_OK ? state_tell(request, id, culex_run_state_name(CULEX_RUN_WAITING))
                              : status;
}

culex_status route_run_delete(struct request *request, culex_error *error)
{
    culex_uuid id;
    culex_status status = change_begin(request, &id, error);
    if (status == CULEX_OK)
        status = culex_client_delete(request->ops.client, request->parts[0], id, error);
    return status == CULEX_OK ? state_tell(request, id, "deleted") : status;
}
