/* store/register.c - which store a URL means, and which parameters the URL may have. */
#include "store/register.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "store/url.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/secret_name.h"
#include "platform/file_limit.h"

/* --- kinds ------------------------------------------------------------------------------- */

const struct culex__store_kind *culex__store_kind_at(size_t index)
{
    for (size_t i = 0; culex__stores[i] != NULL; i++) {
        for (const struct culex__store_kind *kind = culex__stores[i]; kind->scheme != NULL;
             kind++) {
            if (index-- == 0)
                return kind;
        }
    }
    return NULL;
}

const struct culex__store_kind *culex__store_kind_find(const char *url)
{
    const struct culex__store_kind *kind;
    for (size_t i = 0; (kind = culex__store_kind_at(i)) != NULL; i++) {
        if (strncmp(url, kind->scheme, strlen(kind->scheme)) == 0)
            break;
    }
    return kind;
}

bool culex__store_kind_takes(const struct culex__store_kind *kind, const char *name)
{
    for (size_t i = 0; i < CULEX__STORE_PARAMS_MAX && kind->params[i] != NULL; i++) {
        if (strcmp(kind->params[i], name) == 0)
            return true;
    }
    return false;
}

/* --- lists in error texts ------------------------------------------------------------------ */

struct list {
    char text[160];
    const char *last; /* not in the text yet: it stands behind "and" or "or" */
};

static void list_append(struct list *list, const char *before, const char *word)
{
    size_t len = strlen(list->text);
    snprintf(list->text + len, sizeof list->text - len, "%s%s", len > 0 ? before : "", word);
}

static void list_add(struct list *list, const char *word)
{
    if (list->last != NULL)
        list_append(list, ", ", list->last);
    list->last = word;
}

/* "a, b and c" */
static const char *list_end(struct list *list, const char *before_last)
{
    if (list->last != NULL)
        list_append(list, before_last, list->last);
    return list->text;
}

static culex_status scheme_missing(culex_error *error)
{
    const struct culex__store_kind *kind;
    struct list examples = {.text = ""};
    for (size_t i = 0; (kind = culex__store_kind_at(i)) != NULL; i++) {
        if (kind->example != NULL)
            list_add(&examples, kind->example);
    }
    return culex__fail(error, CULEX_EURL, "store URL has no scheme; write %s",
                       list_end(&examples, " or "));
}

/* The scheme alone: what follows may hold a password. */
static culex_status scheme_unknown(const char *url, size_t len, culex_error *error)
{
    const struct culex__store_kind *kind;
    struct list known = {.text = ""};
    for (size_t i = 0; (kind = culex__store_kind_at(i)) != NULL; i++) {
        if (kind->refusal == NULL)
            list_add(&known, kind->scheme);
    }
    return culex__fail(error, CULEX_EURL, "store URL has the unknown scheme '%.*s'; known are %s%s",
                       (int)len, url, list_end(&known, " and "), culex__stores_note);
}

static culex_status scheme_refuse(const char *url, culex_error *error)
{
    enum { SCHEME_MAX = 32 };
    size_t len = strcspn(url, ":");
    bool has_login = memchr(url, '@', len) != NULL;
    if (url[len] == '\0' || len > SCHEME_MAX || has_login)
        return scheme_missing(error);
    return scheme_unknown(url, len, error);
}

/* --- parameters ---------------------------------------------------------------------------- */

/* Those that stand for one of culex_store_options. */
static bool param_is_common(const char *name)
{
    static const char *const names[] = {"prefix", "synchronous", "store-timeout"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

static bool param_is_known(const char *name)
{
    const struct culex__store_kind *kind;
    for (size_t i = 0; (kind = culex__store_kind_at(i)) != NULL; i++) {
        if (culex__store_kind_takes(kind, name))
            return true;
    }
    return false;
}

static culex_status param_refuse(const struct culex__store_kind *kind, const char *name,
                                 culex_error *error)
{
    struct culex__nearest nearest = {.word = name};
    struct list known = {.text = ""};
    for (size_t i = 0; i < CULEX__STORE_PARAMS_MAX && kind->params[i] != NULL; i++) {
        list_add(&known, kind->params[i]);
        culex__nearest_offer(&nearest, kind->params[i]);
    }
    const char *names = list_end(&known, ", ");
    if (param_is_known(name))
        return culex__fail(error, CULEX_EURL,
                           "store URL: the parameter '%s' means nothing to %s, leave it out; it "
                           "takes %s",
                           name, kind->scheme, names);
    return culex__fail(error, CULEX_EURL, "store URL: unknown parameter '%.48s'%s%s%s; %s takes %s",
                       culex__text_shown(name), nearest.best != NULL ? ", did you mean '" : "",
                       nearest.best != NULL ? nearest.best : "", nearest.best != NULL ? "'?" : "",
                       kind->scheme, names);
}

/* Values are the store's to judge. */
static culex_status params_check(const struct culex__store_kind *kind, const struct culex__url *url,
                                 culex_error *error)
{
    for (int i = 0; i < url->param_count; i++) {
        const char *name = url->params[i].name;
        if (!culex__store_kind_takes(kind, name))
            return param_refuse(kind, name, error);
        if (culex__url_param(url, name) != url->params[i].value)
            return culex__fail(error, CULEX_EURL,
                               "store URL: the parameter '%s' stands there twice; leave one", name);
    }
    return CULEX_OK;
}

/* The parts of the URL when they are as its kind wants them. */
static culex_status url_read(const struct culex__store_kind *kind, const char *text,
                             struct culex__url *ret_url, culex_error *error)
{
    size_t scheme_len = strlen(kind->scheme);
    culex_status status = kind->is_path
                              ? culex__url_parse_path(text + scheme_len, scheme_len, ret_url, error)
                              : culex__url_parse(text, ret_url, error);
    if (status != CULEX_OK)
        return status;
    status = params_check(kind, ret_url, error);
    if (status != CULEX_OK)
        culex__url_release(ret_url);
    return status;
}

culex_status culex__store_params_read(const char *text, culex__store_param_fn take, void *user,
                                      culex_error *error)
{
    struct culex__url url;
    const struct culex__store_kind *kind = culex__store_kind_find(text);
    if (kind == NULL)
        return CULEX_OK; /* the opening refuses it */
    culex_status status = url_read(kind, text, &url, error);
    if (status != CULEX_OK)
        return status;
    for (int i = 0; i < url.param_count && status == CULEX_OK; i++) {
        if (param_is_common(url.params[i].name))
            status = take(user, url.params[i].name, url.params[i].value, error);
    }
    culex__url_release(&url);
    return status;
}

/* --- opening ------------------------------------------------------------------------------- */

culex_status culex__store_url_check(const char *url, culex_error *error)
{
    const struct culex__store_kind *kind = culex__store_kind_find(url);
    struct culex__url parts;
    if (kind == NULL)
        return scheme_refuse(url, error);
    culex_status status = url_read(kind, url, &parts, error);
    if (status != CULEX_OK)
        return status;
    culex__url_release(&parts);
    if (kind->refusal != NULL)
        return culex__fail(error, CULEX_EUNSUPPORTED, "%s", kind->refusal);
    return CULEX_OK;
}

culex_status culex__store_open(const char *url, const struct culex_store_options *options,
                               const struct culex_env *env, struct culex_store **ret_store,
                               culex_error *error)
{
    static const struct culex_store_options defaults = {0};
    const struct culex__store_kind *kind = culex__store_kind_find(url);
    culex_status status = culex__store_url_check(url, error);
    if (status != CULEX_OK)
        return status;
    assert(kind->open != NULL); /* or it would say why not */
    struct culex_file_limit held = culex__file_limit_enter();
    status = kind->open(kind, url, options != NULL ? options : &defaults, env, ret_store, error);
    culex__file_limit_leave(held);
    return status;
}
