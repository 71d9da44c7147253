/* core/number.h - exact decimal text of integers.
 *
 * One value, one text: no leading '+' or zeros, no "-0", no fraction or exponent. Parsers take
 * `len` bytes, use all of them, and leave the result alone when they return false. */
#ifndef CULEX_CORE_NUMBER_H
#define CULEX_CORE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <culex/types.h>

/* Room for the longest text, which is that of a 128-bit integer, without a NUL. */
enum { CULEX_NUMBER_TEXT_MAX = 40 };

/* Write the text, no NUL, and return its length. */
size_t culex__uint64_format(uint64_t value, char *ret_text);
size_t culex__int64_format(int64_t value, char *ret_text);
size_t culex__uint128_format(culex_uint128 value, char *ret_text);
size_t culex__int128_format(culex_int128 value, char *ret_text);

bool culex__uint64_parse(const char *text, size_t len, uint64_t *ret_value);
bool culex__int64_parse(const char *text, size_t len, int64_t *ret_value);
bool culex__uint128_parse(const char *text, size_t len, culex_uint128 *ret_value);
bool culex__int128_parse(const char *text, size_t len, culex_int128 *ret_value);

#endif
