#include "test/hands.h"

#include <string.h>

#include "base/error.h"
#include "core/end_text.h"
#include "test/kit.h"

enum { CALL_MS = 5000 /* that a handler's call of the store may take, were there any wait */ };

static struct culex_hands *hands_of(struct culex_executor *executor)
{
    return (struct culex_hands *)executor;
}

/* --- one call -----------------------------------------------------------------------------------
 */

/* Stands where the job's own call was; `user` is the kit. */
static culex_outcome hands_call(culex_run *run, culex_handler_fn handler, const void *params,
                                void *user)
{
    culex_test *test = user;
    const struct culex_job *job = &test->hands.job;
    culex_outcome outcome;
    test->hands.call = culex__calls_begin(test, run);
    test->hands.is_called = true;
    test->hands.calls++;
    if (!culex__scripts_take(test, run, &outcome))
        outcome = job->call(run, handler, params, job->user);
    return outcome;
}

static void crash(struct culex_run *run)
{
    run->has_result = false;
    run->end.event = CULEX_EVENT_CRASH;
    run->end.is_snoozed = false;
    run->end.delay_ms = 0;
    run->end.text = "the test let its process die when the handler had returned";
}

/* Of a drain that has made all its calls of one time. */
static bool instant_is_full(culex_test *test)
{
    struct culex_hands *hands = &test->hands;
    if (hands->instant.at_ms != test->frozen.now_ms)
        hands->instant.turns = 0;
    hands->instant.at_ms = test->frozen.now_ms;
    return hands->instant.most > 0 && hands->instant.turns >= hands->instant.most;
}

/* That a run was executed. Without a call of its handler that counts where hooks have kept it, and
 * not where it was cancelled before or could not be read. */
static void turn_note(culex_test *test, const struct culex_run *run)
{
    struct culex_hands *hands = &test->hands;
    bool is_begun = run->end.event != CULEX_EVENT_RELEASE || run->end.is_snoozed;
    if (!hands->is_called && run->job.hooks != NULL && is_begun)
        hands->call = culex__calls_make(test, run);
    hands->refusals += !hands->is_called && hands->call != NULL;
    hands->instant.turns += hands->is_called || hands->call != NULL;
    culex__calls_end(test, hands->call, &run->end);
}

/* Its place is kept, and no attempt charged. */
static void run_refuse(struct culex_run *run)
{
    run->end = (struct culex_execution_end){.event = CULEX_EVENT_RELEASE};
    run->has_result = false;
    culex__run_forget_follow_ups(run);
}

static void run_execute(culex_test *test, struct culex_run *run)
{
    struct culex_hands *hands = &test->hands;
    if (instant_is_full(test)) {
        hands->instant.is_over = true;
        run_refuse(run);
        return;
    }
    hands->run = run;
    hands->call = NULL;
    hands->is_called = false;
    hands->job = run->job;
    run->job.call = hands_call;
    run->job.user = test;
    run->loan = &hands->loan;
    run->process = hands->process;
    culex__home_store_enter(&hands->home);
    culex__run_execute(run, hands->arena, &test->env);
    culex__home_store_enter(NULL);
    run->job = hands->job;
    hands->run = NULL;
    turn_note(test, run);
    if (hands->is_crashing && hands->is_called) {
        hands->is_crashing = false;
        crash(run);
    }
}

void culex_test_crash_next(culex_test *test)
{
    if (test != NULL)
        test->hands.is_crashing = true;
}

void culex__hands_flag(culex_test *test, culex_uuid id)
{
    struct culex_run *run = test->hands.run;
    if (run != NULL && memcmp(&run->facts.id, &id, sizeof id) == 0)
        atomic_store_explicit(&run->is_cancelled, true, memory_order_relaxed);
}

/* --- what handlers ask of the store --------------------------------------------------------------
 */

static culex_status hands_exchange(void *self, const culex_buf *request, int64_t deadline_ns,
                                   culex_buf *answer, culex_error *error)
{
    culex_test *test = self;
    (void)deadline_ns, (void)error;
    culex__errand_serve(&test->users.base, request->data, request->len, answer);
    return CULEX_OK;
}

/* --- the table of executor.h ---------------------------------------------------------------------
 */

static int hands_fd(struct culex_executor *executor)
{
    (void)executor;
    return -1; /* nothing ends while the loop waits */
}

static void hands_submit(struct culex_executor *executor, struct culex_run *const *runs,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        culex__run_list_push(&hands_of(executor)->to_start, runs[i]);
}

static size_t hands_collect(struct culex_executor *executor, struct culex_run **ret_runs,
                            size_t max)
{
    struct culex_hands *hands = hands_of(executor);
    struct culex_run *run = max > 0 ? culex__run_list_pop(&hands->to_start) : NULL;
    if (run == NULL)
        return 0;
    run_execute(hands->loan.env->self, run);
    ret_runs[0] = run;
    return 1;
}

static size_t hands_withdraw(struct culex_executor *executor, struct culex_run **ret_runs,
                             size_t max)
{
    size_t count = 0;
    struct culex_run *run;
    while (count < max && (run = culex__run_list_pop(&hands_of(executor)->to_start)) != NULL)
        ret_runs[count++] = run;
    return count;
}

static size_t hands_queued(struct culex_executor *executor)
{
    return hands_of(executor)->to_start.count;
}

static void hands_cancel(struct culex_executor *executor, struct culex_run *run, int64_t term_ns,
                         int64_t kill_ns)
{
    (void)executor, (void)term_ns, (void)kill_ns;
    atomic_store_explicit(&run->is_cancelled, true, memory_order_relaxed);
}

static size_t hands_capacity(struct culex_executor *executor)
{
    const struct culex_hands *hands = hands_of(executor);
    bool may_start = culex__hands_turns(hands) < hands->most && !hands->instant.is_over;
    return hands->to_start.count == 0 && may_start ? 1 : 0;
}

/* A drain that somebody has jumped out of has left a run here, which nobody else has. */
static size_t hands_stop(struct culex_executor *executor, int64_t deadline_ns)
{
    struct culex_hands *hands = hands_of(executor);
    (void)deadline_ns;
    culex__run_list_free(&hands->to_start);
    culex__run_free(hands->run);
    hands->run = NULL;
    return 0;
}

static const struct culex_executor_ops hands_ops = {
    .name = "test",
    .can_kill = true, /* as children can, which are never told to: the handler has always ended */
    .fd = hands_fd,
    .submit = hands_submit,
    .collect = hands_collect,
    .withdraw = hands_withdraw,
    .queued = hands_queued,
    .cancel = hands_cancel,
    .capacity = hands_capacity,
    .stop = hands_stop,
};

/* --- life ----------------------------------------------------------------------------------------
 */

/* Once for all passes. */
static culex_status hooks_open(struct culex_hands *hands, const struct culex_process_hooks *hooks,
                               culex_error *error)
{
    culex_error told = {0};
    if (hooks->open == NULL || hands->hooks.open != NULL)
        return CULEX_OK;
    culex_status status = culex__process_hooks_open(hooks, &hands->process, &told);
    if (status != CULEX_OK)
        return culex__fail(error, CULEX_EBROKEN, "culex_worker_on_process: open failed: %s",
                           told.text[0] != '\0' ? told.text : CULEX__NO_REASON_TEXT);
    hands->hooks = *hooks;
    return CULEX_OK;
}

culex_status culex__hands_make(const struct culex_executor_config *config,
                               struct culex_executor **ret_executor, culex_error *error)
{
    culex_test *test = config->handler.env->self;
    struct culex_hands *hands = &test->hands;
    hands->base.ops = &hands_ops;
    hands->base.log = *config->handler.log;
    hands->home = config->handler.home;
    hands->calls = hands->refusals = 0;
    culex__loan_set_gate(&hands->loan, config->handler.gate, config->handler.keys);
    hands->loan.chains = config->handler.chains;
    hands->loan.tracing = config->handler.tracing;
    culex__frozen_begin(&test->frozen);
    culex_status status = hooks_open(hands, &config->handler.hooks, error);
    if (status == CULEX_OK)
        *ret_executor = &hands->base;
    return status;
}

bool culex__hands_init(culex_test *test)
{
    const struct culex_errand_way way = {hands_exchange, test};
    culex__loan_init(&test->hands.loan, way, CALL_MS, &test->env);
    test->hands.arena = culex_arena_create();
    test->hands.most = SIZE_MAX;
    return test->hands.arena != NULL;
}

void culex__hands_end(culex_test *test)
{
    struct culex_hands *hands = &test->hands;
    if (hands->hooks.close != NULL)
        culex__process_hooks_close(&hands->hooks, hands->process);
    culex__loan_release(&hands->loan);
    culex_arena_free(hands->arena);
}
