/* bench/knobs.h - what one measurement is told: KEY=VALUE words, each a member of struct knobs.
 * Exits with a message on a word that is none. */
#ifndef CULEX_BENCH_KNOBS_H
#define CULEX_BENCH_KNOBS_H

#include <stddef.h>

#include <culex/worker.h>

struct knobs {
    const char *url;         /* of the store; floors go to the same one, by bare calls */
    const char *synchronous; /* of SQLite */
    culex_isolation isolation;
    size_t count;        /* runs, over all processes and threads */
    size_t batch;        /* runs in one call; 0: what the product takes by itself */
    size_t handlers;     /* of one worker */
    size_t processes;    /* that do the same at once */
    size_t threads;      /* in each, each with a connection of its own */
    size_t is_shared;    /* 1: all with one, on the side that can */
    size_t bytes;        /* of a payload; 0: that of five params */
    size_t keep_ms;      /* how long a success is kept */
    size_t fail_percent; /* so many of a hundred runs fail once */
    size_t is_declared;  /* 1: the job is unique and has limits, none of which holds a run back */
    size_t is_uncounted; /* 1: the worker tells no figures */
    size_t events;       /* so many are kept of the queue that is drained; 0: none */
    size_t in_batch;     /* 1: all runs that a call of enqueue brings are of one batch */
    size_t is_parked;    /* 1: a limit holds back all runs but one */
    size_t follow;     /* each run that is drained has a follow-up: 1: with its end, 2: by a call */
    size_t stop_after; /* a worker stops after so many runs; 0: when nothing is left */
    size_t window;     /* most runs that are enqueued and not done; 0: all */
    size_t bulk;       /* runs that a producer beside a worker enqueues in a call */
    size_t rate;       /* runs enqueued a second; 0: as soon as may be */
    size_t seconds;    /* how long it goes on; 0: until `count` runs are done */
};

struct knobs knobs_parse(char **words, size_t count);

#endif
