/* settings/storesettings.h - how a store is opened, and who has the last word on it.
 *
 * The one order, from the weakest: the default, the variable, the parameter of the store's URL, the
 * program itself, be it by its command line or in its code.
 *
 *   CULEX_PREFIX          ?prefix=TEXT               culex_client_options.prefix
 *   CULEX_STORE_TIMEOUT   ?store-timeout=TIME        .timeout_ms; a worker's .store_timeout_ms
 *   CULEX_SYNCHRONOUS     ?synchronous=WORD          .synchronous
 *
 * Whatever opens a store comes by here, so that a producer and a worker who are told the same mean
 * the same. Each source must be well-formed, also where another one wins; and where the default
 * would count, no variable may be one typing error from that which is not set. A variable or an
 * option that the kind of store has no use for is ignored, as it may be meant for others; in a URL
 * it is refused. */
#ifndef CULEX_SETTINGS_STORESETTINGS_H
#define CULEX_SETTINGS_STORESETTINGS_H

#include <culex/client.h>

#include "store/store.h"

/* The bounds hold for each source: 5 in code was meant as seconds. */
enum {
    CULEX_STORE_TIMEOUT_MS = 5000,
    CULEX_STORE_TIMEOUT_MS_MIN = 10,
    CULEX_STORE_TIMEOUT_MS_MAX = 86400000
};

/* The values of `synchronous`, in the order of the choices of its option. */
enum { CULEX_SYNCHRONOUS_WORDS = 3 };
extern const char *const culex__synchronous_words[CULEX_SYNCHRONOUS_WORDS];

struct culex_store_settings {
    char prefix[CULEX_STORE_PREFIX_MAX + 1];
    int64_t timeout_ms;
    const char *synchronous; /* a constant */
};

/* Of the store at `url`, as it was chosen (storeurl.h). `told` is the program's part: zero and NULL
 * say nothing; its url_file is not looked at. CULEX_EUSAGE names a variable and what it takes,
 * CULEX_EURL a parameter, CULEX_EINVAL is about `told`. */
culex_status culex__store_settings_read(const char *url, const culex_client_options *told,
                                        struct culex_store_settings *ret_settings,
                                        culex_error *error);

/* `refusal` names the member of the options, unless the time is 0 or within the bounds. */
culex_status culex__store_timeout_check(const char *member, int64_t timeout_ms,
                                        culex_status refusal, culex_error *error);

#endif
