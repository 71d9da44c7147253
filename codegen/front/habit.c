#include "habit.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "buf.h"
#include "ir.h"
#include "quantity.h"
#include "suggest.h"

/* No pattern is longer. */
enum { TOKENS_MAX = 48, TEXT_MAX = 200 };

/* What a form says about the type in it. */
enum type_form {
    TYPE_SAME,     /* it means just that */
    TYPE_LIKE,     /* something like it */
    TYPE_NAME,     /* the same, and the word may well be a name */
    TYPE_LIST,     /* a list of the type inside */
    TYPE_OPTIONAL, /* the type inside, or nothing */
    TYPE_BOUNDED,  /* as TYPE_SAME, with a longest length */
    TYPE_NONE      /* there is none */
};

struct type_row {
    const char *pattern;
    const char *ours; /* NULL: the type inside */
    enum type_form form;
    const char *why;
};

static const struct type_row type_rows[] = {
#define TYPE(pattern, ours, form, why) {pattern, ours, TYPE_##form, why},
#include "habits.def"
#undef TYPE
};

/* What stands behind a type: `shape` is what then stands behind the name. */
static const struct type_row suffix_rows[] = {
#define SUFFIX(pattern, shape, form, why) {pattern, shape, TYPE_##form, why},
#include "habits.def"
#undef SUFFIX
};

/* What stands behind the name of a param. */
static const struct {
    const char *pattern;
    bool is_value, is_optional;
    const char *why;
} tail_rows[] = {
#define TAIL(pattern, is_value, is_optional, why) {pattern, is_value, is_optional, why},
#include "habits.def"
#undef TAIL
};

static const struct {
    enum habit_place place;
    const char *pattern;
    const char *instead;
    bool is_certain;
    const char *why; /* NULL: what the type says */
} rows[] = {
#define CERTAIN true
#define MAYBE   false
#define HABIT(place, pattern, instead, is_certain, why)                                            \
    {HABIT_##place, pattern, instead, is_certain, why},
#include "habits.def"
#undef HABIT
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* A type as it was taken. */
struct type_taken {
    const char *name, *shape, *attr, *why;
    enum type_form form;
    bool is_optional;
    bool is_plain; /* just a word or a path */
};

/* What stands at a token as a type is worked out once: forms inside forms would multiply. */
struct type_memo {
    bool is_known, is_type;
    size_t end;
    struct type_taken taken;
};

/* What was matched so far. */
struct matcher {
    struct arena *arena;
    const struct source *source;
    struct token tokens[TOKENS_MAX];
    size_t count;
    const char *texts['Z' + 1]; /* of the classes, by letter */
    struct type_taken type;
    struct type_memo types[TOKENS_MAX];
    const char *value; /* the default */
    const char *line_end;
    bool is_whole_line; /* what was matched runs to there */
    size_t from;        /* the first token that is wrong */
    bool is_guess;
};

static const char *text_at(const struct matcher *matcher, size_t at)
{
    return matcher->source->text + matcher->tokens[at].offset;
}

static const char *text_copy(const struct matcher *matcher, size_t from, size_t to)
{
    const char *text = text_at(matcher, from);
    const struct token *last = &matcher->tokens[to - 1];
    size_t len = last->offset + last->length - matcher->tokens[from].offset;
    return arena_copy(matcher->arena, text, len > TEXT_MAX ? TEXT_MAX : len);
}

static bool kind_is(const struct matcher *matcher, size_t at, enum token_kind kind)
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
    if (!kind_is(matcher, *at, TOKEN_WORD))
        return false;
    matcher->texts[(unsigned char)letter] = text_copy(matcher, *at, *at + 1);
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
    while (kind_is(matcher, *at, TOKEN_WORD) && kind_is(matcher, *at + 1, TOKEN_MINUS) &&
           kind_is(matcher, *at + 2, TOKEN_WORD))
        *at += 2;
    if (*at == from)
        return false;
    matcher->texts['U'] = text_copy(matcher, from, ++*at);
    char *text = arena_printf(matcher->arena, "%s", matcher->texts['U']);
    matcher->texts['H'] = text;
    for (; *text != '\0'; text++)
        *text = *text == '-' ? '_' : *text;
    return true;
}

/* A path with dots, colons or slashes. */
static bool take_path(struct matcher *matcher, size_t *at, char letter)
{
    struct buf path = {0};
    bool is_whole = take_word(matcher, at, letter);
    while (is_whole) {
        size_t dot = *at;
        buf_text(&path, matcher->texts[(unsigned char)letter]);
        if (kind_is(matcher, dot, TOKEN_DOT))
            dot++;
        else if (kind_is(matcher, dot, TOKEN_COLON) && kind_is(matcher, dot + 1, TOKEN_COLON))
            dot += 2;
        if (dot == *at || !kind_is(matcher, dot, TOKEN_WORD))
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
    if (!kind_is(matcher, *at, kind) || matcher->tokens[*at].fault != FAULT_NONE)
        return false;
    matcher->texts[(unsigned char)letter] = text_copy(matcher, *at, *at + 1);
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
    matcher->is_guess |= !is_number_start(text_at(matcher, *at));
    if (take_string(matcher, at, 'S')) {
        matcher->texts[(unsigned char)letter] = read(matcher->arena, matcher->texts['Q']);
        return matcher->texts[(unsigned char)letter] != NULL;
    }
    for (size_t end = *at + 4; end > *at; end--) {
        const char *ours =
            end > matcher->count ? NULL : read(matcher->arena, text_copy(matcher, *at, end));
        if (ours == NULL)
            continue;
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
    *at += kind_is(matcher, *at, TOKEN_MINUS);
    if (*at >= matcher->count || matcher->tokens[*at].kind < TOKEN_WORD ||
        matcher->tokens[*at].kind > TOKEN_CHAR || matcher->tokens[*at].fault != FAULT_NONE)
        return false;
    char *text = arena_printf(matcher->arena, "%s", text_copy(matcher, from, ++*at));
    matcher->texts['V'] = text;
    for (; is_word_of(words, matcher->texts['V']) && *text != '\0'; text++)
        *text = (char)tolower((unsigned char)*text);
    return true;
}

/* Up to the end of the line; with `is_item` no further than the item. */
static bool take_rest(struct matcher *matcher, size_t *at, bool is_item)
{
    size_t from = *at;
    while (*at < matcher->count && !(is_item && (kind_is(matcher, *at, TOKEN_SEMICOLON) ||
                                                 kind_is(matcher, *at, TOKEN_LEFT_BRACE) ||
                                                 kind_is(matcher, *at, TOKEN_RIGHT_BRACE))))
        (*at)++;
    matcher->texts['R'] = *at == from ? "" : text_copy(matcher, from, *at);
    matcher->is_whole_line = !is_item;
    return true;
}

/* Names with commas between them. */
static bool take_list(struct matcher *matcher, size_t *at)
{
    size_t from = *at;
    while (kind_is(matcher, *at, TOKEN_WORD) && kind_is(matcher, *at + 1, TOKEN_COMMA) &&
           kind_is(matcher, *at + 2, TOKEN_WORD))
        *at += 2;
    if (!take_word(matcher, at, 'L'))
        return false;
    matcher->texts['L'] = text_copy(matcher, from, *at);
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

static bool match(struct matcher *matcher, const char *pattern, size_t *at);

static void type_apply(struct matcher *matcher, const struct type_row *row)
{
    matcher->type.is_plain = false;
    if (row->why != NULL)
        matcher->type.why = row->why;
    if (row->form > matcher->type.form || row->form == TYPE_LIKE)
        matcher->type.form = row->form == TYPE_NAME ? TYPE_LIKE : row->form;
    if (row->form == TYPE_OPTIONAL)
        matcher->type.is_optional = true;
    if (row->form == TYPE_BOUNDED)
        matcher->type.attr = arena_printf(matcher->arena, " [[max_len(%s)]]", matcher->texts['I']);
}

/* Lists of lists are none here. */
static void shape_apply(struct matcher *matcher, const char *shape)
{
    if (*matcher->type.shape != '\0')
        matcher->type.form = TYPE_NONE;
    matcher->type.shape = shape;
}

static bool take_type_form(struct matcher *matcher, size_t *at)
{
    for (size_t i = 0; i < COUNT(type_rows); i++) {
        const struct type_row *row = &type_rows[i];
        size_t end = *at;
        if (!match(matcher, row->pattern, &end))
            continue;
        *at = end;
        if (row->ours != NULL)
            matcher->type.name = row->ours;
        type_apply(matcher, row);
        if (row->form == TYPE_LIST)
            shape_apply(matcher, "[]");
        return true;
    }
    return false;
}

static const char *expand(struct matcher *matcher, const char *template);

static bool take_suffix(struct matcher *matcher, size_t *at)
{
    for (size_t i = 0; i < COUNT(suffix_rows); i++) {
        const struct type_row *row = &suffix_rows[i];
        size_t end = *at;
        if (!match(matcher, row->pattern, &end))
            continue;
        *at = end;
        type_apply(matcher, row);
        if (row->ours != NULL)
            shape_apply(matcher, expand(matcher, row->ours));
        return true;
    }
    return false;
}

/* "String" is ours but for its case. */
static const char *our_type(const struct matcher *matcher, const char *name)
{
    char *lower = arena_printf(matcher->arena, "%s", name);
    for (char *at = lower; *at != '\0'; at++)
        *at = (char)tolower((unsigned char)*at);
    return ir_kind_find(lower) == IR_KIND_COUNT ? name : lower;
}

static bool type_read(struct matcher *matcher, size_t *at)
{
    matcher->type = (struct type_taken){.shape = "", .attr = "", .is_plain = true};
    if (!take_type_form(matcher, at)) {
        if (!take_path(matcher, at, 'T'))
            return false;
        matcher->type.name = our_type(matcher, matcher->texts['T']);
    }
    while (take_suffix(matcher, at)) {
    }
    return true;
}

static bool take_type(struct matcher *matcher, size_t *at)
{
    if (*at >= matcher->count)
        return false;
    struct type_memo *memo = &matcher->types[*at];
    if (!memo->is_known) {
        memo->end = *at;
        memo->is_type = type_read(matcher, &memo->end);
        memo->taken = matcher->type;
        memo->is_known = true;
    }
    matcher->type = memo->taken;
    *at = memo->end;
    return memo->is_type;
}

/* A type that no name looks like. */
static bool take_sure_type(struct matcher *matcher, size_t *at)
{
    size_t from = *at;
    if (!take_type(matcher, at))
        return false;
    if (!matcher->type.is_plain && *at > from + 1)
        return true;
    return habit_is_type(text_copy(matcher, from, from + 1));
}

static bool take_tails(struct matcher *matcher, size_t *at)
{
    bool has_any = false;
    for (size_t i = 0; i < COUNT(tail_rows); i++) {
        size_t end = *at;
        if (!match(matcher, tail_rows[i].pattern, &end))
            continue;
        *at = end;
        matcher->type.is_optional |= tail_rows[i].is_optional;
        if (tail_rows[i].is_value)
            matcher->value = matcher->texts['V'];
        if (!has_any && tail_rows[i].why != NULL)
            matcher->type.why = tail_rows[i].why;
        has_any = true;
        i = (size_t)-1; /* They follow each other in any order. */
    }
    return has_any;
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
        return take_path(matcher, at, letter);
    case 'T':
        return take_type(matcher, at);
    case 'B':
        return take_sure_type(matcher, at);
    case 'X':
        return take_type(matcher, at) && !matcher->type.is_plain;
    case 'Y':
        return take_tails(matcher, at) && matcher->type.why != NULL;
    case 'V':
        return take_value(matcher, at);
    case 'I':
        return take_int(matcher, at);
    case 'S':
    case 'G':
        return take_string(matcher, at, letter);
    case 'C':
        return kind_is(matcher, *at, TOKEN_LEFT_BRACE);
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
        strncasecmp(text_at(matcher, *at), text, wanted->length) != 0)
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
           tolower((unsigned char)*text_at(matcher, at)) == tolower((unsigned char)*pattern);
}

static bool match(struct matcher *matcher, const char *pattern, size_t *at)
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
static const char *expand(struct matcher *matcher, const char *template)
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
static void matcher_fill(struct matcher *matcher, struct lexer lexer, struct token token)
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

static void matcher_reset(struct matcher *matcher)
{
    memset(matcher->texts, 0, sizeof(matcher->texts));
    matcher->type = (struct type_taken){.shape = "", .attr = "", .is_plain = true};
    matcher->value = NULL;
    matcher->is_whole_line = false;
    matcher->from = 0;
    matcher->is_guess = false;
}

static struct span matcher_span(const struct matcher *matcher, size_t count)
{
    const struct token *first = &matcher->tokens[matcher->from],
                       *last = &matcher->tokens[count - 1];
    uint32_t end = matcher->is_whole_line ? (uint32_t)(matcher->line_end - matcher->source->text)
                                          : last->offset + last->length;
    return (struct span){matcher->source, first->offset, end - first->offset};
}

/* What a param of a type that does not exist would be written as, nobody knows. */
static struct habit row_habit(struct matcher *matcher, size_t row, size_t count)
{
    struct habit habit = {.why = rows[row].why, .span = matcher_span(matcher, count)};
    bool has_type = matcher->type.form != TYPE_NONE;
    const char *instead = rows[row].instead;
    if (instead != NULL && strcmp(instead, "optional F") == 0) {
        matcher->type.is_optional = true; /* Once, whatever the type says. */
        instead = "F";
    }
    habit.name = matcher->texts['N'] != NULL ? matcher->texts['N'] : matcher->texts['H'];
    habit.type = matcher->type.name;
    if (habit.why == NULL || !has_type)
        habit.why = matcher->type.why;
    if (habit.why == NULL)
        habit.why = "this type is called 'T' here";
    habit.why = expand(matcher, habit.why);
    if (instead != NULL && has_type)
        habit.instead = expand(matcher, instead);
    habit.is_certain = rows[row].is_certain && habit.instead != NULL &&
                       matcher->type.form != TYPE_LIKE && !matcher->is_guess;
    return habit;
}

/* It is written just so: the pattern is wider than what is wrong. */
static bool is_ours(const struct habit *habit)
{
    const char *text = habit->span.source->text + habit->span.offset;
    return habit->instead != NULL && strlen(habit->instead) == habit->span.length &&
           memcmp(habit->instead, text, habit->span.length) == 0;
}

static bool writes_field(const char *instead)
{
    return instead != NULL && (strcmp(instead, "F") == 0 || strcmp(instead, "optional F") == 0);
}

/* A param behind which the line ends, or a comma stands, gets its ';' as well. */
static void row_end(struct matcher *matcher, struct habit *habit, size_t at)
{
    bool has_comma = kind_is(matcher, at, TOKEN_COMMA);
    if (habit->instead == NULL || (at < matcher->count && !has_comma))
        return;
    if (*habit->instead == '\0' || strchr(";}", habit->instead[strlen(habit->instead) - 1]))
        return;
    habit->instead = arena_printf(matcher->arena, "%s;", habit->instead);
    habit->span = matcher_span(matcher, at + has_comma);
}

static bool row_match(struct matcher *matcher, size_t row, struct habit *ret_habit)
{
    enum habit_place place = rows[row].place;
    size_t at = 0;
    matcher_reset(matcher);
    if (!match(matcher, rows[row].pattern, &at))
        return false;
    if (place == HABIT_FIELD && writes_field(rows[row].instead) && matcher->type.name != NULL &&
        matcher->texts['N'] != NULL) {
        take_suffix(matcher, &at);
        take_tails(matcher, &at);
    }
    *ret_habit = row_habit(matcher, row, at == 0 ? 1 : at);
    if (is_ours(ret_habit))
        return false;
    if (place == HABIT_FIELD || place == HABIT_JOB || place == HABIT_POLICY)
        row_end(matcher, ret_habit, at);
    return true;
}

bool habit_find(struct arena *arena, const struct source *source, enum habit_place place,
                struct lexer lexer, struct token token, uint32_t reach, struct habit *ret_habit)
{
    struct matcher matcher = {.arena = arena, .source = source};
    matcher_fill(&matcher, lexer, token);
    for (size_t row = 0; row < COUNT(rows) && matcher.count > 0; row++) {
        if (rows[row].place == place && row_match(&matcher, row, ret_habit) &&
            ret_habit->span.offset + ret_habit->span.length >= reach)
            return *ret_habit->why != '\0';
    }
    return false;
}

/* The pattern of what can be said in each kind. */
static const struct {
    enum token_kind kind;
    const char *pattern, *instead;
    bool is_certain;
    const char *why;
} value_rows[] = {
#define VALUE(kind, pattern, instead, is_certain, why)                                             \
    {TOKEN_##kind, pattern, instead, is_certain, why},
#include "habits.def"
#undef VALUE
};

bool habit_value(struct arena *arena, const struct source *source, enum token_kind kind,
                 struct lexer lexer, struct token token, struct habit *ret_habit)
{
    struct matcher matcher = {.arena = arena, .source = source};
    matcher_fill(&matcher, lexer, token);
    for (size_t row = 0; row < COUNT(value_rows); row++) {
        size_t at = 0;
        matcher_reset(&matcher);
        if (value_rows[row].kind != kind || !match(&matcher, value_rows[row].pattern, &at))
            continue;
        *ret_habit = (struct habit){.why = value_rows[row].why, .span = matcher_span(&matcher, at)};
        ret_habit->instead = expand(&matcher, value_rows[row].instead);
        ret_habit->is_certain = value_rows[row].is_certain && !matcher.is_guess;
        return true;
    }
    return false;
}

bool habit_type(const char *name, struct habit *ret_habit)
{
    for (size_t i = 0; i < COUNT(type_rows); i++) {
        const struct type_row *row = &type_rows[i];
        if (strcasecmp(row->pattern, name) != 0)
            continue;
        *ret_habit = (struct habit){.why = row->why, .instead = row->ours};
        ret_habit->is_certain = row->form == TYPE_SAME;
        return true;
    }
    return false;
}

bool habit_is_type(const char *name)
{
    for (size_t i = 0; i < COUNT(type_rows); i++) {
        if (strcasecmp(type_rows[i].pattern, name) == 0)
            return type_rows[i].form == TYPE_SAME || type_rows[i].form == TYPE_LIKE;
    }
    return ir_kind_find(name) != IR_KIND_COUNT;
}

static const struct {
    enum habit_word_place place;
    const char *word, *ours;
    bool is_certain;
    const char *why;
} word_rows[] = {
#define WORD(place, word, ours, is_certain, why) {HABIT_WORD_##place, word, ours, is_certain, why},
#include "habits.def"
#undef WORD
};

bool habit_word(enum habit_word_place place, const char *word, struct habit *ret_habit)
{
    for (size_t i = 0; i < COUNT(word_rows); i++) {
        if (word_rows[i].place != place || strcasecmp(word_rows[i].word, word) != 0)
            continue;
        *ret_habit = (struct habit){.why = word_rows[i].why, .instead = word_rows[i].ours};
        ret_habit->is_certain = word_rows[i].is_certain;
        return true;
    }
    return false;
}
