/* handler/loan.h - the client that handlers are lent: culex_run_client.
 *
 * One for each child, or for all handler threads of a worker; made when it is asked
 * for first, which asks nothing of the store, and not to be closed by those who have it. */
#ifndef CULEX_HANDLER_LOAN_H
#define CULEX_HANDLER_LOAN_H

#include <pthread.h>

#include "client/client_private.h"
#include "handler/chain.h"
#include "handler/errand.h"
#include "handler/tracing.h"

struct culex_loan {
    pid_t owner;                 /* the process that `way` works in */
    struct culex_errand_way way; /* to the worker's store */
    int64_t timeout_ms;          /* of one call */
    const struct culex_env *env;
    struct culex_enqueue_gate gate; /* of what handlers enqueue */
    struct culex_chains chains;     /* that runs may be of */
    struct culex_tracing tracing;
    const struct culex_keys *keys; /* for them and for the runs; NULL: there are none */
    pthread_mutex_t lock;          /* guards the client's making */
    culex_client *client;
    bool is_withheld; /* we hold the client's turn, so that nobody else can use it */
};

void culex__loan_init(struct culex_loan *loan, struct culex_errand_way way, int64_t timeout_ms,
                      const struct culex_env *env);

/* While nobody uses the client, as the next. */
void culex__loan_set_gate(struct culex_loan *loan, struct culex_enqueue_gate gate,
                          const struct culex_keys *keys);
void culex__loan_release(struct culex_loan *loan);

/* At the start and at the end of each run of a child: in between two runs, threads that a handler
 * has left behind cannot use the client. */
void culex__loan_give(struct culex_loan *loan);
void culex__loan_withhold(struct culex_loan *loan);

/* NULL without memory, and in a process that a handler has forked: two that ask by one channel
 * would take each other's answers. Any thread. */
culex_client *culex__loan_client(struct culex_loan *loan);

#endif
