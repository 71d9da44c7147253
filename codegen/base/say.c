#include "say.h"

#include <errno.h>
#include <string.h>

#include "shown.h"

void say_text(FILE *out, const char *text, size_t len)
{
    struct buf shown = {0};
    shown_append(&shown, text, len, "\t");
    fwrite(shown.data, 1, shown.len, out);
    buf_release(&shown);
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

bool say_unread(const char *path, const char *fault)
{
    say("cannot read '%s': %s", path, fault);
    return false;
}

bool say_unwritten(const char *path)
{
    say("cannot write '%s': %s", path, strerror(errno));
    return false;
}
