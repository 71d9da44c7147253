/* lexer.h - splits a source into tokens.
 *
 * Needs no memory and reports nothing; faults are marked in the tokens. */
#ifndef CULEXC_LEXER_H
#define CULEXC_LEXER_H

#include "source.h"
#include "token.h"

struct lexer {
    const char *start;
    const char *cursor;
    const char *limit; /* the NUL behind the text */
};

/* Borrows `source`, whose text is valid UTF-8. */
void lexer_init(struct lexer *lexer, const struct source *source);

/* The next token; TOKEN_END for ever at the end. Comments other than
 * documentation are skipped. */
struct token lexer_next(struct lexer *lexer);

const char *token_kind_text(enum token_kind kind);

#endif
