/* parser_habit.c - tells what people write who come from other languages, where an error was found.
 */
#include "parser_base.h"

static void report_habit(struct parser *parser, enum diag_id id, const struct habit *habit)
{
    parser->has_errors = true;
    diag_report(parser->sink, id, habit->span, "%s", habit->why);
    if (habit->instead == NULL)
        return;
    if (*habit->instead == '\0')
        diag_help(parser->sink, "leave it out");
    else
        diag_help(parser->sink, "write '%s'", habit->instead);
    diag_fix(parser->sink, habit->is_certain ? FIX_MACHINE_APPLICABLE : FIX_MAYBE_INCORRECT,
             habit->span, "%s", habit->instead);
}

void parser_skip_to(struct parser *parser, uint32_t end)
{
    const char *cursor = parser->source->text + end;
    if (cursor > parser->lexer.cursor)
        parser->lexer.cursor = cursor;
}

bool parser_tell_item(struct parser *parser, enum diag_id id)
{
    struct parser_item *item = &parser->item;
    if (item->is_told)
        return true;
    uint32_t reach = parser->previous.offset + parser->previous.length;
    if (parser->sink->is_full || !habit_find(parser->arena, parser->source, item->place,
                                             item->lexer, item->token, reach, &item->habit))
        return false;
    item->is_told = true;
    report_habit(parser, id, &item->habit);
    parser_skip_to(parser, item->habit.span.offset + item->habit.span.length);
    return true;
}

bool parser_tell_token(struct parser *parser, enum diag_id id, struct token token)
{
    struct habit habit;
    struct lexer lexer = parser->lexer;
    lexer.cursor = parser->source->text + token.offset + token.length;
    if (parser->sink->is_full ||
        !habit_find(parser->arena, parser->source, HABIT_ANYWHERE, lexer, token, 0, &habit))
        return false;
    report_habit(parser, id, &habit);
    parser_skip_to(parser, habit.span.offset + habit.span.length);
    return true;
}
