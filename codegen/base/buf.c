#include "buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"

void buf_release(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){0};
}

static void buf_reserve(struct buf *buf, size_t extra)
{
    if (buf->data != NULL && buf->size - buf->len > extra)
        return;
    buf->size = (buf->len + extra + 1) * 2;
    buf->data = memory_resize(buf->data, buf->size);
}

void buf_append(struct buf *buf, const void *bytes, size_t len)
{
    buf_reserve(buf, len);
    if (len > 0)
        memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void buf_text(struct buf *buf, const char *text)
{
    buf_append(buf, text, strlen(text));
}

void buf_char(struct buf *buf, char byte)
{
    buf_append(buf, &byte, 1);
}

void buf_vprintf(struct buf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    if (len >= 0) {
        buf_reserve(buf, (size_t)len);
        vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_vprintf(buf, format, args);
    va_end(args);
}
