/* store/sqlite/room.h - operations that write, with the reserve behind them. */
#ifndef CULEX_STORE_SQLITE_ROOM_H
#define CULEX_STORE_SQLITE_ROOM_H

#include "store/sqlite/reserve.h"

/* CULEX_EFULL while an enqueue at `level` cannot be had without growing the file. */
culex_status culex__sqlite_room_check(struct culex_sqlite *store,
                                      enum culex_sqlite_reserve_level level, culex_error *error);

/* As without "reserved_". */
culex_status culex__sqlite_reserved_step(struct culex_store *base, const struct culex_step *step,
                                         struct culex_step_reply *ret_reply, culex_error *error);
culex_status culex__sqlite_reserved_enqueue(struct culex_store *base, const char *queue,
                                            const struct culex_new_run *runs, size_t count,
                                            struct culex_enqueue_result *results,
                                            culex_error *error);
culex_status culex__sqlite_reserved_tick(struct culex_store *base, const struct culex_tick *tick,
                                         struct culex_tick_reply *ret_reply, culex_error *error);
culex_status culex__sqlite_reserved_hello(struct culex_store *base, const char *queue,
                                          const char *worker, const char *session,
                                          size_t *ret_released, int64_t *ret_now_ms,
                                          culex_error *error);
culex_status culex__sqlite_reserved_cancel(struct culex_store *base, const char *queue,
                                           culex_uuid id, culex_run_state *ret_state,
                                           culex_error *error);
culex_status culex__sqlite_reserved_forget(struct culex_store *base, const char *queue,
                                           culex_uuid id, culex_error *error);
culex_status culex__sqlite_reserved_limit(struct culex_store *base, const char *queue,
                                          uint64_t most, culex_error *error);
culex_status culex__sqlite_reserved_pause(struct culex_store *base, const char *queue,
                                          bool is_paused, culex_error *error);
culex_status culex__sqlite_reserved_purge(struct culex_store *base, const char *queue,
                                          culex_run_state state, size_t limit, size_t *ret_deleted,
                                          culex_error *error);

#endif
