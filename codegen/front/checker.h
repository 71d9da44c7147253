/* checker.h - what the parts of the checker share: names, attributes and values, fields and types,
 * settings, jobs. A check reports what is wrong, and goes on where it can. */
#ifndef CULEXC_CHECKER_H
#define CULEXC_CHECKER_H

#include "check.h"
#include "habit.h"
#include "setting.h"

struct checker {
    struct compilation *compilation;
    struct arena *arena;
    struct diag_sink *sink;
    struct module *module;
    struct map c_names; /* at file scope */
    struct map attrs;   /* check_attr.c: where each stood last */
    bool is_across;     /* compares files: what one file has twice was reported there */
};

/* ---- check_scope.c: names as they are seen from a module ---- */

/* PACKAGE.NAME; the name alone without a package. */
const char *checker_qualify(const struct checker *checker, const char *package, const char *name);
/* The symbol that `name` means in this module, or NULL, unreported. */
struct symbol *checker_find(struct checker *checker, const char *name);
/* What `decl` of this module was declared as; NULL when it was refused. */
struct symbol *checker_symbol(struct checker *checker, const struct ast_decl *decl);
/* The visible name of a kind that is closest to `name`. Doubtful when it is one that somebody
 * declared, or when such a one may be missing: only a word of the language is ever sure. */
struct suggestion checker_suggest(struct checker *checker, const char *name, bool is_type);

/* ---- check_claim.c: names at file scope of the generated C ---- */

/* Claims those that a declaration makes. */
void checker_claim(struct checker *checker, const struct module *module,
                   const struct ast_decl *decl);
/* The same for the functions that set fields, of a module that was checked. */
void checker_claim_setters(struct checker *checker, const struct module *module);
/* The same for the include guard. */
void checker_claim_guard(struct checker *checker, const struct module *module);
/* The same for all that the module imports, directly or not. */
void checker_claim_imports(struct checker *checker);

/* ---- check_package.c ---- */

/* The words of the package, and the names that it begins. */
void check_package(struct checker *checker);

/* ---- check_attr.c ---- */

enum field_home { HOME_STRUCT, HOME_PARAMS, HOME_RETURNS, HOME_METADATA };

void check_field_attrs(struct checker *checker, struct ir_field *field, enum field_home home);
void check_job_attrs(struct checker *checker, struct ir_job *job);
void check_struct_attrs(struct checker *checker, const struct ast_attr *attrs);
void check_enum_attrs(struct checker *checker, struct ir_enum *type);
void check_enum_value_attrs(struct checker *checker, struct ir_enum_value *value);
/* Reports a text that could not be the name of anything, now or before. */
void check_old_name(struct checker *checker, const struct literal *name, const char *kind);
/* The first name in [[was]], or NULL. */
const struct literal *attr_was(const struct ast_attr *attrs);

/* ---- check_value.c ---- */

/* The value that `literal` means for a field of this type; VALUE_NONE after a report. */
struct ir_value check_value(struct checker *checker, const struct ir_field *field,
                            const struct literal *literal);
/* Negative, zero, positive; both of one ordered kind. */
int value_compare(const struct ir_value *a, const struct ir_value *b);

/* ---- check_field.c ---- */

/* Fields of the C struct `c`. */
struct ir_field *check_fields(struct checker *checker, const char *c,
                              const struct ast_fields *fields, enum field_home home);

/* ---- check_enum.c ---- */

struct ir_enum *check_enum(struct checker *checker, const struct ast_decl *decl,
                           const char *qualified);

/* ---- check_user.c ---- */

struct ir_user *check_user(struct checker *checker, const struct ast_decl *decl,
                           const char *qualified);

/* ---- check_struct.c ---- */

/* Without its fields: they may be of structs that are declared later. */
struct ir_struct *check_struct_declare(struct checker *checker, const struct ast_decl *decl,
                                       const char *qualified);
/* The fields of all structs; puts them into the model, each behind those that it contains. */
void check_structs(struct checker *checker);
/* Reports params or a result whose payload is nested too deep. */
void check_depth(struct checker *checker, const struct ir_field *fields, struct span span);

/* ---- check_setting.c: a setting is checked, and what it means put into the model, by
 * check_FORM (settings.def); forms of a file of their own follow ---- */

struct setting_check {
    struct checker *checker;
    const struct ir_job *job; /* NULL: the setting stands in `defaults` */
    struct ir_settings *settings;
};

void check_job_settings(struct checker *checker, struct ir_job *job, const struct ast_decl *decl,
                        const struct ir_settings *defaults);
/* A number within bounds; `min` after a report, or when the literal was reported before. */
int64_t check_number(struct checker *checker, const struct literal *literal, int64_t min,
                     int64_t max, const char *what);
/* What the jobs of a file start from. NULL: the file has none of its own. */
struct ir_settings check_defaults(struct checker *checker, const struct ast_decl *defaults);

/* ---- check_retry.c ---- */

void check_retry(struct setting_check *check, const struct ast_setting *setting);
void check_policy(struct checker *checker, const struct ast_policy *policy,
                  struct ir_retry *ret_retry);
/* A duration of a setting: whole milliseconds, within bounds. False after a report, or when the
 * literal was reported before. */
bool check_setting_duration(struct checker *checker, const struct literal *literal, int64_t least);
bool check_duration(struct checker *checker, const struct literal *literal, int64_t least,
                    int64_t most);

/* ---- check_limit.c ---- */

void check_unique(struct setting_check *check, const struct ast_setting *setting);
void check_concurrency(struct setting_check *check, const struct ast_setting *setting);
void check_rate(struct setting_check *check, const struct ast_setting *setting);
void check_fair(struct setting_check *check, const struct ast_setting *setting);

/* ---- check_needs.c ---- */

void check_needs(struct setting_check *check, const struct ast_setting *setting);

/* ---- check_schedule.c ---- */

void check_every(struct setting_check *check, const struct ast_setting *setting);
void check_cron(struct setting_check *check, const struct ast_setting *setting);

/* ---- check_sense.c ---- */

/* Reports settings of a checked job that contradict each other. */
void check_sense(struct checker *checker, const struct ir_job *job);

/* ---- check_job.c ---- */

/* All jobs; `defaults` is what their settings start from. */
void check_jobs(struct checker *checker, const struct ir_settings *defaults);

/* ---- check_chain.c ---- */

/* All chains, when all jobs are checked. */
void check_chains(struct checker *checker);

#endif
