/* relay.c - hands what ends this process to a group of others. */
#include "relay.h"

#include <assert.h>
#include <stddef.h>

static const int signals[RELAY_SIGNALS] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
static volatile pid_t receiver; /* set while no handler is */

/* The handler is gone by then (SA_RESETHAND), and the signal waits until this returns. */
static void signal_pass(int number)
{
    kill(-receiver, number);
    raise(number);
}

void relay_begin(struct relay *relay, pid_t group)
{
    assert(group > 1); /* kill(-1) would reach every process, kill(0) our own group. */
    struct sigaction action = {.sa_flags = (int)SA_RESETHAND};
    action.sa_handler = signal_pass;
    sigemptyset(&action.sa_mask);
    receiver = group;
    for (size_t i = 0; i < RELAY_SIGNALS; i++) {
        sigaction(signals[i], NULL, &relay->before[i]);
        if (relay->before[i].sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    }
}

void relay_end(const struct relay *relay)
{
    for (size_t i = 0; i < RELAY_SIGNALS; i++)
        sigaction(signals[i], &relay->before[i], NULL);
}
