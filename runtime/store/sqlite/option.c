#include "store/sqlite/option.h"

#include <string.h>

#include "store/url.h"
#include "base/error.h"

char *culex__sqlite_option_path(const char *rest)
{
    return strndup(rest, strcspn(rest, "?"));
}

static culex_status params_read(const struct culex__url *url, struct culex_sqlite_options *options,
                                culex_error *error)
{
    int accepts_network = 0, reserve = 1;
    const char *text = culex__url_param(url, "accept-network");
    culex_status status = CULEX_OK;
    if (text != NULL)
        status = culex__url_number("accept-network", text, 0, 1, &accepts_network, error);
    text = culex__url_param(url, "reserve");
    if (status == CULEX_OK && text != NULL)
        status = culex__url_number("reserve", text, 0, 1, &reserve, error);
    options->accepts_network = accepts_network == 1;
    options->has_no_reserve = reserve == 0;
    return status;
}

static culex_status path_check(const char *path, culex_error *error)
{
    if (path[0] == '\0')
        return culex__fail(error, CULEX_EURL, "sqlite: needs a path, as in sqlite:culex.db");
    if (strcmp(path, ":memory:") == 0)
        return culex__fail(error, CULEX_EURL,
                           "sqlite::memory: would be a file of that name; a store in memory is "
                           "memory: or memory:NAME");
    return CULEX_OK;
}

culex_status culex__sqlite_option_read(const char *rest, bool is_memory,
                                       struct culex_sqlite_options *ret_options, culex_error *error)
{
    struct culex_sqlite_options options = {0};
    struct culex__url url;
    culex_status status = culex__url_parse_path(rest, 0, &url, error);
    if (status != CULEX_OK)
        return status;
    if (!is_memory)
        status = path_check(url.path, error);
    if (status == CULEX_OK)
        status = params_read(&url, &options, error);
    culex__url_release(&url);
    if (status == CULEX_OK)
        *ret_options = options;
    return status;
}
