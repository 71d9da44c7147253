#include "uri.h"

#include <string.h>

#include "base/digit.h"
#include "buf.h"

/* -1 at what is no escape, or one of a NUL. */
static int escape_value(const char *text)
{
    int high = culex__hex_value(text[1]);
    int low = high < 0 ? -1 : culex__hex_value(text[2]);
    return low < 0 || high * 16 + low == 0 ? -1 : high * 16 + low;
}

const char *uri_path(struct arena *arena, const char *uri)
{
    static const char scheme[] = "file://";
    static const char host[] = "localhost";
    if (strncmp(uri, scheme, sizeof(scheme) - 1) != 0)
        return NULL;
    uri += sizeof(scheme) - 1;
    if (strncmp(uri, host, sizeof(host) - 1) == 0)
        uri += sizeof(host) - 1;
    if (*uri != '/')
        return NULL;
    char *path = arena_alloc(arena, strlen(uri) + 1);
    char *to = path;
    for (; *uri != '\0' && *uri != '?' && *uri != '#'; uri++) {
        int value = *uri == '%' ? escape_value(uri) : *uri;
        if (*uri == '%' && value < 0)
            return NULL;
        uri += *uri == '%' ? 2 : 0;
        *to++ = (char)value;
    }
    return path;
}

const char *uri_of_path(struct arena *arena, const char *path)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    struct buf uri = {0};
    buf_text(&uri, "file://");
    for (; *path != '\0'; path++) {
        if (strchr(plain, *path) != NULL)
            buf_char(&uri, *path);
        else
            buf_printf(&uri, "%%%02X", (unsigned)(unsigned char)*path);
    }
    const char *copy = arena_copy(arena, uri.data, uri.len);
    buf_release(&uri);
    return copy;
}
