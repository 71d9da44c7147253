#include "wide.h"

#include <assert.h>
#include <string.h>

#include "base/digit.h"

/* Four 32-bit limbs, least first: every product and remainder below fits 64 bits. */
struct limbs {
    uint32_t at[4];
};

static struct limbs limbs_of(struct wide value)
{
    return (struct limbs){{(uint32_t)value.lo, (uint32_t)(value.lo >> 32), (uint32_t)value.hi,
                           (uint32_t)(value.hi >> 32)}};
}

static struct wide limbs_wide(struct limbs limbs)
{
    return (struct wide){.hi = (uint64_t)limbs.at[3] << 32 | limbs.at[2],
                         .lo = (uint64_t)limbs.at[1] << 32 | limbs.at[0]};
}

/* value * factor + extra; false when it overflows. */
static bool limbs_multiply_add(struct limbs *limbs, uint32_t factor, uint32_t extra)
{
    uint64_t carry = extra;
    for (int i = 0; i < 4; i++) {
        carry += (uint64_t)limbs->at[i] * factor;
        limbs->at[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return carry == 0;
}

/* Divides in place and returns the remainder. */
static uint32_t limbs_divide(struct limbs *limbs, uint32_t divisor)
{
    uint64_t remainder = 0;
    for (int i = 3; i >= 0; i--) {
        remainder = remainder << 32 | limbs->at[i];
        limbs->at[i] = (uint32_t)(remainder / divisor);
        remainder %= divisor;
    }
    return (uint32_t)remainder;
}

static uint32_t digit_value(char digit)
{
    int value = culex__hex_value(digit);
    assert(value >= 0); /* the caller has checked it */
    return (uint32_t)value;
}

bool wide_parse(const char *digits, size_t len, struct wide *ret_wide)
{
    struct limbs limbs = {{0}};
    uint32_t base = 10;
    size_t at = 0;
    if (len > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'x')
        base = 16, at = 2;
    else if (len > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'b')
        base = 2, at = 2;
    for (; at < len; at++) {
        if (digits[at] != '_' && !limbs_multiply_add(&limbs, base, digit_value(digits[at])))
            return false;
    }
    *ret_wide = limbs_wide(limbs);
    return true;
}

struct wide wide_from(int64_t value)
{
    uint64_t magnitude = value < 0 ? ~(uint64_t)value + 1 : (uint64_t)value;
    return (struct wide){.negative = value < 0, .lo = magnitude};
}

struct wide wide_negate(struct wide value)
{
    value.negative = !value.negative && (value.hi != 0 || value.lo != 0);
    return value;
}

static int magnitude_compare(struct wide a, struct wide b)
{
    if (a.hi != b.hi)
        return a.hi < b.hi ? -1 : 1;
    if (a.lo != b.lo)
        return a.lo < b.lo ? -1 : 1;
    return 0;
}

int wide_compare(struct wide a, struct wide b)
{
    if (a.negative != b.negative)
        return a.negative ? -1 : 1;
    return a.negative ? magnitude_compare(b, a) : magnitude_compare(a, b);
}

bool wide_to_int64(struct wide value, int64_t *ret_value)
{
    if (wide_compare(value, wide_from(INT64_MIN)) < 0 ||
        wide_compare(value, wide_from(INT64_MAX)) > 0)
        return false;
    if (!value.negative)
        *ret_value = (int64_t)value.lo;
    else /* One less before the sign changes, so that INT64_MIN never overflows. */
        *ret_value = -(int64_t)(value.lo - 1) - 1;
    return true;
}

bool wide_increment(struct wide *value)
{
    if (value->negative) {
        value->hi -= value->lo == 0;
        value->lo--;
        value->negative = value->hi != 0 || value->lo != 0;
        return true;
    }
    value->lo++;
    value->hi += value->lo == 0;
    return value->lo != 0 || value->hi != 0;
}

void wide_format(struct wide value, char text[WIDE_TEXT_BYTES])
{
    char reversed[WIDE_TEXT_BYTES];
    size_t count = 0;
    struct limbs limbs = limbs_of(value);
    do {
        reversed[count++] = (char)('0' + limbs_divide(&limbs, 10));
    } while (limbs.at[0] != 0 || limbs.at[1] != 0 || limbs.at[2] != 0 || limbs.at[3] != 0);
    if (value.negative)
        reversed[count++] = '-';
    for (size_t i = 0; i < count; i++)
        text[i] = reversed[count - 1 - i];
    text[count] = '\0';
}

/* 2^bits - 1, for 1..128 bits. */
static struct wide ones(unsigned bits)
{
    if (bits >= 128)
        return (struct wide){.hi = UINT64_MAX, .lo = UINT64_MAX};
    if (bits > 64)
        return (struct wide){.hi = (UINT64_C(1) << (bits - 64)) - 1, .lo = UINT64_MAX};
    return (struct wide){.lo = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1};
}

struct wide wide_type_max(unsigned bits, bool is_signed)
{
    return ones(is_signed ? bits - 1 : bits);
}

struct wide wide_type_min(unsigned bits, bool is_signed)
{
    struct wide min = {0};
    if (is_signed) {
        min = ones(bits - 1);
        wide_increment(&min);
        min.negative = true;
    }
    return min;
}
