/* bench/meter.h - what a producer and the handlers of a worker tell each other, in memory that
 * their processes share. */
#ifndef CULEX_BENCH_METER_H
#define CULEX_BENCH_METER_H

#include <semaphore.h>
#include <stddef.h>

struct meter {
    sem_t started; /* posted at each start of a run */
    sem_t filled;  /* posted after each enqueue: a bell for stores that have none */
    size_t count;
    double starts_s[]; /* of the runs of the first `count` numbers; each is written by one run */
};

struct meter *meter_make(size_t count);

/* Run `number` has started. */
void meter_start(struct meter *meter, size_t number);

/* Waits until so many more runs have started; exits when nothing starts for a minute. */
void meter_await(struct meter *meter, size_t count);

#endif
