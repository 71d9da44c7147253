/* worker/beats.h - beats of runs in flight: into a step, and what its answers mean. */
#ifndef CULEX_WORKER_BEATS_H
#define CULEX_WORKER_BEATS_H

#include <culex/worker.h>

#include "base/limits.h"
#include "store/store.h"

struct culex_flight;
struct culex_lane;

/* A beat of the step as its run's flight will have it once it was granted. */
struct culex_sent_beat {
    struct culex_flight *flight;
    int64_t told_ns;       /* the run's deadline as the beat tells it */
    unsigned progress_tag; /* of the report that it carries */
    uint64_t lines_end;    /* of the log lines that it carries (handler/kept_lines.h), 0 for none */
};

/* Of one lane: those of its step. */
struct culex_beats {
    size_t count;
    struct culex_beat sent[CULEX_BATCH_MAX];
    struct culex_sent_beat marks[CULEX_BATCH_MAX]; /* of the same beats */
    size_t lines_first;                            /* the beat whose lines go in first next time */
    culex_buf texts; /* the reports that they carry, each with a NUL, and log lines */
};

/* Of a new lane, and at the end of a worker's life. */
void culex__beats_init(struct culex_lane *lane);
void culex__beats_free(struct culex_lane *lane);

/* Puts the beats that are due into the lane's next step. */
void culex__beats_add(struct culex_lane *lane, int64_t now_ns);

/* Renews the leases that were granted; loses and cancels the other runs. lines_left: as in
 * culex_step_reply; then the lines go again with later beats. */
void culex__beats_take(struct culex_lane *lane, const enum culex_answer *answers, bool lines_left);

#endif
