/* base/turn.h - threads that share a thing take turns, and none waits longer than it may.
 *
 * A mutex would do, but for its timed lock: that goes by a clock which people set, or is not there
 * in every C library. */
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
