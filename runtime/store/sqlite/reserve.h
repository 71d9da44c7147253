/* store/sqlite/reserve.h - disk space set aside so that a full disk can be worked off.
 *
 * PATH-reserve is a file of CULEX__SQLITE_RESERVE_BYTES with all its blocks allocated, shared by
 * all processes that use the database; its size is the whole state. When a worker finds no room for
 * a write, the log is written back into the file, after which it is used again from its start, in
 * place; what the file needs to grow for that comes from the reserve, first half of it, then the
 * rest. A log that is in the file is the room from which the reserve is made whole again: together
 * they are never smaller than before. A producer does so, with the first half alone, only where
 * ended runs have left enough pages for its runs; for these runs themselves it takes nothing of it.
 *
 *   whole   all goes on
 *   less    enqueues are taken in only where ended runs have left pages, CULEX__SQLITE_AIR_BYTES
 *           of them, so that the file does not grow; else they are refused (CULEX_EFULL). Workers
 *           go on, which makes room in the file. Claims are left out only by a step for which there
 *           is no room with them: what is left then is for acks, beats and releases
 *
 * A log can be worked off only while the reserve and the free space hold what it would add to the
 * file; so enqueues stop also when something (a reader that stays) lets it grow beyond that.
 */
#ifndef CULEX_STORE_SQLITE_RESERVE_H
#define CULEX_STORE_SQLITE_RESERVE_H

#include "store/store.h"

enum {
    CULEX__SQLITE_RESERVE_BYTES = 8 * 1024 * 1024,
    CULEX__SQLITE_AIR_BYTES = CULEX__SQLITE_RESERVE_BYTES / 2,
};

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

/* Opens or makes PATH-reserve, as large as the disk allows. A store whose file cannot be made has
 * no reserve; culex_doctor reports it. */
void culex__sqlite_reserve_open(struct culex_sqlite *store);
void culex__sqlite_reserve_close(struct culex_sqlite *store);

/* On a disk too full even to open the database: true when the reserve of a store that has been here
 * before gave some room. */
bool culex__sqlite_reserve_lend(struct culex_sqlite *store);

enum culex_sqlite_reserve_level culex__sqlite_reserve_level(const struct culex_sqlite *store);
/* Of a database that somebody else has opened. */
enum culex_sqlite_reserve_level culex__sqlite_reserve_level_at(const char *path);

/* Before an operation: the level, after a look whether it can be higher. */
enum culex_sqlite_reserve_level culex__sqlite_reserve_renew(struct culex_sqlite *store);

/* Gives half of the reserve back to the disk, in an operation that saw `seen` before it. False when
 * there is nothing left to give. */
bool culex__sqlite_reserve_give(struct culex_sqlite *store, enum culex_sqlite_reserve_level seen);

#endif
