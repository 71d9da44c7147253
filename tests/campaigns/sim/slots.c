/* sim/slots.c - no more runs of one limit and key are at work than the limit has room for (I13).
 *
 * By the records of those at work alone: what a store counts is not asked. */
#include <string.h>

#include "world.h"

void sim_slots_count(struct sim_slots *slots, const char *limits, size_t len)
{
    static const char name[] = SIM_LIMIT "=";
    enum { NAME = sizeof name - 1 };
    for (size_t at = 0; at + NAME < len; at++) {
        size_t key = (size_t)(limits[at + NAME] - 'a');
        if (memcmp(limits + at, name, NAME) == 0 && key < SIM_LIMIT_KEYS)
            slots->at_work[key]++;
    }
}

int64_t sim_units_of(const char *limits, size_t len)
{
    static const char name[] = SIM_NEEDS ":";
    enum { NAME = sizeof name - 1 };
    for (size_t at = 0; at + NAME < len; at++) {
        if (memcmp(limits + at, name, NAME) == 0)
            return limits[at + NAME] - '0';
    }
    return 0;
}

static void key_check(struct sim_world *world, size_t key, int64_t before, int64_t count,
                      int64_t room)
{
    if (count > room && count > before)
        sim_violation(world->oracle, NULL,
                      "%lld runs of " SIM_LIMIT "=%c are at work, where %lld may be",
                      (long long)count, (char)('a' + key), (long long)room);
    if (count > room)
        SOMETIMES(LIMIT_BELOW_WHAT_RUNS);
    else if (count == room)
        SOMETIMES(LIMIT_HAS_NO_ROOM);
}

void sim_slots_check(struct sim_world *world, const struct sim_slots *slots, int64_t room)
{
    for (size_t key = 0; key < SIM_LIMIT_KEYS; key++)
        key_check(world, key, world->slots.at_work[key], slots->at_work[key], room);
    world->slots = *slots;
}

void sim_slots_forget(struct sim_world *world)
{
    for (size_t key = 0; key < SIM_LIMIT_KEYS; key++)
        world->slots.at_work[key] = INT64_MAX;
}
