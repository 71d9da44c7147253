/* lint_name.c - names and comments of a whole file. */
#include "linter.h"

#include <ctype.h>
#include <string.h>

bool name_ends(const char *name, const char *end)
{
    size_t len = strlen(name);
    size_t tail = strlen(end);
    return len >= tail && strcasecmp(name + len - tail, end) == 0 &&
           (len == tail || name[len - tail - 1] == '_');
}

bool name_has(const char *name, const char *part)
{
    size_t len = strlen(part);
    for (const char *at = name; at != NULL; at = strchr(at, '_')) {
        at += *at == '_';
        size_t plural = strncasecmp(at, part, len) == 0 && at[len] == 's';
        if (strncasecmp(at, part, len) == 0 &&
            (at[len + plural] == '_' || at[len + plural] == '\0'))
            return true;
    }
    return false;
}

bool name_has_any(const char *name, const char *const *parts)
{
    while (*parts != NULL && !name_has(name, *parts))
        parts++;
    return *parts != NULL;
}

/* The checker has made sure of letters, digits and single underscores. */
static bool is_lower(const char *name)
{
    while (*name != '\0' && !isupper((unsigned char)*name))
        name++;
    return *name == '\0';
}

static bool is_upper(const char *name)
{
    while (*name != '\0' && !islower((unsigned char)*name))
        name++;
    return *name == '\0';
}

static bool has_prefix(const char *name, const char *prefix)
{
    size_t len = strlen(prefix);
    return strncasecmp(name, prefix, len) == 0 && name[len] == '_' && name[len + 1] != '\0';
}

static void lint_file(struct linter *linter)
{
    const struct module *module = linter->module;
    struct span start = {module->source, 0, 0};
    const struct ast_name *package = &module->ast->package;
    if (!is_lower(module->stem))
        lint_report(linter, DIAG_FILE_NAME, start, "'%s.job' is not in lower case", module->stem);
    if (package->text == NULL && module->ast->decls != NULL &&
        lint_report(linter, DIAG_NO_PACKAGE, start, "this schema is in no package"))
        diag_help(linter->sink, "start it with a package, as in 'package shop;'");
    if (package->text != NULL && !is_lower(package->text))
        lint_report(linter, DIAG_PACKAGE_NAME, package->span, "'%s' is not in lower_snake_case",
                    package->text);
}

static void lint_case(struct linter *linter, enum diag_id id, const struct ast_name *name)
{
    if (!is_lower(name->text))
        lint_report(linter, id, name->span, "'%s' is not in lower_snake_case", name->text);
}

static void lint_field_names(struct linter *linter, const struct ast_field *field)
{
    for (; field != NULL; field = field->next) {
        lint_case(linter, DIAG_FIELD_NAME, &field->name);
        if (field->doc == NULL)
            lint_report(linter, DIAG_UNDOCUMENTED_FIELD, field->name.span,
                        "nothing says what '%s' means", field->name.text);
    }
}

static void lint_value_names(struct linter *linter, const struct ast_decl *decl)
{
    bool is_repeated = decl->values != NULL;
    for (const struct ast_enum_value *value = decl->values; value != NULL; value = value->next) {
        if (!is_upper(value->name.text))
            lint_report(linter, DIAG_VALUE_NAME, value->name.span,
                        "'%s' is not in UPPER_SNAKE_CASE", value->name.text);
        if (value->doc == NULL)
            lint_report(linter, DIAG_UNDOCUMENTED_VALUE, value->name.span,
                        "nothing says what '%s' means", value->name.text);
        is_repeated = is_repeated && has_prefix(value->name.text, decl->name.text);
    }
    if (is_repeated)
        lint_report(linter, DIAG_REPEATS_ENUM, decl->name.span,
                    "every value of '%s' repeats its name", decl->name.text);
}

static void lint_package(struct linter *linter, const struct ast_decl *decl)
{
    const char *package = linter->module->package;
    const char *last = package == NULL ? NULL : strrchr(package, '.');
    if (package != NULL && has_prefix(decl->name.text, last == NULL ? package : last + 1))
        lint_report(linter, DIAG_REPEATS_PACKAGE, decl->name.span, "'%s' repeats the package '%s'",
                    decl->name.text, package);
}

static void lint_decl(struct linter *linter, const struct ast_decl *decl)
{
    bool is_job = decl->kind == DECL_JOB || decl->kind == DECL_CHAIN;
    lint_case(linter, is_job ? DIAG_JOB_NAME : DIAG_TYPE_NAME, &decl->name);
    if (decl->doc == NULL)
        lint_report(linter, is_job ? DIAG_UNDOCUMENTED_JOB : DIAG_UNDOCUMENTED_TYPE,
                    decl->name.span, "nothing says what '%s' is for", decl->name.text);
    if (decl->kind == DECL_JOB && name_ends(decl->name.text, "job"))
        lint_report(linter, DIAG_JOB_SUFFIX, decl->name.span, "in C this becomes '%s_job'",
                    decl->name.text);
    if (decl->kind != DECL_POLICY)
        lint_package(linter, decl);
    lint_value_names(linter, decl);
    lint_field_names(linter, decl->fields.first);
    lint_field_names(linter, decl->returns.first);
    lint_field_names(linter, decl->metadata.first);
}

void lint_names(struct linter *linter)
{
    lint_file(linter);
    for (const struct ast_decl *decl = linter->module->ast->decls; decl != NULL;
         decl = decl->next) {
        if (decl->kind != DECL_DEFAULTS)
            lint_decl(linter, decl);
    }
}
