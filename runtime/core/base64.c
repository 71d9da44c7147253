#include "core/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum { NO_DIGIT = 64 };

size_t culex__base64_size(size_t len)
{
    return (len + 2) / 3 * 4;
}

void culex__base64_format(const uint8_t *bytes, size_t len, char *ret_text)
{
    for (; len >= 3; len -= 3, bytes += 3, ret_text += 4) {
        ret_text[0] = alphabet[bytes[0] >> 2];
        ret_text[1] = alphabet[(bytes[0] & 3) << 4 | bytes[1] >> 4];
        ret_text[2] = alphabet[(bytes[1] & 15) << 2 | bytes[2] >> 6];
        ret_text[3] = alphabet[bytes[2] & 63];
    }
    if (len == 0)
        return;
    unsigned second = len == 2 ? bytes[1] : 0;
    ret_text[0] = alphabet[bytes[0] >> 2];
    ret_text[1] = alphabet[(bytes[0] & 3u) << 4 | second >> 4];
    ret_text[2] = len == 2 ? alphabet[(second & 15) << 2] : '=';
    ret_text[3] = '=';
}

static unsigned digit_value(char digit)
{
    if (digit >= 'A' && digit <= 'Z')
        return (unsigned)(digit - 'A');
    if (digit >= 'a' && digit <= 'z')
        return (unsigned)(digit - 'a') + 26;
    if (digit >= '0' && digit <= '9')
        return (unsigned)(digit - '0') + 52;
    if (digit == '+')
        return 62;
    return digit == '/' ? 63 : NO_DIGIT;
}

/* Four characters of which the last `pad` were '='. */
static bool quad_parse(const char *text, unsigned pad, uint8_t *bytes)
{
    uint32_t bits = 0;
    for (unsigned at = 0; at < 4; at++) {
        unsigned value = at < 4 - pad ? digit_value(text[at]) : 0;
        if (value == NO_DIGIT)
            return false;
        bits = bits << 6 | value;
    }
    for (unsigned at = 0; at < 3 - pad; at++)
        bytes[at] = (uint8_t)(bits >> (16 - 8 * at));
    return (bits & ((UINT32_C(1) << 8 * pad) - 1)) == 0;
}

bool culex__base64_parse(const char *text, size_t len, uint8_t *ret_bytes, size_t *ret_len)
{
    if (len % 4 != 0)
        return false;
    unsigned pad = 0;
    if (len > 0 && text[len - 1] == '=')
        pad = text[len - 2] == '=' ? 2 : 1;
    size_t out = 0;
    for (size_t at = 0; at < len; at += 4) {
        unsigned last_pad = at + 4 == len ? pad : 0;
        if (!quad_parse(text + at, last_pad, ret_bytes + out))
            return false;
        out += 3 - last_pad;
    }
    *ret_len = out;
    return true;
}
