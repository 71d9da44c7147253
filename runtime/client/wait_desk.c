#include "client/wait_desk.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/uptime.h"
#include "platform/descriptor.h"
#include "platform/env.h"
#include "platform/events.h"
#include "store/store.h"

enum {
    ARMED_MS = 60000, /* then a store may let go, and is armed again */
    BLIND_MS = 1000,  /* between looks into a store that wakes nobody */
};

void culex__wait_desk_init(struct culex_wait_desk *desk)
{
    pthread_condattr_t by_uptime;
    pthread_condattr_init(&by_uptime);
    pthread_condattr_setclock(&by_uptime, CLOCK_MONOTONIC);
    pthread_mutex_init(&desk->lock, NULL);
    pthread_cond_init(&desk->news, &by_uptime);
    pthread_condattr_destroy(&by_uptime);
    desk->fd = desk->bell_fd = -1;
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

culex_status culex__wait_desk_add(struct culex_wait_desk *desk, const char *queue,
                                  culex_error *error)
{
    for (size_t i = 0; i < desk->queue_count; i++) {
        if (strcmp(desk->queues[i], queue) == 0)
            return CULEX_OK;
    }
    if (desk->queue_count == CULEX_STORE_BATCH_MAX)
        return culex__fail(error, CULEX_ELIMIT, "one client waits for runs of at most %d queues",
                           CULEX_STORE_BATCH_MAX);
    char **grown = realloc(desk->queues, (desk->queue_count + 1) * sizeof *grown);
    if (grown != NULL)
        desk->queues = grown;
    char *name = grown != NULL ? strdup(queue) : NULL;
    if (name == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory to wait for queue %s", queue);
    desk->queues[desk->queue_count++] = name;
    desk->is_changed = true;
    return CULEX_OK;
}

/* `is_other`: under the same number it may be another descriptor. */
static void desk_note(struct culex_wait_desk *desk, int fd, bool is_woken, bool is_other,
                      uint64_t *ret_seen)
{
    pthread_mutex_lock(&desk->lock);
    if (fd != desk->fd || is_other)
        culex__bell_ring(desk->bell_fd);
    desk->fd = fd;
    desk->wakes += is_woken;
    if (is_woken)
        pthread_cond_broadcast(&desk->news);
    *ret_seen = desk->wakes;
    pthread_mutex_unlock(&desk->lock);
}

culex_status culex__wait_desk_arm(struct culex_wait_desk *desk, struct culex_store *store,
                                  uint64_t *ret_seen, culex_error *error)
{
    bool is_woken = false, is_other = desk->is_changed;
    int fd = -1;
    if (store->ops->wake_take(store, &is_woken, NULL) != CULEX_OK)
        is_other = is_woken = true; /* what it would have told may be lost */
    if (desk->is_changed)
        store->ops->wake_disarm(store);
    culex_status status = store->ops->wait_arm(store, (const char *const *)desk->queues,
                                               desk->queue_count, ARMED_MS, &fd, error);
    desk->is_changed = desk->is_changed && status != CULEX_OK;
    desk_note(desk, fd, is_woken, is_other, ret_seen);
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
    int64_t end_ms = culex__env_boottime_ms(env) + timeout_ms, left_ms = timeout_ms;
    bool is_over = false;
    struct timespec until = culex__uptime_after(timeout_ms);
    pthread_mutex_lock(&desk->lock);
    while (desk->wakes == seen && !is_over && left_ms > 0) {
        *is_leader = *is_leader || !desk->has_leader;
        desk->has_leader = true;
        if (!*is_leader) {
            is_over = pthread_cond_timedwait(&desk->news, &desk->lock, &until) != 0;
            continue;
        }
        int fd = desk->fd;
        pthread_mutex_unlock(&desk->lock);
        is_over = !lead(desk, env, fd, left_ms);
        left_ms = end_ms - culex__env_boottime_ms(env);
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
