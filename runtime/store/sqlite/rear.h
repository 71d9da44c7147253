/* store/sqlite/rear.h - what an enqueue changes of its queue: a row behind the newest body.
 *
 * A transaction writes whole pages into the log, and each costs as much as all else that an enqueue
 * does. In table queue these numbers would be a second page in each one, and always the same:
 * SQLite finds a page in the log by a chain of all its frames there, which grows by one with each
 * commit. So they stand in table body, at a key that no run has: right behind the bodies of the
 * queue's highest priority in use, which is where an enqueue puts its runs. */
#ifndef CULEX_STORE_SQLITE_REAR_H
#define CULEX_STORE_SQLITE_REAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An enqueue call of a producer, which it may repeat: see sqlite/producer.c. */
struct culex_sqlite_last {
    int64_t producer; /* 0: none */
    int64_t sequence, digest, made_ms;
    int64_t number; /* of its first new run, and above it the lane */
};

struct culex_sqlite_rear {
    int64_t arrived;   /* runs that table queue counts neither as waiting nor as enqueued */
    int64_t newest_ms; /* last place given out at the back; never goes back */
    int64_t number;    /* of the newest run's id (core/run_id.h), never given twice */
    struct culex_sqlite_last last; /* the newest enqueue call, when all its runs were new */
};

/* The row's payload: the newest call's members in the order of schema.sql, 8 bytes each, the
 * highest first. */
enum { CULEX__SQLITE_LAST_BYTES = 5 * 8 };

void culex__sqlite_last_write(const struct culex_sqlite_last *last,
                              unsigned char ret_bytes[CULEX__SQLITE_LAST_BYTES]);
/* False for what is none; `bytes` may be NULL then. */
bool culex__sqlite_last_read(const unsigned char *bytes, size_t len,
                             struct culex_sqlite_last *ret_last);
bool culex__sqlite_rear_is_same(const struct culex_sqlite_rear *one,
                                const struct culex_sqlite_rear *other);

#endif
