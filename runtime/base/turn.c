#include "base/turn.h"

#include <assert.h>

#include "base/uptime.h"

void culex__turn_init(struct culex_turn *turn)
{
    pthread_mutex_init(&turn->lock, NULL);
    turn->first = NULL;
    turn->end = &turn->first;
    turn->is_taken = false;
}

void culex__turn_destroy(struct culex_turn *turn)
{
    assert(!turn->is_taken && turn->first == NULL);
    pthread_mutex_destroy(&turn->lock);
}

/* --- the line, under the lock ---------------------------------------------------------- */

static void waiter_init(struct culex_turn_waiter *waiter, void *load)
{
    pthread_condattr_t by_uptime;
    pthread_condattr_init(&by_uptime);
    pthread_condattr_setclock(&by_uptime, CLOCK_MONOTONIC);
    *waiter = (struct culex_turn_waiter){.load = load};
    pthread_cond_init(&waiter->woken, &by_uptime);
    pthread_condattr_destroy(&by_uptime);
}

static void line_join(struct culex_turn *turn, struct culex_turn_waiter *waiter)
{
    *turn->end = waiter;
    turn->end = &waiter->next;
}

/* Out of the place to which `at` points. */
static void line_leave(struct culex_turn *turn, struct culex_turn_waiter **at)
{
    struct culex_turn_waiter *waiter = *at;
    *at = waiter->next;
    if (turn->end == &waiter->next)
        turn->end = at;
    waiter->next = NULL;
}

static void line_leave_whole(struct culex_turn *turn, struct culex_turn_waiter *waiter)
{
    struct culex_turn_waiter **at = &turn->first;
    while (*at != waiter)
        at = &(*at)->next;
    line_leave(turn, at);
}

/* --- waiting, under the lock ------------------------------------------------------------- */

/* In the line until the turn is free, the load is taken along or the time is up. */
static void turn_await(struct culex_turn *turn, struct culex_turn_waiter *waiter,
                       int64_t timeout_ms)
{
    const int64_t year_ms = INT64_C(365) * 86400000;
    struct timespec until = culex__uptime_after(timeout_ms < year_ms ? timeout_ms : year_ms);
    int failure = 0;
    while (turn->is_taken && !waiter->is_away && failure == 0)
        failure = pthread_cond_timedwait(&waiter->woken, &turn->lock, &until);
    while (waiter->is_away && !waiter->is_back)
        pthread_cond_wait(&waiter->woken, &turn->lock);
}

static enum culex_turn_end turn_wait(struct culex_turn *turn, void *load, int64_t timeout_ms)
{
    struct culex_turn_waiter waiter;
    waiter_init(&waiter, load);
    line_join(turn, &waiter);
    turn_await(turn, &waiter, timeout_ms);
    if (!waiter.is_away)
        line_leave_whole(turn, &waiter);
    pthread_cond_destroy(&waiter.woken);
    if (waiter.is_away)
        return CULEX_TURN_CARRIED;
    return turn->is_taken ? CULEX_TURN_LATE : CULEX_TURN_TAKEN;
}

/* --- turns ------------------------------------------------------------------------------- */

enum culex_turn_end culex__turn_share(struct culex_turn *turn, void *load, int64_t timeout_ms)
{
    enum culex_turn_end end = CULEX_TURN_TAKEN;
    pthread_mutex_lock(&turn->lock);
    if (turn->is_taken)
        end = turn_wait(turn, load, timeout_ms);
    if (end == CULEX_TURN_TAKEN)
        turn->is_taken = true;
    pthread_mutex_unlock(&turn->lock);
    return end;
}

bool culex__turn_take(struct culex_turn *turn, int64_t timeout_ms)
{
    return culex__turn_share(turn, NULL, timeout_ms) == CULEX_TURN_TAKEN;
}

bool culex__turn_try(struct culex_turn *turn)
{
    pthread_mutex_lock(&turn->lock);
    bool is_ours = !turn->is_taken;
    turn->is_taken = true;
    pthread_mutex_unlock(&turn->lock);
    return is_ours;
}

/* The first in the line is woken: it takes the turn, or another one has it and gives it on. */
void culex__turn_give(struct culex_turn *turn)
{
    pthread_mutex_lock(&turn->lock);
    assert(turn->is_taken);
    turn->is_taken = false;
    if (turn->first != NULL)
        pthread_cond_signal(&turn->first->woken);
    pthread_mutex_unlock(&turn->lock);
}

/* --- loads ------------------------------------------------------------------------------- */

struct culex_turn_waiter *culex__turn_collect(struct culex_turn *turn, culex__turn_wants_fn wants,
                                              void *user)
{
    struct culex_turn_waiter *list = NULL, **end = &list, **at = &turn->first;
    pthread_mutex_lock(&turn->lock);
    assert(turn->is_taken);
    while (*at != NULL) {
        struct culex_turn_waiter *waiter = *at;
        if (waiter->load == NULL || !wants(user, waiter->load)) {
            at = &waiter->next;
            continue;
        }
        line_leave(turn, at);
        waiter->is_away = true;
        *end = waiter;
        end = &waiter->next;
    }
    pthread_mutex_unlock(&turn->lock);
    return list;
}

/* A waiter is gone as soon as it knows. */
void culex__turn_return(struct culex_turn *turn, struct culex_turn_waiter *list)
{
    pthread_mutex_lock(&turn->lock);
    while (list != NULL) {
        struct culex_turn_waiter *waiter = list;
        list = waiter->next;
        waiter->is_back = true;
        pthread_cond_signal(&waiter->woken);
    }
    pthread_mutex_unlock(&turn->lock);
}
