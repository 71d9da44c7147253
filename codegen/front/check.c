#include "check.h"

#include <string.h>

#include "allow.h"
#include "checker.h"
#include "cname.h"
#include "fingerprint.h"
#include "limits.h"
#include "reserved.h"
#include "suggest.h"

static const char *qualify(const struct checker *checker, const char *package, const char *name)
{
    return package == NULL
               ? name
               : arena_join(checker->arena, (const char *const[]){package, ".", name, NULL});
}

/* `qualified` in this module or in what it imports itself. */
static struct symbol *find_qualified(struct checker *checker, const char *qualified)
{
    struct symbol *symbol = map_get(&checker->module->symbols, qualified);
    for (struct module_import *at = checker->module->imports; symbol == NULL && at != NULL;
         at = at->next) {
        symbol = map_get(&at->module->symbols, qualified);
        at->is_used |= symbol != NULL;
        if (symbol != NULL)
            symbol->is_imported = true;
    }
    return symbol;
}

/* From the own package outward: in shop.mail, `lang` is shop.mail.lang, then
 * shop.lang, then lang. `.lang` is nothing but lang. */
struct symbol *checker_find(struct checker *checker, const char *name)
{
    if (name[0] == '.')
        return find_qualified(checker, name + 1);
    const char *package = checker->module->package;
    size_t len = package == NULL ? 0 : strlen(package);
    while (len > 0) {
        const char *prefix = arena_copy(checker->arena, package, len);
        struct symbol *symbol = find_qualified(checker, qualify(checker, prefix, name));
        if (symbol != NULL)
            return symbol;
        while (len > 0 && package[len - 1] != '.')
            len--;
        len -= len > 0;
    }
    return find_qualified(checker, name);
}

static void offer_module(struct suggestion *suggestion, const struct checker *checker,
                         const struct module *module, bool is_type)
{
    bool is_near = module->package != NULL && checker->module->package != NULL &&
                   strcmp(module->package, checker->module->package) == 0;
    for (const struct ast_decl *decl = module->ast->decls; decl != NULL; decl = decl->next) {
        bool is_wanted = is_type ? decl->kind == DECL_ENUM || decl->kind == DECL_STRUCT
                                 : decl->kind == DECL_POLICY;
        if (!is_wanted)
            continue;
        const char *qualified = qualify(checker, module->package, decl->name.text);
        if (suggestion->word[0] == '.') {
            suggestion_offer(suggestion, arena_join(checker->arena,
                                                    (const char *const[]){".", qualified, NULL}));
            continue;
        }
        suggestion_offer(suggestion, is_near ? decl->name.text : qualified);
        suggestion_offer(suggestion, decl->name.text);
        if (suggestion->best == decl->name.text && !is_near)
            suggestion->best = qualified;
        suggestion->is_doubtful |=
            suggestion->best == qualified || suggestion->best == decl->name.text;
    }
}

void habit_help(struct checker *checker, const struct habit *habit, struct span span)
{
    if (habit->why != NULL)
        diag_help(checker->sink, "%s", habit->why);
    else
        diag_help(checker->sink, "did you mean '%s'?", habit->instead);
    if (habit->instead != NULL && *habit->instead != '\0')
        diag_fix(checker->sink, habit->is_certain ? FIX_MACHINE_APPLICABLE : FIX_MAYBE_INCORRECT,
                 span, "%s", habit->instead);
}

struct suggestion checker_suggest(struct checker *checker, const char *name, bool is_type)
{
    struct suggestion suggestion = suggestion_start(name);
    if (checker->sink->is_full) /* Nobody will see it, and each name costs a look at all others. */
        return suggestion;
    for (int kind = 0; is_type && kind < IR_ENUM; kind++)
        suggestion_offer(&suggestion, ir_kinds[kind].word);
    if (!is_type)
        suggestion_offer(&suggestion, "none");
    offer_module(&suggestion, checker, checker->module, is_type);
    for (const struct module_import *at = checker->module->imports; at != NULL; at = at->next)
        offer_module(&suggestion, checker, at->module, is_type);
    suggestion.is_doubtful |= !is_type || checker->module->is_broken;
    return suggestion;
}

static void claim(struct checker *checker, const char *c, struct span span, const char *name)
{
    if (!checker->is_across || !cname_is_claimed_in(&checker->c_names, c, span.source))
        cname_claim(&checker->c_names, checker->sink, c, span, name);
}

void checker_claim(struct checker *checker, const struct module *module,
                   const struct ast_decl *decl)
{
    const char *qualified = qualify(checker, module->package, decl->name.text);
    static const char *const enum_suffixes[] = {"", "_type", "_name", NULL};
    static const char *const struct_suffixes[] = {"", "_type", "_make", NULL};
    static const char *const job_suffixes[] = {"_job",
                                               "_job_make",
                                               "_job_enqueue",
                                               "_job_enqueue_in",
                                               "_job_enqueue_at",
                                               "_job_enqueue_many",
                                               "_job_register",
                                               "_job_handler",
                                               "_job_encode",
                                               "_job_decode",
                                               "_job_type",
                                               "_job_params",
                                               "_job_set_result",
                                               "_job_decode_result",
                                               "_result",
                                               "_result_make",
                                               NULL};
    if (decl->kind == DECL_POLICY || decl->kind == DECL_DEFAULTS)
        return;
    const char *const *suffix = decl->kind == DECL_ENUM     ? enum_suffixes
                                : decl->kind == DECL_STRUCT ? struct_suffixes
                                                            : job_suffixes;
    for (; *suffix != NULL; suffix++) {
        if (strstr(*suffix, "_result") != NULL && decl->returns.span.source == NULL)
            continue;
        claim(checker, cname_join(checker->arena, module->package, decl->name.text, *suffix),
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
    }
}

/* What the name of a declaration means where it would be used, or NULL. */
static const char *meaning_of(const struct ast_decl *decl)
{
    const char *name = decl->name.text;
    if (decl->kind == DECL_POLICY)
        return strcmp(name, "none") == 0 ? "means no retries" : NULL;
    if (decl->kind == DECL_JOB)
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
    symbol->qualified = qualify(checker, module->package, decl->name.text);
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
                               decl->kind == DECL_JOB ? "_job" : "");
    if (cname_check_free(checker->sink, c, decl->name.span, CNAME_TYPE))
        checker_claim(checker, module, decl);
    return true;
}

static void check_enum_reserved(struct checker *checker, const struct reserved *reserved,
                                const struct ir_enum_value *value, struct span span)
{
    const struct literal *at = reserved_name(reserved, value->name);
    if (at == NULL)
        at = reserved_number(reserved, value->number);
    if (at == NULL)
        return;
    diag_report(checker->sink, DIAG_RESERVED_REUSED, span,
                "'%s' uses what is reserved: queued runs may still carry its old meaning",
                value->name);
    diag_note(checker->sink, at->span, "reserved here");
}

static void check_enum_reservations(struct checker *checker, const struct ast_decl *decl)
{
    for (const struct literal *at = decl->reserved; at != NULL; at = at->next)
        check_old_name(checker, at, "a reserved");
}

/* Enum values with the same name or number. */
static bool check_enum_double(struct checker *checker, struct map *seen, const char *key,
                              const struct ast_enum_value *value, const char *what)
{
    const struct ast_enum_value *other = map_add(seen, key, (void *)(uintptr_t)value);
    if (other == NULL)
        return false;
    if (strcmp(value->name.text, other->name.text) == 0)
        diag_report(checker->sink, DIAG_DUPLICATE_VALUE, value->name.span, "'%s' is declared twice",
                    value->name.text);
    else
        diag_report(checker->sink, DIAG_DUPLICATE_VALUE, value->name.span,
                    "'%s' has the same %s as '%s'", value->name.text, what, other->name.text);
    diag_note(checker->sink, other->name.span, "'%s' is here", other->name.text);
    return true;
}

static void check_enum_number(struct checker *checker, const struct ir_enum *type,
                              const struct ast_enum_value *ast, struct wide *next)
{
    const struct ir_kind_info *base = &ir_kinds[type->base];
    char text[WIDE_TEXT_BYTES];
    if (ast->number.kind == LITERAL_INT)
        *next = ast->number.integer;
    else if (ast->number.kind != LITERAL_NONE && ast->number.kind != LITERAL_POISON)
        diag_report(checker->sink, DIAG_VALUE_TYPE, ast->number.span,
                    "an enum value is a whole number");
    if (wide_compare(*next, wide_type_min(base->bits, base->is_signed)) >= 0 &&
        wide_compare(*next, wide_type_max(base->bits, base->is_signed)) <= 0)
        return;
    wide_format(*next, text);
    diag_report(checker->sink, DIAG_VALUE_RANGE,
                ast->number.kind == LITERAL_INT ? ast->number.span : ast->name.span,
                "%s does not fit in %s", text, base->word);
}

static void check_enum_values(struct checker *checker, const struct ast_decl *decl,
                              struct ir_enum *type)
{
    struct ir_enum_value **end = &type->values;
    struct map names, numbers;
    struct reserved reserved;
    struct wide next = {0};
    unsigned count = 0;
    reserved_init(&reserved, checker->arena, decl->reserved);
    map_init(&names, checker->arena);
    map_init(&numbers, checker->arena);
    for (const struct ast_enum_value *ast = decl->values; ast != NULL; ast = ast->next) {
        struct ir_enum_value *value = arena_alloc(checker->arena, sizeof(*value));
        char text[WIDE_TEXT_BYTES];
        if (++count > LIMIT_ENUM_VALUES) {
            diag_report(checker->sink, DIAG_TOO_MANY, ast->name.span, "more than %u enum values",
                        LIMIT_ENUM_VALUES);
            return;
        }
        check_enum_number(checker, type, ast, &next);
        wide_format(next, text);
        value->name = ast->name.text;
        value->c = cname_upper(checker->arena, NULL, arena_printf(checker->arena, "%s_", type->c),
                               ast->name.text);
        value->number = next;
        value->doc = ast->doc;
        value->attrs = ast->attrs;
        value->span = ast->name.span;
        cname_check_shape(checker->sink, &ast->name);
        if (check_enum_double(checker, &names, value->name, ast, "name"))
            continue; /* Whatever else it shares with the first one comes from that. */
        check_enum_double(checker, &numbers, arena_copy(checker->arena, text, strlen(text)), ast,
                          "number");
        check_enum_reserved(checker, &reserved, value, ast->name.span);
        check_enum_value_attrs(checker, value);
        wide_increment(&next);
        *end = value;
        end = &value->next;
    }
}

static bool is_enum_base(enum ir_kind kind)
{
    return kind != IR_KIND_COUNT && ir_kinds[kind].bits > 0 && ir_kinds[kind].bits <= 64;
}

static enum ir_kind enum_base(struct checker *checker, const struct ast_decl *decl)
{
    if (decl->base.text == NULL)
        return IR_INT32;
    enum ir_kind kind = ir_kind_find(decl->base.text);
    if (is_enum_base(kind))
        return kind;
    struct suggestion near = suggestion_start(decl->base.text);
    for (int at = IR_INT8; at <= IR_UINT64; at++) {
        if (ir_kinds[at].bits <= 64)
            suggestion_offer(&near, ir_kinds[at].word);
    }
    diag_report(checker->sink, DIAG_BAD_ENUM_BASE, decl->base.span,
                "'%.64s' is not an integer type of up to 64 bits", decl->base.text);
    struct habit habit;
    bool is_foreign = kind == IR_KIND_COUNT && habit_type(decl->base.text, &habit) &&
                      habit.instead != NULL && is_enum_base(ir_kind_find(habit.instead));
    if (is_foreign)
        habit_help(checker, &habit, decl->base.span);
    else if (kind == IR_KIND_COUNT)
        diag_suggest(checker->sink, decl->base.span, &near);
    return IR_INT64;
}

static struct ir_enum *check_enum(struct checker *checker, const struct ast_decl *decl,
                                  const char *qualified)
{
    const char *package = checker->module->package;
    struct ir_enum *type = arena_alloc(checker->arena, sizeof(*type));
    type->name = qualified;
    type->c = cname_join(checker->arena, package, decl->name.text, "");
    type->type_symbol = cname_join(checker->arena, package, decl->name.text, "_type");
    type->name_function = cname_join(checker->arena, package, decl->name.text, "_name");
    type->doc = decl->doc;
    type->line = span_line(decl->name.span);
    type->attrs = decl->attrs;
    type->decl = decl;
    type->base = enum_base(checker, decl);
    check_enum_attrs(checker, type);
    check_enum_reservations(checker, decl);
    check_enum_values(checker, decl, type);
    if (type->values == NULL && !checker->module->is_broken)
        diag_report(checker->sink, DIAG_EMPTY_TYPE, decl->name.span, "'%s' has no values",
                    decl->name.text);
    type->fingerprint = fingerprint_enum(type);
    return type;
}

static struct ir_struct *declare_struct(struct checker *checker, const struct ast_decl *decl,
                                        const char *qualified)
{
    const char *package = checker->module->package;
    struct ir_struct *type = arena_alloc(checker->arena, sizeof(*type));
    type->name = qualified;
    type->c = cname_join(checker->arena, package, decl->name.text, "");
    type->type_symbol = cname_join(checker->arena, package, decl->name.text, "_type");
    type->make = cname_join(checker->arena, package, decl->name.text, "_make");
    type->doc = decl->doc;
    type->line = span_line(decl->name.span);
    type->decl = decl;
    return type;
}

/* Levels of a payload that these fields make, the block itself and lists each being one. */
static unsigned fields_depth(const struct ir_field *field)
{
    unsigned depth = 0;
    for (; field != NULL; field = field->next) {
        unsigned inner = (field->structure != NULL ? field->structure->depth : 0u) +
                         (field->shape != SHAPE_SINGLE);
        depth = inner > depth ? inner : depth;
    }
    return depth + 1;
}

static void check_depth(struct checker *checker, const struct ir_field *fields, struct span span)
{
    if (fields_depth(fields) > LIMIT_PAYLOAD_DEPTH)
        diag_report(checker->sink, DIAG_STRUCT_TOO_DEEP, span,
                    "structs and lists are nested more than %u deep in a payload",
                    LIMIT_PAYLOAD_DEPTH);
}

enum { STRUCT_NEW, STRUCT_OPEN, STRUCT_DONE };

static void struct_measure(struct ir_struct *type)
{
    type->depth = fields_depth(type->fields);
    for (const struct ir_field *field = type->fields; field != NULL; field = field->next) {
        uint64_t each = field->structure == NULL ? 1 : field->structure->cells;
        type->cells +=
            field->shape == SHAPE_ARRAY && field->count > 0 ? each * (uint64_t)field->count : each;
        if (type->cells > LIMIT_STRUCT_CELLS) /* Stays there, so it cannot overflow. */
            type->cells = LIMIT_STRUCT_CELLS + 1;
    }
}

/* Puts the struct behind those it contains. A cycle is cut where it closes, so the
 * recursion is as deep as structs may nest, plus the one that is refused. */
static void struct_place(struct checker *checker, struct ir_struct *type, struct ir_struct ***end,
                         unsigned depth)
{
    type->state = STRUCT_OPEN;
    for (struct ir_field *field = type->fields; field != NULL; field = field->next) {
        struct ir_struct *inner = (struct ir_struct *)(uintptr_t)field->structure;
        if (inner == NULL || inner->state == STRUCT_DONE)
            continue;
        if (inner->state == STRUCT_OPEN || depth >= LIMIT_STRUCT_DEPTH) {
            bool is_cycle = inner->state == STRUCT_OPEN;
            diag_report(checker->sink, is_cycle ? DIAG_RECURSIVE_STRUCT : DIAG_STRUCT_TOO_DEEP,
                        field->span,
                        is_cycle ? "struct '%s' contains itself here"
                                 : "structs are nested too deep at '%s'",
                        inner->name);
            field->structure = NULL;
            field->kind = IR_BOOL;
            continue;
        }
        struct_place(checker, inner, end, depth + 1);
    }
    type->state = STRUCT_DONE;
    struct_measure(type);
    if (type->depth > LIMIT_STRUCT_DEPTH)
        diag_report(checker->sink, DIAG_STRUCT_TOO_DEEP, type->decl->name.span,
                    "structs and lists are nested more than %u deep", LIMIT_STRUCT_DEPTH);
    if (type->cells > LIMIT_STRUCT_CELLS)
        diag_report(checker->sink, DIAG_STRUCT_TOO_LARGE, type->decl->name.span,
                    "'%s' holds more than %u values", type->name, LIMIT_STRUCT_CELLS);
    type->fingerprint = fingerprint_fields(type->fields);
    **end = type;
    *end = &type->next;
}

struct symbol *checker_symbol(struct checker *checker, const struct ast_decl *decl)
{
    struct symbol *symbol = map_get(&checker->module->symbols,
                                    qualify(checker, checker->module->package, decl->name.text));
    return symbol != NULL && symbol->decl == decl ? symbol : NULL;
}

static void check_structs(struct checker *checker)
{
    struct ir_struct **end = &checker->module->ir->structs;
    for (const struct ast_decl *decl = checker->module->ast->decls; decl; decl = decl->next) {
        struct symbol *symbol = decl->kind == DECL_STRUCT ? checker_symbol(checker, decl) : NULL;
        if (symbol == NULL)
            continue;
        check_struct_attrs(checker, decl->attrs);
        symbol->structure->fields =
            check_fields(checker, symbol->structure->c, &decl->fields, HOME_STRUCT);
        if (decl->fields.first == NULL && !checker->module->is_broken)
            diag_report(checker->sink, DIAG_EMPTY_TYPE, decl->name.span, "'%s' has no fields",
                        decl->name.text);
    }
    for (const struct ast_decl *decl = checker->module->ast->decls; decl; decl = decl->next) {
        struct symbol *symbol = decl->kind == DECL_STRUCT ? checker_symbol(checker, decl) : NULL;
        if (symbol != NULL && symbol->structure->state == STRUCT_NEW)
            struct_place(checker, symbol->structure, &end, 1);
    }
}

static struct ir_job *check_job(struct checker *checker, const struct ast_decl *decl,
                                const struct ir_settings *defaults)
{
    const char *package = checker->module->package;
    struct ir_job *job = arena_alloc(checker->arena, sizeof(*job));
    job->name = decl->name.text;
    job->qualified = qualify(checker, package, job->name);
    job->doc = decl->doc;
    job->line = span_line(decl->name.span);
    job->attrs = decl->attrs;
    job->decl = decl;
    job->was = (struct literal *)(uintptr_t)attr_was(decl->attrs);
    job->wire = qualify(checker, package, job->was != NULL ? job->was->text : job->name);
    cname_job(checker->arena, package, job);
    check_job_attrs(checker, job);
    job->params = check_fields(checker, job->c, &decl->fields, HOME_PARAMS);
    check_depth(checker, job->params, decl->fields.span);
    if (decl->returns.span.source != NULL) {
        cname_result(checker->arena, package, job);
        job->result = check_fields(checker, job->result_c, &decl->returns, HOME_RETURNS);
        check_depth(checker, job->result, decl->returns.span);
        if (job->result == NULL && !checker->module->is_broken)
            diag_report(checker->sink, DIAG_EMPTY_TYPE, decl->returns.span,
                        "'%s' returns nothing: leave 'returns' out", job->name);
    } else {
        job->functions.set_result = NULL;
    }
    check_job_settings(checker, job, decl, defaults);
    job->fingerprint = fingerprint_fields(job->params);
    return job;
}

/* Two jobs of one module must not share a name on the wire either. */
static void check_job_wire(struct checker *checker, struct map *wires, const struct ast_decl *decl,
                           const struct ir_job *job)
{
    const struct ast_decl *other = map_add(wires, job->wire, (void *)(uintptr_t)decl);
    if (other == NULL)
        return;
    diag_report(checker->sink, DIAG_DUPLICATE_WIRE_NAME, decl->name.span,
                "'%s' and '%s' are both '%s' in the queue", job->name, other->name.text, job->wire);
    diag_note(checker->sink, other->name.span, "'%s' is here", other->name.text);
}

static void check_jobs(struct checker *checker, const struct ir_settings *defaults)
{
    struct ir_job **end = &checker->module->ir->jobs;
    struct map wires;
    map_init(&wires, checker->arena);
    for (const struct ast_decl *decl = checker->module->ast->decls; decl; decl = decl->next) {
        if (decl->kind != DECL_JOB || checker_symbol(checker, decl) == NULL)
            continue;
        *end = check_job(checker, decl, defaults);
        check_job_wire(checker, &wires, decl, *end);
        end = &(*end)->next;
    }
}

static void declare_all(struct checker *checker)
{
    struct ir_enum **end = &checker->module->ir->enums;
    for (const struct ast_decl *decl = checker->module->ast->decls; decl; decl = decl->next) {
        if (decl->kind == DECL_DEFAULTS || !declare(checker, decl))
            continue;
        struct symbol *symbol = checker_symbol(checker, decl);
        if (decl->kind == DECL_ENUM) {
            symbol->enumeration = check_enum(checker, decl, symbol->qualified);
            *end = symbol->enumeration;
            end = &symbol->enumeration->next;
        } else if (decl->kind == DECL_STRUCT) {
            symbol->structure = declare_struct(checker, decl, symbol->qualified);
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

/* What imported files put at file scope of the generated C, directly or not. Those that are only
 * beside this one on a command line are none of its business: with each of hundreds claiming the
 * names of all before it, they would take time by the square of their number. */
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

static void claim_others(struct checker *checker)
{
    struct map seen;
    map_init(&seen, checker->arena);
    claim_imports(checker, &seen, checker->module);
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

/* Without a package the file's name begins it: culex.job would have that of <culex/job.h>. */
static void check_guard(struct checker *checker)
{
    const struct module *module = checker->module;
    cname_check_free(checker->sink, module->ir->guard, (struct span){module->source, 0, 0},
                     CNAME_CONSTANT);
}

static void check_package(struct checker *checker)
{
    const struct ast_name *package = &checker->module->ast->package;
    if (package->text == NULL) {
        check_guard(checker);
        return;
    }
    for (const char *at = package->text; at != NULL;
         at = strchr(at, '.') ? strchr(at, '.') + 1 : NULL) {
        struct ast_name part = {arena_copy(checker->arena, at, strcspn(at, ".")), package->span};
        cname_check_shape(checker->sink, &part);
    }
    if (strncmp(package->text, "culex", 5) == 0 && strchr("._", package->text[5]) != NULL)
        diag_report(checker->sink, DIAG_RESERVED_NAME, package->span,
                    "packages that start with 'culex' belong to Culex itself");
}

static bool has_same_prefix(const char *a, const char *b)
{
    while (*a != '\0' && (*a == *b || (strchr("._", *a) != NULL && strchr("._", *b) != NULL)))
        a++, b++;
    return *a == '\0' && *b == '\0';
}

/* Against the packages of the files that were checked before: what this one imports. */
static void check_prefix(struct checker *checker)
{
    const struct module *module = checker->module;
    for (const struct module *at = checker->compilation->modules; at != module; at = at->next) {
        if (module->package == NULL || at->package == NULL ||
            strcmp(at->package, module->package) == 0 ||
            !has_same_prefix(at->package, module->package))
            continue;
        diag_report(checker->sink, DIAG_SHARED_PREFIX, module->ast->package.span,
                    "the names of packages '%s' and '%s' start alike in C", module->package,
                    at->package);
        diag_note(checker->sink, at->ast->package.span, "the other package is here");
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

/* The other tables are looked for by other verbs. */
static bool is_about_schemas(enum diag_id id, const void *context)
{
    (void)context;
    return diag_table_of(id) == TABLE_SCHEMA;
}

static void check_one(struct compilation *compilation, struct module *module)
{
    struct checker checker = {.compilation = compilation,
                              .arena = &compilation->arena,
                              .sink = &compilation->sink,
                              .module = module};
    struct diag_sink quiet; /* Collisions among imports were reported there. */
    map_init(&checker.c_names, checker.arena);
    map_init(&checker.attrs, checker.arena);
    diag_sink_init(&quiet, checker.arena);
    checker.sink = &quiet;
    claim_others(&checker);
    checker.sink = &compilation->sink;

    module->ir = file_create(&checker);
    checker_claim_guard(&checker, module);
    check_package(&checker);
    check_prefix(&checker);
    declare_all(&checker);
    check_structs(&checker);
    struct ir_settings defaults = check_loose(&checker);
    check_jobs(&checker, &defaults);
    check_imports(&checker);
    if (!compilation->sink.has_faults) /* Behind an error, warnings may be missing. */
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

void check_supported(struct compilation *compilation, const struct module *module)
{
    static const enum setting_kind missing[] = {SETTING_UNIQUE, SETTING_CONCURRENCY, SETTING_RATE,
                                                SETTING_CRON};
    for (const struct ir_job *job = module->ir->jobs; job != NULL; job = job->next) {
        for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
            const struct ast_setting *setting = job->settings.set[missing[i]];
            if (setting != NULL)
                diag_report(&compilation->sink, DIAG_NOT_YET_SUPPORTED, setting->span,
                            "'%s' cannot be honoured by this version's runtime yet",
                            setting_word(missing[i]));
        }
    }
}
