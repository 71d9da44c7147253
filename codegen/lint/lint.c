#include "lint.h"

#include <assert.h>
#include <string.h>

#include "allow.h"
#include "linter.h"

static const struct {
    const char *word;
    unsigned tiers;
} tiers_named[] = {
    {"minimal", LINT_MINIMAL},
    {"basic", LINT_MINIMAL | LINT_BASIC},
    {"standard", LINT_MINIMAL | LINT_BASIC | LINT_STANDARD},
    {"strict", LINT_MINIMAL | LINT_BASIC | LINT_STANDARD | LINT_STRICT},
    {"comments", LINT_COMMENTS},
};

unsigned lint_tiers_named(const char *word)
{
    for (size_t i = 0; i < sizeof(tiers_named) / sizeof(tiers_named[0]); i++) {
        if (strcmp(tiers_named[i].word, word) == 0)
            return tiers_named[i].tiers;
    }
    return 0;
}

void lint_tiers_offer(struct suggestion *suggestion)
{
    for (size_t i = 0; i < sizeof(tiers_named) / sizeof(tiers_named[0]); i++)
        suggestion_offer(suggestion, tiers_named[i].word);
}

/* The zero value of an enum and deprecated values. */
static void lint_enum(struct linter *linter, const struct ast_decl *decl,
                      const struct ir_enum *type)
{
    static const char *const names[] = {"UNSPECIFIED", "UNKNOWN", "NONE",    "UNSET",
                                        "DEFAULT",     "INVALID", "NOTHING", NULL};
    const struct ast_enum_value *ast = decl->values;
    bool has_zero = false;
    for (const struct ir_enum_value *value = type->values; value != NULL; value = value->next) {
        assert(ast != NULL); /* Without errors each value of the model has been written. */
        bool is_zero = wide_compare(value->number, (struct wide){0}) == 0;
        has_zero = has_zero || is_zero;
        if (is_zero && !name_has_any(value->name, names))
            lint_report(linter, DIAG_ENUM_ZERO_NAME, ast->name.span,
                        "memory that nobody has set reads as '%s'", value->name);
        lint_deprecated(linter, value->attrs);
        ast = ast->next;
    }
    if (!has_zero)
        lint_report(linter, DIAG_ENUM_NO_ZERO, decl->name.span, "no value of '%s' is 0",
                    decl->name.text);
}

static void queues_find(struct linter *linter)
{
    map_init(&linter->queues, linter->arena);
    map_init(&linter->shared, linter->arena);
    for (struct ir_job *job = linter->module->ir->jobs; job != NULL; job = job->next) {
        if (map_add(&linter->queues, job->settings.queue, job) != NULL)
            map_add(&linter->shared, job->settings.queue, job);
    }
}

void lint_module(struct compilation *compilation, const struct module *module, unsigned tiers,
                 const struct lint_uses *uses)
{
    struct linter linter = {.arena = &compilation->arena,
                            .sink = &compilation->sink,
                            .module = module,
                            .tiers = tiers,
                            .uses = uses};
    assert(module->ir != NULL && !compilation->sink.has_faults);
    queues_find(&linter);
    const struct ast_decl *decl = ast_decl_next(module->ast->decls, DECL_ENUM);
    for (const struct ir_enum *type = module->ir->enums; type != NULL; type = type->next) {
        assert(decl != NULL); /* Without errors both are listed as they were written. */
        lint_enum(&linter, decl, type);
        decl = ast_decl_next(decl->next, DECL_ENUM);
    }
    for (const struct ir_struct *at = module->ir->structs; at != NULL; at = at->next)
        lint_fields(&linter, at->decl->fields.first, at->fields, LINT_STRUCT);
    decl = ast_decl_next(module->ast->decls, DECL_JOB);
    for (const struct ir_job *job = module->ir->jobs; job != NULL; job = job->next) {
        assert(decl != NULL && strcmp(decl->name.text, job->name) == 0);
        lint_job(&linter, decl, job);
        decl = ast_decl_next(decl->next, DECL_JOB);
    }
    lint_names(&linter);
    lint_unused(&linter);
    allow_report_unused(linter.sink, module->source, linter_seeks, &linter);
}
