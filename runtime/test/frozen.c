#include "test/frozen.h"

#include <poll.h>
#include <string.h>

#include "core/timestamp.h"
#include "base/instant.h"
#include "test/kit.h"
#include "worker/worker_private.h"

enum {
    BEGIN_S = 978307200, /* 2001-01-01 */
    SHORT_MS = 10,       /* the store wants to be asked again at once */
    NUDGES_MAX = 1000,   /* of these in a pass */
};

/* --- the clock ------------------------------------------------------------------------------- */

bool culex__frozen_takes(culex_time at)
{
    return at >= BEGIN_S * CULEX_SECOND && at <= CULEX_INSTANT_MAX_MS * CULEX_MS_NS;
}

void culex__frozen_pass(struct culex_frozen *frozen, int64_t ms)
{
    int64_t left_ms = CULEX_INSTANT_MAX_MS - frozen->now_ms;
    int64_t passed_ms = ms < left_ms ? ms : left_ms;
    frozen->now_ms += passed_ms;
    frozen->boottime_ns += passed_ms * CULEX_MS_NS;
}

culex_time culex_test_now(const culex_test *test)
{
    return test != NULL ? test->frozen.now_ms * CULEX_MS_NS : 0;
}

/* --- the table -------------------------------------------------------------------------------- */

static int64_t frozen_clock_ms(void *self)
{
    return ((culex_test *)self)->frozen.now_ms;
}

static int64_t frozen_boottime_ns(void *self)
{
    return ((culex_test *)self)->frozen.boottime_ns;
}

/* splitmix64 */
static uint64_t bits_draw(struct culex_frozen *frozen)
{
    uint64_t bits = frozen->seed += UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    return bits ^ bits >> 31;
}

static void frozen_random(void *self, void *ret_bytes, size_t len)
{
    unsigned char *at = ret_bytes;
    for (size_t part; len > 0; at += part, len -= part) {
        uint64_t bits = bits_draw(&((culex_test *)self)->frozen);
        part = len < sizeof bits ? len : sizeof bits;
        memcpy(at, &bits, part);
    }
}

/* A client waits before it tries again: deadlines come nearer, and nobody sees the clock move. */
static int client_wait(struct culex_frozen *frozen, int timeout_ms)
{
    frozen->boottime_ns += timeout_ms * CULEX_MS_NS;
    return 0;
}

/* When something is due: the loop looks up every few seconds by itself, which would make a long way
 * of a year. */
static int64_t due_ns(const culex_worker *worker)
{
    int64_t next_ns = culex__ticks_next_ns(worker);
    for (size_t i = 0; i < worker->lane_count; i++)
        next_ns = culex__min_ns(next_ns, culex__lane_next_ns(&worker->lanes[i]));
    return next_ns;
}

/* How far the clock moves, at most `left_ms`. */
static int64_t step_ms(const culex_test *test, int timeout_ms, int64_t left_ms)
{
    int64_t wait_ns = due_ns(test->worker) - test->frozen.boottime_ns;
    int64_t wait_ms = wait_ns / CULEX_MS_NS + (wait_ns % CULEX_MS_NS > 0);
    if (wait_ms < timeout_ms)
        wait_ms = timeout_ms;
    return wait_ms < left_ms ? wait_ms : left_ms;
}

/* The loop has nothing to do for so long. What has run by now may have changed what is due when,
 * and which queues there are: the next pass begins with a look at all. */
static void loop_wait(culex_test *test, int timeout_ms)
{
    struct culex_frozen *frozen = &test->frozen;
    int64_t left_ms = frozen->until_ms - frozen->now_ms;
    if (timeout_ms <= SHORT_MS && frozen->nudges < NUDGES_MAX) {
        frozen->nudges++;
        frozen->boottime_ns += timeout_ms * CULEX_MS_NS;
        return;
    }
    if (frozen->wants_end) {
        frozen->boottime_ns += timeout_ms * CULEX_MS_NS; /* it has a grace period */
        return;
    }
    if (left_ms > 0 && test->hands.calls == 0 && !test->hands.instant.is_over) {
        culex__frozen_pass(frozen, step_ms(test, timeout_ms, left_ms));
        return;
    }
    culex_worker_stop(test->worker);
    frozen->wants_end = true;
}

void culex__frozen_begin(struct culex_frozen *frozen)
{
    frozen->nudges = 0;
    frozen->wants_end = false;
}

static int frozen_poll(void *self, struct pollfd *fds, nfds_t count, int timeout_ms)
{
    culex_test *test = self;
    if (count == 0)
        return client_wait(&test->frozen, timeout_ms);
    int ready = poll(fds, count, 0);
    if (ready != 0 || timeout_ms == 0)
        return ready;
    loop_wait(test, timeout_ms);
    return poll(fds, count, 0);
}

void culex__frozen_env(culex_test *test)
{
    test->env =
        *culex__env_system(); /* nothing is sent: its functions for sockets are never called */
    test->env.self = test;
    test->env.clock_ms = frozen_clock_ms;
    test->env.store_clock_ms = frozen_clock_ms;
    test->env.boottime_ns = frozen_boottime_ns;
    test->env.random = frozen_random;
    test->env.poll = frozen_poll;
    test->env.is_simulated = true;
    test->frozen.boottime_ns = 1000 * CULEX_SECOND; /* 0 means never in places */
}
