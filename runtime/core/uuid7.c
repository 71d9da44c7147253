#include "core/uuid7.h"

#include <assert.h>

#define MS_MAX  ((INT64_C(1) << 48) - 1)
#define HI_MASK UINT64_C(0xfff)
#define LO_MASK ((UINT64_C(1) << 62) - 1)

static culex_uuid uuid_pack(const struct culex_uuid7 *maker)
{
    culex_uuid id;
    assert(maker->ms >= 0 && maker->ms <= MS_MAX && maker->hi <= HI_MASK && maker->lo <= LO_MASK);
    for (int i = 0; i < 6; i++)
        id.b[i] = (uint8_t)((uint64_t)maker->ms >> (40 - 8 * i));
    id.b[6] = (uint8_t)(0x70 | maker->hi >> 8);
    id.b[7] = (uint8_t)maker->hi;
    uint64_t lo = maker->lo | UINT64_C(1) << 63; /* variant 10 */
    for (int i = 0; i < 8; i++)
        id.b[8 + i] = (uint8_t)(lo >> (56 - 8 * i));
    return id;
}

static void maker_restart(struct culex_uuid7 *maker, int64_t ms, const uint64_t random[2])
{
    maker->ms = ms < MS_MAX ? ms : MS_MAX;
    /* The top bit stays clear, so that counting up within a ms has room. */
    maker->hi = random[0] & (HI_MASK >> 1);
    maker->lo = random[1] & LO_MASK;
}

static void maker_count_up(struct culex_uuid7 *maker, const uint64_t random[2])
{
    uint64_t lo = maker->lo + 1 + (random[0] & UINT32_MAX);
    maker->hi += lo >> 62;
    maker->lo = lo & LO_MASK;
    if (maker->hi > HI_MASK)
        maker_restart(maker, maker->ms + 1, random);
}

culex_uuid culex__uuid7_next(struct culex_uuid7 *maker, int64_t now_ms, const uint64_t random[2])
{
    if (now_ms > maker->ms)
        maker_restart(maker, now_ms, random);
    else
        maker_count_up(maker, random);
    return uuid_pack(maker);
}
