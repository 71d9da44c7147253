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

enum { CULEX__SQLITE_LASTS_MAX = 8 };

/* An enqueue call of a producer, which it may repeat: see sqlite/producer.c. */
struct culex_sqlite_last {
    int64_t producer;
    int64_t sequence, digest, made_ms;
    int64_t number; /* of its first new run, and above it the lane */
};

struct culex_sqlite_rear {
    int64_t arrived;   /* runs that table queue counts neither as waiting nor as enqueued */
    int64_t newest_ms; /* last place given out at the back; never goes back */
    int64_t number;    /* of the newest run's id (core/run_id.h), never given twice */
    /* Newest first and each of another producer: enqueue calls all of whose runs were new. */
    size_t last_count;
    struct culex_sqlite_last lasts[CULEX__SQLITE_LASTS_MAX];
};

/* The call of `producer`, NULL when it is not there. */
const struct culex_sqlite_last *culex__sqlite_rear_find(const struct culex_sqlite_rear *rear,
                                                        int64_t producer);
/* Puts it before all others, in the place of its producer's last one, or of the last of all. */
void culex__sqlite_rear_put(struct culex_sqlite_rear *rear, const struct culex_sqlite_last *last);
void culex__sqlite_rear_drop(struct culex_sqlite_rear *rear, int64_t producer);

/* The row's payload: of each call the members in the order of schema.sql, 8 bytes each, the highest
 * first. Returns how many bytes. */
enum { CULEX__SQLITE_LAST_BYTES = 5 * 8 };
size_t culex__sqlite_rear_write(
    const struct culex_sqlite_rear *rear,
    unsigned char ret_bytes[CULEX__SQLITE_LAST_BYTES * CULEX__SQLITE_LASTS_MAX]);
/* False for what are none. */
bool culex__sqlite_rear_read(const unsigned char *bytes, size_t len,
                             struct culex_sqlite_rear *ret_rear);
bool culex__sqlite_rear_is_same(const struct culex_sqlite_rear *one,
                                const struct culex_sqlite_rear *other);

#endif
