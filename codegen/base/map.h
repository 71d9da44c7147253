/* map.h - from a name to a pointer. Grows in its arena; nothing is removed. */
#ifndef CULEXC_MAP_H
#define CULEXC_MAP_H

#include <stddef.h>

#include "arena.h"

struct map_slot;
struct map {
    struct arena *arena;
    struct map_slot *slots;
    size_t count;
    size_t size;
};

void map_init(struct map *map, struct arena *arena);

/* The value under `key`, or NULL. */
void *map_get(const struct map *map, const char *key);

/* Puts `value` (not NULL) under `key`, which the map *borrows*. Returns the
 * value that was there before and stays there, or NULL when it was free. */
void *map_add(struct map *map, const char *key, void *value);

#endif
