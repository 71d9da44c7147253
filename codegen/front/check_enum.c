/* check_enum.c - enums: their base, their values, what they reserve. */
#include "checker.h"

#include <string.h>

#include "cname.h"
#include "fingerprint.h"
#include "limits.h"
#include "reserved.h"
#include "suggest.h"

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
            continue; /* Other clashes of the two need no report of their own. */
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
        habit_help(checker->sink, &habit, decl->base.span);
    else if (kind == IR_KIND_COUNT)
        diag_suggest(checker->sink, decl->base.span, &near);
    return IR_INT64;
}

struct ir_enum *check_enum(struct checker *checker, const struct ast_decl *decl,
                           const char *qualified)
{
    struct ir_enum *type = arena_alloc(checker->arena, sizeof(*type));
    type->name = qualified;
    cname_fill(checker->arena, checker->module->package, decl, type);
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
