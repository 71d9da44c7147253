/* executor/children_dispatch.c - which child gets the next run.
 *
 * An idle child first, a new one while there may be more, and else the one that holds the least,
 * as long as its runs are so short together that waiting costs less than a switch between
 * processes. Suspects, and all runs under CULEX_ISOLATION_JOB, get a child of their own. */
#include "executor/children.h"

#include <poll.h>

#include "platform/events.h"

enum {
    SHARE_US = 500,    /* work that one child may hold */
    SETUP_PATIENCE = 6 /* failures in a row; then runs are given back */
};

size_t culex__children_busy_count(const struct culex_children *children)
{
    size_t count = 0;
    for (size_t i = 0; i < children->slot_count; i++)
        count += children->links[i].window.live > 0;
    return count;
}

static bool is_open(const struct culex_child_link *child)
{
    return child->state == CULEX_CHILD_LIVE && !child->is_spent && !child->is_deaf &&
           child->wrong == NULL;
}

size_t culex__children_able_count(const struct culex_children *children)
{
    size_t count = 0;
    for (size_t i = 0; i < children->slot_count; i++) {
        const struct culex_child_link *child = &children->links[i];
        count += child->window.live > 0 || (is_open(child) && child->is_ready);
    }
    return count;
}

static size_t open_count(const struct culex_children *children)
{
    size_t count = 0;
    for (size_t i = 0; i < children->slot_count; i++)
        count += is_open(&children->links[i]);
    return count;
}

static struct culex_child_link *idle_find(struct culex_children *children, bool is_fresh)
{
    for (size_t i = 0; i < children->slot_count; i++) {
        struct culex_child_link *child = &children->links[i];
        if (is_open(child) && child->is_ready && child->window.live == 0 &&
            !culex__window_is_full(&child->window) && !(is_fresh && child->is_used))
            return child;
    }
    return NULL;
}

/* Children in which the program's set-up is under way, or that have not told that they began. */
static size_t opening_count(const struct culex_children *children)
{
    size_t count = 0;
    for (size_t i = 0; i < children->slot_count; i++)
        count += is_open(&children->links[i]) && !children->links[i].is_ready;
    return count;
}

/* A new child for a queued run; NULL while it is not set up, or enough of them are being. */
static struct culex_child_link *child_begin(struct culex_children *children)
{
    size_t opening = opening_count(children);
    if (opening > 0 && (children->is_scarce || opening >= children->to_start.count))
        return NULL;
    struct culex_child_link *child = culex__children_begin(children);
    return child != NULL && child->is_ready ? child : NULL;
}

static bool wants_fresh(const struct culex_children *children, const struct culex_run *run)
{
    return run->terms.is_suspect || children->config.isolation == CULEX_ISOLATION_JOB;
}

/* For a run that must have a child of its own. */
static struct culex_child_link *fresh_choose(struct culex_children *children)
{
    if (culex__children_busy_count(children) >= children->config.count)
        return NULL;
    struct culex_child_link *child = idle_find(children, true);
    if (child == NULL)
        child = child_begin(children);
    if (child == NULL && culex__children_free_find(children) == NULL) {
        struct culex_child_link *idle = idle_find(children, false);
        if (idle != NULL)
            culex__children_dismiss(children, idle);
    }
    return child;
}

/* How many runs a child may hold while they are as short as they were. */
static size_t share_of(const struct culex_children *children)
{
    int64_t average_ns = children->average_ns > 1000 ? children->average_ns : 1000;
    int64_t share = SHARE_US * INT64_C(1000) / average_ns;
    return share < 1 ? 1 : share > CULEX_WINDOW ? CULEX_WINDOW : (size_t)share;
}

static struct culex_child_link *least_find(struct culex_children *children)
{
    struct culex_child_link *least = NULL;
    for (size_t i = 0; i < children->slot_count; i++) {
        struct culex_child_link *child = &children->links[i];
        if (is_open(child) && child->is_ready && !culex__window_is_full(&child->window) &&
            (least == NULL || child->window.live < least->window.live))
            least = child;
    }
    return least != NULL && least->window.live < share_of(children) ? least : NULL;
}

static struct culex_child_link *child_choose(struct culex_children *children,
                                             const struct culex_run *run)
{
    if (wants_fresh(children, run))
        return fresh_choose(children);
    bool has_place = culex__children_busy_count(children) < children->config.count;
    struct culex_child_link *child = has_place ? idle_find(children, false) : NULL;
    if (child == NULL && has_place && open_count(children) < children->config.count)
        child = child_begin(children);
    return child != NULL ? child : least_find(children);
}

static void children_flush(struct culex_children *children)
{
    for (size_t i = 0; i < children->slot_count; i++) {
        struct culex_child_link *child = &children->links[i];
        bool was_blocked = child->is_blocked;
        if (child->state != CULEX_CHILD_LIVE)
            continue;
        culex__child_link_flush(child, &children->config.handler, children->buffers);
        if (child->is_blocked == was_blocked || child->fd < 0)
            continue;
        culex__watch_change(children->watch_fd, child->fd,
                            child->is_blocked ? POLLIN | POLLOUT : POLLIN,
                            CULEX_WATCH_CHILDREN + child->slot);
    }
}

/* Children for the runs to come, when each needs its own. */
static void spares_begin(struct culex_children *children)
{
    if (children->config.isolation != CULEX_ISOLATION_JOB || children->is_scarce)
        return;
    size_t spares = 0;
    for (size_t i = 0; i < children->slot_count; i++)
        spares += is_open(&children->links[i]) && !children->links[i].is_used;
    size_t wanted =
        children->config.count < CULEX_SPARE_MAX ? children->config.count : CULEX_SPARE_MAX;
    while (spares < wanted && culex__children_begin(children) != NULL)
        spares++;
}

/* To see whether the set-up works, or whether there can be one more. */
static void trial_begin(struct culex_children *children)
{
    bool is_wanted =
        !children->is_ready ||
        (children->is_scarce && culex__children_able_count(children) < children->config.count);
    if (is_wanted && opening_count(children) == 0)
        culex__children_begin(children);
}

/* No child can be had for the runs that wait. The first failure but one tells so, which may find
 * others at work, and so does the last child when it is gone. */
static bool is_hopeless(const struct culex_children *children)
{
    if (children->broken[0] != '\0' || children->gives_back)
        return true;
    if (children->setup.failures >= SETUP_PATIENCE)
        return culex__children_busy_count(children) == 0;
    return children->is_scarce && children->fork.failures >= CULEX_FORK_PATIENCE &&
           culex__children_able_count(children) == 0;
}

/* Other workers may have room. There is no need to wait: this one claims no more than it has
 * children. */
static void queue_release(struct culex_children *children)
{
    children->gives_back = false;
    if (children->to_start.count == 0)
        return;
    if (culex__notice_tell(&children->returns, children->begin_text,
                           culex__children_now_ns(children)))
        culex__log_write(&children->base.log, CULEX_LOG_ERROR, NULL,
                         "%zu runs given back: cannot start a child process: %s",
                         children->to_start.count, children->begin_text);
    for (struct culex_run *run; (run = culex__run_list_pop(&children->to_start)) != NULL;)
        culex__children_release(children, run, 0);
}

/* It has begun, though the program's set-up may take its time in it. */
static bool is_alive(const struct culex_children *children, const struct culex_child_link *child)
{
    return child->window.live > 0 || (is_open(child) && child->is_ready) ||
           (is_open(child) && children->config.handler.hooks.open != NULL &&
            atomic_load(&child->mailbox->group) != 0);
}

static void stranding_note(struct culex_children *children)
{
    bool is_stranded = children->is_scarce;
    for (size_t i = 0; i < children->slot_count && is_stranded; i++)
        is_stranded = !is_alive(children, &children->links[i]);
    if (!is_stranded)
        children->stranded_ns = INT64_MAX;
    else if (children->stranded_ns == INT64_MAX)
        children->stranded_ns = culex__children_now_ns(children);
}

/* Too late to start it. */
static bool is_over(const struct culex_children *children, const struct culex_run *run)
{
    int64_t lease_ns = atomic_load_explicit(&run->lease_ns, memory_order_relaxed);
    return atomic_load_explicit(&run->is_cancelled, memory_order_relaxed) ||
           (lease_ns != 0 && lease_ns <= culex__children_now_ns(children));
}

void culex__children_dispatch(struct culex_children *children)
{
    while (children->to_start.first != NULL && children->broken[0] == '\0') {
        struct culex_run *run = children->to_start.first;
        if (is_over(children, run)) {
            culex__children_release(children, culex__run_list_pop(&children->to_start), 0);
            continue;
        }
        struct culex_child_link *child = child_choose(children, run);
        if (child == NULL)
            break;
        culex__run_list_pop(&children->to_start);
        culex__child_link_assign(child, run, wants_fresh(children, run));
    }
    children_flush(children);
    if (children->broken[0] == '\0' && !children->is_stopping) {
        spares_begin(children);
        trial_begin(children);
    }
    if (is_hopeless(children))
        queue_release(children);
    stranding_note(children);
}
