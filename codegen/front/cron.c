#include "cron.h"

#include <stddef.h>
#include <string.h>

#include "base/digit.h"

struct cron_field {
    const char *name;
    unsigned min, max;
    const char *words; /* three letters each, the first one is `min` */
};

static const struct cron_field cron_fields[CRON_FIELDS] = {
    {"the minute field is wrong (0 to 59)", 0, 59, ""},
    {"the hour field is wrong (0 to 23)", 0, 23, ""},
    {"the day field is wrong (1 to 31)", 1, 31, ""},
    {"the month field is wrong (1 to 12 or jan to dec)", 1, 12,
     "janfebmaraprmayjunjulaugsepoctnovdec"},
    {"the weekday field is wrong (0 to 7 or sun to sat)", 0, 7, "sunmontuewedthufrisat"},
};

/* A number of one or two digits, or a word. */
static bool read_value(const struct cron_field *field, const char **at, unsigned *ret_value)
{
    if (culex__is_digit(**at)) {
        unsigned value = (unsigned)(*(*at)++ - '0');
        if (culex__is_digit(**at))
            value = value * 10 + (unsigned)(*(*at)++ - '0');
        *ret_value = value;
        return value >= field->min && value <= field->max;
    }
    for (size_t i = 0; field->words[i] != '\0'; i += 3) {
        size_t j = 0;
        while (j < 3 && ((*at)[j] | 0x20) == field->words[i + j])
            j++;
        if (j == 3) {
            *at += 3;
            *ret_value = field->min + (unsigned)(i / 3);
            return true;
        }
    }
    return false;
}

/* One of the comma-separated parts: * or a or a-b, and then maybe /step. */
static bool read_part(const struct cron_field *field, const char **at, uint64_t *set)
{
    unsigned from = field->min, to = field->max, step = 1;
    if (**at == '*') {
        (*at)++;
    } else {
        if (!read_value(field, at, &from))
            return false;
        to = from;
        if (**at == '-' && ((*at)++, !read_value(field, at, &to) || to < from))
            return false;
    }
    if (**at == '/') {
        struct cron_field steps = {"", 1, field->max, ""};
        (*at)++;
        if (!read_value(&steps, at, &step))
            return false;
        to = to == from ? field->max : to;
    }
    for (unsigned value = from; value <= to; value += step)
        *set |= UINT64_C(1) << value;
    return true;
}

static bool read_field(const struct cron_field *field, const char **at, uint64_t *set)
{
    *set = 0;
    do {
        if (!read_part(field, at, set))
            return false;
    } while (**at == ',' && (*at)++);
    return **at == ' ' || **at == '\t' || **at == '\0';
}

static const char *fields_read(const char *text, uint64_t sets[CRON_FIELDS])
{
    static const char count_fault[] = "a cron text has five fields: minute hour day month weekday";
    for (size_t i = 0; i < CRON_FIELDS; i++) {
        text += strspn(text, " \t");
        if (*text == '\0')
            return count_fault;
        if (!read_field(&cron_fields[i], &text, &sets[i]))
            return cron_fields[i].name;
    }
    return text[strspn(text, " \t")] == '\0' ? NULL : count_fault;
}

const char *cron_read(const char *text, struct cron *ret_cron)
{
    static const char *const words[][2] = {
        {"@hourly", "0 * * * *"},   {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
        {"@weekly", "0 0 * * 0"},   {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"},
        {"@annually", "0 0 1 1 *"},
    };
    uint64_t *sets = ret_cron->sets;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i][0]) == 0)
            text = words[i][1];
    }
    const char *fault = fields_read(text, sets);
    if (fault == NULL) /* Sunday has two numbers. */
        sets[CRON_WEEKDAY] = (sets[CRON_WEEKDAY] | sets[CRON_WEEKDAY] >> 7) & 0x7f;
    return fault;
}

static bool has_weekday(const struct cron *cron)
{
    return cron->sets[CRON_WEEKDAY] != 0x7f;
}

bool cron_never_fires(const struct cron *cron)
{
    static const unsigned days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    for (unsigned month = 1; month <= 12 && !has_weekday(cron); month++) {
        uint64_t existing = (UINT64_C(1) << (days[month - 1] + 1)) - 2;
        if ((cron->sets[CRON_MONTH] >> month & 1) != 0 && (cron->sets[CRON_DAY] & existing) != 0)
            return false;
    }
    return !has_weekday(cron);
}

bool cron_has_either_day(const struct cron *cron)
{
    return has_weekday(cron) && cron->sets[CRON_DAY] != UINT32_MAX - 1;
}

int cron_minute_between(const struct cron *cron, int from, int to)
{
    for (int at = from; at < to; at++) {
        int minute = ((at % 1440) + 1440) % 1440;
        if ((cron->sets[CRON_HOUR] >> (minute / 60) & 1) != 0 &&
            (cron->sets[CRON_MINUTE] >> (minute % 60) & 1) != 0)
            return minute;
    }
    return -1;
}
