/* store/register.h - the parameters in the URLs of stores: which store takes which. */
#ifndef CULEX_STORE_REGISTER_H
#define CULEX_STORE_REGISTER_H

#include <stdbool.h>

#include "store/url.h"

/* Bits, as a parameter may be of several. */
enum culex__param_store {
    CULEX__PARAM_SQLITE = 1u << 0,
    CULEX__PARAM_MEMORY = 1u << 1,
    CULEX__PARAM_REDIS = 1u << 2,
    CULEX__PARAM_REDIS_SOCKET = 1u << 3
};

/* CULEX_EURL for a name that `store` does not take, with those that it does, and for one that
 * stands there twice. Values are not looked at. */
culex_status culex__params_check(const struct culex__url *url, enum culex__param_store store,
                                 culex_error *error);

/* A parameter that the engine reads, and not the store. */
bool culex__param_is_common(const char *name);

#endif
