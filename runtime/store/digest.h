/* store/digest.h - what tells the repeat of a call from another call. The same on every machine
 * and in every version. */
#ifndef CULEX_STORE_DIGEST_H
#define CULEX_STORE_DIGEST_H

#include "store/store.h"

/* Of the runs' contents and idempotency keys, in their order; of nothing else, as a repeat computes
 * another delay. */
uint64_t culex__runs_digest(const struct culex_new_run *runs, size_t count);

/* Of a callback of a batch: its content, its queue, and what else each call may say of it. */
uint64_t culex__callback_digest(const struct culex_follow_up *call);

#endif
