/* check_package.c - the package of a file, and the C names that it begins. */
#include "checker.h"

#include <string.h>

#include "cname.h"

/* Without a package the file's name begins it: culex.job would have that of <culex/job.h>. */
static void check_guard(struct checker *checker)
{
    const struct module *module = checker->module;
    cname_check_free(checker->sink, module->ir->guard, (struct span){module->source, 0, 0},
                     CNAME_CONSTANT);
}

static void check_words(struct checker *checker, const struct ast_name *package)
{
    for (const char *at = package->text; at != NULL;
         at = strchr(at, '.') ? strchr(at, '.') + 1 : NULL) {
        struct ast_name part = {arena_copy(checker->arena, at, strcspn(at, ".")), package->span};
        cname_check_shape(checker->sink, &part);
    }
    if (strncmp(package->text, "culex", 5) == 0 && strchr("._", package->text[5]) != NULL)
        diag_report(checker->sink, DIAG_RESERVED_NAME, package->span,
                    "packages that start with 'culex' belong to Culex itself");
}

static bool has_same_prefix(const char *a, const char *b)
{
    while (*a != '\0' && (*a == *b || (strchr("._", *a) != NULL && strchr("._", *b) != NULL)))
        a++, b++;
    return *a == '\0' && *b == '\0';
}

/* Against the packages of the files that were checked before: what this one imports. */
static void check_prefix(struct checker *checker)
{
    const struct module *module = checker->module;
    if (module->package == NULL)
        return; /* too long, which is an error already */
    for (const struct module *at = checker->compilation->modules; at != module; at = at->next) {
        if (at->package == NULL || strcmp(at->package, module->package) == 0 ||
            !has_same_prefix(at->package, module->package))
            continue;
        diag_report(checker->sink, DIAG_SHARED_PREFIX, module->ast->package.span,
                    "the names of packages '%s' and '%s' start alike in C", module->package,
                    at->package);
        diag_note(checker->sink, at->ast->package.span, "the other package is here");
    }
}

void check_package(struct checker *checker)
{
    const struct ast_name *package = &checker->module->ast->package;
    if (package->text == NULL) {
        check_guard(checker);
        return;
    }
    check_words(checker, package);
    check_prefix(checker);
}
