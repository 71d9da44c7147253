/* store/sqlite/place.h - is the file that is open still the one that others find? */
#ifndef CULEX_STORE_SQLITE_PLACE_H
#define CULEX_STORE_SQLITE_PLACE_H

#include <sys/stat.h>
#include <sys/types.h>

#include "store/sqlite/glance.h"
#include "store/sqlite/index.h"
#include "store/store.h"

struct culex_sqlite;

struct culex_sqlite_inode {
    dev_t device;
    ino_t number; /* 0: not known */
};

/* What stood behind the names when they were opened. */
struct culex_sqlite_place {
    struct culex_sqlite_inode file;
    struct culex_sqlite_glance log, index;
    const char *log_name; /* SQLite's */
    char *index_name;
    int log_fd; /* a look into the log; -1: none */
    struct culex_sqlite_extent extent;
    struct culex_sqlite_frame last_frame;
    struct timespec modified; /* of the file, when its header was last read */
    int64_t mark;             /* the store's: see sqlite/place.c */
    /* Pages are missing, or another store's, or others may write unseen: nothing more is written,
     * not at the close either. */
    bool is_lost;
};

/* Before the file is made, or used for the first time: CULEX_ECORRUPT when it is gone or empty, and
 * the log or the index of the store that was there are not. */
culex_status culex__sqlite_place_check_left(const struct culex_sqlite *store, culex_error *error);
/* The last statement of the schema: gives a new store its mark. */
culex_status culex__sqlite_place_mark(struct culex_sqlite *store, culex_error *error);
/* At the end of the opening: which file and which log it is. */
culex_status culex__sqlite_place_note(struct culex_sqlite *store, culex_error *error);
/* CULEX_EMOVED when one of the names leads elsewhere by now, or nowhere, or pages of the file or
 * frames of the log are missing. */
culex_status culex__sqlite_place_check(struct culex_sqlite *store, culex_error *error);
/* After CULEX_ECORRUPT at the opening: the same, with a better text where there is one. */
culex_status culex__sqlite_place_explain(struct culex_sqlite *store, culex_error *error);
/* See struct culex_store_ops. */
void culex__sqlite_place_tell(const struct culex_store *base, char *ret_text, size_t size);
void culex__sqlite_place_close(struct culex_sqlite *store);
culex_status culex__sqlite_place_check_borrowed(const struct culex_sqlite *store,
                                                culex_error *error);

#endif
