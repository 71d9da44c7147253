/* matcher_pattern.c - a pattern against tokens, and types as other languages write them: a pattern
 * may hold a type, and the forms of types are patterns, so both stand here. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "ir.h"
#include "matcher.h"
#include "suggest.h"

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

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void type_apply(struct matcher *matcher, const struct type_row *row)
{
    matcher->type.is_plain = false;
    if (row->why != NULL)
        matcher->type.why = row->why;
    matcher->type.is_like |= row->form == TYPE_LIKE;
    if (row->form > matcher->type.form || row->form == TYPE_LIKE)
        matcher->type.form = row->form == TYPE_NAME ? TYPE_LIKE : row->form;
    if (row->form == TYPE_OPTIONAL)
        matcher->type.is_optional = true;
    if (row->form == TYPE_BOUNDED || row->form == TYPE_COUNTED)
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
        if (!matcher_match(matcher, row->pattern, &end))
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

bool matcher_take_suffix(struct matcher *matcher, size_t *at)
{
    for (size_t i = 0; i < COUNT(suffix_rows); i++) {
        const struct type_row *row = &suffix_rows[i];
        size_t end = *at;
        if (!matcher_match(matcher, row->pattern, &end))
            continue;
        *at = end;
        type_apply(matcher, row);
        if (row->ours != NULL)
            shape_apply(matcher, matcher_expand(matcher, row->ours));
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
        if (!matcher_take_path(matcher, at, 'T'))
            return false;
        matcher->type.name = our_type(matcher, matcher->texts['T']);
    }
    while (matcher_take_suffix(matcher, at)) {
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
    return habit_is_type(matcher_copy(matcher, from, from + 1));
}

bool matcher_take_tails(struct matcher *matcher, size_t *at)
{
    bool has_any = false;
    for (size_t i = 0; i < COUNT(tail_rows); i++) {
        size_t end = *at;
        if (!matcher_match(matcher, tail_rows[i].pattern, &end))
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

/* A capital letter in a pattern. */
static bool take_class(struct matcher *matcher, char letter, size_t *at)
{
    switch (letter) {
    case 'T':
        return take_type(matcher, at);
    case 'B':
        return take_sure_type(matcher, at);
    case 'X':
        return take_type(matcher, at) && !matcher->type.is_plain;
    case 'Y':
        return matcher_take_tails(matcher, at) && matcher->type.why != NULL;
    default:
        return matcher_take_class(matcher, letter, at);
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
    if (!matcher_take_word(matcher, at, 'U'))
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
