#include "core/run_id.h"

#include <assert.h>

#include "base/bigendian.h"

culex_uuid culex__run_id_make(struct culex_run_id_parts parts)
{
    culex_uuid id;
    assert(parts.ms >= 0 && parts.ms < INT64_C(1) << 48 && parts.salt <= CULEX_RUN_SALT_MAX &&
           parts.lane <= CULEX_RUN_LANE_MAX && parts.number <= CULEX_RUN_NUMBER_MAX);
    culex__bigendian_put(id.b, 6, (uint64_t)parts.ms);
    culex__bigendian_put(id.b + 6, 2, 0x7000 | parts.salt >> 14);
    culex__bigendian_put(id.b + 8, 2, 0x8000 | (parts.salt & 0x3fff));
    culex__bigendian_put(id.b + 10, 6, (uint64_t)parts.lane << 44 | parts.number);
    return id;
}

bool culex__run_id_read(culex_uuid id, struct culex_run_id_parts *ret_parts)
{
    uint64_t high = culex__bigendian_get(id.b + 6, 2), low = culex__bigendian_get(id.b + 8, 2);
    uint64_t place = culex__bigendian_get(id.b + 10, 6);
    if (high >> 12 != 7 || low >> 14 != 2)
        return false;
    *ret_parts = (struct culex_run_id_parts){
        .ms = (int64_t)culex__bigendian_get(id.b, 6),
        .salt = (uint32_t)((high & 0xfff) << 14 | (low & 0x3fff)),
        .lane = (uint32_t)(place >> 44),
        .number = place & CULEX_RUN_NUMBER_MAX,
    };
    return true;
}
