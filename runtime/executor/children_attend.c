/* executor/children_attend.c - attends each child in turn: hears it, and does what is due for it.
 *
 * A cancelled run climbs its ladder: SIGTERM, then SIGKILL to its child. A run that turns out long
 * loses what waits behind it. A child that was told to end is killed when it stays. */
#include "executor/children.h"

#include <signal.h>

#include "platform/events.h"

enum { STALL_MS = 2 /* a run this long should have none waiting behind it */ };

/* Sends the signal that is due for a run that was asked to stop. */
static void ladder_climb(struct culex_children *children, struct culex_child_link *child,
                         struct culex_window_entry *entry, int64_t now_ns)
{
    struct culex_child_sink sink = culex__children_sink(children);
    if (entry->run == NULL || (now_ns < entry->term_ns && now_ns < entry->kill_ns))
        return;
    if (culex__child_link_running(child) != entry->seq && entry->seq > child->window.finished)
        culex__child_link_take_back(child, &sink);
    if (entry->run == NULL)
        return;
    if (now_ns >= entry->kill_ns && !entry->is_killed) {
        entry->is_killed = true;
        culex__children_kill(children, child, "the handler did not stop when asked to");
    } else if (now_ns >= entry->term_ns && !entry->is_termed) {
        entry->is_termed = true;
        child->is_spent = true; /* the signal may reach it after this run */
        child->killed_why = "the handler was asked to stop";
        culex__children_signal(children, child, SIGTERM);
    }
}

static void ladders_climb(struct culex_children *children, struct culex_child_link *child,
                          int64_t now_ns)
{
    struct culex_window *window = &child->window;
    for (uint64_t seq = window->finished + 1; window->has_asked && seq <= window->assigned; seq++) {
        struct culex_window_entry *entry = culex__window_find(window, seq);
        if (entry != NULL)
            ladder_climb(children, child, entry, now_ns);
    }
}

/* The run that it is at has become long, or it says nothing more: what waits behind goes
 * elsewhere. */
static void stall_relieve(struct culex_children *children, struct culex_child_link *child,
                          int64_t now_ns)
{
    struct culex_child_sink sink = culex__children_sink(children);
    bool is_stalled = child->head_seq > child->window.finished &&
                      now_ns - child->head_ns >= STALL_MS * CULEX_MS_NS;
    if (child->window.live < 2 && !(child->is_deaf && child->window.live > 0))
        return;
    if (!is_stalled && !child->is_deaf && child->wrong == NULL)
        return;
    culex__child_link_take_back(child, &sink);
    if (is_stalled)
        children->average_ns = now_ns - child->head_ns;
}

/* As many as are wanted can be had at a time. */
static void scarcity_end(struct culex_children *children)
{
    if (!children->is_scarce || culex__children_able_count(children) < children->config.count)
        return;
    children->is_scarce = false;
    if (culex__notice_end(&children->fork.notice))
        culex__log_write(&children->base.log, CULEX_LOG_INFO, NULL,
                         "child processes can be started again");
}

/* Hears it, and whether the program's set-up is done in it, or its trial passed. */
static void setup_attend(struct culex_children *children, struct culex_child_link *child,
                         int64_t now_ns)
{
    bool was_ready = child->is_ready;
    culex__children_receive(children, child);
    if (child->is_ready && !was_ready) {
        culex__children_ready(children);
        scarcity_end(children);
    }
    if (!child->is_ready && child->state == CULEX_CHILD_LIVE &&
        now_ns >= culex__children_overdue_ns(children, child))
        culex__children_kill(children, child, "it took too long");
}

/* A child that lied is killed; one that is not read any more is not watched either. */
static void liar_attend(struct culex_children *children, struct culex_child_link *child)
{
    bool is_liar = child->wrong != NULL && child->state == CULEX_CHILD_LIVE;
    if (is_liar)
        culex__children_kill(children, child, "");
    if (is_liar || (child->is_deaf && child->fd >= 0))
        culex__watch_remove(children->watch_fd, child->fd);
}

static void live_attend(struct culex_children *children, struct culex_child_link *child,
                        int64_t now_ns)
{
    stall_relieve(children, child, now_ns);
    ladders_climb(children, child, now_ns);
    if (child->window.live == 0 && (child->is_spent || child->is_deaf) &&
        child->state == CULEX_CHILD_LIVE)
        culex__children_dismiss(children, child);
}

static void ending_attend(struct culex_children *children, struct culex_child_link *child,
                          int64_t now_ns)
{
    if (child->killed_why == NULL && now_ns >= culex__children_overdue_ns(children, child))
        culex__children_kill(children, child, "it did not end");
    else if (child->pending_signal != 0)
        culex__children_signal(children, child, child->pending_signal);
}

void culex__children_attend(struct culex_children *children, struct culex_child_link *child,
                            int64_t now_ns)
{
    if (child->state == CULEX_CHILD_FREE)
        return;
    setup_attend(children, child, now_ns);
    liar_attend(children, child);
    if (child->state == CULEX_CHILD_LIVE)
        live_attend(children, child, now_ns);
    else
        ending_attend(children, child, now_ns);
}
