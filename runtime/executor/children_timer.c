/* executor/children_timer.c - what is due by the clock, and the timer that says when to look.
 *
 * A cancelled run climbs its ladder: SIGTERM, then SIGKILL to its child. A run that turns out long
 * loses what waits behind it. A child that was told to end is killed when it stays, and a zygote
 * that does not bury it then is lost. All times are boot time. */
#include "executor/children.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

enum {
    STALL_MS = 2,     /* a run this long should have none waiting behind it */
    LOOK_MS = 1,      /* look by ourselves while ends may be untold */
    LEAVE_MS = 1000,  /* a child that was told to end is killed then */
    ANSWER_MS = 30000 /* a zygote that has not buried a killed child by then is lost */
};

/* What a run that was asked to stop is due for. */
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
        child->killed_why = "the handler was asked to stop";
        culex__children_signal(children, child, SIGTERM);
    }
}

static int64_t ladder_next_ns(const struct culex_window_entry *entry)
{
    if (entry->run == NULL)
        return INT64_MAX;
    return culex__min_ns(entry->is_termed ? INT64_MAX : entry->term_ns,
                         entry->is_killed ? INT64_MAX : entry->kill_ns);
}

/* When the child wants to be looked at by itself. */
static int64_t child_next_ns(const struct culex_child_link *child, int64_t setup_ns, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;
    if (child->state == CULEX_CHILD_FREE)
        return INT64_MAX;
    if (child->state == CULEX_CHILD_LIVE && !child->is_ready)
        next_ns = child->begun_ns + setup_ns;
    if (child->pending_signal != 0 || child->window.live > 1 ||
        (child->is_deaf && child->window.live > 0))
        next_ns = culex__min_ns(next_ns, now_ns + LOOK_MS * CULEX_MS_NS);
    if (child->state == CULEX_CHILD_ENDING)
        next_ns = culex__min_ns(
            next_ns,
            child->ending_ns + (child->killed_why != NULL ? ANSWER_MS : LEAVE_MS) * CULEX_MS_NS);
    for (size_t i = 0; child->window.live > 0 && i < CULEX_WINDOW; i++)
        next_ns = culex__min_ns(next_ns, ladder_next_ns(&child->window.entries[i]));
    return next_ns;
}

void culex__children_timer_arm(struct culex_children *children)
{
    int64_t now_ns = culex__children_now_ns(children);
    int64_t setup_ns = children->config.setup_ms * CULEX_MS_NS;
    int64_t retry_ns = culex__children_retry_ns(children);
    int64_t next_ns = INT64_MAX;
    for (size_t i = 0; i < children->slot_count; i++)
        next_ns = culex__min_ns(next_ns, child_next_ns(&children->links[i], setup_ns, now_ns));
    if ((children->queue.count > 0 || !children->is_ready) && retry_ns > now_ns)
        next_ns = culex__min_ns(next_ns, retry_ns);
    if (next_ns >= children->armed_ns)
        return; /* it goes off earlier, and is set anew then */
    struct itimerspec when = {.it_value = {next_ns / 1000000000, next_ns % 1000000000}};
    if (next_ns <= 0)
        when.it_value = (struct timespec){0, 1};
    if (timerfd_settime(children->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) == 0)
        children->armed_ns = next_ns;
}

/* Its first run has become long, or will not tell: what waits behind goes elsewhere. */
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

/* Hears it, and whether the program's set-up is done in it. */
static void setup_attend(struct culex_children *children, struct culex_child_link *child,
                         int64_t now_ns)
{
    bool was_ready = child->is_ready;
    culex__children_receive(children, child);
    if (child->is_ready && !was_ready)
        culex__children_ready(children);
    if (!child->is_ready && child->state == CULEX_CHILD_LIVE &&
        now_ns >= child->begun_ns + children->config.setup_ms * CULEX_MS_NS)
        culex__children_kill(children, child, "it took too long");
}

void culex__children_attend(struct culex_children *children, struct culex_child_link *child,
                            int64_t now_ns)
{
    if (child->state == CULEX_CHILD_FREE)
        return;
    setup_attend(children, child, now_ns);
    if (child->wrong != NULL && child->state == CULEX_CHILD_LIVE) {
        culex__children_kill(children, child, "");
        epoll_ctl(children->epoll_fd, EPOLL_CTL_DEL, child->fd, NULL);
    }
    if (child->is_deaf && child->fd >= 0)
        epoll_ctl(children->epoll_fd, EPOLL_CTL_DEL, child->fd, NULL);
    if (child->state == CULEX_CHILD_LIVE) {
        stall_relieve(children, child, now_ns);
        for (size_t i = 0; child->window.live > 0 && i < CULEX_WINDOW; i++)
            ladder_climb(children, child, &child->window.entries[i], now_ns);
        if (child->window.live == 0 && (child->is_spent || child->is_deaf) &&
            child->state == CULEX_CHILD_LIVE)
            culex__children_dismiss(children, child);
    } else if (child->killed_why == NULL && now_ns >= child->ending_ns + LEAVE_MS * CULEX_MS_NS)
        culex__children_kill(children, child, "it did not end");
    else if (child->pending_signal != 0)
        culex__children_signal(children, child, child->pending_signal);
}

void culex__children_answers_await(struct culex_children *children, int64_t now_ns)
{
    for (size_t i = 0; i < children->slot_count; i++) {
        const struct culex_child_link *child = &children->links[i];
        if (child->state == CULEX_CHILD_ENDING && child->killed_why != NULL &&
            now_ns >= child->ending_ns + ANSWER_MS * CULEX_MS_NS) {
            culex__children_zygote_lost(children, "does not answer");
            return;
        }
    }
}
