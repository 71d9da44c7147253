/* lint_unused.c - what a file declares and does not use. */
#include "linter.h"

#include <string.h>

/* A file without jobs declares for others. In one with jobs, a name counts as used when anything
 * refers to that name, in whatever package: what is reported is used by nobody here. */
struct uses {
    struct map names;
    bool has_jobs;
};

static void use(struct uses *uses, const struct ast_name *path)
{
    if (path->text == NULL)
        return;
    const char *dot = strrchr(path->text, '.');
    map_add(&uses->names, dot == NULL ? path->text : dot + 1, uses);
}

static void use_types(struct uses *uses, const struct ast_field *field)
{
    for (; field != NULL; field = field->next)
        use(uses, &field->type);
}

static struct uses uses_find(struct linter *linter)
{
    struct uses uses = {0};
    map_init(&uses.names, linter->arena);
    for (const struct ast_decl *decl = linter->module->ast->decls; decl != NULL;
         decl = decl->next) {
        uses.has_jobs = uses.has_jobs || decl->kind == DECL_JOB;
        use_types(&uses, decl->fields.first);
        use_types(&uses, decl->returns.first);
        use_types(&uses, decl->metadata.first);
        for (const struct ast_setting *at = decl->settings; at != NULL; at = at->next) {
            if (at->kind == SETTING_RETRY)
                use(&uses, &at->retry.name);
        }
    }
    return uses;
}

/* One name for a file however it was reached. */
static const char *key_make(struct arena *arena, const struct module *module,
                            const struct ast_decl *decl)
{
    const char *path = path_resolve(arena, module->path);
    return arena_join(arena, (const char *const[]){path == NULL ? module->path : path, "\n",
                                                   decl->name.text, NULL});
}

void lint_uses_init(struct lint_uses *uses, struct arena *arena)
{
    map_init(&uses->names, arena);
}

static bool is_imported(const struct module *module, const struct ast_decl *decl)
{
    struct arena *arena = module->symbols.arena;
    const char *qualified = decl->name.text;
    if (module->package != NULL)
        qualified =
            arena_join(arena, (const char *const[]){module->package, ".", decl->name.text, NULL});
    const struct symbol *symbol = map_get(&module->symbols, qualified);
    return symbol != NULL && symbol->is_imported;
}

void lint_uses_add(struct lint_uses *uses, const struct compilation *compilation)
{
    for (const struct module *module = compilation->modules; module != NULL;
         module = module->next) {
        for (const struct ast_decl *decl = module->ast->decls; decl != NULL; decl = decl->next) {
            if (decl->kind != DECL_DEFAULTS && is_imported(module, decl))
                map_add(&uses->names, key_make(uses->names.arena, module, decl), uses);
        }
    }
}

static bool is_used_elsewhere(const struct linter *linter, const struct ast_decl *decl)
{
    return linter->uses != NULL &&
           map_get(&linter->uses->names, key_make(linter->arena, linter->module, decl)) != NULL;
}

static bool is_used(const struct linter *linter, const struct uses *uses,
                    const struct ast_decl *decl)
{
    return map_get(&uses->names, decl->name.text) != NULL || is_used_elsewhere(linter, decl);
}

void lint_unused(struct linter *linter)
{
    struct uses uses = uses_find(linter);
    for (const struct ast_decl *decl = linter->module->ast->decls; decl != NULL;
         decl = decl->next) {
        bool is_policy = decl->kind == DECL_POLICY;
        bool is_type =
            decl->kind == DECL_ENUM || decl->kind == DECL_STRUCT || decl->kind == DECL_TYPE;
        if (decl->kind == DECL_DEFAULTS && !uses.has_jobs)
            lint_report(linter, DIAG_UNUSED_DEFAULTS, decl->name.span,
                        "these defaults are for the jobs of this file, and it has none");
        if ((is_policy || is_type) && uses.has_jobs && !is_used(linter, &uses, decl))
            lint_report(linter, is_policy ? DIAG_UNUSED_POLICY : DIAG_UNUSED_TYPE, decl->name.span,
                        "nothing in this file%s uses '%s'",
                        linter->uses == NULL ? "" : " or the others", decl->name.text);
    }
}
