#include "worker/tally.h"

#include "worker/worker_private.h"

void culex__tally_reset(culex_worker *worker)
{
    worker->tally = (struct culex_tally){0};
}

void culex__tally_add(culex_worker *worker, enum culex_tally_row row, uint64_t count)
{
    worker->tally.counts[row] += count;
}

static unsigned long long tally_get(const culex_worker *worker, enum culex_tally_row row)
{
    return (unsigned long long)worker->tally.counts[row];
}

void culex__tally_tell(const culex_worker *worker)
{
    culex__log_write(
        &worker->log, CULEX_LOG_INFO, NULL,
        "worker %s ends: %llu done, %llu failed, %llu crashed (%llu dead), "
        "%llu cancelled, %llu expired, %llu given back (%llu not understood), %llu results refused",
        worker->identity.name, tally_get(worker, CULEX_TALLY_DONE),
        tally_get(worker, CULEX_TALLY_FAILED), tally_get(worker, CULEX_TALLY_CRASHED),
        tally_get(worker, CULEX_TALLY_DEAD), tally_get(worker, CULEX_TALLY_CANCELLED),
        tally_get(worker, CULEX_TALLY_EXPIRED), tally_get(worker, CULEX_TALLY_RELEASED),
        tally_get(worker, CULEX_TALLY_NOT_UNDERSTOOD), tally_get(worker, CULEX_TALLY_STALE));
}
