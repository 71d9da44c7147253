/* storm/dice.h - seeded chance: the same seed asks for the same things in the same order. */
#ifndef CULEX_STORM_DICE_H
#define CULEX_STORM_DICE_H

#include <stdint.h>

struct dice {
    uint64_t state;
};

static inline uint64_t dice_next(struct dice *dice)
{
    uint64_t mixed = dice->state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

/* 0 to sides - 1; sides at least 1. */
static inline uint32_t dice_roll(struct dice *dice, uint32_t sides)
{
    return (uint32_t)(((dice_next(dice) >> 32) * sides) >> 32);
}

#endif
