/* store/url.h - the parts of a store URL, decoded.
 *
 *   scheme://[[user]:password@]host[:port][/path][?name=value&...]
 *   scheme:///path[?name=value&...]
 *
 * Error texts name the part at fault and never hold the password. */
#ifndef CULEX_STORE_URL_H
#define CULEX_STORE_URL_H

#include <stddef.h>

#include <culex/error.h>

enum { CULEX__URL_LEN_MAX = 2048, CULEX__URL_PARAMS_MAX = 8 };

struct culex__url_param {
    const char *name;
    const char *value;
};

/* Texts live in `storage`; percent escapes are decoded. */
struct culex__url {
    char *storage;
    size_t storage_len;
    const char *scheme;
    const char *user;     /* NULL when absent */
    const char *password; /* NULL when absent */
    const char *host;     /* "" when absent; an IPv6 address without its brackets */
    int port;             /* 0 when absent */
    const char *path;     /* "" or begins with '/' */
    struct culex__url_param params[CULEX__URL_PARAMS_MAX];
    int param_count;
};

/* Splits `text`. CULEX_EURL with nothing to release, or release with culex__url_release. */
culex_status culex__url_parse(const char *text, struct culex__url *ret_url, culex_error *error);

/* The same of what follows a scheme that means a path: the path as it is, then parameters.
 * CULEX_EURL for a control character anywhere, whose position counts from the beginning of the
 * scheme, and for a path with a blank at an end of it or in quotes. */
culex_status culex__url_parse_path(const char *rest, size_t scheme_len, struct culex__url *ret_url,
                                   culex_error *error);

/* Wipes and frees. Accepts a zeroed url. */
void culex__url_release(struct culex__url *url);

/* The value of query parameter `name`, NULL when absent. */
const char *culex__url_param(const struct culex__url *url, const char *name);

/* A decimal number of `min` to `max`, and nothing else. */
culex_status culex__url_number(const char *what, const char *text, int min, int max, int *ret_value,
                               culex_error *error);

/* Overwrites memory in a way that the compiler keeps. */
void culex__wipe(void *bytes, size_t len);

#endif
