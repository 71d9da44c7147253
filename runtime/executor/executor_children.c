/* executor/executor_children.c - handlers in child processes: the supervisor's side.
 *
 *   supervisor --requests--> zygote --forks--> child, child ...
 *       '------- runs, ends, log lines: a channel and a mailbox each -----'
 *
 * Runs wait in `to_start` until a child has room. A child holds one run at a time, or several while
 * runs are short, so that a run does not cost two switches between processes. What is behind a
 * run that turns out long is taken back and goes elsewhere; what is behind a run that
 * crashes, too. Nothing here waits, except `stop`.
 *
 * When a child cannot be had (no memory, too many processes), one fork is tried again; when that
 * fails too the runs that wait come back as RELEASE, and no more are wanted than there are
 * children, until there are as many as there should be. When the zygote is lost there is no way to
 * get another: the supervisor has secrets by then. Then all runs come back.
 *
 * This file has the table and the executor's life; children.h tells where the rest is. */
#include "executor/executor_children.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "executor/children.h"
#include "platform/descriptor.h"
#include "platform/events.h"
#include "platform/pages.h"

enum { EVENTS_MAX = 64 };

static_assert((int)CULEX_WINDOW >= (int)CULEX_BATCH_MAX, "a child may hold what a step claims");

/* --- a turn ---------------------------------------------------------------------------- */

static void kick(struct culex_children *children)
{
    if (!children->is_kicked)
        children->is_kicked = culex__bell_ring(children->bell_fd);
}

static void unkick(struct culex_children *children)
{
    if (children->is_kicked && culex__bell_take(children->bell_fd) > 0)
        children->is_kicked = false;
}

static void events_take(struct culex_children *children)
{
    uint64_t about[EVENTS_MAX];
    size_t count = culex__watch_take(children->watch_fd, about, EVENTS_MAX);
    for (size_t i = 0; i < count; i++) {
        if (about[i] == CULEX_WATCH_ZYGOTE)
            culex__children_zygote_read(children);
        if (about[i] == CULEX_WATCH_ALARM && culex__alarm_take(children->alarm_fd))
            children->armed_ns = INT64_MAX;
    }
}

static void turn(struct culex_children *children)
{
    events_take(children);
    int64_t now_ns = culex__children_now_ns(children);
    for (size_t i = 0; i < children->slot_count; i++)
        culex__children_attend(children, &children->links[i], now_ns);
    culex__children_answers_await(children, now_ns);
    children->has_errands =
        !culex__children_errands_serve(children, culex__children_now_ns(children));
    culex__children_dispatch(children);
    culex__children_timer_arm(children);
}

/* --- the table ------------------------------------------------------------------------- */

static int children_fd(struct culex_executor *executor)
{
    return ((struct culex_children *)executor)->watch_fd;
}

static void children_submit(struct culex_executor *executor, struct culex_run *const *runs,
                            size_t count)
{
    struct culex_children *children = (struct culex_children *)executor;
    for (size_t i = 0; i < count; i++)
        culex__run_list_push(&children->to_start, runs[i]);
    culex__children_dispatch(children);
    culex__children_timer_arm(children);
    if (children->ended.count > 0)
        kick(children);
}

static size_t children_collect(struct culex_executor *executor, struct culex_run **ret_runs,
                               size_t max)
{
    struct culex_children *children = (struct culex_children *)executor;
    size_t count = 0;
    turn(children);
    while (count < max && children->ended.count > 0)
        ret_runs[count++] = culex__run_list_pop(&children->ended);
    if (children->ended.count > 0 || children->has_errands)
        kick(children);
    else
        unkick(children);
    return count;
}

static size_t children_withdraw(struct culex_executor *executor, struct culex_run **ret_runs,
                                size_t max)
{
    struct culex_children *children = (struct culex_children *)executor;
    struct culex_child_sink sink = culex__children_sink(children);
    struct culex_run_list kept = {0};
    size_t count = 0;
    for (size_t i = 0; i < children->slot_count; i++) {
        if (children->links[i].state != CULEX_CHILD_FREE)
            culex__child_link_take_back(&children->links[i], &sink);
    }
    size_t skip = children->to_start.count > max ? children->to_start.count - max : 0;
    for (struct culex_run *run; (run = culex__run_list_pop(&children->to_start)) != NULL;) {
        if (skip > 0) {
            skip--;
            culex__run_list_push(&kept, run);
        } else
            ret_runs[count++] = run;
    }
    children->to_start = kept;
    for (size_t i = 0; i < count / 2; i++) {
        struct culex_run *swap = ret_runs[i];
        ret_runs[i] = ret_runs[count - 1 - i];
        ret_runs[count - 1 - i] = swap;
    }
    if (children->ended.count > 0)
        kick(children);
    return count;
}

static size_t children_queued(struct culex_executor *executor)
{
    struct culex_children *children = (struct culex_children *)executor;
    size_t count = children->to_start.count;
    for (size_t i = 0; i < children->slot_count; i++) {
        struct culex_child_link *child = &children->links[i];
        uint64_t seq = child->window.live > 0 ? culex__child_link_running(child) : 0;
        const struct culex_window_entry *entry = culex__window_find(&child->window, seq);
        count += child->window.live - (entry != NULL && entry->run != NULL);
    }
    return count;
}

static struct culex_window_entry *entry_find(struct culex_children *children,
                                             const struct culex_run *run,
                                             struct culex_child_link **ret_child)
{
    for (size_t i = 0; i < children->slot_count; i++) {
        struct culex_child_link *child = &children->links[i];
        uint64_t end = child->window.live > 0 ? child->window.assigned : 0;
        for (uint64_t seq = child->window.finished + 1; seq <= end; seq++) {
            struct culex_window_entry *entry = culex__window_find(&child->window, seq);
            if (entry != NULL && entry->run == run) {
                *ret_child = child;
                return entry;
            }
        }
    }
    return NULL;
}

static void children_cancel(struct culex_executor *executor, struct culex_run *run, int64_t term_ns,
                            int64_t kill_ns)
{
    struct culex_children *children = (struct culex_children *)executor;
    struct culex_child_link *child = NULL;
    atomic_store_explicit(&run->is_cancelled, true, memory_order_relaxed);
    struct culex_window_entry *entry = entry_find(children, run, &child);
    if (entry != NULL) {
        atomic_store(&child->mailbox->cancelled[culex__mailbox_index(entry->seq)], entry->seq);
        culex__window_ask(&child->window, entry, term_ns, kill_ns);
        culex__children_timer_arm(children);
    } else if (culex__run_list_remove(&children->to_start, run)) {
        culex__children_release(children, run, 0);
        kick(children);
    }
}

static void children_renew(struct culex_executor *executor, struct culex_run *run)
{
    struct culex_children *children = (struct culex_children *)executor;
    struct culex_child_link *child = NULL;
    const struct culex_window_entry *entry = entry_find(children, run, &child);
    if (entry != NULL)
        atomic_store(&child->mailbox->lease_ns[culex__mailbox_index(entry->seq)],
                     atomic_load(&run->lease_ns));
}

/* --- life ------------------------------------------------------------------------------ */

static void children_free(struct culex_children *children)
{
    culex__zygote_link_close(&children->zygote);
    for (size_t i = 0; i < children->slot_count; i++)
        culex__child_link_close(&children->links[i]);
    culex__descriptor_close(children->alarm_fd);
    culex__descriptor_close(children->bell_fd);
    culex__descriptor_close(children->watch_fd);
    const struct culex_mailboxes *mailboxes = &children->zygote_config.mailboxes;
    culex__pages_free(mailboxes->bytes, mailboxes->stride * mailboxes->count);
    culex__run_list_free(&children->to_start);
    culex__run_list_free(&children->ended);
    culex__symbols_free(children->symbols);
    free(children->buffers);
    culex__cgroup_close(&children->cgroup);
    free(children);
}

/* A run that is still in a child at the deadline dies with it; it is not given back. */
static size_t children_abandon(struct culex_children *children)
{
    size_t count = children->to_start.count;
    culex__zygote_link_close(&children->zygote);
    for (size_t i = 0; i < children->slot_count; i++) {
        struct culex_window *window = &children->links[i].window;
        for (size_t k = 0; k < CULEX_WINDOW; k++) {
            count += window->entries[k].run != NULL;
            culex__run_free(window->entries[k].run);
        }
    }
    return count;
}

static void idle_dismiss(struct culex_children *children)
{
    for (size_t i = 0; i < children->slot_count; i++) {
        struct culex_child_link *child = &children->links[i];
        if (child->state == CULEX_CHILD_LIVE && child->is_ready && child->window.live == 0)
            culex__children_dismiss(children, child);
    }
}

/* Idle children, and those that are being set up, may have to call the program's close function.
 * One that takes its time is killed. */
static void children_dismiss(struct culex_children *children)
{
    int64_t until_ns = culex__children_now_ns(children) + CULEX_DISMISS_MS * CULEX_MS_NS;
    children->is_stopping = true;
    idle_dismiss(children);
    while (children->broken[0] == '\0' && culex__executor_children_count(&children->base) > 0 &&
           culex__children_now_ns(children) < until_ns) {
        struct pollfd wait = {.fd = children->watch_fd, .events = POLLIN};
        poll(&wait, 1, 10);
        turn(children);
        idle_dismiss(children);
    }
}

static size_t children_stop(struct culex_executor *executor, int64_t deadline_ns)
{
    struct culex_children *children = (struct culex_children *)executor;
    for (;;) {
        turn(children);
        int64_t left_ns = deadline_ns - culex__children_now_ns(children);
        if (culex__children_busy_count(children) == 0 || left_ns <= 0 ||
            children->broken[0] != '\0')
            break;
        struct pollfd wait = {.fd = children->watch_fd, .events = POLLIN};
        int64_t wait_ms = (left_ns + CULEX_MS_NS - 1) / CULEX_MS_NS;
        poll(&wait, 1, wait_ms < 1000 ? (int)wait_ms : 1000);
    }
    if (children->config.handler.hooks.close != NULL)
        children_dismiss(children);
    size_t abandoned = children_abandon(children);
    children_free(children);
    return abandoned;
}

static size_t children_capacity(struct culex_executor *executor)
{
    const struct culex_children *children = (const struct culex_children *)executor;
    size_t able = culex__children_able_count(children);
    bool is_all = children->is_ready && !children->is_scarce;
    return is_all || able > children->config.count ? children->config.count : able;
}

static int64_t children_stranded_ns(struct culex_executor *executor)
{
    return ((const struct culex_children *)executor)->stranded_ns;
}

static bool children_is_broken(struct culex_executor *executor)
{
    return ((struct culex_children *)executor)->broken[0] != '\0';
}

static const struct culex_executor_ops children_ops = {
    .name = "process",
    .can_kill = true,
    .fd = children_fd,
    .submit = children_submit,
    .collect = children_collect,
    .withdraw = children_withdraw,
    .queued = children_queued,
    .cancel = children_cancel,
    .renew = children_renew,
    .is_broken = children_is_broken,
    .capacity = children_capacity,
    .stranded_ns = children_stranded_ns,
    .stop = children_stop,
};

size_t culex__executor_children_count(struct culex_executor *executor)
{
    const struct culex_children *children = (const struct culex_children *)executor;
    size_t count = 0;
    for (size_t i = 0; i < children->slot_count; i++)
        count += children->links[i].state != CULEX_CHILD_FREE;
    return count;
}

static bool watch_begin(struct culex_children *children, int fd, enum culex_watch about)
{
    return fd >= 0 &&
           culex__process_watch_add(&children->effects, children->watch_fd, fd, POLLIN, about);
}

static culex_status descriptors_open(struct culex_children *children, culex_error *error)
{
    const struct culex_process_effects *effects = &children->effects;
    children->watch_fd = culex__process_watch_open(effects);
    children->bell_fd = culex__process_bell_open(effects);
    children->alarm_fd = culex__process_alarm_open(effects);
    if (children->watch_fd >= 0 && watch_begin(children, children->bell_fd, CULEX_WATCH_BELL) &&
        watch_begin(children, children->alarm_fd, CULEX_WATCH_ALARM) &&
        watch_begin(children, children->zygote.fd, CULEX_WATCH_ZYGOTE))
        return CULEX_OK;
    return culex__fail(error, CULEX_ENOMEM, "cannot watch child processes: %s", strerror(errno));
}

static bool has_bounded_job(const struct culex_executor_config *config)
{
    for (size_t i = 0; i < config->handler.job_count; i++) {
        if (config->handler.jobs[i].type->memory_bytes > 0)
            return true;
    }
    return false;
}

static culex_status cgroup_open(struct culex_children *children, culex_error *error)
{
    const struct culex_executor_config *config = &children->config;
    if (config->cgroup == NULL)
        return CULEX_OK;
    return culex__cgroup_open(&children->cgroup, config->cgroup, has_bounded_job(config),
                              &children->effects, config->handler.env, error);
}

static culex_status children_start(struct culex_children *children, culex_error *error)
{
    struct culex_zygote_config *zygote = &children->zygote_config;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t stride = (sizeof(struct culex_mailbox) + page - 1) / page * page;
    zygote->handler = &children->config.handler;
    zygote->effects = &children->effects;
    zygote->cgroup = &children->cgroup;
    zygote->mailboxes = (struct culex_mailboxes){
        culex__process_share(&children->effects, stride * children->slot_count), stride,
        children->slot_count};
    children->buffers = malloc(sizeof *children->buffers);
    children->symbols = culex__symbols_create();
    if (zygote->mailboxes.bytes == NULL || children->buffers == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for %zu child processes",
                           children->slot_count);
    culex_status status = cgroup_open(children, error);
    if (status == CULEX_OK)
        status = culex__zygote_link_open(&children->zygote, zygote, error);
    return status == CULEX_OK ? descriptors_open(children, error) : status;
}

/* More slots than handlers: ending children keep theirs for a while, and suspects have their own.
 */
static size_t child_count_for(const struct culex_executor_config *config)
{
    return 2 * (size_t)config->count + CULEX_SPARE_MAX;
}

culex_status culex__executor_children_create_with(const struct culex_executor_config *config,
                                                  const struct culex_process_effects *effects,
                                                  struct culex_executor **ret_executor,
                                                  culex_error *error)
{
    size_t count = child_count_for(config);
    struct culex_children *children =
        calloc(1, sizeof *children + count * sizeof children->links[0]);
    if (children == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for %zu child processes", count);
    children->base.ops = &children_ops;
    children->base.log = *config->handler.log;
    children->config = *config;
    children->is_ready = config->handler.hooks.open == NULL;
    children->config.handler.log = &children->base.log;
    children->effects = *effects;
    children->zygote = (struct culex_zygote_link){&children->effects, -1, 0};
    children->watch_fd = children->bell_fd = children->alarm_fd = -1;
    children->cgroup.lock_fd = -1;
    children->armed_ns = children->stranded_ns = INT64_MAX;
    children->average_ns = CULEX_MS_NS;
    children->slot_count = count;
    for (size_t i = 0; i < count; i++)
        children->links[i].fd = -1;
    culex_status status = children_start(children, error);
    if (status != CULEX_OK) {
        children_free(children);
        return status;
    }
    *ret_executor = &children->base;
    return CULEX_OK;
}

culex_status culex__executor_children_create(const struct culex_executor_config *config,
                                             struct culex_executor **ret_executor,
                                             culex_error *error)
{
    static const struct culex_process_effects kernel = {NULL, NULL};
    return culex__executor_children_create_with(config, &kernel, ret_executor, error);
}
