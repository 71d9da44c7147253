/* executor/children_dispatch.c - which child gets the next run.
 *
 * An idle child first, a new one while there may be more, and else the one that holds the least,
 * as long as its runs are so short together that waiting costs less than a switch between
 * processes. Suspects, and all runs under CULEX_ISOLATION_JOB, get a process of their own. */
#include "executor/children.h"

#include <sys/epoll.h>

enum {
    SHARE_US = 500,   /* work that one child may hold */
    FORK_PATIENCE = 6 /* failures in a row; then runs are given back */
};

size_t culex__processes_busy_count(const struct culex_processes *processes)
{
    size_t count = 0;
    for (size_t i = 0; i < processes->child_count; i++)
        count += processes->children[i].window.live > 0;
    return count;
}

static bool is_open(const struct culex_handler_process *child)
{
    return child->state == CULEX_HANDLER_LIVE && !child->is_spent && !child->is_deaf &&
           child->wrong == NULL;
}

size_t culex__processes_able_count(const struct culex_processes *processes)
{
    size_t count = 0;
    for (size_t i = 0; i < processes->child_count; i++) {
        const struct culex_handler_process *child = &processes->children[i];
        count += child->window.live > 0 || (is_open(child) && child->is_ready);
    }
    return count;
}

static size_t open_count(const struct culex_processes *processes)
{
    size_t count = 0;
    for (size_t i = 0; i < processes->child_count; i++)
        count += is_open(&processes->children[i]);
    return count;
}

static struct culex_handler_process *idle_find(struct culex_processes *processes, bool is_fresh)
{
    for (size_t i = 0; i < processes->child_count; i++) {
        struct culex_handler_process *child = &processes->children[i];
        if (is_open(child) && child->is_ready && child->window.live == 0 &&
            !culex__window_is_full(&child->window) && !(is_fresh && child->is_used))
            return child;
    }
    return NULL;
}

/* Children in which the program's set-up is under way. */
static size_t opening_count(const struct culex_processes *processes)
{
    size_t count = 0;
    for (size_t i = 0; i < processes->child_count; i++)
        count += is_open(&processes->children[i]) && !processes->children[i].is_ready;
    return count;
}

/* A new child for a queued run; NULL while it is not set up, or enough of them are being. */
static struct culex_handler_process *child_begin(struct culex_processes *processes)
{
    size_t opening = opening_count(processes);
    if (opening > 0 && opening >= processes->queue.count)
        return NULL;
    struct culex_handler_process *child = culex__processes_child_begin(processes);
    return child != NULL && child->is_ready ? child : NULL;
}

static bool wants_fresh(const struct culex_processes *processes, const struct culex_run *run)
{
    return run->is_suspect || processes->config.isolation == CULEX_ISOLATION_JOB;
}

/* For a run that must have a process of its own. */
static struct culex_handler_process *fresh_choose(struct culex_processes *processes)
{
    if (culex__processes_busy_count(processes) >= processes->config.count)
        return NULL;
    struct culex_handler_process *child = idle_find(processes, true);
    if (child == NULL)
        child = child_begin(processes);
    if (child == NULL && culex__processes_free_find(processes) == NULL) {
        struct culex_handler_process *idle = idle_find(processes, false);
        if (idle != NULL)
            culex__processes_child_dismiss(processes, idle);
    }
    return child;
}

/* How many runs a child may hold while they are as short as they were. */
static size_t share_of(const struct culex_processes *processes)
{
    int64_t average_ns = processes->average_ns > 1000 ? processes->average_ns : 1000;
    int64_t share = SHARE_US * INT64_C(1000) / average_ns;
    return share < 1 ? 1 : share > CULEX_WINDOW ? CULEX_WINDOW : (size_t)share;
}

static struct culex_handler_process *least_find(struct culex_processes *processes)
{
    struct culex_handler_process *least = NULL;
    for (size_t i = 0; i < processes->child_count; i++) {
        struct culex_handler_process *child = &processes->children[i];
        if (is_open(child) && child->is_ready && !culex__window_is_full(&child->window) &&
            (least == NULL || child->window.live < least->window.live))
            least = child;
    }
    return least != NULL && least->window.live < share_of(processes) ? least : NULL;
}

static struct culex_handler_process *child_choose(struct culex_processes *processes,
                                                  const struct culex_run *run)
{
    if (wants_fresh(processes, run))
        return fresh_choose(processes);
    bool has_place = culex__processes_busy_count(processes) < processes->config.count;
    struct culex_handler_process *child = has_place ? idle_find(processes, false) : NULL;
    if (child == NULL && has_place && open_count(processes) < processes->config.count)
        child = child_begin(processes);
    return child != NULL ? child : least_find(processes);
}

static void children_flush(struct culex_processes *processes)
{
    for (size_t i = 0; i < processes->child_count; i++) {
        struct culex_handler_process *child = &processes->children[i];
        bool was_blocked = child->is_blocked;
        if (child->state != CULEX_HANDLER_LIVE)
            continue;
        culex__handler_flush(child, processes->config.jobs, processes->buffers);
        if (child->is_blocked == was_blocked || child->fd < 0)
            continue;
        struct epoll_event event = {.events = EPOLLIN | (child->is_blocked ? EPOLLOUT : 0u),
                                    .data.u64 = CULEX_WATCH_CHILDREN + child->slot};
        epoll_ctl(processes->epoll_fd, EPOLL_CTL_MOD, child->fd, &event);
    }
}

/* Children for the runs to come, when each needs its own. */
static void spares_begin(struct culex_processes *processes)
{
    if (processes->config.isolation != CULEX_ISOLATION_JOB)
        return;
    size_t spares = 0;
    for (size_t i = 0; i < processes->child_count; i++)
        spares += is_open(&processes->children[i]) && !processes->children[i].is_used;
    size_t wanted =
        processes->config.count < CULEX_SPARE_MAX ? processes->config.count : CULEX_SPARE_MAX;
    while (spares < wanted && culex__processes_child_begin(processes) != NULL)
        spares++;
}

/* Nothing starts for a while, and nothing that runs could take over: others may have room. */
static void queue_release(struct culex_processes *processes)
{
    if (processes->queue.count == 0)
        return;
    culex__log_write(&processes->base.log, CULEX_LOG_ERROR, NULL,
                     "%zu runs given back: cannot start a handler process: %s",
                     processes->queue.count, processes->begin_text);
    /* Without a zygote this worker claims nothing more, and others need not wait. */
    int64_t delay_ms = processes->broken[0] != '\0' ? 0 : culex__run_unknown_delay_ms(1);
    for (struct culex_run *run; (run = culex__run_list_pop(&processes->queue)) != NULL;)
        culex__processes_release(processes, run, delay_ms);
}

/* Too late to start it. */
static bool is_over(const struct culex_processes *processes, const struct culex_run *run)
{
    int64_t lease_ns = atomic_load_explicit(&run->lease_ns, memory_order_relaxed);
    return atomic_load_explicit(&run->is_cancelled, memory_order_relaxed) ||
           (lease_ns != 0 && lease_ns <= culex__processes_now_ns(processes));
}

void culex__processes_dispatch(struct culex_processes *processes)
{
    while (processes->queue.first != NULL && processes->broken[0] == '\0') {
        struct culex_run *run = processes->queue.first;
        if (is_over(processes, run)) {
            culex__processes_release(processes, culex__run_list_pop(&processes->queue), 0);
            continue;
        }
        struct culex_handler_process *child = child_choose(processes, run);
        if (child == NULL)
            break;
        culex__run_list_pop(&processes->queue);
        culex__handler_assign(child, run, wants_fresh(processes, run));
    }
    children_flush(processes);
    if (processes->broken[0] == '\0' && !processes->is_stopping) {
        spares_begin(processes);
        if (!processes->is_ready && opening_count(processes) == 0)
            culex__processes_child_begin(processes); /* to see whether the set-up works */
    }
    bool is_failing =
        processes->fork.failures >= FORK_PATIENCE || processes->setup.failures >= FORK_PATIENCE;
    bool is_hopeless = is_failing && culex__processes_busy_count(processes) == 0;
    if (is_hopeless || processes->broken[0] != '\0')
        queue_release(processes);
}
