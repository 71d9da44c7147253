/* storm/crew.h - the processes of a storm: started, killed, stopped, let go on, started again.
 *
 * Everything that is done to a process is written to the driver's ledger:
 *   born|killed|doomed|stopped|ended KIND PID NAME MICROSECONDS
 * "doomed" are those below a zygote that is killed: they die with it. */
#ifndef CULEX_STORM_CREW_H
#define CULEX_STORM_CREW_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "redis_server.h"

enum {
    CREW_MAX = 16,
    CREW_ARGUMENTS_MAX = 32,
    CREW_PAUSES_MAX = 32,
    CREW_DOOMED_MAX = 16,
    CREW_UNGUARDED_MAX = 1024
};

enum crew_kind { CREW_WORKER, CREW_PRODUCER };

struct member {
    enum crew_kind kind;
    char name[32];
    bool is_named;   /* keeps its name over restarts */
    bool is_veteran; /* never killed, so that what it leaks adds up */
    bool is_bereft;  /* its zygote was killed: it is to end by itself and be started again */
    pid_t doomed[CREW_DOOMED_MAX]; /* what stood below that zygote */
    size_t doomed_count;
    bool is_lost; /* ended by itself without such a reason: not started again */
    pid_t pid;    /* 0 while it does not run */
    int64_t born_us;
    int64_t back_us; /* not running: when to start it */
    unsigned lives;
    char rate[16];
};

/* A process that is stopped, and until when. */
struct crew_pause {
    pid_t pid, parent;
    int64_t until_us;
};

struct crew {
    char folder[96];
    char programs[PATH_MAX]; /* folder of the storm's programs */
    char url[160];
    const char *isolation; /* "none", "process" or "job" */
    int lease_ms;
    bool is_redis;
    struct redis_server server;
    int64_t server_back_us; /* when to start it again; 0 while it runs */
    struct member members[CREW_MAX];
    size_t member_count;
    struct crew_pause pauses[CREW_PAUSES_MAX];
    size_t pause_count;
    pid_t unguarded[CREW_UNGUARDED_MAX]; /* groups whose zygote and worker were both killed */
    size_t unguarded_count;
    uint64_t seed;
    uint64_t faults; /* things that no storm excuses, each said on stderr */
};

/* Says on stderr what is wrong and counts it. */
void crew_fault(struct crew *crew, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct member *crew_add(struct crew *crew, enum crew_kind kind, const char *name);

/* Starts the member's program. */
void member_start(struct crew *crew, struct member *member);

/* SIGKILL now, back at `back_us`. */
void member_kill(struct crew *crew, struct member *member, int64_t back_us);

/* What a handler leaves behind is killed by the zygote or, should that be killed, by the worker
 * before it ends. When both are killed (the worker was stopped, or had no time) nobody is left to
 * do it: true for a process of such a group. */
bool crew_is_unguarded(const struct crew *crew, pid_t pid);

/* SIGSTOP to `pid`, a child of `parent` (any process of the storm), until `until_us`. False when it
 * is gone or stopped already. */
bool crew_stop(struct crew *crew, const char *kind, pid_t pid, pid_t parent, int64_t until_us);

/* SIGKILL to a process below a worker. False when it is gone. */
bool crew_kill_child(struct crew *crew, pid_t pid, pid_t parent);
bool crew_kill_zygote(struct crew *crew, pid_t pid, struct member *worker);

void crew_server_kill(struct crew *crew, int64_t back_us);

/* Ends pauses, starts what is due, and notices who ended without being told to. */
void crew_tend(struct crew *crew, int64_t now_us);

/* Takes in who has ended; members that did so without being told to are a fault. */
void crew_collect(struct crew *crew);

/* Lets everything run, and waits until all have run for `age_us` and are to stay. What does not
 * come to that within `limit_us` is a fault. */
void crew_heal(struct crew *crew, int64_t age_us, int64_t limit_us);

/* SIGTERM to all members of the kind, and waits for their exit codes: 0, or it is a fault. */
void crew_dismiss(struct crew *crew, enum crew_kind kind, int64_t limit_us);

/* Runs a program of the storm to its end; the exit code, -1 when it took too long. `out` and `log`
 * are the files for its standard output and standard error, NULL for ours. */
int crew_run(struct crew *crew, const char *const *arguments, const char *out, const char *log,
             int64_t limit_us);

/* Removes the storm's folder. */
void crew_folder_remove(struct crew *crew);

/* Words of a worker's command line; `name` NULL for none. Borrows all. */
void crew_worker_words(const struct crew *crew, const char *name, const char *extra,
                       const char *ret_words[CREW_ARGUMENTS_MAX]);

#endif
