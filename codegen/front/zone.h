/* zone.h - the tz database of this machine, as far as a schema can be held against it.
 *
 * TZDIR names its folder, else it is /usr/share/zoneinfo. Names are letters, digits and "_+-/",
 * so they do not leave it. */
#ifndef CULEXC_ZONE_H
#define CULEXC_ZONE_H

#include "arena.h"
#include "suggest.h"

/* "UTC" is known without a database, as to workers. */
enum zone_state { ZONE_NO_DATABASE, ZONE_KNOWN, ZONE_UNKNOWN, ZONE_UNFIT };
/* *ret_fault is why workers refuse an unfit one. */
enum zone_state zone_find(const char *name, const char **ret_fault);

/* Offers all names; a city alone means the zone that ends in it. */
void zone_suggest(struct arena *arena, struct suggestion *suggestion);

/* Once a year the clock is moved: local minutes of the day from `from` up to `to` do not exist on
 * that day, or exist twice. */
struct zone_change {
    unsigned month;
    int from, to; /* may be below 0 or above a day */
    bool is_skipped;
};

/* The changes that a zone has for good, in the order of the year: two, or none. */
unsigned zone_changes(const char *name, struct zone_change ret_changes[2]);

#endif
