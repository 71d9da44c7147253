/* parser_value.c - names, paths and values. */
#include "literal.h"
#include "parser_base.h"

bool parser_name(struct parser *parser, struct ast_name *ret_name)
{
    if (!parser_at(parser, TOKEN_WORD))
        return parser_expected(parser, "a name");
    ret_name->span = parser_span(parser);
    ret_name->text = arena_copy(parser->arena, parser->source->text + parser->token.offset,
                                parser->token.length);
    parser_advance(parser);
    return true;
}

bool parser_path(struct parser *parser, struct ast_name *ret_path)
{
    if (!parser_name(parser, ret_path))
        return false;
    if (!parser_at(parser, TOKEN_DOT))
        return true;
    struct buf path = {0};
    bool is_whole = true;
    buf_text(&path, ret_path->text);
    while (is_whole && parser_accept(parser, TOKEN_DOT)) {
        struct ast_name part = {0};
        is_whole = parser_name(parser, &part);
        if (is_whole) {
            buf_printf(&path, ".%s", part.text);
            ret_path->span = span_join(ret_path->span, part.span);
        }
    }
    ret_path->text = arena_copy(parser->arena, path.data, path.len);
    buf_release(&path);
    return is_whole;
}

bool parser_reference(struct parser *parser, struct ast_name *ret_path)
{
    struct span start = parser_span(parser);
    bool is_whole = parser_accept(parser, TOKEN_DOT);
    if (!parser_path(parser, ret_path))
        return false;
    if (is_whole) {
        ret_path->text = arena_printf(parser->arena, ".%s", ret_path->text);
        ret_path->span = span_join(start, ret_path->span);
    }
    return true;
}

static struct literal literal_take(struct parser *parser, bool is_negative)
{
    struct literal literal = literal_read(parser->sink, parser->source, parser->token, is_negative);
    parser_advance(parser);
    return literal;
}

bool parser_literal(struct parser *parser, struct literal *ret_literal)
{
    struct span start = parser_span(parser);
    bool has_minus = parser_accept(parser, TOKEN_MINUS);
    enum token_kind kind = parser->token.kind;
    if (kind < TOKEN_WORD || kind > TOKEN_CHAR)
        return parser_expected(parser, "a value");
    *ret_literal = literal_take(parser, has_minus);
    if (!has_minus)
        return true;
    ret_literal->span = span_join(start, ret_literal->span);
    if (literal_negate(ret_literal, parser->arena))
        return true;
    parser->has_errors = true;
    diag_report(parser->sink, DIAG_SYNTAX, ret_literal->span,
                "only numbers and durations can be negative");
    ret_literal->kind = LITERAL_POISON;
    return true;
}

/* A value of `kind` in a spelling that is not ours: it is reported and passed over. */
static bool foreign_literal(struct parser *parser, enum token_kind kind,
                            struct literal *ret_literal)
{
    struct habit habit;
    if (!habit_value(parser->arena, parser->source, kind, parser->lexer, parser->token, &habit))
        return false;
    parser_report_expected(parser, token_kind_text(kind));
    if (parser->sink->current != NULL)
        parser->sink->current->span = habit.span;
    diag_help(parser->sink, "write '%s'", habit.instead);
    diag_fix(parser->sink, habit.is_certain ? FIX_MACHINE_APPLICABLE : FIX_MAYBE_INCORRECT,
             habit.span, "%s", habit.instead);
    parser_skip_to(parser, habit.span.offset + habit.span.length);
    parser_advance(parser);
    *ret_literal = (struct literal){.kind = LITERAL_POISON, .span = habit.span};
    return true;
}

/* "5M" is a size. */
static bool is_size_in_m(const struct parser *parser)
{
    const struct token *token = &parser->token;
    return token->kind == TOKEN_SIZE && token->length < 20 &&
           parser->source->text[token->offset + token->length - 1] == 'M';
}

bool parser_literal_of(struct parser *parser, enum token_kind kind, struct literal *ret_literal)
{
    const char *units = kind == TOKEN_DURATION ? "w, d, h, m, s, ms, us or ns"
                        : kind == TOKEN_SIZE   ? "K, M or G"
                                               : NULL;
    if (parser_at(parser, kind) && parser->token.fault != FAULT_NUMBER) {
        *ret_literal = literal_take(parser, false);
        return true;
    }
    parser->has_errors = true;
    if (parser_is_excused(parser))
        return false;
    if (parser_tell(parser, DIAG_SYNTAX)) {
        bool is_there = parser_at(parser, kind);
        if (is_there)
            *ret_literal = literal_take(parser, false);
        return is_there;
    }
    if (foreign_literal(parser, kind, ret_literal))
        return true;
    bool is_quoted = parser_at(parser, TOKEN_STRING) || parser_at(parser, TOKEN_CHAR);
    bool lacks_unit = parser_at(parser, TOKEN_INT) && parser->token.fault == FAULT_NONE;
    parser_report_expected(parser, token_kind_text(kind));
    if (kind == TOKEN_DURATION && is_size_in_m(parser))
        diag_help(parser->sink, "minutes are 'm': write '%.*sm'", (int)parser->token.length - 1,
                  parser->source->text + parser->token.offset);
    else if (units != NULL)
        diag_help(parser->sink, lacks_unit ? "add a unit: %s" : "the units are %s", units);
    else if (is_quoted && kind == TOKEN_INT)
        diag_help(parser->sink, "write a number in digits, without quotes");
    return false;
}

bool parser_number(struct parser *parser, struct literal *ret_literal)
{
    if (!parser_at(parser, TOKEN_INT) && !parser_at(parser, TOKEN_FLOAT))
        return parser_expected(parser, "a number");
    *ret_literal = literal_take(parser, false);
    return true;
}

bool parser_literals(struct parser *parser, enum token_kind kind, struct literal **ret_list)
{
    struct literal **end = ret_list;
    do {
        struct literal *literal = arena_alloc(parser->arena, sizeof(*literal));
        if (!parser_literal_of(parser, kind, literal))
            return false;
        *end = literal;
        end = &literal->next;
    } while (parser_accept(parser, TOKEN_COMMA));
    return true;
}
