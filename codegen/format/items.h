/* items.h - which pieces belong together: declarations, settings, fields, values. */
#ifndef CULEXC_ITEMS_H
#define CULEXC_ITEMS_H

#include <stddef.h>

#include "pieces.h"

/* What stands in a block, and so where one of its items ends. */
enum block_kind { BLOCK_FILE, BLOCK_SETTINGS, BLOCK_POLICY, BLOCK_FIELDS, BLOCK_ENUM, BLOCK_STEPS };

enum { MARK_COUNT = 2 };

/* A run of pieces that starts and ends with a token. Numbers are indices of pieces; 0, which is
 * the start of the file, stands for none. */
struct item {
    struct item *next;
    size_t first, last;
    size_t open, close;       /* the braces of its block */
    struct item *items;       /* in its block */
    size_t marks[MARK_COUNT]; /* pieces that line up with those of the items around */
};

/* Finds the items of a whole file, and sets `breaks` of all pieces. */
struct item *items_read(struct arena *arena, struct piece *pieces);

#endif
