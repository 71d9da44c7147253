#include "quantity.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/digit.h"
#include "duration.h"

struct unit {
    const char *word;
    int64_t scale;
};

#define NS_SECOND INT64_C(1000000000)
#define NS_DAY    (86400 * NS_SECOND)

static const struct unit times[] = {
    {"ns", 1},
    {"nanos", 1},
    {"nanosecond", 1},
    {"us", 1000},
    {"usec", 1000},
    {"micros", 1000},
    {"microsecond", 1000},
    {"ms", 1000000},
    {"msec", 1000000},
    {"millis", 1000000},
    {"millisecond", 1000000},
    {"s", NS_SECOND},
    {"sec", NS_SECOND},
    {"second", NS_SECOND},
    {"m", 60 * NS_SECOND},
    {"min", 60 * NS_SECOND},
    {"minute", 60 * NS_SECOND},
    {"h", 3600 * NS_SECOND},
    {"hr", 3600 * NS_SECOND},
    {"hour", 3600 * NS_SECOND},
    {"d", NS_DAY},
    {"day", NS_DAY},
    {"w", 7 * NS_DAY},
    {"wk", 7 * NS_DAY},
    {"week", 7 * NS_DAY},
    {0},
};

static const struct unit sizes[] = {
    {"b", 1},
    {"byte", 1},
    {"k", 1 << 10},
    {"kb", 1 << 10},
    {"kib", 1 << 10},
    {"ki", 1 << 10},
    {"m", 1 << 20},
    {"mb", 1 << 20},
    {"mib", 1 << 20},
    {"mi", 1 << 20},
    {"meg", 1 << 20},
    {"g", 1 << 30},
    {"gb", 1 << 30},
    {"gib", 1 << 30},
    {"gi", 1 << 30},
    {"t", INT64_C(1) << 40},
    {"tb", INT64_C(1) << 40},
    {"tib", INT64_C(1) << 40},
    {0},
};

static const char *blanks_skip(const char *text)
{
    return text + strspn(text, " \t");
}

/* The scale of the unit at *at, which may be a plural; 0 when it is none. */
static int64_t unit_take(const struct unit *units, const char **at)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t len = strspn(*at, letters);
    for (const struct unit *unit = units; unit->word != NULL && len > 0; unit++) {
        size_t word = strlen(unit->word);
        bool is_plural = len == word + 1 && word > 1 && ((*at)[word] | 0x20) == 's';
        if ((len == word || is_plural) && strncasecmp(*at, unit->word, word) == 0) {
            *at += len;
            return unit->scale;
        }
    }
    return 0;
}

/* Twelve digits are enough for every number that is meant, and cannot overflow below. */
static bool digits_take(const char **at, int64_t *value, int64_t *power)
{
    const char *from = *at;
    for (; culex__is_digit(**at) && *at - from < 12; (*at)++) {
        *value = *value * 10 + (**at - '0');
        *power *= 10;
    }
    return *at > from && !culex__is_digit(**at);
}

/* One number with its unit, which is less than the one before; `*total` grows by it. False when it
 * is none, or is no whole number of the smallest unit. */
static bool part_take(const struct unit *units, const char **at, int64_t *total, int64_t *before)
{
    int64_t whole = 0, fraction = 0, power = 1, ignored = 1;
    if (!culex__is_digit(**at))
        whole = 1;
    else if (!digits_take(at, &whole, &ignored))
        return false;
    if (**at == '.' && culex__is_digit((*at)[1])) {
        (*at)++;
        if (!digits_take(at, &fraction, &power))
            return false;
    } else if (**at == '.') { /* 5.minutes */
        (*at)++;
    }
    *at = blanks_skip(*at);
    int64_t scale = unit_take(units, at);
    if (scale >= *before || scale == 0 || whole > (INT64_MAX - *total) / scale - 1 ||
        fraction > INT64_MAX / scale || fraction * scale % power != 0)
        return false;
    *before = scale;
    *total += whole * scale + fraction * scale / power;
    return true;
}

static bool parts_take(const struct unit *units, const char *text, int64_t *ret_total)
{
    int64_t total = 0, before = INT64_MAX;
    const char *at = blanks_skip(text);
    do {
        if (!part_take(units, &at, &total, &before))
            return false;
        at = blanks_skip(at);
    } while (*at != '\0');
    *ret_total = total;
    return true;
}

const char *quantity_duration(struct arena *arena, const char *text)
{
    int64_t ns;
    size_t len = strlen(text);
    if (len > 0 && text[len - 1] == 'M') /* Minutes or months? */
        return NULL;
    return parts_take(times, text, &ns) ? duration_format(arena, ns) : NULL;
}

const char *quantity_size(struct arena *arena, const char *text)
{
    int64_t bytes;
    if (!parts_take(sizes, text, &bytes) || bytes == 0 || bytes % (1 << 10) != 0)
        return NULL;
    if (bytes % (1 << 30) == 0)
        return arena_printf(arena, "%" PRId64 "G", bytes >> 30);
    if (bytes % (1 << 20) == 0)
        return arena_printf(arena, "%" PRId64 "M", bytes >> 20);
    return arena_printf(arena, "%" PRId64 "K", bytes >> 10);
}
