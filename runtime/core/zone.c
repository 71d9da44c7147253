#include "core/zone.h"

#include <stdbool.h>
#include <string.h>

#include "base/bigendian.h"

/* A file is a head and its block, with times of four bytes; from version 2 on another head and a
 * block with times of eight, and the rule, between two line ends. */
enum { HEAD_SIZE = 44, TYPE_SIZE = 6 };

static const char magic[4] = {'T', 'Z', 'i', 'f'};

struct part {
    uint8_t version; /* 0 for the first one, else its digit */
    uint64_t universal, standard, leaps, times, types, letters;
    const uint8_t *block;
};

/* What a head announces behind itself. Counts have 32 bits, so the sum does not overflow. */
static uint64_t block_size(const struct part *part, unsigned width)
{
    return part->times * (width + 1) + part->types * TYPE_SIZE + part->letters +
           part->leaps * (width + 4) + part->standard + part->universal;
}

/* False when it is not all there, else *at is behind it. */
static bool part_take(const uint8_t **at, const uint8_t *end, unsigned width, struct part *ret_part)
{
    uint64_t counts[6];
    if (end - *at < HEAD_SIZE || memcmp(*at, magic, sizeof magic) != 0)
        return false;
    for (int i = 0; i < 6; i++)
        counts[i] = culex__bigendian_get(*at + 20 + 4 * i, 4);
    *ret_part = (struct part){(*at)[4],  counts[0], counts[1], counts[2],
                              counts[3], counts[4], counts[5], *at + HEAD_SIZE};
    uint64_t size = block_size(ret_part, width);
    if (size > (size_t)(end - ret_part->block))
        return false;
    *at = ret_part->block + size;
    return true;
}

static int64_t time_at(const struct culex__zone *zone, size_t index)
{
    uint64_t value = culex__bigendian_get(zone->times + index * (size_t)zone->width, zone->width);
    return zone->width == 4 ? (int32_t)(uint32_t)value : (int64_t)value;
}

static int32_t offset_of(const struct culex__zone *zone, uint8_t type)
{
    return (int32_t)(uint32_t)culex__bigendian_get(zone->types + type * TYPE_SIZE, 4);
}

static const char *types_check(const struct culex__zone *zone, const struct part *part)
{
    for (uint8_t type = 0; type < part->types; type++) {
        int32_t offset = offset_of(zone, type);
        if (offset < CULEX_ZONE_OFFSET_MIN || offset > CULEX_ZONE_OFFSET_MAX)
            return "it is more than a day off UTC";
    }
    return NULL;
}

static const char *times_check(const struct culex__zone *zone, const struct part *part)
{
    for (size_t i = 0; i < zone->count; i++) {
        if (zone->kinds[i] >= part->types)
            return "it has a time without a type";
        if (i > 0 && time_at(zone, i) <= time_at(zone, i - 1))
            return "its times are not in order";
    }
    return NULL;
}

/* Behind its times the offset of the last one holds, until a rule is read. */
static const char *block_read(const struct part *part, int width, struct culex__zone *zone)
{
    if (part->leaps > 0)
        return "it counts leap seconds";
    if (part->types == 0 || part->types > 255)
        return "it has no types, or too many";
    zone->width = width;
    zone->count = (size_t)part->times;
    zone->times = part->block;
    zone->kinds = zone->times + zone->count * (size_t)width;
    zone->types = zone->kinds + zone->count;
    const char *fault = types_check(zone, part);
    if (fault == NULL)
        fault = times_check(zone, part);
    if (fault == NULL)
        zone->rule.standard_s = offset_of(zone, zone->count > 0 ? zone->kinds[zone->count - 1] : 0);
    return fault;
}

/* "\nCET-1CEST,M3.5.0,M10.5.0/3\n"; without a text, the last offset goes on. */
static const char *footer_read(const uint8_t *bytes, size_t len, struct culex__zone *zone)
{
    const uint8_t *end = len > 1 ? memchr(bytes + 1, '\n', len - 1) : NULL;
    if (end == NULL || bytes[0] != '\n')
        return "it ends within its rule";
    size_t rule_len = (size_t)(end - bytes) - 1;
    if (rule_len > 0 && !culex__zone_rule_read((const char *)bytes + 1, rule_len, &zone->rule))
        return "its rule for later years cannot be read";
    return NULL;
}

const char *culex__zone_read(const uint8_t *bytes, size_t len, struct culex__zone *ret_zone)
{
    const uint8_t *at = bytes, *end = bytes + len;
    struct part part;
    struct culex__zone zone = {0};
    if (len < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return "it is no file of the tz database";
    bool is_whole = part_take(&at, end, 4, &part);
    bool is_first = is_whole && part.version == 0;
    if (!is_whole || (!is_first && !part_take(&at, end, 8, &part)))
        return "it is cut off";
    const char *fault = block_read(&part, is_first ? 4 : 8, &zone);
    if (fault == NULL && !is_first)
        fault = footer_read(at, (size_t)(end - at), &zone);
    if (fault == NULL)
        *ret_zone = zone;
    return fault;
}

/* How many of the times are not after `at_s`. */
static size_t times_until(const struct culex__zone *zone, int64_t at_s)
{
    size_t low = 0, high = zone->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (time_at(zone, middle) <= at_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct culex__zone_span culex__zone_span_at(const struct culex__zone *zone, int64_t at_s)
{
    size_t past = times_until(zone, at_s);
    int64_t from_s = past > 0 ? time_at(zone, past - 1) : INT64_MIN;
    if (past == zone->count) {
        struct culex__zone_span span = culex__zone_rule_span_at(&zone->rule, at_s);
        span.from_s = from_s > span.from_s ? from_s : span.from_s;
        return span;
    }
    uint8_t type = past > 0 ? zone->kinds[past - 1] : 0;
    return (struct culex__zone_span){from_s, time_at(zone, past), offset_of(zone, type)};
}
