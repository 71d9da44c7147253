/* storm/worker.c - a worker program whose handlers keep a ledger of what really ran.
 * usage: storm_worker FOLDER WORKER-OPTION...
 *
 *   start ID ATTEMPT FENCE PID SUPERVISOR ACT TIMES MICROSECONDS
 *   end ID ATTEMPT done|fail|discard|snooze|woken MICROSECONDS
 *
 * "end" is written before the handler returns: a completion without it is nobody's. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "ledger.h"
#include "storm_job.h"

/* Longer than the timeout of a deed, see storm.job. */
enum { EXTENDED_MS = 900, EXTENSION_MS = 500, CHILD_LIFE_S = 600 };

struct storm_world {
    const char *folder;
    pid_t supervisor;
};

static void start_write(const struct storm_world *world, culex_run *run, storm_act act,
                        uint32_t times, uint64_t order)
{
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(culex_run_id(run), id);
    ledger_write(world->folder, LEDGER_WORKERS, "start %s %u %s %ld %ld %s %u %llu %lld", id,
                 culex_run_attempt(run), culex_run_fence(run), (long)getpid(),
                 (long)world->supervisor, storm_act_name(act), times, (unsigned long long)order,
                 (long long)ledger_now_us());
}

static void end_write(const struct storm_world *world, culex_run *run, const char *outcome)
{
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(culex_run_id(run), id);
    ledger_write(world->folder, LEDGER_WORKERS, "end %s %u %s %lld", id, culex_run_attempt(run),
                 outcome, (long long)ledger_now_us());
}

static culex_outcome end_done(const struct storm_world *world, culex_run *run)
{
    end_write(world, run, "done");
    return CULEX_DONE;
}

static culex_outcome end_woken(const struct storm_world *world, culex_run *run)
{
    end_write(world, run, "woken");
    return culex_run_fail(run, "woken");
}

/* False when it was woken. */
static bool doze(culex_run *run, int64_t length_ms, bool is_extending)
{
    const struct timespec tick = {.tv_nsec = 5000000};
    int64_t end_us = ledger_now_us() + length_ms * 1000;
    while (ledger_now_us() < end_us) {
        if (culex_run_cancelled(run))
            return false;
        if (is_extending)
            culex_run_extend(run, EXTENSION_MS * CULEX_MILLISECOND);
        nanosleep(&tick, NULL);
    }
    return true;
}

static culex_outcome plain(culex_run *run, const storm_plain_job *job, void *user)
{
    const struct storm_world *world = user;
    int64_t length_ms = job->length / CULEX_MILLISECOND;
    start_write(world, run, length_ms > 0 ? STORM_ACT_NAP : STORM_ACT_PLAIN, 0, job->order);
    return doze(run, length_ms, false) ? end_done(world, run) : end_woken(world, run);
}

static culex_outcome deed_fail(const struct storm_world *world, culex_run *run, uint32_t times)
{
    if (culex_run_failures(run) >= times)
        return end_done(world, run);
    end_write(world, run, "fail");
    return culex_run_fail(run, "asked to fail");
}

static culex_outcome deed_snooze(const struct storm_world *world, culex_run *run, uint32_t times)
{
    if (culex_run_attempt(run) > times)
        return end_done(world, run);
    end_write(world, run, "snooze");
    return culex_run_snooze(run, 10 * CULEX_MILLISECOND);
}

static void crash(void)
{
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
}

static void stay(void)
{
    signal(SIGTERM, SIG_IGN);
    for (;;)
        pause();
}

/* The process that stays behind is somebody's to end: nobody waits for it here. */
static void leave_child(void)
{
    if (fork() == 0) {
        sleep(CHILD_LIFE_S);
        _exit(0);
    }
}

static culex_outcome deed_wild(const struct storm_world *world, culex_run *run,
                               const storm_deed_job *job)
{
    if (culex_run_attempt(run) <= job->times) {
        if (job->act == STORM_ACT_CRASH)
            crash();
        else if (job->act == STORM_ACT_EXIT)
            _exit(3);
        else if (job->act == STORM_ACT_STUBBORN)
            stay();
        else
            leave_child();
        if (job->act == STORM_ACT_HERD)
            stay();
    }
    return end_done(world, run);
}

static culex_outcome deed(culex_run *run, const storm_deed_job *job, void *user)
{
    const struct storm_world *world = user;
    start_write(world, run, job->act, job->times, job->order);
    switch (job->act) {
    case STORM_ACT_FAIL:
        return deed_fail(world, run, job->times);
    case STORM_ACT_DISCARD:
        end_write(world, run, "discard");
        return culex_run_discard(run, "asked to discard");
    case STORM_ACT_SNOOZE:
        return deed_snooze(world, run, job->times);
    case STORM_ACT_EXTEND:
        return doze(run, EXTENDED_MS, true) ? end_done(world, run) : end_woken(world, run);
    default:
        return deed_wild(world, run, job);
    }
}

static int setup(culex_worker *worker, void *user)
{
    if (storm_plain_job_register(worker, plain, user) != CULEX_OK)
        return 1;
    return storm_deed_job_register(worker, deed, user);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: storm_worker FOLDER WORKER-OPTION...\n", stderr);
        return 2;
    }
    struct storm_world world = {argv[1], getpid()};
    argv[1] = argv[0];
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    return culex_worker_main(argc - 1, argv + 1, setup, &world);
}
