/* shown.h - text of a schema or a message as people may see it.
 *
 * A malformed byte becomes '?', and so does a character that would move the cursor or reorder or
 * hide the text around it (base/utf8.h has the list), unless it is among those to keep. */
#ifndef CULEXC_SHOWN_H
#define CULEXC_SHOWN_H

#include <stdint.h>

#include "arena.h"
#include "buf.h"

/* Bytes of the first character of `text`, at least 1; `len` is not 0. *ret_code is what is shown
 * of it. `kept` is ASCII. */
size_t shown_char(const char *text, size_t len, const char *kept, uint32_t *ret_code);

/* Appends the text as it is shown; buf->data is not NULL then. */
void shown_append(struct buf *buf, const char *text, size_t len, const char *kept);

/* A copy of the text as it is shown; tabs and line ends stay. */
const char *shown_copy(struct arena *arena, const char *text, size_t len);

#endif
