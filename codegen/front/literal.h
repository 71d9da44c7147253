/* literal.h - the value of one token that stands for a value. */
#ifndef CULEXC_LITERAL_H
#define CULEXC_LITERAL_H

#include "ast.h"
#include "diag.h"
#include "token.h"

/* Reads `token` of `source`. What is malformed is reported and comes back as
 * LITERAL_POISON. The token is of a kind that has a value. Behind a minus the least
 * duration fits too; the rest of the sign is left to literal_negate. */
struct literal literal_read(struct diag_sink *sink, const struct source *source, struct token token,
                            bool is_negative);

/* Puts a minus before a number or a duration; false for everything else. */
bool literal_negate(struct literal *literal, struct arena *arena);

#endif
