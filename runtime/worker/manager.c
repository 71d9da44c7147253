#include "worker/manager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/notify.h"
#include "worker/worker_private.h"

/* A manager that waits for less would end a worker for one slow call of its store. */
enum { WATCHDOG_LEAST_US = 1000 };

/* --- what it asks for ------------------------------------------------------------------------ */

static bool number_read(const char *text, int64_t *ret_number)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
        return false;
    *ret_number = number;
    return true;
}

/* Twice in the time after which the manager takes the worker for stuck. */
static void watchdog_read(culex_worker *worker, const char *every, const char *pid)
{
    int64_t us, owner = worker->owner;
    if (every == NULL)
        return;
    if ((pid != NULL && !number_read(pid, &owner)) || !number_read(every, &us) ||
        us < WATCHDOG_LEAST_US || us > INT64_MAX / 1000) {
        culex__log_write(&worker->log, CULEX_LOG_WARNING, NULL,
                         "WATCHDOG_USEC and WATCHDOG_PID make no sense: the service manager is not "
                         "told that this worker is alive");
        return;
    }
    if (owner == worker->owner) /* else it is meant for somebody who started us */
        worker->manager.watchdog_ns = us * 1000 / 2;
}

void culex__manager_set(culex_worker *worker, const char *address, const char *watchdog_us,
                        const char *watchdog_pid)
{
    struct culex_manager *manager = &worker->manager;
    if (address == NULL || address[0] == '\0')
        return;
    if (!culex__notify_takes(address)) {
        culex__log_write(&worker->log, CULEX_LOG_WARNING, NULL,
                         "NOTIFY_SOCKET is no path and no @name: the service manager is told "
                         "nothing");
        return;
    }
    snprintf(manager->address, sizeof manager->address, "%s", address);
    watchdog_read(worker, watchdog_us, watchdog_pid);
}

/* --- what it is told ------------------------------------------------------------------------- */

/* A manager that is gone is no matter of the work: there is no other way to tell it. */
static void tell(const struct culex_manager *manager, const char *text)
{
    if (manager->address[0] != '\0')
        (void)culex__notify_send(manager->address, text);
}

static void status_write(const culex_worker *worker, char *ret_text, size_t size)
{
    if (worker->phases.current != CULEX_WORKER_RUNNING)
        snprintf(ret_text, size, "stopping: claims nothing more");
    else if (worker->store == NULL || worker->outage.is_on)
        snprintf(ret_text, size, "the store is in trouble, trying again");
    else if (worker->presence.is_quiet)
        snprintf(ret_text, size, "quiet: claims nothing, as an operator asked");
    else
        snprintf(ret_text, size, "serves %zu queue%s", worker->lane_count,
                 worker->lane_count == 1 ? "" : "s");
}

static void status_tell(culex_worker *worker)
{
    struct culex_manager *manager = &worker->manager;
    char text[sizeof manager->status], line[sizeof manager->status + 8];
    status_write(worker, text, sizeof text);
    if (strcmp(text, manager->status) == 0)
        return;
    strcpy(manager->status, text);
    snprintf(line, sizeof line, "STATUS=%s", text);
    tell(manager, line);
}

static void once_tell(const struct culex_manager *manager, bool *is_told, const char *text)
{
    if (!*is_told)
        tell(manager, text);
    *is_told = true;
}

void culex__manager_turn(culex_worker *worker, int64_t now_ns)
{
    struct culex_manager *manager = &worker->manager;
    if (manager->address[0] == '\0')
        return;
    once_tell(manager, &manager->is_ready_told, "READY=1");
    if (worker->phases.current != CULEX_WORKER_RUNNING)
        once_tell(manager, &manager->is_stop_told, "STOPPING=1");
    status_tell(worker);
    if (manager->watchdog_ns == 0 || now_ns < manager->beat_ns)
        return;
    tell(manager, "WATCHDOG=1");
    manager->beat_ns = now_ns + manager->watchdog_ns;
}

int64_t culex__manager_next_ns(const culex_worker *worker)
{
    return worker->manager.watchdog_ns > 0 ? worker->manager.beat_ns : INT64_MAX;
}

void culex__manager_reload_begin(culex_worker *worker)
{
    if (worker->manager.address[0] != '\0')
        (void)culex__notify_send_reloading(worker->manager.address);
}

void culex__manager_reload_end(culex_worker *worker)
{
    tell(&worker->manager, "READY=1");
}
