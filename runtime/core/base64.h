/* core/base64.h - RFC 4648 base64, standard alphabet, with padding. */
#ifndef CULEX_CORE_BASE64_H
#define CULEX_CORE_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Characters for `len` bytes. `len` is at most a quarter of SIZE_MAX. */
size_t culex__base64_size(size_t len);

/* Writes exactly culex__base64_size(len) characters, no NUL. */
void culex__base64_format(const uint8_t *bytes, size_t len, char *ret_text);

/* Reads `len` characters into `ret_bytes`, which has room for len / 4 * 3. Strict: padding,
 * no white space, unused bits zero; else false, and `ret_bytes` holds garbage. */
bool culex__base64_parse(const char *text, size_t len, uint8_t *ret_bytes, size_t *ret_len);

#endif
