/* symbols.c - the outline of a file, and the declarations of all files by name. */
#include <ctype.h>
#include <string.h>

#include "lexer.h"
#include "workspace.h"

enum symbol_kind {
    SYMBOL_FIELD = 8,
    SYMBOL_ENUM = 10,
    SYMBOL_FUNCTION = 12,
    SYMBOL_CONSTANT = 14,
    SYMBOL_OBJECT = 19,
    SYMBOL_ENUM_MEMBER = 22,
    SYMBOL_STRUCT = 23
};

/* From the declaration's word to its `}` or `;`, or to `limit`, where the next one begins. */
static struct span decl_span(const struct ast_decl *decl, uint32_t limit)
{
    const struct source *source = decl->name.span.source;
    struct span span = decl->name.span;
    struct lexer lexer = {source->text, source->text + span.offset + span.length,
                          source->text + source->size};
    unsigned depth = 0;
    for (;;) {
        struct token token = lexer_next(&lexer);
        if (token.kind == TOKEN_END || token.offset >= limit)
            return span;
        span.length = token.offset + token.length - span.offset;
        depth += token.kind == TOKEN_LEFT_BRACE;
        if (token.kind == TOKEN_RIGHT_BRACE && depth > 0)
            depth--;
        if (depth == 0 && (token.kind == TOKEN_RIGHT_BRACE || token.kind == TOKEN_SEMICOLON))
            return span;
    }
}

/* The same with the word before the name, which stands on the same line as a rule. */
struct span decl_whole(const struct ast_decl *decl)
{
    const char *word = ast_decl_word(decl->kind);
    uint32_t len = (uint32_t)strlen(word);
    struct span span =
        decl_span(decl, decl->next != NULL ? decl->next->name.span.offset : UINT32_MAX);
    uint32_t at = span.offset;
    while (at > 0 && strchr(" \t", span.source->text[at - 1]) != NULL)
        at--;
    if (decl->kind != DECL_DEFAULTS && at >= len &&
        memcmp(span.source->text + at - len, word, len) == 0) {
        span.length += span.offset - (at - len);
        span.offset = at - len;
    }
    return span;
}

static void symbol_open(struct request *request, struct analysis *analysis, const char *name,
                        enum symbol_kind kind, struct span whole, struct span span)
{
    json_open(request->json, NULL, '{');
    json_text(request->json, "name", name);
    json_number(request->json, "kind", kind);
    write_range(request->json, "range", analysis, whole);
    write_range(request->json, "selectionRange", analysis, span);
}

static void write_fields(struct request *request, struct analysis *analysis,
                         const struct ast_field *field)
{
    for (; field != NULL; field = field->next) {
        symbol_open(request, analysis, field->name.text, SYMBOL_FIELD,
                    span_join(field->type.span, field->name.span), field->name.span);
        json_text(request->json, "detail", field->type.text);
        json_close(request->json, '}');
    }
}

static void write_values(struct request *request, struct analysis *analysis,
                         const struct ast_enum_value *value)
{
    for (; value != NULL; value = value->next) {
        symbol_open(request, analysis, value->name.text, SYMBOL_ENUM_MEMBER, value->name.span,
                    value->name.span);
        json_close(request->json, '}');
    }
}

/* By the declaration's kind. */
static const enum symbol_kind decl_kinds[] = {
    [DECL_ENUM] = SYMBOL_ENUM,       [DECL_STRUCT] = SYMBOL_STRUCT, [DECL_TYPE] = SYMBOL_STRUCT,
    [DECL_POLICY] = SYMBOL_CONSTANT, [DECL_JOB] = SYMBOL_FUNCTION,  [DECL_CHAIN] = SYMBOL_FUNCTION,
    [DECL_DEFAULTS] = SYMBOL_OBJECT,
};

void answer_symbols(struct request *request)
{
    struct target target;
    if (!request_document(request, &target))
        return;
    json_open(request->json, "result", '[');
    for (const struct ast_decl *at = target.module->ast->decls; at != NULL; at = at->next) {
        symbol_open(request, target.analysis, at->name.text, decl_kinds[at->kind], decl_whole(at),
                    at->name.span);
        json_text(request->json, "detail", ast_decl_word(at->kind));
        json_open(request->json, "children", '[');
        write_values(request, target.analysis, at->values);
        write_fields(request, target.analysis, at->fields.first);
        write_fields(request, target.analysis, at->returns.first);
        write_fields(request, target.analysis, at->metadata.first);
        json_close(request->json, ']');
        json_close(request->json, '}');
    }
    json_close(request->json, ']');
}

/* Whether the letters of `wanted` stand in `name` in this order, whatever their case: what is
 * typed to find a name. */
static bool name_has(const char *name, const char *wanted)
{
    for (; *wanted != '\0'; wanted++, name++) {
        while (*name != '\0' && tolower((unsigned char)*name) != tolower((unsigned char)*wanted))
            name++;
        if (*name == '\0')
            return false;
    }
    return true;
}

static void write_found(struct request *request, const struct file *file,
                        const struct ast_decl *decl)
{
    json_open(request->json, NULL, '{');
    json_text(request->json, "name", decl->name.text);
    json_number(request->json, "kind", decl_kinds[decl->kind]);
    write_location(request, "location", file->analysis, file->module, decl->name.span);
    if (file->module->package != NULL)
        json_text(request->json, "containerName", file->module->package);
    json_close(request->json, '}');
}

void answer_find(struct request *request)
{
    const char *wanted = json_string(json_get(request->params, "query"));
    struct workspace workspace;
    unsigned count = 0;
    workspace_open(&workspace, request->server, documents_overlays(&request->server->documents));
    json_open(request->json, "result", '[');
    for (const struct file *file = workspace.files; file != NULL; file = file->next) {
        for (const struct ast_decl *at = file->module->ast->decls; at != NULL; at = at->next) {
            bool is_found =
                at->kind != DECL_DEFAULTS && wanted != NULL && name_has(at->name.text, wanted);
            if (is_found && count++ < LIMIT_ANSWERS)
                write_found(request, file, at);
        }
    }
    json_close(request->json, ']');
    workspace_close(&workspace);
}
