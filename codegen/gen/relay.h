/* relay.h - hands what ends this process to a group of others, which no terminal reaches.
 *
 * One at a time, in a process of one thread. */
#ifndef CULEXC_RELAY_H
#define CULEXC_RELAY_H

#include <signal.h>
#include <sys/types.h>

enum { RELAY_SIGNALS = 4 };

struct relay {
    struct sigaction before[RELAY_SIGNALS];
};

/* From now on SIGHUP, SIGINT, SIGQUIT and SIGTERM go to the group before they end this process; one
 * that this process ignores stays ignored. */
void relay_begin(struct relay *relay, pid_t group);

void relay_end(const struct relay *relay);

#endif
