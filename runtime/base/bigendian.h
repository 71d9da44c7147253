/* base/bigendian.h - numbers as bytes, the most significant one first. */
#ifndef CULEX_BASE_BIGENDIAN_H
#define CULEX_BASE_BIGENDIAN_H

#include <stdint.h>

/* The lowest `count` bytes of `value`, 1 to 8. */
static inline void culex__bigendian_put(uint8_t *ret_bytes, int count, uint64_t value)
{
    for (int i = 0; i < count; i++)
        ret_bytes[i] = (uint8_t)(value >> 8 * (count - 1 - i));
}

static inline uint64_t culex__bigendian_get(const uint8_t *bytes, int count)
{
    uint64_t value = 0;
    for (int i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

#endif
