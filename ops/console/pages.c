/* ops/console/pages.c - what is no part of the store: a page to begin with, the document, health.
 */
#include <string.h>

#include "console/openapi.h"
#include "console/routes.h"

/* ---- the page ---------------------------------------------------------------------------------
 */

struct page_file {
    const char *name, *type, *tag;
    const unsigned char *data;
    size_t len;
};

#include "page_files.h"

/* What the browser has already is not sent again. */
static culex_status file_tell(struct request *request, const char *name, culex_error *error)
{
    const char *had = request_header(request, "If-None-Match");
    for (size_t i = 0; i < sizeof page_files / sizeof page_files[0]; i++) {
        const struct page_file *file = &page_files[i];
        if (strcmp(file->name, name) != 0)
            continue;
        request->type = file->type;
        request->tag = file->tag;
        if (had != NULL && strstr(had, file->tag) != NULL)
            request->status = 304;
        else
            fwrite(file->data, 1, file->len, request->json.out);
        return CULEX_OK;
    }
    return ops_fail(error, CULEX_ENOTFOUND, "the page has no file %.64s", name);
}

culex_status route_start(struct request *request, culex_error *error)
{
    if (!request->is_bare)
        return file_tell(request, "index.html", error);
    request->type = "text/plain";
    request->status = 308;
    return CULEX_OK;
}

culex_status route_page(struct request *request, culex_error *error)
{
    return file_tell(request, request->parts[0], error);
}

culex_status route_stream(struct request *request, culex_error *error)
{
    (void)error;
    request->is_stream = true;
    return CULEX_OK;
}

/* ---- of the API -------------------------------------------------------------------------------
 */

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

static const char *role_name(const struct token *who)
{
    return who == NULL || who->role == ROLE_OPERATE ? "operate"
           : who->role == ROLE_READ                 ? "read"
           : who->role == ROLE_WORK                 ? "work"
                                                    : "enqueue";
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
    ops_json_text(json, "role", role_name(request->who));
    ops_json_object_end(json);
    ops_json_line_end(json);
    return status;
}
