/* ops/command/frame.h - what `culex top` shows, as lines of text. */
#ifndef OPS_COMMAND_FRAME_H
#define OPS_COMMAND_FRAME_H

#include <culex/figures.h>
#include <culex/workers.h>

#include "command/survey.h"

/* A queue at a moment, and since the moment before. */
struct ops_top_queue {
    struct ops_queue_view view; /* name owned */
    culex_figures figures;
    uint64_t parked;
    double done_rate, failed_rate; /* a second; -1: there was no moment before */
};

struct ops_top_worker {
    char *name; /* owned: name and host */
    int64_t pid, memory_bytes;
    size_t at_work;
    unsigned concurrency;
    uint64_t done, failed;
    const char *state;
};

/* All that was read in one go. */
struct ops_top {
    struct ops_top_queue *queues; /* owned, as the next */
    size_t queue_count;
    struct ops_top_worker *workers;
    size_t worker_count;
    bool is_read;   /* else it is not known yet what there is */
    int64_t now_ms; /* of the store; 0: it has no queue, or nothing was read yet */
};

void ops_top_free(struct ops_top *top);

enum ops_top_order { OPS_TOP_BY_NAME, OPS_TOP_BY_WAITING, OPS_TOP_BY_AGE, OPS_TOP_BY_DEAD };

/* How it is looked at. */
struct ops_top_look {
    size_t width, height; /* of the screen; height 0: as many lines as there are */
    size_t first;         /* queue of the list */
    enum ops_top_order order;
    bool is_held;        /* the numbers stay as they are */
    int64_t late_ms;     /* since the store was asked, while it has not answered; 0: it has */
    const char *failure; /* of the last time it was asked; "" for none */
};

struct ops_frame {
    struct ops_frame_line {
        char *text; /* owned, at most `width` characters */
        bool is_head;
    } * of; /* owned */
    size_t count;
};

/* Sorts the queues of `top` by the look's order. */
struct ops_frame ops_frame_make(struct ops_top *top, const struct ops_top_look *look);
void ops_frame_free(struct ops_frame *frame);

#endif
