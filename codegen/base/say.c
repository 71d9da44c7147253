#include "say.h"

#include "base/utf8.h"
#include "buf.h"

void say_text(FILE *out, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t length = culex__utf8_char(text + at, len - at);
        uint32_t code = culex__utf8_code(text + at, length);
        if (length == 0 || (culex__utf8_is_deceptive(code) && code != '\t'))
            fputc('?', out);
        else
            fwrite(text + at, 1, length, out);
        at += length == 0 ? 1 : length;
    }
}

void say_line(FILE *out, const char *text, size_t len)
{
    say_text(out, text, len);
    fputc('\n', out);
}

void vsay(const char *format, va_list args)
{
    struct buf text = {0};
    buf_vprintf(&text, format, args);
    fputs("culexc: ", stderr);
    say_line(stderr, text.data, text.len);
    buf_release(&text);
}

void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsay(format, args);
    va_end(args);
}
