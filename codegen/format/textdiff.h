/* textdiff.h - what differs between two texts, as `diff -u` shows it and patch(1) takes it. */
#ifndef CULEXC_TEXTDIFF_H
#define CULEXC_TEXTDIFF_H

#include "buf.h"

/* Appends the difference to `out`; nothing when there is none. Not always the shortest one. */
void textdiff_write(const char *path, const struct buf *before, const struct buf *after,
                    struct buf *out);

#endif
