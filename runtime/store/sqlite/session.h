/* store/sqlite/session.h - sessions that have fallen silent: their memos and the names of their
 * workers are forgotten. */
#ifndef CULEX_STORE_SQLITE_SESSION_H
#define CULEX_STORE_SQLITE_SESSION_H

#include <stdint.h>

#include "store/store.h"

struct culex_sqlite;

/* How far a handle has come in its rounds through memos and workers; zeroed at first. */
struct culex_sqlite_silence {
    int64_t looked_ms; /* 0: there may be more */
    struct culex_sqlite_round {
        int64_t queue;
        char name[CULEX_STORE_WORKER_MAX + 1]; /* of a session or a worker */
    } memos, workers;
};

/* Looks at the next CULEX_FORGET_MAX rows of both tables, and deletes those that are over. HELLO,
 * which brings a row, always looks. */
culex_status culex__sqlite_silent_forget(struct culex_sqlite *store, culex_error *error);
/* The same once a second, or at once when the look before has found some: STEP's share. */
culex_status culex__sqlite_silent_look(struct culex_sqlite *store, culex_error *error);

#endif
