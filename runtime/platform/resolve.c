/* platform/resolve.c - a question to the resolver, and the thread that waits for its answer. */
#include "platform/resolve.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/uptime.h"
#include "platform/clock.h"

/* How often one who waits for the thread of another looks again. */
enum { TURN_MS = 5 };

/* Belongs to whoever asks until the question is abandoned, then to the thread. */
struct question {
    pthread_mutex_t lock;
    pthread_cond_t is_over;
    bool is_answered, is_abandoned;
    int failure; /* of getaddrinfo, and errno with EAI_SYSTEM */
    int reason;
    struct addrinfo *found;
    char service[16];
    char host[];
};

/* The process whose thread is at work, else 0. A forked child finds its parent's number here, which
 * means nothing to it; a lock might have been held at the time of the fork. */
static atomic_int asking;

/* How long to wait at once; 0: the deadline is over. */
static int wait_ms(const struct culex_deadline *deadline)
{
    return culex__deadline_wait_ms(deadline, culex__clock_boottime_ns());
}

static bool turn_take(const struct culex_deadline *deadline)
{
    int me = (int)getpid();
    for (;;) {
        int other = atomic_load(&asking);
        if (other != me && atomic_compare_exchange_strong(&asking, &other, me))
            return true;
        if (wait_ms(deadline) == 0)
            return false;
        poll(NULL, 0, TURN_MS);
    }
}

static struct question *question_make(const char *host, int port)
{
    size_t size = strlen(host) + 1;
    struct question *question = calloc(1, sizeof *question + size);
    if (question == NULL)
        return NULL;
    memcpy(question->host, host, size);
    snprintf(question->service, sizeof question->service, "%d", port);
    pthread_mutex_init(&question->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&question->is_over, &attributes);
    pthread_condattr_destroy(&attributes);
    return question;
}

static void question_free(struct question *question)
{
    if (question->found != NULL)
        freeaddrinfo(question->found);
    pthread_cond_destroy(&question->is_over);
    pthread_mutex_destroy(&question->lock);
    free(question);
}

static int look_up(const char *host, const char *service, int flags, struct addrinfo **ret_found)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags};
    *ret_found = NULL;
    return getaddrinfo(host, service, &hints, ret_found);
}

static void *question_ask(void *argument)
{
    struct question *question = argument;
    struct addrinfo *found;
    int failure = look_up(question->host, question->service, 0, &found), reason = errno;
    atomic_store(&asking, 0);
    pthread_mutex_lock(&question->lock);
    question->found = found;
    question->failure = failure;
    question->reason = reason;
    question->is_answered = true;
    bool is_ours = question->is_abandoned;
    pthread_cond_signal(&question->is_over);
    pthread_mutex_unlock(&question->lock);
    if (is_ours)
        question_free(question);
    return NULL;
}

/* Signals are for the program's threads. 0 or an errno. */
static int thread_start(struct question *question)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&thread, &attributes, question_ask, question);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failure;
}

/* Whether the answer came in time; the question is the thread's otherwise. */
static bool question_wait(struct question *question, const struct culex_deadline *deadline)
{
    pthread_mutex_lock(&question->lock);
    for (int ms; !question->is_answered && (ms = wait_ms(deadline)) > 0;) {
        struct timespec until = culex__uptime_after(ms);
        pthread_cond_timedwait(&question->is_over, &question->lock, &until);
    }
    bool is_answered = question->is_answered;
    question->is_abandoned = !is_answered;
    pthread_mutex_unlock(&question->lock);
    return is_answered;
}

static culex_status fail(const char *host, const char *reason, culex_error *error)
{
    return culex__fail(error, CULEX_ECONNECT, "cannot resolve host '%s': %s", host, reason);
}

static culex_status answer_take(struct question *question, struct addrinfo **ret_found,
                                culex_error *error)
{
    *ret_found = question->found;
    question->found = NULL;
    if (question->failure == EAI_SYSTEM)
        return fail(question->host, strerror(question->reason), error);
    if (question->failure != 0)
        return fail(question->host, gai_strerror(question->failure), error);
    return CULEX_OK;
}

static culex_status resolve_name(const char *host, int port, const struct culex_deadline *deadline,
                                 struct addrinfo **ret_found, culex_error *error)
{
    if (!turn_take(deadline))
        return fail(host, "the resolver still has not answered the question before", error);
    struct question *question = question_make(host, port);
    int failure = question == NULL ? ENOMEM : thread_start(question);
    if (failure != 0) {
        atomic_store(&asking, 0);
        if (question != NULL)
            question_free(question);
        return fail(host, strerror(failure), error);
    }
    if (!question_wait(question, deadline))
        return fail(host, "the resolver has not answered in time", error);
    culex_status status = answer_take(question, ret_found, error);
    question_free(question);
    return status;
}

culex_status culex__resolve(const char *host, int port, const struct culex_deadline *deadline,
                            struct addrinfo **ret_found, culex_error *error)
{
    char service[16];
    snprintf(service, sizeof service, "%d", port);
    if (look_up(host, service, AI_NUMERICHOST, ret_found) == 0)
        return CULEX_OK;
    return resolve_name(host, port, deadline, ret_found, error);
}
