/* parser_item.c - the items of a block: where one starts and ends, and the way on behind a broken
 * one. */
#include <string.h>

#include "parser_base.h"

/* A ';' is surely missing only where an item follows that stands on its own. */
static void lacks_judge(struct parser *parser, bool is_whole)
{
    if (!is_whole && parser->lacks_before != NULL)
        parser->lacks_before->applicability = FIX_MAYBE_INCORRECT;
    parser->lacks_before = parser->lacks_now;
    parser->lacks_now = NULL;
}

void parser_item_start(struct parser *parser, enum habit_place place)
{
    parser->item = (struct parser_item){place, parser->lexer, parser->token, false, false, {0}};
}

bool parser_item_next(struct parser *parser, enum habit_place place)
{
    if (parser_at(parser, TOKEN_RIGHT_BRACE) || parser_at(parser, TOKEN_END) ||
        parser_at_declaration(parser) || (place != HABIT_FIELD && parser_at_short_job(parser)))
        return false;
    parser_item_start(parser, place);
    return true;
}

static bool is_behind(struct parser *parser, const struct parser_item *item)
{
    const struct span *span = &item->habit.span;
    struct span last = {span->source, span->offset + span->length - 1, 1};
    bool is_end = strchr(";,", last.source->text[last.offset]) != NULL &&
                  (span->length > 1 || item->place == HABIT_ENUM);
    if (parser_accept(parser, TOKEN_SEMICOLON) || parser_accept(parser, TOKEN_COMMA) || is_end)
        return true;
    return parser->token.offset > last.offset && !parser_at(parser, TOKEN_LEFT_BRACE) &&
           span_line(parser_span(parser)) > span_line(last);
}

/* A habit was all that was wrong: what follows it is the next item. */
static bool is_behind_habit(struct parser *parser)
{
    struct parser_item item = parser->item;
    if (!item.is_told)
        return false;
    parser->item = (struct parser_item){0}; /* Behind the end nothing is excused any more. */
    if (is_behind(parser, &item))
        return true;
    parser->item = item;
    return false;
}

/* What stands behind a block that was skipped: a name, as in C, and the end. */
static void skip_behind_block(struct parser *parser)
{
    if (parser->previous.kind != TOKEN_RIGHT_BRACE)
        return;
    if (parser->item.is_told && parser_at(parser, TOKEN_WORD) &&
        parser_kind_ahead(parser, 1) == TOKEN_SEMICOLON)
        parser_advance(parser);
    if (!parser_accept(parser, TOKEN_SEMICOLON) && parser->item.is_told)
        parser_accept(parser, TOKEN_COMMA);
}

bool parser_item_end(struct parser *parser, bool is_whole)
{
    lacks_judge(parser, is_whole);
    if (parser_at(parser, TOKEN_STRAY))
        parser_advance(parser);
    bool is_read_on = !is_whole && is_behind_habit(parser);
    parser->is_item_broken = !is_whole && !is_read_on;
    if (parser->is_item_broken)
        parser_recover(parser);
    if (!is_whole)
        skip_behind_block(parser);
    parser->item = (struct parser_item){0};
    return is_whole;
}

void parser_recover(struct parser *parser)
{
    unsigned depth = 0;
    while (!parser_at(parser, TOKEN_END) && !parser_at_declaration(parser)) {
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
