/* isolation/pen.h - the executor of children under test, without a worker or a store: runs go in by
 * name of a handler of the zoo, and come back ended.
 *
 * Every wait is bounded. pen_close asserts that no process and no descriptor is left. */
#ifndef CULEX_ISOLATION_PEN_H
#define CULEX_ISOLATION_PEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "executor/executor_children.h"
#include "zoo.h"

enum { PEN_LOG_SIZE = 1 << 20, PEN_RUNS_MAX = 4096, PEN_WAIT_MS = 20000 };

struct pen {
    struct culex_executor *executor;
    struct culex_executor_config config;
    struct culex_process_effects effects; /* the kernel's unless a test sets it before pen_open */
    struct culex_log logger;
    char *log;
    size_t log_len;
    size_t log_lines;
    uint64_t serial;
    struct culex_run *ended[PEN_RUNS_MAX]; /* in the order in which they came back */
    size_t ended_count;
    size_t alive;       /* runs made and not yet freed */
    size_t descriptors; /* before pen_open */
};

/* Fills the config; a test may change it before pen_open. All of it runs in the control group
 * PEN_CGROUP, should that variable be set. */
void pen_init(struct pen *pen, unsigned count);
void pen_open(struct pen *pen);
culex_status pen_try_open(struct pen *pen, culex_error *error);
void pen_close(struct pen *pen);

/* A run of zoo handler `name`, leased for ten minutes, not handed over yet. */
struct culex_run *pen_make(struct pen *pen, const char *name, int64_t n, const char *text);

/* The same, handed over. */
struct culex_run *pen_submit(struct pen *pen, const char *name, int64_t n, const char *text);
void pen_hand_over(struct pen *pen, struct culex_run *run);

bool pen_has_ended(const struct pen *pen, const struct culex_run *run);

/* Waits until the run is back; asserts that it comes. */
void pen_await(struct pen *pen, const struct culex_run *run);

/* Waits once for something to happen, and collects. */
void pen_turn(struct pen *pen, int timeout_ms);

/* Runs one and asserts how it ended; returns its text, valid until pen_forget. */
const char *pen_expect(struct pen *pen, const char *name, int64_t n, enum culex_run_event event);

/* Frees all runs that came back. */
void pen_forget(struct pen *pen);

int64_t pen_now_ns(void);

/* Processes that have this one as ancestor. */
size_t pen_descendants(void);

/* Waits until there is none, then ends those that stayed, and says how many: one that a failed test
 * left would hold the output open that its runner reads. */
size_t pen_descendants_end(void);
size_t pen_descriptors(void);

/* Evaluates the condition again and again while the executor works, for PEN_WAIT_MS at most. */
#define PEN_AWAIT(pen, condition)                                                                  \
    do {                                                                                           \
        int64_t until_ns = pen_now_ns() + PEN_WAIT_MS * INT64_C(1000000);                          \
        while (!(condition) && pen_now_ns() < until_ns)                                            \
            pen_turn(pen, 1);                                                                      \
        assert_true(condition);                                                                    \
    } while (0)

#endif
