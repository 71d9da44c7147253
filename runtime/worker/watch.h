/* worker/watch.h - what there is in the worker's queues, for its metrics.
 *
 * One queue after the other is asked for, each every 5 s, or more rarely where there are many: no
 * more than five queues a second. A scrape asks nobody: it reads what was told last. While nobody
 * has scraped for some minutes nothing is asked. */
#ifndef CULEX_WORKER_WATCH_H
#define CULEX_WORKER_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include <culex/worker.h>

#include "base/notice.h"

struct culex_watch {
    size_t next;    /* lane */
    int64_t due_ns; /* of the next call */
    struct culex_notice notice;
};

void culex__watch_reset(culex_worker *worker);

/* Boot time of the next call. */
int64_t culex__watch_next_ns(const culex_worker *worker);

void culex__watch_turn(culex_worker *worker, int64_t now_ns);

#endif
