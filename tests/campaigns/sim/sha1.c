/* FIPS 180-4, straight from the standard's text. */
#include "sha1.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t turn(uint32_t word, int by)
{
    return word << by | word >> (32 - by);
}

static void block_add(uint32_t state[5], const unsigned char *block)
{
    uint32_t w[80];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 80; t++)
        w[t] = turn(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int t = 0; t < 80; t++) {
        static const uint32_t constants[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
        uint32_t f = t < 20   ? (b & c) | (~b & d)
                     : t < 40 ? b ^ c ^ d
                     : t < 60 ? (b & c) | (b & d) | (c & d)
                              : b ^ c ^ d;
        uint32_t next = turn(a, 5) + f + e + constants[t / 20] + w[t];
        e = d;
        d = c;
        c = turn(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

void sha1_hex(const void *data, size_t len, char ret_digest[41])
{
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    size_t padded = (len + 9 + 63) / 64 * 64;
    unsigned char *text = calloc(1, padded);
    if (text == NULL)
        abort();
    memcpy(text, data, len);
    text[len] = 0x80;
    for (int i = 0; i < 8; i++)
        text[padded - 1 - (size_t)i] = (unsigned char)((uint64_t)len * 8 >> (8 * i));
    for (size_t at = 0; at < padded; at += 64)
        block_add(state, text + at);
    free(text);
    for (int i = 0; i < 5; i++)
        snprintf(ret_digest + 8 * i, 9, "%08x", state[i]);
}
