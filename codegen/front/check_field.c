/* check_field.c - a block of fields: names, types, shapes, defaults. */
#include "checker.h"

#include <string.h>

#include "cname.h"
#include "limits.h"
#include "reserved.h"

/* One block of fields while it is checked. */
struct block {
    struct checker *checker;
    enum field_home home;
    const char *c;    /* of the struct that the fields are in */
    struct map names; /* -> ast_field */
    struct map wires; /* -> ast_field */
    struct map c_names;
    struct reserved reserved;
};

static bool type_builtin(struct ir_field *field, const char *name)
{
    field->kind = ir_kind_find(name);
    return field->kind != IR_KIND_COUNT;
}

/* Another module of the compilation that declares the qualified `name`. */
static const struct module *declaring_module(const struct checker *checker, const char *name)
{
    for (const struct module *at = checker->compilation->modules; at != NULL; at = at->next) {
        if (at != checker->module && map_get(&at->symbols, name) != NULL)
            return at;
    }
    return NULL;
}

/* Says what a type of other languages is called here. `near` is what else may be meant. */
static void help_foreign_type(struct checker *checker, const struct ast_field *field,
                              const struct habit *habit, const struct suggestion *near)
{
    if (habit->instead == NULL) {
        diag_help(checker->sink, "%s", habit->why);
        return;
    }
    if (habit->why == NULL)
        diag_help(checker->sink, "did you mean '%s'?", habit->instead);
    else
        diag_help(checker->sink, "did you mean '%s'? %s", habit->instead, habit->why);
    bool is_alone = near->best == NULL || strcmp(near->best, habit->instead) == 0;
    bool is_sure = habit->is_certain && is_alone && !near->is_doubtful &&
                   !checker->module->is_broken && !habit_is_type(field->name.text);
    diag_fix(checker->sink, is_sure ? FIX_MACHINE_APPLICABLE : FIX_MAYBE_INCORRECT,
             field->type.span, "%s", habit->instead);
}

static void report_unknown_type(struct checker *checker, const struct ast_field *field)
{
    struct habit habit;
    struct suggestion near = checker_suggest(checker, field->type.text, true);
    const struct module *module = declaring_module(checker, field->type.text);
    bool is_foreign = habit_type(field->type.text, &habit);
    bool is_name_a_type = habit_is_type(field->name.text);
    /* The type may be declared where a syntax error was. */
    if (checker->module->is_broken && near.best == NULL && !is_foreign && !is_name_a_type)
        return;
    diag_report(checker->sink, DIAG_UNKNOWN_TYPE, field->type.span, "unknown type '%.200s'",
                field->type.text);
    near.is_doubtful |= is_name_a_type; /* Maybe swapped. */
    if (is_foreign)
        help_foreign_type(checker, field, &habit, &near);
    else if (module != NULL)
        diag_help(checker->sink, "add 'import \"%s\";', which declares it", module->file);
    else if (near.best != NULL)
        diag_suggest(checker->sink, field->type.span, &near);
    else if (is_name_a_type)
        diag_help(checker->sink, "the type comes first: '%s %s'", field->name.text,
                  field->type.text);
    else if (strchr(field->type.text + 1, '.') != NULL)
        diag_help(checker->sink, "add 'import \"FILE.job\";' of the file that declares it");
}

/* False: the type is poisoned and nothing that depends on it is checked. */
static bool type_resolve(struct checker *checker, const struct ast_field *ast,
                         struct ir_field *field)
{
    if (type_builtin(field, ast->type.text))
        return true;
    const struct symbol *symbol = checker_find(checker, ast->type.text);
    if (symbol == NULL) {
        report_unknown_type(checker, ast);
        return false;
    }
    if (symbol->enumeration == NULL && symbol->structure == NULL && symbol->user == NULL) {
        diag_report(checker->sink, DIAG_NOT_A_TYPE, ast->type.span, "'%s' is a %s, not a type",
                    symbol->qualified, ast_decl_word(symbol->decl->kind));
        diag_note(checker->sink, symbol->decl->name.span, "declared here");
        return false;
    }
    field->enumeration = symbol->enumeration;
    field->structure = symbol->structure;
    field->user = symbol->user;
    field->kind = symbol->enumeration != NULL ? IR_ENUM
                  : symbol->user != NULL      ? IR_USER
                                              : IR_STRUCT;
    return true;
}

static void check_count(struct checker *checker, const struct ast_field *ast,
                        struct ir_field *field)
{
    int64_t count = -1;
    if (wide_to_int64(ast->count.integer, &count) && count >= 1 && count <= LIMIT_LIST_COUNT) {
        field->count = count;
        return;
    }
    diag_report(checker->sink, DIAG_BAD_COUNT, ast->count.span, "a list holds 1 to %u values",
                LIMIT_LIST_COUNT);
    if (count == 0 && ast->shape == SHAPE_LIST)
        diag_help(checker->sink, "for a list without a limit of its own write '[]'");
}

static void check_shape(struct checker *checker, const struct ast_field *ast,
                        struct ir_field *field)
{
    field->shape = ast->shape;
    field->count = -1;
    if (ast->count.kind == LITERAL_INT)
        check_count(checker, ast, field);
    if (ast->shape == SHAPE_LIST && field->is_optional) {
        diag_report(checker->sink, DIAG_OPTIONAL_LIST, ast->optional,
                    "a list is never optional: without values it is empty");
        diag_fix(checker->sink, FIX_MAYBE_INCORRECT, span_with_blanks(ast->optional), "%s", "");
        field->is_optional = false;
    }
}

/* Its text would have to be read by a function that runs only in the program. */
static void report_user_default(struct checker *checker, const struct ast_field *ast,
                                const struct ir_field *field)
{
    diag_report(checker->sink, DIAG_DEFAULT_NOT_ALLOWED, ast->value.span,
                "'%s' has no default: only '%s' could tell what the text means", field->user->name,
                field->user->parse);
    diag_help(checker->sink, "make it optional, and choose in the handler what an absent one is");
}

static bool has_default_allowed(struct checker *checker, const struct ast_field *ast,
                                const struct ir_field *field)
{
    if (ast->optional.source != NULL)
        diag_report(checker->sink, DIAG_OPTIONAL_DEFAULT, ast->value.span,
                    "'%s' is optional, so it has no default", field->name);
    else if (ast->shape == SHAPE_SINGLE && field->kind == IR_USER)
        report_user_default(checker, ast, field);
    else if (field->is_encrypted)
        diag_report(checker->sink, DIAG_DEFAULT_NOT_ALLOWED, ast->value.span,
                    "'%s' is encrypted, so it has no default: everybody could read it here",
                    field->name);
    else if (ast->shape != SHAPE_SINGLE || field->kind == IR_STRUCT)
        diag_report(checker->sink, DIAG_DEFAULT_NOT_ALLOWED, ast->value.span, "%s has no default",
                    ast->shape != SHAPE_SINGLE ? "a list" : "a struct");
    else
        return true;
    return false;
}

/* A default is a value like any other: it keeps the limits. */
static void check_default_limits(struct checker *checker, const struct ast_field *ast,
                                 const struct ir_field *field)
{
    const struct ir_value *value = &field->value;
    int64_t len = (int64_t)value->len;
    bool is_text = value->kind == VALUE_STRING || value->kind == VALUE_BYTES;
    bool is_bad = is_text && ((field->min_len >= 0 && len < field->min_len) ||
                              (field->max_len >= 0 && len > field->max_len));
    if (field->min.kind != VALUE_NONE)
        is_bad |= value_compare(value, &field->min) < 0;
    if (field->max.kind != VALUE_NONE)
        is_bad |= value_compare(value, &field->max) > 0;
    if (is_bad)
        diag_report(checker->sink, DIAG_DEFAULT_LIMIT, ast->value.span,
                    "the default of '%s' is outside its own limits", field->name);
    if (is_text && field->is_secret && len > 0)
        diag_report(checker->sink, DIAG_SECRET_DEFAULT, ast->value.span,
                    "the secret '%s' is in the schema and in the generated code", field->name);
}

static void check_default(struct checker *checker, const struct ast_field *ast,
                          struct ir_field *field)
{
    if (ast->value.kind == LITERAL_NONE || ast->value.kind == LITERAL_POISON ||
        !has_default_allowed(checker, ast, field))
        return;
    field->value = check_value(checker, field, &ast->value);
    if (field->value.kind != VALUE_NONE)
        check_default_limits(checker, ast, field);
}

static void check_free(struct block *block, const struct ast_field *ast,
                       const struct ir_field *field)
{
    struct diag_sink *sink = block->checker->sink;
    const struct literal *at = reserved_name(&block->reserved, ast->name.text);
    if (at == NULL)
        at = reserved_name(&block->reserved, field->wire);
    if (at == NULL)
        return;
    diag_report(sink, DIAG_RESERVED_REUSED, ast->name.span,
                "'%s' is reserved: queued runs may still carry another meaning of it", at->text);
    diag_note(sink, at->span, "reserved here");
}

static void check_names(struct block *block, struct ast_field *ast, struct ir_field *field)
{
    struct checker *checker = block->checker;
    const struct literal *was = attr_was(ast->attrs);
    field->wire = was != NULL ? was->text : ast->name.text;
    const struct ast_field *other = map_add(&block->names, ast->name.text, ast);
    if (other != NULL) {
        diag_report(checker->sink, DIAG_DUPLICATE_NAME, ast->name.span, "'%s' is declared twice",
                    ast->name.text);
        diag_note(checker->sink, other->name.span, "first declared here");
        return;
    }
    other = map_add(&block->wires, field->wire, ast);
    if (other != NULL) {
        diag_report(checker->sink, DIAG_DUPLICATE_WIRE_NAME, ast->name.span,
                    "'%s' and '%s' are both '%s' in a payload", ast->name.text, other->name.text,
                    field->wire);
        diag_note(checker->sink, other->name.span, "'%s' is here", other->name.text);
    }
    check_free(block, ast, field);
}

static void check_c_names(struct block *block, const struct ast_field *ast, struct ir_field *field)
{
    struct checker *checker = block->checker;
    field->c = ast->name.text;
    if (!cname_check_shape(checker->sink, &ast->name) ||
        !cname_check_free(checker->sink, field->c, ast->name.span, CNAME_FIELD))
        return;
    if (map_get(&checker->c_names, field->c) != NULL) {
        diag_report(checker->sink, DIAG_C_NAME_COLLISION, ast->name.span,
                    "'%s' is also the C name of a type or a header", field->c);
        return;
    }
    if (map_get(&block->names, field->name) == ast)
        cname_claim(&block->c_names, checker->sink, field->c, ast->name.span, field->name);
    if (field->is_optional) {
        field->has_c = arena_printf(checker->arena, "has_%s", field->c);
        cname_claim(&block->c_names, checker->sink, field->has_c, ast->name.span, field->name);
    }
    if (field->shape == SHAPE_LIST) {
        field->len_c = arena_printf(checker->arena, "%s_len", field->c);
        cname_claim(&block->c_names, checker->sink, field->len_c, ast->name.span, field->name);
    }
    if (field->has_c == NULL && field->len_c == NULL)
        return;
    field->set_c = cname_setter(checker->arena, block->c, field->c);
    if (map_get(&block->names, field->name) == ast)
        cname_claim(&checker->c_names, checker->sink, field->set_c, ast->name.span, field->name);
}

static struct ir_field *check_field(struct block *block, struct ast_field *ast)
{
    struct checker *checker = block->checker;
    struct ir_field *field = arena_alloc(checker->arena, sizeof(*field));
    field->name = ast->name.text;
    field->doc = ast->doc;
    field->span = ast->name.span;
    field->line = span_line(ast->name.span);
    field->attrs = ast->attrs;
    field->min_len = field->max_len = -1;
    field->is_optional = ast->optional.source != NULL;
    check_shape(checker, ast, field);
    check_names(block, ast, field);
    check_c_names(block, ast, field);
    field->is_required =
        !field->is_optional && ast->value.kind == LITERAL_NONE && field->shape != SHAPE_LIST;
    if (type_resolve(checker, ast, field)) {
        check_field_attrs(checker, field, block->home);
        check_default(checker, ast, field);
    } else {
        field->kind = IR_BOOL; /* Never printed: there was an error. */
    }
    return field;
}

static void check_reserved(struct checker *checker, const struct literal *reserved)
{
    for (; reserved != NULL; reserved = reserved->next) {
        if (reserved->kind == LITERAL_INT)
            diag_report(checker->sink, DIAG_RESERVED_NUMBER, reserved->span,
                        "payloads go by name, so only names can be reserved here");
        check_old_name(checker, reserved, "a reserved");
    }
}

/* How many fields the block has, when each is given its own number, from 1 on; or else 0. */
static unsigned count_numbered(const struct ast_field *ast)
{
    unsigned count = 0;
    for (; ast != NULL; ast = ast->next) {
        if (ast->value.kind != LITERAL_INT || ast->value.integer.hi != 0 ||
            ast->value.integer.lo != ++count)
            return 0;
    }
    return count;
}

/* Two numbers may be defaults by chance. */
static void check_numbers(struct checker *checker, const struct ast_field *ast)
{
    if (count_numbered(ast) < 3)
        return;
    diag_report(checker->sink, DIAG_FIELD_NUMBERS, ast->value.span,
                "these defaults look like the numbers of fields, which are not needed");
    diag_help(checker->sink, "a param goes by its name: leave '= 1', '= 2' and so on out");
}

struct ir_field *check_fields(struct checker *checker, const char *c,
                              const struct ast_fields *fields, enum field_home home)
{
    struct block block = {.checker = checker, .home = home, .c = c};
    struct ir_field *first = NULL;
    struct ir_field **end = &first;
    unsigned count = 0;
    map_init(&block.names, checker->arena);
    map_init(&block.wires, checker->arena);
    map_init(&block.c_names, checker->arena);
    reserved_init(&block.reserved, checker->arena, fields->reserved);
    check_reserved(checker, fields->reserved);
    check_numbers(checker, fields->first);
    for (struct ast_field *ast = fields->first; ast != NULL; ast = ast->next) {
        if (++count > LIMIT_FIELDS) {
            diag_report(checker->sink, DIAG_TOO_MANY, ast->name.span,
                        "more than %u of these in one block", LIMIT_FIELDS);
            break;
        }
        *end = check_field(&block, ast);
        end = &(*end)->next;
    }
    return first;
}
