#include "context.h"

#include <string.h>

#include "lexer.h"

static size_t token_end(struct token token)
{
    return (size_t)token.offset + token.length;
}

bool context_is(const struct context *context, struct token token, const char *word)
{
    return token.kind == TOKEN_WORD && token.length == strlen(word) &&
           memcmp(context->source->text + token.offset, word, token.length) == 0;
}

static enum block block_of(const struct context *context)
{
    return context->depth < CONTEXT_BLOCKS ? context->blocks[context->depth] : BLOCK_UNKNOWN;
}

static void statement_clear(struct context *context)
{
    context->count = 0;
    context->previous = context->before_paren = (struct token){0};
    context->is_in_attrs = context->is_in_args = false;
}

static bool starts_with(const struct context *context, const char *word)
{
    return context->count > 0 && context_is(context, context->tokens[0], word);
}

/* The block that the statement before a `{` opens. */
static enum block block_opened(const struct context *context)
{
    static const struct {
        enum block outer;
        const char *word;
        enum block block;
    } rules[] = {
        {BLOCK_FILE, "job", BLOCK_JOB},
        {BLOCK_FILE, "defaults", BLOCK_DEFAULTS},
        {BLOCK_FILE, "struct", BLOCK_STRUCT},
        {BLOCK_FILE, "enum", BLOCK_ENUM},
        {BLOCK_FILE, "retry_policy", BLOCK_POLICY},
        {BLOCK_FILE, "chain", BLOCK_CHAIN},
        {BLOCK_JOB, "params", BLOCK_PARAMS},
        {BLOCK_JOB, "returns", BLOCK_RETURNS},
        {BLOCK_JOB, "metadata", BLOCK_RETURNS},
        {BLOCK_JOB, "retry", BLOCK_POLICY},
        {BLOCK_DEFAULTS, "retry", BLOCK_POLICY},
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (rules[i].outer == block_of(context) && starts_with(context, rules[i].word))
            return rules[i].block;
    }
    return BLOCK_UNKNOWN;
}

static void block_open(struct context *context)
{
    enum block block = block_opened(context);
    if (context->depth == 0)
        context->decl = context->count > 1 ? context->tokens[1] : (struct token){0};
    context->depth++;
    if (context->depth < CONTEXT_BLOCKS)
        context->blocks[context->depth] = block;
    statement_clear(context);
}

static void block_close(struct context *context)
{
    context->depth -= context->depth > 0;
    if (context->depth == 0)
        context->decl = (struct token){0};
    statement_clear(context);
}

/* A declaration's word at the start of a line: the blocks before it lack a `}`. */
static bool is_new_start(const struct context *context, struct token token)
{
    static const char *const starts[] = {"job",          "struct", "enum",
                                         "retry_policy", "chain",  "defaults"};
    if (context->depth == 0 ||
        (token.offset > 0 && context->source->text[token.offset - 1] != '\n'))
        return false;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        if (context_is(context, token, starts[i]))
            return true;
    }
    return false;
}

static void statement_add(struct context *context, struct token token)
{
    if (token.kind == TOKEN_LEFT_PAREN)
        context->before_paren = context->previous;
    if (token.kind == TOKEN_RIGHT_PAREN)
        context->before_paren = (struct token){0};
    if (context->count < CONTEXT_TOKENS)
        context->tokens[context->count] = token;
    context->count++;
    context->previous = token;
}

static bool ends_statement(const struct context *context, enum token_kind kind)
{
    return kind == TOKEN_SEMICOLON || (kind == TOKEN_COMMA && block_of(context) == BLOCK_ENUM);
}

/* Inside of [[ ]]. */
static void attrs_feed(struct context *context, enum token_kind kind)
{
    if (kind == TOKEN_LEFT_PAREN || kind == TOKEN_RIGHT_PAREN)
        context->is_in_args = kind == TOKEN_LEFT_PAREN;
    if (kind == TOKEN_RIGHT_ATTRS)
        context->is_in_attrs = context->is_in_args = false;
}

static void feed(struct context *context, struct token token)
{
    enum token_kind kind = token.kind;
    bool is_hard = kind == TOKEN_SEMICOLON || kind == TOKEN_LEFT_BRACE || kind == TOKEN_RIGHT_BRACE;
    if (kind == TOKEN_DOC || kind == TOKEN_DOC_AFTER || kind == TOKEN_STRAY)
        return;
    if (is_new_start(context, token)) {
        context->depth = 0;
        block_close(context);
    }
    if (context->is_in_attrs && !is_hard)
        attrs_feed(context, kind);
    else if (kind == TOKEN_LEFT_ATTRS)
        context->is_in_attrs = true;
    else if (kind == TOKEN_LEFT_BRACE)
        block_open(context);
    else if (kind == TOKEN_RIGHT_BRACE)
        block_close(context);
    else if (ends_statement(context, kind))
        statement_clear(context);
    else
        statement_add(context, token);
}

/* Whether `offset` lies in a comment that begins in the gap between two tokens. */
static bool is_comment(const struct source *source, size_t from, size_t offset)
{
    const char *text = source->text;
    while (from + 1 < offset) {
        bool is_line = text[from] == '/' && text[from + 1] == '/';
        const char *stop = is_line ? "\n" : "*/";
        if (!is_line && (text[from] != '/' || text[from + 1] != '*')) {
            from++;
            continue;
        }
        const char *end = memmem(text + from + 2, source->size - from - 2, stop, strlen(stop));
        if (end == NULL || (size_t)(end - text) + strlen(stop) > offset)
            return true;
        from = (size_t)(end - text) + strlen(stop);
    }
    return false;
}

/* A word or an unfinished text goes on where it ends: that is where people type. */
static bool is_touched(struct token token, size_t offset)
{
    return token_end(token) > offset ||
           (token_end(token) == offset &&
            (token.kind == TOKEN_WORD || token.kind == TOKEN_DOC || token.kind == TOKEN_DOC_AFTER ||
             token.fault == FAULT_UNTERMINATED));
}

struct context context_at(const struct source *source, size_t offset)
{
    struct context context = {.source = source, .offset = offset};
    struct lexer lexer;
    size_t end = 0;
    lexer_init(&lexer, source);
    for (;;) {
        struct token token = lexer_next(&lexer);
        bool is_over = token.kind == TOKEN_END || token.offset > offset;
        if (!is_over && is_touched(token, offset)) {
            context.at = token;
            context.is_in_comment = token.kind == TOKEN_DOC || token.kind == TOKEN_DOC_AFTER;
            is_over = true;
        }
        if (is_over)
            break;
        end = token_end(token);
        feed(&context, token);
        context.is_in_comment = token.kind == TOKEN_STRAY && token.fault == FAULT_UNTERMINATED;
    }
    if (context.at.length == 0)
        context.is_in_comment |= is_comment(source, end, offset);
    else if (is_new_start(&context, context.at))
        feed(&context, context.at), statement_clear(&context);
    return context;
}

static uint64_t attr_places(const struct context *context)
{
    if (context->is_in_args)
        return 0;
    switch (block_of(context)) {
    case BLOCK_PARAMS:
        return PLACE_SET(ON_PARAM);
    case BLOCK_RETURNS:
        return PLACE_SET(ON_FIELD) | PLACE_SET(ON_RESULT);
    case BLOCK_STRUCT:
        return PLACE_SET(ON_FIELD);
    case BLOCK_ENUM:
        return PLACE_SET(ON_VALUE);
    case BLOCK_FILE:
        return starts_with(context, "enum")     ? PLACE_SET(ON_ENUM)
               : starts_with(context, "struct") ? PLACE_SET(ON_STRUCT)
               : starts_with(context, "type")   ? PLACE_SET(ON_STRUCT)
                                                : PLACE_SET(ON_JOB);
    default:
        return 0;
    }
}

/* One word stands behind the '=' of a type. */
static bool is_behind_equals(const struct context *context)
{
    return context->count >= 2 && context->count <= CONTEXT_TOKENS &&
           context->tokens[context->count - 2].kind == TOKEN_EQUALS;
}

static uint64_t file_places(const struct context *context)
{
    if (context->count == 0)
        return PLACE_SET(FILE);
    if (starts_with(context, "import"))
        return context->count == 1 ? PLACE_SET(IMPORT_PATH) : 0;
    if (starts_with(context, "type"))
        return context->previous.kind == TOKEN_EQUALS ? PLACE_SET(WRITTEN)
               : context->previous.kind == TOKEN_WORD && is_behind_equals(context) ? PLACE_SET(WITH)
                                                                                   : 0;
    return context->previous.kind == TOKEN_COLON && starts_with(context, "enum") ? PLACE_SET(BASE)
                                                                                 : 0;
}

static uint64_t field_places(const struct context *context)
{
    bool is_path = context->previous.kind == TOKEN_DOT;
    unsigned first = starts_with(context, "optional");
    if (context->count == 0)
        return PLACE_SET(FIELD) | PLACE_SET(TYPE);
    if (starts_with(context, "reserved"))
        return 0;
    if (context->previous.kind == TOKEN_EQUALS)
        return PLACE_SET(DEFAULT) | PLACE_SET(BOOL);
    return context->count == first || is_path ? PLACE_SET(TYPE) : 0;
}

static uint64_t policy_places(const struct context *context)
{
    if (context->count == 0)
        return PLACE_SET(POLICY);
    if (starts_with(context, "jitter"))
        return context->count == 1 ? PLACE_SET(SPREAD) : 0;
    if (!starts_with(context, "backoff"))
        return 0;
    if (context->count == 1)
        return PLACE_SET(BACKOFF);
    bool is_plain = context_is(context, context->tokens[1], "constant") ||
                    context_is(context, context->tokens[1], "steps");
    return is_plain || context->count == 2 ? 0 : PLACE_SET(GROWTH);
}

static uint64_t unique_places(const struct context *context)
{
    if (context_is(context, context->before_paren, "while"))
        return PLACE_SET(STATE);
    if (context_is(context, context->previous, "on_conflict"))
        return PLACE_SET(CONFLICT);
    return context_is(context, context->previous, "by") ? PLACE_SET(ALL) : PLACE_SET(UNIQUE);
}

/* Behind `head` words of a schedule. */
static uint64_t spread_places(const struct context *context, size_t head)
{
    if (context_is(context, context->previous, "overlap"))
        return PLACE_SET(OVERLAPS);
    if (context->count == head)
        return PLACE_SET(EVERY);
    bool has_jitter =
        context->count == head + 2 && context_is(context, context->tokens[head], "jitter");
    return has_jitter ? PLACE_SET(OVERLAP) : 0;
}

static uint64_t cron_places(const struct context *context)
{
    if (context_is(context, context->previous, "missed"))
        return PLACE_SET(CATCHUP);
    if (context->count == 2)
        return PLACE_SET(ZONE);
    if (context->count == 4)
        return PLACE_SET(MISSED) | PLACE_SET(EVERY);
    bool has_missed = context->count > 4 && context_is(context, context->tokens[4], "missed");
    return spread_places(context, has_missed ? 6 : 4);
}

static uint64_t rate_places(const struct context *context)
{
    if (context->count == 2)
        return PLACE_SET(PER);
    return context->count >= 4 ? PLACE_SET(BY) | PLACE_SET(BURST) : 0;
}

/* Behind the first word of a setting. */
static uint64_t setting_places(const struct context *context)
{
    enum token_kind previous = context->previous.kind;
    if (context_is(context, context->before_paren, "by"))
        return PLACE_SET(PARAM_NAME);
    if (starts_with(context, "retry"))
        return context->count == 1 || previous == TOKEN_DOT ? PLACE_SET(RETRY) : 0;
    if (starts_with(context, "keep"))
        return context->count == 1 || previous == TOKEN_COMMA ? PLACE_SET(KEEP) : 0;
    if (starts_with(context, "unique"))
        return unique_places(context);
    if (starts_with(context, "fair"))
        return context->count == 1 ? PLACE_SET(BY) : 0;
    if (starts_with(context, "concurrency"))
        return context->count == 2 ? PLACE_SET(BY) : 0;
    if (starts_with(context, "rate"))
        return rate_places(context);
    if (starts_with(context, "every"))
        return spread_places(context, 2);
    return starts_with(context, "cron") ? cron_places(context) : 0;
}

uint64_t context_places(const struct context *context)
{
    if (context->is_in_comment)
        return 0;
    if (context->is_in_attrs)
        return attr_places(context);
    switch (block_of(context)) {
    case BLOCK_FILE:
        return file_places(context);
    case BLOCK_JOB:
        return context->count == 0 ? PLACE_SET(JOB) | PLACE_SET(SETTING) : setting_places(context);
    case BLOCK_DEFAULTS:
        return context->count == 0 ? PLACE_SET(SETTING) : setting_places(context);
    case BLOCK_PARAMS:
    case BLOCK_RETURNS:
    case BLOCK_STRUCT:
        return field_places(context);
    case BLOCK_ENUM:
        return context->count == 0 ? PLACE_SET(ENUM) : 0;
    case BLOCK_POLICY:
        return policy_places(context);
    case BLOCK_CHAIN:
        return context->count == 0 || context->previous.kind == TOKEN_DOT ? PLACE_SET(STEP) : 0;
    case BLOCK_UNKNOWN:
        break;
    }
    return 0;
}
