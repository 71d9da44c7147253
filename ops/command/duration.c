#include "command/duration.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    uint64_t length;
} units[] = {{"w", 7 * (uint64_t)CULEX_DAY},      {"d", (uint64_t)CULEX_DAY},
             {"h", (uint64_t)CULEX_HOUR},         {"m", (uint64_t)CULEX_MINUTE},
             {"s", (uint64_t)CULEX_SECOND},       {"ms", (uint64_t)CULEX_MILLISECOND},
             {"us", (uint64_t)CULEX_MICROSECOND}, {"ns", 1}};

enum { UNIT_COUNT = sizeof units / sizeof units[0] };

struct reader {
    const char *at, *end;
    uint64_t total;
};

static bool is_digit(const struct reader *reader)
{
    return reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9';
}

static bool total_add(struct reader *reader, uint64_t count, uint64_t length)
{
    if (count > (INT64_MAX - reader->total) / length)
        return false;
    reader->total += count * length;
    return true;
}

/* The unit of the number at `at`: the first that its letters name, behind digits and a point. */
static size_t unit_find(const struct reader *reader)
{
    const char *letters = reader->at;
    while (letters < reader->end && strchr("0123456789.", *letters) != NULL)
        letters++;
    const char *end = letters;
    while (end < reader->end && *end >= 'a' && *end <= 'z')
        end++;
    size_t len = (size_t)(end - letters), i = 0;
    while (i < UNIT_COUNT &&
           (strlen(units[i].name) != len || memcmp(units[i].name, letters, len) != 0))
        i++;
    return i;
}

static bool whole_take(struct reader *reader, uint64_t length)
{
    uint64_t count = 0;
    if (!is_digit(reader))
        return false;
    for (; is_digit(reader); reader->at++) {
        if (count > INT64_MAX / 10)
            return false;
        count = count * 10 + (uint64_t)(*reader->at - '0');
    }
    return total_add(reader, count, length);
}

/* Each decimal counts a tenth of what the one before it does, as long as that is a whole number. */
static bool decimals_take(struct reader *reader, uint64_t length)
{
    if (reader->at == reader->end || *reader->at != '.')
        return true;
    reader->at++;
    if (!is_digit(reader))
        return false;
    for (; is_digit(reader); reader->at++) {
        uint64_t digit = (uint64_t)(*reader->at - '0');
        length = length % 10 == 0 ? length / 10 : 0;
        if (digit > 0 && (length == 0 || !total_add(reader, digit, length)))
            return false;
    }
    return true;
}

bool ops_duration_read(const char *text, size_t len, culex_duration *ret_duration)
{
    bool is_negative = len > 0 && text[0] == '-';
    struct reader reader = {text + is_negative, text + len, 0};
    size_t next = 0; /* the largest unit that may still come */
    if (reader.at == reader.end)
        return false;
    while (reader.at < reader.end) {
        size_t unit = unit_find(&reader);
        if (unit == UNIT_COUNT || unit < next || !whole_take(&reader, units[unit].length) ||
            !decimals_take(&reader, units[unit].length))
            return false;
        reader.at += strlen(units[unit].name);
        next = unit + 1;
    }
    *ret_duration = is_negative ? -(int64_t)reader.total : (int64_t)reader.total;
    return true;
}

const char *ops_duration_format(culex_duration duration, char ret_text[OPS_DURATION_SIZE])
{
    uint64_t left = duration < 0 ? 0 - (uint64_t)duration : (uint64_t)duration;
    size_t at = (size_t)snprintf(ret_text, OPS_DURATION_SIZE, "%s", duration < 0 ? "-" : "");
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (left / units[i].length > 0)
            at += (size_t)snprintf(ret_text + at, OPS_DURATION_SIZE - at, "%" PRIu64 "%s",
                                   left / units[i].length, units[i].name);
        left %= units[i].length;
    }
    if (at == 0)
        snprintf(ret_text, OPS_DURATION_SIZE, "0s");
    return ret_text;
}
