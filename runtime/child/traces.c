#include "child/traces.h"

#include <errno.h>
#include <string.h>

enum { FORK_NS = 10000 /* no run that is shorter has started a process */ };

void culex__traces_open(struct culex_traces *traces, const struct culex_cgroup *cgroup, size_t slot)
{
    culex__cgroup_member_open(&traces->group, cgroup, slot);
}

static void group_enter(struct culex_cgroup_member *member, const struct culex_log *log)
{
    if (culex__cgroup_member_enter(member) || errno == ENOENT)
        return; /* the supervisor has told that there is none */
    culex__log_write(log, CULEX_LOG_WARNING, NULL,
                     "cannot enter control group %s/%zu: %s: the processes of a run are bounded "
                     "each by itself only",
                     member->group->path, member->slot, strerror(errno));
}

bool culex__traces_begin(struct culex_traces *traces, const struct culex_log *log)
{
    group_enter(&traces->group, log);
    traces->is_tidy = true;
    traces->surroundings = culex__surroundings_note();
    culex__offspring_adopt(&traces->offspring);
    return traces->surroundings != NULL &&
           culex__allowance_begin(&traces->allowance, &traces->group);
}

static void strays_tell(const struct culex_run *run, size_t count, bool is_left)
{
    if (count == 0 && !is_left)
        return;
    struct culex_log_subject subject = culex__run_subject(run);
    culex__log_write(run->log, CULEX_LOG_WARNING, &subject,
                     "processes that the handler left behind were killed: %zu%s", count,
                     is_left ? ", and there are others" : "");
}

bool culex__traces_end_offspring(struct culex_traces *traces, const struct culex_run *run)
{
    bool is_left = false;
    if (run->end.duration_ns < FORK_NS)
        return true;
    size_t count = culex__offspring_end(&traces->offspring, &is_left);
    strays_tell(run, count, is_left);
    return !is_left;
}

/* Descendants that are not our children. */
static bool strangers_end(struct culex_traces *traces, const struct culex_run *run)
{
    bool is_left = false;
    size_t count = culex__cgroup_member_clear(&traces->group, &is_left);
    strays_tell(run, count, is_left);
    return !is_left;
}

bool culex__traces_tidy(struct culex_traces *traces, const struct culex_run *run, bool is_all)
{
    traces->is_tidy = is_all;
    if (!is_all)
        return culex__surroundings_glance(traces->surroundings);
    culex__allowance_forget(&traces->allowance);
    bool is_clear = strangers_end(traces, run);
    return culex__surroundings_restore(traces->surroundings) && is_clear;
}
