/* store/sqlite/body.h - ordinary runs: waiting ones to which nothing has happened yet.
 *
 * Each is a row of table body that is written once; what all of one sort have in common is in table
 * kind. Whoever wants to change one makes it a run of its own first, which stays one.
 *
 * Rows that are read as those of runs are (BODY_COLUMNS of statement.def) have no id: it follows
 * from their key and their time, and a row that damage has changed has another one. */
#ifndef CULEX_STORE_SQLITE_BODY_H
#define CULEX_STORE_SQLITE_BODY_H

#include "store/sqlite/run.h"

/* May the run that comes in now be an ordinary one? Not while the clock is behind the last place
 * that was given out, as a body has no place but its time. */
bool culex__sqlite_body_fits(const struct culex_sqlite *store,
                             const struct culex_sqlite_queue *queue,
                             const struct culex_new_run *run);
/* Brings the run; counting it is up to the caller. */
culex_status culex__sqlite_body_add(struct culex_sqlite *store,
                                    const struct culex_sqlite_queue *queue, culex_uuid id,
                                    const struct culex_new_run *run, culex_error *error);
culex_status culex__sqlite_body_exists(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, culex_uuid id,
                                       bool *ret_is_there, culex_error *error);
/* Deletes and counts it. */
culex_status culex__sqlite_body_forget(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       int64_t seq, culex_error *error);

/* Makes it a run of its own, at the same key and place. CULEX_ENOTFOUND when there is none. */
culex_status culex__sqlite_body_adopt(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, int64_t seq,
                                      culex_error *error);
/* The run `id`, which is one of its own from now on; as culex__sqlite_run_one. */
culex_status culex__sqlite_body_or_run(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, culex_uuid id,
                                       struct culex_sqlite_run *ret_run, culex_error *error);
/* Has those of the priority that stand before the `want`-th ready run there adopted, and perhaps
 * some more. */
culex_status culex__sqlite_bodies_adopt(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, int64_t priority,
                                        size_t want, size_t look_max, culex_error *error);
/* The highest priority below `*priority` that has one, -1 for none. */
culex_status culex__sqlite_bodies_priority(struct culex_sqlite *store,
                                           const struct culex_sqlite_queue *queue,
                                           int64_t *priority, culex_error *error);

/* As culex__sqlite_run_read, of a row that may be a body. */
bool culex__sqlite_body_read(const struct culex_sqlite_queue *queue, sqlite3_stmt *statement,
                             struct culex_sqlite_run *ret_run);
/* Is the row that of the run `id`? One that is a run's own was found by it. */
bool culex__sqlite_body_is(const struct culex_sqlite_queue *queue, sqlite3_stmt *statement,
                           culex_uuid id);

#endif
