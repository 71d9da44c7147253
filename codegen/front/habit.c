#include "habit.h"

#include <string.h>
#include <strings.h>

#include "matcher.h"

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
    habit.name = matcher->texts['N'] != NULL   ? matcher->texts['N']
                 : matcher->texts['H'] != NULL ? matcher->texts['H']
                                               : matcher->texts['M'];
    habit.type = matcher->type.name;
    if (habit.why == NULL || !has_type)
        habit.why = matcher->type.why;
    if (habit.why == NULL)
        habit.why = "this type is called 'T' here";
    habit.why = matcher_expand(matcher, habit.why);
    if (instead != NULL && has_type)
        habit.instead = matcher_expand(matcher, instead);
    habit.is_certain = rows[row].is_certain && habit.instead != NULL &&
                       matcher->type.form != TYPE_LIKE && !matcher->type.is_like &&
                       matcher->type.form != TYPE_COUNTED && !matcher->is_guess;
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
    bool has_comma = matcher_at(matcher, at, TOKEN_COMMA);
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
    if (!matcher_match(matcher, rows[row].pattern, &at))
        return false;
    if (place == HABIT_FIELD && writes_field(rows[row].instead) && matcher->type.name != NULL &&
        matcher->texts['N'] != NULL) {
        matcher_take_suffix(matcher, &at);
        matcher_take_tails(matcher, &at);
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

/* Any text may stand in the quotes that are taken away. */
static bool is_of_kind(enum token_kind kind, const char *text)
{
    return kind != TOKEN_INT || (*text != '\0' && text[strspn(text, "0123456789")] == '\0');
}

bool habit_value(struct arena *arena, const struct source *source, enum token_kind kind,
                 struct lexer lexer, struct token token, struct habit *ret_habit)
{
    struct matcher matcher = {.arena = arena, .source = source};
    matcher_fill(&matcher, lexer, token);
    for (size_t row = 0; row < COUNT(value_rows); row++) {
        size_t at = 0;
        matcher_reset(&matcher);
        if (value_rows[row].kind != kind || !matcher_match(&matcher, value_rows[row].pattern, &at))
            continue;
        *ret_habit = (struct habit){.why = value_rows[row].why, .span = matcher_span(&matcher, at)};
        ret_habit->instead = matcher_expand(&matcher, value_rows[row].instead);
        if (!is_of_kind(kind, ret_habit->instead))
            continue;
        ret_habit->is_certain = value_rows[row].is_certain && !matcher.is_guess;
        return true;
    }
    return false;
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

void habit_help(struct diag_sink *sink, const struct habit *habit, struct span span)
{
    if (habit->why != NULL)
        diag_help(sink, "%s", habit->why);
    else
        diag_help(sink, "did you mean '%s'?", habit->instead);
    if (habit->instead != NULL && *habit->instead != '\0')
        diag_fix(sink, habit->is_certain ? FIX_MACHINE_APPLICABLE : FIX_MAYBE_INCORRECT, span, "%s",
                 habit->instead);
}
