#include "command/json_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/print.h"

static bool hex_read(const char *text, uint32_t *ret_code)
{
    *ret_code = 0;
    for (size_t i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = text[i] != '\0' ? strchr(digits, text[i] | 0x20) : NULL;
        if (digit == NULL)
            return false;
        *ret_code = *ret_code << 4 | (uint32_t)(digit - digits);
    }
    return true;
}

static size_t utf8_write(uint32_t code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)((0xf00 >> size & 0xff) | code);
    return size;
}

/* Behind "\u": *ret_used letters of the text. */
static bool unicode_read(const char *at, size_t left, uint32_t *ret_code, size_t *ret_used)
{
    uint32_t low;
    if (left < 4 || !hex_read(at, ret_code) || *ret_code == 0)
        return false;
    *ret_used = 4;
    if (*ret_code < 0xd800 || *ret_code > 0xdfff)
        return true;
    if (*ret_code > 0xdbff || left < 10 || at[4] != '\\' || at[5] != 'u' ||
        !hex_read(at + 6, &low) || low < 0xdc00 || low > 0xdfff)
        return false;
    *ret_code = 0x10000 + ((*ret_code - 0xd800) << 10) + (low - 0xdc00);
    *ret_used = 10;
    return true;
}

/* Behind the backslash. */
static bool escape_read(const char *at, size_t left, char **to, size_t *ret_used)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    uint32_t code;
    if (left > 0 && at[0] == 'u' && unicode_read(at + 1, left - 1, &code, ret_used)) {
        *to += utf8_write(code, *to);
        ++*ret_used;
        return true;
    }
    const char *name = left > 0 && at[0] != '\0' ? strchr(names, at[0]) : NULL;
    if (name == NULL)
        return false;
    *(*to)++ = meanings[name - names];
    *ret_used = 1;
    return true;
}

bool ops_json_read_text(struct ops_slice value, culex_arena *arena, char **ret_text,
                        size_t *ret_len)
{
    if (value.len < 2 || value.text[0] != '"' || value.text[value.len - 1] != '"')
        return false;
    const char *at = value.text + 1, *end = value.text + value.len - 1;
    char *text = culex_arena_alloc(arena, value.len), *to = text;
    while (text != NULL && at < end) {
        size_t left = (size_t)(end - at), used = 0;
        if (*at == '\\') {
            if (!escape_read(at + 1, left - 1, &to, &used))
                return false;
            at += used + 1;
            continue;
        }
        used = ops_character_size(at, left);
        if (used == 0 || (unsigned char)*at < 0x20 || *at == '"')
            return false;
        memcpy(to, at, used);
        to += used;
        at += used;
    }
    if (text == NULL)
        return false;
    *to = '\0';
    *ret_text = text;
    *ret_len = (size_t)(to - text);
    return true;
}

bool ops_json_read_int(struct ops_slice value, int64_t *ret_number)
{
    char text[24], *end;
    size_t digits = value.len > 0 && value.text[0] == '-' ? value.len - 1 : value.len;
    if (digits == 0 || value.len >= sizeof text)
        return false;
    memcpy(text, value.text, value.len);
    text[value.len] = '\0';
    const char *first = text + (value.len - digits);
    if (strspn(first, "0123456789") != digits || (first[0] == '0' && digits > 1))
        return false;
    errno = 0;
    *ret_number = strtoll(text, &end, 10);
    return errno == 0;
}

bool ops_json_read_bool(struct ops_slice value, bool *ret_is_true)
{
    *ret_is_true = ops_slice_is(value, "true");
    return *ret_is_true || ops_slice_is(value, "false");
}
