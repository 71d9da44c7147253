#include "source.h"

#include <string.h>

static void lines_find(struct source *source, struct arena *arena)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < source->size; i++)
        count += source->text[i] == '\n';
    source->lines = arena_alloc(arena, count * sizeof(*source->lines));
    source->line_count = 1;
    for (uint32_t i = 0; i < source->size; i++) {
        if (source->text[i] == '\n')
            source->lines[source->line_count++] = i + 1;
    }
}

struct source *source_create(struct arena *arena, const char *path, const char *text, size_t size)
{
    static const char mark[] = "\xef\xbb\xbf";
    uint32_t skipped = 0;
    if (size >= 3 && memcmp(text, mark, 3) == 0)
        text += 3, size -= 3, skipped = 3;
    struct source *source = arena_alloc(arena, sizeof(*source));
    source->skipped = skipped;
    source->path = arena_copy(arena, path, strlen(path));
    source->text = arena_copy(arena, text, size);
    source->size = (uint32_t)size;
    lines_find(source, arena);
    return source;
}

uint32_t span_line(struct span span)
{
    uint32_t low = 0;
    uint32_t high = span.source->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (span.source->lines[middle] <= span.offset)
            low = middle;
        else
            high = middle;
    }
    return low + 1;
}

struct place span_place(struct span span)
{
    struct place place = {span_line(span), 1};
    for (uint32_t at = span.source->lines[place.line - 1]; at < span.offset; at++)
        place.column += ((unsigned char)span.source->text[at] & 0xc0) != 0x80;
    return place;
}

struct place span_end(struct span span)
{
    return span_place((struct span){span.source, span.offset + span.length, 0});
}

struct span span_with_line(struct span span)
{
    const char *text = span.source->text;
    uint32_t start = span.offset, end = span.offset + span.length;
    while (start > 0 && (text[start - 1] == ' ' || text[start - 1] == '\t'))
        start--;
    end += (uint32_t)strspn(text + end, " \t\r");
    if ((start > 0 && text[start - 1] != '\n') || (end < span.source->size && text[end] != '\n'))
        return span;
    end += end < span.source->size;
    return (struct span){span.source, start, end - start};
}

bool span_add_comma(struct span *span)
{
    const char *text = span->source->text;
    uint32_t start = span->offset;
    while (start > 0 && strchr(" \t\r\n", text[start - 1]) != NULL)
        start--;
    if (start == 0 || text[start - 1] != ',')
        return false;
    span->length += span->offset - (start - 1);
    span->offset = start - 1;
    return true;
}

struct span span_with_blanks(struct span span)
{
    span.length += (uint32_t)strspn(span.source->text + span.offset + span.length, " \t");
    return span;
}

struct span span_join(struct span first, struct span last)
{
    first.length = last.offset + last.length - first.offset;
    return first;
}

const char *source_line(const struct source *source, uint32_t line, size_t *ret_len)
{
    uint32_t start = source->lines[line - 1];
    uint32_t end = line < source->line_count ? source->lines[line] - 1 : source->size;
    if (end > start && source->text[end - 1] == '\r')
        end--;
    *ret_len = end - start;
    return source->text + start;
}
