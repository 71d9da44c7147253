/* A killed zygote cannot clean up after its children: the supervisor does.
 * Found by the storm: the process that a handler had made outlived everybody. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "crew.h"
#include "ledger.h"
#include "proc.h"
#include "storm_job.h"

enum { PATIENCE_US = 20000000, DEPTH_LEFT_BEHIND = 3 };

static void rest(void)
{
    const struct timespec length = {.tv_nsec = 2000000};
    nanosleep(&length, NULL);
}

static bool run_enqueue(const char *url)
{
    culex_client *client = NULL;
    storm_deed_job job = storm_deed_job_make(STORM_ACT_HERD, 1, 0);
    bool is_good = culex_client_open(url, NULL, &client, NULL) == CULEX_OK &&
                   storm_deed_job_enqueue(client, &job, NULL, NULL, NULL) == CULEX_OK;
    culex_client_close(client);
    return is_good;
}

/* Waits until the worker's handler has made a process; the zygote above it, 0 for none. It lives
 * for as long as its run, or for as long as nobody ends it. */
static pid_t zygote_find(pid_t worker)
{
    struct proc_list list;
    for (int64_t end_us = ledger_now_us() + PATIENCE_US; ledger_now_us() < end_us; rest()) {
        proc_descendants(worker, &list);
        for (size_t i = 0; i < list.count; i++) {
            if (list.entries[i].depth == DEPTH_LEFT_BEHIND)
                return list.entries[0].pid;
        }
    }
    return 0;
}

/* Orphans become children of this process, which is their subreaper. */
static bool all_end(struct crew *crew)
{
    struct proc_list list = {.count = 1};
    for (int64_t end_us = ledger_now_us() + PATIENCE_US; list.count > 0 && ledger_now_us() < end_us;
         rest()) {
        crew_collect(crew);
        proc_descendants(getpid(), &list);
    }
    for (size_t i = 0; i < list.count; i++)
        proc_signal(list.entries[i].pid, list.entries[i].parent, 9);
    return list.count == 0 && crew->faults == 0;
}

/* A worker whose handler is at work and has made a process; 0 or its zygote. */
static pid_t worker_prepare(struct crew *crew, struct member *worker)
{
    if (!run_enqueue(crew->url))
        return 0;
    member_start(crew, worker);
    return zygote_find(worker->pid);
}

static bool zygote_dies(struct crew *crew)
{
    struct member *worker = crew_add(crew, CREW_WORKER, "worker");
    pid_t zygote = worker_prepare(crew, worker);
    return zygote != 0 && crew_kill_zygote(crew, zygote, worker) && all_end(crew);
}

static bool is_guarded(const struct crew *crew, const struct proc_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->entries[i].state != 'Z' && !crew_is_unguarded(crew, list->entries[i].pid))
            return true;
    }
    return false;
}

/* Waits until those are dead that somebody kills. */
static bool guarded_end(struct crew *crew, struct proc_list *ret_list)
{
    for (int64_t end_us = ledger_now_us() + PATIENCE_US; ledger_now_us() < end_us; rest()) {
        crew_collect(crew);
        proc_descendants(getpid(), ret_list);
        if (!is_guarded(crew, ret_list))
            return true;
    }
    return false;
}

/* The limit of what can be promised: with the worker stopped, both guards can be killed, and what
 * the handler left behind stays. The storm must know it for what it is. */
static bool both_die(struct crew *crew)
{
    struct member *worker = crew_add(crew, CREW_WORKER, "other");
    struct proc_list list;
    pid_t zygote = worker_prepare(crew, worker);
    if (zygote == 0 || !crew_stop(crew, "worker", worker->pid, getpid(), INT64_MAX) ||
        !crew_kill_zygote(crew, zygote, worker))
        return false;
    member_kill(crew, worker, INT64_MAX);
    if (!guarded_end(crew, &list))
        return false;
    for (size_t i = 0; i < list.count; i++)
        proc_signal(list.entries[i].pid, list.entries[i].parent, 9);
    return list.count > 0 && all_end(crew);
}

/* usage: test_zygote FOLDER-OF-STORM-PROGRAMS */
int main(int argc, char **argv)
{
    static struct crew crew = {.isolation = "process", .folder = "/tmp/culex-zygote-XXXXXX"};
    if (argc != 2 || mkdtemp(crew.folder) == NULL)
        return 2;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    snprintf(crew.programs, sizeof crew.programs, "%s", argv[1]);
    snprintf(crew.url, sizeof crew.url, "sqlite:%s/store.db", crew.folder);
    bool is_good = zygote_dies(&crew) && both_die(&crew);
    fprintf(stderr, "%s: %s\n", crew.folder, is_good ? "nothing is left over" : "FAILED");
    if (is_good)
        crew_folder_remove(&crew);
    return is_good ? 0 : 1;
}
