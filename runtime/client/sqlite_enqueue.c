/* client/sqlite_enqueue.c - a client for the length of one call, on a handle of the caller's. */
#include <culex/sqlite.h>

#include "base/error.h"
#include "client/client_private.h"
#include "client/sealing.h"
#include "client/keyfile.h"
#include "store/sqlite/borrow.h"

culex_status culex_sqlite_enqueue(struct sqlite3 *db, const char *schema,
                                  const culex_job_type *type, const void *params,
                                  const culex_enqueue_options *options, culex_uuid *ret_id,
                                  culex_error *error)
{
    /* No second try: within a transaction it would meet the same. */
    enum { TIMEOUT_MS = 1 };
    const struct culex_env *env = culex__env_system();
    struct culex_store *store = NULL;
    struct culex_keys *keys = NULL;
    culex_client *client = NULL;
    if (db == NULL)
        return culex__fail(error, CULEX_EINVAL, "no database handle");
    culex_status status = culex__sqlite_borrow(db, schema, env, &store, error);
    if (status == CULEX_OK)
        status = culex__client_create(store, TIMEOUT_MS, env, &client, error);
    if (status == CULEX_OK && culex__type_is_sealed(type != NULL ? type->params : NULL))
        status = culex__keyfile_read(NULL, &keys, error);
    if (status == CULEX_OK) {
        client->keys = keys;
        client->is_passing = true; /* no reply can get lost on the way to the transaction */
        status = culex_client_enqueue(client, type, params, options, ret_id, error);
    }
    culex_client_close(client);
    culex__keys_free(keys);
    return status;
}
