#include "core/json.h"

#include <assert.h>
#include <string.h>

#include "base/digit.h"
#include "base/utf8.h"

/* What a byte means inside a string: STOP is a control character, quote or backslash. */
enum { PLAIN = 0, STOP = 1, HIGH = 2 };

static const unsigned char string_class[256] = {
    /* clang-format off */
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    /* clang-format on */
};

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

char culex__json_peek(struct culex__json *json)
{
    while (json->at < json->end && is_space(*json->at))
        json->at++;
    return json->at < json->end ? *json->at : '\0';
}

bool culex__json_take(struct culex__json *json, char byte)
{
    if (culex__json_peek(json) != byte || json->at == json->end)
        return false;
    json->at++;
    return true;
}

/* ---- strings ---- */

/* The four digits of "\uXXXX" that begins at `at`; false when that is not what stands there. */
static bool unit_read(const char *at, const char *end, uint32_t *ret_unit)
{
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return false;
    uint32_t unit = 0;
    for (int digit = 2; digit < 6; digit++) {
        int value = culex__hex_value(at[digit]);
        if (value < 0)
            return false;
        unit = unit << 4 | (uint32_t)value;
    }
    *ret_unit = unit;
    return true;
}

/* The character that the escape at `at`, a backslash, stands for; its length in the text, 0 when it
 * is malformed. Half a pair of surrogates is malformed. No escape is shorter than its UTF-8. */
static size_t escape_read(const char *at, const char *end, uint32_t *ret_point)
{
    static const char names[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    assert(at < end && *at == '\\');
    if (end - at < 2)
        return 0;
    const char *name = at[1] == '\0' ? NULL : strchr(names, at[1]);
    if (name != NULL) {
        *ret_point = (uint32_t)values[name - names];
        return 2;
    }
    uint32_t high;
    uint32_t low;
    if (!unit_read(at, end, &high))
        return 0;
    *ret_point = high;
    if (high < 0xD800 || high > 0xDFFF)
        return 6;
    if (high > 0xDBFF || !unit_read(at + 6, end, &low) || low < 0xDC00 || low > 0xDFFF)
        return 0;
    *ret_point = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    return 12;
}

/* The byte at `at` ends a plain run. NULL to go on behind it; *ret_is_end at the quote. */
static const char *string_stop(struct culex__json *json, struct culex__json_text *text,
                               bool *ret_is_end)
{
    uint32_t point;
    *ret_is_end = *json->at == '"';
    if (*ret_is_end)
        return NULL;
    if (*json->at != '\\')
        return "raw control character in a string";
    size_t len = escape_read(json->at, json->end, &point);
    if (len == 0)
        return "malformed escape in a string";
    text->is_escaped = true;
    json->at += len;
    return NULL;
}

const char *culex__json_string(struct culex__json *json, struct culex__json_text *ret_text)
{
    bool is_end = false;
    bool is_ascii = true;
    assert(json->at < json->end && *json->at == '"');
    struct culex__json_text text = {.data = json->at + 1};
    json->at++;
    while (!is_end) {
        while (json->at < json->end && string_class[(unsigned char)*json->at] != STOP)
            is_ascii &= string_class[(unsigned char)*json->at++] == PLAIN;
        if (json->at == json->end)
            return "string without an end";
        const char *wrong = string_stop(json, &text, &is_end);
        if (wrong != NULL)
            return wrong;
    }
    text.len = (size_t)(json->at - text.data);
    if (!is_ascii && !json->takes_any_bytes && !culex__utf8_is_valid(text.data, text.len))
        return "string that is not UTF-8";
    json->at++;
    *ret_text = text;
    return NULL;
}

size_t culex__json_unescape(const struct culex__json_text *text, char *ret_bytes)
{
    const char *at = text->data;
    const char *end = text->data + text->len;
    size_t out = 0;
    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        size_t run = (size_t)((escape == NULL ? end : escape) - at);
        memcpy(ret_bytes + out, at, run);
        out += run;
        at += run;
        if (escape == NULL)
            break;
        uint32_t point = 0;
        size_t len = escape_read(at, end, &point);
        assert(len > 0); /* culex__json_string has seen it */
        at += len;
        out += culex__utf8_write(point, ret_bytes + out);
    }
    return out;
}

/* ---- numbers and words ---- */

static size_t digits_skip(struct culex__json *json)
{
    const char *start = json->at;
    while (json->at < json->end && culex__is_digit(*json->at))
        json->at++;
    return (size_t)(json->at - start);
}

static bool byte_skip(struct culex__json *json, char byte)
{
    bool is_there = json->at < json->end && *json->at == byte;
    json->at += is_there;
    return is_there;
}

static bool exponent_skip(struct culex__json *json)
{
    if (!byte_skip(json, 'e') && !byte_skip(json, 'E'))
        return true;
    if (!byte_skip(json, '-'))
        byte_skip(json, '+');
    return digits_skip(json) > 0;
}

const char *culex__json_number(struct culex__json *json, struct culex__json_text *ret_text)
{
    static const char wrong[] = "malformed number";
    const char *start = json->at;
    byte_skip(json, '-');
    bool is_zero = json->at < json->end && *json->at == '0';
    size_t whole = digits_skip(json);
    if (whole == 0 || (is_zero && whole > 1))
        return wrong;
    if (byte_skip(json, '.') && digits_skip(json) == 0)
        return wrong;
    if (!exponent_skip(json))
        return wrong;
    *ret_text = (struct culex__json_text){.data = start, .len = (size_t)(json->at - start)};
    return NULL;
}

bool culex__json_word(struct culex__json *json, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(json->end - json->at) < len || memcmp(json->at, word, len) != 0)
        return false;
    json->at += len;
    return true;
}

/* ---- values that nobody asked for ---- */

static const char *member_name_skip(struct culex__json *json)
{
    struct culex__json_text name;
    if (culex__json_peek(json) != '"')
        return "no name where one must be";
    const char *wrong = culex__json_string(json, &name);
    if (wrong != NULL)
        return wrong;
    return culex__json_take(json, ':') ? NULL : "no ':' after a name";
}

/* An object or a list, whose bracket was taken. */
static const char *members_skip(struct culex__json *json, char close, unsigned depth)
{
    if (culex__json_take(json, close))
        return NULL;
    do {
        const char *wrong = close == '}' ? member_name_skip(json) : NULL;
        if (wrong == NULL)
            wrong = culex__json_skip(json, depth);
        if (wrong != NULL)
            return wrong;
    } while (culex__json_take(json, ','));
    return culex__json_take(json, close) ? NULL : "no ',' and no end of the object or list";
}

const char *culex__json_skip(struct culex__json *json, unsigned depth)
{
    struct culex__json_text ignored;
    char first = culex__json_peek(json);
    if (first == '"')
        return culex__json_string(json, &ignored);
    if (first == '-' || culex__is_digit(first))
        return culex__json_number(json, &ignored);
    if (culex__json_word(json, "true") || culex__json_word(json, "false") ||
        culex__json_word(json, "null"))
        return NULL;
    if (first != '{' && first != '[')
        return "no value where one must be";
    if (depth == 0)
        return "too many objects and lists inside each other";
    json->at++;
    return members_skip(json, first == '{' ? '}' : ']', depth - 1);
}
