#include "base/utf8.h"

#include <assert.h>
#include <string.h>

static bool is_tail(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

static size_t char_two(const unsigned char *at, size_t len)
{
    return len >= 2 && at[0] >= 0xC2 && is_tail(at[1]) ? 2 : 0;
}

static size_t char_three(const unsigned char *at, size_t len)
{
    if (len < 3 || !is_tail(at[1]) || !is_tail(at[2]))
        return 0;
    bool is_overlong = at[0] == 0xE0 && at[1] < 0xA0;
    bool is_surrogate = at[0] == 0xED && at[1] >= 0xA0;
    return is_overlong || is_surrogate ? 0 : 3;
}

static size_t char_four(const unsigned char *at, size_t len)
{
    if (len < 4 || at[0] > 0xF4 || !is_tail(at[1]) || !is_tail(at[2]) || !is_tail(at[3]))
        return 0;
    bool is_overlong = at[0] == 0xF0 && at[1] < 0x90;
    bool is_beyond = at[0] == 0xF4 && at[1] >= 0x90;
    return is_overlong || is_beyond ? 0 : 4;
}

size_t culex__utf8_char(const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *)text;
    if (len == 0)
        return 0;
    if (at[0] < 0x80)
        return 1;
    if (at[0] < 0xE0)
        return char_two(at, len);
    if (at[0] < 0xF0)
        return char_three(at, len);
    return char_four(at, len);
}

uint32_t culex__utf8_code(const char *text, size_t size)
{
    static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    assert(size < sizeof lead_bits);
    uint32_t code = size > 0 ? (unsigned char)text[0] & lead_bits[size] : 0;
    for (size_t i = 1; i < size; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    return code;
}

size_t culex__utf8_write(uint32_t code, char *ret_bytes)
{
    assert(code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF));
    if (code < 0x80) {
        ret_bytes[0] = (char)code;
        return 1;
    }
    size_t tails = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    unsigned lead = tails == 1 ? 0xC0 : tails == 2 ? 0xE0 : 0xF0;
    ret_bytes[0] = (char)(lead | code >> (6 * tails));
    for (size_t tail = 1; tail <= tails; tail++)
        ret_bytes[tail] = (char)(0x80 | (code >> (6 * (tails - tail)) & 0x3F));
    return tails + 1;
}

bool culex__utf8_is_deceptive(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0x00, 0x1f},      {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
                  {0x180e, 0x180e},  {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
                  {0xfe00, 0xfe0f},  {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xfffe, 0xffff},
                  {0xe0000, 0xe0fff}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0] && code >= ranges[i].first; i++) {
        if (code <= ranges[i].last)
            return true;
    }
    return false;
}

/* Eight bytes at a time while they are plain ASCII, which payload text mostly is. */
static size_t ascii_run(const char *text, size_t len)
{
    size_t at = 0;
    while (at + sizeof(uint64_t) <= len) {
        uint64_t word;
        memcpy(&word, text + at, sizeof word);
        if (word & UINT64_C(0x8080808080808080))
            break;
        at += sizeof word;
    }
    return at;
}

size_t culex__utf8_prefix(const char *text, size_t len)
{
    size_t at = ascii_run(text, len);
    while (at < len) {
        size_t size = culex__utf8_char(text + at, len - at);
        if (size == 0)
            break;
        at += size;
    }
    return at;
}

bool culex__utf8_is_valid(const char *text, size_t len)
{
    return culex__utf8_prefix(text, len) == len;
}

bool culex__utf8_is_line(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F)
            return false;
    }
    return culex__utf8_is_valid(text, len);
}

static bool is_control(char byte)
{
    return ((unsigned char)byte < 0x20 && byte != '\t' && byte != '\n') || byte == 0x7F;
}

size_t culex__utf8_clean(char *ret_clean, size_t size, const char *text, size_t len)
{
    size_t out = 0;
    assert(size > 0);
    for (size_t at = 0; at < len;) {
        size_t step = culex__utf8_char(text + at, len - at);
        bool is_bad = step == 0 || is_control(text[at]);
        size_t need = is_bad ? 1 : step;
        if (out + need >= size)
            break;
        if (is_bad)
            ret_clean[out] = '?';
        else
            memcpy(ret_clean + out, text + at, step);
        out += need;
        at += step == 0 ? 1 : step;
    }
    ret_clean[out] = '\0';
    return out;
}
