/* executor/window.h - the runs that one child holds, as the supervisor knows them.
 *
 * Pure bookkeeping: no descriptor, no clock. What the child says is judged here; every function
 * that takes its word returns NULL, or what is wrong with it as a constant text, and then has
 * changed nothing that matters: the child is to be killed. */
#ifndef CULEX_EXECUTOR_WINDOW_H
#define CULEX_EXECUTOR_WINDOW_H

#include "child/child_message.h"
#include "child/mailbox.h"

struct culex_window_entry {
    uint64_t seq;          /* 0: free */
    struct culex_run *run; /* NULL: taken back, its end means nothing */
    bool has_text;
    bool has_result;
    bool has_follow_ups;
    uint64_t reports; /* of progress, and lines to keep, taken */
    int64_t term_ns;  /* boot time, INT64_MAX for never */
    int64_t kill_ns;
    bool is_termed;
    bool is_killed;
};

/* assigned >= sent >= finished, and at most CULEX_WINDOW between the first and the last. */
struct culex_window {
    struct culex_window_entry entries[CULEX_WINDOW];
    uint64_t assigned; /* last sequence number given to a run */
    uint64_t sent;     /* last one that the child may know of */
    uint64_t finished; /* last one whose end was taken */
    uint64_t started;  /* last one known to have begun */
    size_t live;       /* entries with a run */
    bool has_asked;    /* one of them may have a term_ns or kill_ns */
};

static inline bool culex__window_is_full(const struct culex_window *window)
{
    return window->assigned - window->finished >= CULEX_WINDOW;
}

/* The entry of a run that is still inside, or NULL. */
struct culex_window_entry *culex__window_find(struct culex_window *window, uint64_t seq);

/* The run's handler is asked to stop, and is ended at these times; later calls may only hurry. */
void culex__window_ask(struct culex_window *window, struct culex_window_entry *entry,
                       int64_t term_ns, int64_t kill_ns);

/* Borrows `run` until its end or until it is taken back. The window must not be full. */
struct culex_window_entry *culex__window_add(struct culex_window *window, struct culex_run *run);

/* Takes a run back; its end, should one come, will mean nothing. */
struct culex_run *culex__window_remove(struct culex_window *window,
                                       struct culex_window_entry *entry);

/* Forgets the newest run, which the child never heard of. */
struct culex_run *culex__window_unassign(struct culex_window *window);

/* Applies PROGRESS, EXTEND, KEPT, TEXT, RESULT or FOLLOW_UPS to its run. Out of memory drops the
 * text. */
const char *culex__window_take(struct culex_window *window,
                               const struct culex_child_message *message);

/* The end of run finished + 1. False when its text, result or follow-ups are still on
 * the way. */
bool culex__window_is_complete(const struct culex_window *window,
                               const struct culex_mailbox_end *end);

/* The same of its reports of progress, which may have been lost and are then done without. */
bool culex__window_is_heard(const struct culex_window *window, const struct culex_mailbox_end *end);

/* Moves to the next run: fills run->end. *ret_run is NULL when the run had been taken back, and
 * *ret_is_skipped when it did not run. */
const char *culex__window_end(struct culex_window *window, const struct culex_mailbox_end *end,
                              struct culex_run **ret_run, bool *ret_is_skipped);

#endif
