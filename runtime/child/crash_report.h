/* child/crash_report.h - what is known of the death of a child, in words.
 *
 * The child's signal handler stores plain facts in the mailbox: it may run with a broken heap and
 * an overflown stack, so it calls nothing but what platform/stack.h and self.h allow it to. The
 * supervisor, which is whole, finds the names: from the program's own symbol table, so that static
 * functions have names too, and from the dynamic linker for libraries. */
#ifndef CULEX_CHILD_CRASH_REPORT_H
#define CULEX_CHILD_CRASH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "handler/execution.h"
#include "child/mailbox.h"

struct culex_symbols;

/* In a child: reports faults and SIGTERM of `zygote_pid` in `mailbox`, and dies of them.
 * SIGTERM of anybody else is ignored: only the supervisor stops handlers. */
void culex__crash_report_install(struct culex_mailbox *mailbox, pid_t zygote_pid);

/* In a child: whether a handler is at work. Otherwise the zygote's SIGTERM is ignored, too: it was
 * meant for a handler that has returned by itself, whose end is still to be told. */
void culex__crash_report_handling(bool is_at_work);

/* How a child ended, as waitid tells it. */
struct culex_child_exit {
    int code;   /* CLD_EXITED, CLD_KILLED, CLD_DUMPED */
    int status; /* exit status or signal */
};

/* Writes why the run's handler is dead, in one line. `killed_why`: why we killed it, NULL when
 * we did not. `size` at least 1. */
void culex__crash_report_describe(const struct culex_crash_report *report,
                                  const struct culex_child_exit *exit, const char *killed_why,
                                  const struct culex_run *run, struct culex_symbols *symbols,
                                  char *ret_text, size_t size);

#endif
