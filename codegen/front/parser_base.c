#include "parser_base.h"

#include <string.h>

#include "literal.h"
#include "suggest.h"

static void doc_line(struct parser *parser, struct token token, struct buf *doc)
{
    size_t skip = token.kind == TOKEN_DOC ? 3 : 4;
    const char *text = parser->source->text + token.offset + skip;
    size_t len = token.length - skip;
    if (len > 0 && *text == ' ')
        text++, len--;
    while (len > 0 && (text[len - 1] == '\r' || text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    if (doc->len > 0)
        buf_char(doc, '\n');
    buf_append(doc, text, len);
}

static void doc_take_after(struct parser *parser, struct token token)
{
    if (parser->doc_after == NULL)
        return;
    struct buf doc = {0};
    if (*parser->doc_after != NULL)
        buf_text(&doc, *parser->doc_after);
    doc_line(parser, token, &doc);
    *parser->doc_after = arena_copy(parser->arena, doc.data, doc.len);
    buf_release(&doc);
}

/* Reports a token that is broken in itself; true when it is to be dropped. */
static bool is_broken(struct parser *parser, struct token token)
{
    struct span span = {parser->source, token.offset, token.length};
    if (token.fault == FAULT_UNTERMINATED) {
        bool is_comment = token.kind == TOKEN_STRAY;
        parser->has_errors = true;
        diag_report(parser->sink, is_comment ? DIAG_UNTERMINATED_COMMENT : DIAG_UNTERMINATED_STRING,
                    span, "this %s has no end", is_comment ? "comment" : "text");
        return is_comment;
    }
    if (token.kind != TOKEN_STRAY)
        return false;
    uint32_t code = 0;
    parser->has_errors = true;
    utf8_sequence(parser->source->text + token.offset, token.length, &code);
    diag_report(parser->sink, DIAG_STRAY_CHARACTER, span, "stray character '%.*s' (U+%04X)",
                (int)token.length, parser->source->text + token.offset, (unsigned)code);
    return true;
}

void parser_advance(struct parser *parser)
{
    parser->previous = parser->token;
    parser->doc.len = 0;
    parser->is_after_stray = false;
    for (;;) {
        struct token token = lexer_next(&parser->lexer);
        if (token.kind == TOKEN_DOC) {
            doc_line(parser, token, &parser->doc);
        } else if (token.kind == TOKEN_DOC_AFTER) {
            doc_take_after(parser, token);
        } else if (is_broken(parser, token)) {
            parser->is_after_stray = true;
        } else {
            parser->token = token;
            return;
        }
    }
}

struct span parser_span(const struct parser *parser)
{
    return (struct span){parser->source, parser->token.offset, parser->token.length};
}

bool parser_at(const struct parser *parser, enum token_kind kind)
{
    return parser->token.kind == kind;
}

bool parser_at_word(const struct parser *parser, const char *word)
{
    return parser->token.kind == TOKEN_WORD && strlen(word) == parser->token.length &&
           memcmp(parser->source->text + parser->token.offset, word, parser->token.length) == 0;
}

bool parser_accept(struct parser *parser, enum token_kind kind)
{
    if (parser->token.kind != kind)
        return false;
    parser_advance(parser);
    return true;
}

bool parser_accept_word(struct parser *parser, const char *word)
{
    if (!parser_at_word(parser, word))
        return false;
    parser_advance(parser);
    return true;
}

bool parser_expected(struct parser *parser, const char *what)
{
    const char *found = token_kind_text(parser->token.kind);
    parser->has_errors = true;
    if (parser->is_after_stray) /* The stray character is the cause. */
        return false;
    if (parser->token.kind == TOKEN_WORD)
        found = arena_printf(parser->arena, "'%.*s'",
                             parser->token.length > 64 ? 64 : (int)parser->token.length,
                             parser->source->text + parser->token.offset);
    diag_report(parser->sink, DIAG_SYNTAX, parser_span(parser), "expected %s, found %s", what,
                found);
    return false;
}

bool parser_expect(struct parser *parser, enum token_kind kind)
{
    return parser_accept(parser, kind) || parser_expected(parser, token_kind_text(kind));
}

bool parser_semicolon(struct parser *parser)
{
    struct span end = {parser->source, parser->previous.offset + parser->previous.length, 0};
    if (parser_accept(parser, TOKEN_SEMICOLON))
        return true;
    if (!parser_at(parser, TOKEN_RIGHT_BRACE) && span_line(end) == span_line(parser_span(parser)))
        return parser_expected(parser, "';'");
    parser->has_errors = true;
    diag_report(parser->sink, DIAG_SYNTAX, end, "expected ';' at the end of this");
    diag_fix(parser->sink, end, ";");
    return true;
}

void parser_recover(struct parser *parser)
{
    unsigned depth = 0;
    while (!parser_at(parser, TOKEN_END)) {
        if (depth == 0 && parser_at(parser, TOKEN_RIGHT_BRACE))
            return;
        enum token_kind kind = parser->token.kind;
        parser_advance(parser);
        if (kind == TOKEN_LEFT_BRACE)
            depth++;
        else if (depth > 0 && kind == TOKEN_RIGHT_BRACE)
            depth--;
        if (depth == 0 && (kind == TOKEN_RIGHT_BRACE || kind == TOKEN_SEMICOLON))
            return;
    }
}

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
        struct ast_name part;
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

static struct literal literal_take(struct parser *parser)
{
    struct literal literal = literal_read(parser->sink, parser->source, parser->token);
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
    *ret_literal = literal_take(parser);
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

bool parser_literal_of(struct parser *parser, enum token_kind kind, struct literal *ret_literal)
{
    if (!parser_at(parser, kind))
        return parser_expected(parser, token_kind_text(kind));
    *ret_literal = literal_take(parser);
    return true;
}

bool parser_number(struct parser *parser, struct literal *ret_literal)
{
    if (!parser_at(parser, TOKEN_INT) && !parser_at(parser, TOKEN_FLOAT))
        return parser_expected(parser, "a number");
    *ret_literal = literal_take(parser);
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

bool parser_unknown(struct parser *parser, enum diag_id id, const char *what,
                    const char *const *words)
{
    struct ast_name name = {.text = "", .span = parser_span(parser)};
    if (!parser_at(parser, TOKEN_WORD))
        return parser_expected(parser, what);
    name.text = arena_copy(parser->arena, parser->source->text + parser->token.offset,
                           parser->token.length);
    struct suggestion suggestion = suggestion_start(name.text);
    for (; *words != NULL; words++)
        suggestion_offer(&suggestion, *words);
    parser->has_errors = true;
    diag_report(parser->sink, id, name.span, "'%.64s' is not %s", name.text, what);
    diag_suggest(parser->sink, name.span, &suggestion);
    return false;
}
