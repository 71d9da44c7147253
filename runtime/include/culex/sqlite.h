/* culex/sqlite.h - enqueue within a transaction of your own.
 *
 * For programs whose own tables lie in the SQLite file that is their Culex store: the run becomes
 * visible with your COMMIT and vanishes with your ROLLBACK, so there is no run without its row and
 * no row without its run, also when the program is killed in between.
 *
 *     sqlite3_exec(db, "BEGIN IMMEDIATE", ...);
 *     ... INSERT INTO orders ...
 *     culex_sqlite_enqueue(db, NULL, &mail_send_type, &params, NULL, NULL, &error);
 *     sqlite3_exec(db, "COMMIT", ...);
 *
 * The store is made by culex_client_open or by a worker; nothing is created here. Workers see the
 * commit at once, as they watch the file's log: no hook of the connection is used.
 *
 * Your own file ATTACHed beside the store, or the other way round, works too, with less: COMMIT and
 * ROLLBACK cover both files, but SQLite does not make a commit to two files in WAL mode atomic
 * against a crash. Only tables in the store's own file have the whole promise.
 *
 * The handle must come from the same SQLite library that Culex is linked with. Generated code has
 * no typed wrappers of this function yet; P_type is the descriptor to pass.
 */
#ifndef CULEX_SQLITE_H
#define CULEX_SQLITE_H

#include <culex/client.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3;

/* Enqueues one run of `type` through `db`, which must be in a transaction, into the store that is
 * its database `schema` (NULL: "main"; else the name it was ATTACHed as). Borrows everything for
 * the call. Params, options and *ret_id are as for culex_client_enqueue, but options->ticket is
 * refused (CULEX_EUNSUPPORTED): no answer gets lost on the way to your own transaction; and so are
 * options->after and callbacks of batches, which culex_client_enqueue takes. The id is
 * the run's once the transaction is committed: one that was rolled back can come again, for another
 * run.
 *
 * Begin with BEGIN IMMEDIATE: a transaction that has read before it writes may not get the lock any
 * more (CULEX_EBUSY). Below SQLite 3.51.3 the handle has to leave checkpoints to Culex ("PRAGMA
 * wal_autocheckpoint=0"), or the file could get damaged: CULEX_EUNSUPPORTED until it does.
 * CULEX_EINVAL outside of a transaction, CULEX_ECORRUPT and CULEX_EVERSION when `schema` is no
 * store or one of another version, CULEX_EFULL when the disk or the queue is full.
 *
 * On failure nothing of the run is left in the transaction, which goes on; only after a full disk,
 * an I/O error or without memory may SQLite have rolled back all of it (sqlite3_get_autocommit).
 * Changes sqlite3_changes and sqlite3_last_insert_rowid. */
CULEX_API CULEX_MUST_USE culex_status culex_sqlite_enqueue(struct sqlite3 *db, const char *schema,
                                                           const culex_job_type *type,
                                                           const void *params,
                                                           const culex_enqueue_options *options,
                                                           culex_uuid *ret_id, culex_error *error);

#ifdef __cplusplus
}
#endif
#endif
