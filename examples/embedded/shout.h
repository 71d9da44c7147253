/* shout.h - what the three programs have in common: a client, a worker, and a handler. */
#ifndef SHOUT_H
#define SHOUT_H

#include <stdbool.h>

#include <culex/culex.h>

struct shout {
    culex_client *client;
    culex_worker *worker;
    int failures; /* what main returns */
};

/* Starts the worker, which forks its children, and so comes before anything else; then opens the
 * client. False, with a line on stderr, when one of them fails. */
bool shout_begin(struct shout *shout);

/* Standard input is readable: enqueues each line as a run. False at its end. */
bool shout_read(struct shout *shout);

/* The worker's descriptor is readable. False when the worker has come to its end. */
bool shout_work(struct shout *shout);

void shout_end(struct shout *shout);

#endif
