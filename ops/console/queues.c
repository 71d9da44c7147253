/* ops/console/queues.c - /queues: how much is where, and pauses. */
#include <string.h>

#include "command/find.h"
#include "command/parked.h"
#include "command/shape.h"
#include "command/survey.h"
#include "console/body.h"
#include "console/routes.h"
#include "console/span.h"

/* Waiting runs of a queue that are looked at for the oldest, of one and of each of all. */
enum { LOOKED_AT_ONE = 1000, LOOKED_AT_EACH = 100 };

/* ---- what is there ----------------------------------------------------------------------------
 */

static culex_status view_json(struct request *request, const struct ops_queue_view *view,
                              culex_error *error)
{
    struct ops_parked parked = {.count = 0};
    struct ops_json *json = &request->json;
    culex_status status = CULEX_OK;
    if (view->stats.count[CULEX_RUN_WAITING] > 0)
        status = ops_parked_read(&request->ops, view->name, NULL, &parked, error);
    ops_json_object(json, NULL);
    ops_queue_json(json, view->name, &view->stats, parked.count);
    if (view->age_ms >= 0)
        ops_json_int(json, "oldest_waiting_ms", view->age_ms);
    ops_json_count(json, "workers", view->workers);
    ops_json_object_end(json);
    return status;
}

static culex_status queue_tell(struct request *request, culex_error *error)
{
    const char *names[] = {request->parts[0]};
    struct ops_survey survey = {.of = NULL};
    culex_status status = ops_survey_read(&request->ops, names, 1, LOOKED_AT_ONE, &survey, error);
    if (status == CULEX_OK && survey.of[0].wrong != NULL)
        status = ops_fail(error, survey.of[0].status, "%s", survey.of[0].wrong);
    if (status == CULEX_OK)
        status = view_json(request, &survey.of[0], error);
    ops_json_line_end(&request->json);
    ops_survey_free(&survey);
    return status;
}

culex_status route_queue(struct request *request, culex_error *error)
{
    return queue_tell(request, error);
}

culex_status route_queues(struct request *request, culex_error *error)
{
    struct ops_survey survey = {.of = NULL};
    culex_status status = ops_survey_read(&request->ops, NULL, 0, LOOKED_AT_EACH, &survey, error);
    ops_json_object(&request->json, NULL);
    ops_json_array(&request->json, "queues");
    for (size_t i = 0; i < survey.count && status == CULEX_OK; i++)
        status = view_json(request, &survey.of[i], error);
    ops_json_array_end(&request->json);
    ops_json_object_end(&request->json);
    ops_json_line_end(&request->json);
    ops_survey_free(&survey);
    return status;
}

/* ---- pauses -----------------------------------------------------------------------------------
 */

struct pause {
    const char *span;
    bool has_span;
};

static const culex_field pause_fields[] = {{.name = "for",
                                            .wire = "for",
                                            .kind = CULEX_KIND_STRING,
                                            .flags = CULEX_FIELD_OPTIONAL,
                                            .offset = offsetof(struct pause, span),
                                            .has_offset = offsetof(struct pause, has_span)}};
static const culex_struct_type pause_type = {"the body", sizeof(struct pause), pause_fields, 1};

static culex_status pause_read(struct request *request, culex_arena *arena,
                               culex_duration *ret_span, culex_error *error)
{
    static const struct span span = {"for", CULEX_MILLISECOND, 36525 * CULEX_DAY,
                                     "1ms to 36525d; without it a pause has no end"};
    const void *value;
    *ret_span = 0;
    culex_status status = body_decode(request, &pause_type, arena, &value, error);
    const struct pause *pause = value;
    return status == CULEX_OK && pause->has_span ? span_read(&span, pause->span, ret_span, error)
                                                 : status;
}

culex_status route_queue_pause(struct request *request, culex_error *error)
{
    culex_duration span;
    culex_client *client = request->ops.client;
    culex_arena *arena = culex_arena_create();
    culex_status status = pause_read(request, arena, &span, error);
    culex_arena_free(arena);
    if (status == CULEX_OK)
        status = span > 0 ? culex_client_pause_for(client, request->parts[0], span, error)
                          : culex_client_pause(client, request->parts[0], error);
    return status == CULEX_OK ? queue_tell(request, error) : status;
}

culex_status route_queue_resume(struct request *request, culex_error *error)
{
    culex_status status = body_is_empty(request, error);
    if (status == CULEX_OK)
        status = culex_client_resume(request->ops.client, request->parts[0], error);
    return status == CULEX_OK ? queue_tell(request, error) : status;
}
