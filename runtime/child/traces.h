/* child/traces.h - what runs leave behind in their child: processes that they started, and changes
 * of the process and of its limits. All of it is undone, or the child has to go. */
#ifndef CULEX_CHILD_TRACES_H
#define CULEX_CHILD_TRACES_H

#include "child/allowance.h"
#include "child/offspring.h"
#include "child/surroundings.h"
#include "handler/run.h"
#include "platform/cgroup_member.h"

struct culex_traces {
    struct culex_surroundings *surroundings; /* before any run */
    struct culex_offspring offspring;
    struct culex_cgroup_member group;
    struct culex_allowance allowance;
    bool is_tidy; /* everything was put back since the last run */
};

/* Opens what needs rights or names that the program's set-up may take away; the child is in slot
 * `slot` of `cgroup`, which may be NULL. */
void culex__traces_open(struct culex_traces *traces, const struct culex_cgroup *cgroup,
                        size_t slot);

/* Before the first run: notes how everything is. False when that cannot be known. */
bool culex__traces_begin(struct culex_traces *traces, const struct culex_log *log);

/* What a handler started ends with its run, daemons too: nobody else would know of them. Logs that
 * by the run's log. False when some could not be ended: the child has to go. */
bool culex__traces_end_offspring(struct culex_traces *traces, const struct culex_run *run);

/* Puts back what the run has changed of its process, for the next one; unless `is_all`, only what
 * is cheap to look at. All of it includes the limit of its memory. False when the child has to go.
 */
bool culex__traces_tidy(struct culex_traces *traces, const struct culex_run *run, bool is_all);

#endif
