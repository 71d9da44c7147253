/* store/sqlite/ledger.h - limits and their keys while a transaction is under way: rows of tables
 * run_limit and limit_key, each read once and written back at the end.
 *
 * What a run counts for in a key of one of its limits follows from its row: see sqlite/parking.h.
 *
 * Slots and tokens are those of the key, whatever its runs need; places in the ready order, who is
 * parked for one or held, and whose turn it was, are counted apart for runs that need different
 * things: in rows of their own, of which the key has CULEX__SQLITE_PART and the needs behind it. So
 * runs that nobody can serve keep no place and no turn from others. The key itself has a row for as
 * long as one of these has. */
#ifndef CULEX_STORE_SQLITE_LEDGER_H
#define CULEX_STORE_SQLITE_LEDGER_H

#include "store/sqlite/queue.h"

#include "base/limits.h"
#include "core/run_limit.h"

struct culex_sqlite;
struct culex_sqlite_ledger;

#define CULEX__SQLITE_PART '\1' /* before all characters that keys have */

enum {
    /* Bytes of a key and what its runs need, the end included. */
    CULEX__SQLITE_KEY_SIZE = CULEX_LIMIT_KEY_MAX + 1 + CULEX_LIMIT_NAME_MAX + 1
};

struct culex_sqlite_limit {
    int64_t number;
    char name[CULEX_LIMIT_NAME_MAX + 1];
    enum culex_limit_kind kind;
    culex_limit_value declared, set;        /* set.count 0: nothing was set */
    bool is_damaged;                        /* its row said what no limit can be */
    bool is_swept;                          /* keys are looked at since the limit gives more, */
    char swept[CULEX__SQLITE_KEY_SIZE + 1]; /* "" or '>' and the last one that was */
    int64_t keys, active, parked;
    bool is_changed;
};

struct culex_sqlite_counter {
    struct culex_sqlite_limit *limit;
    struct culex_sqlite_counter *whole; /* of the key itself, without needs; may be this one */
    int64_t number;                     /* 0: it has no row yet, or no more */
    char key[CULEX__SQLITE_KEY_SIZE];
    int64_t active; /* of `whole` alone, as tat_us */
    int64_t standing, parked;
    int64_t held;  /* of a fair share: its runs that are parked behind another limit */
    bool has_turn; /* somebody was admitted of those that take turns: */
    char turn[CULEX_LIMIT_KEY_MAX + 1];
    int64_t turn_ms; /* where he came to stand */
    int64_t tat_us;  /* of a rate's bucket: see core/run_limit.h */
    int64_t look_ms; /* when a STEP looks at it; INT64_MAX: no need */
    bool is_freed;   /* somebody may have room since the last look */
    bool is_spread;  /* of `whole`: a slot came free, of which its parts do not know yet */
    bool is_wanted;  /* of `whole`: one of its parts has a row */
    bool is_rung;    /* of needs: was claimed from, so that the next worker is to be told */
    struct {
        int64_t active, standing, parked, held, tat_us, look_ms;
    } saved;
    bool is_turned; /* whose turn it was has changed */
};

/* What is in force. */
static inline const culex_limit_value *
culex__sqlite_limit_value(const struct culex_sqlite_limit *limit)
{
    return limit->set.count > 0 ? &limit->set : &limit->declared;
}

/* The limit of that name; NULL when the file has none. */
culex_status culex__sqlite_ledger_limit(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, const char *name,
                                        struct culex_sqlite_limit **ret_limit, culex_error *error);

/* The same, as `told`, which it is from now on. */
culex_status culex__sqlite_ledger_tell(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       const struct culex_run_limit *told,
                                       struct culex_sqlite_limit **ret_limit, culex_error *error);

/* In which an empty bucket of the limit is full again; 0 for what is no rate. */
int64_t culex__sqlite_limit_fill_ms(const struct culex_sqlite_limit *limit);

/* What is in force has changed: all its keys will be looked at. */
void culex__sqlite_ledger_sweep(struct culex_sqlite_queue *queue, struct culex_sqlite_limit *limit);

/* What is counted of that key. */
culex_status culex__sqlite_ledger_counter(struct culex_sqlite *store,
                                          struct culex_sqlite_limit *limit, const char *key,
                                          struct culex_sqlite_counter **ret_counter,
                                          culex_error *error);

/* Of it, the part of runs that need this; "" for nothing. */
culex_status culex__sqlite_ledger_part(struct culex_sqlite *store, struct culex_sqlite_limit *limit,
                                       const char *key, const char *needs,
                                       struct culex_sqlite_counter **ret_counter,
                                       culex_error *error);

/* The number of its row, which it gets when it has none: a run is to be parked behind it. */
culex_status culex__sqlite_ledger_number(struct culex_sqlite *store,
                                         const struct culex_sqlite_queue *queue,
                                         struct culex_sqlite_counter *counter, int64_t *ret_number,
                                         culex_error *error);

/* That row by its number; NULL when there is none. */
culex_status culex__sqlite_ledger_numbered(struct culex_sqlite *store,
                                           const struct culex_sqlite_queue *queue, int64_t number,
                                           struct culex_sqlite_counter **ret_counter,
                                           culex_error *error);

/* From now on buckets that are further from being full than an empty one are empty ones: a STEP
 * says so, whose clock counts for all. */
culex_status culex__sqlite_ledger_cut(struct culex_sqlite *store, culex_error *error);

/* Writes back what has changed, and drops keys of which nothing is left to keep. */
culex_status culex__sqlite_ledger_save(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       culex_error *error);

/* Forgets what was read. */
void culex__sqlite_ledger_clear(struct culex_sqlite *store);
void culex__sqlite_ledger_free(struct culex_sqlite *store);

#endif
