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

/* The least code point that needs a sequence of this length: a smaller one was
 * written too long, which is malformed. */
static const uint32_t code_min[] = {0, 0, 0x80, 0x800, 0x10000};

static size_t sequence_length(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead < 0xe0)
        return 2;
    if (lead >= 0xe0 && lead < 0xf0)
        return 3;
    return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

size_t utf8_sequence(const char *text, size_t len, uint32_t *ret_code)
{
    const unsigned char *byte = (const unsigned char *)text;
    size_t length = len == 0 ? 0 : sequence_length(byte[0]);
    if (length == 0 || length > len)
        return 0;
    uint32_t code = length == 1 ? byte[0] : byte[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (byte[i] & 0x3fu);
    }
    if (code < code_min[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    if (ret_code != NULL)
        *ret_code = code;
    return length;
}

size_t utf8_valid_prefix(const char *text, size_t len)
{
    size_t at = 0;
    while (at < len) {
        size_t length = utf8_sequence(text + at, len - at, NULL);
        if (length == 0)
            break;
        at += length;
    }
    return at;
}

bool utf8_is_deceptive(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0x00, 0x1f},      {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
                  {0x180e, 0x180e},  {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
                  {0xfe00, 0xfe0f},  {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xfffe, 0xffff},
                  {0xe0000, 0xe0fff}};
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    }
    return false;
}
