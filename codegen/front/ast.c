#include "ast.h"

#include <string.h>

const struct ast_decl *ast_decl_next(const struct ast_decl *decls, enum ast_decl_kind kind)
{
    while (decls != NULL && decls->kind != kind)
        decls = decls->next;
    return decls;
}

const struct ast_attr *ast_attr_find(const struct ast_attr *attrs, const char *name)
{
    while (attrs != NULL && strcmp(attrs->name.text, name) != 0)
        attrs = attrs->next;
    return attrs;
}

const char *ast_decl_word(enum ast_decl_kind kind)
{
    static const char *const words[] = {
        [DECL_ENUM] = "enum",           [DECL_STRUCT] = "struct", [DECL_TYPE] = "type",
        [DECL_POLICY] = "retry_policy", [DECL_JOB] = "job",       [DECL_CHAIN] = "chain",
        [DECL_DEFAULTS] = "defaults"};
    return words[kind];
}
