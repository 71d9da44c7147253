/* core/uuid7.h - run ids: RFC 9562 version 7, each greater than the one before.
 *
 * 48 bits of ms, then 74 random bits. Within one ms, and when the clock stands or goes
 * back, the random part is counted up by a random step, so that ids of one maker only grow. */
#ifndef CULEX_CORE_UUID7_H
#define CULEX_CORE_UUID7_H

#include <culex/types.h>

struct culex_uuid7 {
    int64_t ms;  /* of the newest id; 0 before the first */
    uint64_t hi; /* its random part: 12 bits */
    uint64_t lo; /* and 62 bits */
};

/* Makes the next id for `now_ms` (ms since 1970). `random` holds 128 fresh bits. */
culex_uuid culex__uuid7_next(struct culex_uuid7 *maker, int64_t now_ms, const uint64_t random[2]);

#endif
