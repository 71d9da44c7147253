#include "base/zone_name.h"

#include "base/digit.h"
#include "base/limits.h"

static bool is_letter(char byte)
{
    char lower = (char)(byte | 0x20);
    return lower >= 'a' && lower <= 'z';
}

bool culex__zone_name_is_good(const char *name, size_t len)
{
    char before = '/';
    if (len == 0 || len > CULEX_ZONE_NAME_MAX)
        return false;
    for (size_t at = 0; at < len; before = name[at++]) {
        char byte = name[at];
        bool is_good = byte == '/' ? before != '/'
                                   : is_letter(byte) || culex__is_digit(byte) || byte == '_' ||
                                         byte == '+' || byte == '-';
        if (!is_good)
            return false;
    }
    return before != '/';
}
