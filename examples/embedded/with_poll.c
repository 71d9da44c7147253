/* with_poll.c - a worker beside other work in a loop of poll(2): with_poll, then lines on standard
 * input, each of which is said louder; SIGINT and SIGTERM end it. */
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "shout.h"

static struct shout shout;

static void stop(int number)
{
    (void)number;
    culex_worker_stop(shout.worker); /* which makes its descriptor readable */
}

static void signals_catch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = stop;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void loop(void)
{
    struct pollfd fds[] = {{.fd = culex_worker_fd(shout.worker), .events = POLLIN},
                           {.fd = 0, .events = POLLIN}};
    for (;;) {
        if (poll(fds, 2, -1) <= 0)
            continue; /* a signal: its handler has made the first one readable */
        if (fds[0].revents != 0 && !shout_work(&shout))
            return;
        if (fds[1].revents != 0 && !shout_read(&shout))
            fds[1].fd = -1;
    }
}

int main(void)
{
    bool has_begun = shout_begin(&shout);
    signals_catch();
    if (has_begun)
        loop();
    shout_end(&shout);
    return shout.failures > 0 ? 1 : 0;
}
