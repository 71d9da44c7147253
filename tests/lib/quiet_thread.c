#include "quiet_thread.h"

#include <semaphore.h>
#include <stdlib.h>

struct beginning {
    void *(*main_fn)(void *);
    void *user;
    sem_t has_begun;
};

static void *begin(void *user)
{
    struct beginning *beginning = user;
    struct beginning mine = {.main_fn = beginning->main_fn, .user = beginning->user};
    sem_post(&beginning->has_begun); /* it is gone after this */
    return mine.main_fn(mine.user);
}

void quiet_thread_start(pthread_t *ret_thread, void *(*main_fn)(void *), void *user)
{
    struct beginning beginning = {.main_fn = main_fn, .user = user};
    if (sem_init(&beginning.has_begun, 0, 0) != 0 ||
        pthread_create(ret_thread, NULL, begin, &beginning) != 0)
        abort();
    while (sem_wait(&beginning.has_begun) != 0) {
    }
    sem_destroy(&beginning.has_begun);
}
