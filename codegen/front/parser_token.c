/* parser_token.c - the tokens that the parser goes by: the next one, documentation between them,
 * and those that are broken in themselves. */
#include <string.h>

#include "base/utf8.h"
#include "parser_base.h"
#include "plain.h"

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
    if (parser->behind.len == 0 && *parser->doc_after != NULL)
        buf_text(&parser->behind, *parser->doc_after);
    doc_line(parser, token, &parser->behind);
}

void parser_doc_behind(struct parser *parser, const char **doc)
{
    if (parser->behind.len > 0)
        *parser->doc_after = arena_copy(parser->arena, parser->behind.data, parser->behind.len);
    parser->behind.len = 0;
    parser->doc_after = doc;
}

/* What word processors and other scripts put in place of plain characters. */
static const char *look_alike(uint32_t code)
{
    static const struct {
        uint32_t code;
        const char *meant;
    } table[] = {{0xa0, " "},   {0x2007, " "},  {0x202f, " "},  {0x3000, " "}, {0x200b, ""},
                 {0xfeff, ""},  {0x201c, "\""}, {0x201d, "\""}, {0x2018, "'"}, {0x2019, "'"},
                 {0x37e, ";"},  {0xff1b, ";"},  {0xff0c, ","},  {0xff08, "("}, {0xff09, ")"},
                 {0x2013, "-"}, {0x2212, "-"}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].code == code)
            return table[i].meant;
    }
    return NULL;
}

static void report_stray(struct parser *parser, struct span span)
{
    const char *text = parser->source->text + span.offset;
    uint32_t code = culex__utf8_code(text, culex__utf8_char(text, span.length));
    if (plain_refuses(code))
        return; /* It was reported when the whole text was looked at. */
    const char *meant = look_alike(code);
    diag_report(parser->sink, DIAG_STRAY_CHARACTER, span, "stray character '%.*s' (U+%04X)",
                (int)span.length, text, (unsigned)code);
    if (meant == NULL)
        return;
    if (*meant == '\0' || *meant == ' ')
        diag_help(parser->sink, "this is a blank of another kind");
    else
        diag_help(parser->sink, "did you mean %s?", meant);
    diag_fix(parser->sink, FIX_MACHINE_APPLICABLE, span, "%s", meant);
}

/* Reports a token that is broken in itself; true when it is to be dropped. */
static bool is_broken(struct parser *parser, struct token token)
{
    struct span span = {parser->source, token.offset, token.length};
    if (token.fault == FAULT_UNTERMINATED) {
        bool is_comment = token.kind == TOKEN_STRAY;
        parser->is_after_stray |= is_comment;
        parser->has_errors = true;
        diag_report(parser->sink, is_comment ? DIAG_UNTERMINATED_COMMENT : DIAG_UNTERMINATED_STRING,
                    span, "this %s has no end", is_comment ? "comment" : "text");
        return is_comment;
    }
    if (token.kind != TOKEN_STRAY)
        return false;
    parser->has_errors = true;
    if (parser_tell_item(parser, DIAG_STRAY_CHARACTER))
        return true;
    if (parser_tell_token(parser, DIAG_STRAY_CHARACTER, token))
        return true;
    parser->is_after_stray = true;
    report_stray(parser, span);
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
        } else if (!is_broken(parser, token)) {
            parser->token = token;
            return;
        } else if (parser->item.is_told && !parser->item.is_passed) {
            parser->item.is_passed = true;
            parser->token = token; /* Nothing is read on before the item has ended. */
            return;
        }
    }
}

struct span parser_span(const struct parser *parser)
{
    return (struct span){parser->source, parser->token.offset, parser->token.length};
}

struct span parser_span_before(const struct parser *parser)
{
    return (struct span){parser->source, parser->previous.offset, parser->previous.length};
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
