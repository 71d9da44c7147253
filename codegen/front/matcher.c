#include "matcher.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "buf.h"
#include "ir.h"
#include "quantity.h"
#include "suggest.h"

const char *matcher_text(const struct matcher *matcher, size_t at)
{
    return matcher->source->text + matcher->tokens[at].offset;
}

const char *matcher_copy(const struct matcher *matcher, size_t from, size_t to)
{
    const char *text = matcher_text(matcher, from);
    const struct token *last = &matcher->tokens[to - 1];
    size_t len = last->offset + last->length - matcher->tokens[from].offset;
    return arena_copy(matcher->arena, text, len > TEXT_MAX ? TEXT_MAX : len);
}

bool matcher_at(const struct matcher *matcher, size_t at, enum token_kind kind)
{
    return at < matcher->count && matcher->tokens[at].kind == kind;
}

static bool is_word_of(const char *const *words, const char *word)
{
    while (*words != NULL && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

/* The classes: a capital letter in a pattern. Each moves *at behind what it takes, and leaves
 * its text under its letter. */

static bool take_word(struct matcher *matcher, size_t *at, char letter)
{
    if (!matcher_at(matcher, *at, TOKEN_WORD))
        return false;
    matcher->texts[(unsigned char)letter] = matcher_copy(matcher, *at, *at + 1);
    (*at)++;
    return true;
}

static bool take_name(struct matcher *matcher, size_t *at)
{
    return take_word(matcher, at, 'N') && ir_kind_find(matcher->texts['N']) == IR_KIND_COUNT;
}

/* A word with hyphens: underscores here. */
static bool take_hyphens(struct matcher *matcher, size_t *at)
{
    size_t from = *at;
    while (matcher_at(matcher, *at, TOKEN_WORD) && matcher_at(matcher, *at + 1, TOKEN_MINUS) &&
           matcher_at(matcher, *at + 2, TOKEN_WORD))
        *at += 2;
    if (*at == from)
        return false;
    matcher->texts['U'] = matcher_copy(matcher, from, ++*at);
    char *text = arena_printf(matcher->arena, "%s", matcher->texts['U']);
    matcher->texts['H'] = text;
    for (; *text != '\0'; text++)
        *text = *text == '-' ? '_' : *text;
    return true;
}

/* A path with dots, colons or slashes. */
bool matcher_take_path(struct matcher *matcher, size_t *at, char letter)
{
    struct buf path = {0};
    bool is_whole = take_word(matcher, at, letter);
    while (is_whole) {
        size_t dot = *at;
        buf_text(&path, matcher->texts[(unsigned char)letter]);
        if (matcher_at(matcher, dot, TOKEN_DOT))
            dot++;
        else if (matcher_at(matcher, dot, TOKEN_COLON) && matcher_at(matcher, dot + 1, TOKEN_COLON))
            dot += 2;
        if (dot == *at || !matcher_at(matcher, dot, TOKEN_WORD))
            break;
        *at = dot;
        take_word(matcher, at, letter);
        buf_char(&path, '.');
    }
    matcher->texts[(unsigned char)letter] = arena_copy(matcher->arena, path.data, path.len);
    buf_release(&path);
    return is_whole;
}

static bool take_kind(struct matcher *matcher, size_t *at, enum token_kind kind, char letter)
{
    if (!matcher_at(matcher, *at, kind) || matcher->tokens[*at].fault != FAULT_NONE)
        return false;
    matcher->texts[(unsigned char)letter] = matcher_copy(matcher, *at, *at + 1);
    (*at)++;
    return true;
}

/* A text in quotes of either kind: what stands between them goes to 'Q', with ours to `letter`. */
static bool take_string(struct matcher *matcher, size_t *at, char letter)
{
    if (!take_kind(matcher, at, TOKEN_STRING, letter) &&
        !take_kind(matcher, at, TOKEN_CHAR, letter))
        return false;
    const char *text = matcher->texts[(unsigned char)letter];
    size_t len = strlen(text);
    char *inside = arena_copy(matcher->arena, text + 1, len < 2 ? 0 : len - 2);
    if (letter == 'S')
        matcher->texts['Q'] = inside;
    matcher->texts[(unsigned char)letter] = arena_printf(matcher->arena, "\"%s\"", inside);
    return *text == '"' || strchr(inside, '"') == NULL;
}

/* A unit alone may have lost its number. */
static bool is_number_start(const char *text)
{
    return isdigit((unsigned char)*text) || *text == '"' || *text == '\'';
}

/* The longest run of tokens that is one, among the next few. */
static bool take_quantity(struct matcher *matcher, size_t *at, char letter,
                          const char *(*read)(struct arena *arena, const char *text))
{
    matcher->is_guess |= !is_number_start(matcher_text(matcher, *at));
    if (take_string(matcher, at, 'S')) {
        matcher->texts[(unsigned char)letter] = read(matcher->arena, matcher->texts['Q']);
        return matcher->texts[(unsigned char)letter] != NULL;
    }
    for (size_t end = *at + 4; end > *at; end--) {
        const char *ours =
            end > matcher->count ? NULL : read(matcher->arena, matcher_copy(matcher, *at, end));
        if (ours == NULL)
            continue;
        for (size_t part = *at + 1; part < end; part++) /* Was there a word between them? */
            matcher->is_guess |= is_number_start(matcher_text(matcher, part));
        matcher->texts[(unsigned char)letter] = ours;
        *at = end;
        return true;
    }
    return false;
}

static bool take_long_duration(struct matcher *matcher, size_t *at)
{
    size_t from = *at;
    return take_quantity(matcher, at, 'W', quantity_duration) && *at > from + 1;
}

static bool take_value(struct matcher *matcher, size_t *at)
{
    static const char *const words[] = {"true", "True", "TRUE", "false", "False", "FALSE", NULL};
    size_t from = *at;
    if (take_string(matcher, at, 'V'))
        return true;
    *at = from;
    *at += matcher_at(matcher, *at, TOKEN_MINUS);
    if (*at >= matcher->count || matcher->tokens[*at].kind < TOKEN_WORD ||
        matcher->tokens[*at].kind > TOKEN_CHAR || matcher->tokens[*at].fault != FAULT_NONE)
        return false;
    char *text = arena_printf(matcher->arena, "%s", matcher_copy(matcher, from, ++*at));
    matcher->texts['V'] = text;
    for (; is_word_of(words, matcher->texts['V']) && *text != '\0'; text++)
        *text = (char)tolower((unsigned char)*text);
    return true;
}

/* Up to the end of the line; with `is_item` no further than the item. */
static bool take_rest(struct matcher *matcher, size_t *at, bool is_item)
{
    size_t from = *at;
    while (*at < matcher->count && !(is_item && (matcher_at(matcher, *at, TOKEN_SEMICOLON) ||
                                                 matcher_at(matcher, *at, TOKEN_LEFT_BRACE) ||
                                                 matcher_at(matcher, *at, TOKEN_RIGHT_BRACE))))
        (*at)++;
    matcher->texts['R'] = *at == from ? "" : matcher_copy(matcher, from, *at);
    matcher->is_whole_line = !is_item;
    return true;
}

/* Names with commas between them. */
static bool take_list(struct matcher *matcher, size_t *at)
{
    size_t from = *at;
    while (matcher_at(matcher, *at, TOKEN_WORD) && matcher_at(matcher, *at + 1, TOKEN_COMMA) &&
           matcher_at(matcher, *at + 2, TOKEN_WORD))
        *at += 2;
    if (!take_word(matcher, at, 'L'))
        return false;
    matcher->texts['L'] = matcher_copy(matcher, from, *at);
    return true;
}

/* A whole number, the one before it, and as many seconds. */
static bool take_int(struct matcher *matcher, size_t *at)
{
    if (!take_kind(matcher, at, TOKEN_INT, 'I'))
        return false;
    struct wide value;
    char text[WIDE_TEXT_BYTES];
    int64_t number;
    if (!wide_parse(matcher->texts['I'], strlen(matcher->texts['I']), &value) ||
        !wide_to_int64(value, &number))
        return false;
    wide_format(wide_from(number > 0 ? number - 1 : 0), text);
    matcher->texts['J'] = arena_copy(matcher->arena, text, strlen(text));
    matcher->texts['A'] = arena_printf(matcher->arena, "%ss", matcher->texts['I']);
    return true;
}

static bool take_setting(struct matcher *matcher, size_t *at)
{
    static const char *const words[] = {"queue",  "priority", "timeout", "expires",     "keep",
                                        "memory", "retry",    "unique",  "concurrency", "rate",
                                        "every",  "cron",     "tags",    "params",      "returns",
                                        "max",    "backoff",  "jitter",  NULL};
    return take_word(matcher, at, 'O') && is_word_of(words, matcher->texts['O']);
}

static bool take_class(struct matcher *matcher, char letter, size_t *at)
{
    switch (letter) {
    case 'N':
        return take_name(matcher, at);
    case 'K':
    case 'M':
        return take_word(matcher, at, letter);
    case 'H':
        return take_hyphens(matcher, at);
    case 'P':
        return matcher_take_path(matcher, at, letter);
    case 'T':
        return matcher_take_type(matcher, at);
    case 'B':
        return matcher_take_sure_type(matcher, at);
    case 'X':
        return matcher_take_type(matcher, at) && !matcher->type.is_plain;
    case 'Y':
        return matcher_take_tails(matcher, at) && matcher->type.why != NULL;
    case 'V':
        return take_value(matcher, at);
    case 'I':
        return take_int(matcher, at);
    case 'S':
    case 'G':
        return take_string(matcher, at, letter);
    case 'C':
        return matcher_at(matcher, *at, TOKEN_LEFT_BRACE);
    case 'D':
        return take_quantity(matcher, at, letter, quantity_duration);
    case 'W':
        return take_long_duration(matcher, at);
    case 'Z':
        return take_quantity(matcher, at, letter, quantity_size);
    case 'L':
        return take_list(matcher, at);
    case 'O':
        return take_setting(matcher, at);
    case 'R':
        return take_rest(matcher, at, true);
    case 'A':
        return take_rest(matcher, at, false);
    case 'E':
        return take_kind(matcher, at, TOKEN_COLON, letter) ||
               take_kind(matcher, at, TOKEN_EQUALS, letter);
    default:
        return false;
    }
}

static bool is_class(const char *text, const struct token *token)
{
    return token->length == 1 && *text >= 'A' && *text <= 'Z';
}

/* Words of other languages are told without regard to case. */
static bool match_token(struct matcher *matcher, const char *pattern, const struct token *wanted,
                        size_t *at)
{
    const char *text = pattern + wanted->offset;
    if (is_class(text, wanted))
        return take_class(matcher, *text, at);
    if (*at >= matcher->count || matcher->tokens[*at].length != wanted->length ||
        strncasecmp(matcher_text(matcher, *at), text, wanted->length) != 0)
        return false;
    (*at)++;
    return true;
}

/* '~' before a word of a pattern: what comes close to it. */
static bool match_near(struct matcher *matcher, const char *pattern, const struct token *wanted,
                       size_t *at)
{
    if (!take_word(matcher, at, 'U'))
        return false;
    const char *meant = arena_copy(matcher->arena, pattern + wanted->offset, wanted->length);
    struct suggestion near = suggestion_start(matcher->texts['U']);
    suggestion_offer(&near, meant);
    return suggestion_is_plain(&near) && near.distance > 0;
}

/* Most patterns are out by their first byte. */
static bool may_start(const struct matcher *matcher, const char *pattern, size_t at)
{
    if ((*pattern >= 'A' && *pattern <= 'Z') || *pattern == '~')
        return true;
    return at < matcher->count &&
           tolower((unsigned char)*matcher_text(matcher, at)) == tolower((unsigned char)*pattern);
}

bool matcher_match(struct matcher *matcher, const char *pattern, size_t *at)
{
    struct source source = {.text = pattern, .size = (uint32_t)strlen(pattern)};
    struct lexer lexer;
    bool is_good = may_start(matcher, pattern, *at);
    lexer_init(&lexer, &source);
    for (;;) {
        if (!is_good)
            return false;
        struct token wanted = lexer_next(&lexer);
        if (wanted.kind == TOKEN_END)
            return true;
        if (wanted.kind == TOKEN_STRAY && pattern[wanted.offset] == '^') {
            matcher->from = *at;
        } else if (wanted.kind == TOKEN_STRAY && pattern[wanted.offset] == '~') {
            wanted = lexer_next(&lexer);
            is_good = match_near(matcher, pattern, &wanted, at);
        } else {
            is_good = match_token(matcher, pattern, &wanted, at);
        }
    }
}

/* A param as it is written here. */
static const char *field_text(const struct matcher *matcher)
{
    bool is_list = *matcher->type.shape != '\0' && !isdigit((unsigned char)matcher->type.shape[1]);
    bool is_optional = matcher->type.is_optional && !is_list && matcher->value == NULL;
    return arena_printf(matcher->arena, "%s%s %s%s%s%s%s", is_optional ? "optional " : "",
                        matcher->type.name, matcher->texts['N'], matcher->type.shape,
                        matcher->type.attr, matcher->value == NULL ? "" : " = ",
                        matcher->value == NULL ? "" : matcher->value);
}

static bool is_word_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

/* Puts in what was taken for the single capital letters; F is a whole param, T a type. */
const char *matcher_expand(struct matcher *matcher, const char *template)
{
    struct buf text = {0};
    for (const char *at = template; *at != '\0'; at++) {
        bool is_single = *at >= 'A' && *at <= 'Z' && !is_word_byte(at[1]) &&
                         (at == template || !is_word_byte(at[-1]));
        const char *taken = !is_single   ? NULL
                            : *at == 'F' ? field_text(matcher)
                            : *at == 'T' ? matcher->type.name
                                         : matcher->texts[(unsigned char)*at];
        if (taken != NULL)
            buf_text(&text, taken);
        else
            buf_char(&text, *at);
    }
    const char *copy = arena_copy(matcher->arena, text.data == NULL ? "" : text.data, text.len);
    buf_release(&text);
    return copy;
}

/* The tokens of one line: what belongs together seldom stands on two. */
void matcher_fill(struct matcher *matcher, struct lexer lexer, struct token token)
{
    const char *text = matcher->source->text;
    const char *limit = text + matcher->source->size;
    const char *end = memchr(text + token.offset, '\n', matcher->source->size - token.offset);
    matcher->line_end = end == NULL ? limit : end;
    while (matcher->line_end > text + token.offset && matcher->line_end[-1] == '\r')
        matcher->line_end--;
    for (; token.kind != TOKEN_END && matcher->count < TOKENS_MAX &&
           text + token.offset < matcher->line_end;
         token = lexer_next(&lexer)) {
        if (token.kind != TOKEN_DOC && token.kind != TOKEN_DOC_AFTER)
            matcher->tokens[matcher->count++] = token;
    }
}

void matcher_reset(struct matcher *matcher)
{
    memset(matcher->texts, 0, sizeof(matcher->texts));
    matcher->type = (struct type_taken){.shape = "", .attr = "", .is_plain = true};
    matcher->value = NULL;
    matcher->is_whole_line = false;
    matcher->from = 0;
    matcher->is_guess = false;
}

struct span matcher_span(const struct matcher *matcher, size_t count)
{
    const struct token *first = &matcher->tokens[matcher->from],
                       *last = &matcher->tokens[count - 1];
    uint32_t end = matcher->is_whole_line ? (uint32_t)(matcher->line_end - matcher->source->text)
                                          : last->offset + last->length;
    return (struct span){matcher->source, first->offset, end - first->offset};
}
