/* parser_expect.c - what has to stand next, and what is said when something else does. */
#include <string.h>

#include "ir.h"
#include "parser_base.h"
#include "suggest.h"

bool parser_tell(struct parser *parser, enum diag_id id)
{
    if (parser->item.is_told)
        return true;
    uint32_t end = 0;
    parser->item.is_passed = true;
    if (parser_tell_item(parser, id))
        end = parser->item.habit.span.offset + parser->item.habit.span.length;
    else if (parser_tell_token(parser, id, parser->token))
        end = (uint32_t)(parser->lexer.cursor - parser->source->text);
    if (parser->token.offset < end) /* It is part of what was told. */
        parser_advance(parser);
    return end > 0;
}

bool parser_is_excused(const struct parser *parser)
{
    return parser->is_after_stray || parser->token.fault == FAULT_UNTERMINATED ||
           parser->previous.fault == FAULT_UNTERMINATED ||
           /* It belongs to the item that was skipped. */
           (parser->is_item_broken && parser_at(parser, TOKEN_RIGHT_BRACE));
}

void parser_report_expected(struct parser *parser, const char *what)
{
    const char *found = token_kind_text(parser->token.kind);
    if (parser_at(parser, TOKEN_WORD) || parser->token.fault == FAULT_NUMBER)
        found = arena_printf(parser->arena, "'%.*s'",
                             parser->token.length > 64 ? 64 : (int)parser->token.length,
                             parser->source->text + parser->token.offset);
    diag_report(parser->sink, DIAG_SYNTAX, parser_span(parser), "expected %s, found %s", what,
                found);
}

bool parser_expected(struct parser *parser, const char *what)
{
    parser->has_errors = true;
    if (!parser_is_excused(parser) && !parser_tell(parser, DIAG_SYNTAX))
        parser_report_expected(parser, what);
    return false;
}

bool parser_expect(struct parser *parser, enum token_kind kind)
{
    return parser_accept(parser, kind) || parser_expected(parser, token_kind_text(kind)) ||
           (parser->item.is_told && parser_accept(parser, kind));
}

bool parser_close(struct parser *parser, struct span open)
{
    if (parser_accept(parser, TOKEN_RIGHT_BRACE))
        return true;
    parser->has_errors = true;
    if (parser_is_excused(parser))
        return false;
    diag_report(parser->sink, DIAG_SYNTAX, open, "this '{' has no '}'");
    diag_note(parser->sink, parser_span(parser), "it is missing before this");
    if (parser_at_declaration(parser))
        diag_help(parser->sink, "declarations stand at the top of the file, not inside each other");
    return false;
}

bool parser_semicolon(struct parser *parser)
{
    struct span end = {parser->source, parser->previous.offset + parser->previous.length, 0};
    if (parser_accept(parser, TOKEN_SEMICOLON))
        return true;
    bool is_missing =
        parser_at(parser, TOKEN_RIGHT_BRACE) || span_line(end) != span_line(parser_span(parser));
    if (!is_missing && !parser_at(parser, TOKEN_COMMA))
        return parser_expected(parser, "';'");
    parser->has_errors = true;
    if (parser->previous.fault == FAULT_UNTERMINATED)
        return true;
    if (parser_tell(parser, DIAG_SYNTAX))
        return false;
    if (parser_at(parser, TOKEN_COMMA)) {
        parser_report_expected(parser, "';'");
        diag_fix(parser->sink, FIX_MACHINE_APPLICABLE, parser_span(parser), ";");
        parser->lacks_now = parser->sink->current;
        parser_advance(parser);
        return true;
    }
    diag_report(parser->sink, DIAG_SYNTAX, end, "expected ';' at the end of this");
    diag_fix(parser->sink, FIX_MACHINE_APPLICABLE, end, ";");
    parser->lacks_now = parser->sink->current;
    return true;
}

/* What a word that starts no item here says about a '}' before it, or NULL. */
static const char *out_of_place(const struct parser *parser, enum diag_id id, const char *word)
{
    bool is_param = ir_kind_find(word) != IR_KIND_COUNT || strcmp(word, "optional") == 0 ||
                    strcmp(word, "reserved") == 0;
    if (id == DIAG_UNKNOWN_SETTING && is_param)
        return "this looks like a param: was its block closed too early?";
    if (id == DIAG_UNKNOWN_DECLARATION && parser_at_item_of_job(parser))
        return "this belongs to a job: was one closed too early?";
    return NULL;
}

/* "jobs job": the two may have changed places. */
static bool is_before_one_of(const struct parser *parser, const char *const *words)
{
    struct parser ahead = *parser;
    ahead.token = lexer_next(&ahead.lexer);
    return parser_at_word_of(&ahead, words);
}

bool parser_unknown(struct parser *parser, enum diag_id id, const char *what,
                    const char *const *words)
{
    struct ast_name name = {.text = "", .span = parser_span(parser)};
    if (!parser_at(parser, TOKEN_WORD) || parser->item.is_told)
        return parser_expected(parser, what);
    name.text = arena_copy(parser->arena, parser->source->text + parser->token.offset,
                           parser->token.length);
    struct suggestion suggestion = suggestion_start(name.text);
    suggestion.is_doubtful = is_before_one_of(parser, words);
    for (; *words != NULL; words++)
        suggestion_offer(&suggestion, *words);
    parser->has_errors = true;
    const char *hint = out_of_place(parser, id, name.text);
    /* Behind a broken item what follows is often where it does not belong. */
    if (parser->is_item_broken && id != DIAG_UNKNOWN_WORD &&
        (hint != NULL || suggestion.best == NULL))
        return false;
    if (parser_tell(parser, id))
        return false;
    diag_report(parser->sink, id, name.span, "'%.64s' is not %s", name.text, what);
    if (hint != NULL)
        diag_help(parser->sink, "%s", hint);
    else
        diag_suggest(parser->sink, name.span, &suggestion);
    return false;
}
