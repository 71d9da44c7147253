/* executor/children_life.c - how children begin, and how they are told to end.
 *
 * A child begins with a channel and an empty mailbox; runs can be sent at once, though the zygote
 * forks it later. It ends by a closed channel, or by a signal that the zygote sends. Forks that
 * fail are tried again, later each time, by one child at a time that no run waits for. */
#include "executor/children.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "platform/descriptor.h"

enum { RETRY_MS = 10, RETRY_MAX_MS = 1000 }; /* doubled up to the second */

void culex__children_begin_failed(struct culex_children *children,
                                  struct culex_begin_trouble *trouble, const char *text)
{
    int64_t now_ns = culex__children_now_ns(children);
    unsigned shift = trouble->failures < 7 ? trouble->failures : 7;
    int64_t wait_ms = culex__min_ns((int64_t)RETRY_MS << shift, RETRY_MAX_MS);
    trouble->failures++;
    trouble->retry_ns = now_ns + wait_ms * CULEX_MS_NS;
    snprintf(children->begin_text, sizeof children->begin_text, "%s", text);
    if (culex__notice_tell(&trouble->notice, text, now_ns))
        culex__log_write(&children->base.log, CULEX_LOG_WARNING, NULL,
                         "cannot start a child process, trying again: %s", text);
}

void culex__children_fork_failed(struct culex_children *children, const char *what, int failure)
{
    char text[256];
    snprintf(text, sizeof text, "%s%s%s", what, failure != 0 ? ": " : "",
             failure != 0 ? strerror(failure) : "");
    culex__children_begin_failed(children, &children->fork, text);
    children->is_scarce = true;
    children->gives_back |= children->fork.failures == CULEX_FORK_PATIENCE;
}

int64_t culex__children_retry_ns(const struct culex_children *children)
{
    return children->fork.retry_ns > children->setup.retry_ns ? children->fork.retry_ns
                                                              : children->setup.retry_ns;
}

struct culex_child_link *culex__children_free_find(struct culex_children *children)
{
    for (size_t i = 0; i < children->slot_count; i++) {
        if (children->links[i].state == CULEX_CHILD_FREE)
            return &children->links[i];
    }
    return NULL;
}

/* Without its group a child runs all the same, bounded as it would be without --cgroup. */
static void group_prepare(struct culex_children *children, struct culex_child_link *child,
                          bool was_oom)
{
    char text[256];
    struct culex_cgroup *group = &children->cgroup;
    bool is_ready = culex__cgroup_slot_prepare(group, child->slot, was_oom);
    snprintf(text, sizeof text, "%s", is_ready ? "" : strerror(errno));
    child->ooms = culex__cgroup_slot_ooms(group, child->slot);
    if (is_ready && culex__notice_end(&children->cgroup_notice))
        culex__log_write(&children->base.log, CULEX_LOG_INFO, NULL,
                         "control groups can be made in %s again", group->path);
    if (is_ready ||
        !culex__notice_tell(&children->cgroup_notice, text, culex__children_now_ns(children)))
        return;
    culex__log_write(&children->base.log, CULEX_LOG_WARNING, NULL,
                     "cannot make a control group in %s: %s; meanwhile the processes of a run are "
                     "bounded each by itself only",
                     group->path, text);
}

static bool channel_open(struct culex_children *children, struct culex_child_link *child)
{
    int fds[2];
    if (culex__process_socketpair(&children->effects, fds) < 0)
        return false;
    child->fd = fds[0];
    bool is_open =
        culex__process_watch_add(&children->effects, children->watch_fd, fds[0], POLLIN,
                                 CULEX_WATCH_CHILDREN + child->slot) &&
        culex__zygote_link_fork(&children->zygote, child->slot, child->generation, fds[1]);
    culex__descriptor_close(fds[1]);
    return is_open;
}

struct culex_child_link *culex__children_begin(struct culex_children *children)
{
    assert(children->broken[0] == '\0'); /* or nobody could fork it */
    struct culex_child_link *child = culex__children_free_find(children);
    if (child == NULL || culex__children_now_ns(children) < culex__children_retry_ns(children))
        return NULL;
    size_t slot = (size_t)(child - children->links);
    uint32_t generation = child->generation + 1;
    bool was_oom = child->is_oom;
    *child = (struct culex_child_link){.slot = slot, .generation = generation, .fd = -1};
    child->is_ready = children->config.handler.hooks.open == NULL && !children->is_scarce;
    child->begun_ns = culex__children_now_ns(children);
    child->mailbox = culex__mailbox_of(&children->zygote_config.mailboxes, slot);
    memset(child->mailbox, 0, sizeof *child->mailbox);
    atomic_store_explicit(&child->mailbox->is_trial, children->is_scarce, memory_order_relaxed);
    group_prepare(children, child, was_oom);
    if (!channel_open(children, child)) {
        culex__children_fork_failed(children, "no channel to it", errno);
        culex__child_link_close(child);
        return NULL;
    }
    child->state = CULEX_CHILD_LIVE;
    return child;
}

void culex__children_signal(struct culex_children *children, struct culex_child_link *child,
                            int number)
{
    bool is_sent =
        culex__zygote_link_signal(&children->zygote, child->slot, child->generation, number);
    child->pending_signal = is_sent ? 0 : number;
}

void culex__children_kill(struct culex_children *children, struct culex_child_link *child,
                          const char *why)
{
    assert(child->state != CULEX_CHILD_FREE);
    child->killed_why = why;
    child->state = CULEX_CHILD_ENDING;
    child->ending_ns = culex__children_now_ns(children);
    child->is_spent = true;
    culex__children_signal(children, child, SIGKILL);
}

void culex__children_dismiss(struct culex_children *children, struct culex_child_link *child)
{
    assert(child->state == CULEX_CHILD_LIVE && child->window.live == 0);
    child->state = CULEX_CHILD_ENDING;
    child->killed_why = NULL; /* a handler that was asked to stop has done so */
    child->ending_ns = culex__children_now_ns(children);
    culex__child_link_close(child);
}

void culex__children_receive(struct culex_children *children, struct culex_child_link *child)
{
    struct culex_child_sink sink = culex__children_sink(children);
    bool was_new = child->window.finished == 0;
    culex__child_link_receive(child, children->buffers, &sink, culex__children_now_ns(children));
    if (was_new && child->window.finished > 0)
        children->fork.failures = 0;
}

void culex__children_ready(struct culex_children *children)
{
    if (culex__notice_end(&children->setup.notice))
        culex__log_write(&children->base.log, CULEX_LOG_INFO, NULL,
                         "the set-up of a child process works again");
    children->is_ready = true;
    children->setup.failures = 0;
}
