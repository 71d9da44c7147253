#include "core/number.h"

#include <string.h>

enum { UINT64_DIGITS = 20 };

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

size_t culex__uint64_format(uint64_t value, char *ret_text)
{
    char digits[UINT64_DIGITS];
    size_t at = sizeof digits;
    while (value >= 100) {
        at -= 2;
        memcpy(digits + at, digit_pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        memcpy(digits + at, digit_pairs + value * 2, 2);
    } else {
        digits[--at] = (char)('0' + value);
    }
    memcpy(ret_text, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

size_t culex__int64_format(int64_t value, char *ret_text)
{
    if (value >= 0)
        return culex__uint64_format((uint64_t)value, ret_text);
    ret_text[0] = '-';
    return 1 + culex__uint64_format(0 - (uint64_t)value, ret_text + 1);
}

/* The largest power of ten in 64 bits. */
static const uint64_t TEN_19 = UINT64_C(10000000000000000000);

/* value /= 10^19, bit by bit because 128-bit division is not in C. Returns the rest. */
static uint64_t uint128_divide(culex_uint128 *value)
{
    culex_uint128 quotient = {0, 0};
    uint64_t rest = 0;
    for (int bit = 127; bit >= 0; bit--) {
        bool is_over = rest >> 63 != 0;
        uint64_t word = bit >= 64 ? value->hi : value->lo;
        rest = rest << 1 | (word >> (bit % 64) & 1);
        quotient.hi = quotient.hi << 1 | quotient.lo >> 63;
        quotient.lo <<= 1;
        if (is_over || rest >= TEN_19) {
            rest -= TEN_19;
            quotient.lo |= 1;
        }
    }
    *value = quotient;
    return rest;
}

size_t culex__uint128_format(culex_uint128 value, char *ret_text)
{
    if (value.hi == 0)
        return culex__uint64_format(value.lo, ret_text);
    uint64_t low = uint128_divide(&value);
    size_t len = culex__uint128_format(value, ret_text);
    char digits[UINT64_DIGITS];
    size_t low_len = culex__uint64_format(low, digits);
    memset(ret_text + len, '0', 19 - low_len);
    memcpy(ret_text + len + 19 - low_len, digits, low_len);
    return len + 19;
}

static culex_uint128 uint128_negate(culex_uint128 value)
{
    culex_uint128 negated = {~value.lo + 1, ~value.hi};
    if (negated.lo == 0)
        negated.hi++;
    return negated;
}

size_t culex__int128_format(culex_int128 value, char *ret_text)
{
    culex_uint128 bits = {value.lo, (uint64_t)value.hi};
    if (value.hi >= 0)
        return culex__uint128_format(bits, ret_text);
    ret_text[0] = '-';
    return 1 + culex__uint128_format(uint128_negate(bits), ret_text + 1);
}

static bool has_leading_zero(const char *text, size_t len)
{
    return len > 1 && text[0] == '0';
}

bool culex__uint64_parse(const char *text, size_t len, uint64_t *ret_value)
{
    if (len == 0 || len > UINT64_DIGITS || has_leading_zero(text, len))
        return false;
    uint64_t value = 0;
    for (size_t at = 0; at < len; at++) {
        unsigned digit = (unsigned)(unsigned char)text[at] - '0';
        if (digit > 9 || value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret_value = value;
    return true;
}

bool culex__int64_parse(const char *text, size_t len, int64_t *ret_value)
{
    bool is_negative = len > 0 && text[0] == '-';
    uint64_t bits;
    if (!culex__uint64_parse(text + is_negative, len - is_negative, &bits))
        return false;
    if (is_negative ? bits == 0 || bits > (uint64_t)INT64_MAX + 1 : bits > INT64_MAX)
        return false;
    *ret_value = (int64_t)(is_negative ? 0 - bits : bits);
    return true;
}

/* value = value * 10 + digit; false when that needs more than 128 bits. */
static bool uint128_shift_in(culex_uint128 *value, unsigned digit)
{
    uint64_t low = (value->lo & UINT32_MAX) * 10 + digit;
    uint64_t middle = (value->lo >> 32) * 10 + (low >> 32);
    uint64_t carry = middle >> 32;
    if (value->hi > (UINT64_MAX - carry) / 10)
        return false;
    value->hi = value->hi * 10 + carry;
    value->lo = middle << 32 | (low & UINT32_MAX);
    return true;
}

bool culex__uint128_parse(const char *text, size_t len, culex_uint128 *ret_value)
{
    if (len == 0 || len > CULEX_NUMBER_TEXT_MAX || has_leading_zero(text, len))
        return false;
    culex_uint128 value = {0, 0};
    for (size_t at = 0; at < len; at++) {
        unsigned digit = (unsigned)(unsigned char)text[at] - '0';
        if (digit > 9 || !uint128_shift_in(&value, digit))
            return false;
    }
    *ret_value = value;
    return true;
}

bool culex__int128_parse(const char *text, size_t len, culex_int128 *ret_value)
{
    bool is_negative = len > 0 && text[0] == '-';
    culex_uint128 bits;
    if (!culex__uint128_parse(text + is_negative, len - is_negative, &bits))
        return false;
    bool is_zero = bits.hi == 0 && bits.lo == 0;
    bool is_lowest = bits.hi == (uint64_t)1 << 63 && bits.lo == 0;
    if (is_negative ? is_zero || (bits.hi >> 63 && !is_lowest) : bits.hi >> 63)
        return false;
    if (is_negative)
        bits = uint128_negate(bits);
    *ret_value = (culex_int128){bits.lo, (int64_t)bits.hi};
    return true;
}
