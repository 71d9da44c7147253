/* ops/command/survey.h - what is in the queues at a moment, for `check` and `top`. */
#ifndef OPS_COMMAND_SURVEY_H
#define OPS_COMMAND_SURVEY_H

#include <culex/workers.h>

#include "command/command.h"

struct ops_queue_view {
    char *name;          /* owned */
    char *wrong;         /* owned: why nothing can be told of a queue that was named; else NULL */
    culex_status status; /* what that is */
    culex_queue_stats stats;
    int64_t age_ms; /* of the oldest run that waits: since it was due, or, without a date, since its
                       enqueue; -1: none. Of one that was begun before and has no date nothing is
                       known, and one with limits may have no date any more */
    size_t workers; /* alive, and serving it: neither quiet nor stopping */
};

struct ops_survey {
    struct ops_queue_view *of; /* owned */
    size_t count;
    size_t workers; /* alive, whatever they serve */
    uint64_t at_work;
};

/* Of the named queues, or of all for none. One that is named and is not there, or is not for this
 * user, has `wrong`. Of each some `looked_max` waiting runs are looked at for the oldest, those
 * that are claimed first. Free it with ops_survey_free in any case. */
culex_status ops_survey_read(struct ops *ops, const char *const *names, size_t count,
                             size_t looked_max, struct ops_survey *ret_survey, culex_error *error);
void ops_survey_free(struct ops_survey *survey);
/* Whether it has the queue, as far as it tells which ones it has: it lists not more than 64. */
bool ops_worker_is_serving(const culex_worker_info *worker, const char *queue);
void ops_view_free(struct ops_queue_view *view);

#endif
