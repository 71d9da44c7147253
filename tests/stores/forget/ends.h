/* forget/ends.h - the ways in which runs end, each as a portion of work on the suite's queue.
 *
 * A portion begins with a worker and a session that nobody has seen before, has producers that are
 * never heard of again, and leaves nothing that is waiting or active. The clock moves on by a
 * second and more. It knows the store by its verbs alone. */
#ifndef CULEX_TESTS_FORGET_ENDS_H
#define CULEX_TESTS_FORGET_ENDS_H

#include "suite.h"

enum { ENDS_PORTION_MAX = 200 };

struct ends_end;

/* The end of number `index`, NULL behind the last one; its name. */
const struct ends_end *ends_at(size_t index);
const char *ends_name(const struct ends_end *end);

/* Brings `count` runs to this end, fewer where one takes many steps. `watch`, unless it is NULL, is
 * called on the way, whenever something has changed. */
typedef void (*ends_watch_fn)(void);
void ends_run(struct suite *suite, const struct ends_end *end, size_t count, ends_watch_fn watch);

/* Steps of one worker until the time has passed by so much. Idle, they come as a worker's without
 * work do: when the store asks for one, and now and again. Busy, every `gap_ms` with a run of a
 * producer that stays, so that no step ever finds the queue empty. */
void ends_pass_idle(struct suite *suite, int64_t ms);
void ends_pass_busy(struct suite *suite, int64_t ms, int64_t gap_ms);

/* So many workers that say HELLO and vanish. */
void ends_hello(struct suite *suite, size_t workers);
/* So many calls by producers that are never heard of again, each with an idempotency key that is
 * kept for ten minutes. All runs are done in the end. */
void ends_burst(struct suite *suite, size_t calls);

#endif
