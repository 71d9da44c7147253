#include "parser.h"

#include <string.h>

#include "parser_base.h"
#include "plain.h"

static const char *doc_take(struct parser *parser)
{
    return parser->doc.len == 0 ? NULL
                                : arena_copy(parser->arena, parser->doc.data, parser->doc.len);
}

static bool parse_attr(struct parser *parser, struct ast_attr **ret_attr)
{
    struct ast_attr *attr = arena_alloc(parser->arena, sizeof(*attr));
    if (!parser_name(parser, &attr->name))
        return false;
    if (!parser_accept(parser, TOKEN_LEFT_PAREN)) {
        *ret_attr = attr;
        return true;
    }
    struct literal **end = &attr->args;
    do {
        struct literal *literal = arena_alloc(parser->arena, sizeof(*literal));
        if (!parser_literal(parser, literal))
            return false;
        *end = literal;
        end = &literal->next;
    } while (parser_accept(parser, TOKEN_COMMA));
    if (!parser_expect(parser, TOKEN_RIGHT_PAREN))
        return false;
    *ret_attr = attr;
    return true;
}

static bool parse_attrs(struct parser *parser, struct ast_attr **ret_attrs)
{
    struct parser_item around = parser->item;
    struct ast_attr **end = ret_attrs;
    while (*end != NULL)
        end = &(*end)->next;
    if (!parser_accept(parser, TOKEN_LEFT_ATTRS))
        return true;
    do {
        parser_item_start(parser, HABIT_ATTR);
        if (parse_attr(parser, end) && !parser_at(parser, TOKEN_COMMA) &&
            !parser_at(parser, TOKEN_RIGHT_ATTRS))
            parser_expected(parser, token_kind_text(TOKEN_RIGHT_ATTRS));
        if (parser->item.is_told)
            *end = NULL;
        else if (*end == NULL)
            return false;
        if (*end != NULL)
            end = &(*end)->next;
    } while (parser_accept(parser, TOKEN_COMMA));
    bool is_whole = parser_expect(parser, TOKEN_RIGHT_ATTRS);
    parser->item = around;
    return is_whole;
}

static bool is_reserved_item(const struct parser *parser)
{
    return parser_at(parser, TOKEN_STRING) || parser_at(parser, TOKEN_INT) ||
           parser_at(parser, TOKEN_MINUS);
}

/* "reserved" is already consumed. A comma may also belong to the enum around. `*end` is where the
 * list ends, which several of these in one block share. */
static bool parse_reserved(struct parser *parser, struct literal ***end)
{
    struct literal **added = *end;
    if (!is_reserved_item(parser))
        return parser_expected(parser, "a name in quotes or a number");
    while (is_reserved_item(parser)) {
        struct literal *literal = arena_alloc(parser->arena, sizeof(*literal));
        **end = literal;
        *end = &literal->next;
        if (!parser_literal(parser, literal))
            return false;
        if (!parser_accept(parser, TOKEN_COMMA))
            break;
    }
    if (parser_at_word(parser, "to") && parser_kind_ahead(parser, 1) == TOKEN_INT) {
        *added = NULL; /* A range, as others have it. */
        return parser_expected(parser, "';'");
    }
    parser_accept(parser, TOKEN_SEMICOLON);
    return true;
}

static bool parse_shape(struct parser *parser, struct ast_field *field)
{
    if (!parser_accept(parser, TOKEN_LEFT_BRACKET))
        return true;
    field->shape = SHAPE_LIST;
    if (parser_accept(parser, TOKEN_RIGHT_BRACKET))
        return true;
    if (!parser_accept(parser, TOKEN_AT_MOST))
        field->shape = SHAPE_ARRAY;
    return parser_literal_of(parser, TOKEN_INT, &field->count) &&
           parser_expect(parser, TOKEN_RIGHT_BRACKET);
}

/* What a habit left of a param: its name is known, so that nobody misses it. */
static void field_from_habit(struct parser *parser, struct ast_field **ret_field)
{
    const struct habit *habit = &parser->item.habit;
    *ret_field = NULL;
    if (habit->name == NULL || habit->type == NULL)
        return;
    struct ast_field *field = arena_alloc(parser->arena, sizeof(*field));
    field->type = (struct ast_name){habit->type, habit->span};
    field->name = (struct ast_name){habit->name, habit->span};
    field->value = (struct literal){.kind = LITERAL_POISON, .span = habit->span};
    *ret_field = field;
}

static bool parse_field(struct parser *parser, struct ast_field **ret_field)
{
    struct ast_field *field = arena_alloc(parser->arena, sizeof(*field));
    field->doc = doc_take(parser);
    parser_doc_behind(parser, NULL);
    if (parser_at_word(parser, "optional")) {
        field->optional = parser_span(parser);
        parser_advance(parser);
    }
    if (!parser_reference(parser, &field->type) || !parser_name(parser, &field->name))
        return false;
    *ret_field = field; /* From here on its name is known, whatever else is wrong. */
    parser_doc_behind(parser, &field->doc);
    if (!parse_shape(parser, field) || !parse_attrs(parser, &field->attrs))
        return false;
    if (parser_accept(parser, TOKEN_EQUALS) && !parser_literal(parser, &field->value))
        return false;
    return parser_semicolon(parser);
}

/* `is_in_job`: settings may stand behind the block. */
static bool parse_fields(struct parser *parser, struct ast_fields *fields, bool is_in_job)
{
    fields->span = parser_span(parser);
    if (!parser_expect(parser, TOKEN_LEFT_BRACE))
        return false;
    struct ast_field **end = &fields->first;
    struct literal **reserved = &fields->reserved;
    while (!(is_in_job && parser_at_setting(parser)) && parser_item_next(parser, HABIT_FIELD)) {
        bool is_whole = parser_accept_word(parser, "reserved") ? parse_reserved(parser, &reserved)
                                                               : parse_field(parser, end);
        if (parser->item.is_told)
            field_from_habit(parser, end);
        if (*end != NULL)
            end = &(*end)->next;
        parser_item_end(parser, is_whole);
    }
    parser_doc_behind(parser, NULL);
    return parser_close(parser, fields->span);
}

/* The '{' of a declaration, which may have been found behind a name that is written otherwise. */
static bool parse_open(struct parser *parser, struct ast_decl *decl)
{
    if (!parser_expect(parser, TOKEN_LEFT_BRACE))
        return false;
    if (parser->item.is_told && parser->item.habit.name != NULL)
        decl->name.text = parser->item.habit.name;
    return true;
}

static bool parse_enum_value(struct parser *parser, struct ast_enum_value **ret_value)
{
    struct ast_enum_value *value = arena_alloc(parser->arena, sizeof(*value));
    value->doc = doc_take(parser);
    parser_doc_behind(parser, &value->doc);
    if (!parser_name(parser, &value->name))
        return false;
    *ret_value = value;
    if (parser_accept(parser, TOKEN_EQUALS) && !parser_literal(parser, &value->number))
        return false;
    if (!parse_attrs(parser, &value->attrs))
        return false;
    if (parser_accept(parser, TOKEN_COMMA) || parser_at(parser, TOKEN_WORD) ||
        parser_at(parser, TOKEN_SEMICOLON) || parser_at(parser, TOKEN_RIGHT_BRACE) ||
        parser_at(parser, TOKEN_END))
        return true;
    return parser_expected(parser, "',' or '}'");
}

static bool parse_enum(struct parser *parser, struct ast_decl *decl)
{
    if (!parse_attrs(parser, &decl->attrs))
        return false;
    if (parser_accept(parser, TOKEN_COLON) && !parser_path(parser, &decl->base))
        return false;
    struct span open = parser_span(parser);
    if (!parse_open(parser, decl))
        return false;
    struct ast_enum_value **end = &decl->values;
    struct literal **reserved = &decl->reserved;
    while (parser_item_next(parser, HABIT_ENUM)) {
        bool is_whole = parser_accept_word(parser, "reserved") ? parse_reserved(parser, &reserved)
                                                               : parse_enum_value(parser, end);
        if (parser->item.is_told)
            *end = NULL;
        if (*end != NULL)
            end = &(*end)->next;
        parser_item_end(parser, is_whole);
    }
    parser_doc_behind(parser, NULL);
    return parser_close(parser, open);
}

/* The name of a function. What starts the next declaration is none. */
static bool parse_function(struct parser *parser, const char *what, struct ast_name *ret_name)
{
    if (parser_at_declaration(parser) || parser_at_short_job(parser) ||
        !parser_at(parser, TOKEN_WORD))
        return parser_expected(parser, what);
    return parser_name(parser, ret_name);
}

/* [attributes] = string with "money.h" money_parse money_format; */
static bool parse_type(struct parser *parser, struct ast_decl *decl)
{
    if (!parse_attrs(parser, &decl->attrs) || !parser_expect(parser, TOKEN_EQUALS) ||
        !parser_path(parser, &decl->base))
        return false;
    if (!parser_accept_word(parser, "with"))
        return parser_expected(parser, "'with' and a header");
    parser->item.place = HABIT_ANYWHERE; /* From here on it is ours, and no other language's. */
    if (!parser_at(parser, TOKEN_STRING))
        return parser_expected(parser, "its header in quotes");
    return parser_literal_of(parser, TOKEN_STRING, &decl->header) &&
           parse_function(parser, "the name of the function that reads its text", &decl->parse) &&
           parse_function(parser, "the name of the function that writes its text", &decl->format) &&
           parser_semicolon(parser);
}

static bool parse_params(struct parser *parser, struct ast_fields *fields)
{
    struct span span = parser_span(parser);
    struct ast_fields again = {0};
    bool is_twice = fields->span.source != NULL;
    parser_advance(parser);
    bool is_whole = parse_fields(parser, is_twice ? &again : fields, true);
    if (is_twice) {
        diag_report(parser->sink, DIAG_DUPLICATE_SETTING, span, "a job has one block of these");
        diag_note(parser->sink, fields->span, "the first one is here");
    }
    parser_accept(parser, TOKEN_SEMICOLON);
    return is_whole;
}

/* The '{' stands before the token. */
static bool parse_settings(struct parser *parser, struct ast_decl *decl)
{
    struct span open = parser_span_before(parser);
    struct ast_setting **end = &decl->settings;
    while (parser_item_next(parser, HABIT_JOB)) {
        bool is_whole;
        parser_doc_behind(parser, NULL);
        if (decl->kind == DECL_JOB && parser_at_word(parser, "params"))
            is_whole = parse_params(parser, &decl->fields);
        else if (decl->kind == DECL_JOB && parser_at_word(parser, "returns"))
            is_whole = parse_params(parser, &decl->returns);
        else if (decl->kind == DECL_JOB && parser_at_word(parser, "metadata"))
            is_whole = parse_params(parser, &decl->metadata);
        else
            is_whole = parse_setting(parser, decl->kind == DECL_JOB, end);
        if (*end != NULL)
            end = &(*end)->next;
        parser_item_end(parser, is_whole);
    }
    return parser_close(parser, open);
}

static bool parse_job(struct parser *parser, struct ast_decl *decl)
{
    if (!parse_attrs(parser, &decl->attrs))
        return false;
    if (parser_accept(parser, TOKEN_SEMICOLON))
        return true;
    return parse_open(parser, decl) && parse_settings(parser, decl);
}

static bool parse_step(struct parser *parser, struct ast_names **ret_step)
{
    struct ast_names *step = arena_alloc(parser->arena, sizeof(*step));
    if (!parser_reference(parser, &step->name))
        return false;
    *ret_step = step;
    return parser_semicolon(parser);
}

static bool parse_chain(struct parser *parser, struct ast_decl *decl)
{
    struct span open = parser_span(parser);
    struct ast_names **end = &decl->steps;
    if (!parse_open(parser, decl))
        return false;
    while (parser_item_next(parser, HABIT_NOWHERE)) {
        parser_doc_behind(parser, NULL);
        bool is_whole = parse_step(parser, end);
        if (*end != NULL)
            end = &(*end)->next;
        parser_item_end(parser, is_whole);
    }
    parser_doc_behind(parser, NULL);
    return parser_close(parser, open);
}

static bool parse_body(struct parser *parser, struct ast_decl *decl)
{
    switch (decl->kind) {
    case DECL_ENUM:
        return parse_enum(parser, decl);
    case DECL_STRUCT:
        return parse_attrs(parser, &decl->attrs) && parse_fields(parser, &decl->fields, false);
    case DECL_TYPE:
        return parse_type(parser, decl);
    case DECL_POLICY:
        return parse_policy(parser, &decl->policy);
    case DECL_JOB:
        return parse_job(parser, decl);
    case DECL_CHAIN:
        return parse_chain(parser, decl);
    case DECL_DEFAULTS:
        break;
    }
    return parse_open(parser, decl) && parse_settings(parser, decl);
}

static bool decl_kind_at(const struct parser *parser, enum ast_decl_kind *ret_kind)
{
    for (int kind = DECL_ENUM; kind <= DECL_DEFAULTS; kind++) {
        if (parser_at_word(parser, ast_decl_word((enum ast_decl_kind)kind))) {
            *ret_kind = (enum ast_decl_kind)kind;
            return true;
        }
    }
    return false;
}

static bool parse_decl(struct parser *parser, struct ast_decl **ret_decl)
{
    static const char *const words[] = {"enum", "struct", "type",     "retry_policy",
                                        "job",  "chain",  "defaults", NULL};
    enum ast_decl_kind kind;
    parser_doc_behind(parser, NULL);
    if (parser_at_word(parser, "package") || parser_at_word(parser, "import"))
        return parser_expected(parser, "declarations here (package and imports come first)");
    if (!decl_kind_at(parser, &kind))
        return parser_unknown(parser, DIAG_UNKNOWN_DECLARATION, "a declaration", words);
    struct ast_decl *decl = arena_alloc(parser->arena, sizeof(*decl));
    decl->kind = kind;
    decl->doc = doc_take(parser);
    decl->name = (struct ast_name){ast_decl_word(kind), parser_span(parser)};
    parser_advance(parser);
    if (kind != DECL_DEFAULTS && !parser_name(parser, &decl->name))
        return false;
    *ret_decl = decl;
    parser_doc_behind(parser, &decl->doc);
    if (!parse_body(parser, decl))
        return false;
    if (parser->previous.kind == TOKEN_RIGHT_BRACE) /* A C programmer's `};` is forgiven. */
        parser_accept(parser, TOKEN_SEMICOLON);
    return true;
}

static void parse_decls(struct parser *parser, struct ast_file *file)
{
    struct ast_decl **end = &file->decls;
    while (!parser_at(parser, TOKEN_END)) {
        parser_item_start(parser, HABIT_FILE);
        bool is_whole = parse_decl(parser, end);
        if (!is_whole && parser->item.is_told)
            *end = NULL; /* What it is called nobody knows. */
        if (*end != NULL)
            end = &(*end)->next;
        if (!parser_item_end(parser, is_whole))
            parser_accept(parser, TOKEN_RIGHT_BRACE);
    }
}

static void parse_imports(struct parser *parser, struct ast_file *file)
{
    struct ast_import **end = &file->imports;
    while (parser_at_word(parser, "import")) {
        struct ast_import *import = arena_alloc(parser->arena, sizeof(*import));
        struct span start = parser_span(parser);
        parser_item_start(parser, HABIT_FILE);
        parser_advance(parser);
        if (parser_literal_of(parser, TOKEN_STRING, &import->path) && parser_semicolon(parser)) {
            import->span = span_join(start, parser_span_before(parser));
            *end = import;
            end = &import->next;
        } else {
            parser_item_end(parser, false);
        }
    }
}

struct ast_file *parse_file(struct diag_sink *sink, const struct source *source)
{
    struct parser parser = {.sink = sink, .arena = sink->arena, .source = source};
    struct ast_file *file = arena_alloc(sink->arena, sizeof(*file));
    parser.has_errors = !plain_check_utf8(sink, source);
    if (!parser.has_errors) {
        parser.has_errors = !plain_check(sink, source);
        lexer_init(&parser.lexer, source);
        parser_advance(&parser);
        parser_item_start(&parser, HABIT_FILE);
        if (parser_accept_word(&parser, "package") &&
            !(parser_path(&parser, &file->package) && parser_semicolon(&parser)))
            parser_item_end(&parser, false);
        parse_imports(&parser, file);
        parse_decls(&parser, file);
    }
    parser_doc_behind(&parser, NULL);
    buf_release(&parser.doc);
    buf_release(&parser.behind);
    file->has_errors = parser.has_errors;
    return file;
}
