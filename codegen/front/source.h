/* source.h - the text of one schema file, and places in it.
 *
 * Everything else keeps byte offsets; line and column are worked out only when
 * somebody wants to read them. Lines and columns count from 1; a column is one
 * Unicode code point, a tab too. */
#ifndef CULEXC_SOURCE_H
#define CULEXC_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "map.h"

struct source {
    const char *path; /* as shown in messages */
    const char *text; /* `size` bytes and a NUL; a byte order mark is cut off */
    uint32_t size;
    uint32_t index;  /* order of loading, sorts messages */
    uint32_t *lines; /* offset of each line's first byte */
    uint32_t line_count;
    uint32_t skipped;             /* bytes of the byte order mark */
    struct allowance *allowances; /* see allowance.h */
    struct map allowed;           /* the same by line and id */
};

/* Some bytes of a source. A zeroed span is "no place". */
struct span {
    const struct source *source;
    uint32_t offset;
    uint32_t length;
};

struct place {
    uint32_t line;
    uint32_t column;
};

/* Makes a source of a copy of `text` (at most LIMIT_FILE_BYTES), all in `arena`. */
struct source *source_create(struct arena *arena, const char *path, const char *text, size_t size);

struct place span_place(struct span span);
uint32_t span_line(struct span span);

/* The place behind the last byte. */
struct place span_end(struct span span);

/* The span with the blanks around it and the line end, when nothing else is on its lines. */
struct span span_with_line(struct span span);

/* Adds the comma before the span, when nothing but blanks is between; false when there is none. */
bool span_add_comma(struct span *span);

/* The span and the blanks behind it. */
struct span span_with_blanks(struct span span);

/* From the start of `first` to the end of `last`. */
struct span span_join(struct span first, struct span last);

/* The bytes of line `line` without its line end. */
const char *source_line(const struct source *source, uint32_t line, size_t *ret_len);

#endif
