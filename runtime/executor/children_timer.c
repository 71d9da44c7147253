/* executor/children_timer.c - keeps time for the children: how long we bear with each, and the
 * timer that says when to look next. All times are boot time. */
#include "executor/children.h"

#include "platform/events.h"

enum {
    LOOK_MS = 1,      /* look in while a child may have ended runs without saying so */
    LEAVE_MS = 1000,  /* a child that was told to end is killed then */
    ANSWER_MS = 30000 /* a zygote that has not buried a killed child by then is lost */
};

int64_t culex__children_overdue_ns(const struct culex_children *children,
                                   const struct culex_child_link *child)
{
    switch (child->state) {
    case CULEX_CHILD_LIVE:
        return child->is_ready ? INT64_MAX
                               : child->begun_ns + children->config.setup_ms * CULEX_MS_NS;
    case CULEX_CHILD_ENDING:
        return child->ending_ns + (child->killed_why != NULL ? ANSWER_MS : LEAVE_MS) * CULEX_MS_NS;
    default:
        return INT64_MAX;
    }
}

static int64_t ladder_next_ns(const struct culex_window_entry *entry)
{
    if (entry->run == NULL)
        return INT64_MAX;
    return culex__min_ns(entry->is_termed ? INT64_MAX : entry->term_ns,
                         entry->is_killed ? INT64_MAX : entry->kill_ns);
}

static int64_t ladders_next_ns(const struct culex_window *window)
{
    int64_t next_ns = INT64_MAX;
    for (size_t i = 0; window->has_asked && window->live > 0 && i < CULEX_WINDOW; i++)
        next_ns = culex__min_ns(next_ns, ladder_next_ns(&window->entries[i]));
    return next_ns;
}

/* When the child wants to be looked at by itself. */
static int64_t child_next_ns(const struct culex_children *children,
                             const struct culex_child_link *child, int64_t now_ns)
{
    if (child->state == CULEX_CHILD_FREE)
        return INT64_MAX;
    int64_t next_ns = culex__children_overdue_ns(children, child);
    if (child->pending_signal != 0 || child->window.live > 1 ||
        (child->is_deaf && child->window.live > 0))
        next_ns = culex__min_ns(next_ns, now_ns + LOOK_MS * CULEX_MS_NS);
    return culex__min_ns(next_ns, ladders_next_ns(&child->window));
}

void culex__children_timer_arm(struct culex_children *children)
{
    int64_t now_ns = culex__children_now_ns(children);
    int64_t retry_ns = culex__children_retry_ns(children);
    int64_t next_ns = INT64_MAX;
    for (size_t i = 0; i < children->slot_count; i++)
        next_ns = culex__min_ns(next_ns, child_next_ns(children, &children->links[i], now_ns));
    bool is_to_begin = children->to_start.count > 0 || !children->is_ready || children->is_scarce;
    if (is_to_begin && retry_ns > now_ns)
        next_ns = culex__min_ns(next_ns, retry_ns);
    if (next_ns >= children->armed_ns)
        return; /* it goes off earlier, and is set anew then */
    if (culex__alarm_set(children->alarm_fd, next_ns))
        children->armed_ns = next_ns;
}
