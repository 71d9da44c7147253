/* store/redis/greeting.h - a connection that is ready for scripts: who we are, which database, and
 * whether this server can hold queues. */
#ifndef CULEX_STORE_REDIS_GREETING_H
#define CULEX_STORE_REDIS_GREETING_H

#include "store/redis/conn.h"

/* Connected and greeted when it returns CULEX_OK. A connection that the server has closed in
 * the meantime is noticed here and replaced. */
culex_status culex__redis_conn_open(struct culex__redis_conn *conn, int64_t deadline_ns,
                                    culex_error *error);

#endif
