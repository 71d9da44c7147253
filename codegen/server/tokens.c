/* tokens.c - what each name means, for colours that a grammar cannot know. Words, texts, numbers
 * and comments are left to the editor's grammar. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"

/* The order is that of the legend below. */
enum token_type {
    TYPE_BUILTIN,
    TYPE_ENUM,
    TYPE_STRUCT,
    TYPE_POLICY,
    TYPE_JOB,
    TYPE_FIELD,
    TYPE_VALUE
};
enum token_modifier { IS_DECLARATION = 1, IS_DEPRECATED = 2, IS_OF_LANGUAGE = 4 };

void write_token_legend(struct json_out *json)
{
    static const char *const types[] = {"type",     "enum",     "struct",    "variable",
                                        "function", "property", "enumMember"};
    static const char *const modifiers[] = {"declaration", "deprecated", "defaultLibrary"};
    json_open(json, "legend", '{');
    json_open(json, "tokenTypes", '[');
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        json_text(json, NULL, types[i]);
    json_close(json, ']');
    json_open(json, "tokenModifiers", '[');
    for (size_t i = 0; i < sizeof(modifiers) / sizeof(modifiers[0]); i++)
        json_text(json, NULL, modifiers[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static enum token_type thing_type(const struct thing *thing)
{
    static const enum token_type decls[] = {
        [DECL_ENUM] = TYPE_ENUM,     [DECL_STRUCT] = TYPE_STRUCT, [DECL_TYPE] = TYPE_STRUCT,
        [DECL_POLICY] = TYPE_POLICY, [DECL_JOB] = TYPE_JOB,       [DECL_CHAIN] = TYPE_JOB,
        [DECL_DEFAULTS] = TYPE_JOB};
    return thing->kind == THING_BUILTIN ? TYPE_BUILTIN
           : thing->kind == THING_FIELD ? TYPE_FIELD
           : thing->kind == THING_VALUE ? TYPE_VALUE
                                        : decls[thing->decl->kind];
}

static bool is_deprecated(const struct thing *thing)
{
    const struct ast_attr *at = thing->kind == THING_FIELD   ? thing->field->attrs
                                : thing->kind == THING_VALUE ? thing->value->attrs
                                : thing->kind == THING_DECL  ? thing->decl->attrs
                                                             : NULL;
    while (at != NULL && strcmp(at->name.text, "deprecated") != 0)
        at = at->next;
    return at != NULL;
}

static unsigned mark_modifiers(const struct mark *mark)
{
    if (mark->thing.kind == THING_BUILTIN)
        return IS_OF_LANGUAGE;
    return (mark_is_declaration(mark) ? IS_DECLARATION : 0u) |
           (is_deprecated(&mark->thing) ? IS_DEPRECATED : 0u);
}

static int marks_compare(const void *a, const void *b)
{
    uint32_t first = (*(const struct mark *const *)a)->span.offset;
    uint32_t second = (*(const struct mark *const *)b)->span.offset;
    return (first > second) - (first < second);
}

/* The names in their order, an imported path left out: it is a text. */
static const struct mark **marks_sorted(struct arena *arena, const struct mark *marks,
                                        size_t *ret_count)
{
    size_t count = 0;
    for (const struct mark *at = marks; at != NULL; at = at->next)
        count += at->thing.kind != THING_FILE;
    const struct mark **sorted = arena_alloc(arena, (count + 1) * sizeof(*sorted));
    *ret_count = count;
    for (const struct mark *at = marks; at != NULL; at = at->next) {
        if (at->thing.kind != THING_FILE)
            sorted[--count] = at;
    }
    qsort(sorted, *ret_count, sizeof(*sorted), marks_compare);
    return sorted;
}

/* Five numbers a name: lines and columns from the one before, units, type, modifiers. */
static void write_tokens(struct json_out *json, const struct lines *lines,
                         const struct mark *const *marks, size_t count)
{
    struct position last = {0, 0};
    size_t end = 0;
    for (size_t i = 0; i < count; i++) {
        struct span span = marks[i]->span;
        struct position from = lines_position(lines, span.offset);
        struct position to = lines_position(lines, (size_t)span.offset + span.length);
        if (span.offset < end || to.line != from.line || to.character == from.character)
            continue; /* Two names at one place, in a text that is half written. */
        assert(from.line >= last.line); /* The marks are sorted. */
        json_number(json, NULL, from.line - last.line);
        json_number(json, NULL,
                    from.line == last.line ? from.character - last.character : from.character);
        json_number(json, NULL, to.character - from.character);
        json_number(json, NULL, thing_type(&marks[i]->thing));
        json_number(json, NULL, mark_modifiers(marks[i]));
        last = from;
        end = (size_t)span.offset + span.length;
    }
}

void answer_tokens(struct request *request)
{
    struct target target;
    size_t count;
    if (!request_document(request, &target))
        return;
    const struct mark *marks = marks_find(&target.analysis->compilation, target.module);
    const struct mark **sorted = marks_sorted(request->arena, marks, &count);
    json_open(request->json, "result", '{');
    json_open(request->json, "data", '[');
    write_tokens(request->json, analysis_lines(target.analysis, target.source), sorted, count);
    json_close(request->json, ']');
    json_close(request->json, '}');
}
