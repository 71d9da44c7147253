#include "command/range.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/duration.h"
#include "command/fail.h"

/* Of a time with its units, in seconds. */
static bool time_take(const char **at, double *ret_number)
{
    culex_duration span;
    size_t len = strcspn(*at, ":");
    if (!ops_duration_read(*at, len, &span) || span < 0)
        return false;
    *at += len;
    *ret_number = (double)span / (double)CULEX_SECOND;
    return true;
}

/* Passes digits with one point among them, or a time. Of times only 0 needs no unit. */
static bool number_take(const char **at, bool is_time, double *ret_number)
{
    char digits[24];
    size_t len = strspn(*at, "0123456789.");
    if (is_time && (*at)[len] != '\0' && (*at)[len] != ':')
        return time_take(at, ret_number);
    if (len == 0 || len >= sizeof digits || !isdigit((unsigned char)**at))
        return false;
    memcpy(digits, *at, len);
    digits[len] = '\0';
    char *end;
    *ret_number = strtod(digits, &end);
    *at += len;
    return *end == '\0' && (!is_time || *ret_number == 0);
}

static bool bounds_read(const char *at, bool is_time, struct ops_range *range)
{
    if (*at == '~') {
        range->has_low = false;
        if (*++at != ':')
            return false;
    } else if (!number_take(&at, is_time, &range->low)) {
        return false;
    }
    if (*at == '\0') { /* one number is the upper bound */
        range->high = range->low;
        range->low = 0;
        range->has_high = true;
        return true;
    }
    if (*at++ != ':')
        return false;
    range->has_high = *at != '\0';
    return !range->has_high || (number_take(&at, is_time, &range->high) && *at == '\0' &&
                                (!range->has_low || range->low <= range->high));
}

/* An empty one is not set. */
static bool range_read(const char *text, size_t len, bool is_time, struct ops_range *ret_range)
{
    char word[80];
    if (len >= sizeof word)
        return false;
    memcpy(word, text, len);
    word[len] = '\0';
    bool is_reverse = word[0] == '@';
    *ret_range = (struct ops_range){.is_set = len > 0, .is_reverse = is_reverse, .has_low = true};
    return len == 0 || bounds_read(word + is_reverse, is_time, ret_range);
}

static bool is_within(const struct ops_range *one, const struct ops_range *other)
{
    bool is_low = !other->has_low || (one->has_low && one->low >= other->low);
    return is_low && (!other->has_high || (one->has_high && one->high <= other->high));
}

static bool is_equal(const struct ops_range *one, const struct ops_range *other)
{
    return is_within(one, other) && is_within(other, one);
}

/* Whether each value that is a reason to warn is critical, so that nobody is ever warned. Equal
 * ones say that on purpose. */
static bool is_hidden(const struct ops_range *warning, const struct ops_range *critical)
{
    if (!warning->is_set || !critical->is_set || warning->is_reverse != critical->is_reverse ||
        is_equal(warning, critical))
        return false;
    return warning->is_reverse ? is_within(warning, critical) : is_within(critical, warning);
}

culex_status ops_threshold_read(const char *name, const char *text, bool is_time,
                                struct ops_threshold *ret_threshold, culex_error *error)
{
    size_t len = strcspn(text, ",");
    const char *second = text[len] == ',' ? text + len + 1 : "";
    if (!range_read(text, len, is_time, &ret_threshold->warning) ||
        !range_read(second, strlen(second), is_time, &ret_threshold->critical) ||
        (!ret_threshold->warning.is_set && !ret_threshold->critical.is_set))
        return ops_usage(error,
                         "--%s: %s is no threshold; write %s: warn beyond the first, critical "
                         "beyond the second; each may be a range, as %s",
                         name, text, is_time ? "5m,1h, with units" : "10,100",
                         is_time ? "1m:20m" : "1:20");
    if (is_hidden(&ret_threshold->warning, &ret_threshold->critical))
        return ops_usage(error,
                         "--%s: %.*s warns of nothing that is not critical by %s; the bound that "
                         "warns comes first: %s,%.*s",
                         name, (int)len, text, second, second, (int)len, text);
    return CULEX_OK;
}

bool ops_range_alerts(const struct ops_range *range, double value)
{
    bool is_in =
        (!range->has_low || value >= range->low) && (!range->has_high || value <= range->high);
    return range->is_set && is_in == range->is_reverse;
}

const char *ops_range_format(const struct ops_range *range, char ret_text[OPS_RANGE_SIZE])
{
    char low[24] = "", high[24] = "";
    if (!range->has_low)
        strcpy(low, "~:");
    else if (range->low != 0 || !range->has_high)
        snprintf(low, sizeof low, "%.15g:", range->low);
    if (range->has_high)
        snprintf(high, sizeof high, "%.15g", range->high);
    snprintf(ret_text, OPS_RANGE_SIZE, "%s%s%s", range->is_reverse ? "@" : "", low, high);
    if (!range->is_set)
        ret_text[0] = '\0';
    return ret_text;
}
