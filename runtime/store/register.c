/* store/register.c - the table of all parameters, and the URL's own against it. */
#include "store/register.h"

#include <string.h>

#include "store/store.h"
#include "base/error.h"
#include "base/nearest.h"

enum {
    ANY_REDIS = CULEX__PARAM_REDIS | CULEX__PARAM_REDIS_SOCKET,
    ANY = CULEX__PARAM_SQLITE | CULEX__PARAM_MEMORY | ANY_REDIS
};

static const struct {
    const char *name;
    unsigned stores;
    bool is_common;
} rows[] = {
    {"prefix", ANY_REDIS, true},
    {"synchronous", CULEX__PARAM_SQLITE, true},
    {"store-timeout", ANY, true},
    {"reserve", CULEX__PARAM_SQLITE, false},
    {"accept-network", CULEX__PARAM_SQLITE, false},
    {"db", CULEX__PARAM_REDIS_SOCKET, false},
    {"user", ANY_REDIS, false},
    {"password", ANY_REDIS, false},
    {"accept-eviction", ANY_REDIS, false},
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static int row_find(const char *name)
{
    for (int i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return i;
    }
    return -1;
}

bool culex__param_is_common(const char *name)
{
    int row = row_find(name);
    return row >= 0 && rows[row].is_common;
}

static const char *store_name(enum culex__param_store store)
{
    switch (store) {
    case CULEX__PARAM_SQLITE:
        return "sqlite:";
    case CULEX__PARAM_MEMORY:
        return "memory:";
    case CULEX__PARAM_REDIS:
        return "redis://";
    case CULEX__PARAM_REDIS_SOCKET:
        return "redis+unix://";
    }
    return "this store";
}

/* "a, b, c" */
static void names_join(enum culex__param_store store, char ret_text[128])
{
    ret_text[0] = '\0';
    for (int i = 0; i < ROW_COUNT; i++) {
        if ((rows[i].stores & store) == 0)
            continue;
        if (ret_text[0] != '\0')
            strcat(ret_text, ", ");
        strcat(ret_text, rows[i].name);
    }
}

static culex_status name_refuse(const char *name, enum culex__param_store store, culex_error *error)
{
    struct culex__nearest nearest = {.word = name};
    char known[128];
    names_join(store, known);
    if (row_find(name) >= 0)
        return culex__fail(error, CULEX_EURL,
                           "store URL: the parameter '%s' means nothing to %s, leave it out; it "
                           "takes %s",
                           name, store_name(store), known);
    for (int i = 0; i < ROW_COUNT; i++) {
        if ((rows[i].stores & store) != 0)
            culex__nearest_offer(&nearest, rows[i].name);
    }
    return culex__fail(error, CULEX_EURL, "store URL: unknown parameter '%.40s'%s%s%s; %s takes %s",
                       name, nearest.best != NULL ? ", did you mean '" : "",
                       nearest.best != NULL ? nearest.best : "", nearest.best != NULL ? "'?" : "",
                       store_name(store), known);
}

culex_status culex__params_check(const struct culex__url *url, enum culex__param_store store,
                                 culex_error *error)
{
    for (int i = 0; i < url->param_count; i++) {
        const char *name = url->params[i].name;
        int row = row_find(name);
        if (row < 0 || (rows[row].stores & store) == 0)
            return name_refuse(name, store, error);
        if (culex__url_param(url, name) != url->params[i].value)
            return culex__fail(error, CULEX_EURL,
                               "store URL: the parameter '%s' stands there twice; leave one", name);
    }
    return CULEX_OK;
}

/* --- the engine's share ---------------------------------------------------------------------- */

static culex_status url_read(const char *text, struct culex__url *ret_url,
                             enum culex__param_store *ret_store, culex_error *error)
{
    *ret_store = strncmp(text, "memory:", 7) == 0        ? CULEX__PARAM_MEMORY
                 : strncmp(text, "sqlite:", 7) == 0      ? CULEX__PARAM_SQLITE
                 : strncmp(text, "redis+unix:", 11) == 0 ? CULEX__PARAM_REDIS_SOCKET
                                                         : CULEX__PARAM_REDIS;
    if (*ret_store == CULEX__PARAM_MEMORY || *ret_store == CULEX__PARAM_SQLITE)
        return culex__url_parse_path(text + 7, ret_url, error);
    return culex__url_parse(text, ret_url, error);
}

culex_status culex__store_params_read(const char *text, culex__store_param_fn take, void *user,
                                      culex_error *error)
{
    struct culex__url url;
    enum culex__param_store store;
    if (!culex__store_is_known(text))
        return CULEX_OK; /* the opening refuses it */
    culex_status status = url_read(text, &url, &store, error);
    if (status != CULEX_OK)
        return status;
    status = culex__params_check(&url, store, error);
    for (int i = 0; i < url.param_count && status == CULEX_OK; i++) {
        if (culex__param_is_common(url.params[i].name))
            status = take(user, url.params[i].name, url.params[i].value, error);
    }
    culex__url_release(&url);
    return status;
}
