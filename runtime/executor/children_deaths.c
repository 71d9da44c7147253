/* executor/children_deaths.c - what is left of a child that is dead: its last words, whom to blame,
 * and its runs. Of all of them at once, when their zygote is lost.
 *
 * A slot is free when the zygote has reported the death of its child: the run that the child was at
 * is to blame, and what waited behind starts elsewhere. */
#include "executor/children.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "child/crash_report.h"
#include "core/end_text.h"

enum { LAST_ROUNDS = 64 /* of reading: more than a channel holds */ };

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

/* Its slot may be used again. */
static void child_free(struct culex_children *children, struct culex_child_link *child)
{
    runs_return(children, child);
    assert(child->window.live == 0);
    culex__child_link_close(child);
    child->state = CULEX_CHILD_FREE;
}

/* The text when the memory killer took it, NULL when not. */
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
        /* The cause may be the machine, or what an earlier handler has left behind. */
        if (child->killed_why == NULL && child->window.live > 0)
            culex__children_fork_failed(children, "it ended before its run began", 0);
        else if (children->is_scarce && !child->is_used && child->state == CULEX_CHILD_LIVE)
            culex__children_fork_failed(children, "it ended without a run", 0);
        return;
    }
    if (child->wrong != NULL)
        snprintf(text, sizeof text,
                 "the child process was killed because it sent %s: its memory is damaged, or it "
                 "closed or wrote to a descriptor that it did not open",
                 child->wrong);
    else
        culex__crash_report_describe(&child->mailbox->crash, &exit, why, run, children->symbols,
                                     text, sizeof text);
    culex__children_crash(children, run, report->at_ns, text);
    run->end.is_overtime = report->is_overtime != 0;
}

/* It died in the program's set-up, which is told unless the executor is stopping. */
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
                 child->unready[0] != '\0' ? child->unready : CULEX__NO_REASON_TEXT);
    children->is_ready = false;
    culex__children_begin_failed(children, &children->setup, text);
}

static void trial_failed(struct culex_children *children, const struct culex_child_link *child)
{
    if (!children->is_stopping)
        culex__children_fork_failed(
            children,
            child->killed_why != NULL ? child->killed_why : "it ended before it could take runs",
            0);
}

/* The child is dead. What it had sent still counts; then its death is charged to a run. */
static void child_bury(struct culex_children *children, struct culex_child_link *child,
                       const struct culex_zygote_report *report)
{
    for (int round = 0;
         round < LAST_ROUNDS && child->fd >= 0 && !child->is_deaf && child->wrong == NULL; round++)
        culex__children_receive(children, child);
    culex__children_receive(children, child);
    if (child->window.finished > 0)
        children->fork.retry_ns = 0; /* another may have its place */
    if (report->type == CULEX_ZYGOTE_NOT_FORKED)
        culex__children_fork_failed(children, "cannot fork", report->code);
    else if (!child->is_ready && children->config.handler.hooks.open != NULL)
        setup_failed(children, child, report);
    else if (!child->is_ready)
        trial_failed(children, child);
    else
        child_blame(children, child, report);
    child_free(children, child);
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
            culex__children_crash(children, run, culex__children_now_ns(children), text);
        child_free(children, child);
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

void culex__children_answers_await(struct culex_children *children, int64_t now_ns)
{
    for (size_t i = 0; i < children->slot_count; i++) {
        const struct culex_child_link *child = &children->links[i];
        if (child->state == CULEX_CHILD_ENDING && child->killed_why != NULL &&
            now_ns >= culex__children_overdue_ns(children, child)) {
            culex__children_zygote_lost(children, "does not answer");
            return;
        }
    }
}
