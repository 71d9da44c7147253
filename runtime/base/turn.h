/* base/turn.h - threads that share a thing take turns, and none waits longer than it may.
 *
 * A mutex alone cannot do that: its timed lock goes by the wall clock, which people set, and the
 * one by another clock is missing in some C libraries.
 *
 * Who waits may show what he would do with the thing, his load. Whose turn it is may take such
 * loads along and bring them back when they are done, so that many threads need one turn
 * together: see client/convoy.h. A thread that finds the turn free takes it, whoever has been
 * woken for it: it takes along those who wait. */
#ifndef CULEX_BASE_TURN_H
#define CULEX_BASE_TURN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Somebody who waits. */
struct culex_turn_waiter {
    struct culex_turn_waiter *next;
    pthread_cond_t woken;
    void *load; /* NULL: nothing that can be taken along */
    bool is_away;
    bool is_back;
};

struct culex_turn {
    pthread_mutex_t lock;
    struct culex_turn_waiter *first, **end; /* in the order in which they came */
    bool is_taken;
};

enum culex_turn_end {
    CULEX_TURN_TAKEN,
    CULEX_TURN_LATE,   /* others had it for all of the time */
    CULEX_TURN_CARRIED /* the load was taken along, and is back */
};

void culex__turn_init(struct culex_turn *turn);

/* While nobody has it. */
void culex__turn_destroy(struct culex_turn *turn);

/* True, and it is taken, when nobody has it. */
bool culex__turn_try(struct culex_turn *turn);

/* False when others had it for all of `timeout_ms`. */
bool culex__turn_take(struct culex_turn *turn, int64_t timeout_ms);
void culex__turn_give(struct culex_turn *turn);

/* As take, with a load to be taken along. One that is away is waited for, however long. */
enum culex_turn_end culex__turn_share(struct culex_turn *turn, void *load, int64_t timeout_ms);

/* Whether a load is wanted; it is taken along then. */
typedef bool (*culex__turn_wants_fn)(void *user, void *load);

/* The one whose turn it is takes loads along, in the order in which they came. A list of those who
 * wait for them, for turn_return, without which they wait for ever; NULL for none. */
struct culex_turn_waiter *culex__turn_collect(struct culex_turn *turn, culex__turn_wants_fn wants,
                                              void *user);
void culex__turn_return(struct culex_turn *turn, struct culex_turn_waiter *list);

#endif
