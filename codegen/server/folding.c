/* folding.c - what an editor may fold away: blocks, runs of comments, and the imports. */
#include <string.h>

#include "lexer.h"
#include "request.h"

enum { BLOCKS_MAX = 64 }; /* inside each other; deeper ones are not folded */

struct folding {
    struct request *request;
    const struct lines *lines;
    const struct source *source;
    unsigned count;
};

static uint32_t line_of(const struct folding *folding, size_t offset)
{
    return lines_position(folding->lines, offset).line;
}

static void fold(struct folding *folding, uint32_t first, uint32_t last, const char *kind)
{
    struct json_out *json = folding->request->json;
    if (first >= last || folding->count++ >= LIMIT_ANSWERS)
        return;
    json_open(json, NULL, '{');
    json_number(json, "startLine", first);
    json_number(json, "endLine", last);
    if (kind != NULL)
        json_text(json, "kind", kind);
    json_close(json, '}');
}

/* Each `{` to the line before its `}`, which stays in sight. */
static void fold_blocks(struct folding *folding)
{
    uint32_t opened[BLOCKS_MAX];
    unsigned depth = 0;
    struct lexer lexer;
    struct token token;
    lexer_init(&lexer, folding->source);
    while ((token = lexer_next(&lexer)).kind != TOKEN_END) {
        if (token.kind == TOKEN_LEFT_BRACE) {
            if (depth < BLOCKS_MAX)
                opened[depth] = line_of(folding, token.offset);
            depth++;
        } else if (token.kind == TOKEN_RIGHT_BRACE && depth > 0) {
            uint32_t last = line_of(folding, token.offset);
            if (--depth < BLOCKS_MAX && last > 0)
                fold(folding, opened[depth], last - 1, NULL);
        }
    }
}

/* Whether nothing but a comment to the line's end stands on the line at `offset`. */
static bool is_comment_line(const struct source *source, size_t offset)
{
    while (offset < source->size && strchr(" \t", source->text[offset]) != NULL)
        offset++;
    return offset + 1 < source->size && source->text[offset] == '/' &&
           source->text[offset + 1] == '/';
}

static void fold_comments(struct folding *folding)
{
    const struct lines *lines = folding->lines;
    uint32_t first = 0;
    bool is_in_run = false;
    for (uint32_t line = 0; line < lines->count; line++) {
        size_t offset = lines_offset(lines, (struct position){line, 0});
        bool is_comment = is_comment_line(folding->source, offset);
        if (is_comment && !is_in_run)
            first = line;
        if (!is_comment && is_in_run)
            fold(folding, first, line - 1, "comment");
        is_in_run = is_comment;
    }
    if (is_in_run)
        fold(folding, first, lines->count - 1, "comment");
}

static void fold_imports(struct folding *folding, const struct ast_import *import)
{
    if (import == NULL)
        return;
    uint32_t first = line_of(folding, import->span.offset);
    while (import->next != NULL)
        import = import->next;
    fold(folding, first, line_of(folding, import->span.offset), "imports");
}

void answer_folding(struct request *request)
{
    struct target target;
    if (!request_document(request, &target))
        return;
    struct folding folding = {request, analysis_lines(target.analysis, target.source),
                              target.source, 0};
    json_open(request->json, "result", '[');
    fold_blocks(&folding);
    fold_comments(&folding);
    fold_imports(&folding, target.module->ast->imports);
    json_close(request->json, ']');
}
