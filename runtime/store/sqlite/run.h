/* store/sqlite/run.h - one row of table run: reading it, moving it by the rules, forgetting it. */
#ifndef CULEX_STORE_SQLITE_RUN_H
#define CULEX_STORE_SQLITE_RUN_H

#include <sqlite3.h>

#include "store/sqlite/columns.h"
#include "store/sqlite/queue.h"

struct culex_sqlite;

enum {
    CULEX__SQLITE_SESSION_SIZE = CULEX_STORE_SESSION_MAX + 1,
    /* A longer payload gets a row of its own, so that changing its run does not rewrite it. */
    CULEX__SQLITE_INLINE_MAX = 1024,
};

/* The part of a run that changes, and what its changes depend on. */
struct culex_sqlite_run {
    int64_t seq;
    culex_uuid id;
    culex_run_state state; /* never SCHEDULED: see is_delayed */
    bool is_delayed;
    int priority;
    int64_t at_ms;
    uint32_t attempt;
    struct culex_run_counters counters;
    char owner[CULEX__SQLITE_SESSION_SIZE];
    bool is_started;
    bool is_cancel_requested;
    int64_t limit_ms, timeout_ms, keep_success_ms, keep_failure_ms, expires_at_ms;
    int64_t payload_len;
    int64_t unique_while, unique_until_ms; /* of its unique key, if it has one */
    bool has_key;                          /* and nobody else has taken that since */
    bool is_limited;                       /* it has limits: see sqlite/parking.h */
    int64_t aside;                         /* where it stands while it waits */
};

/* Where each column stands in a row that is read: those of CULEX__SQLITE_RUN_COLUMNS in all, the
 * tail where a statement selects it. */
enum {
#define COLUMN(name, ...) CULEX__SQLITE_COLUMN_##name,
    CULEX__SQLITE_RUN_COLUMNS(COLUMN, COLUMN) CULEX__SQLITE_RUN_TAIL(COLUMN)
#undef COLUMN
        CULEX__SQLITE_COLUMN_COUNT
};

/* A change to a run: an event with what comes along. */
struct culex_sqlite_move {
    enum culex_run_event event;
    int64_t delay_ms;
    bool is_doubted; /* the holder vanished */
    bool has_begun;  /* as of an ack */
    bool is_late;    /* EXPIRE: it has failed before, and its time for retries is over */
    const char *text;
    const void *result;
    size_t result_len;
};

/* Checks the bytes of a run before they are trusted. */
uint64_t culex__sqlite_checksum(culex_uuid id, const char *job, const void *payload, size_t len);

/* Puts a row whose values cannot be read aside: dead for good, with what it held as its error text.
 * `from` is the state that the queue's counters have it in. */
culex_status culex__sqlite_run_aside(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                     culex_run_state from, int64_t seq, culex_error *error);

/* The row `seq`, or *ret_is_aside when its values could not be read and it was put aside instead: a
 * verb over many runs goes on with the next one. CULEX_ENOTFOUND as culex__sqlite_run_one. */
culex_status culex__sqlite_run_or_aside(struct culex_sqlite *store,
                                        struct culex_sqlite_queue *queue, culex_run_state from,
                                        int64_t seq, struct culex_sqlite_run *ret_run,
                                        bool *ret_is_aside, culex_error *error);

/* What stands for a state in the file. Never SCHEDULED. */
const char *culex__sqlite_state_text(culex_run_state state);

/* False when the row's values are outside their ranges. */
bool culex__sqlite_run_read(sqlite3_stmt *statement, struct culex_sqlite_run *ret_run);
culex_status culex__sqlite_run_save(struct culex_sqlite *store, const struct culex_sqlite_run *run,
                                    const char *error_text, culex_error *error);
/* The bound statement's only row; CULEX_ENOTFOUND (without a text) when there is none. */
culex_status culex__sqlite_run_one(struct culex_sqlite *store, sqlite3_stmt *statement,
                                   struct culex_sqlite_run *ret_run, culex_error *error);
/* Applies the event by the rules, counts it, saves run. CULEX_ESTATE when it is not allowed. */
culex_status culex__sqlite_run_move(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                    struct culex_sqlite_run *run,
                                    const struct culex_sqlite_move *move, culex_error *error);
/* Takes an active run from a holder that is gone; `how` it went begins the text of a loss. */
culex_status culex__sqlite_run_vanish(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      struct culex_sqlite_run *run, const char *how,
                                      culex_error *error);
/* Gives a run that waits, or is scheduled, another place: as MOVE. */
culex_status culex__sqlite_run_place(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                     struct culex_sqlite_run *run, const struct culex_place *place,
                                     culex_error *error);
/* Deletes the run. Its idempotency key is remembered as long as that was wanted. */
culex_status culex__sqlite_run_forget(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      const struct culex_sqlite_run *run, culex_error *error);
/* The payload of a run as the file has it. */
struct culex_sqlite_payload {
    const void *bytes;    /* run->payload_len of them when it is_whole */
    bool is_whole;        /* else it is missing, damaged or of another length */
    sqlite3_stmt *holder; /* NULL: it is in the run's own row */
};

/* Of the row that `statement` (of a whole run, or a claim) stands on. It is borrowed until that one
 * moves; end it before. Fails, without anything to end, when the file cannot be read for the
 * moment: that says nothing about the run. */
culex_status culex__sqlite_payload_read(struct culex_sqlite *store, sqlite3_stmt *statement,
                                        const struct culex_sqlite_run *run,
                                        struct culex_sqlite_payload *ret_payload,
                                        culex_error *error);
/* By the checksum, which covers what will be executed: else the file was damaged. */
bool culex__sqlite_payload_is_intact(sqlite3_stmt *statement, const struct culex_sqlite_run *run,
                                     const struct culex_sqlite_payload *payload);
void culex__sqlite_payload_end(const struct culex_sqlite_payload *payload);
/* What the world calls the run's state: a delayed one is scheduled until its time. */
culex_run_state culex__sqlite_run_state(const struct culex_sqlite *store,
                                        const struct culex_sqlite_run *run);

#endif
