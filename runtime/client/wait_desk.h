/* client/wait_desk.h - where the threads of a client wait for ends of runs.
 *
 * The store wakes a client by one descriptor. One of the threads polls it, the leader; the others
 * sleep until somebody has taken a wake-up, or there is no leader any more. A wake-up is taken by
 * whoever looks into the store next, in the client's turn, and then all look. Who looks beside the
 * leader rings the leader's bell: its poll may stand at a descriptor that is closed by now, or from
 * which the news was just taken.
 *
 * A store may refuse to wake: to this user, or for queues of several slots of a cluster. Then the
 * desk arms nothing for a while, those who wait look once in that time, and it is said once. */
#ifndef CULEX_CLIENT_WAIT_DESK_H
#define CULEX_CLIENT_WAIT_DESK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <culex/error.h>

#include "log/log.h"

struct culex_env;
struct culex_store;

struct culex_wait_desk {
    pthread_mutex_t lock; /* guards the next six, and who changes the queues holds it */
    pthread_cond_t news;
    bool has_leader;
    uint64_t wakes;      /* that were taken */
    int fd;              /* the store's; -1: it has none, or nothing is armed */
    int bell_fd;         /* -1: nobody has waited yet */
    size_t *queue_waits; /* how many runs of each queue are waited for */

    /* In the client's turn. */
    char **queues; /* that are waited for, and some that were */
    size_t queue_count;
    bool is_changed; /* there are more than it was armed for */
    bool is_armed;   /* as far as is known */
    int64_t blind_until_ns;
    bool is_told;        /* that the store refuses */
    culex_error refusal; /* that is to be told; code CULEX_OK: none */
    struct culex_log log;
};

/* Borrows `env`. */
void culex__wait_desk_init(struct culex_wait_desk *desk, const struct culex_env *env);
/* `is_ours`: in the process that has opened the client. */
void culex__wait_desk_release(struct culex_wait_desk *desk, bool is_ours);

/* The bell, before the first wait. */
culex_status culex__wait_desk_open(struct culex_wait_desk *desk, culex_error *error);

/* In the client's turn: the store is to tell of a run of this queue too. CULEX_ELIMIT: the client
 * waits for runs of as many queues as it can. */
culex_status culex__wait_desk_join(struct culex_wait_desk *desk, const char *queue,
                                   culex_error *error);
/* At any time: it needs to tell of that one no more. */
void culex__wait_desk_part(struct culex_wait_desk *desk, const char *queue);

/* In the client's turn, before the store is asked: takes a wake-up that has come, and arms the
 * store again. *ret_seen is how many were taken by then. */
culex_status culex__wait_desk_arm(struct culex_wait_desk *desk, struct culex_store *store,
                                  bool is_leader, uint64_t *ret_seen, culex_error *error);

/* The same, once the store has answered: says that it refuses to wake, unless that was said. */
void culex__wait_desk_tell(struct culex_wait_desk *desk);

/* Outside of it: until another wake-up was taken than `seen`, one has come, or `timeout_ms` are
 * over. *is_leader is the thread's own, false at first; who leads does so until
 * culex__wait_desk_leave. */
void culex__wait_desk_sleep(struct culex_wait_desk *desk, const struct culex_env *env,
                            uint64_t seen, int64_t timeout_ms, bool *is_leader);
void culex__wait_desk_leave(struct culex_wait_desk *desk, bool is_leader);

#endif
