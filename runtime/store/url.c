#include "store/url.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/digit.h"

void culex__wipe(void *bytes, size_t len)
{
    volatile unsigned char *at = bytes;
    while (len-- > 0)
        *at++ = 0;
}

void culex__url_release(struct culex__url *url)
{
    if (url->storage != NULL)
        culex__wipe(url->storage, url->storage_len);
    free(url->storage);
    memset(url, 0, sizeof *url);
}

const char *culex__url_param(const struct culex__url *url, const char *name)
{
    for (int i = 0; i < url->param_count; i++) {
        if (strcmp(url->params[i].name, name) == 0)
            return url->params[i].value;
    }
    return NULL;
}

culex_status culex__url_number(const char *what, const char *text, int min, int max, int *ret_value,
                               culex_error *error)
{
    long value = 0;
    bool is_number = *text != '\0' && strlen(text) <= 9;
    for (const char *at = text; is_number && *at != '\0'; at++) {
        is_number = culex__is_digit(*at);
        value = value * 10 + (*at - '0');
    }
    if (!is_number || value < min || value > max)
        return culex__fail(error, CULEX_EURL, "store URL: %s must be a number of %d to %d", what,
                           min, max);
    *ret_value = (int)value;
    return CULEX_OK;
}

/* Decodes percent escapes in place. A NUL could hide the rest of a text, so it is refused. */
static culex_status percent_decode(const char *what, char *text, culex_error *error)
{
    char *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at != '%') {
            *to++ = *at;
            continue;
        }
        int high = culex__hex_value(at[1]);
        int low = high < 0 ? -1 : culex__hex_value(at[2]);
        if (low < 0)
            return culex__fail(error, CULEX_EURL,
                               "store URL: '%%' in the %s is not followed by two hex digits "
                               "(write a percent sign as %%25)",
                               what);
        if (high == 0 && low == 0)
            return culex__fail(error, CULEX_EURL, "store URL: the %s holds a NUL character", what);
        *to++ = (char)(high * 16 + low);
        at += 2;
    }
    *to = '\0';
    return CULEX_OK;
}

/* Cuts `text` at the first `mark`; what follows it, or NULL. */
static char *cut(char *text, char mark)
{
    char *at = strchr(text, mark);
    if (at == NULL)
        return NULL;
    *at = '\0';
    return at + 1;
}

static culex_status params_split(struct culex__url *url, char *query, culex_error *error)
{
    while (query != NULL && *query != '\0') {
        char *name = query;
        query = cut(name, '&');
        char *value = cut(name, '=');
        if (value == NULL || *name == '\0')
            return culex__fail(
                error, CULEX_EURL,
                "store URL: what follows '?' is not a parameter: write name=value, and '&' "
                "between two");
        if (url->param_count == CULEX__URL_PARAMS_MAX)
            return culex__fail(error, CULEX_EURL, "store URL: more than %d parameters",
                               CULEX__URL_PARAMS_MAX);
        culex_status status = percent_decode("parameter name", name, error);
        if (status == CULEX_OK)
            status = percent_decode("parameter value", value, error);
        if (status != CULEX_OK)
            return status;
        url->params[url->param_count++] = (struct culex__url_param){name, value};
    }
    return CULEX_OK;
}

static culex_status user_split(struct culex__url *url, char *userinfo, culex_error *error)
{
    char *password = cut(userinfo, ':');
    if (password == NULL)
        return culex__fail(error, CULEX_EURL,
                           "store URL: a user without a password; write user:password@host");
    culex_status status = percent_decode("user", userinfo, error);
    if (status == CULEX_OK)
        status = percent_decode("password", password, error);
    if (status != CULEX_OK)
        return status;
    url->user = *userinfo != '\0' ? userinfo : NULL;
    url->password = password;
    return CULEX_OK;
}

static culex_status host_split(struct culex__url *url, char *host, culex_error *error)
{
    char *port = NULL;
    if (*host == '[') {
        char *end = strchr(host, ']');
        if (end == NULL || (end[1] != '\0' && end[1] != ':'))
            return culex__fail(error, CULEX_EURL,
                               "store URL: an IPv6 address is written as [::1] or [::1]:6379");
        *end = '\0';
        port = end[1] == ':' ? end + 2 : NULL;
        host++;
    } else {
        port = cut(host, ':');
        if (port != NULL && strchr(port, ':') != NULL)
            return culex__fail(error, CULEX_EURL,
                               "store URL: more than one ':' in the host; an IPv6 address stands "
                               "in brackets, and ':' '@' '/' in a password as %%3A %%40 %%2F");
    }
    url->host = host;
    culex_status status = percent_decode("host", host, error);
    if (status != CULEX_OK || port == NULL)
        return status;
    return culex__url_number("the port", port, 1, 65535, &url->port, error);
}

/* What stands between "//" and the path. The last '@' ends the user part: a host has none. */
static culex_status authority_split(struct culex__url *url, char *authority, culex_error *error)
{
    char *at = strrchr(authority, '@');
    if (at != NULL) {
        *at = '\0';
        culex_status status = user_split(url, authority, error);
        if (status != CULEX_OK)
            return status;
        authority = at + 1;
    }
    return host_split(url, authority, error);
}

static culex_status url_split(struct culex__url *url, char *rest, char *authority,
                              culex_error *error)
{
    char *query = cut(rest, '?');
    size_t authority_len = strcspn(rest, "/");
    /* Others than this function look for the last '@' before they know where the query begins. */
    if (query != NULL && strchr(query, '@') != NULL)
        return culex__fail(
            error, CULEX_EURL,
            "store URL: an '@' behind '?'; write %%40 in a parameter, and a '?' in a "
            "password as %%3F");
    memcpy(authority, rest, authority_len);
    authority[authority_len] = '\0';
    char *path = rest + authority_len;
    url->path = path;
    culex_status status = percent_decode("path", path, error);
    if (status == CULEX_OK)
        status = authority_split(url, authority, error);
    if (status == CULEX_OK)
        status = params_split(url, query, error);
    return status;
}

culex_status culex__url_parse(const char *text, struct culex__url *ret_url, culex_error *error)
{
    struct culex__url url = {.host = "", .path = ""};
    size_t len = strnlen(text, CULEX__URL_LEN_MAX + 1);
    if (len > CULEX__URL_LEN_MAX)
        return culex__fail(error, CULEX_EURL, "store URL: longer than %d characters",
                           CULEX__URL_LEN_MAX);
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
            return culex__fail(error, CULEX_EURL,
                               "store URL: a space or control character at position %zu", i + 1);
    }
    size_t scheme_len = strspn(text, "abcdefghijklmnopqrstuvwxyz+");
    const char *colon = text + scheme_len;
    if (scheme_len == 0 || strncmp(colon, "://", 3) != 0)
        return culex__fail(error, CULEX_EURL, "store URL: no scheme before '://'");

    url.storage_len = 2 * (len + 1); /* the text, and the authority apart from the path */
    url.storage = malloc(url.storage_len);
    if (url.storage == NULL)
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    memcpy(url.storage, text, len + 1);
    url.scheme = url.storage;
    url.storage[colon - text] = '\0';
    culex_status status =
        url_split(&url, url.storage + (colon - text) + 3, url.storage + len + 1, error);
    if (status != CULEX_OK) {
        culex__url_release(&url);
        return status;
    }
    *ret_url = url;
    return CULEX_OK;
}

static bool is_control(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f;
}

/* What a script or a file adds: a file of that name would be another, and made in silence. */
static culex_status path_check(const char *rest, size_t scheme_len, culex_error *error)
{
    size_t len = strcspn(rest, "?");
    char first = rest[0], last = len > 0 ? rest[len - 1] : '\0';
    for (const char *at = rest; *at != '\0'; at++) {
        if (is_control(*at))
            return culex__fail(error, CULEX_EURL,
                               "store URL: the control character 0x%02X at position %zu, like a "
                               "line's end that a script or a file adds: take it out",
                               (unsigned)*at, (size_t)(at - rest) + scheme_len + 1);
    }
    if (first == ' ' || last == ' ')
        return culex__fail(error, CULEX_EURL, "store URL: the path %s with a blank: take it out",
                           first == ' ' ? "begins" : "ends");
    if (len > 1 && first == last && (first == '"' || first == '\''))
        return culex__fail(error, CULEX_EURL,
                           "store URL: the path stands in quotes (%c), which would be a part of "
                           "its name: take them out",
                           first);
    return CULEX_OK;
}

culex_status culex__url_parse_path(const char *rest, size_t scheme_len, struct culex__url *ret_url,
                                   culex_error *error)
{
    struct culex__url url = {.scheme = "", .host = "", .path = ""};
    culex_status status = path_check(rest, scheme_len, error);
    if (status != CULEX_OK)
        return status;
    url.storage_len = strlen(rest) + 1;
    url.storage = strdup(rest);
    if (url.storage == NULL)
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    url.path = url.storage;
    status = params_split(&url, cut(url.storage, '?'), error);
    if (status != CULEX_OK) {
        culex__url_release(&url);
        return status;
    }
    *ret_url = url;
    return CULEX_OK;
}
