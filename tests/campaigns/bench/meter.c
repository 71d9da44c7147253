#include "meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "crowd.h"

enum { PATIENCE_S = 60 };

struct meter *meter_make(size_t count)
{
    struct meter *meter = shared_memory(sizeof *meter + count * sizeof(double));
    meter->count = count;
    if (sem_init(&meter->started, 1, 0) != 0 || sem_init(&meter->filled, 1, 0) != 0) {
        perror("bench: semaphore");
        exit(1);
    }
    return meter;
}

void meter_start(struct meter *meter, size_t number)
{
    if (number < meter->count)
        meter->starts_s[number] = now_s();
    sem_post(&meter->started);
}

void meter_await(struct meter *meter, size_t count)
{
    struct timespec until;
    for (size_t i = 0; i < count; i++) {
        if (sem_trywait(&meter->started) == 0)
            continue;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += PATIENCE_S;
        if (sem_timedwait(&meter->started, &until) != 0) {
            fputs("bench: no run has started for a minute\n", stderr);
            exit(1);
        }
    }
}
