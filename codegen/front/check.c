/* check.c - a module from its declarations to its model. Each kind of declaration is checked in a
 * file of its own (checker.h); here they are put in order. */
#include "check.h"

#include <string.h>

#include "allow.h"
#include "checker.h"
#include "cname.h"
#include "setting.h"

/* What the name of a declaration means where it would be used, or NULL. */
static const char *meaning_of(const struct ast_decl *decl)
{
    const char *name = decl->name.text;
    if (decl->kind == DECL_POLICY)
        return strcmp(name, "none") == 0 ? "means no retries" : NULL;
    if (decl->kind == DECL_JOB || decl->kind == DECL_CHAIN)
        return NULL;
    if (ir_kind_find(name) != IR_KIND_COUNT)
        return "is a type of the language";
    bool is_word = strcmp(name, "optional") == 0 || strcmp(name, "reserved") == 0;
    return is_word ? "is a word of the language" : NULL;
}

static void check_meaning(struct checker *checker, const struct ast_decl *decl)
{
    const char *meaning = meaning_of(decl);
    if (meaning == NULL)
        return;
    diag_report(checker->sink, DIAG_RESERVED_NAME, decl->name.span, "'%s' %s", decl->name.text,
                meaning);
    diag_help(checker->sink, "'%s%s' would never mean this %s",
              decl->kind == DECL_POLICY ? "retry " : "", decl->name.text,
              ast_decl_word(decl->kind));
}

/* False when the name cannot be used at all. */
static bool declare(struct checker *checker, const struct ast_decl *decl)
{
    struct module *module = checker->module;
    struct symbol *symbol = arena_alloc(checker->arena, sizeof(*symbol));
    symbol->decl = decl;
    symbol->module = module;
    symbol->qualified = checker_qualify(checker, module->package, decl->name.text);
    if (!cname_check_shape(checker->sink, &decl->name))
        return false;
    check_meaning(checker, decl);
    const struct symbol *other = map_add(&module->symbols, symbol->qualified, symbol);
    for (struct module_import *at = module->imports; other == NULL && at != NULL; at = at->next)
        other = map_get(&at->module->symbols, symbol->qualified);
    if (other != NULL) {
        diag_report(checker->sink, DIAG_DUPLICATE_NAME, decl->name.span, "'%s' is declared twice",
                    symbol->qualified);
        diag_note(checker->sink, other->decl->name.span, "first declared here");
        return false;
    }
    if (decl->kind == DECL_POLICY)
        return true;
    const char *c = cname_join(checker->arena, module->package, decl->name.text,
                               decl->kind == DECL_JOB     ? "_job"
                               : decl->kind == DECL_CHAIN ? "_chain"
                                                          : "");
    if (cname_check_free(checker->sink, c, decl->name.span, CNAME_TYPE))
        checker_claim(checker, module, decl);
    return true;
}

static void declare_all(struct checker *checker)
{
    struct ir_enum **end = &checker->module->ir->enums;
    struct ir_user **user_end = &checker->module->ir->users;
    for (const struct ast_decl *decl = checker->module->ast->decls; decl; decl = decl->next) {
        if (decl->kind == DECL_DEFAULTS || !declare(checker, decl))
            continue;
        struct symbol *symbol = checker_symbol(checker, decl);
        if (decl->kind == DECL_ENUM) {
            symbol->enumeration = check_enum(checker, decl, symbol->qualified);
            *end = symbol->enumeration;
            end = &symbol->enumeration->next;
        } else if (decl->kind == DECL_STRUCT) {
            symbol->structure = check_struct_declare(checker, decl, symbol->qualified);
        } else if (decl->kind == DECL_TYPE) {
            symbol->user = check_user(checker, decl, symbol->qualified);
            *user_end = symbol->user;
            user_end = &symbol->user->next;
        }
    }
}

/* Returns what the jobs start from. */
static struct ir_settings check_loose(struct checker *checker)
{
    const struct ast_decl *defaults = NULL;
    struct ir_retry scratch;
    for (const struct ast_decl *decl = checker->module->ast->decls; decl; decl = decl->next) {
        if (decl->kind == DECL_POLICY && decl->policy != NULL)
            check_policy(checker, decl->policy, &scratch);
        if (decl->kind != DECL_DEFAULTS)
            continue;
        if (defaults != NULL) {
            diag_report(checker->sink, DIAG_DUPLICATE_SETTING, decl->name.span,
                        "a file has one block of defaults");
            diag_note(checker->sink, defaults->name.span, "the first one is here");
            continue;
        }
        defaults = decl;
    }
    return check_defaults(checker, defaults);
}

static void check_imports(struct checker *checker)
{
    struct module *module = checker->module;
    struct ir_import **end = &module->ir->imports;
    struct map headers;
    map_init(&headers, checker->arena);
    map_add(&headers, module->header, module);
    for (struct module_import *at = module->imports; at != NULL; at = at->next) {
        struct ir_import *import = arena_alloc(checker->arena, sizeof(*import));
        *import = (struct ir_import){at->path, at->module->header, NULL};
        *end = import;
        end = &import->next;
        if (map_add(&headers, import->header, at->module) != NULL)
            diag_report(checker->sink, DIAG_HEADER_COLLISION, at->span,
                        "two files would generate '%s'", import->header);
        if (at->is_used || module->is_broken || checker->sink->has_faults)
            continue;
        diag_report(checker->sink, DIAG_UNUSED_IMPORT, at->span, "nothing of '%s' is used",
                    at->path);
        diag_fix(checker->sink, FIX_MACHINE_APPLICABLE, span_with_line(at->statement), "%s", "");
    }
}

static struct ir_file *file_create(struct checker *checker)
{
    struct module *module = checker->module;
    struct arena *arena = checker->arena;
    struct ir_file *file = arena_alloc(arena, sizeof(*file));
    file->file = module->file;
    file->stem = module->stem;
    file->header = module->header;
    file->source = arena_printf(arena, "%s_job.c", module->stem);
    file->guard = cname_upper(arena, module->package, module->stem, "_JOB_H");
    file->package = module->package;
    return file;
}

/* Findings of the other tables are the subject of other verbs. */
static bool is_about_schemas(enum diag_id id, const void *context)
{
    (void)context;
    return diag_table_of(id) == TABLE_SCHEMA;
}

static void check_one(struct compilation *compilation, struct module *module)
{
    struct diag_sink quiet; /* Collisions among imports were reported there. */
    struct checker checker = {
        .compilation = compilation, .arena = &compilation->arena, .sink = &quiet, .module = module};
    map_init(&checker.c_names, checker.arena);
    map_init(&checker.attrs, checker.arena);
    diag_sink_init(&quiet, checker.arena);
    checker_claim_imports(&checker);
    checker.sink = &compilation->sink;
    module->ir = file_create(&checker);
    checker_claim_guard(&checker, module);
    check_package(&checker);
    declare_all(&checker);
    check_structs(&checker);
    struct ir_settings defaults = check_loose(&checker);
    check_jobs(&checker, &defaults);
    check_chains(&checker);
    check_imports(&checker);
    if (!compilation->sink.has_faults) /* After an error, warnings may be missing. */
        allow_report_unused(&compilation->sink, module->source, is_about_schemas, NULL);
    module->state = MODULE_CHECKED;
}

void check_module(struct compilation *compilation, struct module *module)
{
    for (struct module *at = compilation->modules; at != NULL; at = at->next) {
        if (at->state == MODULE_LOADED)
            check_one(compilation, at);
        if (at == module)
            return;
    }
}
