/* store/digest.h - what tells the repeat of an enqueue call from another call. */
#ifndef CULEX_STORE_DIGEST_H
#define CULEX_STORE_DIGEST_H

#include "store/store.h"

/* Of the runs' contents and idempotency keys, in their order; of nothing else, as a repeat computes
 * another delay. The same on every machine and in every version. */
uint64_t culex__runs_digest(const struct culex_new_run *runs, size_t count);

#endif
