#include "base/sha256.h"

#include <string.h>

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotated(uint32_t word, unsigned by)
{
    return word >> by | word << (32 - by);
}

static uint32_t word_load(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void word_store(unsigned char *at, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (unsigned char)(word >> (24 - 8 * i));
}

static void words_extend(uint32_t words[64], const unsigned char *block)
{
    for (size_t i = 0; i < 16; i++)
        words[i] = word_load(block + 4 * i);
    for (size_t i = 16; i < 64; i++) {
        uint32_t early = words[i - 15], late = words[i - 2];
        words[i] = words[i - 16] + words[i - 7] +
                   (rotated(early, 7) ^ rotated(early, 18) ^ early >> 3) +
                   (rotated(late, 17) ^ rotated(late, 19) ^ late >> 10);
    }
}

/* The names a to h are those of the standard. */
static void block_take(uint32_t state[8], const unsigned char *block)
{
    uint32_t words[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    words_extend(words, block);
    for (size_t i = 0; i < 64; i++) {
        uint32_t one = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) +
                       ((e & f) ^ (~e & g)) + constants[i] + words[i];
        uint32_t two =
            (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + one;
        d = c;
        c = b;
        b = a;
        a = one + two;
    }
    const uint32_t last[8] = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; i++)
        state[i] += last[i];
}

void culex__sha256_begin(struct culex_sha256 *hash)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, start, sizeof start);
    hash->len = 0;
}

void culex__sha256_add(struct culex_sha256 *hash, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    while (len > 0) {
        size_t filled = hash->len % CULEX_SHA256_BLOCK;
        size_t part = CULEX_SHA256_BLOCK - filled < len ? CULEX_SHA256_BLOCK - filled : len;
        memcpy(hash->block + filled, at, part);
        hash->len += part;
        at += part;
        len -= part;
        if (hash->len % CULEX_SHA256_BLOCK == 0)
            block_take(hash->state, hash->block);
    }
}

void culex__sha256_end(struct culex_sha256 *hash, unsigned char ret_digest[CULEX_SHA256_BYTES])
{
    static const unsigned char padding[CULEX_SHA256_BLOCK] = {0x80};
    unsigned char bits[8];
    uint64_t len = hash->len * 8;
    size_t filled = hash->len % CULEX_SHA256_BLOCK;
    word_store(bits, (uint32_t)(len >> 32));
    word_store(bits + 4, (uint32_t)len);
    culex__sha256_add(hash, padding, (filled < 56 ? 56 : 120) - filled);
    culex__sha256_add(hash, bits, sizeof bits);
    for (size_t i = 0; i < 8; i++)
        word_store(ret_digest + 4 * i, hash->state[i]);
}
