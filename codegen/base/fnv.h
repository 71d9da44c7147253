/* fnv.h - the 64-bit FNV-1a hash: of map keys, and of a job's fingerprint. */
#ifndef CULEXC_FNV_H
#define CULEXC_FNV_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FNV_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t fnv_bytes(uint64_t hash, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static inline uint64_t fnv_text(uint64_t hash, const char *text)
{
    return fnv_bytes(hash, text, strlen(text));
}

#endif
