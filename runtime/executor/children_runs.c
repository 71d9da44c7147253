/* executor/children_runs.c - where runs go that leave their child: back to the queue or to `ended`.
 */
#include "executor/children.h"

#include <stdio.h>
#include <stdlib.h>

static void run_ended(void *self, struct culex_run *run)
{
    struct culex_processes *processes = self;
    processes->average_ns += (run->end.duration_ns - processes->average_ns) / 8;
    processes->fork.failures = 0;
    culex__run_list_push(&processes->ended, run);
}

void culex__processes_release(struct culex_processes *processes, struct culex_run *run,
                              int64_t delay_ms)
{
    run->end = (struct culex_execution_end){.event = CULEX_EVENT_RELEASE, .delay_ms = delay_ms};
    run->has_result = false;
    culex__run_list_push(&processes->ended, run);
}

void culex__processes_return(void *self, struct culex_run *run)
{
    struct culex_processes *processes = self;
    if (atomic_load_explicit(&run->is_cancelled, memory_order_relaxed))
        culex__processes_release(processes, run, 0);
    else
        culex__run_list_push_front(&processes->queue, run);
}

static void line_write(void *self, const char *line, size_t len)
{
    const struct culex_processes *processes = self;
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

void culex__processes_crash(struct culex_processes *processes, struct culex_run *run,
                            const char *text)
{
    int64_t started_ns = atomic_load_explicit(&run->started_ns, memory_order_relaxed);
    run->end = (struct culex_execution_end){.event = CULEX_EVENT_CRASH};
    run->end.duration_ns = started_ns > 0 ? culex__processes_now_ns(processes) - started_ns : 0;
    run->has_result = false;
    run_set_text(run, text);
    culex__run_list_push(&processes->ended, run);
}

struct culex_handler_sink culex__processes_sink(struct culex_processes *processes)
{
    return (struct culex_handler_sink){processes, run_ended, culex__processes_return, line_write};
}
