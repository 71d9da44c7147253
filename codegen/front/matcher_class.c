/* matcher_class.c - the classes of tokens that a capital letter of a pattern stands for, but for
 * those that are types. Each moves *at behind what it takes, and leaves its text under its letter.
 */
#include <ctype.h>
#include <string.h>

#include "buf.h"
#include "choice.h"
#include "ir.h"
#include "matcher.h"
#include "quantity.h"

static bool is_word_of(const char *const *words, const char *word)
{
    return words[choice_find(words, word)] != NULL;
}

bool matcher_take_word(struct matcher *matcher, size_t *at, char letter)
{
    if (!matcher_at(matcher, *at, TOKEN_WORD))
        return false;
    matcher->texts[(unsigned char)letter] = matcher_copy(matcher, *at, *at + 1);
    (*at)++;
    return true;
}

static bool take_name(struct matcher *matcher, size_t *at)
{
    return matcher_take_word(matcher, at, 'N') &&
           ir_kind_find(matcher->texts['N']) == IR_KIND_COUNT;
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
    bool is_whole = matcher_take_word(matcher, at, letter);
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
        matcher_take_word(matcher, at, letter);
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
    if (!matcher_take_word(matcher, at, 'L'))
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
    static const char *const words[] = {
#define SETTING(symbol, word, place, form, text) word,
#include "settings.def"
        "params", "returns", "metadata", "max", "for", "backoff", "jitter", NULL,
    };
    return matcher_take_word(matcher, at, 'O') && is_word_of(words, matcher->texts['O']);
}

bool matcher_take_class(struct matcher *matcher, char letter, size_t *at)
{
    switch (letter) {
    case 'N':
        return take_name(matcher, at);
    case 'K':
    case 'M':
        return matcher_take_word(matcher, at, letter);
    case 'H':
        return take_hyphens(matcher, at);
    case 'P':
        return matcher_take_path(matcher, at, letter);
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
