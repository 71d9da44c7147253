/* position.h - an editor's lines and columns, and offsets in a text.
 *
 * A line ends at \n, \r\n or \r. Columns count the units of the encoding that was agreed on.
 * What lies outside of the text is moved to the nearest place inside. */
#ifndef CULEXC_POSITION_H
#define CULEXC_POSITION_H

#include "json_tree.h"
#include "source.h"

enum encoding { ENCODING_UTF16, ENCODING_UTF8, ENCODING_UTF32 };

struct position {
    uint32_t line, character;
};

/* A position of a message; false when it is none. */
bool position_read(const struct json *json, struct position *ret_position);

struct lines {
    const char *text;
    size_t size;
    enum encoding encoding;
    uint32_t before;  /* units on the first line before `text`: a byte order mark */
    uint32_t *starts; /* of each line */
    uint32_t count;
    int32_t *saved; /* bytes minus units before each block, so that long lines cost no more */
};

/* Borrows `text`. */
struct lines lines_find(struct arena *arena, const char *text, size_t size, enum encoding encoding);
struct lines lines_of_source(struct arena *arena, const struct source *source,
                             enum encoding encoding);

struct position lines_position(const struct lines *lines, size_t offset);
size_t lines_offset(const struct lines *lines, struct position position);

#endif
