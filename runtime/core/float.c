#include "core/float.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/number.h"

/* A decimal number: 0.DIGITS * 10^point, no leading and no trailing zero in DIGITS. */
enum {
    /* More significant digits than this never decide how a double is rounded. */
    DIGITS_MAX = 800,
    SHORT_DIGITS_MAX = 17,
    SCRATCH_SIZE = 48,
    POINT_PLAIN_MIN = -5, /* 1e-6 is 0.1 * 10^-5 */
    POINT_PLAIN_MAX = 21,
    POINT_MAX = 100000 /* beyond every float; keeps sums of exponents small */
};

struct digits {
    char text[DIGITS_MAX + 2];
    size_t len;
    long point;
};

/* 10^22 is the last power of ten that a double holds exactly, 10^10 for a float. */
static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { POWER_MAX = 22, FLOAT_POWER_MAX = 10, FAST_DECIMALS = 6 };

/* ---- writing ---- */

static size_t exponent_put(long exponent, char *text)
{
    text[0] = 'e';
    return 1 + culex__int64_format(exponent, text + 1);
}

/* D.DDDe-7 */
static size_t scientific_put(const char *digits, size_t len, long point, char *text)
{
    size_t out = 0;
    text[out++] = digits[0];
    if (len > 1) {
        text[out++] = '.';
        memcpy(text + out, digits + 1, len - 1);
        out += len - 1;
    }
    return out + exponent_put(point - 1, text + out);
}

static size_t fill(char *text, size_t out, size_t len)
{
    memset(text + out, '0', len);
    return out + len;
}

/* 0.00DDD, DD.DDD or DDD000 */
static size_t plain_put(const char *digits, size_t len, long point, char *text)
{
    size_t whole = point > 0 ? (size_t)point : 0;
    size_t taken = whole < len ? whole : len;
    memcpy(text, digits, taken);
    size_t out = fill(text, taken, whole - taken);
    if (whole == 0)
        text[out++] = '0';
    if (taken == len)
        return out;
    text[out++] = '.';
    out = fill(text, out, point < 0 ? (size_t)-point : 0);
    memcpy(text + out, digits + taken, len - taken);
    return out + len - taken;
}

static size_t digits_put(const char *digits, size_t len, long point, char *text)
{
    while (len > 1 && digits[len - 1] == '0')
        len--;
    if (point < POINT_PLAIN_MIN || point > POINT_PLAIN_MAX)
        return scientific_put(digits, len, point, text);
    return plain_put(digits, len, point, text);
}

/* Splits what "%e" printed, whatever stands for the decimal point, into digits and exponent. */
static size_t digits_take(const char *printed, char *digits, long *ret_point)
{
    size_t len = 0;
    for (; *printed != 'e'; printed++) {
        if (*printed >= '0' && *printed <= '9')
            digits[len++] = *printed;
    }
    *ret_point = strtol(printed + 1, NULL, 10) + 1;
    return len;
}

/* An integer with an exponent: what strtod reads alike in every locale. */
static void integer_form(const char *digits, size_t len, long point, char *text)
{
    memcpy(text, digits, len);
    size_t exponent_len = exponent_put(point - (long)len, text + len);
    text[len + exponent_len] = '\0';
}

/* The shortest digits that read back as `value`, which is finite and positive. */
static size_t shortest_put(double value, bool is_float32, char *text)
{
    double normal_min = is_float32 ? (double)FLT_MIN : DBL_MIN;
    int precision_max = is_float32 ? 9 : SHORT_DIGITS_MAX;
    /* Any text of FLT_DIG or DBL_DIG digits survives, so start there; not so below normal. */
    int precision = value < normal_min ? 1 : is_float32 ? FLT_DIG : DBL_DIG;
    for (;; precision++) {
        char printed[SCRATCH_SIZE];
        char digits[SCRATCH_SIZE] = "0";
        char form[SCRATCH_SIZE];
        long point;
        snprintf(printed, sizeof printed, "%.*e", precision - 1, value);
        size_t len = digits_take(printed, digits, &point);
        integer_form(digits, len, point, form);
        double back = is_float32 ? (double)strtof(form, NULL) : strtod(form, NULL);
        if (back == value || precision == precision_max)
            return digits_put(digits, len, point, text);
    }
}

/* Quotients of exact numbers are rounded once, so `whole / 10^decimals == value` proves the
 * text. It is also the shortest: a text of up to 15 (float: 6) digits is the only one of its
 * length. */
static size_t decimal_put(uint64_t whole, int decimals, char *text)
{
    char digits[CULEX_NUMBER_TEXT_MAX];
    size_t len = culex__uint64_format(whole, digits);
    return digits_put(digits, len, (long)len - decimals, text);
}

/* Values with few decimals, which are most of those that people write. 0 when it is not one. */
static size_t fast64_put(double value, char *text)
{
    for (int decimals = 0; decimals <= FAST_DECIMALS; decimals++) {
        double scaled = value * powers[decimals];
        if (!(scaled < 1e15))
            return 0;
        uint64_t whole = (uint64_t)(scaled + 0.5);
        if ((double)whole / powers[decimals] == value)
            return decimal_put(whole, decimals, text);
    }
    return 0;
}

static size_t fast32_put(float value, char *text)
{
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0
    for (int decimals = 0; decimals <= FAST_DECIMALS; decimals++) {
        float scaled = value * (float)powers[decimals];
        if (!(scaled < 1e6F))
            return 0;
        uint64_t whole = (uint64_t)(scaled + 0.5F);
        if ((float)whole / (float)powers[decimals] == value)
            return decimal_put(whole, decimals, text);
    }
#endif
    (void)value;
    (void)text;
    return 0;
}

size_t culex__float64_format(double value, char *ret_text)
{
    assert(isfinite(value));
    size_t sign = signbit(value) ? 1 : 0;
    ret_text[0] = '-';
    double positive = fabs(value);
    size_t len = fast64_put(positive, ret_text + sign);
    return sign + (len > 0 ? len : shortest_put(positive, false, ret_text + sign));
}

size_t culex__float32_format(float value, char *ret_text)
{
    assert(isfinite(value));
    size_t sign = signbit(value) ? 1 : 0;
    ret_text[0] = '-';
    float positive = fabsf(value);
    size_t len = fast32_put(positive, ret_text + sign);
    return sign + (len > 0 ? len : shortest_put((double)positive, true, ret_text + sign));
}

/* ---- reading ---- */

/* Of digits beyond DIGITS_MAX it matters only whether one of them is not zero: the last that is
 * kept tells that. */
static void digits_add(struct digits *digits, char digit)
{
    if (digits->len < DIGITS_MAX)
        digits->text[digits->len++] = digit;
    else if (digit != '0' && digits->text[DIGITS_MAX - 1] == '0')
        digits->text[DIGITS_MAX - 1] = '1';
}

/* [+-]DIGITS, clamped far outside every float. */
static long exponent_read(const char *at, const char *end)
{
    bool is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    long exponent = 0;
    for (; at < end; at++) {
        if (exponent < 100 * (long)POINT_MAX)
            exponent = exponent * 10 + (*at - '0');
    }
    return is_negative ? -exponent : exponent;
}

/* Digits and point of an unsigned JSON number. */
static void digits_read(const char *at, const char *end, struct digits *digits)
{
    bool is_fraction = false;
    digits->len = 0;
    digits->point = 0;
    for (; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            is_fraction = true;
            continue;
        }
        bool is_leading_zero = digits->len == 0 && *at == '0';
        if (!is_leading_zero)
            digits_add(digits, *at);
        if (is_fraction && is_leading_zero)
            digits->point--;
        else if (!is_fraction && !is_leading_zero)
            digits->point++;
    }
    if (at < end)
        digits->point += exponent_read(at + 1, end);
    if (digits->point > POINT_MAX)
        digits->point = POINT_MAX;
    if (digits->point < -POINT_MAX)
        digits->point = -POINT_MAX;
}

/* Both factors exact, one rounding. False when that does not hold, as where the processor
 * calculates with more digits than the type has, which rounds twice. */
static bool fast64_read(const struct digits *digits, double *ret_value)
{
#if defined(FLT_EVAL_METHOD) && (FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 1)
    long exponent = digits->point - (long)digits->len;
    uint64_t whole;
    if (digits->len <= DBL_DIG && exponent >= -POWER_MAX && exponent <= POWER_MAX &&
        culex__uint64_parse(digits->text, digits->len, &whole)) {
        double power = powers[exponent < 0 ? -exponent : exponent];
        *ret_value = exponent < 0 ? (double)whole / power : (double)whole * power;
        return true;
    }
#endif
    (void)digits;
    (void)ret_value;
    return false;
}

static bool fast32_read(const struct digits *digits, float *ret_value)
{
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0
    long exponent = digits->point - (long)digits->len;
    uint64_t whole;
    if (digits->len <= FLT_DIG && exponent >= -FLOAT_POWER_MAX && exponent <= FLOAT_POWER_MAX &&
        culex__uint64_parse(digits->text, digits->len, &whole)) {
        float power = (float)powers[exponent < 0 ? -exponent : exponent];
        *ret_value = exponent < 0 ? (float)whole / power : (float)whole * power;
        return true;
    }
#endif
    (void)digits;
    (void)ret_value;
    return false;
}

static double slow_read(const struct digits *digits, bool is_float32)
{
    char form[DIGITS_MAX + SCRATCH_SIZE];
    integer_form(digits->text, digits->len, digits->point, form);
    return is_float32 ? (double)strtof(form, NULL) : strtod(form, NULL);
}

bool culex__float64_parse(const char *text, size_t len, double *ret_value)
{
    struct digits digits;
    bool is_negative = len > 0 && text[0] == '-';
    digits_read(text + is_negative, text + len, &digits);
    double value = 0;
    if (digits.len > 0 && !fast64_read(&digits, &value))
        value = slow_read(&digits, false);
    if (isinf(value))
        return false;
    *ret_value = is_negative ? -value : value;
    return true;
}

bool culex__float32_parse(const char *text, size_t len, float *ret_value)
{
    struct digits digits;
    bool is_negative = len > 0 && text[0] == '-';
    digits_read(text + is_negative, text + len, &digits);
    float value = 0;
    if (digits.len > 0 && !fast32_read(&digits, &value))
        value = (float)slow_read(&digits, true);
    if (isinf(value))
        return false;
    *ret_value = is_negative ? -value : value;
    return true;
}
