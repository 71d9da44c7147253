/* context.h - where in the grammar a place is, by the tokens before it alone: it works as well
 * in a file that is half written. */
#ifndef CULEXC_CONTEXT_H
#define CULEXC_CONTEXT_H

#include "source.h"
#include "token.h"
#include "words.h"

enum block {
    BLOCK_FILE,
    BLOCK_JOB,
    BLOCK_DEFAULTS,
    BLOCK_PARAMS,
    BLOCK_RETURNS,
    BLOCK_STRUCT,
    BLOCK_ENUM,
    BLOCK_POLICY,
    BLOCK_CHAIN,
    BLOCK_UNKNOWN
};

enum { CONTEXT_TOKENS = 16, CONTEXT_BLOCKS = 4 };

struct context {
    const struct source *source;
    size_t offset;
    enum block blocks[CONTEXT_BLOCKS];
    unsigned depth;    /* blocks[depth] is the innermost; deeper ones are unknown */
    struct token decl; /* the name of the declaration around; length 0: none */
    /* The statement so far, without its attributes. */
    struct token tokens[CONTEXT_TOKENS];
    unsigned count; /* of all of them, kept or not */
    struct token previous;
    struct token before_paren; /* of the parenthesis that is open; length 0: none */
    bool is_in_attrs, is_in_args;
    bool is_in_comment;
    struct token at; /* what is at the offset or ends there; length 0: nothing */
};

struct context context_at(const struct source *source, size_t offset);

/* A set of word places: what may stand at the place. */
uint64_t context_places(const struct context *context);

/* Whether `token` is this word. */
bool context_is(const struct context *context, struct token token, const char *word);

#endif
