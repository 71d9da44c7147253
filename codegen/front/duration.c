#include "duration.h"

#include <inttypes.h>
#include <string.h>

#include "base/digit.h"
#include "wide.h"

static const struct {
    const char *name;
    int64_t ns;
} units[] = {{"w", INT64_C(604800000000000)}, {"d", INT64_C(86400000000000)},
             {"h", INT64_C(3600000000000)},   {"m", INT64_C(60000000000)},
             {"s", INT64_C(1000000000)},      {"ms", INT64_C(1000000)},
             {"us", INT64_C(1000)},           {"ns", INT64_C(1)}};
enum { UNIT_COUNT = sizeof(units) / sizeof(units[0]) };

static size_t unit_find(const char *name, size_t len)
{
    size_t i = 0;
    while (i < UNIT_COUNT &&
           (strlen(units[i].name) != len || memcmp(units[i].name, name, len) != 0))
        i++;
    return i;
}

static const char *duration_add(uint64_t *total, uint64_t max, const char *digits, size_t len,
                                uint64_t unit)
{
    struct wide count;
    if (!wide_parse(digits, len, &count) || count.hi != 0 || count.lo > (max - *total) / unit)
        return "is longer than 292 years";
    *total += count.lo * unit;
    return NULL;
}

const char *duration_read(const char *text, size_t len, bool is_negative, int64_t *ret_ns)
{
    uint64_t max = (uint64_t)INT64_MAX + is_negative, total = 0;
    size_t unit_next = 0; /* the largest unit that may still come */
    for (size_t at = 0; at < len;) {
        size_t digits = at;
        while (at < len && culex__is_digit(text[at]))
            at++;
        size_t letters = at;
        while (at < len && !culex__is_digit(text[at]))
            at++;
        size_t unit = unit_find(text + letters, at - letters);
        if (unit == UNIT_COUNT)
            return "has an unknown unit";
        if (unit < unit_next)
            return "must have its units from large to small, each once";
        unit_next = unit + 1;
        const char *fault =
            duration_add(&total, max, text + digits, letters - digits, (uint64_t)units[unit].ns);
        if (fault != NULL)
            return fault;
    }
    *ret_ns = (int64_t)(is_negative ? 0 - total : total);
    return NULL;
}

const char *duration_format(struct arena *arena, int64_t ns)
{
    const char *text = "";
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (ns / units[i].ns > 0)
            text = arena_printf(arena, "%s%" PRId64 "%s", text, ns / units[i].ns, units[i].name);
        ns %= units[i].ns;
    }
    return *text == '\0' ? "0s" : text;
}
