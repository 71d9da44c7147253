#include "client/wait_desk.h"

#include <assert.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/instant.h"
#include "base/uptime.h"
#include "client/effort.h"
#include "platform/descriptor.h"
#include "platform/env.h"
#include "platform/events.h"
#include "store/store.h"

enum {
    ARMED_MS = 60000, /* then a store may let go, and is armed again */
    BLIND_MS = 1000,  /* between looks into a store that wakes nobody */
};

void culex__wait_desk_init(struct culex_wait_desk *desk, const struct culex_env *env)
{
    pthread_condattr_t by_uptime;
    pthread_condattr_init(&by_uptime);
    pthread_condattr_setclock(&by_uptime, CLOCK_MONOTONIC);
    pthread_mutex_init(&desk->lock, NULL);
    pthread_cond_init(&desk->news, &by_uptime);
    pthread_condattr_destroy(&by_uptime);
    desk->fd = desk->bell_fd = -1;
    desk->log = (struct culex_log){
        .sink = culex__log_stderr(), .env = env, .format = CULEX_LOG_TEXT, .level = CULEX_LOG_INFO};
}

void culex__wait_desk_release(struct culex_wait_desk *desk, bool is_ours)
{
    if (is_ours) {
        pthread_cond_destroy(&desk->news);
        pthread_mutex_destroy(&desk->lock);
    }
    culex__descriptor_close(desk->bell_fd);
    for (size_t i = 0; i < desk->queue_count; i++)
        free(desk->queues[i]);
    free(desk->queues);
    free(desk->queue_waits);
}

culex_status culex__wait_desk_open(struct culex_wait_desk *desk, culex_error *error)
{
    pthread_mutex_lock(&desk->lock);
    if (desk->bell_fd < 0)
        desk->bell_fd = culex__bell_open();
    bool is_open = desk->bell_fd >= 0;
    pthread_mutex_unlock(&desk->lock);
    return is_open ? CULEX_OK : culex__fail(error, CULEX_ENOMEM, "no descriptor to wait at");
}

/* --- in the client's turn ------------------------------------------------------------------- */

/* Those for which nobody waits any more. */
static void queues_drop(struct culex_wait_desk *desk)
{
    size_t kept = 0;
    pthread_mutex_lock(&desk->lock);
    for (size_t i = 0; i < desk->queue_count; i++) {
        if (desk->queue_waits[i] == 0) {
            free(desk->queues[i]);
            continue;
        }
        desk->queues[kept] = desk->queues[i];
        desk->queue_waits[kept++] = desk->queue_waits[i];
    }
    desk->queue_count = kept;
    pthread_mutex_unlock(&desk->lock);
}

/* Its place, or the number of queues: it is none of them. */
static size_t queue_find(const struct culex_wait_desk *desk, const char *queue)
{
    size_t at = 0;
    while (at < desk->queue_count && strcmp(desk->queues[at], queue) != 0)
        at++;
    return at;
}

static bool queue_add(struct culex_wait_desk *desk, const char *queue)
{
    size_t count = desk->queue_count + 1;
    char **queues = realloc(desk->queues, count * sizeof *queues);
    if (queues != NULL)
        desk->queues = queues;
    size_t *waits = realloc(desk->queue_waits, count * sizeof *waits);
    if (waits != NULL)
        desk->queue_waits = waits;
    char *name = queues != NULL && waits != NULL ? strdup(queue) : NULL;
    if (name == NULL)
        return false;
    desk->queues[desk->queue_count] = name;
    desk->queue_waits[desk->queue_count++] = 0;
    desk->is_changed = true;
    return true;
}

culex_status culex__wait_desk_join(struct culex_wait_desk *desk, const char *queue,
                                   culex_error *error)
{
    bool is_there = queue_find(desk, queue) < desk->queue_count;
    if (!is_there && desk->queue_count == CULEX_STORE_BATCH_MAX)
        queues_drop(desk);
    if (!is_there && desk->queue_count == CULEX_STORE_BATCH_MAX)
        return culex__fail(error, CULEX_ELIMIT, "one client waits for runs of at most %d queues",
                           CULEX_STORE_BATCH_MAX);
    pthread_mutex_lock(&desk->lock);
    is_there = is_there || queue_add(desk, queue);
    if (is_there)
        desk->queue_waits[queue_find(desk, queue)]++;
    pthread_mutex_unlock(&desk->lock);
    return is_there ? CULEX_OK
                    : culex__fail(error, CULEX_ENOMEM, "no memory to wait for queue %s", queue);
}

void culex__wait_desk_part(struct culex_wait_desk *desk, const char *queue)
{
    pthread_mutex_lock(&desk->lock);
    size_t at = queue_find(desk, queue);
    assert(at < desk->queue_count && desk->queue_waits[at] > 0);
    desk->queue_waits[at]--;
    pthread_mutex_unlock(&desk->lock);
}

/* A connection that has ended comes again, and would if it were told. */
static void refusal_note(struct culex_wait_desk *desk, culex_status status,
                         const culex_error *refusal)
{
    if (desk->is_told || culex__effort_is_passing(status))
        return;
    desk->refusal = *refusal;
    desk->refusal.code = status;
}

void culex__wait_desk_tell(struct culex_wait_desk *desk)
{
    if (desk->is_told || desk->refusal.code == CULEX_OK)
        return;
    desk->is_told = true;
    culex__log_write(&desk->log, CULEX_LOG_WARNING, NULL,
                     "ends of runs cannot be told, and are looked for every second: %s",
                     desk->refusal.text);
}

/* True when all are to look: a word has come, or may have been lost. */
static bool word_take(struct culex_wait_desk *desk, struct culex_store *store)
{
    culex_error refusal = {.code = CULEX_OK};
    bool is_woken = false;
    culex_status status = store->ops->wake_take(store, &is_woken, &refusal);
    if (status != CULEX_OK) {
        desk->blind_until_ns = culex__after_ms(culex__env_boottime_ns(store->env), BLIND_MS);
        refusal_note(desk, status, &refusal);
        is_woken = true;
    }
    desk->is_armed = desk->is_armed && !is_woken;
    if (!desk->is_armed || !desk->is_changed)
        return is_woken;
    store->ops->wake_disarm(store);
    desk->is_armed = false;
    return true;
}

static void desk_note(struct culex_wait_desk *desk, int fd, bool is_woken, bool is_leader,
                      uint64_t *ret_seen)
{
    pthread_mutex_lock(&desk->lock);
    if (!is_leader)
        culex__bell_ring(desk->bell_fd);
    desk->fd = fd;
    desk->wakes += is_woken;
    if (is_woken)
        pthread_cond_broadcast(&desk->news);
    *ret_seen = desk->wakes;
    pthread_mutex_unlock(&desk->lock);
}

culex_status culex__wait_desk_arm(struct culex_wait_desk *desk, struct culex_store *store,
                                  bool is_leader, uint64_t *ret_seen, culex_error *error)
{
    int fd = -1;
    culex_status status = CULEX_OK;
    bool is_woken = word_take(desk, store);
    queues_drop(desk);
    if (culex__env_boottime_ns(store->env) >= desk->blind_until_ns) {
        status = store->ops->wait_arm(store, (const char *const *)desk->queues, desk->queue_count,
                                      ARMED_MS, &fd, error);
        desk->is_armed = status == CULEX_OK;
        desk->is_changed = desk->is_changed && status != CULEX_OK;
    }
    desk_note(desk, fd, is_woken, is_leader, ret_seen);
    return status;
}

/* --- outside of it -------------------------------------------------------------------------- */

/* True when the bell alone has rung; without a descriptor there is nothing that it could tell of.
 */
static bool lead(struct culex_wait_desk *desk, const struct culex_env *env, int fd, int64_t left_ms)
{
    struct pollfd watched[] = {{.fd = desk->bell_fd, .events = POLLIN},
                               {.fd = fd, .events = POLLIN}};
    if (fd < 0) {
        env->poll(env->self, NULL, 0, left_ms < BLIND_MS ? (int)left_ms : BLIND_MS);
        return false;
    }
    env->poll(env->self, watched, 2, (int)left_ms);
    if ((watched[0].revents & POLLIN) == 0)
        return false;
    culex__bell_take(desk->bell_fd);
    return true;
}

void culex__wait_desk_sleep(struct culex_wait_desk *desk, const struct culex_env *env,
                            uint64_t seen, int64_t timeout_ms, bool *is_leader)
{
    int64_t end_ms = culex__env_boottime_ms(env) + timeout_ms;
    bool is_over = false;
    struct timespec until = culex__uptime_after(timeout_ms);
    pthread_mutex_lock(&desk->lock);
    while (desk->wakes == seen && !is_over) {
        *is_leader = *is_leader || !desk->has_leader;
        desk->has_leader = true;
        if (!*is_leader) {
            is_over = pthread_cond_timedwait(&desk->news, &desk->lock, &until) != 0;
            continue;
        }
        int fd = desk->fd;
        pthread_mutex_unlock(&desk->lock);
        int64_t left_ms = end_ms - culex__env_boottime_ms(env); /* it may have followed for long */
        is_over = left_ms <= 0 || !lead(desk, env, fd, left_ms);
        pthread_mutex_lock(&desk->lock);
    }
    pthread_mutex_unlock(&desk->lock);
}

void culex__wait_desk_leave(struct culex_wait_desk *desk, bool is_leader)
{
    if (!is_leader)
        return;
    pthread_mutex_lock(&desk->lock);
    desk->has_leader = false;
    pthread_cond_broadcast(&desk->news);
    pthread_mutex_unlock(&desk->lock);
}
