#include "child/offspring.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum {
    FOUND_MAX = 256,
    ROUNDS = 1000 /* a millisecond each, where something does not die */
};

/* Our children, whichever of our threads forked them. False when they cannot be listed. */
static bool children_read(pid_t *ret_found, size_t max, size_t *ret_count)
{
    size_t count = 0;
    DIR *threads = opendir("/proc/self/task");
    if (threads == NULL)
        return false;
    for (const struct dirent *thread; (thread = readdir(threads)) != NULL;) {
        char path[300];
        snprintf(path, sizeof path, "/proc/self/task/%s/children", thread->d_name);
        FILE *file = thread->d_name[0] != '.' ? fopen(path, "re") : NULL;
        if (file == NULL)
            continue;
        while (count < max && fscanf(file, "%d", &ret_found[count]) == 1)
            count++;
        fclose(file);
    }
    closedir(threads);
    *ret_count = count;
    return true;
}

static bool is_kept(const struct culex_offspring *offspring, pid_t pid)
{
    for (size_t i = 0; i < offspring->kept_count; i++) {
        if (offspring->kept[i] == pid)
            return true;
    }
    return false;
}

void culex__offspring_adopt(struct culex_offspring *ret_offspring)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    ret_offspring->kept_count = 0;
    ret_offspring->is_blind =
        !children_read(ret_offspring->kept, CULEX_OFFSPRING_KEPT_MAX, &ret_offspring->kept_count);
}

static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}

/* Kills all that are not kept. Returns how many are there, and adds those that died of it to
 * *killed. What cannot be listed counts as one that stays. */
static size_t round_make(const struct culex_offspring *offspring, size_t *killed)
{
    pid_t found[FOUND_MAX];
    size_t strangers = 0, count = 0;
    if (!children_read(found, FOUND_MAX, &count))
        return 1;
    for (size_t i = 0; i < count; i++) {
        if (is_kept(offspring, found[i]))
            continue;
        int status = 0;
        strangers++;
        kill(found[i], SIGKILL);
        if (waitpid(found[i], &status, WNOHANG | __WALL) == found[i])
            *killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    }
    return strangers;
}

size_t culex__offspring_end(const struct culex_offspring *offspring, bool *ret_is_left)
{
    size_t killed = 0;
    *ret_is_left = false;
    if (offspring->is_blind || !has_children())
        return 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (round_make(offspring, &killed) == 0)
            return killed;
        poll(NULL, 0, 1);
    }
    *ret_is_left = true;
    return killed;
}
