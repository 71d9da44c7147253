/* check_claim.c - the names that a module takes at file scope of the generated C. */
#include "checker.h"

#include <string.h>

#include "cname.h"

static void claim(struct checker *checker, const char *c, struct span span, const char *name)
{
    if (!checker->is_across || !cname_is_claimed_in(&checker->c_names, c, span.source))
        cname_claim(&checker->c_names, checker->sink, c, span, name);
}

void checker_claim(struct checker *checker, const struct module *module,
                   const struct ast_decl *decl)
{
    const char *qualified = checker_qualify(checker, module->package, decl->name.text);
    for (const struct cname_row *row = cname_rows; row->suffix != NULL; row++) {
        if (cname_is_made(row, decl))
            claim(checker,
                  cname_join(checker->arena, module->package, decl->name.text, row->suffix),
                  decl->name.span, qualified);
    }
    for (const struct ast_enum_value *value = decl->values; value != NULL; value = value->next) {
        const char *type = cname_join(checker->arena, module->package, decl->name.text, "_");
        const char *c = cname_upper(checker->arena, NULL, type, value->name.text);
        if (cname_check_free(checker->sink, c, value->name.span, CNAME_CONSTANT))
            claim(checker, c, value->name.span,
                  arena_printf(checker->arena, "%s.%s", qualified, value->name.text));
    }
}

static void claim_setters(struct checker *checker, const struct ir_field *fields)
{
    for (; fields != NULL; fields = fields->next) {
        if (fields->set_c != NULL)
            claim(checker, fields->set_c, fields->span, fields->name);
    }
}

void checker_claim_guard(struct checker *checker, const struct module *module)
{
    if (module->ir != NULL)
        claim(checker, module->ir->guard, (struct span){module->source, 0, 0}, module->header);
}

void checker_claim_setters(struct checker *checker, const struct module *module)
{
    if (module->ir == NULL) /* It was not checked. */
        return;
    for (const struct ir_struct *at = module->ir->structs; at != NULL; at = at->next)
        claim_setters(checker, at->fields);
    for (const struct ir_job *at = module->ir->jobs; at != NULL; at = at->next) {
        claim_setters(checker, at->params);
        claim_setters(checker, at->result);
        claim_setters(checker, at->metadata);
    }
}

/* What imported files put at file scope of the generated C, directly or not. Other files of the
 * command line are left to clash.c: to claim their names here, for each of hundreds of files,
 * would take time by the square of their number. */
static void claim_imports(struct checker *checker, struct map *seen, const struct module *importer)
{
    for (const struct module_import *at = importer->imports; at != NULL; at = at->next) {
        const struct module *module = at->module;
        if (map_add(seen, module->path, at->module) != NULL)
            continue;
        claim_imports(checker, seen, module);
        if (strcmp(module->header, checker->module->header) != 0) /* That is told as such. */
            checker_claim_guard(checker, module);
        for (const struct ast_decl *decl = module->ast->decls; decl != NULL; decl = decl->next)
            checker_claim(checker, module, decl);
        checker_claim_setters(checker, module);
    }
}

void checker_claim_imports(struct checker *checker)
{
    struct map seen;
    map_init(&seen, checker->arena);
    claim_imports(checker, &seen, checker->module);
}
