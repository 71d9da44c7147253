#include "worker/verdict.h"

#include <stdio.h>

#include "worker/worker_private.h"

void culex__verdict_time_out(struct culex_flight *flight, const char *how)
{
    char span[CULEX_LOG_SPAN_SIZE];
    culex__log_format_span(flight->run.facts.timeout_ms, span);
    culex__run_set_text(&flight->run, "timed out after %s%s%s", span, how[0] != '\0' ? "; " : "",
                        how);
    flight->run.end.event = CULEX_EVENT_FAIL;
    flight->run.end.is_snoozed = flight->run.end.is_not_understood = false;
    flight->has_timed_out = true;
    culex__tally_add(flight->lane->worker, CULEX_TALLY_TIMED_OUT, 1);
}

/* When the handler came to its end, which may be told late: while the store keeps the worker
 * waiting nobody hears of it. A child may tell anything, but it has ended by now. */
static int64_t ended_ns(const struct culex_flight *flight)
{
    int64_t now_ns = culex__worker_now_ns(flight->lane->worker);
    int64_t told_ns = flight->run.end.ended_ns;
    return told_ns > 0 && told_ns < now_ns ? told_ns : now_ns;
}

static void end_time_out(struct culex_flight *flight)
{
    char how[CULEX_ERROR_TEXT_MAX], span[CULEX_LOG_SPAN_SIZE];
    int64_t late_ns = ended_ns(flight) - flight->deadline_ns;
    culex__log_format_span(late_ns > 0 ? late_ns / CULEX_MS_NS : 0, span);
    if (flight->run.end.event == CULEX_EVENT_CRASH)
        snprintf(how, sizeof how, "%s", flight->run.end.text);
    else
        snprintf(how, sizeof how, "the handler returned by itself %s later", span);
    culex__verdict_time_out(flight, how);
}

/* The handler was asked to stop for a reason that is not the run's, and its process died of that,
 * or it says that it has not come to its end. A cancelled run ends in any case, with what was said.
 */
static bool end_is_ours(const struct culex_flight *flight)
{
    bool is_unfinished = flight->run.end.event == CULEX_EVENT_CRASH ||
                         (flight->run.end.event == CULEX_EVENT_FAIL && !flight->has_cancel);
    return is_unfinished && ended_ns(flight) >= flight->term_ns;
}

static void end_release(struct culex_flight *flight)
{
    const char *why = flight->has_cancel   ? "cancelled"
                      : flight->is_cut_off ? "cut off from the store"
                      : culex__crew_is_gone(flight->lane->worker)
                          ? "its process died with the one that starts them"
                          : "shutdown";
    if (flight->run.end.event == CULEX_EVENT_FAIL)
        culex__run_set_text(&flight->run, "%s; %s", why, flight->run.end.text);
    else
        flight->run.end.text = why;
    flight->run.end.event = CULEX_EVENT_RELEASE;
    flight->run.end.delay_ms = 0;
}

/* It was at work when the process that starts handlers was killed, and may have done that itself;
 * or the worker was held up, and the end of the lease came before the news of a longer one. */
static bool end_is_loss(const struct culex_flight *flight)
{
    bool is_taken_along = culex__crew_is_gone(flight->lane->worker) || flight->run.end.is_overtime;
    return flight->run.end.event == CULEX_EVENT_CRASH && flight->term_ns == INT64_MAX &&
           is_taken_along;
}

static void end_lose(struct culex_flight *flight)
{
    unsigned losses = (unsigned)flight->run.facts.counters.losses + 1;
    culex__run_set_text(
        &flight->run, "%s (loss %u of %d)",
        flight->run.end.is_overtime
            ? "it was killed at the end of its lease, which was made longer too late"
            : "its process died with the one that starts them",
        losses, CULEX_LOSSES_MAX);
    flight->run.end.event = CULEX_EVENT_LOSS;
}

bool culex__verdict_reach(struct culex_flight *flight)
{
    bool has_begun = atomic_load_explicit(&flight->run.started_ns, memory_order_relaxed) > 0;
    if (has_begun && ended_ns(flight) >= flight->run.lease_ns)
        return false;
    if (has_begun && ended_ns(flight) >= flight->deadline_ns)
        end_time_out(flight);
    else if (end_is_loss(flight) && !flight->is_excused)
        end_lose(flight);
    else if (end_is_loss(flight) || end_is_ours(flight))
        end_release(flight);
    return true;
}
