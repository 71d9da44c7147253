/* backend/sqlite_reserve.h - disk space set aside so that running jobs can report on a full disk.
 *
 * PATH-reserve is a file of CULEX__SQLITE_RESERVE_BYTES with all its blocks allocated, shared by
 * all processes that use the database; its size is the whole state. When a STEP finds the disk
 * full, half of it is given back and the STEP repeated; when that is used up, the rest.
 *
 *   whole   all goes on
 *   half    enqueues are refused (CULEX_EFULL); workers go on, which makes room in the file
 *   none    claims are left out as well: what is left is for acks, beats and releases
 *
 * Each time the log is written back into the file, after which it is used again from its start, in
 * place. Eight MiB is a log of the length at which it is written back (4000 pages of 2 KB): the
 * file can take in all of it, even if every page is new there. Once there is room for the reserve
 * and half as much beside it, it is made whole again by the next call, and enqueues go on.
 */
#ifndef CULEX_BACKEND_SQLITE_RESERVE_H
#define CULEX_BACKEND_SQLITE_RESERVE_H

#include "backend/backend.h"

enum { CULEX__SQLITE_RESERVE_BYTES = 8 * 1024 * 1024 };

struct culex_sqlite;

enum culex_sqlite_reserve_level {
    CULEX__SQLITE_RESERVE_NONE,
    CULEX__SQLITE_RESERVE_HALF,
    CULEX__SQLITE_RESERVE_WHOLE, /* also when the store has no reserve by the user's wish */
};

struct culex_sqlite_reserve {
    int fd;              /* -1: this store has none */
    int64_t next_try_ns; /* boot time from which on it is worth looking for room again */
};

/* Opens or makes PATH-reserve, as large as the disk allows. Where that file cannot be made there is
 * no reserve, which is the doctor's to tell. */
void culex__sqlite_reserve_open(struct culex_sqlite *store);
void culex__sqlite_reserve_close(struct culex_sqlite *store);

enum culex_sqlite_reserve_level culex__sqlite_reserve_level(const struct culex_sqlite *store);
/* Of a database that somebody else has opened. */
enum culex_sqlite_reserve_level culex__sqlite_reserve_level_at(const char *path);

/* CULEX_EFULL, with the text that producers get while the reserve is not whole. */
culex_status culex__sqlite_reserve_refuse(const char *path, culex_error *error);

/* The operations that write, with the reserve behind them: as without "reserved_". */
culex_status culex__sqlite_reserved_step(struct culex_backend *backend,
                                         const struct culex_step *step,
                                         struct culex_step_reply *ret_reply, culex_error *error);
culex_status culex__sqlite_reserved_enqueue(struct culex_backend *backend, const char *queue,
                                            const struct culex_new_run *runs, size_t count,
                                            struct culex_enqueue_result *results,
                                            culex_error *error);
culex_status culex__sqlite_reserved_tick(struct culex_backend *backend,
                                         const struct culex_tick *tick,
                                         struct culex_tick_reply *ret_reply, culex_error *error);
culex_status culex__sqlite_reserved_hello(struct culex_backend *backend, const char *queue,
                                          const char *worker, const char *session,
                                          size_t *ret_released, int64_t *ret_now_ms,
                                          culex_error *error);
culex_status culex__sqlite_reserved_cancel(struct culex_backend *backend, const char *queue,
                                           culex_uuid id, culex_run_state *ret_state,
                                           culex_error *error);
culex_status culex__sqlite_reserved_forget(struct culex_backend *backend, const char *queue,
                                           culex_uuid id, culex_error *error);
culex_status culex__sqlite_reserved_limit(struct culex_backend *backend, const char *queue,
                                          uint64_t most, culex_error *error);
culex_status culex__sqlite_reserved_pause(struct culex_backend *backend, const char *queue,
                                          bool is_paused, culex_error *error);
culex_status culex__sqlite_reserved_purge(struct culex_backend *backend, const char *queue,
                                          culex_run_state state, size_t limit, size_t *ret_deleted,
                                          culex_error *error);

#endif
