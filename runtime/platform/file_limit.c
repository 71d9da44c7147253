#include "platform/file_limit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <time.h>

static sigset_t excess_only(void)
{
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGXFSZ);
    return only;
}

struct culex_file_limit culex__file_limit_enter(void)
{
    struct rlimit size;
    sigset_t before, only = excess_only();
    if (getrlimit(RLIMIT_FSIZE, &size) != 0 || size.rlim_cur == RLIM_INFINITY)
        return (struct culex_file_limit){false};
    pthread_sigmask(SIG_BLOCK, &only, &before);
    return (struct culex_file_limit){sigismember(&before, SIGXFSZ) == 0};
}

void culex__file_limit_leave(struct culex_file_limit limit)
{
    static const struct timespec at_once = {0, 0};
    sigset_t only = excess_only();
    int error_number = errno;
    if (!limit.is_held)
        return;
    while (sigtimedwait(&only, NULL, &at_once) > 0) {
    }
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    errno = error_number;
}
