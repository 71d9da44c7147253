#include "core/zone_rule.h"

#include "base/digit.h"
#include "core/date.h"

#define YEAR_1_S     INT64_C(-62135596800) /* 0001-01-01 */
#define YEAR_10000_S INT64_C(253402300800)

struct cursor {
    const char *at, *end;
};

static bool take(struct cursor *text, char byte)
{
    if (text->at == text->end || *text->at != byte)
        return false;
    text->at++;
    return true;
}

/* Up to three digits, from `min` to `max`. */
static bool take_number(struct cursor *text, unsigned min, unsigned max, unsigned *ret_value)
{
    unsigned value = 0, digits = 0;
    for (; text->at < text->end && culex__is_digit(*text->at) && digits < 3; digits++)
        value = value * 10 + (unsigned)(*text->at++ - '0');
    *ret_value = value;
    return digits > 0 && value >= min && value <= max;
}

/* "2", "-1:30" or "+02:30:15", up to `hours_max` hours and a part of one. */
static bool take_time(struct cursor *text, unsigned hours_max, int32_t *ret_seconds)
{
    unsigned hours, minutes = 0, seconds = 0;
    bool is_negative = take(text, '-');
    if (!is_negative)
        take(text, '+');
    if (!take_number(text, 0, hours_max, &hours))
        return false;
    if (take(text, ':')) {
        if (!take_number(text, 0, 59, &minutes) ||
            (take(text, ':') && !take_number(text, 0, 59, &seconds)))
            return false;
    }
    int32_t sum = (int32_t)(hours * 3600 + minutes * 60 + seconds);
    *ret_seconds = is_negative ? -sum : sum;
    return true;
}

static bool is_letter(char byte)
{
    char lower = (char)(byte | 0x20);
    return lower >= 'a' && lower <= 'z';
}

/* "CET" or "<+0330>": nobody is told it. */
static bool take_name(struct cursor *text)
{
    bool is_quoted = take(text, '<');
    const char *from = text->at;
    while (text->at < text->end && (is_letter(*text->at) || (is_quoted && *text->at != '>')))
        text->at++;
    return text->at > from && (!is_quoted || take(text, '>'));
}

/* "M3.5.0/2", "J60" or "59/-1". */
static bool take_day(struct cursor *text, struct culex__zone_day *day)
{
    *day = (struct culex__zone_day){.form = 'N', .time_s = 2 * 3600};
    if (take(text, 'M')) {
        day->form = 'M';
        if (!take_number(text, 1, 12, &day->month) || !take(text, '.') ||
            !take_number(text, 1, 5, &day->week) || !take(text, '.') ||
            !take_number(text, 0, 6, &day->day))
            return false;
    } else {
        bool is_julian = take(text, 'J');
        day->form = is_julian ? 'J' : 'N';
        if (!take_number(text, is_julian, 365, &day->day))
            return false;
    }
    return !take(text, '/') || take_time(text, 167, &day->time_s);
}

/* What is behind the name of the summer time: its offset, an hour more when none is given, and its
 * two days. */
static bool take_summer(struct cursor *text, struct culex__zone_rule *rule)
{
    int32_t behind = -rule->standard_s - 3600; /* POSIX counts what a clock is behind UTC */
    if (text->at < text->end && *text->at != ',' && !take_time(text, 24, &behind))
        return false;
    rule->has_summer = true;
    rule->summer_s = -behind;
    return take(text, ',') && take_day(text, &rule->start) && take(text, ',') &&
           take_day(text, &rule->end);
}

bool culex__zone_rule_read(const char *text, size_t len, struct culex__zone_rule *ret_rule)
{
    struct cursor cursor = {.at = text, .end = text + len};
    struct culex__zone_rule rule = {0};
    int32_t behind;
    if (!take_name(&cursor) || !take_time(&cursor, 24, &behind))
        return false;
    rule.standard_s = -behind;
    if (cursor.at < cursor.end && (!take_name(&cursor) || !take_summer(&cursor, &rule)))
        return false;
    if (cursor.at != cursor.end)
        return false;
    *ret_rule = rule;
    return true;
}

/* The day's number in one year. A fifth week that a month lacks is its last one. */
static int64_t day_in(const struct culex__zone_day *day, int64_t year)
{
    int64_t january = culex__date_days((struct culex__date){year, 1, 1});
    if (day->form == 'N')
        return january + day->day;
    if (day->form == 'J')
        return january + day->day - 1 + (day->day >= 60 && culex__month_days(year, 2) == 29);
    int64_t first = culex__date_days((struct culex__date){year, day->month, 1});
    unsigned ahead = (7 + day->day - culex__days_weekday(first)) % 7;
    unsigned month_day = ahead + 7 * (day->week - 1);
    return first + month_day - (month_day < culex__month_days(year, day->month) ? 0 : 7);
}

/* One move of the clocks, seen from `at_s`: it begins the span, or bounds it. */
static void move_see(struct culex__zone_span *span, int64_t at_s, int64_t move_s, int32_t offset_s,
                     bool is_last)
{
    if (move_s > at_s) {
        span->until_s = move_s < span->until_s ? move_s : span->until_s;
    } else if (move_s > span->from_s || (move_s == span->from_s && is_last)) {
        span->from_s = move_s;
        span->offset_s = offset_s;
    }
}

/* A rule's time may be a week off its day, so moves of the years around are looked at. Where a
 * summer ends as the next one begins, it is always summer. */
static struct culex__zone_span span_find(const struct culex__zone_rule *rule, int64_t at_s)
{
    struct culex__zone_span span = {INT64_MIN, INT64_MAX, rule->standard_s};
    int64_t year = culex__days_date(culex__floor_div(at_s, CULEX_DAY_SECONDS)).year;
    for (int64_t near = year - 2; near <= year + 2; near++) {
        int64_t start = day_in(&rule->start, near) * CULEX_DAY_SECONDS + rule->start.time_s;
        int64_t end = day_in(&rule->end, near) * CULEX_DAY_SECONDS + rule->end.time_s;
        move_see(&span, at_s, start - rule->standard_s, rule->summer_s, true);
        move_see(&span, at_s, end - rule->summer_s, rule->standard_s, false);
    }
    return span;
}

struct culex__zone_span culex__zone_rule_span_at(const struct culex__zone_rule *rule, int64_t at_s)
{
    if (!rule->has_summer)
        return (struct culex__zone_span){INT64_MIN, INT64_MAX, rule->standard_s};
    if (at_s < YEAR_1_S)
        return (struct culex__zone_span){INT64_MIN, YEAR_1_S, rule->standard_s};
    if (at_s >= YEAR_10000_S)
        return (struct culex__zone_span){YEAR_10000_S, INT64_MAX, rule->standard_s};
    struct culex__zone_span span = span_find(rule, at_s);
    span.from_s = span.from_s > YEAR_1_S ? span.from_s : YEAR_1_S;
    span.until_s = span.until_s < YEAR_10000_S ? span.until_s : YEAR_10000_S;
    return span;
}
