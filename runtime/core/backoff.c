#include "core/backoff.h"

#include <assert.h>

/* Doubles hold every integer up to 2^53, far above CULEX_BACKOFF_MAX_MS. NaN becomes 0. */
static int64_t delay_clamp(double delay_ms)
{
    if (!(delay_ms > 0))
        return 0;
    return delay_ms < (double)CULEX_BACKOFF_MAX_MS ? (int64_t)(delay_ms + 0.5)
                                                   : CULEX_BACKOFF_MAX_MS;
}

/* `base` to the power of a whole number, in at most 32 rounds. */
static double power_whole(double base, uint32_t exponent)
{
    double result = 1;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result *= base;
        base *= base;
    }
    return result;
}

/* The square root. */
static double root_newton(double value)
{
    double root = value > 1 ? value : 1;
    for (int i = 0; i < 64; i++) {
        double next = (root + value / root) / 2;
        if (next >= root)
            break;
        root = next;
    }
    return root;
}

/* `base` >= 1 to the power of `exponent` in [0, 1), bit by bit from square roots; so that the
 * library needs no libm and gives the same delays everywhere. */
static double power_fraction(double base, double exponent)
{
    double result = 1;
    for (int bit = 0; bit < 32 && exponent > 0; bit++) {
        base = root_newton(base);
        exponent *= 2;
        if (exponent >= 1) {
            result *= base;
            exponent -= 1;
        }
    }
    return result;
}

/* n^factor for n >= 1. */
static double power(double n, double factor)
{
    if (!(factor > 0))
        return 1;
    if (factor >= 64)
        return n > 1 ? (double)CULEX_BACKOFF_MAX_MS : 1;
    uint32_t whole = (uint32_t)factor;
    return power_whole(n, whole) * power_fraction(n, factor - whole);
}

static int64_t delay_step(const culex_retry_policy *policy, uint32_t failures)
{
    if (policy->step_count == 0 || policy->steps_ms == NULL)
        return 0;
    assert(failures > 0);
    size_t last = policy->step_count - 1;
    int64_t delay_ms = policy->steps_ms[failures - 1 < last ? failures - 1 : last];
    if (delay_ms < 0)
        return 0;
    return delay_ms < CULEX_BACKOFF_MAX_MS ? delay_ms : CULEX_BACKOFF_MAX_MS;
}

static int64_t delay_plain(const culex_retry_policy *policy, uint32_t failures)
{
    double base_ms = (double)policy->base_ms;
    switch (policy->backoff) {
    case CULEX_BACKOFF_CONSTANT:
        return delay_clamp(base_ms);
    case CULEX_BACKOFF_LINEAR:
        return delay_clamp(base_ms * failures);
    case CULEX_BACKOFF_POLYNOMIAL:
        return delay_clamp(base_ms * power(failures, policy->factor));
    case CULEX_BACKOFF_EXPONENTIAL:
        return delay_clamp(base_ms * power_whole(policy->factor, failures - 1));
    case CULEX_BACKOFF_STEPS:
        return delay_step(policy, failures);
    }
    return 0;
}

/* Uniform in [low, high] but for a bias below 2^-20, given that both are small enough. */
static int64_t pick(double low, double high, uint64_t random)
{
    double share = (double)(random >> 11) / (double)(UINT64_C(1) << 53);
    return delay_clamp(low + (high - low) * share);
}

static int64_t delay_jittered(const culex_retry_policy *policy, int64_t delay_ms, uint64_t random)
{
    double delay = (double)delay_ms;
    double ratio = policy->jitter_ratio;
    switch (policy->jitter) {
    case CULEX_JITTER_NONE:
        break;
    case CULEX_JITTER_FULL:
        return pick(0, delay, random);
    case CULEX_JITTER_EQUAL:
        return pick(delay / 2, delay, random);
    case CULEX_JITTER_RATIO:
        if (!(ratio > 0))
            break;
        if (ratio > 1)
            ratio = 1;
        return pick(delay * (1 - ratio), delay * (1 + ratio), random);
    }
    return delay_ms;
}

static int64_t delay_capped(const culex_retry_policy *policy, int64_t delay_ms)
{
    return policy->cap_ms > 0 && delay_ms > policy->cap_ms ? policy->cap_ms : delay_ms;
}

int64_t culex__backoff_delay_ms(const culex_retry_policy *policy, uint32_t failures,
                                uint64_t random)
{
    /* The cap comes before the jitter too: otherwise capped delays would bunch at the cap. */
    int64_t delay_ms = delay_capped(policy, delay_plain(policy, failures > 0 ? failures : 1));
    return delay_capped(policy, delay_jittered(policy, delay_ms, random));
}
