/* worker/worker_private.h - inside a worker: its loop, its lanes, its flights.
 *
 * The worker's loop runs on one thread, the supervisor, and never runs user code. A lane is
 * one queue with what the worker has there: a step to send, runs in flight, results to
 * send. A run is claimed by a step (then it is in flight, and most of that time in the
 * executor), ends, waits in the lane's list of ends, and is recycled when the store has answered.
 *
 * Each file may call those below it, never one above:
 *
 *   worker.c       life, registration                 loop.c   the loop
 *   reload.c       options that are read again
 *   worker_options.c  its options, checked and completed
 *   waits.c        the next instant at which something is due, and the wait for it
 *   setup.c        what the loop needs before and gives back after
 *   opening.c      how it reaches its store
 *   metrics_server.c  where it tells its metrics
 *   strange_queues.c  queues that do not exist
 *   presence.c     its entry in the store's registry
 *   manager.c      what the service manager is told
 *   phases.c       how it comes to its end            drain.c  what keeps a drain from it
 *   neighbours.c   who has died beside it
 *   discovery.c    queues that patterns find          lanes.c  makes and frees the lanes
 *   wake.c         what the store was asked to tell
 *   beacon.c       the descriptor that its program may wait for
 *   lane.c         STEP: what to send, what the answers mean
 *   grants.c       runs that were granted             beats.c  runs that go on
 *   flight.c       runs in flight: leases, timeouts, ends
 *   verdict.c      what the store is told of an end   acks.c   how it is told
 *   ack_log.c      what the log is told then         on_death.c     and a command
 *   spans.c        and who follows traces            span_text.c    as text
 *   collector.c    over the network
 *   flight_pool.c  their structs                      roster.c   which of them has which run
 *   overstay.c     handlers that go on
 *   solitude.c     a suspect runs alone              greeting.c     HELLO, and a queue's refusal
 *   tick.c         periodic jobs                     figures.c      what is counted of runs
 *   schemas.c      what is told of its jobs' schemas
 *   watch.c        what is in the queues, for metrics
 *   outage.c       trouble with the store            identity.c     as whom it appears there
 *   lifeline.c     how neighbours see its death
 *   repair.c       FSCK of a queue after trouble
 *   order.c        which lane is next
 *   queue_options.c  what is said of a queue beside the list
 *   units.c        what it offers, and how much of that is free
 *   outlook.c      when a lane asks for runs          appetite.c     and for how many
 *   share.c        of how many at a time
 *   pace.c         how the runs in flight come along
 *   metrics.c      what is counted for metrics       metrics_text.c  as text
 *   crew.c         where its handlers run            worker_errands.c  what they ask of its store
 *   jobs.c         what is registered
 *   unknown_jobs.c  what has no handler here          tally.c  how its runs ended
 *   unread.c       what cannot be read here
 *
 * A file whose header declares a struct that a worker, a lane or a flight holds is the only one to
 * write it (tests/tools/check_groups.py). Each file says itself at which instant it has something
 * to do, by a function whose name ends in _next_ns.
 *
 * Times named _ns are boot time; INT64_MAX is never. */
#ifndef CULEX_WORKER_WORKER_PRIVATE_H
#define CULEX_WORKER_WORKER_PRIVATE_H

#include <culex/worker.h>

#include "store/store.h"
#include "base/instant.h"
#include "base/limits.h"
#include "executor/executor.h"
#include "handler/run_hooks.h"
#include "platform/storeclock.h"
#include "settings/storesettings.h"
#include "platform/path.h"
#include "worker/beacon.h"
#include "worker/crew.h"
#include "worker/discovery.h"
#include "worker/drain.h"
#include "worker/flight.h"
#include "worker/identity.h"
#include "worker/lane.h"
#include "worker/lifeline.h"
#include "worker/manager.h"
#include "worker/metrics.h"
#include "worker/metrics_server.h"
#include "worker/neighbours.h"
#include "worker/on_death.h"
#include "worker/opening.h"
#include "worker/order.h"
#include "worker/outage.h"
#include "worker/pace.h"
#include "worker/phases.h"
#include "worker/presence.h"
#include "worker/reload.h"
#include "worker/solitude.h"
#include "worker/spans.h"
#include "worker/tally.h"
#include "worker/tick.h"
#include "worker/units.h"
#include "worker/unknown_jobs.h"
#include "worker/wake.h"
#include "worker/watch.h"

/* Who has the worker in hand. */
enum culex_life {
    CULEX_LIFE_NONE,    /* nobody: it does not run */
    CULEX_LIFE_STARTED, /* its program, between two calls of culex_worker_process */
    CULEX_LIFE_BUSY     /* a call that has not come back */
};

typedef culex_status (*culex_executor_make)(const struct culex_executor_config *config,
                                            struct culex_executor **ret_executor,
                                            culex_error *error);

struct culex_worker {
    /* Constant while running. */
    pid_t owner; /* the process that created it */
    culex_worker_options
        options; /* defaults filled in, except those that the store's URL may still set */
    const struct culex_env *env;
    struct culex_log log;
    culex_executor_make executor_make; /* of a test; NULL: as options.isolation says */
    bool is_private;                   /* nobody may look into this process */
    bool is_unscheduled;               /* of a test: periodic jobs do not tick */
    bool is_telling;                 /* of a test: a store that is given is told of schemas, too */
    bool is_lent;                    /* of a kit, which alone runs and frees it */
    culex_error setup_error;         /* why a job was not registered, or a setup gave up */
    struct culex_store *given_store; /* of a test; not closed */
    struct culex_identity identity;
    struct culex_job *jobs;
    size_t job_count;
    const culex_chain **chains;
    size_t chain_count;
    struct culex_process_hooks hooks;
    struct culex_run_hooks run_hooks;
    struct culex_enqueue_gate gate; /* of what handlers enqueue */
    struct culex_keys *own_keys;    /* read at the begin; NULL: none */
    const struct culex_keys *keys;  /* these, or those of a test kit */
    bool has_given_keys;            /* a test kit's */
    int64_t setup_ms;               /* the longest that hooks.open may take in a process */
    struct culex_lane *lanes;
    const char **lane_names;
    const char **awaited_names; /* room for as many, and for what each job needs */
    size_t lane_count;
    size_t lane_room;               /* for those that patterns will find, too */
    struct culex_queue_item *items; /* the list in the options */
    size_t item_count;
    int stop_fd;    /* each stop adds 1 */
    bool has_lived; /* a stop that has come since had nothing to stop */
    struct culex_reload reload;
    struct culex_manager manager;
    atomic_int_fast64_t grace_ms; /* as in the options, until it changes; read by whoever stops */
    /* Boot time; no call to the store goes on after it. 0 until somebody asks to stop, who sets it
     * at once, maybe in a signal's handler: a call under way must not outlast the phase. */
    atomic_int_fast64_t until_ns;
    atomic_int life;       /* enum culex_life */
    atomic_bool has_store; /* before it has one, a stop ends the attempt to reach it at once */

    /* The supervisor's. */
    char *url;                                  /* with its password; wiped at the end */
    struct culex_store_settings store_settings; /* once the URL is known */
    char folder[CULEX__PATH_SIZE]; /* where the process was at the start: relative paths count from
                                      it */
    struct culex_store *store;
    struct culex_opening opening;
    struct culex_beacon beacon;
    struct culex_store *lent_store; /* of handler threads, under their client's turn */
    atomic_bool is_fed;             /* a handler has enqueued: any lane may have a run */
    struct culex_crew crew;
    struct culex_storeclock clock;
    int64_t jump_logged_ns; /* newest line about a jump of the store's clock; 0: none */
    struct culex_phases phases;
    struct culex_outage outage;
    struct culex_shortage shortage;
    culex_error refusal; /* worker/greeting.h: a queue refuses for good; CULEX_OK: none does */
    struct culex_run_list pool; /* worker/flight_pool.h */
    struct culex_flight *asked; /* worker/overstay.h */

    size_t flight_count; /* all lanes */
    struct culex_solitude solitude;
    struct culex_pace pace;
    uint64_t nonce; /* worker/lane.h: of the next step */
    struct culex_lane_order lane_order;
    struct culex_discovery discovery;
    struct culex_wake wake;
    struct culex_units units;
    struct culex_lifeline lifeline;
    struct culex_neighbours neighbours;
    struct culex_presence presence;
    struct culex_tick_state *ticks;
    size_t tick_count;
    struct culex_tally tally;
    struct culex_metrics *metrics; /* NULL: nobody asks for any */
    struct culex_metrics_server metrics_server;
    struct culex_watch watch;
    struct culex_on_death *on_death; /* NULL: no command */
    struct culex_spans *spans;       /* NULL: nobody follows traces */
    struct culex_unknown_jobs unknown_jobs;
    struct culex_drain drain;
};

/* Sets what a test replaces; NULL members of the arguments keep the real thing. */
void culex__worker_set_env(culex_worker *worker, const struct culex_env *env);
void culex__worker_set_keys(culex_worker *worker, const struct culex_keys *keys);
void culex__worker_set_store(culex_worker *worker, struct culex_store *store);
void culex__worker_set_executor(culex_worker *worker, culex_executor_make make);
void culex__worker_set_unscheduled(culex_worker *worker);
void culex__worker_set_telling(culex_worker *worker);
void culex__worker_set_lent(culex_worker *worker);

/* As culex_worker_free, of one that is lent too. */
void culex__worker_free(culex_worker *worker);

/* Keeps other processes of this user, debuggers and core dumps out of this process as soon as its
 * executor has been made. */
void culex__worker_set_private(culex_worker *worker);
void culex__worker_set_sink(culex_worker *worker, struct culex_log_sink sink);

static inline int64_t culex__worker_now_ns(const culex_worker *worker)
{
    return culex__env_boottime_ns(worker->env);
}

static inline struct culex_tracing culex__worker_tracing(const culex_worker *worker)
{
    return (struct culex_tracing){worker->options.traces != NULL, worker->options.trace_all};
}

/* Between two beats of a run: well within its lease, and a second at most, for they carry its
 * progress there and the wish to cancel it back. */
static inline int64_t culex__worker_beat_pause_ns(const culex_worker *worker)
{
    int64_t third_ms = worker->options.lease_ms / 3;
    return (third_ms < 1000 ? third_ms : 1000) * CULEX_MS_NS;
}

#endif
