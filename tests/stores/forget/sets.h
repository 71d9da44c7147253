/* forget/sets.h - all that a store keeps, read beside it and held to sets.def. */
#ifndef CULEX_TESTS_FORGET_SETS_H
#define CULEX_TESTS_FORGET_SETS_H

#include <stdbool.h>
#include <stdint.h>

/* What the store takes: bytes in use, and bytes that it has taken from the system or the disk. */
struct sets_size {
    int64_t used, taken;
};

/* Begins to watch the store `name` of a kind of suite/stores.h, "redis" or "sqlite", and its queue
 * `queue`. False, with the reason on stderr, when the table is not about just the keys and tables
 * that there are. */
bool sets_begin(const char *kind, const char *name, const char *queue);

/* Counts everything. False, with its name on stderr, when there is something without a row. */
bool sets_look(void);

/* After a look: false when a set has more than it may have in the end. */
bool sets_judge(const char *when);
/* False when none of the looks saw anything in a set that is to be filled. */
bool sets_were_filled(void);

struct sets_size sets_size(void);

/* One line a row: the most that a look saw, what the last one saw, who empties it. */
void sets_print(void);

#endif
