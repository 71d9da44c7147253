/* store/sqlite/body.h - ordinary runs: nothing was wanted for them beyond their kind, and nothing
 * has happened to them but a claim and a success.
 *
 * Each is a row of table body that is written once; what all of one sort have in common is in table
 * kind (sqlite/kind.h), and what has happened to it in its block (sqlite/block.h). Whoever wants to
 * change one in another way makes it a run of its own first, which stays one.
 *
 * Rows that are read as those of runs are (BODY_COLUMNS of statement.def) have no id: it follows
 * from their key and their time, and a row that damage has changed has another one. */
#ifndef CULEX_STORE_SQLITE_BODY_H
#define CULEX_STORE_SQLITE_BODY_H

#include "store/sqlite/block.h"
#include "store/sqlite/run.h"

/* May the run that comes in now be an ordinary one? Not while the clock is behind the last place
 * that was given out, as a body has no place but its time; nor with a job's name that no kind has
 * room for. */
bool culex__sqlite_body_fits(const struct culex_sqlite *store,
                             const struct culex_sqlite_queue *queue,
                             const struct culex_new_run *run);
/* Adds the run, of kind `kind`; counting it is up to the caller. */
culex_status culex__sqlite_body_add(struct culex_sqlite *store,
                                    const struct culex_sqlite_queue *queue, culex_uuid id,
                                    int64_t kind, const struct culex_new_run *run,
                                    culex_error *error);
/* Is it there, waiting or held, and not done? */
culex_status culex__sqlite_body_is_live(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, culex_uuid id,
                                        bool *ret_is_live, culex_error *error);
/* In which state it is; CULEX_ENOTFOUND, without a text, when it is none. */
culex_status culex__sqlite_body_state(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, culex_uuid id,
                                      culex_run_state *ret_state, culex_error *error);
/* Deletes and counts a waiting one. */
culex_status culex__sqlite_body_forget(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       int64_t seq, culex_error *error);

/* Makes it a run of its own, at the same key and place and in the same state. CULEX_ENOTFOUND when
 * there is none. */
culex_status culex__sqlite_body_adopt(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, int64_t seq,
                                      culex_error *error);
/* The same of at most `most` runs that the block holds, from its first. Those whose bodies are
 * missing are gone, and not counted any more. */
culex_status culex__sqlite_block_adopt(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       struct culex_sqlite_block *block, size_t most,
                                       size_t *ret_count, culex_error *error);
/* The run `id`, which is one of its own from now on; as culex__sqlite_run_one. */
culex_status culex__sqlite_body_or_run(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, culex_uuid id,
                                       struct culex_sqlite_run *ret_run, culex_error *error);

/* In which state the run is, whose row may be damaged; when `is_adopting`, one that has not ended
 * is a run of its own from now on. CULEX_ENOTFOUND when there is none. */
culex_status culex__sqlite_state_find(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, culex_uuid id,
                                      bool is_adopting, culex_run_state *ret_state,
                                      culex_error *error);

/* The highest lane below *lane in which one is waiting, and the first key there that is not taken;
 * -1 for none. */
culex_status culex__sqlite_bodies_find(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, int64_t *lane,
                                       int64_t *ret_first, culex_error *error);

/* As culex__sqlite_run_read, of a row that may be a body. Then it waits, as far as that row tells:
 * *ret_is_body. */
bool culex__sqlite_body_read(const struct culex_sqlite_queue *queue, sqlite3_stmt *statement,
                             struct culex_sqlite_run *ret_run, bool *ret_is_body);
/* What its block tells of it. A done one's payload is none any more. */
void culex__sqlite_body_stands(struct culex_sqlite_run *run,
                               const struct culex_sqlite_stand *stand);
/* Is the row that of the run `id`? One that is a run's own was found by it. */
bool culex__sqlite_body_is(const struct culex_sqlite_queue *queue, sqlite3_stmt *statement,
                           culex_uuid id);

#endif
