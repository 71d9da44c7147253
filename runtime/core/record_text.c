#include "core/record_text.h"

#include "base/utf8.h"

bool culex__record_text_is_valid(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c == 0x7f || c == '|')
            return false;
    }
    return culex__utf8_is_valid(text, len);
}
