/* worker/unread.h - which runs of a lane this worker has given back because it cannot read them.
 *
 * A payload is never rewritten, so what could not be read stays unreadable for this life of the
 * worker; a drain need not wait for it. */
#ifndef CULEX_WORKER_UNREAD_H
#define CULEX_WORKER_UNREAD_H

#include <culex/types.h>

struct culex_lane;

/* Zeroed at first. */
struct culex_unread {
    culex_uuid *ids; /* in the order of their bytes */
    size_t count;
    size_t room;
};

/* A run was given back. Beyond some thousands, or without memory, it is not remembered: a drain
 * waits for it then. */
void culex__unread_note(struct culex_lane *lane, culex_uuid id);

bool culex__unread_has(const struct culex_lane *lane, culex_uuid id);

void culex__unread_free(struct culex_lane *lane);

#endif
