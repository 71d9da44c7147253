#include "json_in.h"

#include <string.h>

#include "base/digit.h"
#include "base/utf8.h"
#include "core/json.h"

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

/* A backslash and what follows it. */
static bool escape_read(struct json_in *in, char **to)
{
    uint32_t code;
    size_t len = culex__json_escape(in->at, in->end, &code);
    if (len == 0)
        return fail(in);
    in->at += len;
    *to += culex__utf8_write(code, *to);
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
        if (*in->at != '\\')
            *to++ = *in->at++;
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
    while (in->at < in->end && culex__is_digit(*in->at)) {
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
