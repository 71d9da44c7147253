#include "base/turn.h"

#include <assert.h>

#include "base/uptime.h"

void culex__turn_init(struct culex_turn *turn)
{
    pthread_condattr_t by_uptime;
    pthread_condattr_init(&by_uptime);
    pthread_condattr_setclock(&by_uptime, CLOCK_MONOTONIC);
    pthread_mutex_init(&turn->lock, NULL);
    pthread_cond_init(&turn->given, &by_uptime);
    pthread_condattr_destroy(&by_uptime);
    turn->is_taken = false;
}

void culex__turn_destroy(struct culex_turn *turn)
{
    assert(!turn->is_taken);
    pthread_cond_destroy(&turn->given);
    pthread_mutex_destroy(&turn->lock);
}

/* Under the lock. */
static bool turn_await(struct culex_turn *turn, int64_t timeout_ms)
{
    const int64_t year_ms = INT64_C(365) * 86400000;
    struct timespec until = culex__uptime_after(timeout_ms < year_ms ? timeout_ms : year_ms);
    int failure = 0;
    while (turn->is_taken && failure == 0)
        failure = pthread_cond_timedwait(&turn->given, &turn->lock, &until);
    return !turn->is_taken;
}

bool culex__turn_take(struct culex_turn *turn, int64_t timeout_ms)
{
    pthread_mutex_lock(&turn->lock);
    bool is_ours = !turn->is_taken || turn_await(turn, timeout_ms);
    turn->is_taken = true;
    pthread_mutex_unlock(&turn->lock);
    return is_ours;
}

void culex__turn_give(struct culex_turn *turn)
{
    pthread_mutex_lock(&turn->lock);
    assert(turn->is_taken);
    turn->is_taken = false;
    pthread_cond_signal(&turn->given);
    pthread_mutex_unlock(&turn->lock);
}
