/* worker/on_death.h - the command that is told of each run that dies here (`--on-death COMMAND`).
 *
 * A thread of its own runs the command for one death after the other, and kills it when it takes
 * too long; the loop only puts the facts into a list. The list is bounded, so that a thousand
 * deaths cost neither memory nor a thousand processes: what finds no room is counted, and the log
 * says how many. A worker that ends first sees to the rest of its list; when it was asked to stop,
 * for as long as its grace period has left. */
#ifndef CULEX_WORKER_ON_DEATH_H
#define CULEX_WORKER_ON_DEATH_H

#include <stdbool.h>

#include <culex/worker.h>

struct culex_flight;
struct culex_on_death;

/* Does nothing where the options name no command. CULEX_ENOMEM: no thread or memory. Behind the
 * children, which so do not know it. */
culex_status culex__on_death_begin(culex_worker *worker, culex_error *error);

/* The store has taken the end of the run, which is dead; `is_late`: as its time for retries was
 * over. */
void culex__on_death_note(const struct culex_flight *flight, bool is_late);

/* See above. Does nothing without one. */
void culex__on_death_end(culex_worker *worker);

#endif
