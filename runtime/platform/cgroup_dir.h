/* platform/cgroup_dir.h - a directory of cgroup v2 that groups are to be made in. */
#ifndef CULEX_PLATFORM_CGROUP_DIR_H
#define CULEX_PLATFORM_CGROUP_DIR_H

#include <stdbool.h>
#include <stddef.h>

#include <culex/error.h>

#include "platform/process_effects.h"

/* Writes the true path of `dir`, which must be of cgroup v2. `size` as realpath needs at most. */
culex_status culex__cgroup_dir_find(const char *dir, char *ret_path, size_t size,
                                    culex_error *error);

/* Has the kernel count memory in the groups below `path`, should it not do so yet. */
culex_status culex__cgroup_dir_count_memory(const struct culex_process_effects *effects,
                                            const char *path, culex_error *error);

/* Kills all that is in the group and below, waits until it is dead, a second at most, and removes
 * the group. False when something is left. */
bool culex__cgroup_dir_remove(const struct culex_process_effects *effects, const char *path);

/* Waits until nothing is alive in it, a second at most. */
bool culex__cgroup_dir_await_empty(const struct culex_process_effects *effects, const char *path);

#endif
