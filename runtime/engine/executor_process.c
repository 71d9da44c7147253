/* engine/executor_process.c - handlers in child processes: the supervisor's side.
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
 * to get another: the supervisor has secrets by then. Then all runs come back. */
#include "engine/executor_process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/crash_report.h"
#include "engine/handler_process.h"
#include "engine/symbols.h"
#include "engine/zygote_link.h"

#define MS INT64_C(1000000)

enum {
    SHARE_US = 500,     /* work that one child may hold */
    STALL_MS = 2,       /* a run this long should have none waiting behind it */
    LOOK_MS = 1,        /* look by ourselves while ends may be untold */
    LEAVE_MS = 1000,    /* a child that was told to end is killed then */
    ANSWER_MS = 30000,  /* a zygote that has not buried a killed child by then is lost */
    FORK_RETRY_MS = 10, /* doubled up to ... */
    FORK_RETRY_MAX_MS = 1000,
    FORK_PATIENCE = 6, /* failures in a row; then runs are given back */
    SPARE_MAX = 2,     /* children forked ahead when each has one run */
    EVENTS_MAX = 64
};

enum watch { WATCH_ZYGOTE, WATCH_KICK, WATCH_TIMER, WATCH_CHILDREN };

struct run_list {
    struct culex_run *first;
    struct culex_run *last;
    size_t count;
};

struct processes {
    struct culex_executor base;
    struct culex_executor_config config;
    struct culex_process_effects effects;
    struct culex_zygote_config zygote;
    struct culex_zygote_link link;
    struct culex_symbols *symbols;
    int epoll_fd;
    int kick_fd; /* readable while there are ended runs that no child's message announces */
    int timer_fd;
    int64_t armed_ns; /* the timer's time, INT64_MAX for none */
    bool is_kicked;
    struct run_list queue; /* to start */
    struct run_list ended;
    int64_t average_ns; /* of recent runs */
    unsigned fork_failures;
    int64_t fork_retry_ns;
    char fork_text[96]; /* the last failure's */
    char broken[160];   /* empty while all is well */
    struct culex_handler_buffers *buffers;
    size_t child_count;
    struct culex_handler_process children[];
};

/* --- lists ----------------------------------------------------------------------------- */

static void list_push(struct run_list *list, struct culex_run *run)
{
    run->next = NULL;
    if (list->last != NULL)
        list->last->next = run;
    else
        list->first = run;
    list->last = run;
    list->count++;
}

static void list_push_front(struct run_list *list, struct culex_run *run)
{
    run->next = list->first;
    list->first = run;
    if (list->last == NULL)
        list->last = run;
    list->count++;
}

static struct culex_run *list_pop(struct run_list *list)
{
    struct culex_run *run = list->first;
    if (run == NULL)
        return NULL;
    list->first = run->next;
    if (list->first == NULL)
        list->last = NULL;
    list->count--;
    return run;
}

static bool list_remove(struct run_list *list, struct culex_run *run)
{
    struct run_list kept = {0};
    bool is_found = false;
    for (struct culex_run *at; (at = list_pop(list)) != NULL;) {
        if (at == run)
            is_found = true;
        else
            list_push(&kept, at);
    }
    *list = kept;
    return is_found;
}

static void list_free(struct run_list *list)
{
    for (struct culex_run *run; (run = list_pop(list)) != NULL;)
        culex__run_free(run);
}

/* --- ends ------------------------------------------------------------------------------ */

static int64_t now_of(const struct processes *processes)
{
    return culex__env_boottime_ns(processes->config.env);
}

static void kick(struct processes *processes)
{
    uint64_t one = 1;
    if (processes->is_kicked)
        return;
    processes->is_kicked = write(processes->kick_fd, &one, sizeof one) == sizeof one;
}

static void unkick(struct processes *processes)
{
    uint64_t count;
    if (processes->is_kicked && read(processes->kick_fd, &count, sizeof count) == sizeof count)
        processes->is_kicked = false;
}

static void run_ended(void *self, struct culex_run *run)
{
    struct processes *processes = self;
    processes->average_ns += (run->end.duration_ns - processes->average_ns) / 8;
    processes->fork_failures = 0;
    list_push(&processes->ended, run);
}

static void run_release(struct processes *processes, struct culex_run *run, int64_t delay_ms)
{
    run->end = (struct culex_execution_end){.event = CULEX_EVENT_RELEASE, .delay_ms = delay_ms};
    run->has_result = false;
    list_push(&processes->ended, run);
}

/* A run that did not start, after all, where it was to. */
static void run_returned(void *self, struct culex_run *run)
{
    struct processes *processes = self;
    if (atomic_load_explicit(&run->is_cancelled, memory_order_relaxed))
        run_release(processes, run, 0);
    else
        list_push_front(&processes->queue, run);
}

static void line_write(void *self, const char *line, size_t len)
{
    const struct processes *processes = self;
    const struct culex_log_sink *sink = &processes->base.log.sink;
    sink->write(sink->self, line, len);
}

static void run_set_text(struct culex_run *run, const char *text)
{
    if (run->text == NULL)
        run->text = malloc(CULEX_ERROR_TEXT_MAX + 1);
    if (run->text != NULL)
        snprintf(run->text, CULEX_ERROR_TEXT_MAX + 1, "%s", text);
    run->end.text = run->text != NULL ? run->text : "the handler's process died";
}

static void run_crash(struct processes *processes, struct culex_run *run, const char *text)
{
    int64_t started_ns = atomic_load_explicit(&run->started_ns, memory_order_relaxed);
    run->end = (struct culex_execution_end){.event = CULEX_EVENT_CRASH};
    run->end.duration_ns = started_ns > 0 ? now_of(processes) - started_ns : 0;
    run->has_result = false;
    run_set_text(run, text);
    list_push(&processes->ended, run);
}

/* --- children: begin and end ----------------------------------------------------------- */

static struct culex_handler_sink sink_of(struct processes *processes)
{
    return (struct culex_handler_sink){processes, run_ended, run_returned, line_write};
}

static void channel_close(struct culex_handler_process *child)
{
    if (child->fd >= 0)
        close(child->fd); /* leaves the epoll set by itself: nobody else has it */
    child->fd = -1;
    child->is_deaf = true;
}

static void fork_failed(struct processes *processes, const char *what, int failure)
{
    unsigned shift = processes->fork_failures < 7 ? processes->fork_failures : 7;
    int64_t wait_ms = (int64_t)FORK_RETRY_MS << shift;
    wait_ms = wait_ms < FORK_RETRY_MAX_MS ? wait_ms : FORK_RETRY_MAX_MS;
    processes->fork_failures++;
    processes->fork_retry_ns = now_of(processes) + wait_ms * MS;
    snprintf(processes->fork_text, sizeof processes->fork_text, "%s%s%s", what,
             failure != 0 ? ": " : "", failure != 0 ? strerror(failure) : "");
    if (processes->fork_failures == 1)
        culex__log_write(&processes->base.log, CULEX_LOG_WARNING, NULL,
                         "cannot start a handler process, trying again: %s", processes->fork_text);
}

static struct culex_handler_process *free_find(struct processes *processes)
{
    for (size_t i = 0; i < processes->child_count; i++) {
        if (processes->children[i].state == CULEX_HANDLER_FREE)
            return &processes->children[i];
    }
    return NULL;
}

static bool channel_open(struct processes *processes, struct culex_handler_process *child)
{
    int fds[2];
    if (culex__process_socketpair(&processes->effects, fds) < 0)
        return false;
    child->fd = fds[0];
    bool is_open =
        culex__process_watch(&processes->effects, processes->epoll_fd, fds[0], EPOLLIN,
                             WATCH_CHILDREN + child->slot) == 0 &&
        culex__zygote_link_fork(&processes->link, child->slot, child->generation, fds[1]);
    int failure = errno;
    close(fds[1]);
    errno = failure;
    return is_open;
}

/* A new child, to which runs can be given at once; NULL when there is none to be had now. */
static struct culex_handler_process *child_begin(struct processes *processes)
{
    struct culex_handler_process *child = free_find(processes);
    if (child == NULL || now_of(processes) < processes->fork_retry_ns)
        return NULL;
    size_t slot = (size_t)(child - processes->children);
    uint32_t generation = child->generation + 1;
    *child = (struct culex_handler_process){.slot = slot, .generation = generation, .fd = -1};
    child->mailbox = culex__zygote_mailbox(&processes->zygote, slot);
    memset(child->mailbox, 0, sizeof *child->mailbox);
    if (!channel_open(processes, child)) {
        fork_failed(processes, "no channel to it", errno);
        channel_close(child);
        return NULL;
    }
    child->state = CULEX_HANDLER_LIVE;
    return child;
}

static void signal_send(struct processes *processes, struct culex_handler_process *child,
                        int number)
{
    bool is_sent =
        culex__zygote_link_signal(&processes->link, child->slot, child->generation, number);
    child->pending_signal = is_sent ? 0 : number;
}

static void child_kill(struct processes *processes, struct culex_handler_process *child,
                       const char *why)
{
    child->killed_why = why;
    child->state = CULEX_HANDLER_ENDING;
    child->ending_ns = now_of(processes);
    child->is_spent = true;
    signal_send(processes, child, SIGKILL);
}

/* It ends when it sees that the channel is closed; later a kill helps. */
static void child_dismiss(struct processes *processes, struct culex_handler_process *child)
{
    child->state = CULEX_HANDLER_ENDING;
    child->ending_ns = now_of(processes);
    channel_close(child);
}

/* Whatever is left in a child that will never answer again, oldest first in the queue. */
static void runs_return(struct processes *processes, struct culex_handler_process *child)
{
    struct culex_window *window = &child->window;
    for (uint64_t seq = window->assigned; seq > window->finished; seq--) {
        struct culex_window_entry *entry = culex__window_find(window, seq);
        struct culex_run *run = entry != NULL ? culex__window_remove(window, entry) : NULL;
        if (run != NULL)
            run_returned(processes, run);
    }
}

static void child_blame(struct processes *processes, struct culex_handler_process *child,
                        const struct culex_zygote_report *report)
{
    char text[1024];
    struct culex_run *run = culex__handler_blame(child);
    struct culex_child_exit exit = {report->code, report->status};
    const char *why = report->is_overtime != 0 ? "its lease was over" : child->killed_why;
    if (run == NULL) {
        /* It may be the machine's fault, or a handler's that left something behind. */
        if (child->killed_why == NULL && child->window.live > 0)
            fork_failed(processes, "it ended before its run began", 0);
        return;
    }
    if (child->wrong != NULL)
        snprintf(text, sizeof text,
                 "the handler's process was killed because it sent %s: its memory is damaged",
                 child->wrong);
    else
        culex__crash_report_describe(&child->mailbox->crash, &exit, why, run, processes->symbols,
                                     text, sizeof text);
    run_crash(processes, run, text);
}

static void child_receive(struct processes *processes, struct culex_handler_process *child)
{
    struct culex_handler_sink sink = sink_of(processes);
    culex__handler_receive(child, processes->buffers, &sink, now_of(processes));
}

/* The process is dead: what it still said counts, then somebody is to blame. */
static void child_bury(struct processes *processes, struct culex_handler_process *child,
                       const struct culex_zygote_report *report)
{
    for (int round = 0; round < 64 && child->fd >= 0 && !child->is_deaf && child->wrong == NULL;
         round++)
        child_receive(processes, child);
    child_receive(processes, child);
    if (report->type == CULEX_ZYGOTE_NOT_FORKED)
        fork_failed(processes, "cannot fork", report->code);
    else
        child_blame(processes, child, report);
    runs_return(processes, child);
    channel_close(child);
    child->state = CULEX_HANDLER_FREE;
}

/* --- the zygote ------------------------------------------------------------------------ */

/* A child dies with its zygote, but nobody is left to kill what it started. Should the child
 * have written a lie here, it could have sent the signal itself just as well. */
static void group_kill(const struct culex_handler_process *child)
{
    int64_t group = atomic_load(&child->mailbox->group);
    if (group > 1 && group <= INT32_MAX)
        kill(-(pid_t)group, SIGKILL);
}

/* Who ran was killed by its death; the others are given back. */
static void zygote_lost(struct processes *processes, const char *why)
{
    char how[64];
    char text[256];
    culex__zygote_link_bury(&processes->link, how, sizeof how);
    snprintf(processes->broken, sizeof processes->broken,
             "the process that starts handlers is gone: it %s%s", why[0] != '\0' ? why : how, "");
    snprintf(text, sizeof text, "killed because %s", processes->broken);
    culex__log_write(&processes->base.log, CULEX_LOG_ERROR, NULL, "%s", processes->broken);
    for (size_t i = 0; i < processes->child_count; i++) {
        struct culex_handler_process *child = &processes->children[i];
        if (child->state == CULEX_HANDLER_FREE)
            continue;
        group_kill(child);
        child_receive(processes, child);
        struct culex_run *run = culex__handler_blame(child);
        if (run != NULL)
            run_crash(processes, run, text);
        runs_return(processes, child);
        channel_close(child);
        child->state = CULEX_HANDLER_FREE;
    }
}

static void zygote_read(struct processes *processes)
{
    struct culex_zygote_report report;
    for (size_t i = 0; i < 2 * processes->child_count; i++) {
        enum culex_zygote_word word = culex__zygote_link_read(&processes->link, &report);
        if (word == CULEX_ZYGOTE_SILENT)
            return;
        if (word == CULEX_ZYGOTE_GONE) {
            zygote_lost(processes, "");
            return;
        }
        struct culex_handler_process *child =
            report.slot < processes->child_count ? &processes->children[report.slot] : NULL;
        if (child != NULL && child->state != CULEX_HANDLER_FREE &&
            child->generation == report.generation)
            child_bury(processes, child, &report);
    }
}

/* --- who gets the next run ------------------------------------------------------------- */

static size_t busy_count(const struct processes *processes)
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

static size_t open_count(const struct processes *processes)
{
    size_t count = 0;
    for (size_t i = 0; i < processes->child_count; i++)
        count += is_open(&processes->children[i]);
    return count;
}

static struct culex_handler_process *idle_find(struct processes *processes, bool is_fresh)
{
    for (size_t i = 0; i < processes->child_count; i++) {
        struct culex_handler_process *child = &processes->children[i];
        if (is_open(child) && child->window.live == 0 && !culex__window_is_full(&child->window) &&
            !(is_fresh && child->is_used))
            return child;
    }
    return NULL;
}

static bool wants_fresh(const struct processes *processes, const struct culex_run *run)
{
    return run->is_suspect || processes->config.isolation == CULEX_ISOLATION_JOB;
}

/* For a run that must have a process of its own. */
static struct culex_handler_process *fresh_choose(struct processes *processes)
{
    if (busy_count(processes) >= processes->config.count)
        return NULL;
    struct culex_handler_process *child = idle_find(processes, true);
    if (child == NULL)
        child = child_begin(processes);
    if (child == NULL && free_find(processes) == NULL) {
        struct culex_handler_process *idle = idle_find(processes, false);
        if (idle != NULL)
            child_dismiss(processes, idle);
    }
    return child;
}

/* How many runs a child may hold while they are as short as they were. */
static size_t share_of(const struct processes *processes)
{
    int64_t average_ns = processes->average_ns > 1000 ? processes->average_ns : 1000;
    int64_t share = SHARE_US * INT64_C(1000) / average_ns;
    return share < 1 ? 1 : share > CULEX_WINDOW ? CULEX_WINDOW : (size_t)share;
}

static struct culex_handler_process *least_find(struct processes *processes)
{
    struct culex_handler_process *least = NULL;
    for (size_t i = 0; i < processes->child_count; i++) {
        struct culex_handler_process *child = &processes->children[i];
        if (is_open(child) && !culex__window_is_full(&child->window) &&
            (least == NULL || child->window.live < least->window.live))
            least = child;
    }
    return least != NULL && least->window.live < share_of(processes) ? least : NULL;
}

static struct culex_handler_process *child_choose(struct processes *processes,
                                                  const struct culex_run *run)
{
    if (wants_fresh(processes, run))
        return fresh_choose(processes);
    bool has_place = busy_count(processes) < processes->config.count;
    struct culex_handler_process *child = has_place ? idle_find(processes, false) : NULL;
    if (child == NULL && has_place && open_count(processes) < processes->config.count)
        child = child_begin(processes);
    return child != NULL ? child : least_find(processes);
}

static void children_flush(struct processes *processes)
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
                                    .data.u64 = WATCH_CHILDREN + child->slot};
        epoll_ctl(processes->epoll_fd, EPOLL_CTL_MOD, child->fd, &event);
    }
}

/* Children for the runs to come, when each needs its own. */
static void spares_begin(struct processes *processes)
{
    if (processes->config.isolation != CULEX_ISOLATION_JOB)
        return;
    size_t spares = 0;
    for (size_t i = 0; i < processes->child_count; i++)
        spares += is_open(&processes->children[i]) && !processes->children[i].is_used;
    size_t wanted = processes->config.count < SPARE_MAX ? processes->config.count : SPARE_MAX;
    while (spares < wanted && child_begin(processes) != NULL)
        spares++;
}

/* Nothing starts for a while, and nothing that runs could take over: others may have room. */
static void queue_release(struct processes *processes)
{
    if (processes->queue.count == 0)
        return;
    culex__log_write(&processes->base.log, CULEX_LOG_ERROR, NULL,
                     "%zu runs given back: cannot start a handler process: %s",
                     processes->queue.count, processes->fork_text);
    /* Without a zygote this worker claims nothing more, and others need not wait. */
    int64_t delay_ms = processes->broken[0] != '\0' ? 0 : culex__run_unknown_delay_ms(1);
    for (struct culex_run *run; (run = list_pop(&processes->queue)) != NULL;)
        run_release(processes, run, delay_ms);
}

/* Too late to start it. */
static bool is_over(const struct processes *processes, const struct culex_run *run)
{
    int64_t lease_ns = atomic_load_explicit(&run->lease_ns, memory_order_relaxed);
    return atomic_load_explicit(&run->is_cancelled, memory_order_relaxed) ||
           (lease_ns != 0 && lease_ns <= now_of(processes));
}

static void dispatch(struct processes *processes)
{
    while (processes->queue.first != NULL && processes->broken[0] == '\0') {
        struct culex_run *run = processes->queue.first;
        if (is_over(processes, run)) {
            run_release(processes, list_pop(&processes->queue), 0);
            continue;
        }
        struct culex_handler_process *child = child_choose(processes, run);
        if (child == NULL)
            break;
        list_pop(&processes->queue);
        culex__handler_assign(child, run, wants_fresh(processes, run));
    }
    children_flush(processes);
    if (processes->broken[0] == '\0')
        spares_begin(processes);
    bool is_hopeless = processes->fork_failures >= FORK_PATIENCE && busy_count(processes) == 0;
    if (is_hopeless || processes->broken[0] != '\0')
        queue_release(processes);
}

/* --- time ------------------------------------------------------------------------------ */

static int64_t min_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What a run that was asked to stop is due for. */
static void ladder_climb(struct processes *processes, struct culex_handler_process *child,
                         struct culex_window_entry *entry, int64_t now_ns)
{
    struct culex_handler_sink sink = sink_of(processes);
    if (entry->run == NULL || (now_ns < entry->term_ns && now_ns < entry->kill_ns))
        return;
    if (culex__handler_running(child) != entry->seq && entry->seq > child->window.finished)
        culex__handler_take_back(child, &sink);
    if (entry->run == NULL)
        return;
    if (now_ns >= entry->kill_ns && !entry->is_killed) {
        entry->is_killed = true;
        child_kill(processes, child, "the handler did not stop when asked to");
    } else if (now_ns >= entry->term_ns && !entry->is_termed) {
        entry->is_termed = true;
        child->killed_why = "the handler was asked to stop";
        signal_send(processes, child, SIGTERM);
    }
}

static int64_t ladder_next_ns(const struct culex_window_entry *entry)
{
    if (entry->run == NULL)
        return INT64_MAX;
    return min_ns(entry->is_termed ? INT64_MAX : entry->term_ns,
                  entry->is_killed ? INT64_MAX : entry->kill_ns);
}

/* When the child wants to be looked at by itself. */
static int64_t child_next_ns(const struct processes *processes,
                             const struct culex_handler_process *child, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;
    if (child->state == CULEX_HANDLER_FREE)
        return INT64_MAX;
    if (child->pending_signal != 0 || child->window.live > 1 ||
        (child->is_deaf && child->window.live > 0))
        next_ns = now_ns + LOOK_MS * MS;
    if (child->state == CULEX_HANDLER_ENDING)
        next_ns = min_ns(next_ns, child->ending_ns +
                                      (child->killed_why != NULL ? ANSWER_MS : LEAVE_MS) * MS);
    for (size_t i = 0; child->window.live > 0 && i < CULEX_WINDOW; i++)
        next_ns = min_ns(next_ns, ladder_next_ns(&child->window.entries[i]));
    (void)processes;
    return next_ns;
}

static void timer_arm(struct processes *processes)
{
    int64_t now_ns = now_of(processes);
    int64_t next_ns = INT64_MAX;
    for (size_t i = 0; i < processes->child_count; i++)
        next_ns = min_ns(next_ns, child_next_ns(processes, &processes->children[i], now_ns));
    if (processes->queue.count > 0 && processes->fork_retry_ns > now_ns)
        next_ns = min_ns(next_ns, processes->fork_retry_ns);
    if (next_ns >= processes->armed_ns)
        return; /* it goes off earlier, and is set anew then */
    struct itimerspec when = {.it_value = {next_ns / 1000000000, next_ns % 1000000000}};
    if (next_ns <= 0)
        when.it_value = (struct timespec){0, 1};
    if (timerfd_settime(processes->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) == 0)
        processes->armed_ns = next_ns;
}

/* Its first run has become long, or will not tell: what waits behind goes elsewhere. */
static void stall_relieve(struct processes *processes, struct culex_handler_process *child,
                          int64_t now_ns)
{
    struct culex_handler_sink sink = sink_of(processes);
    bool is_stalled =
        child->head_seq > child->window.finished && now_ns - child->head_ns >= STALL_MS * MS;
    if (child->window.live < 2 && !(child->is_deaf && child->window.live > 0))
        return;
    if (!is_stalled && !child->is_deaf && child->wrong == NULL)
        return;
    culex__handler_take_back(child, &sink);
    if (is_stalled)
        processes->average_ns = now_ns - child->head_ns;
}

static void child_attend(struct processes *processes, struct culex_handler_process *child,
                         int64_t now_ns)
{
    if (child->state == CULEX_HANDLER_FREE)
        return;
    child_receive(processes, child);
    if (child->wrong != NULL && child->state == CULEX_HANDLER_LIVE) {
        child_kill(processes, child, "");
        epoll_ctl(processes->epoll_fd, EPOLL_CTL_DEL, child->fd, NULL);
    }
    if (child->is_deaf && child->fd >= 0)
        epoll_ctl(processes->epoll_fd, EPOLL_CTL_DEL, child->fd, NULL);
    if (child->state == CULEX_HANDLER_LIVE) {
        stall_relieve(processes, child, now_ns);
        for (size_t i = 0; child->window.live > 0 && i < CULEX_WINDOW; i++)
            ladder_climb(processes, child, &child->window.entries[i], now_ns);
        if (child->window.live == 0 && (child->is_spent || child->is_deaf) &&
            child->state == CULEX_HANDLER_LIVE)
            child_dismiss(processes, child);
    } else if (child->killed_why == NULL && now_ns >= child->ending_ns + LEAVE_MS * MS)
        child_kill(processes, child, "it did not end");
    else if (child->pending_signal != 0)
        signal_send(processes, child, child->pending_signal);
}

/* The zygote owes us the end of a child that it was told to kill. */
static void answers_await(struct processes *processes, int64_t now_ns)
{
    for (size_t i = 0; i < processes->child_count; i++) {
        const struct culex_handler_process *child = &processes->children[i];
        if (child->state == CULEX_HANDLER_ENDING && child->killed_why != NULL &&
            now_ns >= child->ending_ns + ANSWER_MS * MS) {
            zygote_lost(processes, "does not answer");
            return;
        }
    }
}

static void events_take(struct processes *processes)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(processes->epoll_fd, events, EVENTS_MAX, 0);
    for (int i = 0; i < count; i++) {
        uint64_t expired;
        if (events[i].data.u64 == WATCH_ZYGOTE)
            zygote_read(processes);
        if (events[i].data.u64 == WATCH_TIMER &&
            read(processes->timer_fd, &expired, sizeof expired) == sizeof expired)
            processes->armed_ns = INT64_MAX;
    }
}

static void turn(struct processes *processes)
{
    events_take(processes);
    int64_t now_ns = now_of(processes);
    for (size_t i = 0; i < processes->child_count; i++)
        child_attend(processes, &processes->children[i], now_ns);
    answers_await(processes, now_ns);
    dispatch(processes);
    timer_arm(processes);
}

/* --- the table ------------------------------------------------------------------------- */

static int processes_fd(struct culex_executor *executor)
{
    return ((struct processes *)executor)->epoll_fd;
}

static void processes_submit(struct culex_executor *executor, struct culex_run *const *runs,
                             size_t count)
{
    struct processes *processes = (struct processes *)executor;
    for (size_t i = 0; i < count; i++)
        list_push(&processes->queue, runs[i]);
    dispatch(processes);
    timer_arm(processes);
    if (processes->ended.count > 0)
        kick(processes);
}

static size_t processes_collect(struct culex_executor *executor, struct culex_run **ret_runs,
                                size_t max)
{
    struct processes *processes = (struct processes *)executor;
    size_t count = 0;
    turn(processes);
    while (count < max && processes->ended.count > 0)
        ret_runs[count++] = list_pop(&processes->ended);
    if (processes->ended.count > 0)
        kick(processes);
    else
        unkick(processes);
    return count;
}

static size_t processes_withdraw(struct culex_executor *executor, struct culex_run **ret_runs,
                                 size_t max)
{
    struct processes *processes = (struct processes *)executor;
    struct culex_handler_sink sink = sink_of(processes);
    struct run_list kept = {0};
    size_t count = 0;
    for (size_t i = 0; i < processes->child_count; i++) {
        if (processes->children[i].state != CULEX_HANDLER_FREE)
            culex__handler_take_back(&processes->children[i], &sink);
    }
    size_t skip = processes->queue.count > max ? processes->queue.count - max : 0;
    for (struct culex_run *run; (run = list_pop(&processes->queue)) != NULL;) {
        if (skip > 0) {
            skip--;
            list_push(&kept, run);
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
    struct processes *processes = (struct processes *)executor;
    size_t count = processes->queue.count;
    for (size_t i = 0; i < processes->child_count; i++) {
        struct culex_handler_process *child = &processes->children[i];
        uint64_t seq = child->window.live > 0 ? culex__handler_running(child) : 0;
        const struct culex_window_entry *entry = culex__window_find(&child->window, seq);
        count += child->window.live - (entry != NULL && entry->run != NULL);
    }
    return count;
}

static struct culex_window_entry *entry_find(struct processes *processes,
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
    struct processes *processes = (struct processes *)executor;
    struct culex_handler_process *child = NULL;
    atomic_store_explicit(&run->is_cancelled, true, memory_order_relaxed);
    struct culex_window_entry *entry = entry_find(processes, run, &child);
    if (entry != NULL) {
        atomic_store(&child->mailbox->cancelled[culex__window_slot(entry->seq)], entry->seq);
        entry->term_ns = min_ns(entry->term_ns, term_ns);
        entry->kill_ns = min_ns(entry->kill_ns, kill_ns);
        timer_arm(processes);
    } else if (list_remove(&processes->queue, run)) {
        run_release(processes, run, 0);
        kick(processes);
    }
}

static void processes_renew(struct culex_executor *executor, struct culex_run *run)
{
    struct processes *processes = (struct processes *)executor;
    struct culex_handler_process *child = NULL;
    const struct culex_window_entry *entry = entry_find(processes, run, &child);
    if (entry != NULL)
        atomic_store(&child->mailbox->lease_ns[culex__window_slot(entry->seq)],
                     atomic_load(&run->lease_ns));
}

/* --- life ------------------------------------------------------------------------------ */

static void processes_free(struct processes *processes)
{
    culex__zygote_link_close(&processes->link);
    for (size_t i = 0; i < processes->child_count; i++)
        channel_close(&processes->children[i]);
    if (processes->timer_fd >= 0)
        close(processes->timer_fd);
    if (processes->kick_fd >= 0)
        close(processes->kick_fd);
    if (processes->epoll_fd >= 0)
        close(processes->epoll_fd);
    if (processes->zygote.mailboxes != NULL)
        munmap(processes->zygote.mailboxes, processes->zygote.stride * processes->child_count);
    list_free(&processes->queue);
    list_free(&processes->ended);
    culex__symbols_free(processes->symbols);
    free(processes->buffers);
    free(processes);
}

/* What is still in a child at the deadline dies with it and is not given back. */
static size_t processes_abandon(struct processes *processes)
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

static size_t processes_stop(struct culex_executor *executor, int64_t deadline_ns)
{
    struct processes *processes = (struct processes *)executor;
    for (;;) {
        turn(processes);
        int64_t left_ns = deadline_ns - now_of(processes);
        if (busy_count(processes) == 0 || left_ns <= 0 || processes->broken[0] != '\0')
            break;
        struct pollfd wait = {.fd = processes->epoll_fd, .events = POLLIN};
        int64_t wait_ms = (left_ns + MS - 1) / MS;
        poll(&wait, 1, wait_ms < 1000 ? (int)wait_ms : 1000);
    }
    size_t abandoned = processes_abandon(processes);
    processes_free(processes);
    return abandoned;
}

static bool processes_is_broken(struct culex_executor *executor)
{
    return ((struct processes *)executor)->broken[0] != '\0';
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
    .stop = processes_stop,
};

size_t culex__executor_process_count(struct culex_executor *executor)
{
    const struct processes *processes = (const struct processes *)executor;
    size_t count = 0;
    for (size_t i = 0; i < processes->child_count; i++)
        count += processes->children[i].state != CULEX_HANDLER_FREE;
    return count;
}

static culex_status descriptors_open(struct processes *processes, culex_error *error)
{
    const struct culex_process_effects *effects = &processes->effects;
    processes->epoll_fd = culex__process_epoll(effects);
    processes->kick_fd = culex__process_eventfd(effects);
    processes->timer_fd = culex__process_timerfd(effects);
    if (processes->epoll_fd >= 0 && processes->kick_fd >= 0 && processes->timer_fd >= 0 &&
        culex__process_watch(effects, processes->epoll_fd, processes->kick_fd, EPOLLIN,
                             WATCH_KICK) == 0 &&
        culex__process_watch(effects, processes->epoll_fd, processes->timer_fd, EPOLLIN,
                             WATCH_TIMER) == 0 &&
        culex__process_watch(effects, processes->epoll_fd, processes->link.fd, EPOLLIN,
                             WATCH_ZYGOTE) == 0)
        return CULEX_OK;
    return culex__fail(error, CULEX_ENOMEM, "cannot watch handler processes: %s", strerror(errno));
}

static culex_status processes_start(struct processes *processes, culex_error *error)
{
    struct culex_zygote_config *zygote = &processes->zygote;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    zygote->executor = &processes->config;
    zygote->effects = &processes->effects;
    zygote->slot_count = processes->child_count;
    zygote->stride = page;
    zygote->mailboxes = culex__process_share(&processes->effects, page * processes->child_count);
    processes->buffers = malloc(sizeof *processes->buffers);
    processes->symbols = culex__symbols_create();
    if (zygote->mailboxes == NULL || processes->buffers == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for %zu handler processes",
                           processes->child_count);
    culex_status status = culex__zygote_link_open(&processes->link, zygote, error);
    return status == CULEX_OK ? descriptors_open(processes, error) : status;
}

/* Ending children keep their slots a while, and suspects have processes of their own. */
static size_t child_count_for(const struct culex_executor_config *config)
{
    return 2 * (size_t)config->count + SPARE_MAX;
}

culex_status culex__executor_process_create_with(const struct culex_executor_config *config,
                                                 const struct culex_process_effects *effects,
                                                 struct culex_executor **ret_executor,
                                                 culex_error *error)
{
    size_t count = child_count_for(config);
    struct processes *processes =
        calloc(1, sizeof *processes + count * sizeof processes->children[0]);
    if (processes == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for %zu handler processes", count);
    processes->base.ops = &processes_ops;
    processes->base.log = *config->log;
    processes->config = *config;
    processes->config.log = &processes->base.log;
    processes->effects = *effects;
    processes->link = (struct culex_zygote_link){&processes->effects, -1, 0};
    processes->epoll_fd = processes->kick_fd = processes->timer_fd = -1;
    processes->armed_ns = INT64_MAX;
    processes->average_ns = MS;
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
