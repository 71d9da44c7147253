#include "child/offspring.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "platform/self.h"

enum {
    FOUND_MAX = 256,
    ROUNDS = 1000 /* a millisecond each, where something does not die */
};

struct listing {
    pid_t *pids;
    size_t max;
    size_t count;
};

static bool child_list(void *user, pid_t pid)
{
    struct listing *listing = user;
    if (listing->count == listing->max)
        return false;
    listing->pids[listing->count++] = pid;
    return true;
}

/* The first `max` of our children. False when they cannot be listed. */
static bool children_read(pid_t *ret_found, size_t max, size_t *ret_count)
{
    struct listing listing = {ret_found, max, 0};
    bool is_listed = culex__self_visit_children(child_list, &listing);
    *ret_count = listing.count;
    return is_listed;
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
    culex__self_adopt_orphans();
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
    assert(offspring->kept_count <= CULEX_OFFSPRING_KEPT_MAX);
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
