#include "platform/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "platform/cgroup_dir.h"
#include "platform/descriptor.h"

#define GROUP_PREFIX "culex-"

enum { MAKE_TRIES = 8 };

static void slot_file(const struct culex_cgroup *group, size_t slot, const char *name,
                      char ret_path[CULEX_CGROUP_FILE_MAX])
{
    snprintf(ret_path, CULEX_CGROUP_FILE_MAX, "%s/%zu/%s", group->path, slot, name);
}

/* --- the worker's group ------------------------------------------------------------------ */

/* -1 when somebody else holds the lock, or the group is gone. */
static int group_lock(const struct culex_process_effects *effects, const char *path)
{
    int fd = culex__process_open(effects, path, O_RDONLY | O_DIRECTORY);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    culex__descriptor_close(fd);
    return -1;
}

/* A lock that is free is that of a dead worker, or of one that has not taken it yet: that one
 * makes another group. */
static void leftovers_remove(const struct culex_process_effects *effects, const char *dir)
{
    DIR *folder = opendir(dir);
    if (folder == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[CULEX_CGROUP_PATH_MAX];
        if (entry->d_type != DT_DIR ||
            strncmp(entry->d_name, GROUP_PREFIX, strlen(GROUP_PREFIX)) != 0 ||
            snprintf(path, sizeof path, "%s/%s", dir, entry->d_name) >= (int)sizeof path)
            continue;
        int lock_fd = group_lock(effects, path);
        if (lock_fd >= 0)
            culex__cgroup_dir_remove(effects, path);
        culex__descriptor_close(lock_fd);
    }
    closedir(folder);
}

/* False with errno. Another worker may take the group for a leftover before it is locked. */
static bool group_make(struct culex_cgroup *group, const char *dir, const struct culex_env *env)
{
    char yard[CULEX_CGROUP_FILE_MAX];
    for (int i = 0; i < MAKE_TRIES; i++) {
        int len = snprintf(group->path, sizeof group->path, "%s/" GROUP_PREFIX "%ld-%08lx", dir,
                           (long)getpid(), (unsigned long)(culex__env_random(env) & UINT32_MAX));
        if (len >= (int)sizeof group->path) {
            errno = ENAMETOOLONG;
            return false;
        }
        if (culex__process_mkdir(group->effects, group->path) < 0)
            return false;
        group->lock_fd = group_lock(group->effects, group->path);
        snprintf(yard, sizeof yard, "%s/yard", group->path);
        if (group->lock_fd >= 0 && culex__process_mkdir(group->effects, yard) == 0)
            return true;
        int failure = errno;
        rmdir(group->path);
        culex__descriptor_close(group->lock_fd);
        group->lock_fd = -1;
        errno = failure;
    }
    return false;
}

/* --- whether processes can be put into it -------------------------------------------------- */

static _Noreturn void prober_main(const struct culex_cgroup *group)
{
    char file[CULEX_CGROUP_FILE_MAX];
    snprintf(file, sizeof file, "%s/yard/cgroup.procs", group->path);
    _exit(culex__process_write_file(group->effects, file, "0") < 0 ? errno & 0xff : 0);
}

/* The errno with which a process is refused, 0 for none. Who may move a process where depends on
 * groups above, so it is tried. */
static int group_probe(const struct culex_cgroup *group)
{
    int status = 0;
    pid_t got, pid = culex__process_fork(group->effects);
    if (pid == 0)
        prober_main(group);
    if (pid < 0)
        return errno;
    while ((got = waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
    }
    /* A program that has its children reaped by the kernel finds out later. */
    return got == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static culex_status group_check(const struct culex_cgroup *group, const char *dir,
                                culex_error *error)
{
    char file[CULEX_CGROUP_FILE_MAX];
    snprintf(file, sizeof file, "%s/cgroup.kill", group->path);
    if (access(file, W_OK) < 0)
        return culex__fail(error, CULEX_EUSAGE,
                           "cgroup %s: no cgroup.kill in its groups: %s; Linux has it from 5.14 on",
                           dir, strerror(errno));
    int failure = group_probe(group);
    if (failure == 0)
        return CULEX_OK;
    const char *advice = failure == EACCES || failure == EPERM
                             ? "; start the worker in a group below the directory (systemd: "
                               "DelegateSubgroup=worker), or let its user write the cgroup.procs "
                               "of the group that is above both"
                             : "";
    return culex__fail(error, CULEX_EUSAGE, "cgroup %s: cannot move a process into it: %s%s", dir,
                       strerror(failure), advice);
}

static culex_status group_open(struct culex_cgroup *group, const char *dir,
                               const struct culex_env *env, culex_error *error)
{
    leftovers_remove(group->effects, dir);
    if (!group_make(group, dir, env))
        return culex__fail(error, CULEX_EUSAGE,
                           "cgroup %s: cannot make a group in it: %s; the directory must belong to "
                           "the worker's user",
                           dir, strerror(errno));
    group->is_open = true;
    culex_status status = CULEX_OK;
    if (group->has_memory)
        status = culex__cgroup_dir_count_memory(group->effects, group->path, error);
    return status == CULEX_OK ? group_check(group, dir, error) : status;
}

culex_status culex__cgroup_open(struct culex_cgroup *ret_group, const char *dir, bool has_memory,
                                const struct culex_process_effects *effects,
                                const struct culex_env *env, culex_error *error)
{
    char path[CULEX_CGROUP_PATH_MAX];
    *ret_group = (struct culex_cgroup){.effects = effects, .has_memory = has_memory, .lock_fd = -1};
    culex_status status = culex__cgroup_dir_find(dir, path, sizeof path, error);
    if (status == CULEX_OK && has_memory)
        status = culex__cgroup_dir_count_memory(effects, path, error);
    if (status == CULEX_OK)
        status = group_open(ret_group, path, env, error);
    if (status != CULEX_OK)
        culex__cgroup_close(ret_group);
    return status;
}

void culex__cgroup_remove(const struct culex_cgroup *group)
{
    if (group->is_open)
        culex__cgroup_dir_remove(group->effects, group->path);
}

void culex__cgroup_close(struct culex_cgroup *group)
{
    culex__cgroup_remove(group);
    culex__descriptor_close(group->lock_fd);
    group->lock_fd = -1;
    group->is_open = false;
}

/* --- slots ------------------------------------------------------------------------------- */

static bool slot_write(const struct culex_cgroup *group, size_t slot, const char *name,
                       const char *text)
{
    char file[CULEX_CGROUP_FILE_MAX];
    slot_file(group, slot, name, file);
    return culex__process_write_file(group->effects, file, text) == 0;
}

/* Swap would only make it slow to die; a kernel without swap has no such file. */
bool culex__cgroup_slot_prepare(const struct culex_cgroup *group, size_t slot, bool is_new)
{
    char path[CULEX_CGROUP_FILE_MAX];
    if (!group->is_open)
        return true;
    snprintf(path, sizeof path, "%s/%zu", group->path, slot);
    if (is_new)
        rmdir(path);
    bool is_made = culex__process_mkdir(group->effects, path) == 0;
    if ((!is_made && errno != EEXIST) || !group->has_memory)
        return is_made || errno == EEXIST;
    if (is_made && !slot_write(group, slot, "memory.swap.max", "0") && errno != ENOENT)
        return false;
    return slot_write(group, slot, "memory.oom.group", "1") &&
           slot_write(group, slot, "memory.max", "max");
}

void culex__cgroup_slot_kill(const struct culex_cgroup *group, size_t slot)
{
    if (group->is_open)
        slot_write(group, slot, "cgroup.kill", "1");
}

/* Of a line "WORD NUMBER" in `text`. */
static unsigned long event_count(const char *text, const char *word)
{
    const char *found = strstr(text, word);
    return found != NULL ? strtoul(found + strlen(word), NULL, 10) : 0;
}

struct culex_cgroup_ooms culex__cgroup_slot_ooms(const struct culex_cgroup *group, size_t slot)
{
    char file[CULEX_CGROUP_FILE_MAX], text[512];
    struct culex_cgroup_ooms ooms = {0, 0};
    if (!group->is_open || !group->has_memory)
        return ooms;
    slot_file(group, slot, "memory.events", file);
    if (culex__process_read_file(group->effects, file, text, sizeof text) <= 0)
        return ooms;
    ooms.reached = event_count(text, "\noom ");
    ooms.killed = event_count(text, "\noom_kill ");
    return ooms;
}
