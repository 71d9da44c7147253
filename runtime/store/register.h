/* store/register.h - the register of stores: what is to be known of each kind without opening it.
 *
 * A store is a folder beside this file and a row of stores.def. Its folder describes itself
 * in culex__NAME_kinds; nobody else knows a store by its name. */
#ifndef CULEX_STORE_REGISTER_H
#define CULEX_STORE_REGISTER_H

#include <stdbool.h>

#include "store/store.h"

enum { CULEX__STORE_PARAMS_MAX = 8 };

/* One way to name a store: by URLs that begin with `scheme`. */
struct culex__store_kind {
    const char *scheme;  /* "redis+unix://" */
    const char *example; /* how such a URL is written, for error texts; NULL: not proposed */
    const char *params[CULEX__STORE_PARAMS_MAX]; /* names that the URL takes, as texts list them */
    bool is_path;        /* a path as it is follows the scheme; else what url.h shows */
    bool is_private;     /* such a store belongs to one process */
    const char *refusal; /* why this build cannot open it; NULL: it can */

    /* Opens and connects; the URL's parameters are ones of the above. */
    culex_status (*open)(const struct culex__store_kind *kind, const char *url,
                         const struct culex_store_options *options, const struct culex_env *env,
                         struct culex_store **ret_store, culex_error *error);
};

/* culex__sqlite_kinds and so on; an empty row ends each. */
#define STORE(name) extern const struct culex__store_kind culex__##name##_kinds[];
#include "store/stores.def"
#undef STORE

/* Those of this library, NULL behind the last; and what is said besides to whoever asks for another
 * one, "" where there is no other. In store/stores.c, or in the file of a library for producers. */
extern const struct culex__store_kind *const culex__stores[];
extern const char culex__stores_note[];

/* The kind whose scheme `url` begins with; NULL when there is none. */
const struct culex__store_kind *culex__store_kind_find(const char *url);

/* All of them, one by one from 0 on; NULL behind the last. */
const struct culex__store_kind *culex__store_kind_at(size_t index);

/* CULEX_EURL, or CULEX_EUNSUPPORTED: no store can be opened by it, whatever is there. */
culex_status culex__store_url_check(const char *url, culex_error *error);

/* Its URLs take a parameter of this name. */
bool culex__store_kind_takes(const struct culex__store_kind *kind, const char *name);

#endif
