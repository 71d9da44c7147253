#include "command/base64.h"

#include <string.h>

#include "command/print.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *ops_base64_write(const uint8_t *bytes, size_t len)
{
    char *text = ops_alloc(NULL, (len + 2) / 3 * 4 + 1), *to = text;
    for (size_t at = 0; at < len; at += 3) {
        size_t left = len - at;
        uint32_t three = (uint32_t)bytes[at] << 16 | (left > 1 ? (uint32_t)bytes[at + 1] << 8 : 0) |
                         (left > 2 ? bytes[at + 2] : 0);
        for (size_t i = 0; i < 4; i++)
            *to++ = i <= left ? letters[three >> (18 - 6 * i) & 63] : '=';
    }
    *to = '\0';
    return text;
}

/* Of six bits; 64 for what is none. */
static uint32_t value_of(char letter)
{
    const char *at = letter != '\0' ? strchr(letters, letter) : NULL;
    return at != NULL ? (uint32_t)(at - letters) : 64;
}

bool ops_base64_read(const char *text, size_t len, uint8_t *ret_bytes, size_t *ret_len)
{
    *ret_len = 0;
    if (len % 4 != 0)
        return false;
    size_t pads = len > 0 && text[len - 1] == '=' ? 1 + (text[len - 2] == '=') : 0;
    for (size_t at = 0; at < len; at += 4) {
        size_t count = at + 4 == len ? 3 - pads : 3;
        uint32_t three = 0;
        for (size_t i = 0; i < 4; i++) {
            uint32_t value = i <= count ? value_of(text[at + i]) : 0;
            if (value > 63)
                return false;
            three = three << 6 | value;
        }
        if ((three & ((UINT32_C(1) << (8 * (3 - count))) - 1)) != 0)
            return false;
        for (size_t i = 0; i < count; i++)
            ret_bytes[(*ret_len)++] = (uint8_t)(three >> (16 - 8 * i));
    }
    return true;
}
