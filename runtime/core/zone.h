/* core/zone.h - a time zone, as a file of the tz database tells it (RFC 8536, versions 1 to 3, and
 * the later ones that read the same).
 *
 * The file's table tells when clocks were moved, and its rule goes on behind the last of these.
 * Files of the database's folder `right` count leap seconds, which no clock of ours does; they are
 * refused. */
#ifndef CULEX_CORE_ZONE_H
#define CULEX_CORE_ZONE_H

#include <stddef.h>
#include <stdint.h>

#include "core/zone_rule.h"

/* All 0 is UTC. */
struct culex__zone {
    const uint8_t *times; /* in the file: `count` numbers of `width` bytes, each above the last */
    const uint8_t *kinds; /* for each of them the type from then on */
    const uint8_t *types; /* six bytes each, of which four are the offset */
    size_t count;
    int width;
    struct culex__zone_rule rule; /* from the last of the times on */
};

/* NULL, or what is wrong with the file. The zone is good for as long as `bytes` stay. */
const char *culex__zone_read(const uint8_t *bytes, size_t len, struct culex__zone *ret_zone);

/* The offset at an instant, in seconds since 1970-01-01 in UTC, and since and until when it holds.
 * Spans lie side by side; neighbours may have the same offset. */
struct culex__zone_span culex__zone_span_at(const struct culex__zone *zone, int64_t at_s);

#endif
