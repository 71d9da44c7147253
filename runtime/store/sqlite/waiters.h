/* store/sqlite/waiters.h - who waits for the end of a run, and is told of it: see "Waits" in
 * store/store.h. */
#ifndef CULEX_STORE_SQLITE_WAITERS_H
#define CULEX_STORE_SQLITE_WAITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <culex/error.h>

struct culex_sqlite;
struct culex_sqlite_queue;

enum {
    CULEX__SQLITE_ADDRESS_SIZE = 48,
    CULEX__SQLITE_TOLD_MAX = 256, /* more at a time, and who waits for an end looks by himself */
};

/* Doors to knock at after COMMIT, all of them. */
struct culex_sqlite_told {
    size_t count;
    char (*addresses)[CULEX__SQLITE_ADDRESS_SIZE]; /* NULL: there was none yet */
};

/* The run ends, or goes without an end: those who wait for it are told after COMMIT, and their
 * notes are gone. *ret_is_awaited: there was one. Asks the file for nothing in a queue without
 * notes. */
culex_status culex__sqlite_waiters_end(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       int64_t seq, bool *ret_is_awaited, culex_error *error);
/* Whether one more may wait for the run. Of as many as may, those whose time is over are forgotten
 * first. */
culex_status culex__sqlite_waiters_make_place(struct culex_sqlite *store, int64_t seq,
                                              bool *ret_has_place, culex_error *error);
/* Forgets some notes whose time is over. Who is still there is told, and looks. */
culex_status culex__sqlite_waiters_forget(struct culex_sqlite *store,
                                          struct culex_sqlite_queue *queue, culex_error *error);
/* When the first of them is over; INT64_MAX for none. */
culex_status culex__sqlite_waiters_next(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, int64_t *ret_at_ms,
                                        culex_error *error);
/* Those that lead to no run that is still to end are wrong, and go if `is_repairing`. */
culex_status culex__sqlite_waiters_check(struct culex_sqlite *store,
                                         struct culex_sqlite_queue *queue, bool is_repairing,
                                         uint64_t *wrong, culex_error *error);

#endif
