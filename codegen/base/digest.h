/* digest.h - a 64-bit hash that tells a text from its next version, eight bytes a step.
 *
 * It is the same on every machine. It finds accidents and edits, not forgeries. */
#ifndef CULEXC_DIGEST_H
#define CULEXC_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define DIGEST_START UINT64_C(0x9e3779b97f4a7c15)

/* The digest of what `digest` stands for and then these bytes. Where one piece ends counts. */
uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t len);

#endif
