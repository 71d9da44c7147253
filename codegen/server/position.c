#include "position.h"

#include <assert.h>

#include "base/utf8.h"

enum { BLOCK_BYTES = 1024 };

bool position_read(const struct json *json, struct position *ret_position)
{
    return json_count(json_get(json, "line"), &ret_position->line) &&
           json_count(json_get(json, "character"), &ret_position->character);
}

static bool is_line_end(const char *text, size_t size, size_t at)
{
    return text[at] == '\n' || (text[at] == '\r' && (at + 1 == size || text[at + 1] != '\n'));
}

/* What a byte of well-formed text takes from the number of units, were each byte one. */
static int byte_saves(char byte, enum encoding encoding)
{
    bool is_inside = ((unsigned char)byte & 0xc0) == 0x80;
    if (encoding == ENCODING_UTF8)
        return 0;
    return is_inside ? 1 : encoding == ENCODING_UTF16 && (unsigned char)byte >= 0xf0 ? -1 : 0;
}

static void blocks_find(struct lines *lines, struct arena *arena)
{
    int32_t saved = 0;
    lines->saved = arena_alloc(arena, (lines->size / BLOCK_BYTES + 1) * sizeof(*lines->saved));
    for (size_t at = 0; at < lines->size; at++) {
        if (at % BLOCK_BYTES == 0)
            lines->saved[at / BLOCK_BYTES] = saved;
        saved += byte_saves(lines->text[at], lines->encoding);
    }
    if (lines->size % BLOCK_BYTES == 0)
        lines->saved[lines->size / BLOCK_BYTES] = saved;
}

struct lines lines_find(struct arena *arena, const char *text, size_t size, enum encoding encoding)
{
    struct lines lines = {.text = text, .size = size, .encoding = encoding, .count = 1};
    for (size_t i = 0; i < size; i++)
        lines.count += is_line_end(text, size, i);
    lines.starts = arena_alloc(arena, lines.count * sizeof(*lines.starts));
    lines.count = 1;
    for (size_t i = 0; i < size; i++) {
        if (is_line_end(text, size, i))
            lines.starts[lines.count++] = (uint32_t)(i + 1);
    }
    blocks_find(&lines, arena);
    return lines;
}

struct lines lines_of_source(struct arena *arena, const struct source *source,
                             enum encoding encoding)
{
    struct lines lines = lines_find(arena, source->text, source->size, encoding);
    if (source->skipped > 0)
        lines.before = encoding == ENCODING_UTF8 ? 3 : 1;
    return lines;
}

/* Bytes of the character at `at`, and how many units it counts. A stray byte is one of each. */
static size_t character_size(const struct lines *lines, size_t at, uint32_t *ret_units)
{
    size_t length = culex__utf8_char(lines->text + at, lines->size - at);
    uint32_t code = culex__utf8_code(lines->text + at, length);
    length = length == 0 ? 1 : length;
    *ret_units = 1;
    if (lines->encoding == ENCODING_UTF8)
        *ret_units = (uint32_t)length;
    else if (lines->encoding == ENCODING_UTF16 && code > 0xffff)
        *ret_units = 2;
    return length;
}

static uint32_t line_at(const struct lines *lines, size_t offset)
{
    uint32_t low = 0;
    uint32_t high = lines->count;
    assert(high > 0 && lines->starts[0] == 0); /* An empty text is a line too. */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (lines->starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* From the start of the text. */
static uint32_t units_before(const struct lines *lines, size_t offset)
{
    assert(offset <= lines->size);
    int32_t saved = lines->saved[offset / BLOCK_BYTES];
    for (size_t at = offset / BLOCK_BYTES * BLOCK_BYTES; at < offset; at++)
        saved += byte_saves(lines->text[at], lines->encoding);
    return (uint32_t)((int64_t)offset - saved);
}

struct position lines_position(const struct lines *lines, size_t offset)
{
    offset = offset > lines->size ? lines->size : offset;
    struct position position = {line_at(lines, offset), 0};
    position.character =
        units_before(lines, offset) - units_before(lines, lines->starts[position.line]);
    position.character += position.line == 0 ? lines->before : 0;
    return position;
}

static size_t line_end(const struct lines *lines, uint32_t line)
{
    assert(line < lines->count);
    size_t end = line + 1 < lines->count ? lines->starts[line + 1] : lines->size;
    while (end > lines->starts[line] &&
           (lines->text[end - 1] == '\n' || lines->text[end - 1] == '\r'))
        end--;
    return end;
}

size_t lines_offset(const struct lines *lines, struct position position)
{
    if (position.line >= lines->count)
        return lines->size;
    size_t at = lines->starts[position.line];
    size_t end = line_end(lines, position.line);
    uint32_t units = position.line == 0 ? lines->before : 0;
    while (at < end && units < position.character) {
        uint32_t more;
        size_t length = character_size(lines, at, &more);
        if (units + more > position.character)
            break;
        units += more;
        at += length;
    }
    return at;
}
