#include "platform/cgroup_member.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/cgroup_dir.h"
#include "platform/descriptor.h"

enum {
    SHARE = 64,        /* of a bound, and */
    SPARE = 1 << 20,   /* so many bytes more: for what the kernel needs to keep its books */
    LISTING_MAX = 4096 /* bytes of pids that are counted */
};

static int file_open(struct culex_cgroup_member *member, const char *name, int flags)
{
    char file[CULEX_CGROUP_FILE_MAX];
    snprintf(file, sizeof file, "%s/%zu/%s", member->group->path, member->slot, name);
    int fd = culex__process_open(member->group->effects, file, flags);
    if (fd < 0)
        member->failure = errno;
    return fd < 0 ? fd : culex__descriptor_raise(fd);
}

void culex__cgroup_member_open(struct culex_cgroup_member *ret_member,
                               const struct culex_cgroup *group, size_t slot)
{
    *ret_member = (struct culex_cgroup_member){
        .group = group, .slot = slot, .procs_fd = -1, .max_fd = -1, .current_fd = -1};
    if (!group->is_open)
        return;
    ret_member->procs_fd = file_open(ret_member, "cgroup.procs", O_RDWR);
    if (group->has_memory) {
        ret_member->max_fd = file_open(ret_member, "memory.max", O_WRONLY);
        ret_member->current_fd = file_open(ret_member, "memory.current", O_RDONLY);
    }
}

bool culex__cgroup_member_enter(struct culex_cgroup_member *member)
{
    if (!member->group->is_open)
        return true;
    assert(member->failure != 0 || member->procs_fd >= 0);
    errno = member->failure;
    member->is_inside = member->failure == 0 && write(member->procs_fd, "0", 1) == 1;
    return member->is_inside;
}

/* --- the bound --------------------------------------------------------------------------- */

/* A single process that goes to its own bound is to be refused memory, as without a group, and not
 * to be killed: so the group may have a little more. */
static int64_t group_bytes(int64_t limit_bytes, int64_t began_bytes)
{
    return limit_bytes + limit_bytes / SHARE + SPARE + began_bytes;
}

bool culex__cgroup_member_fits(const struct culex_cgroup_member *member, int64_t limit_bytes,
                               int64_t began_bytes)
{
    char text[32];
    bool is_lower =
        limit_bytes > 0 && (member->bound_bytes == 0 || limit_bytes < member->bound_bytes);
    if (!member->is_inside || member->current_fd < 0 || !is_lower)
        return true;
    ssize_t got = pread(member->current_fd, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    return strtoll(text, NULL, 10) < group_bytes(limit_bytes, began_bytes);
}

void culex__cgroup_member_bound(struct culex_cgroup_member *member, int64_t limit_bytes,
                                int64_t began_bytes)
{
    char text[32] = "max";
    assert(limit_bytes >= 0 && began_bytes >= 0);
    if (!member->is_inside || member->max_fd < 0 || limit_bytes == member->bound_bytes)
        return;
    if (limit_bytes > 0)
        snprintf(text, sizeof text, "%lld", (long long)group_bytes(limit_bytes, began_bytes));
    if (pwrite(member->max_fd, text, strlen(text), 0) > 0)
        member->bound_bytes = limit_bytes;
}

/* --- what is left inside ------------------------------------------------------------------- */

static size_t others_count(const struct culex_cgroup_member *member)
{
    char text[LISTING_MAX];
    ssize_t got = pread(member->procs_fd, text, sizeof text, 0);
    size_t lines = 0;
    for (ssize_t i = 0; i < got; i++)
        lines += text[i] == '\n';
    return lines > 0 ? lines - 1 : 0;
}

static bool yard_enter(const struct culex_cgroup *group)
{
    char file[CULEX_CGROUP_FILE_MAX];
    snprintf(file, sizeof file, "%s/yard/cgroup.procs", group->path);
    return culex__process_write_file(group->effects, file, "0") == 0;
}

/* One by one they could fork faster than they are killed. */
size_t culex__cgroup_member_clear(struct culex_cgroup_member *member, bool *ret_is_left)
{
    char path[CULEX_CGROUP_FILE_MAX];
    *ret_is_left = false;
    size_t count = member->is_inside ? others_count(member) : 0;
    if (count == 0)
        return 0;
    snprintf(path, sizeof path, "%s/%zu", member->group->path, member->slot);
    bool is_aside = yard_enter(member->group);
    if (is_aside)
        culex__cgroup_slot_kill(member->group, member->slot);
    *ret_is_left = !is_aside || !culex__cgroup_dir_await_empty(member->group->effects, path) ||
                   !culex__cgroup_member_enter(member);
    return count;
}
