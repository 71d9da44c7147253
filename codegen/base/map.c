#include "map.h"

#include <string.h>

#include "fnv.h"

enum { SIZE_MIN = 64 };

struct map_slot {
    const char *key;
    void *value;
};

void map_init(struct map *map, struct arena *arena)
{
    *map = (struct map){.arena = arena};
}

static struct map_slot *map_find(const struct map *map, const char *key)
{
    size_t mask = map->size - 1;
    size_t at = (size_t)fnv_text(FNV_START, key) & mask;
    while (map->slots[at].key != NULL && strcmp(map->slots[at].key, key) != 0)
        at = (at + 1) & mask;
    return &map->slots[at];
}

static void map_grow(struct map *map)
{
    struct map bigger = {.arena = map->arena, .count = map->count};
    bigger.size = map->size == 0 ? SIZE_MIN : map->size * 2;
    bigger.slots = arena_alloc(map->arena, bigger.size * sizeof(*bigger.slots));
    for (size_t i = 0; i < map->size; i++) {
        if (map->slots[i].key != NULL)
            *map_find(&bigger, map->slots[i].key) = map->slots[i];
    }
    *map = bigger;
}

void *map_get(const struct map *map, const char *key)
{
    return map->size == 0 ? NULL : map_find(map, key)->value;
}

void *map_add(struct map *map, const char *key, void *value)
{
    if (map->count * 2 >= map->size)
        map_grow(map);
    struct map_slot *slot = map_find(map, key);
    if (slot->key != NULL)
        return slot->value;
    *slot = (struct map_slot){key, value};
    map->count++;
    return NULL;
}
