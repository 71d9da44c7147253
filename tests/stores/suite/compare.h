/* suite/compare.h - holds a store's replies and its whole content against the model's.
 *
 * Each check returns true, or prints what differs and returns false. */
#ifndef CULEX_SUITE_COMPARE_H
#define CULEX_SUITE_COMPARE_H

#include "model.h"

struct compare {
    struct culex_store *store;
    struct model *model;
    bool is_doubtful; /* the reply may be that of a repeat: the first one was lost */
    bool is_followed; /* the step has follow-ups, which the model is told of behind it */
    bool has_logs;    /* runs keep log lines, which are compared too */
};

/* Applies `step` to the model, granting what the store granted: checks that the answers
 * are equal, that every grant was allowed, that priority and order hold, and that neither
 * too many nor too few were given out. */
bool compare_step(struct compare *compare, const struct culex_step *step,
                  const struct culex_step_reply *reply);

/* Every run of `queue`, by LIST and GET, and STATS. The clock must stand still since a
 * step that claimed nothing. `page` runs are listed at a time. */
bool compare_queue(struct compare *compare, const char *queue, size_t page);

/* Prints the difference; always false. */
bool differs(const char *format, ...) CULEX_PRINTF(1, 2);

#endif
