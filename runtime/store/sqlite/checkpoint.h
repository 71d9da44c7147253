/* store/sqlite/checkpoint.h - writing the log back, and what keeps that apart from writers. */
#ifndef CULEX_STORE_SQLITE_CHECKPOINT_H
#define CULEX_STORE_SQLITE_CHECKPOINT_H

#include "store/store.h"

struct culex_sqlite;

culex_status culex__sqlite_guard_open(struct culex_sqlite *store, culex_error *error);
/* Around every write transaction. */
culex_status culex__sqlite_guard_enter(struct culex_sqlite *store, culex_error *error);
void culex__sqlite_guard_leave(struct culex_sqlite *store);
/* Checkpoints when the WAL has grown, or `always`; a checkpoint that finds no room to run is
 * tried again later. */
void culex__sqlite_guard_checkpoint(struct culex_sqlite *store, bool always);
/* What a checkpoint came to. */
enum culex_sqlite_written {
    CULEX__SQLITE_WRITTEN_BACK,    /* all of it: the log is used again from its start */
    CULEX__SQLITE_WRITTEN_NOT,     /* other users of the file are in the way */
    CULEX__SQLITE_WRITTEN_NO_ROOM, /* the file would have to grow on a full disk */
};
/* Writes back what can be, under either scheme; the log is cut off when `is_cutting`. */
enum culex_sqlite_written culex__sqlite_checkpoint(struct culex_sqlite *store, bool is_cutting);
/* Bytes of a log that should have been written back long ago, else 0. */
int64_t culex__sqlite_log_overhang(const struct culex_sqlite *store);
void culex__sqlite_guard_close(struct culex_sqlite *store);
/* Without a last checkpoint: it is for another process to do. */
void culex__sqlite_guard_abandon(struct culex_sqlite *store);

#endif
