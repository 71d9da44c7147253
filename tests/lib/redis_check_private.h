/* lib/redis_check_private.h - what the parts of redis_check share. */
#ifndef CULEX_TESTS_REDIS_CHECK_PRIVATE_H
#define CULEX_TESTS_REDIS_CHECK_PRIVATE_H

#include <stdint.h>

#include "redis_check.h"

struct key_space {
    const struct redis_server *server;
    const char *prefix, *queue;
    redisReply *runs; /* field, value, field, value ... */
    size_t *order;    /* places of its fields, by id */
};

/* Says what does not hold, of which id; false. */
bool key_space_complain(const struct key_space *keys, const char *what, const redisReply *id);

/* Never NULL: the test ends when its own server does not answer. */
redisReply *key_space_ask(const struct key_space *keys, const char *command, const char *name,
                          const char *rest);

/* A field of `meta`, 0 when there is none. */
int64_t key_space_number(const struct key_space *keys, const char *field);

/* Places of a hash's fields, in the fields' order; to be freed. */
size_t *key_space_order(redisReply *hash);

/* Is there a run with a record at this id? */
bool key_space_has_record(const struct key_space *keys, const void *id);

/* The ordinary runs: bodies, blocks, and what is derived of them. */
bool redis_check_line(const struct key_space *keys);

/* Runs with limits: where they stand, and whether somebody will look at those that are parked. */
bool redis_check_limits(const struct key_space *keys);

#endif
