/* navigate.c - from a name to its declaration and to its other uses. */
#include "request.h"
#include "workspace.h"

void answer_definition(struct request *request)
{
    struct target target;
    const struct mark *mark;
    if (!request_mark(request, &target, &mark))
        return;
    if (mark == NULL || mark->thing.kind == THING_BUILTIN)
        json_null(request->json, "result");
    else
        write_location(request, "result", target.analysis, mark->thing.module,
                       thing_span(&mark->thing));
}

void answer_highlight(struct request *request)
{
    enum { READ = 2, WRITE = 3 };
    struct target target;
    const struct mark *mark;
    if (!request_mark(request, &target, &mark))
        return;
    unsigned count = 0;
    json_open(request->json, "result", '[');
    const struct mark *at =
        mark == NULL ? NULL : marks_find(&target.analysis->compilation, target.module);
    for (; at != NULL && count < LIMIT_ANSWERS; at = at->next) {
        if (!thing_is(request->arena, &at->thing, &mark->thing))
            continue;
        json_open(request->json, NULL, '{');
        write_range(request->json, "range", target.analysis, at->span);
        json_number(request->json, "kind", mark_is_declaration(at) ? WRITE : READ);
        json_close(request->json, '}');
        count++;
    }
    json_close(request->json, ']');
}

void answer_references(struct request *request)
{
    struct target target;
    const struct mark *mark;
    const struct json *wanted = json_get(request->params, "context.includeDeclaration");
    bool has_declaration = wanted->kind != JSON_BOOL || wanted->number != 0;
    if (!request_mark(request, &target, &mark))
        return;
    unsigned count = 0;
    struct workspace workspace;
    workspace_open(&workspace, request->server, documents_overlays(&request->server->documents));
    json_open(request->json, "result", '[');
    struct use *use = mark == NULL ? NULL : workspace_uses(&workspace, &mark->thing);
    for (; use != NULL && count < LIMIT_ANSWERS; use = use->next) {
        if (use->is_declaration && !has_declaration)
            continue;
        write_location(request, NULL, use->file->analysis, use->file->module, use->span);
        count++;
    }
    json_close(request->json, ']');
    workspace_close(&workspace);
}
