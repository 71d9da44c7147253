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
        for (const struct ast_setting *at = decl->settings; at != NULL; at = at->next) {
            if (at->kind == SETTING_RETRY)
                use(&uses, &at->word);
        }
    }
    return uses;
}

void lint_unused(struct linter *linter)
{
    struct uses uses = uses_find(linter);
    for (const struct ast_decl *decl = linter->module->ast->decls; decl != NULL;
         decl = decl->next) {
        bool is_policy = decl->kind == DECL_POLICY;
        bool is_type = decl->kind == DECL_ENUM || decl->kind == DECL_STRUCT;
        if (decl->kind == DECL_DEFAULTS && !uses.has_jobs)
            lint_report(linter, DIAG_UNUSED_DEFAULTS, decl->name.span,
                        "these defaults are for the jobs of this file, and it has none");
        if ((is_policy || is_type) && uses.has_jobs &&
            map_get(&uses.names, decl->name.text) == NULL)
            lint_report(linter, is_policy ? DIAG_UNUSED_POLICY : DIAG_UNUSED_TYPE, decl->name.span,
                        "nothing in this file uses '%s'", decl->name.text);
    }
}
