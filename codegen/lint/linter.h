/* linter.h - what the parts of the linter share. */
#ifndef CULEXC_LINTER_H
#define CULEXC_LINTER_H

#include "lint.h"

struct linter {
    struct arena *arena;
    struct diag_sink *sink;
    const struct module *module;
    unsigned tiers;
    const struct lint_uses *uses; /* of other files, or NULL */
    struct map queues;            /* name -> the first job in it */
    struct map shared;            /* names of those with another job */
};

/* Whether the rule is wanted: it is of a tier that is asked for, or -WID names it. `linter` is the
 * struct, as allow_report_unused() hands it on. */
bool linter_seeks(enum diag_id id, const void *linter);

/* True when the rule is wanted; then help and fixes can be added. */
bool lint_report(struct linter *linter, enum diag_id id, struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

enum lint_home { LINT_PARAMS, LINT_RETURNS, LINT_STRUCT };

/* lint_field.c: fields as written and as checked, which correspond. */
void lint_fields(struct linter *linter, const struct ast_field *ast, const struct ir_field *field,
                 enum lint_home home);

/* A [[deprecated]] without a text. */
void lint_deprecated(struct linter *linter, const struct ast_attr *attrs);

/* lint_job.c */
void lint_job(struct linter *linter, const struct ast_decl *decl, const struct ir_job *job);

/* lint_name.c: names and comments of a whole file. */
void lint_names(struct linter *linter);

/* Whether `name` has the words of `part` next to each other: "api_key" in "old_api_key", and in
 * "api_keys". */
bool name_has(const char *name, const char *part);
bool name_has_any(const char *name, const char *const *parts);
bool name_ends(const char *name, const char *end);

/* lint_unused.c: what a file declares and does not use. */
void lint_unused(struct linter *linter);

#endif
