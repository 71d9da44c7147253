/* actions.c - the fixes that come with diagnostics. */
#include <string.h>

#include "fix.h"
#include "request.h"
#include "shown.h"

static const char *action_title(struct arena *arena, const struct diag *diag)
{
    struct buf title = {0};
    for (const struct diag_fix *fix = diag->fixes; fix != NULL; fix = fix->next)
        buf_printf(&title, "%s%s", title.len > 0 ? ", " : "", fix_title(arena, fix));
    title.data[0] = (char)(title.data[0] - 'a' + 'A');
    const char *shown = shown_copy(arena, title.data, title.len);
    buf_release(&title);
    return shown;
}

static void write_action(struct request *request, const struct target *target,
                         const struct diag *diag)
{
    struct json_out *json = request->json;
    json_open(json, NULL, '{');
    json_text(json, "title", action_title(request->arena, diag));
    json_text(json, "kind", "quickfix");
    if (diag->applicability == FIX_MACHINE_APPLICABLE) /* What editors apply without asking. */
        json_bool(json, "isPreferred", true);
    json_open(json, "diagnostics", '[');
    write_diagnostic(request->server, request->arena, json, NULL, target->analysis, diag);
    json_close(json, ']');
    json_open(json, "edit", '{');
    json_open(json, "changes", '{');
    json_open(json, target->document->uri, '[');
    for (const struct diag_fix *fix = diag->fixes; fix != NULL; fix = fix->next)
        write_edit(json, target->analysis, fix->span, fix->text);
    for (const char *at = "]}}}"; *at != '\0'; at++)
        json_close(json, *at);
}

/* A fix of several files is for the command line. */
static bool is_local(const struct diag *diag, const struct source *source)
{
    const struct diag_fix *fix = diag->fixes;
    while (fix != NULL && fix->span.source == source)
        fix = fix->next;
    return diag->fixes != NULL && fix == NULL && diag->span.source == source;
}

void answer_actions(struct request *request)
{
    struct target target;
    struct position start, end;
    if (!position_read(json_get(request->params, "range.start"), &start) ||
        !position_read(json_get(request->params, "range.end"), &end)) {
        request_refuse(request, FAULT_PARAMS, "no range");
        return;
    }
    if (!request_document(request, &target))
        return;
    const struct lines *lines = analysis_lines(target.analysis, target.source);
    size_t from = lines_offset(lines, start);
    size_t to = lines_offset(lines, end);
    json_open(request->json, "result", '[');
    const struct diag *at = target.analysis->compilation.sink.first;
    for (; at != NULL; at = at->next) {
        if (is_local(at, target.source) && at->span.offset <= to &&
            (size_t)at->span.offset + at->span.length >= from)
            write_action(request, &target, at);
    }
    json_close(request->json, ']');
}
