/* executor/children.h - the executor of children from inside: what its files share.
 *
 * Each file may call those below it, never one above:
 *
 *   executor_children.c   the table of executor.h, and the executor's life
 *   children_attend.c     a look at each in turn: the ladder of a cancelled run, long runs, liars
 *   children_deaths.c     what is left of a dead child, and of all when the zygote is lost
 *   children_dispatch.c   which child gets the next run
 *   children_timer.c      how long we bear with each, and when to look next
 *   children_life.c       how children begin, and how they are told to end
 *   children_errands.c    what handlers ask of the store
 *   children_runs.c       where runs go that leave their child, or never got one
 *   child_link.c          one child: its channel, its mailbox, its runs
 *   zygote_link.c         the zygote: its socket, requests and reports
 *   window.c              the runs that one child holds
 *   errand_desk.c         the errands of one child, as packets of its channel
 *   executor_threads.c    the other executor, which shares nothing with these but executor.h
 *
 * Each child has a slot, its place in `links`, from its fork to its burial; a generation tells the
 * children apart that have had one slot after the other.
 *
 * The supervisor's thread alone calls all of it, and nothing waits, except `stop`. A run is at one
 * place at a time: in `to_start`, in a child's window, or in `ended`. */
#ifndef CULEX_EXECUTOR_CHILDREN_H
#define CULEX_EXECUTOR_CHILDREN_H

#include "base/instant.h"
#include "base/notice.h"
#include "platform/cgroup.h"
#include "platform/symbols.h"
#include "executor/child_link.h"
#include "executor/executor.h"
#include "executor/zygote_link.h"
#include "handler/run_list.h"
#include "platform/process_effects.h"

/* What an event of the watched descriptors is about; from CHILDREN on, the slot of a child. */
enum culex_watch { CULEX_WATCH_ZYGOTE, CULEX_WATCH_BELL, CULEX_WATCH_ALARM, CULEX_WATCH_CHILDREN };

enum {
    CULEX_SPARE_MAX = 2,    /* children forked ahead when each has one run */
    CULEX_FORK_PATIENCE = 2 /* failures in a row; then runs are given back */
};

/* What goes wrong with the beginning of children, and is tried again, later each time. */
struct culex_begin_trouble {
    unsigned failures; /* in a row */
    int64_t retry_ns;  /* not before */
    struct culex_notice notice;
};

struct culex_children {
    struct culex_executor base;
    struct culex_executor_config config;
    struct culex_process_effects effects;
    struct culex_zygote_config zygote_config;
    struct culex_zygote_link zygote;
    struct culex_cgroup cgroup;
    struct culex_notice cgroup_notice;
    struct culex_symbols *symbols;
    int watch_fd;
    int bell_fd; /* readable while there are ended runs that no child's message announces */
    int alarm_fd;
    int64_t armed_ns; /* the alarm's time, INT64_MAX for none */
    bool is_kicked;
    bool is_ready;      /* the newest set-up of a child came to a good end */
    bool is_scarce;     /* a child could not be started, and there are fewer than wanted since */
    bool gives_back;    /* the runs that wait, with the next look at them */
    bool is_stopping;   /* begins no child that no run waits for */
    bool has_errands;   /* left over from this turn */
    size_t errand_turn; /* the child that is served first */
    struct culex_run_list to_start;
    struct culex_run_list ended;
    int64_t average_ns; /* of recent runs */
    struct culex_begin_trouble fork;
    struct culex_begin_trouble setup; /* of the program's own: others may have been set up well */
    char begin_text[256];             /* of the last failure of either */
    struct culex_notice returns;      /* of runs that are given back for it */
    int64_t stranded_ns;              /* executor.h */
    char broken[160];                 /* empty while all is well */
    struct culex_child_buffers *buffers;
    size_t slot_count;
    struct culex_child_link links[];
};

static inline int64_t culex__children_now_ns(const struct culex_children *children)
{
    return culex__env_boottime_ns(children->config.handler.env);
}

/* --- children_runs.c: each takes the run over --------------------------------------------- */

/* For culex__child_link_receive and _take_back: ended runs, those to start elsewhere, log lines. */
struct culex_child_sink culex__children_sink(struct culex_children *children);

/* The run did not start; the store is to give it out again after `delay_ms`. */
void culex__children_release(struct culex_children *children, struct culex_run *run,
                             int64_t delay_ms);

/* Puts a run that its child did not start back at the head, or releases it if it was cancelled.
 * `self` is the struct culex_children. */
void culex__children_return(void *self, struct culex_run *run);

/* The run died with its child at `died_ns` (boot time, in the past); `text` is copied. */
void culex__children_crash(struct culex_children *children, struct culex_run *run, int64_t died_ns,
                           const char *text);

/* --- children_life.c ------------------------------------------------------------------ */

/* When children may be begun again after what went wrong: boot time, maybe past. */
int64_t culex__children_retry_ns(const struct culex_children *children);

/* One more failure of that kind, which is told and tried again later; `text` is copied. */
void culex__children_begin_failed(struct culex_children *children,
                                  struct culex_begin_trouble *trouble, const char *text);

/* The same of a child that could not be had: `what` failed, and why, an errno or 0 for none. From
 * now on children are scarce: each that begins is a trial, which is given runs when it has told
 * that it can take some. */
void culex__children_fork_failed(struct culex_children *children, const char *what, int failure);

/* A slot without a process, NULL when all have one. */
struct culex_child_link *culex__children_free_find(struct culex_children *children);

/* A new child, to which runs can be given at once; NULL when there is none to be had now. */
struct culex_child_link *culex__children_begin(struct culex_children *children);

/* The program's set-up of a child has come to a good end. */
void culex__children_ready(struct culex_children *children);

/* Reads a bounded part of what the child says. */
void culex__children_receive(struct culex_children *children, struct culex_child_link *child);

/* Has the zygote send it a signal; what cannot be told now stays in pending_signal. */
void culex__children_signal(struct culex_children *children, struct culex_child_link *child,
                            int number);

/* `why` must live as long as the child; it is named to the run that dies of it. */
void culex__children_kill(struct culex_children *children, struct culex_child_link *child,
                          const char *why);

/* It ends when it sees that the channel is closed; later a kill helps. */
void culex__children_dismiss(struct culex_children *children, struct culex_child_link *child);

/* --- children_attend.c ------------------------------------------------------------------- */

/* Hears the child and does what it is due for at `now_ns` (boot time). */
void culex__children_attend(struct culex_children *children, struct culex_child_link *child,
                            int64_t now_ns);

/* --- children_deaths.c ------------------------------------------------------------------- */

/* Takes the zygote's reports: buries the children that they are about. */
void culex__children_zygote_read(struct culex_children *children);

/* Ends the zygote and all children and sets `broken`. Who ran was killed by its death; the
 * others are given back. `why` is what it did, "" for what its exit says. */
void culex__children_zygote_lost(struct culex_children *children, const char *why);

/* The zygote owes us the end of a child that it was told to kill: without it, it is lost. */
void culex__children_answers_await(struct culex_children *children, int64_t now_ns);

/* --- children_dispatch.c ------------------------------------------------------------------ */

/* Children that hold a run. */
size_t culex__children_busy_count(const struct culex_children *children);

/* Children that hold a run or can be given one, the program's set-up being done in them, or their
 * trial passed. */
size_t culex__children_able_count(const struct culex_children *children);

/* Gives queued runs to children, begun for that if need be, as far as there is room, and sends
 * them. Runs that are too late, or that nothing can run, are released. */
void culex__children_dispatch(struct culex_children *children);

/* --- children_errands.c ------------------------------------------------------------------- */

/* Serves what children ask, for a bounded time. False when more is waiting. */
bool culex__children_errands_serve(struct culex_children *children, int64_t now_ns);

/* --- children_timer.c --------------------------------------------------------------------- */

/* When a child has had its time: to be set up, to end as it was told, to be buried by the zygote.
 * INT64_MAX when none of these is under way. */
int64_t culex__children_overdue_ns(const struct culex_children *children,
                                   const struct culex_child_link *child);

/* Sets the timer to the first time at which something is due by itself. */
void culex__children_timer_arm(struct culex_children *children);

#endif
