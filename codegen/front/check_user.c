/* check_user.c - types of the user's own: their base, their header, their functions. */
#include "checker.h"

#include <string.h>

#include "cname.h"
#include "fnv.h"
#include "suggest.h"

enum { HEADER_BYTES_MAX = 200 };

static void check_base(struct checker *checker, const struct ast_name *base)
{
    const char *word = ir_kinds[IR_STRING].word;
    if (base->text == NULL || strcmp(base->text, word) == 0)
        return;
    struct suggestion near = suggestion_start(base->text);
    suggestion_offer(&near, word);
    diag_report(checker->sink, DIAG_BAD_TYPE_BASE, base->span,
                "a type of your own is written as a 'string', not as a '%.64s'", base->text);
    if (near.best != NULL)
        diag_suggest(checker->sink, base->span, &near);
}

static bool is_path_byte(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || (byte != '\0' && strchr("_-.+/", byte) != NULL);
}

/* NULL: the path may stand in an #include. */
static const char *header_fault(const struct literal *header)
{
    const char *path = header->text;
    if (header->len == 0)
        return "the header has no name";
    if (header->len > HEADER_BYTES_MAX)
        return "the header has a longer path than 200 bytes";
    for (size_t at = 0; at < header->len; at++) {
        if (!is_path_byte(path[at]))
            return "the header's path has a character that is no letter, digit or one of '_-.+/'";
    }
    if (path[0] == '/')
        return "the header's path is absolute";
    for (const char *at = path; at != NULL; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return "the header's path leaves its folder";
    }
    return path[header->len - 1] == '/' ? "the header is a folder" : NULL;
}

static void check_header(struct checker *checker, const struct literal *header)
{
    if (header->kind != LITERAL_STRING)
        return;
    const char *fault = header_fault(header);
    if (fault == NULL && strcmp(header->text, checker->module->header) == 0)
        fault = "this header is the one that is generated from this file";
    if (fault == NULL)
        return;
    diag_report(checker->sink, DIAG_BAD_TYPE_HEADER, header->span, "%s", fault);
    diag_help(checker->sink, "name it as in an #include, as \"money.h\", and give the C compiler "
                             "its folder by -I");
}

static void check_functions(struct checker *checker, const struct ast_decl *decl)
{
    const struct ast_name *names[] = {&decl->parse, &decl->format};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i]->text != NULL && cname_check_shape(checker->sink, names[i]))
            cname_check_free(checker->sink, names[i]->text, names[i]->span, CNAME_FIELD);
    }
    if (decl->parse.text == NULL || decl->format.text == NULL ||
        strcmp(decl->parse.text, decl->format.text) != 0)
        return;
    diag_report(checker->sink, DIAG_BAD_TYPE_FUNCTION, decl->format.span,
                "'%s' cannot both read and write the text", decl->format.text);
    diag_help(checker->sink, "name first the function that reads it, then the one that writes it");
}

/* What the text looks like only the functions know, so the name stands for that. */
static uint64_t fingerprint(const struct ir_user *type)
{
    const char *dot = strrchr(type->name, '.');
    return fnv_text(fnv_text(FNV_START, "string\n"), dot == NULL ? type->name : dot + 1);
}

struct ir_user *check_user(struct checker *checker, const struct ast_decl *decl,
                           const char *qualified)
{
    struct ir_user *type = arena_alloc(checker->arena, sizeof(*type));
    type->name = qualified;
    cname_fill(checker->arena, checker->module->package, decl, type);
    type->doc = decl->doc;
    type->line = span_line(decl->name.span);
    type->decl = decl;
    type->header = decl->header.text;
    type->parse = decl->parse.text;
    type->format = decl->format.text;
    type->fingerprint = fingerprint(type);
    check_base(checker, &decl->base);
    check_header(checker, &decl->header);
    check_functions(checker, decl);
    check_struct_attrs(checker, decl->attrs);
    return type;
}
