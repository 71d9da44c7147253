/* executor/children_runs.c - where runs go that leave their child: back to the queue or to `ended`.
 */
#include "executor/children.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static void run_ended(void *self, struct culex_run *run)
{
    struct culex_children *children = self;
    children->average_ns += (run->end.duration_ns - children->average_ns) / 8;
    culex__run_list_push(&children->ended, run);
}

void culex__children_release(struct culex_children *children, struct culex_run *run,
                             int64_t delay_ms)
{
    run->end = (struct culex_execution_end){.event = CULEX_EVENT_RELEASE, .delay_ms = delay_ms};
    run->has_result = false;
    culex__run_list_push(&children->ended, run);
}

void culex__children_return(void *self, struct culex_run *run)
{
    struct culex_children *children = self;
    atomic_store_explicit(&run->started_ns, 0, memory_order_relaxed); /* seen, and then skipped */
    if (atomic_load_explicit(&run->is_cancelled, memory_order_relaxed))
        culex__children_release(children, run, 0);
    else
        culex__run_list_push_front(&children->to_start, run);
    children->gives_back |= children->fork.failures >= CULEX_FORK_PATIENCE;
}

static void line_write(void *self, const char *line, size_t len)
{
    const struct culex_children *children = self;
    const struct culex_log_sink *sink = &children->base.log.sink;
    sink->write(sink->self, line, len);
}

static void run_set_text(struct culex_run *run, const char *text)
{
    if (run->text == NULL)
        run->text = malloc(CULEX_ERROR_TEXT_MAX + 1);
    if (run->text != NULL)
        culex__utf8_clean(run->text, CULEX_ERROR_TEXT_MAX + 1, text, strlen(text));
    run->end.text = run->text != NULL ? run->text : "the child process died";
}

void culex__children_crash(struct culex_children *children, struct culex_run *run, int64_t died_ns,
                           const char *text)
{
    int64_t started_ns = atomic_load_explicit(&run->started_ns, memory_order_relaxed);
    run->end = (struct culex_execution_end){.event = CULEX_EVENT_CRASH, .ended_ns = died_ns};
    run->end.duration_ns = started_ns > 0 && died_ns > started_ns ? died_ns - started_ns : 0;
    run->has_result = false;
    run_set_text(run, text);
    culex__run_list_push(&children->ended, run);
}

struct culex_child_sink culex__children_sink(struct culex_children *children)
{
    return (struct culex_child_sink){children, run_ended, culex__children_return, line_write};
}
