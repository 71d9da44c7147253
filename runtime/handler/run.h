/* handler/run.h - one run on its way through an executor: struct culex_run, its memory, its texts.
 *
 * The supervisor fills it from a grant (worker/flight.h has what it keeps of it besides) and hands
 * it to an executor; one handler thread at a time runs it and fills `end`; the executor hands it
 * back, and the supervisor makes an ack of `end`. Only `is_cancelled`, `started_ns`, `lease_ns` and
 * `news` are shared while it runs. Buffers are kept from run to run, so that a steady worker
 * allocates nothing. calls.c has what a handler asks and says of its run. */
#ifndef CULEX_HANDLER_RUN_H
#define CULEX_HANDLER_RUN_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <culex/worker.h>

#include "base/limits.h"
#include "core/run.h"
#include "handler/news.h"
#include "handler/process_hooks.h"
#include "log/log.h"
#include "log/log_line.h"

enum {
    CULEX_FENCE_SIZE = 72, /* an id, an attempt of ten digits, a session of 16, hyphens, a NUL */
    CULEX_RUN_KEEP_BYTES = 64 * 1024 /* memory of payload, result, follow-ups and secrets above this
                                        is given back after the run */
};

struct culex_loan;
struct culex_follow_up;
struct culex_run_hooks;

/* A registered job. */
struct culex_job {
    const culex_job_type *type;
    culex_handler_call call; /* NULL: retired, its runs end dead */
    culex_handler_fn handler;
    void *user;
    const struct culex_run_hooks *hooks; /* NULL: the worker has none for its runs */
};

/* How this worker wants a run to be executed; a child gets this struct unchanged. */
struct culex_run_terms {
    int64_t store_timeout_ms; /* for calls of culex_run_client's client. A child is forked before
                                 the worker knows it, so each run brings it; 0: the executor's */
    char queue[CULEX_QUEUE_NAME_MAX + 1];
    char fence[CULEX_FENCE_SIZE]; /* the token of culex_run_fence */
    bool is_suspect;              /* it runs alone, in a child that has run nothing before */
};

/* How an execution ended. */
struct culex_execution_end {
    enum culex_run_event event; /* one that a worker may tell: run_rules.def */
    bool is_snoozed;            /* RELEASE at the handler's wish */
    bool is_not_understood;     /* RELEASE because the payload needs a newer schema */
    bool is_overtime;           /* CRASH by who watches over its lease, before it heard of more */
    int64_t delay_ms;           /* RELEASE */
    const char *text;           /* NULL, constant, or the run's text buffer */
    int64_t duration_ns;        /* of the handler */
    int64_t ended_ns;           /* boot time at which it came to its end; 0: not known */
};

/* How a run whose handler runs in another process reaches the supervisor. */
struct culex_run_port {
    bool (*is_cancelled)(const struct culex_run *run);
    void (*progress)(struct culex_run *run, const char *text);
    void (*extend)(struct culex_run *run, int64_t extend_ms);
    void (*keep_line)(struct culex_run *run, const char *line, size_t len);
};

struct culex_run {
    /* Set by the supervisor before the hand-over, constant until it comes back. */
    struct culex_job job;
    struct culex_run_facts facts;
    struct culex_run_terms terms;
    char *payload;
    size_t payload_len;
    size_t payload_cap;
    const struct culex_log *log;
    void *process;                     /* what the program's set-up returned here */
    struct culex_loan *loan;           /* the client for handlers */
    const struct culex_run_port *port; /* NULL: the supervisor is in this process */

    /* Shared while it runs. */
    atomic_bool is_cancelled;   /* supervisor sets, handler reads */
    _Atomic int64_t started_ns; /* boot time at which the handler began; 0 before */
    _Atomic int64_t lease_ns;   /* boot time at which the lease is over for us: not to be started
                                   then, and to be killed if that is possible; 0: not known */
    struct culex_run_news news;

    /* Filled by the handler's thread. */
    culex_arena *arena;              /* the thread's, while the handler runs */
    const struct culex_trace *trace; /* while it runs; NULL: of none */
    culex_buf secrets; /* of its params, then of its result (core/secret.h): in none of its texts */
    size_t params_secrets_len; /* how much of them is of the params */
    char *text;                /* CULEX_ERROR_TEXT_MAX + 1 bytes, NULL until needed */
    culex_buf result;
    bool has_result;
    culex_buf follow_ups;             /* follow_up.h; they count when it is done */
    struct culex_follow_up *followed; /* the same as the supervisor reads them, for the store */
    size_t followed_count;
    struct culex_execution_end end;

    /* The supervisor's, once it is back: log lines that go with its end to the store. */
    struct culex_kept_lines last_lines;

    struct culex_run *next; /* in a list: run_list.h */
    bool is_listed;
};

/* Returns owned, or NULL when out of memory. Of the second, `size` bytes are the caller's struct,
 * zeroed, whose first member is the run. */
struct culex_run *culex__run_create(void);
struct culex_run *culex__run_create_within(size_t size);

/* The struct around it too. Accepts NULL. */
void culex__run_free(struct culex_run *run);

/* Makes the payload `len` bytes that are still to be written; false when out of memory. */
bool culex__run_make_room(struct culex_run *run, size_t len);

/* Copies the payload; false when out of memory. */
bool culex__run_set_payload(struct culex_run *run, const void *payload, size_t len);

/* The struct is about to carry another run. */
void culex__run_forget_secrets(struct culex_run *run);
void culex__run_forget_follow_ups(struct culex_run *run);

/* Whether log lines of its handler are kept with it. */
static inline bool culex__run_keeps_lines(const struct culex_run *run)
{
    return run->job.type != NULL && run->job.type->keep_log > 0;
}

struct culex_log_subject culex__run_subject(const struct culex_run *run);

/* What is told of the run's end: the text that culex_run_fail stores, by its rules. No words, no
 * text: the end's stays NULL. */
void culex__run_set_text(struct culex_run *run, const char *format, ...) CULEX_PRINTF(2, 3);
void culex__run_set_text_list(struct culex_run *run, const char *format, va_list list);

/* What the handler says, without the run's secrets. Returns the length. */
size_t culex__run_words(const struct culex_run *run, char ret_text[CULEX_LOG_TEXT_MAX],
                        const char *format, va_list list);

#endif
