#include "worker/on_death.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "platform/command.h"
#include "store/storeurl.h"
#include "worker/flight.h"
#include "worker/lane.h"
#include "worker/worker_private.h"

enum {
    BACKLOG_MAX = 100,
    LOOK_MS = 20, /* between two looks whether a command has ended */
};

enum { FACTS = 6 /* as variables, "NAME=value" */ };

struct death {
    struct death *next;
    char *facts[FACTS];
};

struct culex_on_death {
    culex_worker *worker;
    pthread_t thread;
    pthread_mutex_t lock;    /* of what follows; nobody waits for anything while he has it */
    pthread_cond_t has_news; /* a death, or that it is to end */
    struct death *first, **last;
    size_t count;
    unsigned long long dropped; /* since the line about it */
    bool is_busy;               /* a command is at work */
    bool is_ending;
    int64_t until_ns; /* boot time at which all ends; INT64_MAX: none is known */
    /* The thread's, of the environment as it was at the start: others may change that one. */
    char **environment; /* its first FACTS places are for those of a death */
};

/* --- facts -------------------------------------------------------------------------------------
 */

static const char *const fact_names[FACTS] = {"CULEX_RUN_ID",  "CULEX_JOB",    "CULEX_QUEUE",
                                              "CULEX_ATTEMPT", "CULEX_REASON", "CULEX_ERROR"};

static void death_free(struct death *death)
{
    for (size_t i = 0; death != NULL && i < FACTS; i++)
        free(death->facts[i]);
    free(death);
}

static const char *reason_of(const struct culex_flight *flight, bool is_late)
{
    if (flight->has_timed_out)
        return "timed_out";
    switch (flight->run.end.event) {
    case CULEX_EVENT_CRASH:
        return "crashed";
    case CULEX_EVENT_LOSS:
        return "lost";
    case CULEX_EVENT_DISCARD:
        return "discarded";
    default:
        return is_late ? "late" : "failed";
    }
}

/* NULL when out of memory. */
static struct death *death_make(const struct culex_flight *flight, bool is_late)
{
    const struct culex_run *run = &flight->run;
    char id[CULEX_UUID_TEXT_SIZE], attempt[16];
    culex_uuid_format(run->facts.id, id);
    snprintf(attempt, sizeof attempt, "%u", (unsigned)run->facts.attempt);
    const char *values[FACTS] = {id,
                                 run->job.type != NULL ? run->job.type->name : "",
                                 flight->lane->name,
                                 attempt,
                                 reason_of(flight, is_late),
                                 run->end.text != NULL ? run->end.text : ""};
    struct death *death = calloc(1, sizeof *death);
    for (size_t i = 0; death != NULL && i < FACTS; i++) {
        if (asprintf(&death->facts[i], "%s=%.*s", fact_names[i], CULEX_ERROR_TEXT_MAX, values[i]) >=
            0)
            continue;
        death->facts[i] = NULL;
        death_free(death);
        death = NULL;
    }
    return death;
}

void culex__on_death_note(const struct culex_flight *flight, bool is_late)
{
    struct culex_on_death *on_death = flight->lane->worker->on_death;
    if (on_death == NULL)
        return;
    struct death *death = death_make(flight, is_late);
    pthread_mutex_lock(&on_death->lock);
    if (death != NULL && on_death->count < BACKLOG_MAX) {
        *on_death->last = death;
        on_death->last = &death->next;
        on_death->count++;
        death = NULL;
        pthread_cond_signal(&on_death->has_news);
    } else
        on_death->dropped++;
    pthread_mutex_unlock(&on_death->lock);
    death_free(death); /* of one that found no room */
}

/* --- the thread --------------------------------------------------------------------------------
 */

/* Once for all since the last such line. */
static void dropped_tell(struct culex_on_death *on_death, unsigned long long count)
{
    if (count > 0)
        culex__log_write(&on_death->worker->log, CULEX_LOG_WARNING, NULL,
                         "on-death: the command was not run for %llu dead run%s: %d were waiting "
                         "for it already, or there was no time or memory left",
                         count, count > 1 ? "s" : "", BACKLOG_MAX);
}

static void failure_tell(const struct culex_on_death *on_death, const struct death *death,
                         const char *what, int number)
{
    culex__log_write(&on_death->worker->log, CULEX_LOG_WARNING, NULL,
                     "on-death: the command for run %s %s %d",
                     death->facts[0] + strlen(fact_names[0]) + 1, what, number);
}

static void locked_wait(struct culex_on_death *on_death, int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&on_death->has_news, &on_death->lock, &until);
}

static int64_t until_ns(struct culex_on_death *on_death, int64_t own_ns)
{
    pthread_mutex_lock(&on_death->lock);
    int64_t all_ns = on_death->until_ns;
    pthread_mutex_unlock(&on_death->lock);
    return all_ns < own_ns ? all_ns : own_ns;
}

/* 0 or more: its exit status; -1: it was killed. */
static int end_await(struct culex_on_death *on_death, pid_t pid)
{
    const culex_worker *worker = on_death->worker;
    int64_t own_ns =
        culex__worker_now_ns(worker) + worker->options.on_death_timeout_ms * CULEX_MS_NS;
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
    int status = 0;
    while (!culex__command_has_ended(pid, &status)) {
        if (culex__worker_now_ns(worker) >= until_ns(on_death, own_ns)) {
            culex__command_kill(pid);
            return -1;
        }
        nanosleep(&pause, NULL);
    }
    return status < 0 ? 0 : status; /* that nobody knows is no news */
}

static void command_run(struct culex_on_death *on_death, const struct death *death)
{
    pid_t pid;
    memcpy(on_death->environment, death->facts, sizeof death->facts);
    int failure =
        culex__command_start(on_death->worker->options.on_death, on_death->environment, &pid);
    if (failure != 0) {
        culex__log_write(&on_death->worker->log, CULEX_LOG_WARNING, NULL,
                         "on-death: the command for run %s cannot be started: %s",
                         death->facts[0] + strlen(fact_names[0]) + 1, strerror(failure));
        return;
    }
    int status = end_await(on_death, pid);
    if (status > 0)
        failure_tell(on_death, death, "failed with exit status", status);
    else if (status < 0)
        failure_tell(on_death, death, "took too long and was killed, signal", SIGKILL);
}

/* The next death, when there is one; NULL once all is over. The lock is held. */
static struct death *locked_next(struct culex_on_death *on_death)
{
    while (on_death->first == NULL && !on_death->is_ending)
        pthread_cond_wait(&on_death->has_news, &on_death->lock);
    struct death *death = on_death->first;
    if (death == NULL)
        return NULL;
    on_death->first = death->next;
    if (on_death->first == NULL)
        on_death->last = &on_death->first;
    on_death->count--;
    return death;
}

static unsigned long long locked_take_dropped(struct culex_on_death *on_death)
{
    unsigned long long dropped = on_death->dropped;
    on_death->dropped = 0;
    return dropped;
}

/* Of what comes when its time is over nothing is begun. */
static void death_serve(struct culex_on_death *on_death, struct death *death)
{
    if (culex__worker_now_ns(on_death->worker) < until_ns(on_death, INT64_MAX))
        command_run(on_death, death);
    else {
        pthread_mutex_lock(&on_death->lock);
        on_death->dropped++;
        pthread_mutex_unlock(&on_death->lock);
    }
    death_free(death);
}

static void *serve(void *user)
{
    struct culex_on_death *on_death = user;
    struct death *death;
    do {
        pthread_mutex_lock(&on_death->lock);
        on_death->is_busy = false;
        pthread_cond_broadcast(&on_death->has_news);
        unsigned long long dropped = on_death->count == 0 ? locked_take_dropped(on_death) : 0;
        pthread_mutex_unlock(&on_death->lock);
        dropped_tell(on_death, dropped);
        pthread_mutex_lock(&on_death->lock);
        death = locked_next(on_death);
        on_death->is_busy = death != NULL;
        pthread_mutex_unlock(&on_death->lock);
        if (death != NULL)
            death_serve(on_death, death);
    } while (death != NULL);
    return NULL;
}

/* --- beginning and end -------------------------------------------------------------------------
 */

/* What the command need not know, and what it is told anew. */
static bool is_left_out(const char *variable)
{
    if (strncmp(variable, "CULEX_PASSWORD=", strlen("CULEX_PASSWORD=")) == 0)
        return true;
    if (strncmp(variable, "CULEX_URL=", strlen("CULEX_URL=")) == 0)
        return culex__store_url_has_password(variable + strlen("CULEX_URL="));
    for (size_t i = 0; i < FACTS; i++) {
        size_t len = strlen(fact_names[i]);
        if (strncmp(variable, fact_names[i], len) == 0 && variable[len] == '=')
            return true;
    }
    return false;
}

static char **environment_copy(void)
{
    size_t count = 0, kept = FACTS;
    while (environ != NULL && environ[count] != NULL)
        count++;
    char **copy = calloc(FACTS + count + 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        if (is_left_out(environ[i]))
            continue;
        copy[kept] = strdup(environ[i]);
        kept += copy[kept] != NULL;
    }
    return copy;
}

static void all_free(struct culex_on_death *on_death)
{
    for (size_t i = FACTS; on_death->environment != NULL && on_death->environment[i] != NULL; i++)
        free(on_death->environment[i]);
    free(on_death->environment);
    pthread_cond_destroy(&on_death->has_news);
    pthread_mutex_destroy(&on_death->lock);
    free(on_death);
}

static void locks_init(struct culex_on_death *on_death)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&on_death->has_news, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&on_death->lock, NULL);
}

/* Signals are the program's: its own threads take them. */
static bool thread_start(struct culex_on_death *on_death)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&on_death->thread, NULL, serve, on_death);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure == 0;
}

culex_status culex__on_death_begin(culex_worker *worker, culex_error *error)
{
    if (worker->options.on_death == NULL)
        return CULEX_OK;
    struct culex_on_death *on_death = calloc(1, sizeof *on_death);
    if (on_death == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for on-death");
    on_death->worker = worker;
    on_death->last = &on_death->first;
    on_death->until_ns = INT64_MAX;
    on_death->environment = environment_copy();
    locks_init(on_death);
    if (on_death->environment == NULL || !thread_start(on_death)) {
        all_free(on_death);
        return culex__fail(error, CULEX_ENOMEM, "no thread or memory for on-death");
    }
    worker->on_death = on_death;
    return CULEX_OK;
}

/* Who asks to stop a second time wants it at once. */
static int64_t end_until_ns(const culex_worker *worker)
{
    int64_t asked_ns = atomic_load(&worker->until_ns);
    return asked_ns != 0 ? asked_ns : INT64_MAX;
}

void culex__on_death_end(culex_worker *worker)
{
    struct culex_on_death *on_death = worker->on_death;
    if (on_death == NULL)
        return;
    pthread_mutex_lock(&on_death->lock);
    on_death->is_ending = true;
    pthread_cond_broadcast(&on_death->has_news);
    while (on_death->first != NULL || on_death->is_busy) {
        on_death->until_ns = end_until_ns(worker);
        locked_wait(on_death, LOOK_MS);
    }
    pthread_mutex_unlock(&on_death->lock);
    pthread_join(on_death->thread, NULL);
    dropped_tell(on_death, locked_take_dropped(on_death));
    all_free(on_death);
    worker->on_death = NULL;
}
