#include "console/openapi.h"

#include <string.h>

#include "console/routes.h"
#include "console/shapes.h"

/* ---- shapes -----------------------------------------------------------------------------------
 */

static void ref_json(struct ops_json *json, const char *name, const char *shape, size_t len)
{
    char text[80];
    snprintf(text, sizeof text, "#/components/schemas/%.*s", (int)len, shape);
    ops_json_object(json, name);
    ops_json_text(json, "$ref", text);
    ops_json_object_end(json);
}

/* The members that say the type, of an object that is open. */
static void type_json(struct ops_json *json, const char *type, size_t len)
{
    if (type[0] == '[') {
        ops_json_text(json, "type", "array");
        ops_json_object(json, "items");
        type_json(json, type + 1, strcspn(type, "]") - 1);
        ops_json_object_end(json);
    } else if (type[0] >= 'A' && type[0] <= 'Z') {
        char text[80];
        snprintf(text, sizeof text, "#/components/schemas/%.*s", (int)len, type);
        ops_json_text(json, "$ref", text);
    } else {
        ops_json_text_of(json, "type", type, len);
    }
}

/* That, or null. */
static void nullable_json(struct ops_json *json, const char *type, size_t len)
{
    ops_json_array(json, "anyOf");
    ops_json_object(json, NULL);
    type_json(json, type, len);
    ops_json_object_end(json);
    ops_json_object(json, NULL);
    ops_json_text(json, "type", "null");
    ops_json_object_end(json);
    ops_json_array_end(json);
}

static void member_json(struct ops_json *json, const struct shape_member *member)
{
    ops_json_object(json, member->name);
    ops_json_text(json, "description", member->doc);
    size_t len = strcspn(member->type, "?!");
    if (member->type[len] == '!')
        nullable_json(json, member->type, len);
    else
        type_json(json, member->type, len);
    ops_json_object_end(json);
}

static bool is_body(const char *name)
{
    for (const struct route *route = routes; route->path != NULL; route++) {
        if (route->body != NULL && strcmp(route->body, name) == 0)
            return true;
    }
    return false;
}

/* Whether requests have it, whose members are all known; answers may get more in a later version.
 */
static bool is_sent(const char *name)
{
    for (const struct shape *shape = shapes; shape->name != NULL; shape++) {
        if (shape->list_of != NULL && strcmp(shape->list_of, name) == 0 && is_body(shape->name))
            return true;
    }
    return is_body(name);
}

static void members_json(struct ops_json *json, const struct shape *shape)
{
    ops_json_text(json, "type", "object");
    ops_json_object(json, "properties");
    for (const struct shape_member *member = shape->members; member->name != NULL; member++)
        member_json(json, member);
    ops_json_object_end(json);
    ops_json_array(json, "required");
    for (const struct shape_member *member = shape->members; member->name != NULL; member++) {
        if (strchr(member->type, '?') == NULL)
            ops_json_text(json, NULL, member->name);
    }
    ops_json_array_end(json);
    if (is_sent(shape->name))
        ops_json_bool(json, "additionalProperties", false);
}

static void shape_json(struct ops_json *json, const struct shape *shape)
{
    ops_json_object(json, shape->name);
    ops_json_text(json, "description", shape->doc);
    if (shape->list_of != NULL) {
        ops_json_text(json, "type", "array");
        ref_json(json, "items", shape->list_of, strlen(shape->list_of));
    } else {
        members_json(json, shape);
    }
    ops_json_object_end(json);
}

/* ---- routes -----------------------------------------------------------------------------------
 */

static void parameter_json(struct ops_json *json, const char *name, size_t len, const char *in,
                           const char *doc)
{
    ops_json_object(json, NULL);
    ops_json_text_of(json, "name", name, len);
    ops_json_text(json, "in", in);
    ops_json_bool(json, "required", strcmp(in, "path") == 0);
    if (doc != NULL)
        ops_json_text(json, "description", doc);
    ops_json_object(json, "schema");
    ops_json_text(json, "type", "string");
    ops_json_object_end(json);
    ops_json_object_end(json);
}

static void header_json(struct ops_json *json, const char *name, const char *doc)
{
    parameter_json(json, name, strlen(name), "header", doc);
}

static void parameters_json(struct ops_json *json, const struct route *route)
{
    ops_json_array(json, "parameters");
    for (const char *at = strchr(route->path, '{'); at != NULL; at = strchr(at + 1, '{'))
        parameter_json(json, at + 1, strcspn(at + 1, "}"), "path", NULL);
    for (const struct route_query *query = route->queries; query != NULL && query->name != NULL;
         query++)
        parameter_json(json, query->name, strlen(query->name), "query", query->doc);
    if (route->run == route_enqueue)
        header_json(json, "Idempotency-Key", "Within a day the queue takes one run for a key.");
    if (route->run == route_enqueue || route->run == route_enqueue_bulk) {
        header_json(json, "traceparent",
                    "The trace that runs are of, as W3C Trace Context has it; one that is not well "
                    "formed is passed over.");
        header_json(json, "tracestate", "Beside it.");
    }
    ops_json_array_end(json);
}

static void content_json(struct ops_json *json, const char *type, const char *shape)
{
    ops_json_object(json, "content");
    ops_json_object(json, type);
    if (shape != NULL) {
        ref_json(json, "schema", shape, strlen(shape));
    } else {
        ops_json_object(json, "schema");
        ops_json_object_end(json);
    }
    ops_json_object_end(json);
    ops_json_object_end(json);
}

static void response_json(struct ops_json *json, const struct route *route, unsigned status)
{
    char name[16];
    snprintf(name, sizeof name, "%u", status);
    ops_json_object(json, name);
    ops_json_text(json, "description", route->summary);
    content_json(json, route->type != NULL ? route->type : "application/json", route->answer);
    ops_json_object_end(json);
}

static void responses_json(struct ops_json *json, const struct route *route)
{
    ops_json_object(json, "responses");
    response_json(json, route, route->status);
    if (route->other != 0)
        response_json(json, route, route->other);
    ops_json_object(json, "default");
    ops_json_text(json, "description", "It did not work: the status tells of which kind it is.");
    content_json(json, "application/json", "Error");
    ops_json_object_end(json);
    ops_json_object_end(json);
}

/* No body is an object without members: it will not do for a list, nor where one has to be there.
 */
static bool is_required(const char *name)
{
    const struct shape *shape = shapes;
    while (strcmp(shape->name, name) != 0)
        shape++;
    if (shape->list_of != NULL)
        return true;
    for (const struct shape_member *member = shape->members; member->name != NULL; member++) {
        if (strchr(member->type, '?') == NULL)
            return true;
    }
    return false;
}

static void body_json(struct ops_json *json, const struct route *route)
{
    ops_json_object(json, "requestBody");
    ops_json_bool(json, "required", is_required(route->body));
    content_json(json, "application/json", route->body);
    ops_json_object_end(json);
}

static void security_json(struct ops_json *json, const struct route *route)
{
    static const char *const names[] = {"read", "enqueue", "work", "operate"};
    static const int roles[] = {ROLE_READ, ROLE_ENQUEUE, ROLE_WORK, ROLE_OPERATE};
    if (route->is_open) {
        ops_json_array(json, "security");
        ops_json_array_end(json);
        return;
    }
    ops_json_array(json, "x-roles");
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        if (((route->roles | ROLE_OPERATE) & roles[i]) != 0)
            ops_json_text(json, NULL, names[i]);
    }
    ops_json_array_end(json);
}

static void operation_json(struct ops_json *json, const struct route *route)
{
    ops_json_object(json, strcmp(route->method, "GET") == 0 ? "get" : "post");
    ops_json_text(json, "operationId", route->name);
    ops_json_text(json, "summary", route->summary);
    parameters_json(json, route);
    if (route->body != NULL)
        body_json(json, route);
    responses_json(json, route);
    security_json(json, route);
    ops_json_object_end(json);
}

/* ---- the document -----------------------------------------------------------------------------
 */

static void info_json(struct ops_json *json)
{
    ops_json_text(json, "openapi", "3.1.0");
    ops_json_object(json, "info");
    ops_json_text(json, "title", "Culex");
    ops_json_text(json, "summary",
                  "Background jobs over HTTP: enqueue them, follow and steer them.");
    ops_json_text(json, "version", "1");
    ops_json_object_end(json);
}

static void components_json(struct ops_json *json)
{
    ops_json_object(json, "components");
    ops_json_object(json, "schemas");
    for (const struct shape *shape = shapes; shape->name != NULL; shape++)
        shape_json(json, shape);
    ops_json_object_end(json);
    ops_json_object(json, "securitySchemes");
    ops_json_object(json, "token");
    ops_json_text(json, "type", "http");
    ops_json_text(json, "scheme", "bearer");
    ops_json_text(json, "description", "Where the server has a file of tokens.");
    ops_json_object_end(json);
    ops_json_object_end(json);
    ops_json_object_end(json);
}

/* A token, or none where the server asks for none. */
static void access_json(struct ops_json *json)
{
    ops_json_array(json, "security");
    ops_json_object(json, NULL);
    ops_json_array(json, "token");
    ops_json_array_end(json);
    ops_json_object_end(json);
    ops_json_object(json, NULL);
    ops_json_object_end(json);
    ops_json_array_end(json);
}

/* The page for people is no part of the document. */
static bool is_for_programs(const struct route *route)
{
    return strncmp(route->path, "/api/", strlen("/api/")) == 0;
}

void openapi_json(struct ops_json *json)
{
    ops_json_object(json, NULL);
    info_json(json);
    access_json(json);
    ops_json_object(json, "paths");
    for (const struct route *route = routes; route->path != NULL; route++) {
        if (!is_for_programs(route))
            continue;
        ops_json_object(json, route->path);
        operation_json(json, route);
        ops_json_object_end(json);
    }
    ops_json_object_end(json);
    components_json(json);
    ops_json_object_end(json);
    ops_json_line_end(json);
}
