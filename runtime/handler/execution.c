#include "handler/execution.h"

#include "base/error.h"
#include "core/codec_decode.h"
#include "core/end_text.h"
#include "core/secret.h"
#include "core/trace.h"
#include "client/thread_trace.h"
#include "handler/chain.h"
#include "handler/loan.h"
#include "handler/run_hooks.h"
#include "handler/run_sealing.h"
#include "handler/tracing.h"

/* The delay where the handler named none: without one its run would start again at once, for ever.
 */
enum { SNOOZE_DEFAULT_MS = 1000 };

static void end_release(struct culex_run *run, int64_t delay_ms)
{
    run->end.event = CULEX_EVENT_RELEASE;
    run->end.delay_ms = delay_ms;
}

/* In front of what the decoder says. */
static const char *undecoded_text(culex_status status)
{
    if (status == CULEX_ENOMEM) /* nobody knows whether it is understood */
        return "";
    return status == CULEX_ENOKEY ? CULEX__NOT_UNDERSTOOD_TEXT CULEX__NO_KEY_TEXT
                                  : CULEX__NOT_UNDERSTOOD_TEXT;
}

/* The run is dead when no worker can ever read its payload: it is not a JSON object, or the schema
 * that encoded it (the fingerprint tells) is ours and does not read it. The operator finds the
 * payload with it. Any other payload may be of a newer schema, however wrong it looks here, and the
 * run goes back for a worker that has that schema. */
static void end_undecoded(struct culex_run *run, culex_status status, const culex_error *error)
{
    bool is_foreign = run->facts.fingerprint != run->job.type->fingerprint &&
                      culex__payload_is_well_formed(run->payload, run->payload_len);
    if ((status == CULEX_EDECODE || status == CULEX_ELIMIT) && !is_foreign) {
        run->end.event = CULEX_EVENT_DISCARD;
        culex__run_set_text(run, "the payload cannot be decoded: %s", error->text);
        return;
    }
    run->end.is_not_understood = status != CULEX_ENOMEM;
    end_release(run, culex__run_unknown_delay_ms(run->facts.attempt));
    culex__run_set_text(run, "%s%s", undecoded_text(status), error->text);
}

static void end_outcome(struct culex_run *run, culex_outcome outcome)
{
    switch (outcome) {
    case CULEX_DONE:
        run->end.event = CULEX_EVENT_DONE;
        run->end.text = NULL;
        return;
    case CULEX_FAILED:
    case CULEX_DISCARDED:
        run->end.event = outcome == CULEX_FAILED ? CULEX_EVENT_FAIL : CULEX_EVENT_DISCARD;
        if (run->end.text == NULL)
            run->end.text = CULEX__HANDLER_NO_REASON_TEXT;
        return;
    case CULEX_SNOOZED:
        run->end.event = CULEX_EVENT_RELEASE;
        run->end.is_snoozed = true;
        run->end.text = NULL;
        if (run->end.delay_ms <= 0)
            run->end.delay_ms = SNOOZE_DEFAULT_MS;
        return;
    }
    run->end.event = CULEX_EVENT_FAIL;
    culex__run_set_text(run, CULEX__NO_OUTCOME_FORMAT, "the handler", (int)outcome);
}

static culex_status params_decode(struct culex_run *run, const void **ret_params,
                                  struct culex_rest *ret_rest, culex_error *error)
{
    const culex_struct_type *type = run->job.type->params;
    const struct culex__sealing sealing = culex__run_sealing(run, CULEX_SEALED_PARAMS);
    culex_status status = culex__decode_params(&sealing, type, run->arena, run->payload,
                                               run->payload_len, ret_params, ret_rest, error);
    if (status == CULEX_OK && !culex__secrets_collect(type, *ret_params, &run->secrets))
        return culex__fail(error, CULEX_ENOMEM, "no memory for its secrets");
    run->params_secrets_len = run->secrets.len;
    return status;
}

static culex_outcome handler_call(struct culex_run *run, const void *params)
{
    return run->job.hooks != NULL ? culex__run_hooks_call(run, params)
                                  : run->job.call(run, run->job.handler, params, run->job.user);
}

static void culex__run_call(struct culex_run *run)
{
    culex_error error = {0};
    const void *params = NULL;
    const culex_job_type *next = NULL;
    struct culex_rest rest = {NULL, 0};
    culex_status status = params_decode(run, &params, &rest, &error);
    if (status == CULEX_OK && rest.count > 0)
        status = culex__chain_next(run, rest, &next, &error);
    if (status == CULEX_OK)
        end_outcome(run, handler_call(run, params));
    else
        end_undecoded(run, status, &error);
    if (next != NULL && run->end.event == CULEX_EVENT_DONE)
        culex__chain_go_on(run, next, rest);
}

/* What it enqueues is of its trace, in its own name or in that of its chain. */
static void culex__run_call_traced(struct culex_run *run)
{
    const struct culex_tracing off = {false, false};
    struct culex_trace trace;
    const struct culex_trace *before = NULL;
    char parent[CULEX_SPAN_ID_SIZE];
    culex__tracing_enter(run->loan != NULL ? &run->loan->tracing : &off, run, &trace, parent);
    run->trace = trace.parent[0] != '\0' ? &trace : NULL;
    before = culex__thread_trace_enter(run->trace);
    culex__run_call(run);
    culex__thread_trace_enter(before);
    run->trace = NULL;
}

/* Returns when the handler begins. The line may have to wait, in a child for as long as the store
 * keeps the supervisor waiting: that is not the handler's time. */
static int64_t start_tell(struct culex_run *run, const struct culex_env *env, int64_t started_ns)
{
    atomic_store_explicit(&run->started_ns, started_ns, memory_order_relaxed);
    if (!culex__log_wants(run->log, CULEX_LOG_INFO))
        return started_ns;
    struct culex_log_subject subject = culex__run_subject(run);
    culex__log_write(run->log, CULEX_LOG_INFO, &subject, "started");
    started_ns = culex__env_boottime_ns(env);
    atomic_store_explicit(&run->started_ns, started_ns, memory_order_relaxed);
    return started_ns;
}

void culex__run_execute(struct culex_run *run, culex_arena *arena, const struct culex_env *env)
{
    run->end = (struct culex_execution_end){0};
    run->has_result = false;
    culex__run_forget_secrets(run);
    culex__run_forget_follow_ups(run);
    if (run->result.cap > CULEX_RUN_KEEP_BYTES)
        culex_buf_release(&run->result);
    int64_t started_ns = culex__env_boottime_ns(env);
    int64_t lease_ns = atomic_load_explicit(&run->lease_ns, memory_order_relaxed);
    if (culex_run_cancelled(run) || (lease_ns != 0 && started_ns >= lease_ns)) {
        end_release(run, 0);
        return;
    }
    if (arena == NULL) {
        end_release(run, culex__run_unknown_delay_ms(0));
        return;
    }
    started_ns = start_tell(run, env, started_ns);
    run->arena = arena;
    culex__run_call_traced(run);
    run->arena = NULL;
    culex_arena_reset(arena);
    run->end.ended_ns = culex__env_boottime_ns(env);
    run->end.duration_ns = run->end.ended_ns - started_ns;
}
