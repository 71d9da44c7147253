#include "log/log_line.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static void line_put(struct culex_log_line *line, const char *text, size_t len)
{
    assert(line->len < sizeof line->text); /* or the room would be without end */
    size_t room = sizeof line->text - 1 - line->len;
    len = len < room ? len : room;
    memcpy(line->text + line->len, text, len);
    line->len += len;
}

void culex__log_line_put(struct culex_log_line *line, const char *text)
{
    line_put(line, text, strlen(text));
}

static void line_put_escape(struct culex_log_line *line, uint32_t code, culex_log_format format)
{
    bool is_control = code < 0xa0, is_json = format == CULEX_LOG_JSON;
    const char *form = !is_control ? is_json ? "\\\\u{%04X}" : "\\u{%04X}"
                       : is_json   ? "\\u%04x"
                                   : "\\x%02x";
    char text[16];
    snprintf(text, sizeof text, form, (unsigned)code);
    culex__log_line_put(line, text);
}

void culex__log_line_put_foreign(struct culex_log_line *line, const char *text, size_t most,
                                 culex_log_format format)
{
    size_t len = strnlen(text, most);
    for (size_t at = 0, step; at<len; at += step> 0 ? step : 1) {
        step = culex__utf8_char(text + at, len - at);
        uint32_t code = culex__utf8_code(text + at, step);
        if (step == 0)
            culex__log_line_put(line, "?");
        else if (culex__utf8_is_deceptive(code))
            line_put_escape(line, code, format);
        else {
            if (format == CULEX_LOG_JSON && (code == '"' || code == '\\'))
                culex__log_line_put(line, "\\");
            line_put(line, text + at, step);
        }
    }
}

void culex__log_line_put_member(struct culex_log_line *line, const char *name, const char *text,
                                size_t most)
{
    if (text == NULL)
        return;
    culex__log_line_put(line, ",\"");
    culex__log_line_put(line, name);
    culex__log_line_put(line, "\":\"");
    culex__log_line_put_foreign(line, text, most, CULEX_LOG_JSON);
    culex__log_line_put(line, "\"");
}
