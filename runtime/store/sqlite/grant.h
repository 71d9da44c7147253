/* store/sqlite/grant.h - what a claim hands out: a row as a grant. */
#ifndef CULEX_STORE_SQLITE_GRANT_H
#define CULEX_STORE_SQLITE_GRANT_H

#include "store/sqlite/kind.h"
#include "store/sqlite/run.h"

struct culex_sqlite;
struct culex_sqlite_queue;

/* ORDER BODY_FACT */
enum {
    CULEX__SQLITE_GRANTED_SEQ,
    CULEX__SQLITE_GRANTED_BORN,
    CULEX__SQLITE_GRANTED_KIND,
    CULEX__SQLITE_GRANTED_CHECKSUM,
    CULEX__SQLITE_GRANTED_PAYLOAD
};

/* What a grant takes of a body. */
struct culex_sqlite_granted {
    int64_t seq, born_ms;
    culex_uuid id;
    const void *payload;
    size_t len;
    bool is_intact; /* else it is damaged: its way out is that of a run of its own */
};

/* Attempt `attempt` of the run of a whole row. The grant owns its copies. */
culex_status culex__sqlite_grant_run(struct culex_grant *grant, sqlite3_stmt *statement,
                                     const struct culex_sqlite_run *run, uint32_t attempt,
                                     const void *payload, culex_error *error);
/* *kind is the one that was read last, and that of the row from then on. */
culex_status culex__sqlite_granted_read(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, sqlite3_stmt *row,
                                        struct culex_sqlite_kind *kind,
                                        struct culex_sqlite_granted *ret_body, culex_error *error);
culex_status culex__sqlite_grant_body(struct culex_grant *grant,
                                      const struct culex_sqlite_kind *kind,
                                      const struct culex_sqlite_granted *body, culex_error *error);
/* Grants the run at that key again, when the session still holds this attempt. */
culex_status culex__sqlite_grant_again(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue,
                                       const struct culex_step *step, int64_t seq, uint32_t attempt,
                                       struct culex_step_reply *reply, culex_error *error);

#endif
