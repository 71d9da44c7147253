/* bench/floor.h - the floor's side: bare calls of hiredis and of SQLite.
 *
 * A record, a payload and a place in line for each run; taking one moves it to those under way,
 * forgetting removes it: what any store of runs does, and nothing else. */
#ifndef CULEX_BENCH_FLOOR_H
#define CULEX_BENCH_FLOOR_H

#include <stddef.h>
#include <stdint.h>

#include "knobs.h"
#include "meter.h"

enum {
    FLOOR_BATCH_MAX = 256,
    FLOOR_PAYLOAD = 120 /* bytes, as five params take */
};

/* Names a run in the store. */
struct floor_id {
    uint64_t number; /* as the producer counts */
    uint64_t token;
};

struct floor_store {
    void *(*open)(const struct knobs *knobs);
    /* One call: runs of the numbers from `first` on, at most FLOOR_BATCH_MAX. */
    void (*put)(void *store, size_t first, size_t count, const char *payload, size_t len);
    /* One call: forgets `done` and takes up to `want` others with their payloads into `ids`;
     * returns how many. `ids` and `done` may be the same array. */
    size_t (*take)(void *store, const struct floor_id *done, size_t done_count, size_t want,
                   struct floor_id *ids);
    /* Waits until there may be runs; *ret_id is taken when this returns true. */
    bool (*await)(void *store, struct meter *meter, struct floor_id *ret_id);
    void (*close)(void *store);
};

extern const struct floor_store floor_redis;
extern const struct floor_store floor_sqlite;

/* Ends the program. */
void floor_die(const char *what, const char *why);

/* Differs at each call and in each process. */
uint64_t floor_token(void);

/* The same five params packed and unpacked by hand; see side.h. */
double floor_codec(size_t count);

#endif
