/* core/run_id.h - the id of a run, which its store makes.
 *
 * RFC 9562 version 7: its first 48 bits are the ms since 1970 of its enqueue by the store's clock.
 * What follows is no chance but leads to the run: the salt of its queue (26 bits, random, drawn
 * once when the queue begins), a lane (4 bits, the store's own affair) and its number there (44
 * bits, counted from 1, never given twice). Whoever holds one need not know that.
 *
 *     ms:48  0111  salt:12  10  salt:14  lane:4  number:44
 *
 * Salt, ms and number together keep ids apart when a store is emptied and begins anew, and those of
 * different stores. */
#ifndef CULEX_CORE_RUN_ID_H
#define CULEX_CORE_RUN_ID_H

#include <stdbool.h>

#include <culex/types.h>

#define CULEX_RUN_NUMBER_MAX ((UINT64_C(1) << 44) - 1)

enum { CULEX_RUN_SALT_MAX = (1 << 26) - 1, CULEX_RUN_LANE_MAX = 15 };

struct culex_run_id_parts {
    int64_t ms; /* 0 to 2^48 - 1 */
    uint32_t salt, lane;
    uint64_t number;
};

culex_uuid culex__run_id_make(struct culex_run_id_parts parts);

/* False for what is no UUID of version 7. */
bool culex__run_id_read(culex_uuid id, struct culex_run_id_parts *ret_parts);

#endif
