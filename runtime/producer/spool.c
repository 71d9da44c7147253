/* producer/spool.c - in the place of client/spooling.c and client/forward.c: a library for
 * producers has no spool, and says so to whoever wants one. Nobody gets beyond that. */
#include "client/spooling.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/misspelt.h"
#include "client/forward.h"
#include "store/register.h"

culex_status culex__spooling_want(const char *url, const culex_client_options *options,
                                  bool *ret_is_wanted, culex_error *error)
{
    const struct culex__store_kind *kind = culex__store_kind_find(url);
    *ret_is_wanted = false;
    if (kind == NULL || kind->is_path || kind->is_private)
        return CULEX_OK;
    if (options->spool == NULL && getenv("CULEX_SPOOL") == NULL)
        return culex__misspelt_check(environ, "CULEX_SPOOL", "no spool is named", CULEX_EUSAGE,
                                     error);
    return culex__fail(error, CULEX_EUNSUPPORTED,
                       "%s names a spool, and this program is linked with a library for producers, "
                       "which has none: link libculex, or go without a spool",
                       options->spool != NULL ? "options.spool" : "CULEX_SPOOL");
}

culex_status culex__spooling_open(const culex_client_options *options,
                                  const struct culex_store *store, const struct culex_env *env,
                                  struct culex_spooling **ret_spooling, culex_error *error)
{
    (void)options;
    (void)store;
    (void)env;
    (void)ret_spooling;
    return culex__fail(error, CULEX_EUNSUPPORTED, "no spool");
}

void culex__spooling_close(struct culex_spooling *spooling)
{
    (void)spooling;
}

void culex__spooling_abandon(struct culex_spooling *spooling)
{
    (void)spooling;
}

culex_status culex__spooling_put(struct culex_spooling *spooling,
                                 const struct culex_spooling_call *call, culex_error *error)
{
    (void)spooling;
    (void)call;
    return culex__fail(error, CULEX_EUNSUPPORTED, "no spool");
}

void culex__spooling_note_away(struct culex_spooling *spooling, int64_t spent_ns,
                               const culex_error *reason)
{
    (void)spooling;
    (void)spent_ns;
    (void)reason;
}

culex_status culex__forward_before(struct culex_effort *effort, const char *queue,
                                   bool *ret_must_wait, culex_error *error)
{
    (void)effort;
    (void)queue;
    (void)error;
    *ret_must_wait = false;
    return CULEX_OK;
}
