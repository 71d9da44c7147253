/* ops/command/base64.h - bytes as text: RFC 4648, with padding. */
#ifndef OPS_COMMAND_BASE64_H
#define OPS_COMMAND_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text of `len` bytes, NUL-ended: returned owned. */
char *ops_base64_write(const uint8_t *bytes, size_t len);

/* Bytes that a text of `len` letters has at most. */
static inline size_t ops_base64_size(size_t len)
{
    return len / 4 * 3;
}

/* False for what is no such text, or not the one text of its bytes. */
bool ops_base64_read(const char *text, size_t len, uint8_t *ret_bytes, size_t *ret_len);

#endif
