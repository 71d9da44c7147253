#include "base/secret_name.h"

#include <string.h>

enum { KEY_LEN = 43 }; /* of 32 bytes, without the '=' at their end */

#define BLANKS  " \t\r\n"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/* An absolute path may well have no other letters; the '=' tells it from a key. */
static bool is_key(const char *word, size_t len)
{
    size_t letters = strspn(word, LETTERS);
    size_t signs = strspn(word + letters, "=");
    return len >= KEY_LEN && letters + signs == len && (signs > 0 || word[0] != '/');
}

static bool has_key(const char *name)
{
    for (; *name != '\0'; name += strspn(name, BLANKS)) {
        size_t len = strcspn(name, BLANKS);
        if (is_key(name, len))
            return true;
        name += len;
    }
    return false;
}

bool culex__name_is_secret(const char *name)
{
    const char *first = strpbrk(name, BLANKS "/");
    bool begins_as_line = first != NULL && *first != '/';
    return begins_as_line || strpbrk(name, "\r\n") != NULL || strstr(name, "://") != NULL ||
           has_key(name);
}
