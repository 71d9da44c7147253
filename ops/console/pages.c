/* ops/console/pages.c - what is no part of the store: a page to begin with, the document, health.
 */
#include <string.h>

#include "console/openapi.h"
#include "console/routes.h"

culex_status route_start(struct request *request, culex_error *error)
{
    (void)error;
    request->type = "text/html; charset=utf-8";
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
          "<title>Culex</title></head>\n<body>\n<main>\n<h1>Culex " CULEX_VERSION "</h1>\n<ul>\n"
          "<li><a href=\"api/v1/queues\">queues</a></li>\n"
          "<li><a href=\"api/v1/runs\">runs</a></li>\n"
          "<li><a href=\"api/v1/workers\">workers</a></li>\n"
          "<li><a href=\"api/v1/openapi.json\">the API, as OpenAPI 3.1</a></li>\n"
          "</ul>\n</main>\n</body>\n</html>\n",
          request->json.out);
    return CULEX_OK;
}

culex_status route_openapi(struct request *request, culex_error *error)
{
    (void)error;
    openapi_json(&request->json);
    return CULEX_OK;
}

static bool queue_skip(const char *queue, void *user)
{
    (void)queue;
    (void)user;
    return false;
}

culex_status route_health(struct request *request, culex_error *error)
{
    struct ops_json *json = &request->json;
    culex_status status = culex_client_queues(request->ops.client, queue_skip, NULL, error);
    ops_json_object(json, NULL);
    ops_json_text(json, "status", "ok");
    ops_json_text(json, "version", CULEX_VERSION);
    ops_json_bool(json, "read_only", request->console->is_read_only);
    ops_json_count(json, "at_work", atomic_load(&request->console->at_work));
    ops_json_object_end(json);
    ops_json_line_end(json);
    return status;
}
