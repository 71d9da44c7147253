/* platform/cgroup.h - the control groups (cgroup v2) around what a worker's handlers start.
 *
 *   DIR                   given to the worker: delegated to its user, with no process in itself
 *     culex-PID-RANDOM    the worker's, locked by it for as long as it lives
 *       yard              without a bound: where a process steps aside
 *       0, 1, ...         for the child in each slot, and what its runs start
 *
 * A child enters the group of its slot when it is set up, and sets the bound of the run that it
 * begins; when the kernel finds that bound exceeded it kills the whole group. What is left in a
 * group is killed at once by cgroup.kill, however it was started. The kernel tells by the lock
 * whose worker is dead: the next worker of the same DIR kills and removes what is left of it.
 *
 * All of it goes through the table of effects. While a group is not `is_open`, its functions do
 * nothing. */
#ifndef CULEX_PLATFORM_CGROUP_H
#define CULEX_PLATFORM_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <culex/error.h>

#include "platform/process_effects.h"
#include "platform/env.h"

enum { CULEX_CGROUP_PATH_MAX = 1024, CULEX_CGROUP_FILE_MAX = CULEX_CGROUP_PATH_MAX + 64 };

struct culex_cgroup {
    const struct culex_process_effects *effects;
    bool is_open;
    bool has_memory;                  /* some job has a bound, so the memory controller is needed */
    int lock_fd;                      /* the supervisor's alone */
    char path[CULEX_CGROUP_PATH_MAX]; /* of the worker's group, absolute */
};

/* Looks whether `dir` can be used, ends and removes what dead workers left in it, and makes the
 * worker's group. CULEX_EUSAGE with a text that names what is wrong with `dir` and what to do. */
culex_status culex__cgroup_open(struct culex_cgroup *ret_group, const char *dir, bool has_memory,
                                const struct culex_process_effects *effects,
                                const struct culex_env *env, culex_error *error);

/* Kills what is in the worker's group and removes it, within a second; what does not die by then
 * is left to the next worker. */
void culex__cgroup_remove(const struct culex_cgroup *group);

/* The same, and gives the lock back. */
void culex__cgroup_close(struct culex_cgroup *group);

/* Makes the group for a child of `slot`, without a bound yet. `is_new`: not the one that is there,
 * for what its files in memory hold. False with errno when it cannot be had. */
bool culex__cgroup_slot_prepare(const struct culex_cgroup *group, size_t slot, bool is_new);

/* Kills all that is in it. */
void culex__cgroup_slot_kill(const struct culex_cgroup *group, size_t slot);

/* How often memory was refused in the group by its own bound, and how many of its processes were
 * killed for want of memory, wherever that was. */
struct culex_cgroup_ooms {
    unsigned long reached;
    unsigned long killed;
};

/* Zeros when nobody tells. */
struct culex_cgroup_ooms culex__cgroup_slot_ooms(const struct culex_cgroup *group, size_t slot);

#endif
