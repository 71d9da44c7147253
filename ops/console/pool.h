/* ops/console/pool.h - the connections to the store that the requests share.
 *
 * There is one for enqueues, which join calls that come at the same time into one; one for those
 * who wait for an end or for a run to claim, hundreds at a time, or have runs counted; and some for
 * all else, where a long listing does not hold up the others. A store that is away is asked again
 * once a second, and each request in between is told at once what was wrong. */
#ifndef OPS_CONSOLE_POOL_H
#define OPS_CONSOLE_POOL_H

#include <culex/client.h>

enum pool_use { POOL_ENQUEUE, POOL_WAIT, POOL_OTHER };

struct pool;

/* `url` and `options`, with their texts, are borrowed for the pool's life. Opens nothing yet. */
struct pool *pool_make(const char *url, const culex_client_options *options);
/* A client that other threads use, too. It is given back to the same pool with what its last call
 * returned. */
culex_status pool_take(struct pool *pool, enum pool_use use, culex_client **ret_client,
                       culex_error *error);
void pool_give(struct pool *pool, culex_client *client, culex_status status);
/* All clients have been given back. */
void pool_free(struct pool *pool);

#endif
