#include "core/uuid.h"

#include <string.h>

#include "base/digit.h"

/* Before these bytes stands a '-'. */
static bool is_group_start(size_t byte)
{
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

void culex__uuid_write(culex_uuid id, char *ret_text)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t at = 0; at < sizeof id.b; at++) {
        if (is_group_start(at))
            *ret_text++ = '-';
        *ret_text++ = digits[id.b[at] >> 4];
        *ret_text++ = digits[id.b[at] & 15];
    }
}

bool culex__uuid_read(const char *text, size_t len, culex_uuid *ret_id)
{
    culex_uuid id;
    if (len != CULEX_UUID_TEXT_LEN)
        return false;
    for (size_t at = 0; at < sizeof id.b; at++) {
        if (is_group_start(at) && *text++ != '-')
            return false;
        int high = culex__hex_value(*text++);
        int low = culex__hex_value(*text++);
        if (high < 0 || low < 0)
            return false;
        id.b[at] = (uint8_t)(high << 4 | low);
    }
    *ret_id = id;
    return true;
}

void culex_uuid_format(culex_uuid id, char ret_text[CULEX_UUID_TEXT_SIZE])
{
    if (ret_text == NULL)
        return;
    culex__uuid_write(id, ret_text);
    ret_text[CULEX_UUID_TEXT_LEN] = '\0';
}

bool culex_uuid_parse(const char *text, culex_uuid *ret_id)
{
    return text != NULL && ret_id != NULL &&
           culex__uuid_read(text, strnlen(text, CULEX_UUID_TEXT_SIZE), ret_id);
}
