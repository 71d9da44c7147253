/* sim/cast.h - what the cast's own files share.
 *
 *   cast.c      workers, the operator, what befalls them, and their life
 *   producer.c  producers: orders of one run or of many, and their repeats
 *   convoy.c    orders that go to the store in one
 *   batcher.c   batches
 *   waiter.c    waits for ends of runs
 *   order.c     what producers know of their orders, and what they may be told of them */
#ifndef CULEX_SIM_CAST_H
#define CULEX_SIM_CAST_H

#include <string.h>

#include "world.h"

enum {
    SIM_WORKERS = 4,
    SIM_WORKERS_MAX = 64,
    SIM_PRODUCERS = 2,
    SIM_KNOWN = 64,
    SIM_JOBS = 5,
    SIM_KEYS = 5
};

/* The params of every job. */
struct number {
    int64_t n;
};

/* What producers know of an order: its run, the ticket with which it is repeated, or both. */
struct known {
    culex_uuid id, ticket;
    bool has_id, has_ticket;
    int job;
    int64_t n;    /* of the first run */
    size_t count; /* the others have the next numbers */
    int key;      /* -1: none */
    int unique;   /* the number of its unique key, from 1; 0: none */
};

struct seat { /* of a worker: its lives follow one another */
    struct sim_process *process;
    unsigned lives;
};

struct sim_cast {
    culex_job_type jobs[SIM_JOBS];
    struct seat seats[SIM_WORKERS_MAX];
    size_t worker_count, producer_count;
    struct sim_process *producers[SIM_PRODUCERS + 1];
    struct known known[SIM_KNOWN];
    size_t known_count; /* ever; the ring keeps the last ones */
    int64_t numbers;
    int64_t lease_ms;
    int64_t pace_ms; /* of producers */
    bool is_ending;
};

/* --- cast.c -------------------------------------------------------------------------------- */

/* It is killed in the middle of what it is about to do. */
void sim_cast_doom(struct sim_process *producer);

/* --- order.c ------------------------------------------------------------------------------- */

/* NULL while there is none. */
struct known *sim_known_pick(struct sim_cast *cast, struct sim_random *random);
struct known *sim_known_add(struct sim_cast *cast, int job, int64_t n);
void sim_known_id(struct known *known, culex_uuid id);
void sim_known_ticket(struct known *known, culex_uuid ticket);

const char *sim_queue_of(const struct sim_cast *cast, const struct known *order);

/* The idempotency keys by their number, NULL for -1; and their windows, the same for all who use
 * one. */
const char *sim_key_of(int key);
int64_t sim_window_of(int key);

/* sim_oracle_must_know of the order's ticket. */
bool sim_order_is_known(const struct sim_process *process, const struct known *order,
                        culex_uuid *ret_first);

/* What was told of an order with one run; `id` is as the call left it. Returns what is known of it
 * now. */
struct known *sim_order_told(struct sim_process *process, const struct known *order,
                             culex_status status, culex_uuid id);

/* For certain nothing came of it. */
void sim_order_refused(struct sim_process *process, const struct known *order, culex_status status);

/* What its repeat was answered. Where the store must know the call, whose first run is `first` then
 * and NULL otherwise, there is one answer only, if any. */
void sim_again_told(struct sim_process *process, const struct known *order, const culex_uuid *first,
                    culex_status status, const culex_uuid *ids);

/* In some worlds nothing is wanted for a run beyond its kind: there is a line of them. */
static inline bool sim_is_plain(const struct sim_world *world)
{
    return !world->options.is_sqlite && world->options.seed % 4 == 3;
}

static inline bool sim_is_same_id(culex_uuid a, culex_uuid b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

culex_status sim_status_of(enum culex_enqueued outcome);

/* A call with one run, as client/enqueue.c makes it; `is_unknown`: it was tried before, without an
 * answer. */
culex_status sim_call_make(culex_client *client, const char *queue,
                           const struct culex_ticket *ticket, const struct culex_new_run *run,
                           bool is_unknown, struct culex_enqueue_result *ret_result);

/* --- convoy.c ------------------------------------------------------------------------------ */

/* Several orders of one run each, as calls of their own in one; who gets no answer goes on alone.
 */
void sim_convoy_send(struct sim_process *process, culex_client *client);

/* The order once more, which has one run and a ticket: alone, or in the company of others. */
void sim_convoy_again(struct sim_process *process, culex_client *client, struct known *picked);

/* --- batcher.c ---------------------------------------------------------------------------- */

/* A batch of alpha from its opening to its close, if that comes. */
void sim_batch_make(struct sim_process *process, culex_client *client);

/* --- waiter.c ------------------------------------------------------------------------------ */

/* For a run that some producer knows; and, when the world is healed, for one that is live. */
void sim_wait_some(struct sim_process *process, culex_client *client);
void sim_wait_healed(struct sim_process *process, culex_client *client);

/* --- producer.c ---------------------------------------------------------------------------- */

culex_status sim_client_open(struct sim_process *process, culex_client **ret_client);

/* Tries until it has one; NULL when the process has died, or the world is healed, meanwhile. */
culex_client *sim_client_await(struct sim_process *process);

void sim_producer_body(struct sim_process *process);

#endif
