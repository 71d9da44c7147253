/* culex/worker.h - run jobs: handlers, the worker, and a whole program in one call.
 */
#ifndef CULEX_WORKER_H
#define CULEX_WORKER_H

#include <culex/client.h>
#include <culex/codec.h>
#include <culex/error.h>
#include <culex/job.h>
#include <culex/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One execution of one run, lent to the handler while it runs, and to its threads. In a process
 * that the handler forks, facts and culex_log work as usual, culex_run_cancelled is false,
 * culex_run_client is NULL, and every other call about the run has no effect on the worker: the
 * handler itself has to ask, to report and to end its processes. */
typedef struct culex_run culex_run;

/* What a handler returns. Snooze, fail and discard with details go through
 * culex_run_fail, culex_run_discard and culex_run_snooze, which return these. */
typedef enum CULEX_INT_ENUM culex_outcome {
    CULEX_DONE = 0,      /* success */
    CULEX_FAILED = 1,    /* try again as the retry policy says, or dead when none is left */
    CULEX_DISCARDED = 2, /* dead at once: trying again is pointless */
    CULEX_SNOOZED = 3    /* later, without charging an attempt; bare: in a second */
} culex_outcome;

/* Facts of the run. Texts live as long as the handler runs. The attempt is how often a worker was
 * given the run: not 1 when it is executed for the first time after one died, or gave it back,
 * before it began. */
CULEX_API culex_uuid culex_run_id(const culex_run *run);
CULEX_API uint32_t culex_run_attempt(const culex_run *run);  /* counted from 1 */
CULEX_API uint32_t culex_run_failures(const culex_run *run); /* before this attempt */
CULEX_API const char *culex_run_job(const culex_run *run);   /* qualified name */
CULEX_API const char *culex_run_queue(const culex_run *run);
CULEX_API culex_time culex_run_enqueued_at(const culex_run *run);

/* True once the handler should stop: the run was cancelled, its timeout is over, its lease is
 * nearly over, or the worker's grace period has ended. Cheap; ask in every long loop. A handler in
 * a process of its own that goes on gets SIGTERM after 1 s (timeout), 5 s (cancellation) or at
 * once (lease, stop), and SIGKILL 1 or 2 s later.
 *
 * What to return then: CULEX_DONE if everything is done after all, else culex_run_fail. Such a
 * failure is charged only where the run is its reason: past its timeout it has failed, a cancelled
 * run ends as cancelled, and at the end of a worker's grace period or of a lease the run is given
 * back, uncharged, to be tried again. Discarding is a decision about the run, and stands. So does
 * snoozing, but a cancelled run that snoozes ends as cancelled. */
CULEX_API bool culex_run_cancelled(const culex_run *run);

/* Asks for `duration` from now on before the timeout strikes, also when that is later than the
 * schema's timeout; it never shortens. Without a timeout it does nothing. From 1 ns to 99 us, where
 * culex_seconds(n) was surely meant, it only writes a log line. Repeat the call as work goes
 * on. A timeout counts from the run's start. A run that has not started when as much time is over
 * since the worker asked for it is given back. */
CULEX_API void culex_run_extend(culex_run *run, culex_duration duration);

/* In the texts of a handler, those of culex_run_progress, culex_run_fail, culex_run_discard,
 * culex_log and culex_run_log, "[secret]" replaces whole values of the run's [[secret]] params of 4
 * bytes or more: strings and bytes as they are, and every kind but bool and char as it stands in
 * the payload. Parts of a value and other spellings of it are not recognised. Where the format
 * function of a type of your own has no text for such a param, "[secret]" replaces the whole text.
 * What the store keeps of them has '?' for control characters other than line ends and tabs, and
 * all else as it is, also what nobody sees or what turns the direction of a text (U+202E): whoever
 * shows it on a terminal or a page escapes it, as the worker's log does. */

/* Tells how far the run is: percent (0..100, or -1 for unknown) and a short text (printf rules, cut
 * at 250 bytes, made valid UTF-8). The store learns it within about a second, and with the run's
 * end, however that comes, the last report of all. culex_client_get shows it. */
CULEX_API void culex_run_progress(culex_run *run, int percent, const char *format, ...)
    CULEX_PRINTF(3, 4);

/* "ID-ATTEMPT-SESSION", in 64 bytes: the run, its attempt in ten digits, and the session of the
 * worker that it was granted to. No two executions share one, unless a store was set back to an
 * older state, as by a backup or a failover, and granted an attempt again to the same session.
 * Within one run the text of a later attempt is greater (strcmp): hand it to systems that keep, for
 * each run, the newest holder and refuse older ones. Between runs the order means nothing.
 * Valid while the run is. */
CULEX_API const char *culex_run_fence(const culex_run *run);

/* The trace that the run is of, as options->traceparent of an enqueue, for the calls that the
 * handler makes elsewhere; "" when it is of none. Its parent-id is the span of this attempt where
 * the worker writes one (`traces` of its options), and else that of whoever enqueued the run. What
 * the handler enqueues on its own thread has it already. Valid while the handler runs. */
CULEX_API const char *culex_run_traceparent(const culex_run *run);

/* What came beside it as options->tracestate, "" for nothing. */
CULEX_API const char *culex_run_tracestate(const culex_run *run);

/* Stores the error text (printf rules, cut at 4 KiB, made valid UTF-8) and returns
 * CULEX_FAILED, CULEX_DISCARDED: `return culex_run_fail(run, "SMTP says %d", code);` Without a text
 * (NULL for `format`, or nothing in it) "the handler gave no reason" is stored. */
CULEX_API CULEX_MUST_USE culex_outcome culex_run_fail(culex_run *run, const char *format, ...)
    CULEX_PRINTF(2, 3);
CULEX_API CULEX_MUST_USE culex_outcome culex_run_discard(culex_run *run, const char *format, ...)
    CULEX_PRINTF(2, 3);

/* Asks to be run again after `delay`, uncharged, and returns CULEX_SNOOZED; a delay of zero or less
 * means a second, as nothing would ever end a run that comes back at once. From 1 ns to 99 us,
 * where culex_seconds(n) was surely meant, the attempt fails instead, with a text that says so, and
 * CULEX_FAILED is returned. */
CULEX_API CULEX_MUST_USE culex_outcome culex_run_snooze(culex_run *run, culex_duration delay);

/* Keeps the value as the run's result when it ends as done; generated
 * `P_set_result` functions call this. Copies. CULEX_EINVAL when `type` is another than the run's
 * job returns: the set_result function of another job, or a job without `returns`. */
CULEX_API CULEX_MUST_USE culex_status culex_run_set_result(culex_run *run,
                                                           const culex_struct_type *type,
                                                           const void *value, culex_error *error);

/* A follow-up: a run that comes in when this one is done, and only then: the store takes both in
 * one go. Nothing comes of it when the handler returns anything but CULEX_DONE, crashes, or loses
 * its lease, so one that is executed again does not double it. Generated `P_enqueue_from` functions
 * call this. SQLite has both in one transaction; Redis records it with the end of this run, and the
 * worker, or the next one of this queue, brings it into its own queue right after, once. A server
 * that is a node of a cluster cannot do so for a queue of another slot: there it waits, and the
 * worker's log says so.
 *
 * `options` are those of an enqueue, but for a ticket and ret_outcomes (CULEX_EINVAL); a delay
 * counts from when it comes in. NULL: none. It passes the bound of its queue's backlog, and
 * where another run holds its key it stays out without a word. An SQLite file that can never take
 * it in, as it has no room for another queue, makes this run fail. It has no id yet, which other
 * calls could take. Copies. Up to 100 for each run, which take at most 2 MiB together
 * (CULEX_ELIMIT); otherwise as culex_client_enqueue. For one thread of the handler at a time, and
 * only while that is at work: a `run` that is kept longer may be another one by then. */
CULEX_API CULEX_MUST_USE culex_status culex_run_enqueue(culex_run *run, const culex_job_type *type,
                                                        const void *params,
                                                        const culex_enqueue_options *options,
                                                        culex_error *error);

/* Writes one log line that carries the run's job and id: culex_run_log (culex/lines.h) of level
 * info. */
CULEX_API void culex_log(culex_run *run, const char *format, ...) CULEX_PRINTF(2, 3);

/* A client of the store that the run came from, for follow-ups: a child process has neither
 * the store's URL nor its password, and asks the worker. Lent: it is the same for all runs of a
 * process, is good while the handler runs, and culex_client_close leaves it alone. Threads of the
 * handler may share it. It enqueues, gets, cancels, retries and deletes runs, opens, closes and
 * looks at batches, gives them members and callbacks (culex/batch.h), tells statistics, and reads
 * and writes the metadata of a job; other calls are CULEX_EUNSUPPORTED. Calls are bounded by the
 * worker's store timeout; CULEX_EUNKNOWN means what it always does, so follow-ups that must not
 * double have an idempotency key. A process that the handler forks cannot use it (CULEX_EINVAL) and
 * gets NULL here, which is returned otherwise only when out of memory. Calls with NULL for the
 * client are CULEX_EINVAL. */
CULEX_API culex_client *culex_run_client(culex_run *run);

/* Memory that lives until the handler returns; NULL when out of memory. */
CULEX_API void *culex_run_alloc(culex_run *run, size_t size);

typedef struct culex_worker culex_worker;

typedef enum CULEX_INT_ENUM culex_isolation {
    CULEX_ISOLATION_DEFAULT, /* what CULEX_ISOLATION says: none, process or job; else PROCESS */
    CULEX_ISOLATION_NONE, /* handlers on threads of this process: a timeout fails the run and sets
                             its cancel flag, but a thread cannot be killed; a warning names a
                             handler that goes on 2 s after any request to stop */
    CULEX_ISOLATION_PROCESS, /* handlers in child processes, one run after another: a crash, a
                                timeout or a memory bomb fails one run and nothing else */
    CULEX_ISOLATION_JOB      /* a fresh child process for every run */
} culex_isolation;

/* Which of several queues that have runs is asked for the next. A run that is claimed already is
 * not overtaken, and short ones are claimed up to some 4 ms ahead. */
typedef enum CULEX_INT_ENUM culex_order {
    CULEX_ORDER_DEFAULT, /* WEIGHTED where one of the queues has a weight, else TURNS */
    CULEX_ORDER_TURNS, /* each in turn is asked for as many as there are free handlers, and the next
                          one begins after it */
    CULEX_ORDER_STRICT,  /* the first of the list that has runs; a later one only gets what those
                            before it leave, which may be nothing for ever. Of the queues that one
                            pattern finds, by their names */
    CULEX_ORDER_WEIGHTED /* of all runs that are claimed while several queues have some, each
                            queue's share is that of its weight, to within a batch. A weight counts
                            runs, however long they take: @ bounds the handlers that long ones have.
                            A queue that had no runs meanwhile has nothing to make up for */
} culex_order;

typedef enum CULEX_INT_ENUM culex_log_format { CULEX_LOG_TEXT, CULEX_LOG_JSON } culex_log_format;

/* What holds for a queue, or for each of those that a pattern finds, where the worker serves it:
 * nothing is served because of this. The name itself wins over a pattern, an earlier pattern over a
 * later one, and what culex_worker_options.queues says of the queue over both. */
typedef struct culex_queue_options {
    const char *queue;    /* as in culex_worker_options.queues, without weight and bound */
    unsigned weight;      /* 1 to 1000; 0: 1 */
    unsigned concurrency; /* runs at a time, 1 to 1024, beside the worker's own; 0: no bound */
} culex_queue_options;

/* Zero means the default everywhere. Strings are borrowed until the worker is freed. */
typedef struct culex_worker_options {
    const char *url;           /* NULL: see culex_client_open, which holds for url_file too */
    const char *name;          /* of this worker, in at most 100 bytes of UTF-8; NULL: host name,
                                  pid and a random part. Of two live workers under one name the
                                  older one goes on as another; a key or URL is none: it is logged */
    const char *const *queues; /* run_from: only these; none: the queues of all registered jobs.
                                  "mail:3" has the weight 3 (1 to 1000; 1 where none is given), of
                                  "mail@8" this worker never has more than 8 runs at work or in
                                  hand, "mail:3@8" has both. "mail.*" is each queue of that name
                                  that the store has, or that a registered job goes to: the store is
                                  asked every 5 s, and a queue that was found is kept. '*' stands
                                  for any letters, at any place; the name itself wins over a
                                  pattern, an earlier pattern over a later one; weight and bound are
                                  those of each queue by itself */
    size_t queue_count;
    unsigned concurrency; /* runs at a time; 0: number of processors */
    unsigned batch;       /* most runs claimed in one call, 1..256; while runs are short, twice as
                             many are held beside those at work. 0: as many, up to 256, as the
                             handlers get through in some 4 ms by what they took of late; of runs
                             that take 2 ms or longer, none beyond free handlers */
    culex_isolation isolation;
    int64_t lease_ms;     /* 0: 15000; at least 200 */
    int64_t grace_ms;     /* stop: how long running handlers may take; 0: 25000, -1: none */
    int64_t idle_wait_ms; /* longest wait where the store has no wake-up, and between two looks
                             into an empty queue while another has runs; 0: 100 */
    bool drain;           /* stop once nothing is scheduled, waiting or active; or once all that is
                             left are runs that no handler here knows, whose jobs need what this
                             worker does not offer, or that it was given and cannot read:
                             CULEX_ELEFT. Other scheduled runs are waited for however far ahead they
                             are, and paused queues until they are resumed, with a line a minute when
                             there is nothing else */
    culex_log_format log_format;
    int log_level;            /* 0: info; 1 error, 2 warning, 3 info, 4 debug */
    const char *prefix;       /* see culex_client_options, also for the next two */
    int64_t store_timeout_ms; /* 10 to 86400000; 0: by URL or variable, else 5000 */
    const char *synchronous;
    const char *url_file;      /* a file with the URL; not together with `url` */
    bool core_dumps;           /* culex_worker_main: let debuggers and core dumps see the worker */
    const char *cgroup;        /* a directory of cgroup v2, delegated to this user and without a
                                  process in itself: groups are made in it, so that its job's
                                  `memory` bounds what all processes of a run hold together, and what
                                  a run leaves behind dies for sure. NULL: `memory` bounds each
                                  process by itself. Not with CULEX_ISOLATION_NONE */
    culex_order order;         /* between the queues */
    bool unlisted;             /* culex_client_workers does not show it, and it takes no orders */
    bool uncounted;            /* nothing is told of its runs to culex/figures.h */
    const char *const *offers; /* what jobs may need: "gpu=2" is 2 units of what `needs "gpu" 1`
                                  takes one of; 1 to 1,000,000 units of up to 16 names. Never are
                                  runs at work or in hand that need more together. NULL: only jobs
                                  without needs are run */
    size_t offer_count;
    const culex_queue_options *queue_options; /* borrowed. One that no queue of this worker's meets
                                                 is CULEX_EUSAGE of culex_worker_run */
    size_t queue_option_count;
    const char *keys;     /* file of the keys for [[encrypted]] params and results, as `keys` of
                             culex_client_options; read by culex_worker_run before the children are
                             forked, which have them from there. CULEX_ENOKEY at the start: a
                             registered job needs keys, and there is no file */
    const char *metrics;  /* "9464", "HOST:PORT", "[V6]:PORT" (numbers; of this machine alone
                             without a host; port 0: a free one, which the log tells) or "unix:PATH":
                             GET /metrics is answered there while the worker runs, in OpenMetrics, by
                             a thread of its own, without a password; see docs/operating.md.
                             CULEX_EUSAGE of culex_worker_run: nobody can listen there;
                             CULEX_EUNSUPPORTED: the library libculex-metrics, which is loaded for
                             that, is not there. NULL: none */
    const char *on_death; /* a command that /bin/sh -c runs for each run that an attempt here leaves
                             dead, one at a time, of up to 100 that wait for it; CULEX_RUN_ID,
                             CULEX_JOB, CULEX_QUEUE, CULEX_ATTEMPT, CULEX_REASON and CULEX_ERROR in
                             its environment tell of the run; see docs/operating.md. NULL: none */
    int64_t on_death_timeout_ms; /* then it is killed; 1 to 86400000; 0: 30000 */
    const char *traces; /* a file to which a span is appended for each attempt that begins here of a
                           run whose trace is recorded, in OTLP/JSON, by a thread of its own; or
                           "http://HOST:4318/v1/traces", to which they are sent; see
                           docs/operating.md. CULEX_EUSAGE of culex_worker_run: the file cannot be
                           opened. NULL: none */
    bool trace_all;     /* beside it: each run of no trace begins one, whose id is the run's */
} culex_worker_options;

/* A worker that has no jobs yet and no connection. Copies nothing: `options` strings
 * are borrowed; `options` may be NULL. Of the environment only CULEX_ISOLATION is read
 * here, and what says where the store is and how to open it by culex_worker_run. It belongs to the
 * process that calls this: in a forked one culex_worker_run and culex_worker_start are CULEX_EINVAL
 * and culex_worker_stop does nothing. *ret_worker is returned owned. */
CULEX_API CULEX_MUST_USE culex_status culex_worker_create(const culex_worker_options *options,
                                                          culex_worker **ret_worker,
                                                          culex_error *error);

/* Frees a worker; none that another call runs. One that was started by culex_worker_start and is
 * not over is stopped without a grace period first: what it holds goes back to the store, which
 * takes 2 s where handlers do not heed it, and as long as the store's timeout where that does not
 * answer. Accepts NULL. In a process that was forked from the worker's it stops nothing. */
CULEX_API void culex_worker_free(culex_worker *worker);

/* Any function; cast back to its true type before the call. */
typedef void (*culex_handler_fn)(void);

/* Generated: calls `handler`, of the job's own type, with typed params. */
typedef culex_outcome (*culex_handler_call)(culex_run *run, culex_handler_fn handler,
                                            const void *params, void *user);

/* Makes the worker run jobs of `type`. Generated `P_register` functions call this.
 * Before culex_worker_run or culex_worker_start only: CULEX_EINVAL and a log line while it runs,
 * also from handlers. CULEX_EINVAL without a handler, and when the job is registered already, or
 * another one that has the same name in the store. `user` is handed to the handler as it is. In a
 * child process it is a copy, as all memory that the handler sees: what it changes there, or in
 * variables of the program, stays in that child, and the next run may get another one. What it
 * changes of its process (working directory, umask, environment, signals, timers, limits) is put
 * back before the next run, and processes that it leaves behind are killed with its end; see
 * docs/operating.md. Under CULEX_ISOLATION_NONE nothing is copied, put back or killed, and several
 * threads may call the handler at once. */
CULEX_API CULEX_MUST_USE culex_status culex_worker_register(culex_worker *worker,
                                                            const culex_job_type *type,
                                                            culex_handler_call call,
                                                            culex_handler_fn handler, void *user);

/* In place of a handler, for a job that is [[retired]]: its remaining runs end dead with the text
 * "the job is retired", keep their payloads, and the job ticks no more. Runs of a job that is
 * neither registered nor retired wait for a worker that knows it. Before culex_worker_run only.
 * CULEX_EINVAL when the job is registered.
 */
CULEX_API CULEX_MUST_USE culex_status culex_worker_retire(culex_worker *worker,
                                                          const culex_job_type *type);

/* What every child process has once and keeps from run to run, a connection to a database for
 * instance. `open` is called in each before its first run (under isolation NONE in each thread).
 * It returns CULEX_OK and what culex_run_process is to return there; any other status is a failure,
 * with the reason in error->text. When it fails, crashes, exits or takes longer than 30 s, the
 * reason is logged (the same one once a minute) and `open` is called again in a new child after a
 * wait that grows to a second. Meanwhile the worker claims only as many runs as the children in
 * which `open` has succeeded can take, none when there is no such child; no run is charged.
 * `close`, which may be NULL, is called when a child ends in an orderly way, and has a second for
 * it; it is not called in a child that crashes or is killed. `user` is handed to both. What `open`
 * changes in the child and the processes that it starts stay, from run to run. */
typedef culex_status (*culex_process_open)(void *user, void **ret_process, culex_error *error);
typedef void (*culex_process_close)(void *process, void *user);

/* Before culex_worker_run only (see culex_worker_register); the last call counts. CULEX_EINVAL
 * without a worker or `open`. */
CULEX_API CULEX_MUST_USE culex_status culex_worker_on_process(culex_worker *worker,
                                                              culex_process_open open,
                                                              culex_process_close close,
                                                              void *user);

/* In C++ culex_worker_on_process calls this with functions that call the other two and let no
 * exception pass. With NULL for either the runtime calls by itself. */
typedef culex_status (*culex_process_open_call)(culex_process_open open, void *user,
                                                void **ret_process, culex_error *error);
typedef void (*culex_process_close_call)(culex_process_close close, void *process, void *user);
CULEX_API CULEX_MUST_USE culex_status culex_worker_on_process_by(
    culex_worker *worker, culex_process_open_call open_call, culex_process_close_call close_call,
    culex_process_open open, culex_process_close close, void *user);

/* What `open` returned for the process or thread that runs this, NULL without one. */
CULEX_API void *culex_run_process(const culex_run *run);

/* Runs jobs on the calling thread (CULEX_EINVAL while another one does) until culex_worker_stop,
 * or, with options.drain, until nothing is left. A store that cannot be reached is tried again with
 * growing, jittered waits and a log line a minute; only configuration errors end the call, and
 * CULEX_EBROKEN when handlers cannot be run any more. CULEX_ECONNECT: a drain does not wait for a
 * file that cannot be opened.
 *
 * While a child process cannot be started (a limit of processes or descriptors is reached, or
 * memory), the worker claims only as many runs as it has children, none without one, gives back
 * uncharged and at once what it held for others, and tries again after waits that grow to a second.
 * A drain that had no child and could start none for 30 s ends with CULEX_EBROKEN.
 *
 * A queue that refuses this worker for good (CULEX_EDENIED for want of a right, for example) is
 * such an error too. All queues are asked before the first run is claimed, so none is held by then.
 * One that could not be asked at the time and refuses later ends the call as culex_worker_stop
 * does: what is held is finished, or given back after the grace.
 *
 * CULEX_EUSAGE when no registered job goes to any queue of options.queues and the store has none of
 * them: the names are wrong, and none is made. A pattern counts as such a name with options.drain;
 * otherwise the worker waits for queues that it matches.
 * CULEX_ELEFT: the drain is over, but runs are left of jobs that are not registered here, or that
 * need what options.offers does not have, or that this worker has given back because it cannot read
 * them, and none of them runs elsewhere. The text tells how many and of which job.
 * CULEX_EMOVED when the file of the store was removed, replaced, emptied or cut off, or a link in
 * its path pointed elsewhere: nothing more was written.
 * CULEX_EUNSENT: it stopped as asked, but the store did not answer and was not told how some
 * runs ended; their leases end by themselves, and they run again.
 *
 * Unless isolation is NONE, the child processes are forked here, before the URL of the
 * store is read and the connection opened, so that they hold neither: passwords in CULEX_URL and
 * CULEX_PASSWORD are wiped from their environment, and a client that is opened by what is left
 * there is refused (CULEX_EURL). A password in options.url is in the program's own memory, and in
 * that of its children. What the program has open by then (files, sockets, pipes) is open in
 * handlers too, under the same numbers, for as long as the worker runs; a child shares the
 * file's position with the others. Clients of Culex are no part of that, and a connection to a
 * database must not be used across a fork.
 *
 * In the children standard input is /dev/null, unless descriptor 0 is a regular file open for
 * writing: a program that was started without standard input may have opened it.
 *
 * Before the first child is forked, all output streams are flushed and the signals of
 * this thread are blocked; there is no exec after the fork. So call it while the process has one
 * thread, or others that wait and hold no lock: a lock that another thread holds at that moment, of
 * a stream, a library or the allocator, is never given back in the children. glibc
 * sees to the locks of its own allocator; not every allocator and every sanitizer does. */
CULEX_API CULEX_MUST_USE culex_status culex_worker_run(culex_worker *worker, culex_error *error);

/* A worker in a loop that the program has already: in place of culex_worker_run it calls
 * culex_worker_start, waits for culex_worker_fd beside its other descriptors (poll, epoll, libuv,
 * GLib), and calls culex_worker_process whenever that is readable:
 *
 *     status = culex_worker_start(worker, &error);
 *     while (status == CULEX_OK) {
 *         struct pollfd fd = {.fd = culex_worker_fd(worker), .events = POLLIN};
 *         poll(&fd, 1, -1);
 *         status = culex_worker_process(worker, 5, &error);
 *     }
 *
 * It is the same worker, whose handlers run where options.isolation says; none runs within these
 * calls. What culex_worker_run says of itself holds here too, of forks and of secrets as well.
 *
 * The program has to come back in time. What waits for its next call of culex_worker_process: news
 * of runs and their results, beats, timeouts, cancellations, the end of a grace period, and what a
 * handler in a child process asks of culex_run_client. Busy for a second, it does no harm with a
 * lease of 15 s. From 0.9 of a lease without a call on, runs are lost: child processes are killed
 * by then all the same, while under CULEX_ISOLATION_NONE nobody tells the handler, which goes on
 * beside the next attempt. Other workers are given the runs, and what ended here too late does not
 * count.
 *
 * culex_worker_start does what comes before the first run: it forks the child processes, on the
 * calling thread, and reads the URL of the store. It does not wait for the store, which
 * culex_worker_process opens, and tries again with growing waits. It returns what culex_worker_run
 * would return at once (bad options, no registered job, a URL of no store), CULEX_ENOMEM, and
 * CULEX_EINVAL for a worker that runs already, or is of another process; then nothing is left of
 * it. CULEX_OK: it runs, and no job can be registered any more. */
CULEX_API CULEX_MUST_USE culex_status culex_worker_start(culex_worker *worker, culex_error *error);

/* What to wait for: a descriptor that is readable as long as the worker has something to do, be it
 * that a run came or ended, that something is due, or that somebody called culex_worker_stop. There
 * is no timeout to keep beside it: an alarm is a part of it. Nothing is lost when the program comes
 * late. Watched by EPOLLET it tells after each call of culex_worker_process that leaves work, so
 * one call for each time that it tells is enough. An idle worker makes it readable every 2 to 5 s,
 * and each options.idle_wait_ms where a store has no wake-ups.
 *
 * Only wait for it; it is the worker's, who closes it in culex_worker_free and not before, so that
 * there is time to take it out of a loop. When the program has closed it the next call of
 * culex_worker_process tells, and what has its number by then stays open. It stays the same when
 * the worker is started again, and is not readable while the worker does not run. -1 before the
 * first culex_worker_start that succeeds, and in a process that was forked from the worker's. Any
 * thread may ask. */
CULEX_API int culex_worker_fd(const culex_worker *worker);

/* Does what there is to do, and never waits for more. Where there is nothing it costs two
 * system calls. It takes turns until nothing is left to do, but none that would begin `budget_ms`
 * ms after the call or later; the first one counts no budget, so 0 means one turn. What is left
 * then keeps the descriptor readable.
 *
 * A turn is not bounded by the budget. It makes a few calls to the store, mostly one for each queue
 * that has news, and each takes as long as the store does: on SQLite with its fsync and the locks
 * of others, with Redis its way over the network. One that does not answer holds a turn up for the
 * store's timeout (options.store_timeout_ms, 5 s), and then is left alone for a while. A program
 * that cannot bear this has culex_worker_run on a thread.
 *
 * CULEX_OK: the worker goes on. CULEX_EOVER: it has come to its end as it should: it was stopped,
 * or its drain is over, as the text says. Anything else is what culex_worker_run would have
 * returned, and an end as well. With the end, connections and child processes are gone: that call
 * waits for children to run the `close` of culex_worker_on_process, at most 2 s, and for 0.1 s for
 * handlers that do not come back. The worker can be started again, or run, or freed.
 *
 * CULEX_EBROKEN also when the program has closed the descriptor of culex_worker_fd: what the worker
 * holds goes back to the store as by culex_worker_free, which that call waits for.
 *
 * CULEX_EINVAL, and nothing is done, for a budget below 0, for a worker that was not started, is
 * over or is of another process, and when another call of it has not come back. One thread at a
 * time may call this, not always the same one; a handler must not.
 *
 * To end a worker, call culex_worker_stop and go on as before until this call tells the end;
 * culex_worker_free does without a grace period what is left of that, and waits for it. */
CULEX_API CULEX_MUST_USE culex_status culex_worker_process(culex_worker *worker, int64_t budget_ms,
                                                           culex_error *error);

/* Asks a running worker to stop: it claims nothing more, gives back what has not
 * started, lets running handlers finish within the grace period. Then their cancel flags are set
 * and their processes get SIGTERM, and SIGKILL 2 s later. A run that is killed by then, or whose
 * handler returns a failure, is given back uncharged. A second call skips the grace period. A store
 * that does not answer a connection attempt or a handler's call delays the end by no more than
 * those 2 s after the grace period; a worker that has not reached its store yet ends at once.
 *
 * Before the first culex_worker_run or culex_worker_start it is kept for that. After a worker's end
 * there is nothing to stop: the next run or start forgets it, and what has come by the time it is
 * called. A program that begins again, and is asked to end by a signal, looks at a flag of its own
 * before it does. Safe from any thread and from a signal handler. */
CULEX_API void culex_worker_stop(culex_worker *worker);

/* A whole worker program: reads options and CULEX_* variables, creates the worker,
 * calls `setup` to register the jobs, and runs until SIGINT or SIGTERM, or SIGHUP where that is
 * at its default; a second SIGHUP skips no grace period. With --config FILE, or CULEX_CONFIG,
 * options are read from a file too, and again on SIGHUP, which stops nothing then and is ignored
 * from its end on (docs/operating.md, "A file of options"). A variable CULEX_* that means nothing
 * is warned of, with the name that may have been meant, and refused where culex_client_open does
 * so. Returns the exit code: 0 stopped or drained, 1 setup or run failed, 2 wrong usage (message on
 * stderr), 3 stopped with results that the store did not take, 4 the store's file was removed,
 * replaced, emptied or cut off (CULEX_EMOVED), 5 drained but for runs of jobs that are not
 * registered, or that this worker cannot read (CULEX_ELEFT). `--help` lists the options. */
typedef int (*culex_worker_setup)(culex_worker *worker, void *user);
CULEX_API CULEX_MUST_USE int culex_worker_main(int argc, char **argv, culex_worker_setup setup,
                                               void *user);

/* For a setup that cannot go on: tells the reason (printf rules), which the program prints, and
 * returns 1. Without it the reason is the one for which a job was not registered. */
CULEX_API CULEX_MUST_USE int culex_worker_setup_failed(culex_worker *worker, const char *format,
                                                       ...) CULEX_PRINTF(2, 3);

/* Why culex_worker_register, _retire or _on_process has just failed, or the reason that
 * culex_worker_setup_failed was given; "" when there is none, or no worker. Owned by the worker,
 * and good until the next of these calls, which no other thread may make meanwhile. */
CULEX_API const char *culex_worker_setup_reason(culex_worker *worker);

/* A function of another type for a callback is an error; see culex/typed.h. */
#ifdef CULEX_TYPED
#define culex_worker_on_process(...) CULEX_TYPED(culex_worker_on_process, __VA_ARGS__)
#define culex_worker_main(...)       CULEX_TYPED(culex_worker_main, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
