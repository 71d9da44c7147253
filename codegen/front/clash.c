/* clash.c - names of files that do not import each other; check.c compares a file with its
 * imports. */
#include "clash.h"

#include <string.h>

#include "checker.h"
#include "cname.h"

/* What is taken so far, by which module or job. */
struct clash {
    struct checker checker; /* c_names */
    struct map outputs, guards, stored;
};

/* Where a file says something of itself. */
static struct span module_span(const struct module *module)
{
    const struct ast_name *package = &module->ast->package;
    return package->text != NULL ? package->span : (struct span){module->source, 0, 0};
}

/* Some file systems take 'A' and 'a' for one. */
static const char *folded(struct arena *arena, const char *name)
{
    char *copy = arena_copy(arena, name, strlen(name));
    for (char *at = copy; *at != '\0'; at++)
        *at = *at >= 'A' && *at <= 'Z' ? (char)(*at | 0x20) : *at;
    return copy;
}

static bool claim_output(struct clash *clash, struct module *module)
{
    struct diag_sink *sink = clash->checker.sink;
    const struct module *other =
        map_add(&clash->outputs, folded(clash->checker.arena, module->header), module);
    if (other == NULL)
        return true;
    bool is_same = strcmp(other->header, module->header) == 0;
    diag_report(sink, DIAG_HEADER_COLLISION, module_span(module),
                "'%.256s' and '%.256s' would both generate '%s'%s", module->path, other->path,
                module->header, is_same ? "" : " where upper and lower case are one");
    diag_note(sink, module_span(other), "the other file is here");
    return false;
}

static void claim_guard(struct clash *clash, struct module *module)
{
    struct diag_sink *sink = clash->checker.sink;
    const struct module *other = map_add(&clash->guards, module->ir->guard, module);
    if (other == NULL) {
        checker_claim_guard(&clash->checker, module);
        return;
    }
    diag_report(sink, DIAG_C_NAME_COLLISION, module_span(module),
                "the headers of '%.256s' and '%.256s' both need the include guard '%s'",
                module->path, other->path, module->ir->guard);
    diag_note(sink, module_span(other), "the other file is here");
    diag_help(sink,
              "one that is included behind the other would be empty: rename one of the files");
}

/* Two in one file were reported there; two of one qualified name are reported by their C names. */
static void claim_stored(struct clash *clash, struct ir_job *job)
{
    struct diag_sink *sink = clash->checker.sink;
    const struct ir_job *other = map_add(&clash->stored, job->wire, job);
    struct span span = job->decl->name.span;
    if (other == NULL || other->decl->name.span.source == span.source ||
        strcmp(job->qualified, other->qualified) == 0)
        return;
    diag_report(sink, DIAG_DUPLICATE_WIRE_NAME, span, "'%s' and '%s' are both '%s' in the queue",
                job->qualified, other->qualified, job->wire);
    diag_note(sink, other->decl->name.span, "'%s' is here", other->qualified);
}

static void claim_module(struct clash *clash, struct module *module, bool is_one_folder)
{
    clash->checker.module = module;
    if (!is_one_folder || claim_output(clash, module))
        claim_guard(clash, module);
    for (const struct ast_decl *decl = module->ast->decls; decl != NULL; decl = decl->next) {
        if (checker_symbol(&clash->checker, decl) != NULL)
            checker_claim(&clash->checker, module, decl);
    }
    checker_claim_setters(&clash->checker, module);
    for (struct ir_job *job = module->ir->jobs; job != NULL; job = job->next)
        claim_stored(clash, job);
}

/* A guard is a macro, which takes its name from members as well. */
static void check_fields_free(struct clash *clash, const struct module *module,
                              const struct ir_field *fields)
{
    for (; fields != NULL; fields = fields->next) {
        const struct module *other = map_get(&clash->guards, fields->c);
        if (other == NULL || other == module)
            continue;
        diag_report(clash->checker.sink, DIAG_C_NAME_COLLISION, fields->span,
                    "'%s' is also the include guard of '%.256s'", fields->c, other->header);
    }
}

static void check_module_free(struct clash *clash, const struct module *module)
{
    for (const struct ir_struct *at = module->ir->structs; at != NULL; at = at->next)
        check_fields_free(clash, module, at->fields);
    for (const struct ir_job *at = module->ir->jobs; at != NULL; at = at->next) {
        check_fields_free(clash, module, at->params);
        check_fields_free(clash, module, at->result);
        check_fields_free(clash, module, at->metadata);
    }
}

void clash_check(struct compilation *compilation, bool is_one_folder)
{
    struct arena *arena = &compilation->arena;
    struct clash clash = {.checker = {.compilation = compilation,
                                      .arena = arena,
                                      .sink = &compilation->sink,
                                      .is_across = true}};
    map_init(&clash.checker.c_names, arena);
    map_init(&clash.outputs, arena);
    map_init(&clash.guards, arena);
    map_init(&clash.stored, arena);
    for (struct module *module = compilation->modules; module != NULL; module = module->next) {
        if (module->ir != NULL)
            claim_module(&clash, module, is_one_folder);
    }
    for (struct module *module = compilation->modules; module != NULL; module = module->next) {
        if (module->ir != NULL)
            check_module_free(&clash, module);
    }
}
