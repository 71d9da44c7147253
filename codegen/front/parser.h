/* parser.h - tokens to syntax tree: LL(1), recovering at `;` and `}`. */
#ifndef CULEXC_PARSER_H
#define CULEXC_PARSER_H

#include "ast.h"
#include "diag.h"

/* Parses all of `source`. Errors go to `sink`; the tree holds whatever could be
 * read. Never NULL. */
struct ast_file *parse_file(struct diag_sink *sink, const struct source *source);

#endif
