#include "parser_base.h"

#include <string.h>

#include "base/utf8.h"
#include "ir.h"
#include "literal.h"
#include "plain.h"
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

static void skip_to(struct parser *parser, uint32_t end)
{
    const char *cursor = parser->source->text + end;
    if (cursor > parser->lexer.cursor)
        parser->lexer.cursor = cursor;
}

/* Reports what the item is known for, once, and goes on behind it. */
static bool tell_item(struct parser *parser, enum diag_id id)
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
    skip_to(parser, item->habit.span.offset + item->habit.span.length);
    return true;
}

/* The same for what stands where nothing of the kind can: it is passed over like a comment. */
static bool tell_token(struct parser *parser, enum diag_id id, struct token token)
{
    struct habit habit;
    struct lexer lexer = parser->lexer;
    lexer.cursor = parser->source->text + token.offset + token.length;
    if (parser->sink->is_full ||
        !habit_find(parser->arena, parser->source, HABIT_ANYWHERE, lexer, token, 0, &habit))
        return false;
    report_habit(parser, id, &habit);
    skip_to(parser, habit.span.offset + habit.span.length);
    return true;
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
    if (tell_item(parser, DIAG_STRAY_CHARACTER))
        return true;
    if (tell_token(parser, DIAG_STRAY_CHARACTER, token))
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

/* What is known about the item at hand, or else about the token. */
static bool tell(struct parser *parser, enum diag_id id)
{
    if (parser->item.is_told)
        return true;
    uint32_t end = 0;
    parser->item.is_passed = true;
    if (tell_item(parser, id))
        end = parser->item.habit.span.offset + parser->item.habit.span.length;
    else if (tell_token(parser, id, parser->token))
        end = (uint32_t)(parser->lexer.cursor - parser->source->text);
    if (parser->token.offset < end) /* It is part of what was told. */
        parser_advance(parser);
    return end > 0;
}

/* What was reported before is the cause of what is wrong here. */
static bool is_excused(const struct parser *parser)
{
    return parser->is_after_stray || parser->token.fault == FAULT_UNTERMINATED ||
           parser->previous.fault == FAULT_UNTERMINATED ||
           /* It belongs to the item that was skipped. */
           (parser->is_item_broken && parser_at(parser, TOKEN_RIGHT_BRACE));
}

static void report_expected(struct parser *parser, const char *what)
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
    if (!is_excused(parser) && !tell(parser, DIAG_SYNTAX))
        report_expected(parser, what);
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
    if (is_excused(parser))
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
    if (tell(parser, DIAG_SYNTAX))
        return false;
    if (parser_at(parser, TOKEN_COMMA)) {
        report_expected(parser, "';'");
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

static bool at_word_of(const struct parser *parser, const char *const *words)
{
    while (*words != NULL && !parser_at_word(parser, *words))
        words++;
    return *words != NULL;
}

bool parser_at_declaration(const struct parser *parser)
{
    static const char *const words[] = {"enum", "struct", "retry_policy", "job", NULL};
    if (parser_at_word(parser, "defaults"))
        return parser_kind_ahead(parser, 1) == TOKEN_LEFT_BRACE;
    if (!at_word_of(parser, words) || parser_kind_ahead(parser, 1) != TOKEN_WORD)
        return false;
    enum token_kind kind = parser_kind_ahead(parser, 2);
    return kind == TOKEN_LEFT_BRACE || kind == TOKEN_COLON;
}

static bool at_item_of_job(const struct parser *parser)
{
    return at_word_of(parser, job_words);
}

bool parser_at_setting(const struct parser *parser)
{
    if (!at_item_of_job(parser))
        return false;
    enum token_kind kind = parser_kind_ahead(parser, 1);
    if (kind != TOKEN_WORD)
        return kind != TOKEN_DOT;
    kind = parser_kind_ahead(parser, 2);
    return kind != TOKEN_SEMICOLON && kind != TOKEN_LEFT_BRACKET && kind != TOKEN_LEFT_ATTRS &&
           kind != TOKEN_EQUALS;
}

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

/* "job NAME ;" is a declaration too, but where it could be a param. */
static bool at_short_job(const struct parser *parser)
{
    return parser_at_word(parser, "job") && parser_kind_ahead(parser, 1) == TOKEN_WORD &&
           parser_kind_ahead(parser, 2) == TOKEN_SEMICOLON;
}

bool parser_item_next(struct parser *parser, enum habit_place place)
{
    if (parser_at(parser, TOKEN_RIGHT_BRACE) || parser_at(parser, TOKEN_END) ||
        parser_at_declaration(parser) || (place != HABIT_FIELD && at_short_job(parser)))
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
    report_expected(parser, token_kind_text(kind));
    if (parser->sink->current != NULL)
        parser->sink->current->span = habit.span;
    diag_help(parser->sink, "write '%s'", habit.instead);
    diag_fix(parser->sink, habit.is_certain ? FIX_MACHINE_APPLICABLE : FIX_MAYBE_INCORRECT,
             habit.span, "%s", habit.instead);
    skip_to(parser, habit.span.offset + habit.span.length);
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
    if (is_excused(parser))
        return false;
    if (tell(parser, DIAG_SYNTAX)) {
        bool is_there = parser_at(parser, kind);
        if (is_there)
            *ret_literal = literal_take(parser, false);
        return is_there;
    }
    if (foreign_literal(parser, kind, ret_literal))
        return true;
    bool lacks_unit = parser_at(parser, TOKEN_INT) && parser->token.fault == FAULT_NONE;
    report_expected(parser, token_kind_text(kind));
    if (kind == TOKEN_DURATION && is_size_in_m(parser))
        diag_help(parser->sink, "minutes are 'm': write '%.*sm'", (int)parser->token.length - 1,
                  parser->source->text + parser->token.offset);
    else if (units != NULL)
        diag_help(parser->sink, lacks_unit ? "add a unit: %s" : "the units are %s", units);
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

/* What a word that starts no item here says about a '}' before it, or NULL. */
static const char *out_of_place(const struct parser *parser, enum diag_id id, const char *word)
{
    bool is_param = ir_kind_find(word) != IR_KIND_COUNT || strcmp(word, "optional") == 0 ||
                    strcmp(word, "reserved") == 0;
    if (id == DIAG_UNKNOWN_SETTING && is_param)
        return "this looks like a param: was its block closed too early?";
    if (id == DIAG_UNKNOWN_DECLARATION && at_item_of_job(parser))
        return "this belongs to a job: was one closed too early?";
    return NULL;
}

/* "jobs job": the two may have changed places. */
static bool is_before_one_of(const struct parser *parser, const char *const *words)
{
    struct parser ahead = *parser;
    ahead.token = lexer_next(&ahead.lexer);
    return at_word_of(&ahead, words);
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
    if (tell(parser, id))
        return false;
    diag_report(parser->sink, id, name.span, "'%.64s' is not %s", name.text, what);
    if (hint != NULL)
        diag_help(parser->sink, "%s", hint);
    else
        diag_suggest(parser->sink, name.span, &suggestion);
    return false;
}
