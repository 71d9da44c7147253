/* base/sha256.h - the digest SHA-256 of FIPS 180-4.
 *
 * For names made of values that somebody else chooses, where two that are alike must mean that the
 * values are: a hash such as FNV would let a hostile value be made that takes another's place. No
 * library that is linked has one; ARCHITECTURE.md, "Libraries", says which were looked at. Written
 * from the standard (NIST, August 2015): constants section 4.2.2, padding 5.1.1, start 5.3.3, the
 * computation 6.2.2. engine/test_keys.c holds it to the standard's examples and to lengths around
 * a block. */
#ifndef CULEX_BASE_SHA256_H
#define CULEX_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { CULEX_SHA256_BYTES = 32, CULEX_SHA256_BLOCK = 64 };

struct culex_sha256 {
    uint32_t state[8];
    uint64_t len; /* of all that came so far, in bytes */
    unsigned char block[CULEX_SHA256_BLOCK];
};

void culex__sha256_begin(struct culex_sha256 *hash);
void culex__sha256_add(struct culex_sha256 *hash, const void *bytes, size_t len);
/* Nothing can be added behind it. */
void culex__sha256_end(struct culex_sha256 *hash, unsigned char ret_digest[CULEX_SHA256_BYTES]);

#endif
