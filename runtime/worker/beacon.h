/* worker/beacon.h - the one descriptor by which a program that has a loop of its own hears that its
 * worker has something to do. A worker that runs its own loop has none. */
#ifndef CULEX_WORKER_BEACON_H
#define CULEX_WORKER_BEACON_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <culex/worker.h>

/* What a worker waits for, beside the next instant at which something is due. */
enum culex_source {
    CULEX_SOURCE_STOP,
    CULEX_SOURCE_CREW,
    CULEX_SOURCE_WAKE,
    CULEX_SOURCE_NEIGHBOURS,
    CULEX_SOURCE_RELOAD,
    CULEX_SOURCE_COUNT
};

struct culex_beacon {
    atomic_int fd; /* the set of all below; -1: culex_worker_start has not succeeded. Any thread may
                      ask for it, and it is the worker's to change */
    int alarm_fd;
    int64_t alarm_ns;                /* what it is set to; INT64_MAX: nothing is due by itself */
    int watched[CULEX_SOURCE_COUNT]; /* in the set; -1: none */
};

/* Of a new worker; of one that is freed. */
void culex__beacon_init(culex_worker *worker);
void culex__beacon_free(culex_worker *worker);

/* Makes it, unless it is there still. */
culex_status culex__beacon_open(culex_worker *worker, culex_error *error);

/* Has the source watched by this descriptor, -1 for none, from now on. False when the system does
 * not let it: somebody has to look from time to time. A descriptor must leave the set before it is
 * closed: a process that the program has forked may hold it too, and it would be told of for ever.
 */
bool culex__beacon_watch(culex_worker *worker, enum culex_source source, int fd);

/* Has it readable from `at_ns` (boot time) on, INT64_MAX for never. 0: from now on, which is told
 * once more to who hears only of changes (EPOLLET). */
void culex__beacon_set_alarm(culex_worker *worker, int64_t at_ns);

/* Nothing is watched any more, and it is not readable. */
void culex__beacon_quench(culex_worker *worker);

/* False when the program has closed the descriptor, whoever has its number by now, or there is
 * none.
 */
bool culex__beacon_is_whole(const culex_worker *worker);

/* There is none any more: what has the number of one that was closed is left alone. */
void culex__beacon_lose(culex_worker *worker);

/* A bit for each source that has news. Whether the alarm has gone off, the clock tells. */
unsigned culex__beacon_take(const culex_worker *worker);

#endif
