#include "shown.h"

#include <assert.h>
#include <string.h>

#include "base/utf8.h"

size_t shown_char(const char *text, size_t len, const char *kept, uint32_t *ret_code)
{
    assert(len > 0);
    size_t length = culex__utf8_char(text, len);
    uint32_t code = culex__utf8_code(text, length);
    bool is_kept = length == 1 && code != 0 && strchr(kept, (int)code) != NULL;
    bool is_bad = length == 0 || (culex__utf8_is_deceptive(code) && !is_kept);
    *ret_code = is_bad ? '?' : code;
    return length == 0 ? 1 : length;
}

void shown_append(struct buf *buf, const char *text, size_t len, const char *kept)
{
    uint32_t code;
    buf_text(buf, "");
    for (size_t at = 0, length; at < len; at += length) {
        length = shown_char(text + at, len - at, kept, &code);
        if (code == '?')
            buf_char(buf, '?');
        else
            buf_append(buf, text + at, length);
    }
}

const char *shown_copy(struct arena *arena, const char *text, size_t len)
{
    struct buf shown = {0};
    shown_append(&shown, text, len, "\t\n");
    const char *copy = arena_copy(arena, shown.data, shown.len);
    buf_release(&shown);
    return copy;
}
