/* test/clock.c - the clock as a test moves it, also from within a handler. */
#include "base/instant.h"
#include "core/duration.h"
#include "core/timestamp.h"
#include "settings/option.h"
#include "test/failure.h"
#include "test/kit.h"
#include "worker/flight_pool.h"
#include "worker/worker_private.h"

enum { HOLD_MS = CULEX_OPTION_DAY_MS };

/* What the worker would do meanwhile: a beat, for the run whose handler takes the time. Its lease
 * is as long as a lease of the kit's worker then, whatever its timeout; that counts when it has
 * come back. */
static void lease_hold(culex_test *test)
{
    struct culex_flight *flight = culex__flight_of(test->hands.run);
    struct culex_lane *lane = flight->lane;
    const struct culex_beat beat = {.id = flight->run.facts.id,
                                    .attempt = flight->run.facts.attempt,
                                    .extend_ms = HOLD_MS,
                                    .is_started = true};
    const struct culex_step step = {.queue = lane->name,
                                    .session = lane->greeting.session,
                                    .nonce = lane->worker->nonce++,
                                    .lease_ms = lane->worker->options.lease_ms,
                                    .beats = &beat,
                                    .beat_count = 1};
    struct culex_step_reply reply = {0};
    if (test->store->ops->step(test->store, &step, &reply, NULL) != CULEX_OK)
        return;
    int64_t now_ns = test->frozen.boottime_ns;
    if (reply.beats[0] == CULEX_ANSWER_OK || reply.beats[0] == CULEX_ANSWER_CANCEL)
        culex__flight_renew(flight, now_ns, culex__after_ms(now_ns, HOLD_MS));
    test->store->ops->step_release(test->store, &reply);
}

/* What the loop would see meanwhile: the run's timeout, which asks its handler to stop. */
static void clock_move(culex_test *test, int64_t ms)
{
    struct culex_run *run = test->hands.run;
    if (run != NULL)
        lease_hold(test);
    culex__frozen_pass(&test->frozen, ms);
    if (run == NULL)
        return;
    lease_hold(test); /* or a way of days would be one without a beat */
    culex__flight_attend(culex__flight_of(run)->lane, test->frozen.boottime_ns);
}

void culex_test_advance(culex_test *test, culex_duration duration)
{
    if (test == NULL)
        return;
    if (culex__duration_is_slip(duration))
        culex__test_owe(test,
                        "culex_test_advance by %lld nanoseconds is too short to be meant: write "
                        "culex_seconds(%lld), or culex_milliseconds, _minutes, _hours, _days",
                        (long long)duration, (long long)duration);
    else if (duration > 0)
        clock_move(test, duration / CULEX_MS_NS);
}

static void instant_refuse(culex_test *test, culex_time now)
{
    char text[CULEX_TIMESTAMP_TEXT_MAX + 1];
    text[culex__timestamp_format(now, text)] = '\0';
    culex__test_owe(test,
                    "culex_test_set_now to %s, which is before 2001 or after 2149: a culex_time is "
                    "in nanoseconds; culex_time_from_unix(seconds) makes one",
                    text);
}

/* The time since boot goes on by itself, as that of a machine does when its clock is set. */
void culex_test_set_now(culex_test *test, culex_time now)
{
    if (test == NULL)
        return;
    if (!culex__frozen_takes(now)) {
        instant_refuse(test, now);
        return;
    }
    int64_t ahead_ms = now / CULEX_MS_NS - test->frozen.now_ms;
    if (ahead_ms > 0)
        clock_move(test, ahead_ms);
    else
        test->frozen.now_ms += ahead_ms;
}
