/* culex/workers.h - the workers of a store that are alive, seen and steered from any process.
 *
 * Each worker tells its store of itself every 2.5 s, at its start, and when it was given an order;
 * at its end it takes its entry away. Of one that was killed, and had no fixed name, another worker
 * of this user on the same machine that serves the store takes it away at once; else one that is
 * not heard of for 30 s is not listed any more. A worker that was started with `unlisted` is never
 * listed and takes no orders. Clients, threads and
 * errors are as in culex/client.h.
 */
#ifndef CULEX_WORKERS_H
#define CULEX_WORKERS_H

#include <culex/client.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CULEX_WORKER_CONCURRENCY_MAX = 1024 };

/* A queue that a worker serves. */
typedef struct culex_queue_served {
    const char *name;
    unsigned weight; /* 1 where none was given */
    unsigned most;   /* runs of it at a time; 0: no bound of its own */
} culex_queue_served;

/* A run that has been given to a handler. */
typedef struct culex_run_at_work {
    culex_uuid id;
    const char *job, *queue;
    int64_t since_ms; /* when it was claimed */
} culex_run_at_work;

/* Times are of the store's clock, ms since 1970. */
typedef struct culex_worker_info {
    const char *id;      /* of this life of the worker, for culex_client_worker_set */
    const char *name;    /* in the store and in the log */
    const char *host;    /* "" when it is not known */
    int64_t pid;         /* there */
    const char *version; /* of Culex, "0.1.0" */
    int64_t started_ms;
    int64_t told_ms;          /* when it was heard of last, or up to 10 s before that, where it has
                                 said the same since: all that stands here is as of then */
    const char *isolation;    /* "none", "process" or "job" */
    const char *offers;       /* all that it has of what jobs may need, free or not, "gpu:2,tape:1";
                                 "" for nothing */
    unsigned concurrency;     /* runs at a time, now */
    unsigned concurrency_max; /* as it was started: no order can give it more */
    bool is_quiet;            /* it claims nothing */
    bool is_stopping;         /* it claims nothing more, and ends */
    bool is_pending;          /* an order has not been taken up yet */
    int64_t memory_bytes;     /* resident memory of the worker; 0 when it is not known */
    int64_t children_bytes;   /* and of all its processes for handlers; pages that these share are
                                 counted in each */
    uint64_t done;            /* runs that ended so since it started */
    uint64_t failed;          /* attempts that failed or crashed */
    const culex_queue_served *queues; /* at most 64 of them are listed */
    size_t queue_count;
    size_t queues_total;
    const culex_run_at_work *runs; /* at work now; at most 64 of them are listed */
    size_t run_count;
    size_t runs_total;
} culex_worker_info;

/* Called for each worker; return false to stop. What it is shown is borrowed. */
typedef bool (*culex_worker_visitor)(const culex_worker_info *worker, void *user);

/* Visits the workers, by their names. */
CULEX_API CULEX_MUST_USE culex_status culex_client_workers(culex_client *client,
                                                           culex_worker_visitor visit, void *user,
                                                           culex_error *error);

typedef enum CULEX_INT_ENUM culex_switch {
    CULEX_SWITCH_KEEP, /* as it is */
    CULEX_SWITCH_ON,
    CULEX_SWITCH_OFF
} culex_switch;

/* An order to a worker. Zero in a member leaves that as it is. */
typedef struct culex_worker_order {
    culex_switch quiet; /* ON: it claims nothing more, and finishes what it has; OFF: it goes on */
    bool stop;          /* it ends as by SIGTERM: handlers have its grace to finish */
    unsigned concurrency; /* runs at a time, 1 to the worker's concurrency_max. Runs at work beyond
                             it end first */
} culex_worker_order;

/* Gives the order to worker `id` of culex_client_workers, or, for NULL, to all that are listed. A
 * worker takes it up within 2.5 s, and is listed with is_pending until then. Orders end with the
 * worker, and with its entry. *ret_count (may be NULL) says for how many workers it is, 0 on an
 * error. CULEX_ENOTFOUND when no worker `id` is listed; CULEX_EINVAL for an order of nothing, and
 * for a concurrency that is more than the worker's most. Of all workers, each does what it can. */
CULEX_API CULEX_MUST_USE culex_status culex_client_worker_set(culex_client *client, const char *id,
                                                              const culex_worker_order *order,
                                                              size_t *ret_count,
                                                              culex_error *error);

/* A function of another type for a callback is an error; see culex/typed.h. */
#ifdef CULEX_TYPED
#define culex_client_workers(...) CULEX_TYPED(culex_client_workers, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
