/* child/allowance.h - how much memory the run at hand may take, in this process and together with
 * what it starts.
 *
 * A job's limit counts from what the process had before any run. RLIMIT_DATA, not RLIMIT_AS:
 * reserved address space (arenas, libraries) is no memory. It bounds each process of the run; the
 * control group, where there is one, bounds them together. Under AddressSanitizer nothing is
 * bounded: its own memory would count. */
#ifndef CULEX_CHILD_ALLOWANCE_H
#define CULEX_CHILD_ALLOWANCE_H

#include "handler/execution.h"
#include "platform/cgroup_member.h"
#include "platform/self.h"

struct culex_allowance {
    struct culex_cgroup_member *group;
    struct culex_memory_use began; /* before any run */
    int64_t limit_bytes;           /* set now, 0 for none */
};

/* Notes what is in use before any run; false when that is unknown. `group` must stay. */
bool culex__allowance_begin(struct culex_allowance *ret_allowance,
                            struct culex_cgroup_member *group);

/* How much the next run may take; 0 for any amount. */
void culex__allowance_set(struct culex_allowance *allowance, int64_t limit_bytes);

/* Somebody else has put the limits of this process back. */
void culex__allowance_forget(struct culex_allowance *allowance);

/* False when what earlier runs left in the group is more than that, so that the run would be
 * killed at once: it should have a new process. */
bool culex__allowance_has_room(const struct culex_allowance *allowance, int64_t limit_bytes);

/* The runs so far left this process so large that the next ones should have a new one. */
bool culex__allowance_is_outgrown(const struct culex_allowance *allowance);

/* Adds to the text of a failed run that it most likely ran into its limit: so when it left
 * `error_number` at ENOMEM. */
void culex__allowance_blame(const struct culex_allowance *allowance, struct culex_run *run,
                            int error_number);

#endif
