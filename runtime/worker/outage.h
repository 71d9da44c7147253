/* worker/outage.h - trouble with the store and its clock: who waits how long, and what the log
 * tells. */
#ifndef CULEX_WORKER_OUTAGE_H
#define CULEX_WORKER_OUTAGE_H

#include <culex/worker.h>
#include "store/store.h"

struct culex_lane;

struct culex_outage {
    bool is_on;       /* from a call that fails to one that succeeds */
    bool is_told;     /* the log says so: it does not of a call that our own stop cut short */
    int64_t since_ns; /* when it began */
    int64_t logged_ns;
    culex_status logged_status; /* of the trouble told last */
    int64_t until_ns;           /* no call before, when the store as a whole is away */
    uint32_t failures;
};

/* Trouble with what one asks for: the steps of a queue, the ticks of a job. */
struct culex_trouble {
    int64_t retry_ns;  /* after a failed call: not before */
    uint32_t failures; /* failed calls in a row */
};

/* What the store has room for, as the log tells it. */
struct culex_shortage {
    enum culex_room told;  /* CULEX_ROOM_ENOUGH while the log says nothing of it */
    enum culex_room worst; /* of the newest line */
    int64_t logged_ns;     /* 0: never */
};

/* At the start of a worker's life. */
void culex__outage_reset(culex_worker *worker);

/* There is no time for long waits any more: calls that have failed may be tried at once. */
void culex__outage_hurry(culex_worker *worker);

/* Accounts for a call to the store: logs trouble and its end, sets when to go on. `lane` is that of
 * the queue which the call was about, NULL for none. `trouble` is of those who have to wait, as no
 * others have to: what is refused to a tick is no matter of the steps, which bring acks and beats.
 * NULL: everybody waits. */
void culex__worker_call_failed(culex_worker *worker, struct culex_lane *lane,
                               struct culex_trouble *trouble, culex_status status,
                               const culex_error *error);
void culex__worker_call_succeeded(culex_worker *worker, struct culex_trouble *trouble);

/* Boot time from which on the lane may call the store: earlier, failed calls keep it waiting. */
int64_t culex__outage_call_ns(const struct culex_lane *lane);

/* Learns the store's clock from the reply to what was sent at `sent_ns`. A jump of more than a
 * quarter of a lease is worth a line, once a minute at most: fences keep it from doing harm, but
 * leases end too early or too late. */
void culex__worker_learn_clock(culex_worker *worker, int64_t store_ms, int64_t sent_ns);

/* Logs that the store is short of room, once a minute, and that it has room again. */
void culex__worker_learn_room(culex_worker *worker, enum culex_room room);

/* The store may have carried out, wholly or in part, a call that failed with `status`. */
bool culex__call_may_be_applied(const struct culex_store *store, culex_status status);

/* A status that no waiting cures: culex_worker_run ends with it. */
bool culex__status_is_fatal(culex_status status);

#endif
