/* ops/command/parked.c - what holds waiting runs back: limits without room, needs without a worker.
 */
#include "command/parked.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <culex/limits.h>
#include <culex/workers.h>

/* --- what workers offer ------------------------------------------------------------------------
 */

struct offer_search {
    const char *queue, *needs;
    bool is_offered;
};

/* The units of `name` in "gpu:2,tape:1". */
static unsigned long units_of(const char *offers, const char *name, size_t len)
{
    while (*offers != '\0') {
        if (strncmp(offers, name, len) == 0 && offers[len] == ':')
            return strtoul(offers + len + 1, NULL, 10);
        offers += strcspn(offers, ",");
        offers += *offers == ',';
    }
    return 0;
}

static bool is_enough(const char *offers, const char *needs)
{
    while (*needs != '\0') {
        size_t len = strcspn(needs, ":");
        if (needs[len] == '\0' || units_of(offers, needs, len) < strtoul(needs + len + 1, NULL, 10))
            return false;
        needs += strcspn(needs, ",");
        needs += *needs == ',';
    }
    return true;
}

static bool worker_see(const culex_worker_info *worker, void *user)
{
    struct offer_search *search = user;
    bool is_serving = worker->queues_total > worker->queue_count;
    for (size_t i = 0; i < worker->queue_count; i++)
        is_serving |= strcmp(worker->queues[i].name, search->queue) == 0;
    search->is_offered |= is_serving && is_enough(worker->offers, search->needs);
    return true;
}

/* --- limits ------------------------------------------------------------------------------------
 */

struct listing {
    struct ops *ops;
    const char *queue, *job;
    struct ops_parked *parked;
    culex_status status;
    culex_error *error;
};

/* Limits are named JOB:WORD; which job needs something their names do not tell. */
static bool is_of_job(const culex_limit_info *limit, const char *job)
{
    size_t len = job != NULL ? strlen(job) : 0;
    return job == NULL || limit->kind == CULEX_LIMIT_NEEDS ||
           (strncmp(limit->name, job, len) == 0 && limit->name[len] == ':');
}

static void limit_tell(struct ops_parked *parked, const culex_limit_info *limit, const char *more)
{
    size_t len = strlen(parked->text);
    snprintf(parked->text + len, sizeof parked->text - len, "%s%s holds %" PRIu64 "%s",
             len > 0 ? ", " : "", limit->name, limit->parked, more);
}

static void unoffered_add(struct ops_parked *parked, const culex_limit_info *limit)
{
    parked->unoffered += limit->parked;
    if (parked->needs[0] == '\0')
        snprintf(parked->needs, sizeof parked->needs, "%s", limit->name);
}

/* A fair share tells again of those that its job's other limits hold. */
static bool limit_see(const culex_limit_info *limit, void *user)
{
    struct listing *listing = user;
    const char *more = "";
    if (limit->parked == 0 || limit->kind == CULEX_LIMIT_FAIR || !is_of_job(limit, listing->job))
        return true;
    if (limit->kind == CULEX_LIMIT_NEEDS) {
        struct offer_search search = {.queue = listing->queue,
                                      .needs = limit->name + strlen("needs ")};
        listing->status =
            culex_client_workers(listing->ops->client, worker_see, &search, listing->error);
        if (listing->status == CULEX_OK && !search.is_offered) {
            more = " (no worker offers it)";
            unoffered_add(listing->parked, limit);
        }
    }
    listing->parked->count += limit->parked;
    limit_tell(listing->parked, limit, more);
    return listing->status == CULEX_OK;
}

culex_status ops_parked_read(struct ops *ops, const char *queue, const char *job,
                             struct ops_parked *ret_parked, culex_error *error)
{
    struct listing listing = {
        .ops = ops, .queue = queue, .job = job, .parked = ret_parked, .error = error};
    *ret_parked = (struct ops_parked){.count = 0};
    culex_status status = culex_client_limits(ops->client, queue, limit_see, &listing, error);
    return status == CULEX_OK ? listing.status : status;
}
