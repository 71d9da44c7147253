/* store/sqlite/spool_file.h - the file of a spool: opening it, whose it is, and its transactions.
 *
 * What stands in it is spool.c's. The journal is kept (journal_mode=PERSIST), and made long enough
 * when the file is opened: on a full disk its space is there for those who take entries out. A log
 * (WAL) would have to grow first. And what is marked as sent or as aside grows: for that who adds
 * leaves pages that nothing stands in. */
#ifndef CULEX_STORE_SQLITE_SPOOL_FILE_H
#define CULEX_STORE_SQLITE_SPOOL_FILE_H

#include "store/sqlite/spool.h"
#include "store/sqlite/sqlite.h"
#include "platform/file_limit.h"

struct culex_spool_file {
    struct culex_sqlite sqlite; /* its path, handle and heritage; the rest is not used */
    dev_t device;               /* of the file as it was opened */
    ino_t number;
    char *place;                   /* of this client's store */
    sqlite3_stmt *whose;           /* it is */
    struct culex_file_limit limit; /* while an operation is under way */
    int lock_fd;
};

/* As culex__spool_open. Close it also on failure. */
culex_status culex__spool_file_open(struct culex_spool_file *file, const char *path,
                                    const char *place, culex_error *error);
void culex__spool_file_close(struct culex_spool_file *file);
void culex__spool_file_abandon(struct culex_spool_file *file);

/* The status for SQLite's result code `rc`. */
culex_status culex__spool_file_fail(struct culex_spool_file *file, int rc, culex_error *error);

/* Around what only reads. CULEX_EINVAL while the file has entries for another store. The end comes
 * also when the beginning or what followed has failed, and gives `status` back. */
culex_status culex__spool_file_look_begin(struct culex_spool_file *file, culex_error *error);
culex_status culex__spool_file_look_end(struct culex_spool_file *file, culex_status status);

/* Around what changes entries: all of it is done, or, unless `status` is CULEX_OK, none. */
culex_status culex__spool_file_change_begin(struct culex_spool_file *file, culex_error *error);
culex_status culex__spool_file_change_end(struct culex_spool_file *file, culex_status status,
                                          culex_error *error);

/* Within a change: the file is for this client's store from now on. */
culex_status culex__spool_file_take(struct culex_spool_file *file, culex_error *error);

/* Within a change: who has added sees to it that there is room in the file, CULEX_EFULL, and who
 * marks entries or takes them out has it. */
culex_status culex__spool_file_keep_room(struct culex_spool_file *file, culex_error *error);
culex_status culex__spool_file_use_room(struct culex_spool_file *file, culex_error *error);

/* As culex__spool_lock and culex__spool_unlock. */
culex_status culex__spool_file_lock(struct culex_spool_file *file, bool *ret_is_ours,
                                    culex_error *error);
void culex__spool_file_unlock(struct culex_spool_file *file);

#endif
