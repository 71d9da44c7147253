#include "crowd.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 64, PROCESSES_MAX = 64 };

/* Each process writes a byte when it is ready, and goes on when the other pipe ends. */
struct crowd {
    const struct crowd_work *work;
    const struct knobs *knobs;
    int ready[2], go[2];
    double *ends_s; /* of each process, shared */
};

struct member {
    const struct crowd *crowd;
    void *handle;
    size_t first, count;
    double end_s;
};

double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("bench: shared memory");
        exit(1);
    }
    return memory;
}

static void *member_run(void *user)
{
    struct member *member = user;
    const struct crowd *crowd = member->crowd;
    member->end_s = crowd->work->run(member->handle, crowd->knobs, member->first, member->count);
    return NULL;
}

static bool crowd_is_sharing(const struct crowd *crowd)
{
    return crowd->knobs->is_shared && crowd->work->can_share;
}

/* The share of member `number`: the same for all, the rest goes to the last one. `handle` is the
 * one that it has with others, NULL: its own. */
static struct member member_make(const struct crowd *crowd, size_t number, void *handle)
{
    size_t members = crowd->knobs->processes * crowd->knobs->threads;
    size_t share = crowd->knobs->count / members;
    struct member member = {crowd, handle, number * share, share, 0};
    if (handle == NULL)
        member.handle = crowd->work->open(crowd->knobs);
    if (number == members - 1)
        member.count = crowd->knobs->count - member.first;
    return member;
}

static void members_run(struct member *members, size_t count)
{
    pthread_t threads[THREADS_MAX];
    if (count == 1) {
        member_run(&members[0]); /* a worker forks, which other threads would disturb */
        return;
    }
    for (size_t i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, member_run, &members[i]);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void process_run(struct crowd *crowd, size_t process)
{
    struct member members[THREADS_MAX];
    size_t threads = crowd->knobs->threads;
    char byte = 0;
    close(crowd->go[1]);
    for (size_t i = 0; i < threads; i++)
        members[i] = member_make(crowd, process * threads + i,
                                 i > 0 && crowd_is_sharing(crowd) ? members[0].handle : NULL);
    if (write(crowd->ready[1], &byte, 1) != 1)
        exit(1);
    close(crowd->ready[1]); /* so that its reader sees an end when another process is no more */
    if (read(crowd->go[0], &byte, 1) != 0)
        exit(1);
    members_run(members, threads);
    for (size_t i = 0; i < threads; i++) {
        if (members[i].end_s > crowd->ends_s[process])
            crowd->ends_s[process] = members[i].end_s;
        if (i == 0 || !crowd_is_sharing(crowd))
            crowd->work->close(members[i].handle);
    }
}

static void processes_start(struct crowd *crowd)
{
    for (size_t i = 0; i < crowd->knobs->processes; i++) {
        pid_t pid = fork();
        if (pid < 0) {
            perror("bench: fork");
            exit(1);
        }
        if (pid == 0) {
            process_run(crowd, i);
            exit(0);
        }
    }
    close(crowd->ready[1]);
    close(crowd->go[0]);
}

static void processes_await(size_t count)
{
    int status = 0;
    for (size_t i = 0; i < count; i++)
        if (wait(&status) < 0 || status != 0)
            exit(1);
}

double crowd_run(const struct crowd_work *work, const struct knobs *knobs)
{
    struct crowd crowd = {work, knobs, {-1, -1}, {-1, -1}, NULL};
    char byte = 0;
    if (knobs->threads < 1 || knobs->threads > THREADS_MAX || knobs->processes < 1 ||
        knobs->processes > PROCESSES_MAX || pipe(crowd.ready) != 0 || pipe(crowd.go) != 0)
        exit(2);
    crowd.ends_s = shared_memory(PROCESSES_MAX * sizeof(double));
    processes_start(&crowd);
    for (size_t i = 0; i < knobs->processes; i++)
        if (read(crowd.ready[0], &byte, 1) != 1)
            exit(1); /* a process ended before it was ready, and has said why */
    double start = now_s();
    close(crowd.go[1]);
    processes_await(knobs->processes);
    double end = start;
    for (size_t i = 0; i < knobs->processes; i++)
        end = crowd.ends_s[i] > end ? crowd.ends_s[i] : end;
    close(crowd.ready[0]);
    return end - start;
}
