#include "fix.h"

#include <inttypes.h>
#include <string.h>

enum { TITLE_SHOWN = 60 };

/* The first line of a text, cut when it is long. */
static const char *excerpt(struct arena *arena, const char *text, size_t len)
{
    const char *line = memchr(text, '\n', len);
    size_t shown = line == NULL ? len : (size_t)(line - text);
    bool is_whole = shown + 1 >= len;
    while (shown > 0 && strchr(" \t\r", text[shown - 1]) != NULL)
        shown--;
    if (shown > TITLE_SHOWN)
        shown = TITLE_SHOWN, is_whole = false;
    return arena_printf(arena, "%.*s%s", (int)shown, text, is_whole ? "" : "...");
}

const char *fix_title(struct arena *arena, const struct diag_fix *fix)
{
    struct span span = fix->span;
    const char *before = excerpt(arena, span.source->text + span.offset, span.length);
    const char *after = excerpt(arena, fix->text, strlen(fix->text));
    if (span.length == 0)
        return arena_printf(arena, "insert '%s'", after);
    if (fix->text[0] == '\0')
        return arena_printf(arena, "remove '%s'", before);
    return arena_printf(arena, "change '%s' to '%s'", before, after);
}

/* The fixes that are taken, in the order of the text. */
struct taken {
    const struct diag_fix **items;
    size_t count;
};

static uint32_t end_of(const struct diag_fix *fix)
{
    return fix->span.offset + fix->span.length;
}

/* Two insertions at one place have no order, so they do not agree either. */
static bool is_apart(const struct diag_fix *a, const struct diag_fix *b)
{
    return end_of(a) < b->span.offset || end_of(b) < a->span.offset ||
           (a->span.length > 0 && b->span.length > 0 &&
            (end_of(a) == b->span.offset || end_of(b) == a->span.offset));
}

static bool fits(const struct taken *taken, const struct diag_fix *fix, const struct source *source)
{
    bool is_good = fix->span.source == source;
    for (size_t i = 0; i < taken->count && is_good; i++)
        is_good = is_apart(taken->items[i], fix);
    return is_good;
}

static void insert(struct taken *taken, const struct diag_fix *fix)
{
    size_t at = taken->count++;
    for (; at > 0 && taken->items[at - 1]->span.offset > fix->span.offset; at--)
        taken->items[at] = taken->items[at - 1];
    taken->items[at] = fix;
}

static void log_write(const struct diag_sink *sink, const struct diag *diag, struct buf *log)
{
    for (const struct diag_fix *fix = diag->fixes; fix != NULL; fix = fix->next) {
        struct place place = span_place(fix->span);
        buf_printf(log, "%s:%" PRIu32 ":%" PRIu32 ": fix: %s [%s]\n", fix->span.source->path,
                   place.line, place.column, fix_title(sink->arena, fix), diag_slug(diag->id));
    }
}

static bool is_due(const struct diag_sink *sink, const struct diag *diag)
{
    return diag->fixes != NULL && diag->applicability == FIX_MACHINE_APPLICABLE &&
           (diag_default_severity(diag->id) == DIAG_ERROR || !sink->has_faults);
}

/* All changes of a diagnostic or none. */
static bool take(struct taken *taken, const struct diag *diag, const struct source *source)
{
    for (const struct diag_fix *fix = diag->fixes; fix != NULL; fix = fix->next) {
        if (!fits(taken, fix, source))
            return false;
    }
    for (const struct diag_fix *fix = diag->fixes; fix != NULL; fix = fix->next)
        insert(taken, fix);
    return true;
}

static size_t fix_count(const struct diag_sink *sink)
{
    size_t count = 1; /* No array is empty. */
    for (const struct diag *diag = sink->first; diag != NULL; diag = diag->next) {
        for (const struct diag_fix *fix = diag->fixes; fix != NULL; fix = fix->next)
            count++;
    }
    return count;
}

unsigned fix_apply(const struct diag_sink *sink, const struct source *source, struct buf *ret_text,
                   struct buf *ret_log)
{
    struct taken taken = {arena_alloc(sink->arena, fix_count(sink) * sizeof(*taken.items)), 0};
    unsigned fixed = 0;
    uint32_t at = 0;
    for (const struct diag *diag = sink->first; diag != NULL; diag = diag->next) {
        if (!is_due(sink, diag) || !take(&taken, diag, source))
            continue;
        log_write(sink, diag, ret_log);
        fixed++;
    }
    buf_append(ret_text, "\xef\xbb\xbf", source->skipped);
    for (size_t i = 0; i < taken.count; i++) {
        const struct diag_fix *fix = taken.items[i];
        buf_append(ret_text, source->text + at, fix->span.offset - at);
        buf_text(ret_text, fix->text);
        at = end_of(fix);
    }
    buf_append(ret_text, source->text + at, source->size - at);
    return fixed;
}
