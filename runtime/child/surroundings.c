#include "child/surroundings.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "platform/self.h"

enum {
    SIGNALS = 32, /* the numbers below are the ones with names */
    LIMITS = 16,
    TIMERS = 3,
    KERNEL_TIMERS_MAX = 1024,
    GROUPS = 64 /* more than that are compared as far as this */
};

/* The C libraries do not agree on the types of a limit's and a timer's number. */
#ifdef __GLIBC__
typedef __rlimit_resource_t limit_name;
typedef __itimer_which_t timer_name;
#else
typedef int limit_name;
typedef int timer_name;
#endif

/* Who we are to the kernel. */
struct identity {
    uid_t users[3];
    gid_t groups[3];
    int group_count;
    gid_t more[GROUPS];
    int no_new_privs;
    dev_t root_device;
    ino_t root_inode;
};

struct culex_surroundings {
    char cwd[PATH_MAX]; /* "" when it has no name */
    dev_t cwd_device;
    ino_t cwd_inode;
    mode_t umask;
    size_t variable_count;
    char **variables; /* our own copies, */
    char **pointers;  /* and what `environ` holds, NULL at the end */
    bool has_timer[TIMERS];
    char kernel_timers[KERNEL_TIMERS_MAX];
    struct sigaction actions[SIGNALS];
    stack_t stack;
    struct rlimit limits[LIMITS];
    int nice;
    struct identity identity;
};

/* --- environment ------------------------------------------------------------------------- */

/* Memory of the environment before this is never freed: the program may have kept a pointer. */
static bool environment_put(struct culex_surroundings *surroundings)
{
    size_t count = surroundings->variable_count;
    char **fresh = calloc(count + 1, sizeof *fresh);
    bool is_whole = fresh != NULL;
    for (size_t i = 0; is_whole && i < count; i++) {
        fresh[i] = strdup(surroundings->variables[i]);
        is_whole = fresh[i] != NULL;
    }
    if (!is_whole) {
        for (size_t i = 0; fresh != NULL && i < count; i++)
            free(fresh[i]);
        free(fresh);
        return false;
    }
    memcpy(surroundings->pointers, fresh, (count + 1) * sizeof *fresh);
    environ = fresh;
    return true;
}

static bool environment_note(struct culex_surroundings *surroundings)
{
    size_t count = 0;
    while (environ != NULL && environ[count] != NULL)
        count++;
    surroundings->variable_count = count;
    surroundings->variables = calloc(count + 1, sizeof(char *));
    surroundings->pointers = calloc(count + 1, sizeof(char *));
    bool is_whole = surroundings->variables != NULL && surroundings->pointers != NULL;
    for (size_t i = 0; is_whole && i < count; i++) {
        surroundings->pointers[i] = environ[i];
        surroundings->variables[i] = strdup(environ[i]);
        is_whole = surroundings->variables[i] != NULL;
    }
    return is_whole;
}

/* setenv() and its kin replace the string; putenv() lets a program write into one. */
static bool environment_is_same(const struct culex_surroundings *surroundings, bool with_text)
{
    for (size_t i = 0; i <= surroundings->variable_count; i++) {
        char *found = environ != NULL ? environ[i] : NULL;
        if (found != surroundings->pointers[i])
            return false;
        if (with_text && found != NULL && strcmp(found, surroundings->variables[i]) != 0)
            return false;
    }
    return true;
}

/* --- directory and umask ----------------------------------------------------------------- */

static bool cwd_is_same(const struct culex_surroundings *surroundings)
{
    struct stat now;
    return stat(".", &now) == 0 && now.st_dev == surroundings->cwd_device &&
           now.st_ino == surroundings->cwd_inode;
}

static bool cwd_restore(const struct culex_surroundings *surroundings)
{
    if (cwd_is_same(surroundings))
        return true;
    return surroundings->cwd[0] != '\0' && chdir(surroundings->cwd) == 0 &&
           cwd_is_same(surroundings);
}

/* A folder that is gone is never found again: then each run costs the process. */
static void cwd_note(struct culex_surroundings *surroundings)
{
    struct stat now;
    if (stat(".", &now) != 0)
        return;
    surroundings->cwd_device = now.st_dev;
    surroundings->cwd_inode = now.st_ino;
    if (getcwd(surroundings->cwd, sizeof surroundings->cwd) == NULL)
        surroundings->cwd[0] = '\0';
}

/* --- timers ------------------------------------------------------------------------------ */

/* ORDER TIMERS: the profiler's is the last one. One that the program had is left as it is. */
static const timer_name timers[TIMERS] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

static void timers_stop(const struct culex_surroundings *surroundings, size_t count)
{
    static const struct itimerval none;
    for (size_t i = 0; i < count; i++) {
        if (!surroundings->has_timer[i])
            setitimer(timers[i], &none, NULL);
    }
}

static bool kernel_timers_are_same(const struct culex_surroundings *surroundings)
{
    char now[KERNEL_TIMERS_MAX];
    culex__self_list_timers(now, sizeof now);
    return memcmp(now, surroundings->kernel_timers, sizeof now) == 0;
}

static void timers_note(struct culex_surroundings *surroundings)
{
    for (size_t i = 0; i < TIMERS; i++) {
        struct itimerval now = {{0, 0}, {0, 0}};
        getitimer(timers[i], &now);
        surroundings->has_timer[i] = now.it_value.tv_sec != 0 || now.it_value.tv_usec != 0;
    }
    culex__self_list_timers(surroundings->kernel_timers, KERNEL_TIMERS_MAX);
}

/* --- signals ----------------------------------------------------------------------------- */

static struct sigaction action_of(int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigaction(number, NULL, &action);
    return action;
}

/* The kernel fills a part of a mask only, and what stands behind that is not always 0. */
static bool masks_are_equal(const sigset_t *one, const sigset_t *other)
{
    enum { KERNEL_BYTES = (_NSIG - 1) / CHAR_BIT };
    return memcmp(one, other, KERNEL_BYTES) == 0;
}

static void signals_restore(const struct culex_surroundings *surroundings)
{
    for (int number = 1; number < SIGNALS; number++) {
        const struct sigaction *before = &surroundings->actions[number];
        struct sigaction now = action_of(number);
        if (now.sa_sigaction != before->sa_sigaction || now.sa_flags != before->sa_flags ||
            !masks_are_equal(&now.sa_mask, &before->sa_mask))
            sigaction(number, before, NULL);
    }
    sigaltstack(&surroundings->stack, NULL);
}

static void signals_note(struct culex_surroundings *surroundings)
{
    for (int number = 1; number < SIGNALS; number++)
        surroundings->actions[number] = action_of(number);
    sigaltstack(NULL, &surroundings->stack);
}

/* --- limits ------------------------------------------------------------------------------ */

static bool limits_restore(const struct culex_surroundings *surroundings)
{
    bool is_same = true;
    for (int resource = 0; resource < LIMITS; resource++) {
        const struct rlimit *before = &surroundings->limits[resource];
        struct rlimit now = {0, 0};
        getrlimit((limit_name)resource, &now);
        if (now.rlim_cur != before->rlim_cur || now.rlim_max != before->rlim_max)
            is_same = setrlimit((limit_name)resource, before) == 0 && is_same;
    }
    return is_same;
}

static int nice_look(void)
{
    errno = 0;
    return getpriority(PRIO_PROCESS, 0);
}

/* --- identity ---------------------------------------------------------------------------- */

static void identity_look(struct identity *ret_identity)
{
    struct stat root;
    memset(ret_identity, 0, sizeof *ret_identity);
    getresuid(&ret_identity->users[0], &ret_identity->users[1], &ret_identity->users[2]);
    getresgid(&ret_identity->groups[0], &ret_identity->groups[1], &ret_identity->groups[2]);
    ret_identity->group_count = getgroups(GROUPS, ret_identity->more);
    ret_identity->no_new_privs = culex__self_no_new_privileges();
    if (stat("/", &root) == 0) {
        ret_identity->root_device = root.st_dev;
        ret_identity->root_inode = root.st_ino;
    }
}

static bool identity_is_same(const struct identity *before)
{
    struct identity now;
    identity_look(&now);
    return memcmp(&now, before, sizeof now) == 0;
}

/* --- all of it --------------------------------------------------------------------------- */

struct culex_surroundings *culex__surroundings_note(void)
{
    struct culex_surroundings *surroundings = calloc(1, sizeof *surroundings);
    if (surroundings == NULL)
        return NULL;
    if (!environment_note(surroundings)) {
        free(surroundings); /* the process ends over it */
        return NULL;
    }
    cwd_note(surroundings);
    surroundings->umask = umask(0);
    umask(surroundings->umask);
    timers_note(surroundings);
    signals_note(surroundings);
    for (int resource = 0; resource < LIMITS; resource++)
        getrlimit((limit_name)resource, &surroundings->limits[resource]);
    surroundings->nice = nice_look();
    identity_look(&surroundings->identity);
    return surroundings;
}

bool culex__surroundings_glance(struct culex_surroundings *surroundings)
{
    umask(surroundings->umask);
    timers_stop(surroundings, 1);
    bool is_same = environment_is_same(surroundings, false) || environment_put(surroundings);
    return cwd_restore(surroundings) && is_same;
}

bool culex__surroundings_restore(struct culex_surroundings *surroundings)
{
    timers_stop(surroundings, TIMERS);
    signals_restore(surroundings);
    bool is_same = culex__surroundings_glance(surroundings);
    is_same = limits_restore(surroundings) && is_same;
    if (!environment_is_same(surroundings, true))
        is_same = environment_put(surroundings) && is_same;
    if (nice_look() != surroundings->nice)
        is_same = setpriority(PRIO_PROCESS, 0, surroundings->nice) == 0 && is_same;
    return identity_is_same(&surroundings->identity) && kernel_timers_are_same(surroundings) &&
           is_same;
}
