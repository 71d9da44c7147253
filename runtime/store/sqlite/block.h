/* store/sqlite/block.h - what has happened to ordinary runs: rows of the tables block and ended.
 *
 * A block is what one claim granted of them, at most CULEX__SQLITE_BLOCK_MAX numbers of one
 * priority, of which each has a bit. A claim, an ack or a beat of them all changes one row. An
 * ordinary run waits when its key is beyond all in blocks and ends; otherwise it has a bit there,
 * in one of them. */
#ifndef CULEX_STORE_SQLITE_BLOCK_H
#define CULEX_STORE_SQLITE_BLOCK_H

#include "store/sqlite/run.h"

struct culex_sqlite;

enum { CULEX__SQLITE_BLOCK_MAX = 63 }; /* bits of a number in the file that is never negative */

struct culex_sqlite_block {
    int64_t first; /* the key of bit 0 */
    int64_t since_ms, lease_ms;
    int64_t timeout_ms; /* the least of its runs', 0 for none */
    int64_t held, started;
    char session[CULEX__SQLITE_SESSION_SIZE];
};

/* Runs of a block that are done, and kept until one moment. */
struct culex_sqlite_end {
    int64_t first, until_ms, runs;
    char session[CULEX__SQLITE_SESSION_SIZE];
};

/* Lowest and highest bit of what is not 0, and how many there are. */
int culex__sqlite_bits_low(int64_t bits);
int culex__sqlite_bits_high(int64_t bits);
int culex__sqlite_bits_count(int64_t bits);

/* The bit of the run `seq` in a block that begins at `first`; 0 when it is too far away. */
static inline int64_t culex__sqlite_block_bit(int64_t first, int64_t seq)
{
    return seq >= first && seq - first < CULEX__SQLITE_BLOCK_MAX ? INT64_C(1) << (seq - first) : 0;
}

culex_status culex__sqlite_block_add(struct culex_sqlite *store,
                                     const struct culex_sqlite_queue *queue,
                                     const struct culex_sqlite_block *block, culex_error *error);
/* Saves its lease and bits; without any that is held it goes. */
culex_status culex__sqlite_block_save(struct culex_sqlite *store,
                                      const struct culex_sqlite_block *block, culex_error *error);
/* The bound statement's first row, a block; CULEX_ENOTFOUND, without a text, when there is none. */
culex_status culex__sqlite_block_one(struct culex_sqlite *store, sqlite3_stmt *statement,
                                     struct culex_sqlite_block *ret_block, culex_error *error);
/* The one that holds the run `seq`; as above. */
culex_status culex__sqlite_block_of(struct culex_sqlite *store, int64_t seq,
                                    struct culex_sqlite_block *ret_block, culex_error *error);

culex_status culex__sqlite_end_add(struct culex_sqlite *store,
                                   const struct culex_sqlite_queue *queue,
                                   const struct culex_sqlite_end *end, culex_error *error);
/* Saves its runs; without any it goes. */
culex_status culex__sqlite_end_save(struct culex_sqlite *store, const struct culex_sqlite_end *end,
                                    culex_error *error);
culex_status culex__sqlite_end_one(struct culex_sqlite *store, sqlite3_stmt *statement,
                                   struct culex_sqlite_end *ret_end, culex_error *error);

/* Deletes the bodies of these runs. */
culex_status culex__sqlite_block_bodies_delete(struct culex_sqlite *store, int64_t first,
                                               int64_t bits, culex_error *error);

/* Where an ordinary run stands. */
struct culex_sqlite_stand {
    culex_run_state state;           /* WAITING, ACTIVE or DONE */
    struct culex_sqlite_block block; /* ACTIVE */
    struct culex_sqlite_end end;     /* DONE */
};

culex_status culex__sqlite_stand_find(struct culex_sqlite *store, int64_t seq,
                                      struct culex_sqlite_stand *ret_stand, culex_error *error);
/* The run is no more among the others there. */
culex_status culex__sqlite_stand_leave(struct culex_sqlite *store, int64_t seq,
                                       struct culex_sqlite_stand *stand, culex_error *error);

/* The last key of the queue's lane that was taken off it, as far as anything is left of that: the
 * bodies behind it are waiting. */
culex_status culex__sqlite_lane_taken(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, int64_t lane,
                                      int64_t *ret_seq, culex_error *error);

#endif
