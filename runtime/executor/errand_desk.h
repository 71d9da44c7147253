/* executor/errand_desk.h - the supervisor's side of what one child asks of the store: an errand
 * comes in by parts, waits to be served, and its answer goes out by parts.
 *
 * One at a time: a new errand takes the place of one that the child has given up. */
#ifndef CULEX_EXECUTOR_ERRAND_DESK_H
#define CULEX_EXECUTOR_ERRAND_DESK_H

#include "child/child_message.h"
#include "handler/errand.h"

struct culex_errand_desk {
    uint32_t number; /* of the errand at hand */
    bool is_whole;   /* to be served */
    bool is_lost;    /* there was no memory for it: the child will give it up */
    culex_buf errand;
    culex_buf answer;
    size_t sent; /* of the answer */
};

/* Takes a part. NULL, or what is wrong with it. */
const char *culex__errand_desk_take(struct culex_errand_desk *desk,
                                    const struct culex_child_message *message);

/* Serves the errand, which must be whole. */
void culex__errand_desk_serve(struct culex_errand_desk *desk, culex_errand_serve serve, void *user);

static inline bool culex__errand_desk_has_answer(const struct culex_errand_desk *desk)
{
    return desk->sent < desk->answer.len;
}

/* Writes the next packet of the answer to `packet`, of CULEX_PACKET_MAX bytes, and returns its
 * length; it counts as sent once culex__errand_desk_sent says so. */
size_t culex__errand_desk_write(const struct culex_errand_desk *desk, char *packet);
void culex__errand_desk_sent(struct culex_errand_desk *desk, size_t packet_len);

/* Frees what it holds. */
void culex__errand_desk_clear(struct culex_errand_desk *desk);

#endif
