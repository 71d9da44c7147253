/* client/wait_desk.h - where the threads of a client wait for ends of runs.
 *
 * The store wakes a client by one descriptor. One of the threads polls it, the leader; the others
 * sleep until somebody has taken a wake-up, or there is no leader any more. Who changes what the
 * descriptor stands for rings the leader's bell. A wake-up is taken by whoever looks into the store
 * next, in the client's turn, and then all look. */
#ifndef CULEX_CLIENT_WAIT_DESK_H
#define CULEX_CLIENT_WAIT_DESK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <culex/error.h>

struct culex_env;
struct culex_store;

struct culex_wait_desk {
    pthread_mutex_t lock; /* guards the next five */
    pthread_cond_t news;
    bool has_leader;
    uint64_t wakes; /* that were taken */
    int fd;         /* the store's; -1: it has none, or nothing is armed */
    int bell_fd;    /* -1: nobody has waited yet */

    /* In the client's turn. */
    char **queues; /* that were ever waited for: the store is armed for all of them */
    size_t queue_count;
    bool is_changed; /* there are more than it was armed for */
};

void culex__wait_desk_init(struct culex_wait_desk *desk);
/* `is_ours`: in the process that has opened the client. */
void culex__wait_desk_release(struct culex_wait_desk *desk, bool is_ours);

/* The bell, before the first wait. */
culex_status culex__wait_desk_open(struct culex_wait_desk *desk, culex_error *error);

/* In the client's turn: the store is to tell of this queue too. */
culex_status culex__wait_desk_add(struct culex_wait_desk *desk, const char *queue,
                                  culex_error *error);

/* In the client's turn, before the store is asked: takes a wake-up that has come, and arms the
 * store again. *ret_seen is how many were taken by then. */
culex_status culex__wait_desk_arm(struct culex_wait_desk *desk, struct culex_store *store,
                                  uint64_t *ret_seen, culex_error *error);

/* Outside of it: until another wake-up was taken than `seen`, one has come, or `timeout_ms` are
 * over. *is_leader is the thread's own, false at first; who leads does so until
 * culex__wait_desk_leave. */
void culex__wait_desk_sleep(struct culex_wait_desk *desk, const struct culex_env *env,
                            uint64_t seen, int64_t timeout_ms, bool *is_leader);
void culex__wait_desk_leave(struct culex_wait_desk *desk, bool is_leader);

#endif
