/* check_struct.c - structs: their fields, their size, and an order in which each stands behind
 * those that it contains. */
#include "checker.h"

#include <assert.h>

#include "cname.h"
#include "fingerprint.h"
#include "limits.h"

struct ir_struct *check_struct_declare(struct checker *checker, const struct ast_decl *decl,
                                       const char *qualified)
{
    struct ir_struct *type = arena_alloc(checker->arena, sizeof(*type));
    type->name = qualified;
    cname_fill(checker->arena, checker->module->package, decl, type);
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

void check_depth(struct checker *checker, const struct ir_field *fields, struct span span)
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
    assert(type->state == STRUCT_NEW);
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

void check_structs(struct checker *checker)
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
