/* backend/sqlite_option.c - what a sqlite: URL says beside the path. */
#include <string.h>

#include "backend/sqlite.h"
#include "base/error.h"

char *culex__sqlite_option_path(const char *rest)
{
    return strndup(rest, strcspn(rest, "?"));
}

static bool is_option(const char *text, size_t len, const char *option)
{
    return strlen(option) == len && memcmp(text, option, len) == 0;
}

culex_status culex__sqlite_option_read(const char *rest, struct culex_sqlite_options *ret_options,
                                       culex_error *error)
{
    struct culex_sqlite_options options = {0};
    size_t len = strcspn(rest, "?");
    if (len == 0)
        return culex__fail(error, CULEX_EURL, "sqlite: needs a path, as in sqlite:culex.db");
    if (is_option(rest, len, ":memory:"))
        return culex__fail(error, CULEX_EURL,
                           "sqlite::memory: would be a file of that name; a store in memory is "
                           "memory: or memory:NAME");
    for (const char *at = rest + len; *at != '\0'; at += len) {
        at++;
        len = strcspn(at, "&");
        if (is_option(at, len, "accept-network=1"))
            options.accepts_network = true;
        else if (is_option(at, len, "reserve=0"))
            options.has_no_reserve = true;
        else
            return culex__fail(error, CULEX_EURL,
                               "sqlite: does not know the option '%.*s'; there are "
                               "accept-network=1 and reserve=0",
                               len < 64 ? (int)len : 64, at);
    }
    *ret_options = options;
    return CULEX_OK;
}
