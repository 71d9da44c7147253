/* sim/world.h - one seed's world: its clock, its events, its processes and what they share.
 *
 * Everything that happens is an event at an instant of virtual time; the next one is taken when
 * the one before has been dealt with, and the clock stands at its instant meanwhile. One event
 * dealt with is one step. Processes (workers, producers, an operator) are coroutines that run
 * shipped code; whatever in struct culex_env waits gives the turn back to the world.
 *
 *   world.c    events, the seed's weather, the trace's hash
 *   process.c  coroutines and the clocks, waits and ends of processes
 *   net.c      virtual descriptors, the wire and its faults
 *   server.c   the virtual Redis behind the wire
 *   store.c    the shipped SQLite store behind a table that fails calls
 *   hands.c    the executor: handlers that take virtual time and end as the seed says
 *   cast.h     who is there: workers, producers, an operator, and what befalls them
 *   oracle.h   the history of every run, and what must never be in it */
#ifndef CULEX_SIM_WORLD_H
#define CULEX_SIM_WORLD_H

#include <stdio.h>
#include <ucontext.h>

#include "client/client_private.h"
#include "worker/worker_private.h"
#include "oracle.h"
#include "random.h"
#include "redis.h"
#include "sometimes.h"

#define SIM_START_MS INT64_C(1795000000000)
#define SIM_US       INT64_C(1000)
#define SIM_MS       INT64_C(1000000)
#define SIM_SECOND   INT64_C(1000000000)

enum {
    SIM_FD_FIRST = 1 << 20,
    SIM_FD_HANDS = 1 << 19,
    SIM_FD_WAKE = 1 << 18,
    SIM_STACK = 512 << 10
};

struct sim_world;
struct sim_process;

/* --- events -------------------------------------------------------------------------------- */

typedef void (*sim_event_fn)(struct sim_world *world, void *subject, uint64_t token,
                             struct sim_bytes *bytes);

struct sim_event {
    int64_t at_ns;
    uint64_t order;
    sim_event_fn run;
    void *subject;
    uint64_t token;
    struct sim_bytes bytes; /* freed after the run, which may take them over */
};

/* --- processes ----------------------------------------------------------------------------- */

struct sim_process {
    struct sim_world *world;
    char name[24];
    struct culex_env env; /* its self is this */
    struct sim_random random;
    ucontext_t context;
    char *stack;
    void (*body)(struct sim_process *process);
    bool is_done, is_killed, is_waiting;
    uint64_t wait_token;
    int64_t paused_until_ns;
    int64_t clock_off_ms;       /* of its clock, to that of the store */
    int64_t drift_ns;           /* a killed process hurries through its own time to its end */
    uint64_t last_calls, spins; /* polls that did not wait, at one instant */
    int64_t spun_ns;
    culex_worker *worker;
    struct sim_hands *hands;
    int64_t units; /* that the worker offers */
    int stops_pending;
    bool is_ended_well; /* the worker's loop came to its own end */
    bool is_woken;      /* SQLite: something was enqueued since it armed */
    bool is_armed;
    bool is_waiting_for_ends; /* SQLite: armed for ends of runs */
    int role;
    struct sim_process *next;
};

/* --- the wire ------------------------------------------------------------------------------ */

struct sim_conn {
    int fd;
    struct sim_process *process;
    bool is_open;              /* at the client's end */
    bool is_served;            /* at the server's end */
    bool is_reset;             /* the client gets ECONNRESET */
    bool has_end;              /* the client gets the end after what came in */
    bool is_broken;            /* what the client sends from now on is lost */
    bool is_silent;            /* nothing goes through any more, in either direction */
    int64_t up_ns, down_ns;    /* when the last bytes under way arrive: order is kept */
    struct sim_bytes received; /* by the client */
    struct sim_bytes asked;    /* by the server, incomplete request */
    struct sim_bytes blocked;  /* a BLPOP that waits, as sent */
    uint64_t block_token;
    struct sim_conn *next_blocked;
};

/* Chances in a thousand, per message or decision. */
struct sim_weather {
    int refuse, cut_request, lose_request, cut_reply, cut_midway, drip, delay, silence, short_send;
    int store_busy, store_full, store_broken, store_unknown; /* SQLite */
};

struct sim_server {
    struct sim_redis redis;
    struct sim_dict snapshot; /* empty before the first one */
    bool is_down;
    int64_t down_until_ns, mode_until_ns;
    struct sim_conn *blocked_first, *blocked_last;
};

/* The limit of runs at work that some runs of alpha have; its keys are "a" and the next. */
#define SIM_LIMIT "sim:slots"

/* What some runs need of a worker, one unit or two; some workers offer so many, some none. */
#define SIM_NEEDS "needs gpu"
enum { SIM_LIMIT_KEYS = 2 };

struct sim_slots {
    int64_t at_work[SIM_LIMIT_KEYS];
};

struct sim_options {
    uint64_t seed;
    uint64_t steps; /* before everything is healed */
    size_t workers; /* 0: a few */
    bool is_sqlite;
    bool is_loud; /* log lines and the whole history to stderr */
};

/* Whether only so many dead ones are kept. */
enum sim_bounded { SIM_NEVER_BOUNDED, SIM_NO_MORE_BOUNDED, SIM_MAYBE_BOUNDED, SIM_BOUNDED };

struct sim_world {
    struct sim_options options;
    struct sim_random random;
    int64_t now_ns;                   /* boot time of everybody */
    int64_t skew_ms;                  /* the store's clock against it */
    enum sim_bounded dead_bounded[2]; /* of alpha and beta, by an operator */
    struct sim_slots slots;           /* by the last look */
    int64_t skew_most_ms;             /* the furthest that the clock was ahead */
    uint64_t steps, hash, order;
    int64_t still_since_ns;
    uint64_t still_steps;
    struct sim_event *heap;
    size_t event_count, event_cap;
    ucontext_t main;
    struct sim_process *processes, *current;
    struct sim_conn **conns;
    size_t conn_count, conn_cap;
    struct sim_weather weather, calm;
    struct sim_server server;
    struct sim_store *store;
    struct sim_oracle *oracle;
    struct sim_cast *cast;
    bool is_healing;
    bool may_roll_back; /* the server may come back from an old snapshot, or from none */
    bool is_murderous;  /* workers die so fast that runs die of it */
    uint64_t faults, kills;
    uint64_t check_at;
};

struct sim_world *sim_world_create(const struct sim_options *options, struct sim_scripts *scripts);
void sim_world_run(struct sim_world *world);
void sim_world_free(struct sim_world *world);

/* `bytes` may be NULL; else they are taken over. */
void sim_at(struct sim_world *world, int64_t at_ns, sim_event_fn run, void *subject, uint64_t token,
            struct sim_bytes *bytes);
void sim_after(struct sim_world *world, int64_t delay_ns, sim_event_fn run, void *subject,
               uint64_t token);
void sim_hash_add(struct sim_world *world, const void *data, size_t len);

/* Says what happened to the world; shown when the world is loud, and hashed. */
void sim_note(struct sim_world *world, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline int64_t sim_store_ms(const struct sim_world *world)
{
    return SIM_START_MS + world->now_ns / SIM_MS + world->skew_ms;
}

/* --- process.c ----------------------------------------------------------------------------- */

struct sim_process *sim_process_start(struct sim_world *world, const char *name,
                                      void (*body)(struct sim_process *process));
void sim_process_free(struct sim_process *process);

/* From an event: lets a waiting process look again. */
void sim_process_poke(struct sim_process *process);
void sim_process_kill(struct sim_process *process);
void sim_process_pause(struct sim_process *process, int64_t for_ns);
void sim_process_stop(struct sim_process *process); /* SIGTERM */

/* From within the process: gives the turn away until poked or until `timeout_ns` (negative:
 * for ever) have passed. */
void sim_process_wait(struct sim_process *process, int64_t timeout_ns);
static inline void sim_sleep(struct sim_process *process, int64_t ns)
{
    int64_t until_ns = process->world->now_ns + process->drift_ns + ns;
    while (process->world->now_ns + process->drift_ns < until_ns)
        sim_process_wait(process, until_ns - process->world->now_ns - process->drift_ns);
}

static inline bool sim_process_is_paused(const struct sim_process *process)
{
    return process->world->now_ns < process->paused_until_ns;
}

/* --- net.c and server.c -------------------------------------------------------------------- */

culex_status sim_connect(void *self, const struct culex_address *address,
                         const struct culex_deadline *deadline, int *ret_fd, culex_error *error);
ssize_t sim_recv(void *self, int fd, void *ret_bytes, size_t len, int timeout_ms);
ssize_t sim_send(void *self, int fd, const void *bytes, size_t len);
void sim_hang_up(void *self, int fd);
void sim_close(void *self, int fd);
short sim_conn_events(struct sim_world *world, int fd, short wanted);
void sim_conn_reset(struct sim_conn *conn);
void sim_conn_free(struct sim_conn *conn);
void sim_reply_send(struct sim_world *world, struct sim_conn *conn, const char *data, size_t len);

void sim_server_init(struct sim_world *world, struct sim_scripts *scripts);
void sim_server_take(struct sim_world *world, struct sim_conn *conn, const struct sim_bytes *bytes);
void sim_server_forget(struct sim_world *world, struct sim_conn *conn);
void sim_server_restart(struct sim_world *world, bool is_rolled_back, int64_t down_ns,
                        int64_t loading_ns);
void sim_server_release(struct sim_world *world);

/* --- hands.c ------------------------------------------------------------------------------- */

culex_status sim_hands_create(const struct culex_executor_config *config,
                              struct culex_executor **ret_executor, culex_error *error);
bool sim_hands_are_full(const struct sim_hands *hands);
/* From now on every handler comes back soon, and well. */
void sim_hands_heal(struct sim_hands *hands);

/* --- store.c ------------------------------------------------------------------------------- */

void sim_store_init(struct sim_world *world);
void sim_store_release(struct sim_world *world);
culex_status sim_store_open(struct sim_process *process, int64_t timeout_ms,
                            struct culex_store **ret_store, culex_error *error);
void sim_store_check(struct sim_world *world);
void sim_store_heal(struct sim_world *world);

/* --- slots.c ------------------------------------------------------------------------------- */

/* How many units a run with these limits needs. */
int64_t sim_units_of(const char *limits, size_t len);
/* Counts a run at work that has these limits, as a store writes them: NAME=KEY;NAME=KEY. */
void sim_slots_count(struct sim_slots *slots, const char *limits, size_t len);
/* Behind each call: those that are at work now, where `room` may be. */
void sim_slots_check(struct sim_world *world, const struct sim_slots *slots, int64_t room);
/* The store is an earlier one again: nobody knows how many are at work. */
void sim_slots_forget(struct sim_world *world);

/* --- check.c ------------------------------------------------------------------------------- */

/* The raw keys of every queue: indexes, payloads, unique keys, ghosts (I1, I2, I3, I9, I10). */
void sim_check_keys(struct sim_world *world);

/* --- cast.c -------------------------------------------------------------------------------- */

void sim_cast_init(struct sim_world *world);
/* From now on nothing befalls anybody. */
void sim_cast_heal(struct sim_world *world);
/* Behind that: a worker comes that can do everything, so that all can end. */
void sim_cast_help(struct sim_world *world);
/* Some worker lives. */
bool sim_cast_has_workers(const struct sim_world *world);
/* A run takes the worker along that executes it. */
void sim_cast_poison(struct sim_world *world, const struct sim_process *process);
bool sim_cast_is_quiet(const struct sim_world *world);
void sim_cast_end(struct sim_world *world);
bool sim_cast_is_over(const struct sim_world *world);
void sim_cast_check(const struct sim_world *world);
void sim_cast_release(struct sim_world *world);

/* For calls of which some fail in a world of faults: the oracle judges by what the store holds. */
static inline void sim_may_fail(culex_status status)
{
    (void)status;
}

#endif
