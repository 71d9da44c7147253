/* matcher.h - matches the patterns of habits.def against the tokens of a line.
 *
 * habits.def says what a pattern is. A matcher is filled once, then reset before each pattern. All
 * texts are in its arena. */
#ifndef CULEXC_MATCHER_H
#define CULEXC_MATCHER_H

#include "habit.h"

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
    TYPE_COUNTED,  /* as TYPE_BOUNDED, and the length may count something else */
    TYPE_NONE      /* there is none */
};

/* A type as it was taken. */
struct type_taken {
    const char *name, *shape, *attr, *why;
    enum type_form form;
    bool is_optional;
    bool is_plain; /* just a word or a path */
    bool is_like;  /* something in it is TYPE_LIKE, whatever stands around that */
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

/* The tokens from `token` to the end of its line; `lexer` stands behind it. */
void matcher_fill(struct matcher *matcher, struct lexer lexer, struct token token);
void matcher_reset(struct matcher *matcher);

/* matcher_pattern.c: true when the tokens from *at on are as the pattern says; *at is then behind
 * them. */
bool matcher_match(struct matcher *matcher, const char *pattern, size_t *at);

/* What stands behind a type, and behind the name of a param. */
bool matcher_take_suffix(struct matcher *matcher, size_t *at);
bool matcher_take_tails(struct matcher *matcher, size_t *at);

/* Puts in what was taken for the single capital letters; F is a whole param, T a type. */
const char *matcher_expand(struct matcher *matcher, const char *template);

/* Of the first `count` tokens, from where they are wrong. */
struct span matcher_span(const struct matcher *matcher, size_t count);

/* For the classes: the text of a token, a copy of some of them, whether one is of a kind. */
const char *matcher_text(const struct matcher *matcher, size_t at);
const char *matcher_copy(const struct matcher *matcher, size_t from, size_t to);
bool matcher_at(const struct matcher *matcher, size_t at, enum token_kind kind);

/* matcher_class.c: the class called `letter`, if it is no type; and a word or a path, whose text is
 * left under `letter`. */
bool matcher_take_class(struct matcher *matcher, char letter, size_t *at);
bool matcher_take_word(struct matcher *matcher, size_t *at, char letter);
bool matcher_take_path(struct matcher *matcher, size_t *at, char letter);

#endif
