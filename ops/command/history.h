/* ops/command/history.h - what has become of a run, as the events that its queue keeps tell. */
#ifndef OPS_COMMAND_HISTORY_H
#define OPS_COMMAND_HISTORY_H

#include <culex/events.h>

#include "command/find.h"

struct ops_history {
    struct ops_moment {
        culex_events_kind kind;
        uint32_t attempt; /* 0 before the first */
        int64_t at_ms;    /* by the store's clock */
    } * of;               /* owned; the oldest first */
    size_t count;
    bool is_whole; /* it begins with the run's enqueue */
    uint64_t kept; /* events that the queue keeps; 0: there is no history */
};

/* Looks through all events of the queue. To be freed by ops_history_free, in any case. */
culex_status ops_history_read(struct ops *ops, const struct ops_run *run,
                              struct ops_history *ret_history, culex_error *error);
void ops_history_free(struct ops_history *history);

#endif
