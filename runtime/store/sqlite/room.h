/* store/sqlite/room.h - operations that write, with the reserve behind them. */
#ifndef CULEX_STORE_SQLITE_ROOM_H
#define CULEX_STORE_SQLITE_ROOM_H

#include "store/sqlite/reserve.h"

/* CULEX_EFULL while an enqueue at `level` cannot be had without growing the file. */
culex_status culex__sqlite_room_check(struct culex_sqlite *store,
                                      enum culex_sqlite_reserve_level level, culex_error *error);

/* The operations of a store that is not borrowed: those of verbs.h, with the reserve behind the
 * ones that write. Not behind retry, which brings a run in. */
extern const struct culex_store_ops culex__sqlite_ops;

#endif
