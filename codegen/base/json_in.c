#include "json_in.h"

#include <string.h>

enum { DEPTH_MAX = 64 };

/* An empty buffer may be without any bytes, and NULL may not be added to. */
struct json_in json_in_buf(const struct buf *text)
{
    const char *start = text->len > 0 ? text->data : "";
    return (struct json_in){.at = start, .end = start + text->len};
}

static bool fail(struct json_in *in)
{
    if (!in->is_bad)
        in->bad_at = in->at;
    in->is_bad = true;
    in->at = in->end;
    return false;
}

static void space_skip(struct json_in *in)
{
    while (in->at < in->end && strchr(" \t\r\n", *in->at) != NULL && *in->at != '\0')
        in->at++;
}

bool json_in_accept(struct json_in *in, char byte)
{
    space_skip(in);
    if (in->at == in->end || *in->at != byte)
        return false;
    in->at++;
    return true;
}

bool json_in_at_end(struct json_in *in)
{
    space_skip(in);
    return in->at == in->end;
}

bool json_in_expect(struct json_in *in, char byte)
{
    return json_in_accept(in, byte) || fail(in);
}

bool json_in_more(struct json_in *in, char close, bool *is_first)
{
    bool was_first = *is_first;
    *is_first = false;
    if (in->is_bad || json_in_accept(in, close))
        return false;
    return was_first || json_in_expect(in, ',');
}

static bool hex_read(struct json_in *in, uint32_t *ret_code)
{
    uint32_t code = 0;
    if (in->end - in->at < 4)
        return fail(in);
    for (int i = 0; i < 4; i++) {
        char byte = *in->at++;
        char lower = (char)(byte | 0x20);
        if (byte >= '0' && byte <= '9')
            code = code * 16 + (uint32_t)(byte - '0');
        else if (lower >= 'a' && lower <= 'f')
            code = code * 16 + (uint32_t)(lower - 'a') + 10;
        else
            return fail(in);
    }
    *ret_code = code;
    return true;
}

static char *code_write(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

/* What follows \u, a surrogate pair included. */
static bool unicode_read(struct json_in *in, uint32_t *ret_code)
{
    uint32_t low;
    if (!hex_read(in, ret_code))
        return false;
    if (*ret_code >= 0xdc00 && *ret_code < 0xe000)
        return fail(in);
    if (*ret_code < 0xd800 || *ret_code >= 0xe000)
        return true;
    if (in->end - in->at < 6 || in->at[0] != '\\' || in->at[1] != 'u')
        return fail(in);
    in->at += 2;
    if (!hex_read(in, &low) || low < 0xdc00 || low >= 0xe000)
        return fail(in);
    *ret_code = 0x10000 + ((*ret_code - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

/* What follows a backslash. No escape is shorter than the bytes it stands for. */
static bool escape_read(struct json_in *in, char **to)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    uint32_t code;
    if (in->at == in->end)
        return fail(in);
    char letter = *in->at++;
    const char *found = letter == '\0' ? NULL : strchr(letters, letter);
    if (found != NULL) {
        *(*to)++ = values[found - letters];
        return true;
    }
    if (letter != 'u' || !unicode_read(in, &code))
        return fail(in);
    *to = code_write(*to, code);
    return true;
}

static bool string_span(struct json_in *in, const char **ret_end)
{
    const char *at = in->at;
    while (at < in->end && *at != '"')
        at += *at == '\\' && in->end - at > 1 ? 2 : 1;
    *ret_end = at;
    return at < in->end || fail(in);
}

bool json_in_string(struct json_in *in, struct arena *arena, char **ret_text, size_t *ret_len)
{
    const char *end;
    if (!json_in_expect(in, '"') || !string_span(in, &end))
        return false;
    char *text = arena_alloc(arena, (size_t)(end - in->at) + 1);
    char *to = text;
    while (in->at < end) {
        char byte = *in->at++;
        if (byte != '\\')
            *to++ = byte;
        else if (!escape_read(in, &to))
            return false;
    }
    in->at++;
    *to = '\0';
    *ret_text = text;
    *ret_len = (size_t)(to - text);
    return true;
}

static bool string_skip(struct json_in *in)
{
    const char *end;
    if (!json_in_expect(in, '"') || !string_span(in, &end))
        return false;
    in->at = end + 1;
    return true;
}

bool json_in_number(struct json_in *in, int64_t *ret_number)
{
    bool is_negative = json_in_accept(in, '-');
    size_t count = 0;
    int64_t number = 0;
    space_skip(in);
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9') {
        if (++count > 18)
            return fail(in);
        number = number * 10 + (*in->at++ - '0');
    }
    *ret_number = is_negative ? -number : number;
    return count > 0 || fail(in);
}

bool json_in_bool(struct json_in *in, bool *ret_value)
{
    space_skip(in);
    size_t left = (size_t)(in->end - in->at);
    *ret_value = left >= 4 && memcmp(in->at, "true", 4) == 0;
    if (!*ret_value && (left < 5 || memcmp(in->at, "false", 5) != 0))
        return fail(in);
    in->at += *ret_value ? 4 : 5;
    return true;
}

static bool skip(struct json_in *in, unsigned depth)
{
    bool is_first = true;
    bool is_object = json_in_accept(in, '{');
    if (depth > DEPTH_MAX)
        return fail(in);
    if (is_object || json_in_accept(in, '[')) {
        while (json_in_more(in, is_object ? '}' : ']', &is_first)) {
            if (is_object && (!string_skip(in) || !json_in_expect(in, ':')))
                return false;
            if (!skip(in, depth + 1))
                return false;
        }
        return !in->is_bad;
    }
    if (in->at < in->end && *in->at == '"')
        return string_skip(in);
    const char *start = in->at;
    while (in->at < in->end && strchr("+-.0123456789eEtrufalsn", *in->at) != NULL &&
           *in->at != '\0')
        in->at++;
    return in->at > start || fail(in);
}

bool json_in_skip(struct json_in *in)
{
    return skip(in, 0);
}
