/* parser_ahead.c - what starts at the next token, by a look at those behind it. */
#include "parser_base.h"

enum token_kind parser_kind_ahead(const struct parser *parser, unsigned ahead)
{
    struct lexer lexer = parser->lexer;
    struct token token = parser->token;
    while (ahead > 0 && token.kind != TOKEN_END) {
        token = lexer_next(&lexer);
        ahead -=
            token.kind != TOKEN_DOC && token.kind != TOKEN_DOC_AFTER && token.kind != TOKEN_STRAY;
    }
    return token.kind;
}

bool parser_at_word_of(const struct parser *parser, const char *const *words)
{
    while (*words != NULL && !parser_at_word(parser, *words))
        words++;
    return *words != NULL;
}

/* "type NAME = BASE with": with less it may be a param with a default. */
static bool parser_at_type(const struct parser *parser)
{
    return parser_at_word(parser, "type") && parser_kind_ahead(parser, 1) == TOKEN_WORD &&
           parser_kind_ahead(parser, 2) == TOKEN_EQUALS &&
           parser_kind_ahead(parser, 3) == TOKEN_WORD && parser_kind_ahead(parser, 4) == TOKEN_WORD;
}

bool parser_at_declaration(const struct parser *parser)
{
    static const char *const words[] = {"enum", "struct", "retry_policy", "job", "chain", NULL};
    if (parser_at_word(parser, "defaults"))
        return parser_kind_ahead(parser, 1) == TOKEN_LEFT_BRACE;
    if (parser_at_type(parser))
        return true;
    if (!parser_at_word_of(parser, words) || parser_kind_ahead(parser, 1) != TOKEN_WORD)
        return false;
    enum token_kind kind = parser_kind_ahead(parser, 2);
    return kind == TOKEN_LEFT_BRACE || kind == TOKEN_COLON;
}

bool parser_at_item_of_job(const struct parser *parser)
{
    return parser_at_word_of(parser, job_words);
}

bool parser_at_setting(const struct parser *parser)
{
    if (!parser_at_item_of_job(parser))
        return false;
    enum token_kind kind = parser_kind_ahead(parser, 1);
    if (kind != TOKEN_WORD)
        return kind != TOKEN_DOT;
    kind = parser_kind_ahead(parser, 2);
    return kind != TOKEN_SEMICOLON && kind != TOKEN_LEFT_BRACKET && kind != TOKEN_LEFT_ATTRS &&
           kind != TOKEN_EQUALS;
}

bool parser_at_short_job(const struct parser *parser)
{
    return parser_at_word(parser, "job") && parser_kind_ahead(parser, 1) == TOKEN_WORD &&
           parser_kind_ahead(parser, 2) == TOKEN_SEMICOLON;
}
