/* store/sqlite/parking.h - runs with limits: who counts where, who stands aside, who comes in
 * again.
 *
 * A run with limits names them in its row (run.limits, "NAME=KEY;NAME=KEY"); the column aside tells
 * where it stands while it waits: 0 in the ready order, as all runs without limits; above that
 * parked, behind the key of that number in limit_key; -1 it waits for its time, after which a STEP
 * gives it a place. What a run counts for follows from these: active in the keys of all its limits,
 * standing in all of them, or parked in one and held in those of its fair shares that are others.
 *
 * What a run needs is the last of its limits: it is parked behind that for as long as it has no
 * worker. So who claims goes by needs to the key, and from there to the runs. To its other limits
 * it stands meanwhile, in the part of their keys that runs with the same needs have
 * (sqlite/ledger.h).
 *
 * Whoever changes the row of such a run takes it out of the counts before (leave) and puts it in
 * after (arrive, or claim); runs without limits cost a look at a flag. */
#ifndef CULEX_STORE_SQLITE_PARKING_H
#define CULEX_STORE_SQLITE_PARKING_H

#include "store/sqlite/ledger.h"
#include "store/sqlite/run.h"

enum {
    CULEX__SQLITE_ASIDE_NOT = 0,
    CULEX__SQLITE_ASIDE_TIMED = -1,
    /* Bytes of the text of a run's limits, its end included. */
    CULEX__SQLITE_LIMITS_SIZE =
        CULEX_RUN_LIMITS_MAX * (CULEX_LIMIT_NAME_MAX + CULEX_LIMIT_KEY_MAX + 2)
};

/* The keys of a run's limits, in their order. */
struct culex_sqlite_keys {
    struct culex_sqlite_counter *counters[CULEX_RUN_LIMITS_MAX];
    size_t count;
};

/* Of a new run, which tells what its limits are. Writes the text for its row. */
culex_status culex__sqlite_keys_tell(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                     const struct culex_new_run *run,
                                     char ret_text[CULEX__SQLITE_LIMITS_SIZE],
                                     struct culex_sqlite_keys *ret_keys, culex_error *error);

/* Of the text of a row. A limit that the file does not have, by damage, holds nobody up. */
culex_status culex__sqlite_keys_read(struct culex_sqlite *store,
                                     const struct culex_sqlite_queue *queue, const char *text,
                                     struct culex_sqlite_keys *ret_keys, culex_error *error);

/* The same of row `seq`. */
culex_status culex__sqlite_keys_of_row(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, int64_t seq,
                                       struct culex_sqlite_keys *ret_keys, culex_error *error);

/* What the run needs: the last of them, if it is of kind NEEDS; else NULL. */
struct culex_sqlite_counter *culex__sqlite_keys_needs(const struct culex_sqlite_keys *keys);

/* The first fair one among them, NULL for none. By its key, "" for none, a run takes turns behind
 * the others. */
struct culex_sqlite_counter *culex__sqlite_keys_first_share(const struct culex_sqlite_keys *keys);
const char *culex__sqlite_keys_share(const struct culex_sqlite_keys *keys);

/* Whether the run, once it was parked, comes in behind all that stand: it has a share, and a limit
 * by some key. Such a limit knows of its own runs alone, and would let one share's in again and
 * again by an age that is above all that others have. */
bool culex__sqlite_keys_come_last(const struct culex_sqlite_keys *keys);

/* Where a run would stand in the ready order. */
struct culex_sqlite_rank {
    int priority;
    int64_t at_ms, seq; /* before 0: it came back to the front */
};

/* A run of this rank begins to wait, ready: gives it a place in the order or parks it. */
culex_status culex__sqlite_keys_arrive(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue,
                                       const struct culex_sqlite_keys *keys,
                                       const struct culex_sqlite_rank *rank, int64_t *ret_aside,
                                       culex_error *error);

/* The same for one that was parked behind `passed`, which has a place for it. */
culex_status culex__sqlite_keys_admit(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue,
                                      const struct culex_sqlite_keys *keys,
                                      struct culex_sqlite_counter *passed,
                                      const struct culex_sqlite_rank *rank, int64_t *ret_aside,
                                      culex_error *error);

/* Whether one more run of this priority may stand in the ready order, by this key. */
bool culex__sqlite_key_has_place(const struct culex_sqlite *store,
                                 const struct culex_sqlite_counter *counter, int priority);

/* Each of the limits has room for one more. The first that has none otherwise. */
bool culex__sqlite_keys_have_room(const struct culex_sqlite *store,
                                  const struct culex_sqlite_keys *keys,
                                  struct culex_sqlite_counter **ret_full);

/* The first of the keys behind which somebody is parked that goes before the run: of a higher
 * priority, or ready for longer, as one whose priority was raised. NULL for none. Those of fair
 * shares take turns: none of them goes before another of its priority. */
culex_status culex__sqlite_keys_yield(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue,
                                      const struct culex_sqlite_keys *keys,
                                      const struct culex_sqlite_run *run,
                                      struct culex_sqlite_counter **ret_before, culex_error *error);

/* A run that stood in the order is claimed; or it is parked behind `full`. */
void culex__sqlite_keys_claim(const struct culex_sqlite *store,
                              const struct culex_sqlite_keys *keys);
void culex__sqlite_keys_park(const struct culex_sqlite_keys *keys,
                             struct culex_sqlite_counter *full);

/* A run that needs something stood in the ready order, by damage: from there it is parked. */
void culex__sqlite_keys_mend(const struct culex_sqlite_keys *keys);

/* The run, as its row stands, counts no more; and: it counts, as it will be saved, with the place
 * in `aside` that it gets. Of a run without limits nothing is done. */
culex_status culex__sqlite_parking_leave(struct culex_sqlite *store,
                                         const struct culex_sqlite_queue *queue,
                                         const struct culex_sqlite_run *run, culex_error *error);
culex_status culex__sqlite_parking_arrive(struct culex_sqlite *store,
                                          const struct culex_sqlite_queue *queue,
                                          struct culex_sqlite_run *run, culex_error *error);

#endif
