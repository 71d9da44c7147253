/* store/sqlite/wake.h - waking an idle worker without polling: where to knock, and the own door. */
#ifndef CULEX_STORE_SQLITE_WAKE_H
#define CULEX_STORE_SQLITE_WAKE_H

#include "store/sqlite/bells.h"
#include "store/sqlite/waiters.h"
#include "store/store.h"

struct culex_sqlite;

enum {
    CULEX__SQLITE_WAKE_MAX = 64,
};

/* Whom to tell after COMMIT about the work of one queue, where a transaction has some for several.
 */
struct culex_sqlite_aim {
    size_t target_count;
    char targets[CULEX__SQLITE_WAKE_MAX][CULEX__SQLITE_ADDRESS_SIZE];
    struct culex_sqlite_bells bells;
};

/* Where to knock after COMMIT, and this handle's own door: see sqlite/wake.c. */
struct culex_sqlite_wake {
    int watch_fd, door_fd, writes_fd, send_fd; /* -1: not open */
    char address[CULEX__SQLITE_ADDRESS_SIZE];  /* own; "" while not registered */
    char *queues;                              /* armed ones, NUL-ended each; "" at the end */
    bool is_armed;
    int64_t known_due_ms; /* the caller knows that a delayed run is due then */
    size_t target_count;
    char targets[CULEX__SQLITE_WAKE_MAX][CULEX__SQLITE_ADDRESS_SIZE];
    struct culex_sqlite_bells bells;       /* their targets stand behind the others */
    char dead[CULEX__SQLITE_ADDRESS_SIZE]; /* a registration to remove; "" for none */
    struct culex_sqlite_told told;         /* of ends for which they wait */
};

void culex__sqlite_wake_init(struct culex_sqlite *store);
/* Within a transaction: remembers whom to tell about work in `queue`, `is_ready` when it is also
 * some that needs nothing. */
culex_status culex__sqlite_wake_aim(struct culex_sqlite *store, const char *queue, bool is_ready,
                                    culex_error *error);
/* After COMMIT: tells one of them, and one for each of what is needed. */
void culex__sqlite_wake_send(struct culex_sqlite *store);
/* Puts off to tell them, so that another queue can be aimed at; and goes on with that. */
void culex__sqlite_wake_put_off(struct culex_sqlite *store, struct culex_sqlite_aim *ret_aim);
void culex__sqlite_wake_send_later(struct culex_sqlite *store, const struct culex_sqlite_aim *aim);
/* After the transaction's end: tells those who wait for an end in it when it was committed, and
 * forgets them. */
void culex__sqlite_wake_tell(struct culex_sqlite *store, bool is_committed);
/* The address of this handle's own door; NULL while it has none. */
const char *culex__sqlite_wake_address(const struct culex_sqlite *store);
void culex__sqlite_wake_close(struct culex_sqlite *store);
/* Closes the descriptors and leaves everything else to the process that they came from. */
void culex__sqlite_wake_abandon(struct culex_sqlite *store);

#endif
