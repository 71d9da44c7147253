/* store/store.c - which store a URL means. */
#include "store/store.h"

#include <string.h>

#include "base/error.h"

static const char *after(const char *url, const char *scheme)
{
    size_t len = strlen(scheme);
    return strncmp(url, scheme, len) == 0 ? url + len : NULL;
}

/* The scheme alone: what follows may hold a password. */
static culex_status scheme_refuse(const char *url, culex_error *error)
{
    size_t len = strcspn(url, ":");
    if (url[len] == '\0' || len > 32)
        return culex__fail(error, CULEX_EURL,
                           "store URL has no scheme; write sqlite:PATH, memory: or "
                           "redis://HOST[:PORT][/DB]");
    return culex__fail(error, CULEX_EURL,
                       "store URL has the unknown scheme '%.*s'; known are sqlite:, memory:, "
                       "redis:// and redis+unix://",
                       (int)len, url);
}

culex_status culex__store_no_queue(const char *queue, culex_error *error)
{
    return culex__fail(error, CULEX_ENOTFOUND, "the store has no queue '%s'", queue);
}

void culex__store_abandon(struct culex_store *store)
{
    if (store->ops->abandon != NULL)
        store->ops->abandon(store);
    else
        store->ops->close(store);
}

bool culex__store_is_known(const char *url)
{
    static const char *const schemes[] = {"sqlite:", "memory:", "redis://", "rediss://",
                                          "redis+unix://"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        if (after(url, schemes[i]) != NULL)
            return true;
    }
    return false;
}

culex_status culex__store_open(const char *url, const struct culex_store_options *options,
                               const struct culex_env *env, struct culex_store **ret_store,
                               culex_error *error)
{
    static const struct culex_store_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    const char *rest = after(url, "sqlite:");
    if (rest != NULL)
        return culex__sqlite_open(rest, false, options, env, ret_store, error);
    rest = after(url, "memory:");
    if (rest != NULL)
        return culex__sqlite_open(rest, true, options, env, ret_store, error);
    if (after(url, "redis://") != NULL || after(url, "rediss://") != NULL ||
        after(url, "redis+unix://") != NULL)
        return culex__redis_open(url, options, env, ret_store, error);
    return scheme_refuse(url, error);
}
