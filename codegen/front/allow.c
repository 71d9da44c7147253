#include "allow.h"

#include <string.h>

#include "allowance.h"
#include "base/utf8.h"
#include "lexer.h"

/* A comment while it is read. */
struct reading {
    struct diag_sink *sink;
    struct source *source;
    struct span comment;
    uint32_t line;
};

static const char mark[] = "culexc:allow";

static void allowance_add(const struct reading *reading, enum diag_id id, struct span span)
{
    struct allowance *allowance = arena_alloc(reading->sink->arena, sizeof(*allowance));
    *allowance = (struct allowance){
        .id = id, .span = span, .whole = reading->comment, .line = reading->line};
    allowance_keep(reading->sink->arena, reading->source, allowance);
}

/* The suggestion is looked for only when it is shown: a file may have many of these. */
static void report_unknown(const struct reading *reading, const char *slug, struct span span)
{
    struct diag_sink *sink = reading->sink;
    struct suggestion near;
    enum diag_id id = DIAG_COUNT;
    diag_report(sink, DIAG_BAD_ALLOW, span, "no diagnostic is called '%.64s'", slug);
    if (sink->current == NULL)
        return;
    diag_find(slug, &near);
    diag_suggest(sink, span, &near);
    if (near.best != NULL) /* What was to be kept must not be fixed away. */
        id = diag_find(near.best, NULL);
    if (id != DIAG_COUNT && diag_default_severity(id) != DIAG_ERROR)
        allowance_add(reading, id, span);
}

static void id_read(const struct reading *reading, struct span span)
{
    struct diag_sink *sink = reading->sink;
    const char *slug = arena_copy(sink->arena, span.source->text + span.offset, span.length);
    enum diag_id id = diag_find(slug, NULL);
    if (id == DIAG_COUNT) {
        report_unknown(reading, slug, span);
    } else if (diag_default_severity(id) == DIAG_ERROR) {
        diag_report(sink, DIAG_BAD_ALLOW, span,
                    "'%s' is an error, and only warnings can be allowed", slug);
    } else {
        allowance_add(reading, id, span);
    }
}

/* "(id, id)" at `at`, which lies inside the comment. */
static void ids_read(const struct reading *reading, uint32_t at)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    const char *text = reading->source->text;
    uint32_t end = reading->comment.offset + reading->comment.length;
    bool is_list = at < end && text[at] == '(';
    while (is_list && at < end && text[at] != ')') {
        at++;
        at += (uint32_t)strspn(text + at, " \t");
        uint32_t length = (uint32_t)strspn(text + at, letters);
        if (length > 0)
            id_read(reading, (struct span){reading->source, at, length});
        at += length + (uint32_t)strspn(text + at + length, " \t");
        is_list = length > 0 && at < end && (text[at] == ',' || text[at] == ')');
    }
    if (!is_list)
        diag_report(reading->sink, DIAG_BAD_ALLOW, reading->comment,
                    "write 'culexc:allow(ID) reason'");
}

/* The comment at `from`, up to where it ends; `line` is what it covers. */
static void comment_read(struct diag_sink *sink, struct source *source, uint32_t from, uint32_t to,
                         uint32_t line)
{
    const char *text = source->text;
    uint32_t at = from + 2;
    at += (uint32_t)strspn(text + at, " \t");
    if (to - at < sizeof(mark) - 1 || memcmp(text + at, mark, sizeof(mark) - 1) != 0)
        return;
    struct reading reading = {sink, source, {source, from, to - from}, line};
    ids_read(&reading, at + (uint32_t)sizeof(mark) - 1);
}

static uint32_t line_at(const struct source *source, uint32_t offset)
{
    return span_line((struct span){source, offset, 0});
}

static uint32_t comment_end(const char *text, uint32_t at, uint32_t to)
{
    if (text[at + 1] == '/') {
        const char *end = memchr(text + at, '\n', to - at);
        at = end == NULL ? to : (uint32_t)(end - text);
        return text[at - 1] == '\r' ? at - 1 : at;
    }
    for (at += 2; at + 2 < to && (text[at] != '*' || text[at + 1] != '/');)
        at++;
    return at + 2 < to ? at + 2 : to;
}

/* Between two tokens there are blanks and comments, and nothing that only looks like them. */
static void gap_read(struct diag_sink *sink, struct source *source, uint32_t from, uint32_t to)
{
    for (uint32_t at = from; at + 1 < to;) {
        if (source->text[at] != '/') {
            at++;
            continue;
        }
        uint32_t end = comment_end(source->text, at, to);
        uint32_t line = line_at(source, at);
        bool is_behind = from > 0 && line_at(source, from - 1) == line;
        comment_read(sink, source, at, end, is_behind ? line : line_at(source, to));
        at = end;
    }
}

void allow_read(struct diag_sink *sink, struct source *source)
{
    struct lexer lexer;
    struct token token;
    uint32_t from = 0;
    map_init(&source->allowed, sink->arena);
    if (memmem(source->text, source->size, mark, sizeof(mark) - 1) == NULL ||
        !culex__utf8_is_valid(source->text, source->size))
        return;
    lexer_init(&lexer, source);
    do {
        token = lexer_next(&lexer);
        if (token.kind == TOKEN_DOC || token.kind == TOKEN_DOC_AFTER)
            continue;
        gap_read(sink, source, from, token.offset);
        from = token.offset + token.length;
    } while (token.kind != TOKEN_END);
}

void allow_report_unused(struct diag_sink *sink, const struct source *source,
                         bool (*was_sought)(enum diag_id id, const void *context),
                         const void *context)
{
    for (const struct allowance *at = source->allowances; at != NULL && !sink->has_more_warnings;
         at = at->next) {
        if (at->is_used || !was_sought(at->id, context))
            continue;
        diag_report(sink, DIAG_UNUSED_ALLOW, at->span, "there is no '%s' here to be allowed",
                    diag_slug(at->id));
        if (memchr(source->text + at->whole.offset, ',', at->whole.length) == NULL)
            diag_fix(sink, FIX_MAYBE_INCORRECT, span_with_line(at->whole), "%s", "");
    }
}
