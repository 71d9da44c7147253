/* culex/hooks.h - what is called before, after and around runs, and before an enqueue.
 *
 * A hook has what all handlers of a worker, or those of one job, would do alike: time them, check a
 * right, keep a record. It runs where the handler runs, under each isolation, and what is said of
 * handlers in culex/worker.h holds for it: the run's timeout counts its time, a crash in it is a
 * crash of the run, and its calls about the run are those of the handler. A worker without hooks,
 * and a job that none is for, pay nothing for them.
 *
 * In C++ what a hook throws is its failure; see culex/exception.h.
 */
#ifndef CULEX_HOOKS_H
#define CULEX_HOOKS_H

#include <culex/client.h>
#include <culex/typed.h>
#include <culex/worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The rest of a run: the hooks within this one, and the handler. */
typedef struct culex_next culex_next;

typedef culex_outcome (*culex_hook_before)(culex_run *run, const void *params, void *user);
typedef culex_outcome (*culex_hook_around)(culex_run *run, const void *params, culex_next *next,
                                           void *user);
typedef culex_outcome (*culex_hook_after)(culex_run *run, const void *params, culex_outcome outcome,
                                          const char *text, void *user);

/* Functions that are NULL are left out; one at least must be there. `params` are those of the
 * handler, the struct of the run's job; `user` is handed over as it is, and in a child process it
 * is a copy.
 *
 * What each returns counts as if the handler had returned it, details by culex_run_fail,
 * culex_run_discard and culex_run_snooze included, unless what it follows has ended worse: of two
 * outcomes the graver stands, which is discarded before failed before snoozed before done. So no
 * hook makes a success of a failure, and a run that was discarded is not tried again. Of two that
 * put the run off, the delay of the last culex_run_snooze counts. A failure bears the name of the
 * hook: "hook 'audit' before the run: TEXT"; where something has failed already, its text stands
 * first.
 *
 * `before` lets the run go on by CULEX_DONE; after anything else neither its own `around` and
 * `after`, nor the hooks within, nor the handler are called.
 *
 * `around` calls culex_next_call, once, on its own thread and before it returns, and returns what
 * that has returned. If it does not call it, the handler is not called, and CULEX_DONE is a failure
 * then. A second call does nothing, returns CULEX_FAILED, and is a failure.
 *
 * `after` is called however the run has ended so far, unless its process has died: with the outcome
 * and the text, "" where there is none. It returns CULEX_DONE, or the outcome that it was given, if
 * it has nothing to add. */
typedef struct culex_hook {
    const char *name; /* 1 to 64 bytes of UTF-8 without control characters, borrowed until the
                         worker is freed */
    culex_hook_before before;
    culex_hook_around around;
    culex_hook_after after;
    void *user;
} culex_hook;

/* Adds a hook to the runs of job `type` (&PACKAGE_NAME_job_type of its generated header), which is
 * registered before; NULL: of all jobs of this worker. Copies *hook. The hooks of a run are layers
 * around its handler: those of all jobs are outside, those of its job within, each kind in the
 * order in which they were added. So each `before` is called in that order, and each `after` in the
 * reverse one. What a hook enqueues by culex_run_enqueue comes in with the run's success, or not at
 * all. Of a run whose params cannot be read no hook is called.
 *
 * Before culex_worker_run or culex_worker_start only: CULEX_EINVAL and a log line while it runs.
 * CULEX_EINVAL, with culex_worker_setup_reason, without a function or a proper name, when the name
 * is there already for the same runs, and when the job is retired or not registered; CULEX_ELIMIT
 * beyond 64 hooks of a worker; CULEX_ENOMEM. */
CULEX_API CULEX_MUST_USE culex_status culex_worker_add_hook(culex_worker *worker,
                                                            const culex_job_type *type,
                                                            const culex_hook *hook);

/* Runs the rest of a run, for an `around`, and returns how it ended. CULEX_FAILED for NULL. */
CULEX_API culex_outcome culex_next_call(culex_next *next);

/* In C++ culex_worker_add_hook calls this with functions that call those of the hook and let no
 * exception pass. With NULL for `calls` the runtime calls by itself; else all three are there. */
typedef culex_outcome (*culex_hook_before_call)(const culex_hook *hook, culex_run *run,
                                                const void *params);
typedef culex_outcome (*culex_hook_around_call)(const culex_hook *hook, culex_run *run,
                                                const void *params, culex_next *next);
typedef culex_outcome (*culex_hook_after_call)(const culex_hook *hook, culex_run *run,
                                               const void *params, culex_outcome outcome,
                                               const char *text);
typedef struct culex_hook_calls {
    culex_hook_before_call before;
    culex_hook_around_call around;
    culex_hook_after_call after;
} culex_hook_calls;
CULEX_API CULEX_MUST_USE culex_status culex_worker_add_hook_by(culex_worker *worker,
                                                               const culex_job_type *type,
                                                               const culex_hook *hook,
                                                               const culex_hook_calls *calls);

/* --- before an enqueue ------------------------------------------------------------------- */

/* A call that is to enqueue, before anything of it is encoded; its options could be enqueued with.
 * Nothing here can be replaced: what a hook changes, it writes into *options. */
typedef struct culex_enqueue_call {
    const culex_job_type *const type;
    const void *const params; /* of the first run, a struct of type->params; NULL for none */
    const size_t stride;      /* bytes from one run's params to the next's */
    const size_t count;       /* of runs, at least 1 */
    culex_enqueue_options *const options; /* a copy of the caller's; what is written there counts */
    struct culex_enqueue_draft *const draft; /* the library's */
} culex_enqueue_call;

/* Lets the call go on by CULEX_OK, as it is or with other options; what these point to must live
 * until the call has returned. The ticket and ret_outcomes stay the caller's. Any other status is
 * what the call returns, with the hook's error->text in its own, and nothing of it is enqueued; in
 * place of CULEX_EUNKNOWN, and of what is no status, it is CULEX_EINVAL.
 *
 * A ticket is known in one queue, so that of a call with one is the caller's: where the hook has
 * changed it, nothing is enqueued, and CULEX_EINVAL names the hook's. Whoever repeats a call that
 * was CULEX_EUNKNOWN gives options.queue what the hook had sent it to.
 *
 * Called on the thread that enqueues, by several at once if these do, once for each call, of
 * however many runs; once more for one that is repeated with its ticket. It may use another client,
 * and not enqueue by the one that has called it. */
typedef culex_status (*culex_enqueue_hook)(culex_enqueue_call *call, void *user,
                                           culex_error *error);

/* From now on calls of this client that enqueue call `hook`: culex_client_enqueue,
 * culex_client_enqueue_many, and for each of its items culex_client_enqueue_all. NULL: none. The
 * last one counts. Not while another thread uses the client. CULEX_EUNSUPPORTED for the client of
 * culex_run_client, see culex_worker_on_enqueue; CULEX_EINVAL without a client, or for that of
 * another process.
 *
 * Of a chain the client's hook sees the first step, and the worker's each step behind it: a tag
 * that all are to have is added by both. No hook is called for the ticks of a periodic job, which
 * the store enqueues, nor by culex_sqlite_enqueue and by other programs. */
CULEX_API CULEX_MUST_USE culex_status culex_client_on_enqueue(culex_client *client,
                                                              culex_enqueue_hook hook, void *user,
                                                              culex_error *error);

/* The same for what handlers, and hooks of their runs, enqueue by culex_run_enqueue and by the
 * client of culex_run_client: where they run. Before culex_worker_run only, as
 * culex_worker_add_hook; CULEX_EINVAL without a worker. */
CULEX_API CULEX_MUST_USE culex_status culex_worker_on_enqueue(culex_worker *worker,
                                                              culex_enqueue_hook hook, void *user);

/* For the hook: the runs of the call have this tag too, beside those that they have anyway; where
 * it stands already, nothing changes. So a run can be given what is to be known of it, a tenant or
 * a trace: culex_client_get shows it, culex_client_bulk chooses by it. Copies. CULEX_EINVAL for a
 * tag that cannot be one: 1 to 64 bytes of UTF-8 without commas, '|' and control characters, and
 * for a call that no hook was given; CULEX_ELIMIT for the seventeenth of a run. */
CULEX_API CULEX_MUST_USE culex_status culex_enqueue_tag(culex_enqueue_call *call, const char *tag,
                                                        culex_error *error);

/* In C++ the two calls above call these, with a function that calls the hook and lets no exception
 * pass. With NULL for it the runtime calls by itself. */
typedef culex_status (*culex_enqueue_hook_call)(culex_enqueue_hook hook, culex_enqueue_call *call,
                                                void *user, culex_error *error);
CULEX_API CULEX_MUST_USE culex_status culex_client_on_enqueue_by(culex_client *client,
                                                                 culex_enqueue_hook_call call,
                                                                 culex_enqueue_hook hook,
                                                                 void *user, culex_error *error);
CULEX_API CULEX_MUST_USE culex_status culex_worker_on_enqueue_by(culex_worker *worker,
                                                                 culex_enqueue_hook_call call,
                                                                 culex_enqueue_hook hook,
                                                                 void *user);

/* A function of another type for a callback is an error; see culex/typed.h. */
#ifdef CULEX_TYPED
#define culex_client_on_enqueue(...) CULEX_TYPED(culex_client_on_enqueue, __VA_ARGS__)
#define culex_worker_on_enqueue(...) CULEX_TYPED(culex_worker_on_enqueue, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
