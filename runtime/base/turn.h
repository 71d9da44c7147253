/* base/turn.h - threads that share a thing take turns, and none waits longer than it may.
 *
 * A mutex alone cannot do that: its timed lock goes by the wall clock, which people set, and the
 * one by another clock is missing in some C libraries. */
#ifndef CULEX_BASE_TURN_H
#define CULEX_BASE_TURN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct culex_turn {
    pthread_mutex_t lock;
    pthread_cond_t given;
    bool is_taken;
};

void culex__turn_init(struct culex_turn *turn);

/* While nobody has it. */
void culex__turn_destroy(struct culex_turn *turn);

/* False when others had it for all of `timeout_ms`. */
bool culex__turn_take(struct culex_turn *turn, int64_t timeout_ms);
void culex__turn_give(struct culex_turn *turn);

#endif
