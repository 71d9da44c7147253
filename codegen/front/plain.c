#include "plain.h"

#include "base/utf8.h"

/* Invisible characters that some script or emoji needs inside its words are not among them. */
bool plain_refuses(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0x00, 0x08},   {0x0b, 0x0c},     {0x0e, 0x1f},     {0x7f, 0x9f},
                  {0x61c, 0x61c}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    }
    return false;
}

bool plain_check_utf8(struct diag_sink *sink, const struct source *source)
{
    size_t valid = culex__utf8_prefix(source->text, source->size);
    if (valid == source->size)
        return true;
    diag_report(sink, DIAG_INVALID_UTF8, (struct span){source, (uint32_t)valid, 1},
                "the file is not valid UTF-8 from here on");
    return false;
}

static void report(struct diag_sink *sink, struct span span, uint32_t code)
{
    diag_report(sink, DIAG_DECEPTIVE_TEXT, span, "U+%04X makes this text look other than it is",
                (unsigned)code);
    if (code == '\r')
        diag_help(sink, "lines end with a line feed; in a string write \\r");
    else
        diag_help(sink, "remove it; in a string write \\u{%X}", (unsigned)code);
}

bool plain_check(struct diag_sink *sink, const struct source *source)
{
    bool is_plain = true;
    for (uint32_t at = 0; at < source->size && !sink->is_full;) {
        size_t length = culex__utf8_char(source->text + at, source->size - at);
        uint32_t code = culex__utf8_code(source->text + at, length);
        bool is_lone = code == '\r' && source->text[at + 1] != '\n'; /* A NUL is behind the text. */
        if (plain_refuses(code) || is_lone) {
            report(sink, (struct span){source, at, (uint32_t)length}, code);
            is_plain = false;
        }
        at += (uint32_t)length;
    }
    return is_plain;
}
