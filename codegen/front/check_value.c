/* check_value.c - what a literal means for a type: defaults and bounds. */
#include "checker.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/digit.h"
#include "quantity.h"
#include "suggest.h"

static bool int_fits(enum ir_kind kind, struct wide value)
{
    const struct ir_kind_info *info = &ir_kinds[kind];
    return wide_compare(value, wide_type_min(info->bits, info->is_signed)) >= 0 &&
           wide_compare(value, wide_type_max(info->bits, info->is_signed)) <= 0;
}

/* Whether the text is a number as it is written here, which the type can hold. */
static bool number_fits(enum ir_kind kind, const struct literal *literal)
{
    const char *digits = literal->text + (*literal->text == '-');
    size_t whole = strspn(digits, "0123456789"), len = strlen(digits);
    struct wide value;
    if (whole == 0 || (*digits == '0' && whole > 1) || strlen(literal->text) != literal->len)
        return false;
    if (kind == IR_FLOAT32 || kind == IR_FLOAT64)
        return whole < 30 &&
               (whole == len || (digits[whole] == '.' && len > whole + 1 &&
                                 strspn(digits + whole + 1, "0123456789") == len - whole - 1));
    if (ir_kinds[kind].bits == 0 || whole != len || !wide_parse(digits, len, &value))
        return false;
    return int_fits(kind, *literal->text == '-' ? wide_negate(value) : value);
}

static void help_text(struct checker *checker, const struct ir_field *field,
                      const struct literal *literal)
{
    const char *ours = NULL;
    if (field->kind == IR_DURATION)
        ours = quantity_duration(checker->arena, literal->text);
    else if (number_fits(field->kind, literal))
        ours = literal->text;
    if (ours == NULL)
        return;
    diag_help(checker->sink, "write '%s'", ours);
    diag_fix(checker->sink, FIX_MACHINE_APPLICABLE, literal->span, "%s", ours);
}

/* What may have been meant by a value of another type. */
static void help_value(struct checker *checker, const struct ir_field *field,
                       const struct literal *literal)
{
    struct habit habit;
    bool is_word = literal->kind == LITERAL_WORD &&
                   habit_word(HABIT_WORD_VALUE, literal->text, &habit) &&
                   (habit.instead == NULL || field->kind == IR_BOOL);
    if (is_word)
        habit_help(checker->sink, &habit, literal->span);
    else if (literal->kind == LITERAL_STRING)
        help_text(checker, field, literal);
    else if (literal->kind == LITERAL_INT && field->kind == IR_DURATION)
        diag_help(checker->sink, "add a unit: w, d, h, m, s, ms, us or ns");
    else if (literal->kind == LITERAL_INT && ir_kinds[field->kind].bits == 0)
        diag_help(checker->sink, "a param goes by its name and has no number: leave '= %s' out",
                  literal->text);
}

static struct ir_value refuse(struct checker *checker, const struct ir_field *field,
                              const struct literal *literal, const char *wanted)
{
    diag_report(checker->sink, DIAG_VALUE_TYPE, literal->span, "'%s' of type %s needs %s",
                field->name, ir_kinds[field->kind].word, wanted);
    help_value(checker, field, literal);
    return (struct ir_value){0};
}

static struct ir_value value_int(struct checker *checker, const struct ir_field *field,
                                 const struct literal *literal)
{
    const struct ir_kind_info *info = &ir_kinds[field->kind];
    struct wide min = wide_type_min(info->bits, info->is_signed);
    struct wide max = wide_type_max(info->bits, info->is_signed);
    char texts[3][WIDE_TEXT_BYTES];
    if (literal->kind != LITERAL_INT)
        return refuse(checker, field, literal, "a whole number");
    wide_format(literal->integer, texts[0]);
    if (!int_fits(field->kind, literal->integer)) {
        wide_format(min, texts[1]);
        wide_format(max, texts[2]);
        diag_report(checker->sink, DIAG_VALUE_RANGE, literal->span,
                    "%s does not fit in %s (%s to %s)", texts[0], info->word, texts[1], texts[2]);
        return (struct ir_value){0};
    }
    const char *text = arena_copy(checker->arena, texts[0], strlen(texts[0]));
    return (struct ir_value){.kind = VALUE_INT, .text = text, .wide = literal->integer};
}

/* Digits other than zeroes before the exponent. */
static bool is_nonzero(const char *text)
{
    return text[strcspn(text, "123456789eE")] >= '1' && text[strcspn(text, "123456789eE")] <= '9';
}

static struct ir_value value_float(struct checker *checker, const struct ir_field *field,
                                   const struct literal *literal)
{
    char digits[WIDE_TEXT_BYTES];
    const char *text = literal->text;
    if (literal->kind == LITERAL_INT) {
        wide_format(literal->integer, digits);
        text = arena_printf(checker->arena, "%s%s.0",
                            literal->is_negative && digits[0] != '-' ? "-" : "", digits);
    } else if (literal->kind != LITERAL_FLOAT) {
        return refuse(checker, field, literal, "a number");
    }
    bool is_single = field->kind == IR_FLOAT32;
    double value = is_single ? (double)strtof(text, NULL) : strtod(text, NULL);
    bool is_lost = value > 1.7976931348623157e308 || value < -1.7976931348623157e308 ||
                   (value <= 0 && value >= 0 && is_nonzero(text));
    if (is_lost) {
        diag_report(checker->sink, DIAG_VALUE_RANGE, literal->span, "the number does not fit in %s",
                    ir_kinds[field->kind].word);
        return (struct ir_value){0};
    }
    return (struct ir_value){.kind = VALUE_FLOAT, .text = text};
}

/* 1 may be the number of the field, as in Protocol Buffers; 0 is none. */
static void help_bit(struct checker *checker, const struct literal *literal)
{
    bool is_one = literal->integer.lo == 1;
    if (is_one)
        diag_help(checker->sink, "write 'true', or leave '= 1' out when it numbers the param");
    else
        diag_help(checker->sink, "write 'false'");
    diag_fix(checker->sink, is_one ? FIX_MAYBE_INCORRECT : FIX_MACHINE_APPLICABLE, literal->span,
             is_one ? "true" : "false");
}

static struct ir_value value_bool(struct checker *checker, const struct ir_field *field,
                                  const struct literal *literal)
{
    bool is_true = literal->kind == LITERAL_WORD && strcmp(literal->text, "true") == 0;
    bool is_false = literal->kind == LITERAL_WORD && strcmp(literal->text, "false") == 0;
    if (!is_true && !is_false) {
        refuse(checker, field, literal, "true or false");
        if (literal->kind == LITERAL_INT && literal->integer.hi == 0 && literal->integer.lo <= 1)
            help_bit(checker, literal);
        return (struct ir_value){0};
    }
    return (struct ir_value){.kind = VALUE_BOOL, .number = is_true};
}

/* 'x' for "x" and the other way round, where the text between the quotes may stay. */
static void requote(struct checker *checker, const struct literal *literal, char quote)
{
    struct span span = literal->span;
    const char *text = span.source->text + span.offset;
    if (span.length == 3 && strchr("'\"\\", text[1]) == NULL)
        diag_fix(checker->sink, FIX_MACHINE_APPLICABLE, span, "%c%c%c", quote, text[1], quote);
}

static struct ir_value value_char(struct checker *checker, const struct ir_field *field,
                                  const struct literal *literal)
{
    if (literal->kind == LITERAL_CHAR)
        return (struct ir_value){.kind = VALUE_CHAR, .number = (int64_t)literal->integer.lo};
    refuse(checker, field, literal, "a character, as 'x'");
    if (literal->kind == LITERAL_STRING)
        requote(checker, literal, '\'');
    return (struct ir_value){0};
}

static struct ir_value value_string(struct checker *checker, const struct ir_field *field,
                                    const struct literal *literal)
{
    if (literal->kind == LITERAL_STRING)
        return (struct ir_value){.kind = VALUE_STRING, .text = literal->text, .len = literal->len};
    refuse(checker, field, literal, "a string in quotes");
    if (literal->kind == LITERAL_CHAR)
        requote(checker, literal, '"');
    return (struct ir_value){0};
}

static struct ir_value value_uuid(struct checker *checker, const struct ir_field *field,
                                  const struct literal *literal)
{
    static const char shape[] = "00000000-0000-0000-0000-000000000000";
    bool is_uuid = literal->kind == LITERAL_STRING && literal->len == sizeof(shape) - 1;
    for (size_t i = 0; is_uuid && i < literal->len; i++)
        is_uuid =
            shape[i] == '-' ? literal->text[i] == '-' : culex__hex_value(literal->text[i]) >= 0;
    if (!is_uuid)
        return refuse(checker, field, literal,
                      "a UUID in quotes, as "
                      "\"00000000-0000-0000-0000-000000000000\"");
    char *text = arena_copy(checker->arena, literal->text, literal->len);
    for (char *at = text; *at != '\0'; at++)
        *at = *at >= 'A' && *at <= 'F' ? (char)(*at | 0x20) : *at;
    return (struct ir_value){.kind = VALUE_UUID, .text = text, .len = literal->len};
}

/* Two or four digits at `text`, or -1. */
static int digits_at(const char *text, size_t count)
{
    int value = 0;
    for (size_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && is_leap ? 29 : days[month - 1];
}

/* Days since 1970-01-01 of a date from 1600 on. */
static int64_t days_since_epoch(int year, int month, int day)
{
    int64_t days = day - 1;
    for (int at = 1; at < month; at++)
        days += days_in_month(year, at);
    int64_t before = year - 1;
    int64_t leaps = before / 4 - before / 100 + before / 400;
    return days + before * 365 + leaps - 719162; /* 719162 days lie before 1970 */
}

/* The nanoseconds of ".123456789" and the bytes they take. */
static size_t fraction_read(const char *text, int64_t *ret_ns)
{
    size_t digits = strspn(text + 1, "0123456789");
    int64_t ns = 0;
    for (size_t i = 0; i < 9; i++)
        ns = ns * 10 + (i < digits ? text[1 + i] - '0' : 0);
    *ret_ns = ns;
    return digits >= 1 && digits <= 9 ? digits + 1 : 0;
}

static bool timestamp_read(const char *text, size_t len, int64_t *ret_ns)
{
    int64_t fraction = 0;
    if (len < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
        text[16] != ':')
        return false;
    int year = digits_at(text, 4), month = digits_at(text + 5, 2), day = digits_at(text + 8, 2);
    int hour = digits_at(text + 11, 2), minute = digits_at(text + 14, 2);
    int second = digits_at(text + 17, 2);
    /* 1678 to 2261 are the whole years that 64-bit nanoseconds reach. */
    if (year < 1678 || year > 2261 || month < 1 || month > 12 || day < 1 ||
        day > days_in_month(year, month) || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
        second < 0 || second > 59)
        return false;
    size_t at = 19;
    if (text[at] == '.')
        at += fraction_read(text + at, &fraction);
    if (strcmp(text + at, "Z") != 0)
        return false;
    int64_t seconds =
        days_since_epoch(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    *ret_ns = seconds * INT64_C(1000000000) + fraction;
    return true;
}

static struct ir_value value_timestamp(struct checker *checker, const struct ir_field *field,
                                       const struct literal *literal)
{
    int64_t ns = 0;
    if (literal->kind != LITERAL_STRING || !timestamp_read(literal->text, literal->len, &ns))
        return refuse(checker, field, literal,
                      "a UTC time in quotes from 1678 to 2261, as \"2026-01-31T12:00:00Z\"");
    return (struct ir_value){.kind = VALUE_TIME, .number = ns};
}

static struct ir_value value_enum(struct checker *checker, const struct ir_field *field,
                                  const struct literal *literal)
{
    if (literal->kind != LITERAL_WORD)
        return refuse(checker, field, literal, "the name of one of its values");
    assert(field->enumeration != NULL);
    for (const struct ir_enum_value *at = field->enumeration->values; at != NULL; at = at->next) {
        if (strcmp(at->name, literal->text) != 0)
            continue;
        char decimal[WIDE_TEXT_BYTES];
        wide_format(at->number, decimal);
        return (struct ir_value){.kind = VALUE_ENUM,
                                 .text = at->name,
                                 .c = at->c,
                                 .decimal = arena_copy(checker->arena, decimal, strlen(decimal))};
    }
    struct suggestion suggestion = suggestion_start(literal->text);
    suggestion.is_doubtful = true;
    for (const struct ir_enum_value *at = field->enumeration->values; at != NULL; at = at->next)
        suggestion_offer(&suggestion, at->name);
    diag_report(checker->sink, DIAG_UNKNOWN_VALUE, literal->span, "enum '%s' has no value '%.64s'",
                field->enumeration->name, literal->text);
    diag_suggest(checker->sink, literal->span, &suggestion);
    return (struct ir_value){0};
}

struct ir_value check_value(struct checker *checker, const struct ir_field *field,
                            const struct literal *literal)
{
    if (literal->kind == LITERAL_POISON)
        return (struct ir_value){0};
    if (ir_kinds[field->kind].bits > 0)
        return value_int(checker, field, literal);
    switch (field->kind) {
    case IR_BOOL:
        return value_bool(checker, field, literal);
    case IR_CHAR:
        return value_char(checker, field, literal);
    case IR_FLOAT32:
    case IR_FLOAT64:
        return value_float(checker, field, literal);
    case IR_STRING:
        return value_string(checker, field, literal);
    case IR_BYTES:
        if (literal->kind != LITERAL_BYTES)
            return refuse(checker, field, literal, "bytes, as x\"00ff\"");
        return (struct ir_value){.kind = VALUE_BYTES, .text = literal->text, .len = literal->len};
    case IR_UUID:
        return value_uuid(checker, field, literal);
    case IR_TIMESTAMP:
        return value_timestamp(checker, field, literal);
    case IR_DURATION:
        if (literal->kind != LITERAL_DURATION)
            return refuse(checker, field, literal, "a duration with units, as 1m30s");
        return (struct ir_value){.kind = VALUE_DURATION, .number = literal->duration_ns};
    default:
        return value_enum(checker, field, literal);
    }
}

int value_compare(const struct ir_value *a, const struct ir_value *b)
{
    assert(a->kind == b->kind);
    if (a->kind == VALUE_INT)
        return wide_compare(a->wide, b->wide);
    if (a->kind == VALUE_FLOAT) {
        double left = strtod(a->text, NULL), right = strtod(b->text, NULL);
        return (left > right) - (left < right);
    }
    return (a->number > b->number) - (a->number < b->number);
}
