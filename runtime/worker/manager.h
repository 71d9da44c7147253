/* worker/manager.h - what the service manager that started the program is told: that it is ready,
 * what it does, that it reads its options again, that it stops, and that its loop still turns.
 *
 * As sd_notify(3) and sd_watchdog_enabled(3) of systemd have it; others speak the same. A manager
 * that is not there, or does not listen, changes nothing. A worker is ready once it has asked for
 * its store, also when that was in vain: it goes on asking, says so, and is not to be ended for it.
 */
#ifndef CULEX_WORKER_MANAGER_H
#define CULEX_WORKER_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#include <culex/worker.h>

struct culex_manager {
    char address[109];   /* "": nobody is told */
    int64_t watchdog_ns; /* the loop tells so often that it turns; 0: nobody asks */
    int64_t beat_ns;     /* when it tells so next */
    bool is_ready_told, is_stop_told;
    char status[160]; /* told last */
};

/* What the manager has put into the environment, each NULL when it has not: NOTIFY_SOCKET,
 * WATCHDOG_USEC and WATCHDOG_PID. What makes no sense is worth a line of the log, and is ignored.
 * Before culex_worker_run. */
void culex__manager_set(culex_worker *worker, const char *address, const char *watchdog_us,
                        const char *watchdog_pid);

/* Before and after options are read again. */
void culex__manager_reload_begin(culex_worker *worker);
void culex__manager_reload_end(culex_worker *worker);

/* After each turn of the loop. */
void culex__manager_turn(culex_worker *worker, int64_t now_ns);

/* Boot time at which the turn has something to tell by itself; INT64_MAX: never. */
int64_t culex__manager_next_ns(const culex_worker *worker);

#endif
