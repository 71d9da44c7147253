/* core/queue_item.h - one item of a worker's list of queues: NAME[:WEIGHT][@MOST].
 *
 * What stands behind the last ':' is a weight. The name of an old queue may hold one, too
 * (core/queue_name.h): such a queue, "mail:old", is written "mail:old:1". Neither '@' nor '*' is
 * ever part of a name. */
#ifndef CULEX_CORE_QUEUE_ITEM_H
#define CULEX_CORE_QUEUE_ITEM_H

#include <stdbool.h>
#include <stddef.h>

#include <culex/error.h>

#include "base/limits.h"

enum { CULEX_WEIGHT_MAX = 1000, CULEX_QUEUE_MOST_MAX = 1024 };

struct culex_queue_item {
    char name[CULEX_QUEUE_NAME_MAX + 1]; /* with '*' where it is a pattern */
    bool is_pattern;
    bool has_weight; /* it says one; otherwise the weight is 1 */
    unsigned weight; /* 1 to CULEX_WEIGHT_MAX */
    unsigned most;   /* runs of a queue at a time; 0: no bound of its own */
};

/* CULEX_EUSAGE, or what culex__queue_check says of the name. */
culex_status culex__queue_item_read(const char *text, struct culex_queue_item *ret_item,
                                    culex_error *error);

/* Each is well-formed, and none names what another one does. */
culex_status culex__queue_items_check(const char *const *texts, size_t count, culex_error *error);

/* CULEX_OK for a name, or a pattern. */
culex_status culex__queue_pattern_check(const char *pattern, culex_error *error);

/* The queue is the one of this name, or one that the pattern meets: '*' stands for any letters, or
 * none. */
bool culex__queue_pattern_meets(const char *pattern, const char *queue);

/* The queue is the item's, or one that its pattern meets. */
bool culex__queue_item_meets(const struct culex_queue_item *item, const char *queue);

#endif
