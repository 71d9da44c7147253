#include "command/open.h"

#include <stdlib.h>

#include <culex/cipher.h>

#ifdef OPS_HAS_SEAL
CULEX_SEALS;
#endif

static culex_status store_open(struct ops *ops, bool must_exist, culex_error *error)
{
    const culex_client_options options = {
        .timeout_ms = ops->options.store_timeout / CULEX_MILLISECOND,
        .prefix = ops->options.prefix,
        .url_file = ops->options.url_file,
        .keys = ops->options.keys,
        .must_exist = must_exist,
    };
    return culex_client_open(ops->options.url, &options, &ops->client, error);
}

culex_status ops_store_open(struct ops *ops, culex_error *error)
{
    return store_open(ops, true, error);
}

culex_status ops_store_open_new(struct ops *ops, culex_error *error)
{
    return store_open(ops, false, error);
}

bool ops_has_keys(const struct ops *ops)
{
    return ops->options.keys != NULL || getenv("CULEX_KEYS") != NULL;
}
