/* executor/children_life.c - children and their zygote: how they begin, are told to end, and
 * end.
 *
 * A child begins with a channel and an empty mailbox; runs can be sent at once, though the zygote
 * forks it later. It ends by a closed channel, or by a signal that the zygote sends, and its slot
 * is free when the zygote has reported its death: the run that it was at is to blame, and what
 * waited behind starts elsewhere. Forks that fail are tried again, later each time. */
#include "executor/children.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "child/crash_report.h"
#include "platform/descriptor.h"

enum { RETRY_MS = 10, RETRY_MAX_MS = 1000 }; /* doubled up to the second */

/* One more failure; `text` is copied. */
static void begin_failed(struct culex_children *children, struct culex_begin_trouble *trouble,
                         const char *text)
{
    int64_t now_ns = culex__children_now_ns(children);
    unsigned shift = trouble->failures < 7 ? trouble->failures : 7;
    int64_t wait_ms = culex__min_ns((int64_t)RETRY_MS << shift, RETRY_MAX_MS);
    trouble->failures++;
    trouble->retry_ns = now_ns + wait_ms * CULEX_MS_NS;
    snprintf(children->begin_text, sizeof children->begin_text, "%s", text);
    if (culex__notice_tell(&trouble->notice, text, now_ns))
        culex__log_write(&children->base.log, CULEX_LOG_WARNING, NULL,
                         "cannot start a handler process, trying again: %s", text);
}

static void fork_failed(struct culex_children *children, const char *what, int failure)
{
    char text[256];
    snprintf(text, sizeof text, "%s%s%s", what, failure != 0 ? ": " : "",
             failure != 0 ? strerror(failure) : "");
    begin_failed(children, &children->fork, text);
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
        culex__process_watch(&children->effects, children->epoll_fd, fds[0], EPOLLIN,
                             CULEX_WATCH_CHILDREN + child->slot) == 0 &&
        culex__zygote_link_fork(&children->zygote, child->slot, child->generation, fds[1]);
    culex__descriptor_close(fds[1]);
    return is_open;
}

struct culex_child_link *culex__children_begin(struct culex_children *children)
{
    struct culex_child_link *child = culex__children_free_find(children);
    if (child == NULL || culex__children_now_ns(children) < culex__children_retry_ns(children))
        return NULL;
    size_t slot = (size_t)(child - children->links);
    uint32_t generation = child->generation + 1;
    bool was_oom = child->is_oom;
    *child = (struct culex_child_link){.slot = slot, .generation = generation, .fd = -1};
    child->is_ready = children->config.hooks.open == NULL;
    child->begun_ns = culex__children_now_ns(children);
    child->mailbox = culex__zygote_mailbox(&children->zygote_config, slot);
    memset(child->mailbox, 0, sizeof *child->mailbox);
    group_prepare(children, child, was_oom);
    if (!channel_open(children, child)) {
        fork_failed(children, "no channel to it", errno);
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
    child->killed_why = why;
    child->state = CULEX_CHILD_ENDING;
    child->ending_ns = culex__children_now_ns(children);
    child->is_spent = true;
    culex__children_signal(children, child, SIGKILL);
}

void culex__children_dismiss(struct culex_children *children, struct culex_child_link *child)
{
    child->state = CULEX_CHILD_ENDING;
    child->ending_ns = culex__children_now_ns(children);
    culex__child_link_close(child);
}

/* Whatever is left in a child that will never answer again, oldest first in the queue. */
static void runs_return(struct culex_children *children, struct culex_child_link *child)
{
    struct culex_window *window = &child->window;
    for (uint64_t seq = window->assigned; seq > window->finished; seq--) {
        struct culex_window_entry *entry = culex__window_find(window, seq);
        struct culex_run *run = entry != NULL ? culex__window_remove(window, entry) : NULL;
        if (run != NULL)
            culex__children_return(children, run);
    }
}

/* Whether the memory killer took it, and in which words; NULL when not. */
static const char *memory_why(struct culex_children *children, struct culex_child_link *child,
                              const struct culex_run *run, char *text, size_t size)
{
    struct culex_cgroup_ooms ooms = culex__cgroup_slot_ooms(&children->cgroup, child->slot);
    if (ooms.killed == child->ooms.killed)
        return NULL;
    child->is_oom = true;
    if (run == NULL || run->job.type->memory_bytes == 0 || ooms.reached == child->ooms.reached)
        return "out of memory: not for a limit of the job, but the machine's or that of a control "
               "group around the worker";
    snprintf(text, size,
             "out of memory: its processes together exceeded the job's limit, %lld "
             "bytes",
             (long long)run->job.type->memory_bytes);
    return text;
}

static void child_blame(struct culex_children *children, struct culex_child_link *child,
                        const struct culex_zygote_report *report)
{
    char text[1024], memory[128];
    struct culex_run *run = culex__child_link_blame(child);
    struct culex_child_exit exit = {report->code, report->status};
    const char *why = report->code == CLD_KILLED && report->status == SIGKILL
                          ? memory_why(children, child, run, memory, sizeof memory)
                          : NULL;
    if (why == NULL)
        why = report->is_overtime != 0 ? "its lease was over" : child->killed_why;
    if (run == NULL) {
        /* It may be the machine's fault, or a handler's that left something behind. */
        if (child->killed_why == NULL && child->window.live > 0)
            fork_failed(children, "it ended before its run began", 0);
        return;
    }
    if (child->wrong != NULL)
        snprintf(
            text, sizeof text,
            "the handler's process was killed because it sent %s: its memory is damaged, or it "
            "closed or wrote to a descriptor that it did not open",
            child->wrong);
    else
        culex__crash_report_describe(&child->mailbox->crash, &exit, why, run, children->symbols,
                                     text, sizeof text);
    culex__children_crash(children, run, text);
}

void culex__children_receive(struct culex_children *children, struct culex_child_link *child)
{
    struct culex_child_sink sink = culex__children_sink(children);
    culex__child_link_receive(child, children->buffers, &sink, culex__children_now_ns(children));
}

/* The program's own set-up is to blame, unless all are to end. */
static void setup_failed(struct culex_children *children, struct culex_child_link *child,
                         const struct culex_zygote_report *report)
{
    char text[256];
    if (children->is_stopping)
        return;
    if (child->killed_why != NULL)
        snprintf(text, sizeof text, "the set-up of its process: %s", child->killed_why);
    else if (report->code != CLD_EXITED)
        snprintf(text, sizeof text, "the set-up of its process was killed by signal %d (%s)",
                 report->status, strsignal(report->status));
    else if (!child->is_unready)
        snprintf(text, sizeof text, "the set-up of its process called exit(%d)", report->status);
    else
        snprintf(text, sizeof text, "the set-up of its process failed: %s",
                 child->unready[0] != '\0' ? child->unready : "it gave no reason");
    children->is_ready = false;
    begin_failed(children, &children->setup, text);
}

void culex__children_ready(struct culex_children *children)
{
    if (culex__notice_end(&children->setup.notice))
        culex__log_write(&children->base.log, CULEX_LOG_INFO, NULL,
                         "the set-up of a handler process works again");
    children->is_ready = true;
    children->setup.failures = children->fork.failures = 0;
}

/* The process is dead: what it still said counts, then somebody is to blame. */
static void child_bury(struct culex_children *children, struct culex_child_link *child,
                       const struct culex_zygote_report *report)
{
    for (int round = 0; round < 64 && child->fd >= 0 && !child->is_deaf && child->wrong == NULL;
         round++)
        culex__children_receive(children, child);
    culex__children_receive(children, child);
    if (report->type == CULEX_ZYGOTE_NOT_FORKED)
        fork_failed(children, "cannot fork", report->code);
    else if (!child->is_ready)
        setup_failed(children, child, report);
    else
        child_blame(children, child, report);
    runs_return(children, child);
    culex__child_link_close(child);
    child->state = CULEX_CHILD_FREE;
}

/* --- the zygote ------------------------------------------------------------------------ */

/* A child dies with its zygote, but nobody is left to kill what it started. Should the child
 * have written a lie here, it could have sent the signal itself just as well. */
static void group_kill(const struct culex_child_link *child)
{
    int64_t group = atomic_load(&child->mailbox->group);
    if (group > 1 && group <= INT32_MAX)
        kill(-(pid_t)group, SIGKILL);
}

void culex__children_zygote_lost(struct culex_children *children, const char *why)
{
    char how[64];
    char text[256];
    culex__zygote_link_bury(&children->zygote, how, sizeof how);
    snprintf(children->broken, sizeof children->broken,
             "the process that starts handlers is gone: it %s%s", why[0] != '\0' ? why : how, "");
    snprintf(text, sizeof text, "killed because %s", children->broken);
    culex__log_write(&children->base.log, CULEX_LOG_ERROR, NULL, "%s", children->broken);
    for (size_t i = 0; i < children->slot_count; i++) {
        struct culex_child_link *child = &children->links[i];
        if (child->state == CULEX_CHILD_FREE)
            continue;
        group_kill(child);
        culex__cgroup_slot_kill(&children->cgroup, child->slot);
        culex__children_receive(children, child);
        struct culex_run *run = culex__child_link_blame(child);
        if (run != NULL)
            culex__children_crash(children, run, text);
        runs_return(children, child);
        culex__child_link_close(child);
        child->state = CULEX_CHILD_FREE;
    }
}

void culex__children_zygote_read(struct culex_children *children)
{
    struct culex_zygote_report report;
    for (size_t i = 0; i < 2 * children->slot_count; i++) {
        enum culex_zygote_word word = culex__zygote_link_read(&children->zygote, &report);
        if (word == CULEX_ZYGOTE_SILENT)
            return;
        if (word == CULEX_ZYGOTE_GONE) {
            culex__children_zygote_lost(children, "");
            return;
        }
        struct culex_child_link *child =
            report.slot < children->slot_count ? &children->links[report.slot] : NULL;
        if (child != NULL && child->state != CULEX_CHILD_FREE &&
            child->generation == report.generation)
            child_bury(children, child, &report);
    }
}
