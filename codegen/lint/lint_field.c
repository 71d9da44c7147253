/* lint_field.c - fields as written and as checked, and attributes that are left without a text. */
#include "linter.h"

#include <assert.h>
#include <string.h>

/* An array that lies inside its struct may be this large. */
enum { ARRAY_BYTES = 16 * 1024 };

/* Texts and bytes that are called so are secrets ... */
static const char *const secrets[] = {
    "password",   "passwd",      "passphrase",  "secret",   "token",
    "credential", "credentials", "api_key",     "apikey",   "private_key",
    "access_key", "secret_key",  "signing_key", "auth_key", "encryption_key",
    "bearer",     "cvv",         "cvc",         "otp",      "card_number",
    NULL};
/* ... unless they only speak of one. */
static const char *const about_secrets[] = {"id",   "name", "type", "kind",  "url",
                                            "hint", "path", "file", "label", NULL};

static const char *const moneys[] = {"price",  "amount",  "cost",    "fee",    "money",
                                     "salary", "balance", "payment", "refund", "charge",
                                     "budget", "revenue", "invoice", NULL};
static const char *const ratios[] = {"rate", "ratio", "percent", "factor", "share", "score", NULL};

static const char *const units[] = {"_ns",      "_us",      "_ms",    "_s",      "_sec", "_secs",
                                    "_seconds", "_minutes", "_hours", "_millis", NULL};

static bool is_secret_name(const char *name)
{
    for (size_t i = 0; about_secrets[i] != NULL; i++) {
        if (name_ends(name, about_secrets[i]))
            return false;
    }
    return name_has_any(name, secrets);
}

void lint_deprecated(struct linter *linter, const struct ast_attr *attrs)
{
    const struct ast_attr *attr = ast_attr_find(attrs, "deprecated");
    if (attr == NULL || (attr->args != NULL && attr->args->len > 0) ||
        !lint_report(linter, DIAG_DEPRECATED_SILENT, attr->name.span,
                     "this does not say what to use instead"))
        return;
    struct span end = {attr->name.span.source, attr->name.span.offset + attr->name.span.length, 0};
    diag_help(linter->sink, "add a text: [[deprecated(\"use ...\")]]");
    if (attr->args == NULL)
        diag_fix(linter->sink, FIX_HAS_PLACEHOLDERS, end, "(\"use ...\")");
}

static void fix_secret(struct linter *linter, const struct ast_field *ast)
{
    struct span span = ast->name.span;
    diag_help(linter->sink, "mark it: [[secret]]");
    span.offset += span.length;
    span.length = 0;
    if (ast->attrs != NULL) {
        span.offset = ast->attrs->name.span.offset;
        diag_fix(linter->sink, FIX_MAYBE_INCORRECT, span, "secret, ");
    } else if (ast->shape == SHAPE_SINGLE) {
        diag_fix(linter->sink, FIX_MAYBE_INCORRECT, span, " [[secret]]");
    }
}

static void lint_secret(struct linter *linter, const struct ast_field *ast,
                        const struct ir_field *field)
{
    bool is_text = field->kind == IR_STRING || field->kind == IR_BYTES || field->kind == IR_USER ||
                   (field->kind == IR_UINT8 && field->shape == SHAPE_ARRAY);
    if (is_text && !field->is_secret && is_secret_name(field->name) &&
        lint_report(linter, DIAG_SECRET_NAME, ast->name.span,
                    "'%s' looks like a secret and is not marked as one", field->name))
        fix_secret(linter, ast);
}

static void lint_shape(struct linter *linter, const struct ast_field *ast,
                       const struct ir_field *field)
{
    unsigned long long size = field->structure != NULL ? field->structure->cells * 8 : 8;
    if (ir_kinds[field->kind].bits > 0)
        size = ir_kinds[field->kind].bits / 8;
    size *= field->shape == SHAPE_ARRAY ? (unsigned long long)field->count : 0;
    if (size > ARRAY_BYTES)
        lint_report(linter, DIAG_LARGE_ARRAY, ast->count.span,
                    "this array takes about %llu bytes of every struct that holds it", size);
    if (field->is_optional && field->kind == IR_BOOL)
        lint_report(linter, DIAG_OPTIONAL_BOOL, ast->optional, "'%s' is true, false or absent",
                    field->name);
    if ((field->kind == IR_FLOAT32 || field->kind == IR_FLOAT64) &&
        name_has_any(field->name, moneys) && !name_has_any(field->name, ratios) &&
        lint_report(linter, DIAG_FLOAT_MONEY, ast->type.span,
                    "'%s' looks like money, which a %s rounds", field->name,
                    ir_kinds[field->kind].word))
        diag_help(linter->sink, "count cents, or whatever is smallest, in an int64");
}

static bool ends_with_unit(const char *name)
{
    for (size_t i = 0; units[i] != NULL; i++) {
        if (name_ends(name, units[i] + 1))
            return true;
    }
    return false;
}

/* The type that the name of a string or an integer asks for, or NULL. */
static const char *type_wanted(const struct ir_field *field)
{
    bool is_integer = ir_kinds[field->kind].bits > 0;
    if (!is_integer && field->kind != IR_STRING)
        return NULL;
    if (name_ends(field->name, "at"))
        return "timestamp";
    if (is_integer)
        return ends_with_unit(field->name) ? "duration" : NULL;
    if (name_ends(field->name, "uuid") || name_ends(field->name, "guid"))
        return "uuid";
    return name_ends(field->name, "base64") || name_ends(field->name, "hex") ? "bytes" : NULL;
}

static void lint_type(struct linter *linter, const struct ast_field *ast,
                      const struct ir_field *field)
{
    const char *wanted = type_wanted(field);
    if (wanted != NULL && field->shape != SHAPE_ARRAY &&
        lint_report(linter, DIAG_TYPE_FOR_NAME, ast->type.span, "'%s' is called as a %s is",
                    field->name, wanted))
        diag_help(linter->sink, "in a schema that is not in use yet, make it a %s", wanted);
    if ((field->kind == IR_TIMESTAMP || field->kind == IR_DURATION) && ends_with_unit(field->name))
        lint_report(linter, DIAG_UNIT_IN_NAME, ast->name.span,
                    "a %s has its unit already, '%s' names another", ir_kinds[field->kind].word,
                    field->name);
}

static void lint_bounds(struct linter *linter, const struct ast_field *ast,
                        const struct ir_field *field)
{
    if ((field->kind == IR_STRING || field->kind == IR_BYTES) && field->max_len < 0)
        lint_report(linter, DIAG_STRING_UNBOUNDED, ast->name.span, "'%s' can be of any length",
                    field->name);
    if (field->shape == SHAPE_LIST && field->count < 0)
        lint_report(linter, DIAG_LIST_UNBOUNDED, ast->name.span,
                    "'%s' can hold any number of values", field->name);
}

void lint_fields(struct linter *linter, const struct ast_field *ast, const struct ir_field *field,
                 enum lint_home home)
{
    for (; field != NULL; ast = ast->next, field = field->next) {
        assert(ast != NULL && strcmp(ast->name.text, field->name) == 0);
        lint_deprecated(linter, ast->attrs);
        if (field->deprecated != NULL && field->is_required && home != LINT_RETURNS)
            lint_report(linter, DIAG_DEPRECATED_REQUIRED, ast->name.span,
                        "'%s' is deprecated, and everybody has to pass it", field->name);
        lint_secret(linter, ast, field);
        lint_shape(linter, ast, field);
        lint_type(linter, ast, field);
        if (home != LINT_RETURNS)
            lint_bounds(linter, ast, field);
    }
}
