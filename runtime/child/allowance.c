#include "child/allowance.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/sanitizer.h"

enum { GROWN_BYTES = 128 << 20 /* more than it began with is too much to keep */ };

bool culex__allowance_begin(struct culex_allowance *ret_allowance,
                            struct culex_cgroup_member *group)
{
    *ret_allowance = (struct culex_allowance){.group = group};
    return culex__self_memory(&ret_allowance->began);
}

/* The group counts what this process had of its own: writing to the rest may copy it there. */
void culex__allowance_set(struct culex_allowance *allowance, int64_t limit_bytes)
{
    struct rlimit limit;
    assert(limit_bytes >= 0);
    if (CULEX_HAS_ASAN)
        return;
    culex__cgroup_member_bound(allowance->group, limit_bytes, allowance->began.unshared);
    if (limit_bytes == allowance->limit_bytes)
        return;
    getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur =
        limit_bytes > 0 ? (rlim_t)(allowance->began.data + limit_bytes) : limit.rlim_max;
    if (setrlimit(RLIMIT_DATA, &limit) == 0)
        allowance->limit_bytes = limit_bytes;
}

void culex__allowance_forget(struct culex_allowance *allowance)
{
    allowance->limit_bytes = 0;
}

bool culex__allowance_has_room(const struct culex_allowance *allowance, int64_t limit_bytes)
{
    return CULEX_HAS_ASAN ||
           culex__cgroup_member_fits(allowance->group, limit_bytes, allowance->began.unshared);
}

bool culex__allowance_is_outgrown(const struct culex_allowance *allowance)
{
    struct culex_memory_use now;
    if (!culex__self_memory(&now))
        return false;
    if (now.resident - allowance->began.resident > GROWN_BYTES)
        return true;
    return allowance->limit_bytes > 0 &&
           now.data - allowance->began.data > allowance->limit_bytes / 2;
}

void culex__allowance_blame(const struct culex_allowance *allowance, struct culex_run *run,
                            int error_number)
{
    if (allowance->limit_bytes == 0 || error_number != ENOMEM || run->end.event != CULEX_EVENT_FAIL)
        return;
    char before[CULEX_ERROR_TEXT_MAX + 1];
    snprintf(before, sizeof before, "%s", run->end.text != NULL ? run->end.text : "failed");
    culex__run_set_text(run, "%.3900s (out of memory: the job's limit is %lld bytes)", before,
                        (long long)allowance->limit_bytes);
}
