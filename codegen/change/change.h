/* change.h - what a change of schemas breaks: culexc breaking.
 *
 * Two locks are compared, job by job and field by field. A verdict on stored bytes is never a
 * matter of taste: change_reads() says which payloads of a writer a reader takes, as the codec of
 * the runtime does (schemas/payload.md), and the rules only give names to its answers in the two
 * directions, new reads old and old reads new. */
#ifndef CULEXC_CHANGE_H
#define CULEXC_CHANGE_H

#include "lock.h"

enum change_category { CHANGE_STORED = 1, CHANGE_SOURCE = 2, CHANGE_OPS = 4, CHANGE_ALL = 7 };

struct change {
    struct arena *arena;
    struct diag_sink *sink;
    const struct lock *before;
    const struct lock *after; /* made of schemas, so that it has places */
    unsigned categories;
    bool is_drain;           /* all old workers and clients have ended before new ones write */
    const struct live *live; /* NULL: whatever the lock remembers may still be stored */
    struct map *met;         /* for change_compare() itself: old types that were compared */
};

/* Reports all that matters. */
void change_compare(const struct change *change);

/* How much of what a writer of one field may write, a reader of another accepts and reads as
 * what was meant. */
enum change_reads { READS_NONE, READS_SOME, READS_ALL };
enum change_reads change_reads(const struct lock_field *reader, const struct lock_field *writer);

/* The same of the lists around the values. */
enum change_reads change_shape_reads(const struct lock_field *reader,
                                     const struct lock_field *writer);

#endif
