/* habit.h - what people write who come from other languages, and how it is written here.
 *
 * The tables stand in habits.def. They are asked only where an error was found, so they refuse
 * nothing that is right, and what is right costs nothing. */
#ifndef CULEXC_HABIT_H
#define CULEXC_HABIT_H

#include "diag.h"
#include "lexer.h"

/* Where the item begins that is being read. */
enum habit_place {
    HABIT_NOWHERE,
    HABIT_FILE, /* package, imports and declarations */
    HABIT_ENUM,
    HABIT_FIELD,
    HABIT_JOB,
    HABIT_POLICY,
    HABIT_ATTR,
    HABIT_ANYWHERE /* not at the start of an item */
};

struct habit {
    const char *why;     /* one sentence without a full stop */
    const char *instead; /* what is written here, "" for nothing; NULL when that cannot be told */
    bool is_certain;     /* it means the same and nothing else can be meant */
    struct span span;    /* of what was written */
    const char *name;    /* of what was meant to be declared, or NULL */
    const char *type;    /* of a param, or NULL */
};

/* What is known about the tokens from `token` on; `lexer` stands behind it. `reach` is the offset
 * up to which they were read without an error: what ends before it is not what is wrong. False:
 * nothing. */
bool habit_find(struct arena *arena, const struct source *source, enum habit_place place,
                struct lexer lexer, struct token token, uint32_t reach, struct habit *ret_habit);

/* The value at `token` in the spelling that a token of `kind` has here. False: it has none. */
bool habit_value(struct arena *arena, const struct source *source, enum token_kind kind,
                 struct lexer lexer, struct token token, struct habit *ret_habit);

/* What a type of other languages is called here; `span` is left out. False: it is not known. */
bool habit_type(const char *name, struct habit *ret_habit);

/* Whether a name is that of a type, here or elsewhere, and hardly anything else. */
bool habit_is_type(const char *name);

enum habit_word_place { HABIT_WORD_VALUE, HABIT_WORD_ATTR, HABIT_WORD_RETRY };

/* The same for a word that is none of ours; `why` may be NULL. */
bool habit_word(enum habit_word_place place, const char *word, struct habit *ret_habit);

/* Adds what is known about the word at `span` to the report made last. */
void habit_help(struct diag_sink *sink, const struct habit *habit, struct span span);

#endif
