#include "core/cron.h"

#include <stddef.h>
#include <string.h>

#include "base/digit.h"

struct cron_field {
    const char *name;
    unsigned min, max;
    const char *words; /* three letters each, the first one is `min` */
};

static const struct cron_field cron_fields[CULEX_CRON_FIELDS] = {
    {"the minute field is wrong (0 to 59)", 0, 59, ""},
    {"the hour field is wrong (0 to 23)", 0, 23, ""},
    {"the day field is wrong (1 to 31)", 1, 31, ""},
    {"the month field is wrong (1 to 12 or jan to dec)", 1, 12,
     "janfebmaraprmayjunjulaugsepoctnovdec"},
    {"the weekday field is wrong (0 to 7 or sun to sat)", 0, 7, "sunmontuewedthufrisat"},
};

static const char downward[] = "a range goes upward: write two, as 22-23,0-5 for 22-5";
static const char bad_step[] =
    "what stands behind '/' is a whole number from 1 to the last value of the field";
static const char no_sign[] = "the signs of a field are * , - and /: there is no ? L W # or H";

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

/* What is wrong where neither a number nor a word could be read. */
static const char *value_fault(const struct cron_field *field, const char *at)
{
    return *at != '\0' && strchr("?LW#H", *at) != NULL ? no_sign : field->name;
}

/* One of the comma-separated parts: * or a or a-b, and then maybe /step. NULL, or the fault. */
static const char *read_part(const struct cron_field *field, const char **at, uint64_t *set)
{
    unsigned from = field->min, to = field->max, step = 1;
    bool is_single = false;
    if (**at == '*') {
        (*at)++;
    } else {
        if (!read_value(field, at, &from))
            return value_fault(field, *at);
        is_single = **at != '-';
        to = from;
        if (!is_single && ((*at)++, !read_value(field, at, &to)))
            return value_fault(field, *at);
        if (to < from)
            return downward;
    }
    if (**at == '/') {
        struct cron_field steps = {"", 1, field->max, ""};
        (*at)++;
        if (!read_value(&steps, at, &step))
            return bad_step;
        to = is_single ? field->max : to;
    }
    for (unsigned value = from; value <= to; value += step)
        *set |= UINT64_C(1) << value;
    return NULL;
}

static const char *read_field(const struct cron_field *field, const char **at, uint64_t *set)
{
    *set = 0;
    do {
        const char *fault = read_part(field, at, set);
        if (fault != NULL)
            return fault;
    } while (**at == ',' && (*at)++);
    return **at == ' ' || **at == '\t' || **at == '\0' ? NULL : value_fault(field, *at);
}

static size_t words_count(const char *text)
{
    size_t count = 0;
    for (text += strspn(text, " \t"); *text != '\0'; text += strspn(text, " \t"), count++)
        text += strcspn(text, " \t");
    return count;
}

static const char *fields_read(const char *text, uint64_t sets[CULEX_CRON_FIELDS])
{
    size_t count = words_count(text);
    if (count == CULEX_CRON_FIELDS + 1)
        return "a cron text has five fields, without seconds: minute hour day month weekday";
    if (count != CULEX_CRON_FIELDS)
        return "a cron text has five fields: minute hour day month weekday";
    for (size_t i = 0; i < CULEX_CRON_FIELDS; i++) {
        text += strspn(text, " \t");
        const char *fault = read_field(&cron_fields[i], &text, &sets[i]);
        if (fault != NULL)
            return fault;
    }
    return NULL;
}

/* The fields that an @ word stands for, a text of fields as it is; NULL for a word of no meaning.
 */
static const char *word_fields(const char *text)
{
    static const char *const words[][2] = {
        {"@hourly", "0 * * * *"},   {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
        {"@weekly", "0 0 * * 0"},   {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"},
        {"@annually", "0 0 1 1 *"},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i][0]) == 0)
            return words[i][1];
    }
    return text[0] == '@' ? NULL : text;
}

const char *culex__cron_read(const char *text, struct culex__cron *ret_cron)
{
    uint64_t *sets = ret_cron->sets;
    const char *fields = word_fields(text);
    if (strlen(text) > CULEX_CRON_TEXT_MAX)
        return "a cron text has at most 255 bytes";
    if (fields == NULL)
        return "the words are @hourly @daily @midnight @weekly @monthly @yearly @annually";
    const char *fault = fields_read(fields, sets);
    if (fault == NULL) /* Sunday has two numbers. */
        sets[CULEX_CRON_WEEKDAY] =
            (sets[CULEX_CRON_WEEKDAY] | sets[CULEX_CRON_WEEKDAY] >> 7) & 0x7f;
    return fault;
}

static bool has(const struct culex__cron *cron, int field, unsigned value)
{
    return (cron->sets[field] >> value & 1) != 0;
}

static bool is_any_weekday(const struct culex__cron *cron)
{
    return cron->sets[CULEX_CRON_WEEKDAY] == 0x7f;
}

static bool is_any_day(const struct culex__cron *cron)
{
    return cron->sets[CULEX_CRON_DAY] == UINT32_MAX - 1;
}

bool culex__cron_never_fires(const struct culex__cron *cron)
{
    static const unsigned days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (!is_any_weekday(cron)) /* Each month has each weekday. */
        return false;
    for (unsigned month = 1; month <= 12; month++) {
        uint64_t existing = (UINT64_C(1) << (days[month - 1] + 1)) - 2;
        if (has(cron, CULEX_CRON_MONTH, month) && (cron->sets[CULEX_CRON_DAY] & existing) != 0)
            return false;
    }
    return true;
}

bool culex__cron_has_either_day(const struct culex__cron *cron)
{
    return !is_any_weekday(cron) && !is_any_day(cron);
}

bool culex__cron_follows_clock(const struct culex__cron *cron)
{
    return cron->sets[CULEX_CRON_HOUR] == (UINT64_C(1) << 24) - 1;
}

bool culex__cron_has_day(const struct culex__cron *cron, unsigned month, unsigned day,
                         unsigned weekday)
{
    bool is_day = has(cron, CULEX_CRON_DAY, day),
         is_weekday = has(cron, CULEX_CRON_WEEKDAY, weekday);
    return has(cron, CULEX_CRON_MONTH, month) &&
           (culex__cron_has_either_day(cron) ? is_day || is_weekday : is_day && is_weekday);
}

static bool has_minute(const struct culex__cron *cron, unsigned minute)
{
    return has(cron, CULEX_CRON_HOUR, minute / 60) && has(cron, CULEX_CRON_MINUTE, minute % 60);
}

int culex__cron_minute_between(const struct culex__cron *cron, int from, int to)
{
    for (int at = from; at < to; at++) {
        int minute = ((at % 1440) + 1440) % 1440;
        if (has_minute(cron, (unsigned)minute))
            return minute;
    }
    return -1;
}

int culex__cron_minute_before(const struct culex__cron *cron, int upto)
{
    int minute = upto;
    while (minute >= 0 && !has_minute(cron, (unsigned)minute))
        minute--;
    return minute;
}
