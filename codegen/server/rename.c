/* rename.c - gives a thing a new name wherever it is used.
 *
 * A name that runs in the store carry stays there: a param or a job gets [[was("old")]]. Whether
 * the new name can be had the compiler says: all files are compiled with the edits, and what
 * brings an error, or makes a name mean something else, is refused. */
#include <assert.h>
#include <string.h>

#include "lexer.h"
#include "shown.h"
#include "workspace.h"

struct edit {
    struct file *file;
    struct span span;
    const char *text;
    struct edit *next;
};

struct rename {
    struct request *request;
    struct workspace before;
    const struct thing *thing;
    const char *name;
    struct edit *edits, **end;
    unsigned uses;
};

static bool has_new_name(const struct thing *thing)
{
    return thing->kind == THING_DECL || thing->kind == THING_FIELD || thing->kind == THING_VALUE;
}

static bool is_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t len = strlen(name);
    return len > 0 && len <= LIMIT_NAME_BYTES && strspn(name, allowed) == len &&
           strchr("0123456789", name[0]) == NULL;
}

static void edit_add(struct rename *rename, struct file *file, struct span span, const char *text)
{
    struct edit *edit = arena_alloc(rename->request->arena, sizeof(*edit));
    *edit = (struct edit){file, span, text, NULL};
    *rename->end = edit;
    rename->end = &edit->next;
}

static const struct ast_attr *thing_attrs(const struct thing *thing)
{
    return thing->kind == THING_FIELD ? thing->field->attrs : thing->decl->attrs;
}

/* Behind the name, and behind the [N] of a list. */
static uint32_t attrs_place(const struct mark *declaration)
{
    struct span span = declaration->span;
    const struct source *source = span.source;
    uint32_t place = span.offset + span.length;
    struct lexer lexer = {source->text, source->text + place, source->text + source->size};
    struct token token = lexer_next(&lexer);
    if (token.kind != TOKEN_LEFT_BRACKET)
        return place;
    while (token.kind != TOKEN_RIGHT_BRACKET && token.kind != TOKEN_SEMICOLON &&
           token.kind != TOKEN_END)
        token = lexer_next(&lexer);
    return token.kind == TOKEN_RIGHT_BRACKET ? token.offset + 1 : place;
}

/* Adds the old name to what the thing was called, unless the new one is the stored one. */
static void edit_was(struct rename *rename, struct file *file, const struct mark *declaration)
{
    struct arena *arena = rename->request->arena;
    const struct thing *thing = &declaration->thing;
    const struct ast_attr *attrs = thing_attrs(thing);
    const struct ast_attr *was = ast_attr_find(attrs, "was");
    struct span place = {declaration->span.source, attrs_place(declaration), 0};
    const char *old = thing_name(thing);
    if (was != NULL && was->args != NULL) {
        const struct literal *last = was->args;
        while (last->next != NULL)
            last = last->next;
        place.offset = last->span.offset + last->span.length;
        if (was->args->text == NULL || strcmp(was->args->text, rename->name) != 0)
            edit_add(rename, file, place, arena_printf(arena, ", \"%s\"", old));
    } else if (attrs != NULL) {
        place.offset = attrs->name.span.offset;
        edit_add(rename, file, place, arena_printf(arena, "was(\"%s\"), ", old));
    } else {
        edit_add(rename, file, place, arena_printf(arena, " [[was(\"%s\")]]", old));
    }
}

static bool is_stored(const struct thing *thing)
{
    return thing->kind == THING_FIELD ||
           (thing->kind == THING_DECL && thing->decl->kind == DECL_JOB);
}

/* Edits come in the order of each file, which text_edited() relies on. */
static void edits_find(struct rename *rename)
{
    for (struct use *use = workspace_uses(&rename->before, rename->thing); use; use = use->next) {
        rename->uses++;
        edit_add(rename, use->file, use->span, rename->name);
        if (!use->is_declaration || !is_stored(rename->thing))
            continue;
        const struct mark *marks = marks_find(&use->file->analysis->compilation, use->file->module);
        const struct mark *declaration = mark_at(marks, use->span.offset);
        assert(declaration != NULL); /* The use was found as such a mark. */
        edit_was(rename, use->file, declaration);
    }
}

static const char *text_edited(struct rename *rename, const struct file *file, size_t *ret_size)
{
    static const char byte_mark[] = "\xef\xbb\xbf";
    const struct source *source = file->module->source;
    struct buf text = {0};
    uint32_t at = 0;
    buf_text(&text, source->skipped > 0 ? byte_mark : "");
    for (const struct edit *edit = rename->edits; edit != NULL; edit = edit->next) {
        if (edit->file != file)
            continue;
        assert(edit->span.offset >= at); /* They come in order, and none inside another. */
        buf_append(&text, source->text + at, edit->span.offset - at);
        buf_text(&text, edit->text);
        at = edit->span.offset + edit->span.length;
    }
    buf_append(&text, source->text + at, source->size - at);
    const char *copy = arena_copy(rename->request->arena, text.data, text.len);
    *ret_size = text.len;
    buf_release(&text);
    return copy;
}

/* The texts as they would be, before those that are open. */
static const struct overlay *overlays_edited(struct rename *rename)
{
    const struct overlay *overlays = rename->before.input.overlays;
    const struct file *last = NULL;
    for (const struct edit *edit = rename->edits; edit != NULL; edit = edit->next) {
        if (edit->file == last)
            continue;
        last = edit->file;
        struct overlay *overlay = arena_alloc(rename->request->arena, sizeof(*overlay));
        *overlay = (struct overlay){.path = last->key, .next = overlays};
        overlay->text = text_edited(rename, last, &overlay->size);
        overlays = overlay;
    }
    return overlays;
}

/* Where the declaration is once all edits before it are made. */
static uint32_t offset_edited(const struct rename *rename, const struct file *file, uint32_t offset)
{
    uint32_t moved = offset;
    for (const struct edit *edit = rename->edits; edit != NULL; edit = edit->next) {
        if (edit->file == file && edit->span.offset < offset)
            moved += (uint32_t)strlen(edit->text) - edit->span.length;
    }
    return moved;
}

static bool is_known(const struct diag *diag, const struct diag_sink *sink)
{
    const struct diag *at = sink->first;
    while (at != NULL && (at->id != diag->id || strcmp(at->text, diag->text) != 0))
        at = at->next;
    return at != NULL;
}

/* An error that the edits bring, NULL: none. */
static const struct diag *error_find(const struct file *before, const struct file *after)
{
    const struct diag_sink *old = &before->analysis->compilation.sink;
    const struct diag_sink *new = &after->analysis->compilation.sink;
    const struct diag *first = NULL;
    for (const struct diag *at = new->first; at != NULL; at = at->next) {
        first = first == NULL && at->severity == DIAG_ERROR ? at : first;
        if (at->severity == DIAG_ERROR && !is_known(at, old))
            return at;
    }
    return new->errors > old->errors ? first : NULL;
}

static bool has_errors(struct rename *rename, struct workspace *after)
{
    for (struct file *file = rename->before.files; file != NULL; file = file->next) {
        const struct file *edited = map_get(&after->by_key, file->key);
        const struct diag *error = edited == NULL ? NULL : error_find(file, edited);
        if (file->analysis->compilation.sink.is_full) {
            request_refuse(rename->request, FAULT_FAILED,
                           "too many errors to see what a rename would change");
            return true;
        }
        if (error == NULL)
            continue;
        request_refuse(rename->request, FAULT_FAILED, "'%.64s' cannot be the name: %s",
                       rename->name,
                       shown_copy(rename->request->arena, error->text, strlen(error->text)));
        return true;
    }
    return false;
}

static struct file *declaring_file(const struct rename *rename)
{
    const char *key = module_key(rename->request->arena, rename->thing->module);
    return map_get(&rename->before.by_key, key);
}

/* Whether, after the edits, as many names mean the thing as before. */
static bool has_same_uses(struct rename *rename, struct workspace *after)
{
    unsigned uses = 0;
    struct file *file = declaring_file(rename);
    struct file *edited = map_get(&after->by_key, file->key);
    if (edited == NULL) /* It went from the disk in between. */
        return false;
    uint32_t offset = offset_edited(rename, file, thing_span(rename->thing).offset);
    const struct mark *mark =
        mark_at(marks_find(&edited->analysis->compilation, edited->module), offset);
    struct use *use = mark == NULL ? NULL : workspace_uses(after, &mark->thing);
    for (; use != NULL; use = use->next)
        uses++;
    return uses == rename->uses;
}

/* False after a refusal. */
static bool rename_try(struct rename *rename)
{
    struct workspace after;
    workspace_open(&after, rename->request->server, overlays_edited(rename));
    bool is_good = !has_errors(rename, &after);
    if (is_good && !has_same_uses(rename, &after)) {
        request_refuse(rename->request, FAULT_FAILED,
                       "'%.64s' means something else in one of the places", rename->name);
        is_good = false;
    }
    workspace_close(&after);
    return is_good;
}

static void write_edits(struct rename *rename)
{
    struct json_out *json = rename->request->json;
    struct server *server = rename->request->server;
    const struct edit *last = NULL;
    json_open(json, "result", '{');
    json_open(json, "changes", '{');
    for (const struct edit *edit = rename->edits; edit != NULL; edit = edit->next) {
        bool is_new = last == NULL || last->file != edit->file;
        if (is_new && last != NULL)
            json_close(json, ']');
        if (is_new)
            json_open(json, module_uri(server, rename->request->arena, edit->file->module), '[');
        write_edit(json, edit->file->analysis, edit->span, edit->text);
        last = edit;
    }
    if (last != NULL)
        json_close(json, ']');
    json_close(json, '}');
    json_close(json, '}');
}

static void rename_run(struct rename *rename)
{
    if (strcmp(thing_name(rename->thing), rename->name) != 0)
        edits_find(rename);
    if (rename->edits != NULL && !rename_try(rename))
        return;
    write_edits(rename);
    if (rename->thing->kind == THING_VALUE && rename->edits != NULL)
        server_warn(rename->request->server,
                    "culexc: runs in a queue carry the old name of this enum value; workers that "
                    "do not know it give them back. Rename only what was never stored.");
}

void answer_rename(struct request *request)
{
    struct target target;
    const struct mark *mark;
    struct rename rename = {.request = request,
                            .name = json_string(json_get(request->params, "newName"))};
    if (rename.name == NULL || !is_name(rename.name)) {
        request_refuse(request, FAULT_PARAMS,
                       "a name is at most %u letters, digits and '_', and starts with no digit",
                       LIMIT_NAME_BYTES);
        return;
    }
    if (!request_mark(request, &target, &mark))
        return;
    if (mark == NULL || !has_new_name(&mark->thing)) {
        request_refuse(request, FAULT_FAILED, "there is nothing to rename here");
        return;
    }
    rename.thing = &mark->thing;
    assert(thing_name(rename.thing) != NULL); /* What can be renamed has a name. */
    rename.end = &rename.edits;
    workspace_open(&rename.before, request->server,
                   documents_overlays(&request->server->documents));
    if (rename.before.is_partial)
        request_refuse(request, FAULT_FAILED,
                       "the workspace has more than %u schemas: some would keep the old name",
                       LIMIT_FILES);
    else
        rename_run(&rename);
    workspace_close(&rename.before);
}

void answer_prepare_rename(struct request *request)
{
    struct target target;
    const struct mark *mark;
    if (!request_mark(request, &target, &mark))
        return;
    if (mark == NULL || !has_new_name(&mark->thing)) {
        json_null(request->json, "result");
        return;
    }
    json_open(request->json, "result", '{');
    write_range(request->json, "range", target.analysis, mark->span);
    json_text(request->json, "placeholder", thing_name(&mark->thing));
    json_close(request->json, '}');
}
