#include "worker/beacon.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "platform/descriptor.h"
#include "platform/events.h"
#include "worker/worker_private.h"

enum { ALARM = CULEX_SOURCE_COUNT /* its number in the set */ };

void culex__beacon_init(culex_worker *worker)
{
    atomic_store(&worker->beacon.fd, -1);
    worker->beacon.alarm_fd = -1;
    worker->beacon.alarm_ns = INT64_MAX;
    for (int i = 0; i < CULEX_SOURCE_COUNT; i++)
        worker->beacon.watched[i] = -1;
}

/* The alarm is in no other set, and stays in ours. */
bool culex__beacon_is_whole(const culex_worker *worker)
{
    const struct culex_beacon *beacon = &worker->beacon;
    return beacon->fd >= 0 && culex__watch_change(beacon->fd, beacon->alarm_fd, POLLIN, ALARM);
}

void culex__beacon_lose(culex_worker *worker)
{
    culex__descriptor_forget(worker->beacon.fd);
    atomic_store(&worker->beacon.fd, -1);
    culex__beacon_free(worker);
}

void culex__beacon_free(culex_worker *worker)
{
    if (worker->beacon.fd >= 0 && !culex__beacon_is_whole(worker)) {
        culex__beacon_lose(worker);
        return;
    }
    culex__descriptor_close(worker->beacon.alarm_fd);
    culex__descriptor_close(worker->beacon.fd);
    culex__beacon_init(worker);
}

culex_status culex__beacon_open(culex_worker *worker, culex_error *error)
{
    struct culex_beacon *beacon = &worker->beacon;
    if (culex__beacon_is_whole(worker))
        return CULEX_OK;
    culex__beacon_lose(worker);
    int fd = culex__watch_open();
    beacon->alarm_fd = culex__alarm_open();
    if (fd >= 0 && beacon->alarm_fd >= 0 && culex__watch_add(fd, beacon->alarm_fd, POLLIN, ALARM)) {
        atomic_store(&beacon->fd, fd);
        return CULEX_OK;
    }
    culex__fail(error, CULEX_ENOMEM, "cannot make a descriptor to watch: %s", strerror(errno));
    culex__descriptor_close(fd);
    culex__beacon_free(worker);
    return CULEX_ENOMEM;
}

bool culex__beacon_watch(culex_worker *worker, enum culex_source source, int fd)
{
    struct culex_beacon *beacon = &worker->beacon;
    int before = beacon->watched[source];
    if (beacon->fd < 0 || before == fd)
        return true;
    if (before >= 0)
        culex__watch_remove(beacon->fd, before);
    bool is_watched = fd >= 0 && culex__watch_add(beacon->fd, fd, POLLIN, source);
    beacon->watched[source] = is_watched ? fd : -1;
    return is_watched || fd < 0;
}

/* An alarm that has gone off stays readable until it is set anew. */
void culex__beacon_set_alarm(culex_worker *worker, int64_t at_ns)
{
    struct culex_beacon *beacon = &worker->beacon;
    if (at_ns == beacon->alarm_ns && at_ns > 0)
        return;
    culex__alarm_set(beacon->alarm_fd, at_ns);
    beacon->alarm_ns = at_ns;
}

void culex__beacon_quench(culex_worker *worker)
{
    for (int i = 0; i < CULEX_SOURCE_COUNT; i++)
        culex__beacon_watch(worker, (enum culex_source)i, -1);
    culex__beacon_set_alarm(worker, INT64_MAX);
}

unsigned culex__beacon_take(const culex_worker *worker)
{
    uint64_t about[CULEX_SOURCE_COUNT + 1];
    unsigned news = 0;
    size_t count = culex__watch_take(worker->beacon.fd, about, CULEX_SOURCE_COUNT + 1);
    for (size_t i = 0; i < count; i++)
        news |= about[i] == ALARM ? 0 : 1u << about[i];
    return news;
}
