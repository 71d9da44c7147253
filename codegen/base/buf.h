/* buf.h - a growing run of bytes, always NUL-terminated.
 *
 * A zeroed struct is an empty buffer. Growing never fails, see arena.h. */
#ifndef CULEXC_BUF_H
#define CULEXC_BUF_H

#include <stdarg.h>
#include <stddef.h>

struct buf {
    char *data; /* NULL only while nothing was ever appended */
    size_t len;
    size_t size;
};

void buf_release(struct buf *buf);
void buf_append(struct buf *buf, const void *bytes, size_t len);
void buf_text(struct buf *buf, const char *text);
void buf_char(struct buf *buf, char byte);
void buf_vprintf(struct buf *buf, const char *format, va_list args);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
