#include "worker/verdict.h"

#include <stdio.h>

#include "worker/worker_private.h"

#define MS INT64_C(1000000)

void culex__verdict_time_out(struct culex_run *run, const char *how)
{
    char span[CULEX_LOG_SPAN_SIZE];
    culex__log_format_span(run->facts.timeout_ms, span);
    culex__run_set_text(run, "timed out after %s%s%s", span, how[0] != '\0' ? "; " : "", how);
    run->end.event = CULEX_EVENT_FAIL;
    run->end.is_snoozed = run->end.is_not_understood = false;
    run->lane->worker->counts.timed_out++;
}

/* When the handler came to its end. */
static int64_t ended_ns(const struct culex_run *run)
{
    int64_t started_ns = atomic_load_explicit(&run->started_ns, memory_order_relaxed);
    return started_ns > 0 ? started_ns + run->end.duration_ns
                          : culex__worker_now_ns(run->lane->worker);
}

static void end_time_out(struct culex_run *run)
{
    char how[CULEX_ERROR_TEXT_MAX], span[CULEX_LOG_SPAN_SIZE];
    int64_t late_ns = ended_ns(run) - run->deadline_ns;
    culex__log_format_span(late_ns > 0 ? late_ns / MS : 0, span);
    if (run->end.event == CULEX_EVENT_CRASH)
        snprintf(how, sizeof how, "%s", run->end.text);
    else
        snprintf(how, sizeof how, "the handler returned by itself %s later", span);
    culex__verdict_time_out(run, how);
}

/* The handler was asked to stop for a reason that is not the run's, and its process died of that,
 * or it says that it has not come to its end. A cancelled run ends in any case, with what was said.
 */
static bool end_is_ours(const struct culex_run *run)
{
    bool is_unfinished = run->end.event == CULEX_EVENT_CRASH ||
                         (run->end.event == CULEX_EVENT_FAIL && !run->has_cancel);
    return is_unfinished && ended_ns(run) >= run->term_ns;
}

static bool is_executor_gone(const struct culex_run *run)
{
    struct culex_executor *executor = run->lane->worker->executor;
    return executor->ops->is_broken != NULL && executor->ops->is_broken(executor);
}

static void end_release(struct culex_run *run)
{
    const char *why = run->has_cancel         ? "cancelled"
                      : run->is_fenced        ? "cut off from the store"
                      : is_executor_gone(run) ? "its process died with the one that starts them"
                                              : "shutdown";
    if (run->end.event == CULEX_EVENT_FAIL)
        culex__run_set_text(run, "%s; %s", why, run->end.text);
    else
        run->end.text = why;
    run->end.event = CULEX_EVENT_RELEASE;
    run->end.delay_ms = 0;
}

/* It was at work when the process that starts handlers was killed, and may have done that itself.
 */
static bool end_is_loss(const struct culex_run *run)
{
    return run->end.event == CULEX_EVENT_CRASH && run->term_ns == INT64_MAX &&
           is_executor_gone(run);
}

static void end_lose(struct culex_run *run)
{
    unsigned losses = (unsigned)run->facts.counters.losses + 1;
    culex__run_set_text(run, "its process died with the one that starts them (loss %u of %d)",
                        losses, CULEX_LOSSES_MAX);
    run->end.event = CULEX_EVENT_LOSS;
}

bool culex__verdict_reach(struct culex_run *run)
{
    bool has_begun = atomic_load_explicit(&run->started_ns, memory_order_relaxed) > 0;
    if (has_begun && ended_ns(run) >= run->lease_ns)
        return false;
    if (has_begun && (run->is_timed_out || ended_ns(run) >= run->deadline_ns))
        end_time_out(run);
    else if (end_is_loss(run) && !run->is_excused)
        end_lose(run);
    else if (end_is_loss(run) || end_is_ours(run))
        end_release(run);
    return true;
}
