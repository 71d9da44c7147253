#include "command/open.h"

culex_status ops_store_open(struct ops *ops, culex_error *error)
{
    const culex_client_options options = {
        .timeout_ms = ops->options.store_timeout / CULEX_MILLISECOND,
        .prefix = ops->options.prefix,
        .url_file = ops->options.url_file,
        .must_exist = true,
    };
    return culex_client_open(ops->options.url, &options, &ops->client, error);
}
