/* worker/waits.h - what a worker that has nothing to do waits for: the executor, a wake-up of the
 * store, a stop, or the next instant at which something is due. Each module says itself when it is
 * due; here is the earliest of them. The worker waits for all of it itself, or has it watched by
 * the descriptor that its program waits for. */
#ifndef CULEX_WORKER_WAITS_H
#define CULEX_WORKER_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include <culex/worker.h>

/* Waits; takes a wake-up when one came. */
void culex__worker_wait(culex_worker *worker, int64_t now_ns);

/* In place of that, after the program has waited: takes what came. False when nothing did and
 * nothing is due, so that a turn would find nothing to do. */
bool culex__worker_hear(culex_worker *worker);

/* Before the program waits again: brings what is watched up to date. Unless the worker is idle
 * there is something to do at once. */
void culex__worker_watch(culex_worker *worker, bool is_idle);

#endif
