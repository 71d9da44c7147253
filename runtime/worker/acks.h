/* worker/acks.h - ends of runs on their way to the store: from the queue of their lane into a step,
 * and from its answer to the log (ack_log.h). */
#ifndef CULEX_WORKER_ACKS_H
#define CULEX_WORKER_ACKS_H

#include <culex/worker.h>

#include "base/limits.h"
#include "handler/run_list.h"
#include "store/store.h"

struct culex_flight;
struct culex_lane;

/* Log lines of all runs that one step brings, for the store works on nothing else meanwhile: what
 * is more waits for the next one, lines of ends with their ends, of which the last may go beyond.
 */
enum { CULEX_STEP_LINE_BYTES = 256 * 1024 };

/* Of one lane. */
struct culex_acks {
    struct culex_run_list ends; /* of runs of flights, for the store, oldest first */
    int64_t since_ns;           /* when the oldest of them came in */
    size_t count;               /* in the step */
    size_t line_bytes;          /* of log lines that they bring */
    struct culex_ack sent[CULEX_BATCH_MAX];
    struct culex_flight *flights[CULEX_BATCH_MAX];
};

/* Queues the end of a run (run.end) for the store. */
void culex__acks_settle(struct culex_flight *flight);

/* The same for a run that is given back uncharged, for no reason worth keeping. */
void culex__acks_release(struct culex_flight *flight, int64_t delay_ms);

/* Drops the end of a run that waits for the store. */
void culex__acks_unsettle(struct culex_flight *flight);

/* A beat of the run was granted, which brought the store its log lines up to `end`: should its end
 * wait here, they are no more part of it. */
void culex__acks_tell_lines(struct culex_lane *lane, culex_uuid id, uint32_t attempt, uint64_t end);

/* The oldest end that waits for the store, which waits no more; NULL: none does. */
struct culex_flight *culex__acks_pop(struct culex_lane *lane);

/* Puts the oldest ends into the lane's next step. */
void culex__acks_add(struct culex_lane *lane);

/* Logs what became of those in the step, and gives their structs back. */
void culex__acks_take(struct culex_lane *lane, const enum culex_answer *answers);

/* Frees the runs that the store has not heard of: at the end of a worker's life. */
void culex__acks_free(struct culex_lane *lane);

#endif
