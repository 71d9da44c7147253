/* test/drain.c - passes of the worker's loop.
 *
 * A pass moves the clock as far as it may until something runs, runs all that is due then, and ends
 * where the loop would wait. What has run may have brought queues, or moved what was due: the next
 * pass looks at the store anew. When one has run nothing, there is nothing. */
#include <stdint.h>

#include "core/duration.h"
#include "test/failure.h"
#include "test/kit.h"
#include "test/strays.h"
#include "worker/worker_private.h"

/* --- one pass ------------------------------------------------------------------------------------
 */

static culex_status pass_run(culex_test *test, culex_error *error)
{
    size_t job_count = test->worker->job_count;
    culex_status status = culex__scripts_register(test, error);
    if (status == CULEX_OK)
        status = culex__service_begin(test, error);
    if (status == CULEX_OK && test->service.queue_count > 0)
        status = culex_worker_run(test->worker, error);
    culex__service_end(test);
    test->worker->job_count = job_count; /* stand-ins make room for handlers */
    return status;
}

/* At most `most` calls, at the clock's time or later until `until_ms`. */
static bool pass(culex_test *test, int64_t until_ms, size_t most)
{
    culex_error error = {0};
    test->hands.calls = test->hands.refusals =
        0; /* where there is nothing to serve, the loop does not begin */
    test->hands.most = most;
    test->frozen.until_ms = until_ms;
    culex_status status = pass_run(test, &error);
    test->hands.most = test->options.most;
    test->frozen.until_ms = 0;
    culex__strays_return(test);
    if (status != CULEX_OK)
        return culex__test_fail(test, "the drain ended: %s (%s)", error.text,
                                culex_status_name(status));
    return true;
}

/* --- many ----------------------------------------------------------------------------------------
 */

static bool is_free(culex_test *test)
{
    if (!culex__test_begin(test))
        return false;
    if (atomic_load(&test->worker->life) != CULEX_LIFE_NONE)
        return culex__test_fail(test, "a drain within a drain: a handler must not run others");
    return true;
}

static bool passes(culex_test *test, int64_t until_ms, size_t *ret_calls)
{
    bool is_well;
    do {
        is_well = pass(test, until_ms, SIZE_MAX);
        *ret_calls += test->hands.calls;
    } while (is_well && culex__hands_turns(&test->hands) > 0 && !test->hands.instant.is_over);
    return is_well;
}

/* Calls of one instant are bounded: time ends the others. */
static bool drain(culex_test *test, int64_t until_ms, size_t *ret_calls)
{
    size_t calls = 0;
    test->hands.instant.most = test->options.most;
    test->hands.instant.turns = 0;
    bool is_well = passes(test, until_ms, &calls);
    bool is_over = test->hands.instant.is_over;
    test->hands.instant.is_over = false;
    test->hands.instant.most = 0;
    if (ret_calls != NULL)
        *ret_calls = calls;
    if (is_well && is_over && culex__calls_newest(&test->calls) == NULL)
        return culex__test_fail(test,
                                "the drain ended after hooks had kept %zu runs from their "
                                "handlers at one time",
                                test->options.most);
    if (is_well && is_over)
        return culex__test_fail(test,
                                "the drain ended after %zu calls at one time, the last of job %s: "
                                "runs that enqueue others for ever? see culex_test_options.most",
                                test->options.most, culex__calls_newest(&test->calls)->job);
    if (is_well && test->frozen.now_ms < until_ms) /* there is no queue yet */
        culex__frozen_pass(&test->frozen, until_ms - test->frozen.now_ms);
    return is_well;
}

bool culex_test_drain(culex_test *test, size_t *ret_calls)
{
    return is_free(test) && drain(test, test->frozen.now_ms, ret_calls);
}

bool culex_test_drain_through(culex_test *test, culex_duration duration, size_t *ret_calls)
{
    if (!is_free(test))
        return false;
    if (culex__duration_is_slip(duration))
        return culex__test_fail(test,
                                "a drain through %lld nanoseconds is too short to be meant: write "
                                "culex_seconds(%lld), or culex_milliseconds, _minutes, _hours, "
                                "_days",
                                (long long)duration, (long long)duration);
    int64_t span_ms = duration > 0 ? duration / CULEX_MS_NS : 0;
    int64_t left_ms = CULEX_INSTANT_MAX_MS - test->frozen.now_ms;
    return drain(test, test->frozen.now_ms + (span_ms < left_ms ? span_ms : left_ms), ret_calls);
}

bool culex_test_run_one(culex_test *test, const culex_test_call **ret_call)
{
    if (!is_free(test) || !pass(test, test->frozen.now_ms, 1))
        return false;
    if (ret_call != NULL)
        *ret_call = culex__hands_turns(&test->hands) > 0 ? test->hands.call : NULL;
    return true;
}
