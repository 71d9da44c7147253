#include "digest.h"

static uint64_t step(uint64_t digest, uint64_t word)
{
    digest = (digest ^ word) * UINT64_C(0xff51afd7ed558ccd);
    return digest ^ (digest >> 32);
}

/* The first byte is the lowest, whatever the machine's own order. */
static uint64_t word_read(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    size_t left = len;
    for (; left >= 8; at += 8, left -= 8)
        digest = step(digest, word_read(at, 8));
    return step(step(digest, word_read(at, left)), len);
}
