/* cron.c - the five fields of a cron line: minute hour day month weekday. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "checker.h"

struct cron_field {
    const char *name;
    unsigned min, max;
    const char *words; /* three letters each, the first one is `min` */
};

static const struct cron_field cron_fields[5] = {
    {"the minute field is wrong (0 to 59)", 0, 59, ""},
    {"the hour field is wrong (0 to 23)", 0, 23, ""},
    {"the day field is wrong (1 to 31)", 1, 31, ""},
    {"the month field is wrong (1 to 12 or jan to dec)", 1, 12,
     "janfebmaraprmayjunjulaugsepoctnovdec"},
    {"the weekday field is wrong (0 to 7 or sun to sat)", 0, 7, "sunmontuewedthufrisat"},
};

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* A number of one or two digits, or a word. */
static bool read_value(const struct cron_field *field, const char **at, unsigned *ret_value)
{
    if (is_digit(**at)) {
        unsigned value = (unsigned)(*(*at)++ - '0');
        if (is_digit(**at))
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

/* No day of any chosen month exists, and no weekday was asked for instead. */
static bool never_fires(const uint64_t sets[5])
{
    static const unsigned days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if ((sets[4] & 0x7f) != 0x7f)
        return false;
    for (unsigned month = 1; month <= 12; month++) {
        uint64_t existing = (UINT64_C(1) << (days[month - 1] + 1)) - 2;
        if ((sets[3] >> month & 1) != 0 && (sets[2] & existing) != 0)
            return false;
    }
    return true;
}

const char *cron_fault(const char *text, bool *ret_never)
{
    static const char *const words[] = {"@hourly",  "@daily",  "@midnight", "@weekly",
                                        "@monthly", "@yearly", "@annually"};
    uint64_t sets[5];
    *ret_never = false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i]) == 0)
            return NULL;
    }
    for (size_t i = 0; i < 5; i++) {
        text += strspn(text, " \t");
        if (*text == '\0')
            return "a cron text has five fields: minute hour day month weekday";
        if (!read_field(&cron_fields[i], &text, &sets[i]))
            return cron_fields[i].name;
    }
    if (text[strspn(text, " \t")] != '\0')
        return "a cron text has five fields: minute hour day month weekday";
    *ret_never = never_fires(sets);
    return NULL;
}
