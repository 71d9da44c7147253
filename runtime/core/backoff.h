/* core/backoff.h - how long a failed run waits before it is tried again.
 *
 * Pure arithmetic: no clock, no allocation. The caller supplies the random bits, so the same
 * seed replays the same delays. */
#ifndef CULEX_CORE_BACKOFF_H
#define CULEX_CORE_BACKOFF_H

#include <culex/job.h>

#include "base/limits.h"

/* No delay is longer. */
#define CULEX_BACKOFF_MAX_MS CULEX_DELAY_MAX_MS

/* Delay in ms after the `failures`-th failure (counted from 1; 0 counts as 1), jitter and
 * cap applied, in 0..CULEX_BACKOFF_MAX_MS. Nonsense in the policy (negative or non-finite
 * numbers, no steps) yields 0 or the longest delay, never undefined behaviour. */
int64_t culex__backoff_delay_ms(const culex_retry_policy *policy, uint32_t failures,
                                uint64_t random);

#endif
