/* platform/cgroup_member.h - a child in the control group of its slot. */
#ifndef CULEX_PLATFORM_CGROUP_MEMBER_H
#define CULEX_PLATFORM_CGROUP_MEMBER_H

#include "platform/cgroup.h"

struct culex_cgroup_member {
    const struct culex_cgroup *group;
    size_t slot;
    int failure; /* errno of what could not be opened, 0 for none */
    bool is_inside;
    int procs_fd;
    int max_fd;
    int current_fd;
    int64_t bound_bytes; /* set now, 0 for none */
};

/* Takes what entering needs, before the program's set-up may change user or root. */
void culex__cgroup_member_open(struct culex_cgroup_member *ret_member,
                               const struct culex_cgroup *group, size_t slot);

/* Puts this process inside, and so what it starts from now on, not what it started before. False
 * with errno when that cannot be. */
bool culex__cgroup_member_enter(struct culex_cgroup_member *member);

/* The processes inside may hold `limit_bytes` together beyond `began_bytes`, which this one had
 * before; 0: any. One write when that changes. */
void culex__cgroup_member_bound(struct culex_cgroup_member *member, int64_t limit_bytes,
                                int64_t began_bytes);

/* False when more is held inside by now than that bound would allow: the kernel would kill this
 * process as soon as it is set. Asks the kernel only when the bound is to go down. */
bool culex__cgroup_member_fits(const struct culex_cgroup_member *member, int64_t limit_bytes,
                               int64_t began_bytes);

/* Kills all others that are inside, and waits for that, a second at most. Returns how many there
 * were. */
size_t culex__cgroup_member_clear(struct culex_cgroup_member *member, bool *ret_is_left);

#endif
