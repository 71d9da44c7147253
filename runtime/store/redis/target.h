/* store/redis/target.h - where a Redis server is, and who we are there: its URL, read. */
#ifndef CULEX_STORE_REDIS_TARGET_H
#define CULEX_STORE_REDIS_TARGET_H

#include <stdbool.h>

#include "store/url.h"
#include "platform/env.h"

/* Where to connect and who we are; shared by the connections of one store. */
struct culex__redis_target {
    struct culex__url url;
    struct culex_address address;
    const char *user;     /* NULL: the default user */
    const char *password; /* NULL: none */
    int database;
    bool is_eviction_accepted; /* connect even where the server may evict queues */
    char label[160];           /* for error texts: host and port, or the path */
};

/* CULEX_EURL says what is wrong and where, without the password. Which parameters there are, the
 * register has checked. */
culex_status culex__redis_target_parse(const char *url, struct culex__redis_target *ret_target,
                                       culex_error *error);
void culex__redis_target_release(struct culex__redis_target *target);

#endif
