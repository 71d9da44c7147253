#include "request.h"

#include <stdarg.h>
#include <string.h>

#include "uri.h"

void request_refuse(struct request *request, int fault, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    request->fault_text = arena_vprintf(request->arena, format, args);
    va_end(args);
    request->fault = fault;
}

struct analysis *server_analysis(struct server *server, struct document *document)
{
    if (document->analysis == NULL) {
        struct analysis_input input = server->input;
        input.overlays = documents_overlays(&server->documents);
        input.has_promises = true;
        document->analysis = analysis_create(&input, document->path);
    }
    return document->analysis;
}

bool request_document(struct request *request, struct target *ret_target)
{
    const char *uri = json_string(json_get(request->params, "textDocument.uri"));
    *ret_target = (struct target){0};
    if (uri == NULL) {
        request_refuse(request, FAULT_PARAMS, "no textDocument.uri");
        return false;
    }
    ret_target->document = document_find(&request->server->documents, uri);
    if (ret_target->document != NULL && !ret_target->document->is_lost) {
        ret_target->analysis = server_analysis(request->server, ret_target->document);
        ret_target->module = ret_target->analysis->module;
    }
    if (ret_target->module == NULL) {
        json_null(request->json, "result");
        return false;
    }
    ret_target->source = ret_target->module->source;
    return true;
}

bool request_target(struct request *request, struct target *ret_target)
{
    struct position position;
    if (!position_read(json_get(request->params, "position"), &position)) {
        request_refuse(request, FAULT_PARAMS, "no position");
        return false;
    }
    if (!request_document(request, ret_target))
        return false;
    ret_target->offset =
        lines_offset(analysis_lines(ret_target->analysis, ret_target->source), position);
    return true;
}

bool request_mark(struct request *request, struct target *ret_target, const struct mark **ret_mark)
{
    if (!request_target(request, ret_target))
        return false;
    *ret_mark = mark_at(marks_find(&ret_target->analysis->compilation, ret_target->module),
                        ret_target->offset);
    return true;
}

const char *module_uri(struct server *server, struct arena *arena, const struct module *module)
{
    const char *key = module_key(arena, module);
    for (const struct document *at = server->documents.first; at != NULL; at = at->next) {
        if (strcmp(at->path, key) == 0)
            return at->uri;
    }
    return uri_of_path(arena, key);
}

void write_location(struct request *request, const char *name, struct analysis *analysis,
                    const struct module *module, struct span span)
{
    json_open(request->json, name, '{');
    json_text(request->json, "uri", module_uri(request->server, request->arena, module));
    write_range(request->json, "range", analysis, span);
    json_close(request->json, '}');
}

void write_edit(struct json_out *json, struct analysis *analysis, struct span span,
                const char *text)
{
    json_open(json, NULL, '{');
    write_range(json, "range", analysis, span);
    json_text(json, "newText", text);
    json_close(json, '}');
}

void server_send(struct server *server, struct json_out *json)
{
    if (!rpc_write(&server->rpc, json->buf.data, json->buf.len))
        server->has_ended = true; /* Nobody reads any more. */
    buf_release(&json->buf);
}

void server_warn(struct server *server, const char *text)
{
    struct json_out json = {.is_compact = true};
    json_open(&json, NULL, '{');
    json_text(&json, "jsonrpc", "2.0");
    json_text(&json, "method", "window/showMessage");
    json_open(&json, "params", '{');
    json_number(&json, "type", 2);
    json_text(&json, "message", text);
    json_close(&json, '}');
    json_close(&json, '}');
    server_send(server, &json);
}
