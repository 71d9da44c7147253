#include "core/record_text.h"

#include <string.h>

#include "base/utf8.h"

bool culex__record_text_is_valid(const char *text, size_t len)
{
    return culex__utf8_is_line(text, len) && (len == 0 || memchr(text, '|', len) == NULL);
}
