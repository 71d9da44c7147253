/* lib/redis_check.h - reads a queue's raw keys in Redis and checks what must always hold.
 *
 * It knows the key layout and the record (run_rules.def), and nothing of the scripts. */
#ifndef CULEX_TESTS_REDIS_CHECK_H
#define CULEX_TESTS_REDIS_CHECK_H

#include <stdint.h>

#include "redis_server.h"

/* True when all of this holds for PREFIX:{QUEUE}; else says what does not:
 *   every run is in the one index that its state names, once, under the time of its record;
 *   no index has an entry without such a run, but for ghosts in the ready list, which are counted;
 *   every run but a done one has its payload, and nothing else has; a dead or cancelled run may
 *   lack it when its error text says so;
 *   results belong to done runs, error texts to known ones;
 *   a unique key is held by a live run that has it, and every such run holds its key;
 *   producers and idempotency keys are listed under the time at which they may be forgotten;
 *   an ordinary run has a body and no record; it stands beyond what was taken off the line, or once
 * in one block; blocks have nothing else, lie beside each other, and agree with their bodies; each
 * block is in spans, and in block_leases and block_ends as far as it has held or done runs; held
 * and done runs of blocks are counted, and a queue that is called calm is so. */
bool redis_check(const struct redis_server *server, const char *prefix, const char *queue);

/* An ordinary run, one without a record. */
struct redis_ordinary {
    unsigned char id[16];
    char state;        /* W, A or D; its attempt is 0 when it waits, else 1 */
    const char *owner; /* "" when it waits */
    const char *job;
    int64_t attempts_max;
};

/* Visits each of them; false when they cannot all be read. */
bool redis_ordinary_each(const struct redis_server *server, const char *prefix, const char *queue,
                         void (*visit)(const struct redis_ordinary *run, void *user), void *user);

#endif
