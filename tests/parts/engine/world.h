/* engine/world.h - a driven world for worker tests: clock, log, store with faults, executor.
 *
 * Time passes only when the worker waits: poll() looks at the descriptors, and when none is
 * ready the clock moves by the timeout. Handlers run inside collect() of the inline executor,
 * on the supervisor's thread. So a test of minutes takes milliseconds and always takes the same
 * course. The store is the shipped in-memory SQLite one behind a table that can fail calls. */
#ifndef CULEX_TESTS_WORLD_H
#define CULEX_TESTS_WORLD_H

#include "store/store.h"
#include "client/client_private.h"
#include "worker/worker_private.h"

enum { WORLD_LOG_SIZE = 1 << 20, WORLD_TRACE_MAX = 4096 };

/* What happens to the calls of the store from now on. */
enum world_fault {
    WORLD_OK,
    WORLD_REFUSE,     /* ECONNECT, nothing applied */
    WORLD_LOSE_REPLY, /* applied, then EUNKNOWN */
    WORLD_LOSE_TRY,   /* of ENQUEUE: EUNKNOWN, nothing applied */
    WORLD_TEAR        /* a step is applied, then ESTORE */
};

struct world_step {
    uint64_t nonce;
    uint32_t want;
    size_t ack_count;
    size_t beat_count;
    size_t grant_count;
    int64_t at_ms;
    enum world_fault fault;
};

/* Of a store that takes steps ahead, which base.sends_ahead says. */
struct world_ahead {
    size_t count;  /* so many were */
    size_t losses; /* the answers of so many to come are lost; they are carried out */
    bool is_out;   /* one is, and its answer was not asked for */
    uint64_t nonce;
    uint32_t want;
    int64_t sent_ns;
    culex_status status;
    culex_error error;
    struct culex_step_reply reply;
    /* As a store that was set back: the next answer, given while ends wait to be sent, grants one
     * of their runs anew in place of its first. */
    bool wants_twin;
    bool has_twin;
    culex_uuid twin;
    bool was_told;      /* the end of the older execution was sent with the step after it */
    size_t runs_most;   /* in flight, granted or asked for when a step was made, at most */
    bool was_worked_up; /* the grants of the answer before were in flight already */
    bool was_bold;      /* more were to start at once than there were free handlers */
};

/* What a handler that goes on for a while does when it is asked to stop. */
enum world_manner {
    WORLD_STUBBORN, /* only SIGKILL ends it */
    WORLD_MORTAL,   /* knows nothing of its flag; SIGTERM ends it */
    WORLD_OBEDIENT, /* returns what it would have, 100 ms after its flag */
    WORLD_POLITE,   /* so does this one, which heeds no SIGTERM meanwhile */
    WORLD_CRASHING, /* crashes by itself when its time is over */
    WORLD_OVERTIME  /* is killed then as at the end of a lease */
};

struct world {
    struct culex_store base; /* first: what the worker gets */
    struct culex_store *store;
    struct culex_env env;
    struct culex_env store_env; /* the same, with a randomness of its own: see world.c */
    uint64_t store_mask;        /* of that */
    int64_t now_ns;             /* boot time; the store's clock is the same plus START_MS */
    int64_t store_skew_ms;
    uint64_t seed;
    unsigned polls;
    enum world_fault fault;
    size_t line_bytes_max; /* of log lines that one step brought */
    unsigned lines_left;   /* so many steps to come that bring some keep none */
    unsigned fault_count;  /* calls left to fail; UINT_MAX for ever */
    const char
        *fault_queue; /* steps and purges of this queue only, and not the next so many; NULL: all */
    unsigned fault_skip;
    enum world_fault enqueue_fault;
    unsigned enqueue_fault_count;
    unsigned enqueue_skip;  /* so many to come are carried out before that */
    int64_t fault_until_ns; /* steps fail until then, 0 for not */
    /* HELLO to this queue fails so; NULL for none. */
    const char *hello_queue;
    culex_status hello_status;
    unsigned hello_losses;      /* so many HELLOs to come are carried out, and their answers lost */
    unsigned queue_looks;       /* names of all queues that were asked for, */
    culex_status queues_status; /* and what that fails with */
    unsigned enqueues;
    unsigned lists[CULEX_RUN_CANCELLED + 1]; /* pages that were asked for, by state */
    struct culex_ticket ticket;              /* of the newest one, of producer 0 when it had none */
    struct world_step steps[WORLD_TRACE_MAX];
    size_t step_count;
    int64_t sent_ns; /* when the newest one that was answered began */
    struct world_ahead ahead;
    bool has_no_wake;
    unsigned waits;           /* questions of WAIT, */
    unsigned wait_failures;   /* so many to come fail */
    culex_status wait_status; /* with this */
    bool is_full;             /* no wait can be noted */
    culex_uuid damaged;       /* this run's record cannot be read */
    enum culex_room room;     /* what the store says that it has */
    size_t payload_lens;      /* that grants claim to have, 0 for the truth */
    char log[WORLD_LOG_SIZE];
    size_t log_len;
    culex_client *client;
    culex_worker *worker;
    /* What handlers do and saw. */
    culex_outcome (*act)(struct world *world, culex_run *run, int64_t n);
    /* With the killing executor: set by act, the handler goes on for this long. */
    int64_t hang_ms;
    int64_t hang_us;       /* and for this */
    int64_t tell_ms;       /* its end reaches the worker so much later than it came */
    int64_t start_line_ms; /* the line that says that it has started waits so long to be written */
    int64_t said_ns;       /* what it says that it took, 0 for the truth */
    enum world_manner manner;
    void (*then)(struct world *world); /* called once, when the clock reaches then_ms */
    int64_t then_ms;
    /* Called once, while the first step from in_step_ms on waits for its answer, which is lost if
     * no call may wait for it any more. in_step_ms is then when that was. */
    void (*in_step)(struct world *world);
    int64_t in_step_ms;
    struct killing_executor *executor;
    bool has_no_hands;   /* its processes are yet to begin */
    int64_t stranded_ns; /* since when none can be started (boot time), 0: they can */
    bool is_broken;
    bool was_suspect;
    bool stop_when_ended;  /* stop the worker twice after the first such end */
    int64_t ended_ms;      /* when the last child came to its end */
    int64_t step_us;       /* each step takes so much longer than it does anyway */
    int64_t step_sleep_ms; /* once, between the answer of a step and the worker's reading it */
    int64_t extended_ms;   /* when a step carried an extension first */
    unsigned progress_count;
    char progress[CULEX_PROGRESS_MAX + 1]; /* the last one that a step carried */
    unsigned tick_failures; /* so many ticks to come fail, of no reason of their queue */
    unsigned tick_refusals; /* so many ticks to come find their unique key taken */
    unsigned calls;
    int64_t call_ms[256]; /* since the start */
    int64_t call_n[256];
};

#define WORLD_START_MS INT64_C(1795000000000)

struct number {
    int64_t n;
};

extern const culex_struct_type number_struct;

/* A job "t.number" of queue "numbers" with the default retry policy. */
culex_job_type number_type(void);

/* Everything but the worker. */
struct world *world_open(void);
void world_close(struct world *world);

/* A worker in the world, with the number job registered unless `type` is NULL. */
culex_worker *world_worker(struct world *world, culex_worker_options options,
                           const culex_job_type *type);

/* Runs and frees the worker. */
void world_run(struct world *world);

culex_uuid world_enqueue(struct world *world, const culex_job_type *type, int64_t n);

culex_run_info *world_get(struct world *world, culex_uuid id);
culex_run_state world_state(struct world *world, culex_uuid id);

bool world_log_has(const struct world *world, const char *text);
unsigned world_log_count(const struct world *world, const char *text);

/* Appends to world->log. */
void world_sink(void *self, const char *line, size_t len);

int64_t world_ms(const struct world *world); /* since the start */
void world_pass(struct world *world, int64_t ms);

/* Passes time up to `until_ns` (boot time), or to the first thing that happens on its own. */
void world_pass_until(struct world *world, int64_t until_ns);

culex_outcome number_call(culex_run *run, culex_handler_fn handler, const void *params, void *user);
void number_handler(void);

/* Handlers run in collect(), on the calling thread. */
culex_status executor_inline_create(const struct culex_executor_config *config,
                                    struct culex_executor **ret_executor, culex_error *error);

/* As the next, but nothing ends a handler: it gets its flag, as on a thread. */
culex_status executor_asking_create(const struct culex_executor_config *config,
                                    struct culex_executor **ret_executor, culex_error *error);

/* The same, but a handler may go on (world->hang_ms) while time passes, and be killed. Its
 * processes keep the times of executor.h on the world's clock, whatever the worker does. No more
 * handlers than the worker's concurrency go on at a time; what comes besides is queued. */
culex_status executor_killing_create(const struct culex_executor_config *config,
                                     struct culex_executor **ret_executor, culex_error *error);

#endif
