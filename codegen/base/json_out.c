#include "json_out.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

static void line_start(struct json_out *json)
{
    if (json->is_compact)
        return;
    buf_char(&json->buf, '\n');
    for (unsigned i = 0; i < json->depth; i++)
        buf_text(&json->buf, "  ");
}

/* As JSON has it: beyond 16 bits as a pair of surrogates. */
static void code_escape(struct json_out *json, uint32_t code)
{
    if (code > 0xffff)
        buf_printf(&json->buf, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd7c0 + (code >> 10),
                   0xdc00 + (code & 0x3ff));
    else
        buf_printf(&json->buf, "\\u%04" PRIx32, code);
}

/* How many bytes stand for themselves; nearly all of most texts, so they are copied at once. */
static size_t plain_length(const char *text, size_t len)
{
    size_t at = 0;
    while (at < len && text[at] >= ' ' && text[at] < 0x7f && text[at] != '"' && text[at] != '\\')
        at++;
    return at;
}

static void string_write(struct json_out *json, const char *text, size_t len)
{
    buf_char(&json->buf, '"');
    for (size_t at = 0; at < len;) {
        size_t plain = plain_length(text + at, len - at);
        if (plain > 0) {
            buf_append(&json->buf, text + at, plain);
            at += plain;
            continue;
        }
        size_t length = culex__utf8_char(text + at, len - at);
        uint32_t code = culex__utf8_code(text + at, length);
        if (length == 0)
            buf_text(&json->buf, "\xef\xbf\xbd");
        else if (code == '"' || code == '\\')
            buf_printf(&json->buf, "\\%c", (int)code);
        else if (culex__utf8_is_deceptive(code))
            code_escape(json, code);
        else
            buf_append(&json->buf, text + at, length);
        at += length == 0 ? 1 : length;
    }
    buf_char(&json->buf, '"');
}

static void member_start(struct json_out *json, const char *name)
{
    if (json->depth > 0) {
        if (!json->is_open)
            buf_char(&json->buf, ',');
        line_start(json);
    }
    json->is_open = false;
    if (name != NULL) {
        string_write(json, name, strlen(name));
        buf_text(&json->buf, json->is_compact ? ":" : ": ");
    }
}

void json_open(struct json_out *json, const char *name, char bracket)
{
    member_start(json, name);
    buf_char(&json->buf, bracket);
    json->depth++;
    json->is_open = true;
}

void json_close(struct json_out *json, char bracket)
{
    json->depth--;
    if (!json->is_open)
        line_start(json);
    json->is_open = false;
    buf_char(&json->buf, bracket);
}

void json_text_len(struct json_out *json, const char *name, const char *text, size_t len)
{
    member_start(json, name);
    string_write(json, text, len);
}

void json_text(struct json_out *json, const char *name, const char *text)
{
    if (text == NULL)
        json_null(json, name);
    else
        json_text_len(json, name, text, strlen(text));
}

void json_raw(struct json_out *json, const char *name, const struct buf *value)
{
    member_start(json, name);
    buf_append(&json->buf, value->data, value->len);
}

void json_bool(struct json_out *json, const char *name, bool value)
{
    member_start(json, name);
    buf_text(&json->buf, value ? "true" : "false");
}

void json_null(struct json_out *json, const char *name)
{
    member_start(json, name);
    buf_text(&json->buf, "null");
}

void json_number(struct json_out *json, const char *name, int64_t value)
{
    member_start(json, name);
    buf_printf(&json->buf, "%" PRId64, value);
}

void json_decimal(struct json_out *json, const char *name, int64_t value)
{
    member_start(json, name);
    buf_printf(&json->buf, "\"%" PRId64 "\"", value);
}
