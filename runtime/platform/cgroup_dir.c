#include "platform/cgroup_dir.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/secret_name.h"
#include "platform/cgroup.h"

enum {
    EMPTY_ROUNDS = 1000, /* a millisecond each */
    DEPTH_MAX = 8        /* groups below a group that are removed with it */
};

culex_status culex__cgroup_dir_find(const char *dir, char *ret_path, size_t size,
                                    culex_error *error)
{
    struct statfs place;
    char *found = realpath(dir, NULL);
    if (found == NULL || statfs(found, &place) < 0) {
        free(found);
        return culex__fail(error, CULEX_EUSAGE, "cgroup %s: %s", culex__text_shown(dir),
                           strerror(errno));
    }
    bool is_short = snprintf(ret_path, size, "%s", found) < (int)size;
    free(found);
    if (!is_short)
        return culex__fail(error, CULEX_EUSAGE, "cgroup %s: the path is too long", dir);
    if ((unsigned long)place.f_type != CGROUP2_SUPER_MAGIC)
        return culex__fail(error, CULEX_EUSAGE,
                           "cgroup %s: not a directory of cgroup v2%s; give one below the mount of "
                           "type cgroup2 that is delegated to the worker's user",
                           dir,
                           (unsigned long)place.f_type == CGROUP_SUPER_MAGIC ? " but of v1" : "");
    return CULEX_OK;
}

/* --- the memory controller --------------------------------------------------------------- */

/* Whether the file, one line of words, has "memory". */
static bool has_memory(const struct culex_process_effects *effects, const char *path,
                       const char *name)
{
    char file[CULEX_CGROUP_FILE_MAX], text[256];
    snprintf(file, sizeof file, "%s/%s", path, name);
    if (culex__process_read_file(effects, file, text, sizeof text) <= 0)
        return false;
    char *rest = text;
    for (char *word; (word = strsep(&rest, " \n")) != NULL;) {
        if (strcmp(word, "memory") == 0)
            return true;
    }
    return false;
}

static culex_status count_refused(const char *path, int failure, culex_error *error)
{
    const char *advice = "the directory and its files must belong to the worker's user, as under "
                         "systemd with Delegate=memory";
    if (failure == EBUSY)
        advice = "processes are in the directory itself, and a group whose children are bounded "
                 "must have none: move them into a group below it (the worker too, as under "
                 "systemd with DelegateSubgroup=worker)";
    return culex__fail(error, CULEX_EUSAGE,
                       "cgroup %s: cannot write +memory to its cgroup.subtree_control: %s; %s",
                       path, strerror(failure), advice);
}

culex_status culex__cgroup_dir_count_memory(const struct culex_process_effects *effects,
                                            const char *path, culex_error *error)
{
    char file[CULEX_CGROUP_FILE_MAX];
    if (has_memory(effects, path, "cgroup.subtree_control"))
        return CULEX_OK;
    if (!has_memory(effects, path, "cgroup.controllers"))
        return culex__fail(error, CULEX_EUSAGE,
                           "cgroup %s: no memory in its cgroup.controllers: memory cannot be "
                           "bounded there; each group above must have +memory in its "
                           "cgroup.subtree_control (systemd: Delegate=memory), and cgroup v1 must "
                           "not hold the memory controller",
                           path);
    snprintf(file, sizeof file, "%s/cgroup.subtree_control", path);
    if (culex__process_write_file(effects, file, "+memory") < 0)
        return count_refused(path, errno, error);
    return CULEX_OK;
}

/* --- removal ----------------------------------------------------------------------------- */

static bool is_populated(const struct culex_process_effects *effects, const char *path)
{
    char file[CULEX_CGROUP_FILE_MAX], text[128];
    snprintf(file, sizeof file, "%s/cgroup.events", path);
    return culex__process_read_file(effects, file, text, sizeof text) > 0 &&
           strstr(text, "populated 1") != NULL;
}

bool culex__cgroup_dir_await_empty(const struct culex_process_effects *effects, const char *path)
{
    for (int round = 0; round < EMPTY_ROUNDS; round++) {
        if (!is_populated(effects, path))
            return true;
        poll(NULL, 0, 1);
    }
    return false;
}

/* Handlers may have made groups of their own below theirs. */
static bool tree_remove(const char *path, int depth)
{
    DIR *folder = depth < DEPTH_MAX ? opendir(path) : NULL;
    if (folder == NULL)
        return errno == ENOENT;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char below[PATH_MAX];
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
            snprintf(below, sizeof below, "%s/%s", path, entry->d_name) < (int)sizeof below)
            tree_remove(below, depth + 1);
    }
    closedir(folder);
    return rmdir(path) == 0 || errno == ENOENT;
}

bool culex__cgroup_dir_remove(const struct culex_process_effects *effects, const char *path)
{
    char file[CULEX_CGROUP_FILE_MAX];
    snprintf(file, sizeof file, "%s/cgroup.kill", path);
    culex__process_write_file(effects, file, "1");
    return culex__cgroup_dir_await_empty(effects, path) && tree_remove(path, 0);
}
