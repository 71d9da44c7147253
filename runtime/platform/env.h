/* platform/env.h - clocks, randomness and network, in one table.
 *
 * They go through a struct culex_env, so that a test can put a seeded world under the shipped code.
 * culex__env_system() is the real one. Members are never NULL except where said. Implementations
 * keep their state behind `self`; the table itself is constant while a handle uses it.
 *
 * process_effects.h is the table of what isolation asks for; what else the system is asked for is
 * in ARCHITECTURE.md. */
#ifndef CULEX_PLATFORM_ENV_H
#define CULEX_PLATFORM_ENV_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <culex/error.h>

#include "platform/deadline.h"

/* Where to connect: a host and port, or a UNIX socket when `path` is not NULL. */
struct culex_address {
    const char *host;
    int port;
    const char *path;
};

/* What a worker tells others about the process that it is in. */
struct culex_process_facts {
    char host[65]; /* "" when unknown */
    pid_t pid;
    int64_t memory_bytes, descendants_bytes; /* resident; 0 when unknown */
};

struct culex_env {
    void *self;

    /* Wall clock, ms since 1970. Used by SQLite stores (they have no server) and log lines. */
    int64_t (*clock_ms)(void *self);

    /* Monotonic, ns, counts through suspend (CLOCK_BOOTTIME). For deadlines and waits. */
    int64_t (*boottime_ns)(void *self);

    /* Fills `len` bytes with unpredictable bits. Cannot fail. */
    void (*random)(void *self, void *ret_bytes, size_t len);

    void (*process_facts)(void *self, struct culex_process_facts *ret_facts);

    /* Opens a connected, close-on-exec stream socket before the deadline, which bounds looking up
     * the host's name too; when it moves, that is seen within 250 ms. Negative status with host and
     * reason in `error`, else 0 and *ret_fd. */
    culex_status (*connect)(void *self, const struct culex_address *address,
                            const struct culex_deadline *deadline, int *ret_fd, culex_error *error);

    /* As recv(2), but waits at most `timeout_ms` for the first byte (0: not at all) and then fails
     * with EAGAIN. One call that waits is quicker than poll(2) and another that reads. */
    ssize_t (*recv)(void *self, int fd, void *ret_bytes, size_t len, int timeout_ms);

    /* As send(2) without waiting or signal, poll(2), shutdown(2) of what we send, and close(2);
     * errno is set. */
    ssize_t (*send)(void *self, int fd, const void *bytes, size_t len);
    int (*poll)(void *self, struct pollfd *fds, nfds_t count, int timeout_ms);
    void (*hang_up)(void *self, int fd);
    void (*close)(void *self, int fd);

    /* NULL outside tests: then a Redis store uses the server's TIME. Otherwise the time, ms since
     * 1970, that every store operation takes as now. */
    int64_t (*store_clock_ms)(void *self);

    /* False outside tests. The process is none of this machine's: no file tells its neighbours that
     * it lives, and it looks for none of theirs. */
    bool is_simulated;
};

/* The real world. Threads may share it. */
const struct culex_env *culex__env_system(void);

static inline int64_t culex__env_clock_ms(const struct culex_env *env)
{
    return env->clock_ms(env->self);
}

static inline int64_t culex__env_boottime_ns(const struct culex_env *env)
{
    return env->boottime_ns(env->self);
}

static inline int64_t culex__env_boottime_ms(const struct culex_env *env)
{
    return env->boottime_ns(env->self) / 1000000;
}

static inline struct culex_process_facts culex__env_process_facts(const struct culex_env *env)
{
    struct culex_process_facts facts;
    env->process_facts(env->self, &facts);
    return facts;
}

/* 64 unpredictable bits. */
static inline uint64_t culex__env_random(const struct culex_env *env)
{
    uint64_t bits;
    env->random(env->self, &bits, sizeof bits);
    return bits;
}

#endif
