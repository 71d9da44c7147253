/* sim/random.h - the seed, drawn out: a splitmix64 stream. */
#ifndef CULEX_SIM_RANDOM_H
#define CULEX_SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct sim_random {
    uint64_t state;
};

static inline uint64_t sim_draw(struct sim_random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 0 .. below - 1; `below` is at least 1. */
static inline int64_t sim_below(struct sim_random *random, int64_t below)
{
    return (int64_t)(sim_draw(random) % (uint64_t)below);
}

/* low .. high, both included. */
static inline int64_t sim_between(struct sim_random *random, int64_t low, int64_t high)
{
    return low + sim_below(random, high - low + 1);
}

/* True `per_mille` times of a thousand. */
static inline bool sim_chance(struct sim_random *random, int per_mille)
{
    return sim_below(random, 1000) < per_mille;
}

#endif
