#include "mark.h"

#include <assert.h>
#include <string.h>

#include "analysis.h"
#include "checker.h"
#include "setting.h"

struct finder {
    struct compilation *compilation;
    struct module *module;
    struct mark *marks;
};

struct symbol *symbol_find(struct compilation *compilation, struct module *module, const char *name)
{
    struct checker checker = {.compilation = compilation,
                              .arena = &compilation->arena,
                              .sink = &compilation->sink,
                              .module = module};
    return checker_find(&checker, name);
}

static void add(struct finder *finder, struct span span, struct thing thing)
{
    struct mark *mark = arena_alloc(&finder->compilation->arena, sizeof(*mark));
    *mark = (struct mark){span, thing, finder->marks};
    finder->marks = mark;
}

/* The last name of a path: rename leaves the package before it alone. */
static struct span last_name(struct ast_name path)
{
    const char *dot = strrchr(path.text, '.');
    uint32_t len = (uint32_t)strlen(dot == NULL ? path.text : dot + 1);
    assert(len <= path.span.length);
    path.span.offset += path.span.length - len;
    path.span.length = len;
    return path.span;
}

static const struct ast_decl *find_reference(struct finder *finder, struct ast_name name,
                                             bool is_policy)
{
    const struct symbol *symbol = symbol_find(finder->compilation, finder->module, name.text);
    if (symbol == NULL || (symbol->decl->kind == DECL_POLICY) != is_policy)
        return NULL;
    add(finder, last_name(name),
        (struct thing){.kind = THING_DECL, .module = symbol->module, .decl = symbol->decl});
    return symbol->decl;
}

/* The declaration of a type, NULL for one of the language. */
static const struct ast_decl *find_type(struct finder *finder, struct ast_name name)
{
    enum ir_kind kind = name.text == NULL ? IR_KIND_COUNT : ir_kind_find(name.text);
    if (name.text == NULL)
        return NULL;
    if (kind == IR_KIND_COUNT)
        return find_reference(finder, name, false);
    add(finder, name.span, (struct thing){.kind = THING_BUILTIN, .builtin = kind});
    return NULL;
}

/* The name of an enum's value that is a default. */
static void find_default(struct finder *finder, const struct ast_field *field,
                         const struct ast_decl *type)
{
    if (type == NULL || type->kind != DECL_ENUM || field->value.kind != LITERAL_WORD)
        return;
    const struct symbol *symbol =
        symbol_find(finder->compilation, finder->module, field->type.text);
    assert(symbol != NULL); /* `type` was found by it. */
    for (const struct ast_enum_value *at = type->values; at != NULL; at = at->next) {
        if (strcmp(at->name.text, field->value.text) == 0)
            add(finder, field->value.span,
                (struct thing){
                    .kind = THING_VALUE, .module = symbol->module, .decl = type, .value = at});
    }
}

static void find_fields(struct finder *finder, const struct ast_decl *decl,
                        const struct ast_fields *fields)
{
    for (const struct ast_field *at = fields->first; at != NULL; at = at->next) {
        find_default(finder, at, find_type(finder, at->type));
        add(finder, at->name.span,
            (struct thing){
                .kind = THING_FIELD, .module = finder->module, .decl = decl, .field = at});
    }
}

static void find_keys(struct finder *finder, const struct ast_decl *decl,
                      const struct ast_names *names)
{
    struct map fields;
    map_init(&fields, &finder->compilation->arena);
    for (struct ast_field *at = names == NULL ? NULL : decl->fields.first; at; at = at->next)
        map_add(&fields, at->name.text, at);
    for (; names != NULL; names = names->next) {
        const struct ast_field *field = map_get(&fields, names->name.text);
        if (field != NULL)
            add(finder, names->name.span,
                (struct thing){
                    .kind = THING_FIELD, .module = finder->module, .decl = decl, .field = field});
    }
}

static void find_settings(struct finder *finder, const struct ast_decl *decl)
{
    for (const struct ast_setting *at = decl->settings; at != NULL; at = at->next) {
        struct ast_name policy = at->kind == SETTING_RETRY ? at->retry.name : (struct ast_name){0};
        if (policy.text != NULL && strcmp(policy.text, "none") != 0)
            find_reference(finder, policy, true);
        find_keys(finder, decl, setting_by(at));
    }
}

static void find_decl(struct finder *finder, const struct ast_decl *decl)
{
    struct thing thing = {.kind = THING_DECL, .module = finder->module, .decl = decl};
    if (decl->kind != DECL_DEFAULTS)
        add(finder, decl->name.span, thing);
    find_type(finder, decl->base);
    for (const struct ast_enum_value *at = decl->values; at != NULL; at = at->next) {
        thing.kind = THING_VALUE;
        thing.value = at;
        add(finder, at->name.span, thing);
    }
    find_fields(finder, decl, &decl->fields);
    find_fields(finder, decl, &decl->returns);
    find_fields(finder, decl, &decl->metadata);
    find_settings(finder, decl);
    for (const struct ast_names *at = decl->steps; at != NULL; at = at->next)
        find_reference(finder, at->name, false);
}

struct mark *marks_find(struct compilation *compilation, struct module *module)
{
    struct finder finder = {compilation, module, NULL};
    for (const struct module_import *at = module->imports; at != NULL; at = at->next)
        add(&finder, at->span, (struct thing){.kind = THING_FILE, .module = at->module});
    for (const struct ast_decl *at = module->ast->decls; at != NULL; at = at->next)
        find_decl(&finder, at);
    return finder.marks;
}

const struct mark *mark_at(const struct mark *marks, size_t offset)
{
    const struct mark *touched = NULL;
    for (; marks != NULL; marks = marks->next) {
        size_t end = (size_t)marks->span.offset + marks->span.length;
        if (offset >= marks->span.offset && offset < end)
            return marks;
        if (offset == end)
            touched = marks;
    }
    return touched;
}

struct span thing_span(const struct thing *thing)
{
    switch (thing->kind) {
    case THING_DECL:
        return thing->decl->name.span;
    case THING_FIELD:
        return thing->field->name.span;
    case THING_VALUE:
        return thing->value->name.span;
    case THING_FILE:
        return (struct span){thing->module->source, 0, 0};
    case THING_NONE:
    case THING_BUILTIN:
        break;
    }
    return (struct span){0};
}

const char *thing_name(const struct thing *thing)
{
    return thing->kind == THING_DECL    ? thing->decl->name.text
           : thing->kind == THING_FIELD ? thing->field->name.text
           : thing->kind == THING_VALUE ? thing->value->name.text
                                        : NULL;
}

bool mark_is_declaration(const struct mark *mark)
{
    struct span span = thing_span(&mark->thing);
    return span.source == mark->span.source && span.offset == mark->span.offset &&
           mark->thing.kind != THING_FILE;
}

bool thing_is(struct arena *arena, const struct thing *a, const struct thing *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == THING_BUILTIN)
        return a->builtin == b->builtin;
    return thing_span(a).offset == thing_span(b).offset &&
           (a->module == b->module ||
            strcmp(module_key(arena, a->module), module_key(arena, b->module)) == 0);
}
