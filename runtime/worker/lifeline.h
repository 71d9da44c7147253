/* worker/lifeline.h - a file by which workers on the same machine see that this one has died.
 *
 * A worker without a fixed name holds a lock on a file of its own, and so do its zygote and its
 * children, which inherit it: the kernel drops the lock when the last of them is gone, and with it
 * whatever a handler could still have done. The file says which entry of the registry is the
 * worker's, in which queues it lives, and under which name in each. A worker that ends by itself
 * takes its file away, so one that is there without a lock is of a dead worker: see neighbours.h.
 * No process id is trusted, and one that is stopped holds its lock.
 *
 * A worker with a fixed name has none: whoever is started anew in its place says HELLO itself, and
 * a neighbour that said so later would take the runs away from that one. */
#ifndef CULEX_WORKER_LIFELINE_H
#define CULEX_WORKER_LIFELINE_H

#include <culex/worker.h>

#include "platform/runtime_folder.h"

struct culex_lane;

enum {
    CULEX_LIFELINE_NAME_SIZE = 16 + 1 + 16 + 1, /* the store, in hex, a dash, and the worker */
    CULEX_LIFELINE_PATH_SIZE = CULEX_RUNTIME_FOLDER_SIZE + 1 + CULEX_LIFELINE_NAME_SIZE
};

struct culex_lifeline {
    char folder[CULEX_RUNTIME_FOLDER_SIZE]; /* "": there is none, or none is wanted */
    char store[16 + 1 + 1]; /* what the files of our store begin with; "" before it is known */
    char name[CULEX_LIFELINE_NAME_SIZE]; /* of our own file */
    int fd;                              /* with the lock; -1: no file */
    bool is_broken;                      /* it could not be written: it tells of no more queues */
};

/* Makes and locks the file. Before the executor is made, whose processes inherit it. Where that
 * cannot be, the log says so once, and leases do what they always did. */
void culex__lifeline_open(culex_worker *worker);

/* The store is known by now: notes the worker's entry in its registry, and gives the file its name,
 * by which others find it. */
void culex__lifeline_place(culex_worker *worker);

/* The worker is about to live in the lane's queue, under its present name. */
void culex__lifeline_note(const struct culex_lane *lane);

/* Takes the file away. */
void culex__lifeline_close(culex_worker *worker);

/* The path of a file in the folder. */
void culex__lifeline_path(const struct culex_lifeline *lifeline, const char *name,
                          char ret_path[CULEX_LIFELINE_PATH_SIZE]);

#endif
