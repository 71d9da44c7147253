/* executor/executor_children.c - handlers in child processes: the supervisor's side.
 *
 *   supervisor --requests--> zygote --forks--> child, child ...
 *       '------- runs, ends, log lines: a channel and a mailbox each -----'
 *
 * Runs wait in `queue` until a child has room. A child holds one run at a time, or several while
 * runs are short, so that a run does not cost two switches between processes. What is behind a
 * run that turns out long is taken back and goes elsewhere; what is behind a run that
 * crashes, too. Nothing here waits, except `stop`.
 *
 * When a child cannot be had (no memory, too many processes) the runs wait and forks are tried
 * again; when that goes on they come back as RELEASE. When the zygote is lost there is no way
 * to get another: the supervisor has secrets by then. Then all runs come back.
 *
 * This file has the table and the executor's life; children.h tells where the rest is. */
#include "executor/executor_children.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "executor/children.h"
#include "platform/descriptor.h"

enum { EVENTS_MAX = 64, DISMISS_MS = 2000 };

/* --- a turn ---------------------------------------------------------------------------- */

static void kick(struct culex_processes *processes)
{
    uint64_t one = 1;
    if (processes->is_kicked)
        return;
    processes->is_kicked = write(processes->kick_fd, &one, sizeof one) == sizeof one;
}

static void unkick(struct culex_processes *processes)
{
    uint64_t count;
    if (processes->is_kicked && read(processes->kick_fd, &count, sizeof count) == sizeof count)
        processes->is_kicked = false;
}

static void events_take(struct culex_processes *processes)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(processes->epoll_fd, events, EVENTS_MAX, 0);
    for (int i = 0; i < count; i++) {
        uint64_t expired;
        if (events[i].data.u64 == CULEX_WATCH_ZYGOTE)
            culex__processes_zygote_read(processes);
        if (events[i].data.u64 == CULEX_WATCH_TIMER &&
            read(processes->timer_fd, &expired, sizeof expired) == sizeof expired)
            processes->armed_ns = INT64_MAX;
    }
}

static void turn(struct culex_processes *processes)
{
    events_take(processes);
    int64_t now_ns = culex__processes_now_ns(processes);
    for (size_t i = 0; i < processes->child_count; i++)
        culex__processes_child_attend(processes, &processes->children[i], now_ns);
    culex__processes_answers_await(processes, now_ns);
    processes->has_errands =
        !culex__processes_errands_serve(processes, culex__processes_now_ns(processes));
    culex__processes_dispatch(processes);
    culex__processes_timer_arm(processes);
}

/* --- the table ------------------------------------------------------------------------- */

static int processes_fd(struct culex_executor *executor)
{
    return ((struct culex_processes *)executor)->epoll_fd;
}

static void processes_submit(struct culex_executor *executor, struct culex_run *const *runs,
                             size_t count)
{
    struct culex_processes *processes = (struct culex_processes *)executor;
    for (size_t i = 0; i < count; i++)
        culex__run_list_push(&processes->queue, runs[i]);
    culex__processes_dispatch(processes);
    culex__processes_timer_arm(processes);
    if (processes->ended.count > 0)
        kick(processes);
}

static size_t processes_collect(struct culex_executor *executor, struct culex_run **ret_runs,
                                size_t max)
{
    struct culex_processes *processes = (struct culex_processes *)executor;
    size_t count = 0;
    turn(processes);
    while (count < max && processes->ended.count > 0)
        ret_runs[count++] = culex__run_list_pop(&processes->ended);
    if (processes->ended.count > 0 || processes->has_errands)
        kick(processes);
    else
        unkick(processes);
    return count;
}

static size_t processes_withdraw(struct culex_executor *executor, struct culex_run **ret_runs,
                                 size_t max)
{
    struct culex_processes *processes = (struct culex_processes *)executor;
    struct culex_handler_sink sink = culex__processes_sink(processes);
    struct culex_run_list kept = {0};
    size_t count = 0;
    for (size_t i = 0; i < processes->child_count; i++) {
        if (processes->children[i].state != CULEX_HANDLER_FREE)
            culex__handler_take_back(&processes->children[i], &sink);
    }
    size_t skip = processes->queue.count > max ? processes->queue.count - max : 0;
    for (struct culex_run *run; (run = culex__run_list_pop(&processes->queue)) != NULL;) {
        if (skip > 0) {
            skip--;
            culex__run_list_push(&kept, run);
        } else
            ret_runs[count++] = run;
    }
    processes->queue = kept;
    for (size_t i = 0; i < count / 2; i++) {
        struct culex_run *swap = ret_runs[i];
        ret_runs[i] = ret_runs[count - 1 - i];
        ret_runs[count - 1 - i] = swap;
    }
    if (processes->ended.count > 0)
        kick(processes);
    return count;
}

static size_t processes_queued(struct culex_executor *executor)
{
    struct culex_processes *processes = (struct culex_processes *)executor;
    size_t count = processes->queue.count;
    for (size_t i = 0; i < processes->child_count; i++) {
        struct culex_handler_process *child = &processes->children[i];
        uint64_t seq = child->window.live > 0 ? culex__handler_running(child) : 0;
        const struct culex_window_entry *entry = culex__window_find(&child->window, seq);
        count += child->window.live - (entry != NULL && entry->run != NULL);
    }
    return count;
}

static struct culex_window_entry *entry_find(struct culex_processes *processes,
                                             const struct culex_run *run,
                                             struct culex_handler_process **ret_child)
{
    for (size_t i = 0; i < processes->child_count; i++) {
        struct culex_handler_process *child = &processes->children[i];
        for (size_t k = 0; child->window.live > 0 && k < CULEX_WINDOW; k++) {
            if (child->window.entries[k].run == run) {
                *ret_child = child;
                return &child->window.entries[k];
            }
        }
    }
    return NULL;
}

static void processes_cancel(struct culex_executor *executor, struct culex_run *run,
                             int64_t term_ns, int64_t kill_ns)
{
    struct culex_processes *processes = (struct culex_processes *)executor;
    struct culex_handler_process *child = NULL;
    atomic_store_explicit(&run->is_cancelled, true, memory_order_relaxed);
    struct culex_window_entry *entry = entry_find(processes, run, &child);
    if (entry != NULL) {
        atomic_store(&child->mailbox->cancelled[culex__window_slot(entry->seq)], entry->seq);
        entry->term_ns = culex__min_ns(entry->term_ns, term_ns);
        entry->kill_ns = culex__min_ns(entry->kill_ns, kill_ns);
        culex__processes_timer_arm(processes);
    } else if (culex__run_list_remove(&processes->queue, run)) {
        culex__processes_release(processes, run, 0);
        kick(processes);
    }
}

static void processes_renew(struct culex_executor *executor, struct culex_run *run)
{
    struct culex_processes *processes = (struct culex_processes *)executor;
    struct culex_handler_process *child = NULL;
    const struct culex_window_entry *entry = entry_find(processes, run, &child);
    if (entry != NULL)
        atomic_store(&child->mailbox->lease_ns[culex__window_slot(entry->seq)],
                     atomic_load(&run->lease_ns));
}

/* --- life ------------------------------------------------------------------------------ */

static void processes_free(struct culex_processes *processes)
{
    culex__zygote_link_close(&processes->link);
    for (size_t i = 0; i < processes->child_count; i++)
        culex__processes_child_close(&processes->children[i]);
    culex__descriptor_close(processes->timer_fd);
    culex__descriptor_close(processes->kick_fd);
    culex__descriptor_close(processes->epoll_fd);
    if (processes->zygote.mailboxes != NULL)
        munmap(processes->zygote.mailboxes, processes->zygote.stride * processes->child_count);
    culex__run_list_free(&processes->queue);
    culex__run_list_free(&processes->ended);
    culex__symbols_free(processes->symbols);
    free(processes->buffers);
    culex__cgroup_close(&processes->cgroup);
    free(processes);
}

/* What is still in a child at the deadline dies with it and is not given back. */
static size_t processes_abandon(struct culex_processes *processes)
{
    size_t count = processes->queue.count;
    culex__zygote_link_close(&processes->link);
    for (size_t i = 0; i < processes->child_count; i++) {
        struct culex_window *window = &processes->children[i].window;
        for (size_t k = 0; k < CULEX_WINDOW; k++) {
            count += window->entries[k].run != NULL;
            culex__run_free(window->entries[k].run);
        }
    }
    return count;
}

static void idle_dismiss(struct culex_processes *processes)
{
    for (size_t i = 0; i < processes->child_count; i++) {
        struct culex_handler_process *child = &processes->children[i];
        if (child->state == CULEX_HANDLER_LIVE && child->is_ready && child->window.live == 0)
            culex__processes_child_dismiss(processes, child);
    }
}

/* Idle children have something to give back for their program, those that are being set up too. One
 * that takes its time is killed. */
static void children_dismiss(struct culex_processes *processes)
{
    int64_t until_ns = culex__processes_now_ns(processes) + DISMISS_MS * CULEX_MS_NS;
    processes->is_stopping = true;
    idle_dismiss(processes);
    while (processes->broken[0] == '\0' && culex__executor_process_count(&processes->base) > 0 &&
           culex__processes_now_ns(processes) < until_ns) {
        struct pollfd wait = {.fd = processes->epoll_fd, .events = POLLIN};
        poll(&wait, 1, 10);
        turn(processes);
        idle_dismiss(processes);
    }
}

static size_t processes_stop(struct culex_executor *executor, int64_t deadline_ns)
{
    struct culex_processes *processes = (struct culex_processes *)executor;
    for (;;) {
        turn(processes);
        int64_t left_ns = deadline_ns - culex__processes_now_ns(processes);
        if (culex__processes_busy_count(processes) == 0 || left_ns <= 0 ||
            processes->broken[0] != '\0')
            break;
        struct pollfd wait = {.fd = processes->epoll_fd, .events = POLLIN};
        int64_t wait_ms = (left_ns + CULEX_MS_NS - 1) / CULEX_MS_NS;
        poll(&wait, 1, wait_ms < 1000 ? (int)wait_ms : 1000);
    }
    if (processes->config.hooks.close != NULL)
        children_dismiss(processes);
    size_t abandoned = processes_abandon(processes);
    processes_free(processes);
    return abandoned;
}

static size_t processes_capacity(struct culex_executor *executor)
{
    const struct culex_processes *processes = (const struct culex_processes *)executor;
    return processes->is_ready ? processes->config.count : culex__processes_able_count(processes);
}

static bool processes_is_broken(struct culex_executor *executor)
{
    return ((struct culex_processes *)executor)->broken[0] != '\0';
}

static const struct culex_executor_ops processes_ops = {
    .name = "process",
    .can_kill = true,
    .fd = processes_fd,
    .submit = processes_submit,
    .collect = processes_collect,
    .withdraw = processes_withdraw,
    .queued = processes_queued,
    .cancel = processes_cancel,
    .renew = processes_renew,
    .is_broken = processes_is_broken,
    .capacity = processes_capacity,
    .stop = processes_stop,
};

size_t culex__executor_process_count(struct culex_executor *executor)
{
    const struct culex_processes *processes = (const struct culex_processes *)executor;
    size_t count = 0;
    for (size_t i = 0; i < processes->child_count; i++)
        count += processes->children[i].state != CULEX_HANDLER_FREE;
    return count;
}

static culex_status descriptors_open(struct culex_processes *processes, culex_error *error)
{
    const struct culex_process_effects *effects = &processes->effects;
    processes->epoll_fd = culex__process_epoll(effects);
    processes->kick_fd = culex__process_eventfd(effects);
    processes->timer_fd = culex__process_timerfd(effects);
    if (processes->epoll_fd >= 0 && processes->kick_fd >= 0 && processes->timer_fd >= 0 &&
        culex__process_watch(effects, processes->epoll_fd, processes->kick_fd, EPOLLIN,
                             CULEX_WATCH_KICK) == 0 &&
        culex__process_watch(effects, processes->epoll_fd, processes->timer_fd, EPOLLIN,
                             CULEX_WATCH_TIMER) == 0 &&
        culex__process_watch(effects, processes->epoll_fd, processes->link.fd, EPOLLIN,
                             CULEX_WATCH_ZYGOTE) == 0)
        return CULEX_OK;
    return culex__fail(error, CULEX_ENOMEM, "cannot watch handler processes: %s", strerror(errno));
}

static bool has_bounded_job(const struct culex_executor_config *config)
{
    for (size_t i = 0; i < config->job_count; i++) {
        if (config->jobs[i].type->memory_bytes > 0)
            return true;
    }
    return false;
}

static culex_status cgroup_open(struct culex_processes *processes, culex_error *error)
{
    const struct culex_executor_config *config = &processes->config;
    if (config->cgroup == NULL)
        return CULEX_OK;
    return culex__cgroup_open(&processes->cgroup, config->cgroup, has_bounded_job(config),
                              &processes->effects, config->env, error);
}

static culex_status processes_start(struct culex_processes *processes, culex_error *error)
{
    struct culex_zygote_config *zygote = &processes->zygote;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    zygote->executor = &processes->config;
    zygote->effects = &processes->effects;
    zygote->cgroup = &processes->cgroup;
    zygote->slot_count = processes->child_count;
    zygote->stride = page;
    zygote->mailboxes = culex__process_share(&processes->effects, page * processes->child_count);
    processes->buffers = malloc(sizeof *processes->buffers);
    processes->symbols = culex__symbols_create();
    if (zygote->mailboxes == NULL || processes->buffers == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for %zu handler processes",
                           processes->child_count);
    culex_status status = cgroup_open(processes, error);
    if (status == CULEX_OK)
        status = culex__zygote_link_open(&processes->link, zygote, error);
    return status == CULEX_OK ? descriptors_open(processes, error) : status;
}

/* Ending children keep their slots a while, and suspects have processes of their own. */
static size_t child_count_for(const struct culex_executor_config *config)
{
    return 2 * (size_t)config->count + CULEX_SPARE_MAX;
}

culex_status culex__executor_process_create_with(const struct culex_executor_config *config,
                                                 const struct culex_process_effects *effects,
                                                 struct culex_executor **ret_executor,
                                                 culex_error *error)
{
    size_t count = child_count_for(config);
    struct culex_processes *processes =
        calloc(1, sizeof *processes + count * sizeof processes->children[0]);
    if (processes == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for %zu handler processes", count);
    processes->base.ops = &processes_ops;
    processes->base.log = *config->log;
    processes->config = *config;
    processes->is_ready = config->hooks.open == NULL;
    processes->config.log = &processes->base.log;
    processes->effects = *effects;
    processes->link = (struct culex_zygote_link){&processes->effects, -1, 0};
    processes->epoll_fd = processes->kick_fd = processes->timer_fd = -1;
    processes->cgroup.lock_fd = -1;
    processes->armed_ns = INT64_MAX;
    processes->average_ns = CULEX_MS_NS;
    processes->child_count = count;
    for (size_t i = 0; i < count; i++)
        processes->children[i].fd = -1;
    culex_status status = processes_start(processes, error);
    if (status != CULEX_OK) {
        processes_free(processes);
        return status;
    }
    *ret_executor = &processes->base;
    return CULEX_OK;
}

culex_status culex__executor_process_create(const struct culex_executor_config *config,
                                            struct culex_executor **ret_executor,
                                            culex_error *error)
{
    static const struct culex_process_effects kernel = {NULL, NULL};
    return culex__executor_process_create_with(config, &kernel, ret_executor, error);
}
