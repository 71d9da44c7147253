#include "console/routes.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { KB = 1024, MB = 1024 * KB };

static const struct route_query run_queries[] = {
    {"queue", "Of this queue; without it of all, in alphabetical order."},
    {"state", "Of these states, with commas: scheduled, waiting, active, done, dead, cancelled."},
    {"job", "Of this job, as send_email or shop.send_email."},
    {"tag", "That have this tag."},
    {"error", "Whose last error has this text in it."},
    {"since", "Enqueued then or later: 2h (ago), or 2026-11-30T09:30:00Z."},
    {"before", "Enqueued before that."},
    {"order", "newest: dead runs alone, or cancelled ones, from the end of each queue."},
    {"limit", "About so many, 1 to 1000; 100 without it."},
    {"cursor", "next_cursor of the answer before, with the same other parameters."},
    {NULL, NULL}};
static const struct route_query tag_queries[] = {
    {"limit", "About so many, 1 to 1000; 100 without it."},
    {"cursor", "next_cursor of the answer before."},
    {NULL, NULL}};
static const struct route_query queue_queries[] = {{"queue", "Of this queue; without it of all."},
                                                   {NULL, NULL}};
static const struct route_query live_queries[] = {{"queue", "Of this queue."}, {NULL, NULL}};
static const struct route_query figure_queries[] = {
    {"hours", "So many hours by the store's clock, this one included: 1 to 48; 2 without it."},
    {NULL, NULL}};
static const struct route_query key_queries[] = {
    {"limit", "At most so many, 1 to 1000; 100 without it."},
    {"cursor", "next_cursor of the answer before."},
    {NULL, NULL}};
static const struct route_query wait_queries[] = {
    {"timeout", "How long to wait, 0s to 60s; 30s without it."}, {NULL, NULL}};
static const struct route_query schema_queries[] = {
    {"fingerprint", "Of this version; without it of the newest."}, {NULL, NULL}};

const struct route routes[] = {
    {"GET", "/", "start", "The page for people", .run = route_start, .is_open = true,
     .client = CLIENT_NONE, .status = 200},
    {"GET", "/page/{file}", "page", "What the page is made of", .run = route_page, .is_open = true,
     .client = CLIENT_NONE, .status = 200},
    {"GET", "/metrics", "metrics", "What Prometheus asks for", .run = route_metrics,
     .roles = ROLE_READ, .client = CLIENT_ITS_OWN, .status = 200},
    {"GET", "/api/v1/openapi.json", "openapi", "This document", .run = route_openapi,
     .is_open = true, .client = CLIENT_NONE, .status = 200},
    {"GET", "/api/v1/health", "health", "Whether the store answers", .run = route_health,
     .roles = ROLE_ANY, .use = POOL_OTHER, .answer = "Health", .status = 200},
    {"GET", "/api/v1/stream", "stream",
     "The figures of all queues, once a second, as server-sent events", .run = route_stream,
     .roles = ROLE_READ, .use = POOL_OTHER, .type = "text/event-stream", .status = 200},
    {"GET", "/api/v1/queues", "queues", "All queues with their counts", .run = route_queues,
     .roles = ROLE_READ, .use = POOL_OTHER, .answer = "Queues", .status = 200},
    {"GET", "/api/v1/queues/{queue}", "queue", "One queue", .run = route_queue, .roles = ROLE_READ,
     .use = POOL_OTHER, .answer = "Queue", .status = 200},
    {"POST", "/api/v1/queues/{queue}/pause", "pauseQueue",
     "Have workers take no more runs of a queue", .run = route_queue_pause, .use = POOL_OTHER,
     .body = "Pause", .answer = "Queue", .status = 200, .body_max = 4 * KB},
    {"POST", "/api/v1/queues/{queue}/resume", "resumeQueue", "Have workers go on with a queue",
     .run = route_queue_resume, .use = POOL_OTHER, .body = "Nothing", .answer = "Queue",
     .status = 200, .body_max = 4 * KB},
    {"POST", "/api/v1/queues/{queue}/bulk", "changeRuns",
     "Retry, delete or cancel many runs of a queue: up to 1000 are looked at in a request",
     .run = route_queue_bulk, .use = POOL_OTHER, .body = "Bulk", .answer = "BulkCounts",
     .status = 200, .body_max = 16 * KB},
    {"GET", "/api/v1/queues/{queue}/figures", "figures",
     "How many attempts ended how, how long runs waited and took: of a queue, and by job",
     .run = route_figures, .roles = ROLE_READ, .use = POOL_OTHER, .answer = "FiguresOfQueue",
     .status = 200, .queries = figure_queries},
    {"GET", "/api/v1/runs", "runs", "Runs, page by page", .run = route_runs, .roles = ROLE_READ,
     .use = POOL_OTHER, .answer = "Runs", .status = 200, .queries = run_queries},
    {"GET", "/api/v1/runs/{queue}/{id}", "run",
     "One run, with its params and result but for what is secret", .run = route_run,
     .roles = ROLE_READ | ROLE_ENQUEUE, .use = POOL_OTHER, .answer = "Run", .status = 200},
    {"GET", "/api/v1/runs/{queue}/{id}/wait", "waitForRun", "Wait until a run has ended",
     .run = route_run_wait, .roles = ROLE_READ | ROLE_ENQUEUE, .use = POOL_WAIT, .answer = "End",
     .status = 200, .queries = wait_queries},
    {"POST", "/api/v1/runs/{queue}/{id}/cancel", "cancelRun",
     "Cancel a run that waits, or ask one at work to stop", .run = route_run_cancel,
     .use = POOL_OTHER, .body = "Nothing", .answer = "RunState", .status = 200, .body_max = 4 * KB},
    {"POST", "/api/v1/runs/{queue}/{id}/retry", "retryRun",
     "Put a dead run back to waiting, with fresh attempts", .run = route_run_retry,
     .use = POOL_OTHER, .body = "Nothing", .answer = "RunState", .status = 200, .body_max = 4 * KB},
    {"POST", "/api/v1/runs/{queue}/{id}/delete", "deleteRun",
     "Forget a run that is done, dead or cancelled", .run = route_run_delete, .use = POOL_OTHER,
     .body = "Nothing", .answer = "RunState", .status = 200, .body_max = 4 * KB},
    {"POST", "/api/v1/jobs", "enqueueMany", "Enqueue up to 1000 runs, each for itself",
     .run = route_enqueue_bulk, .roles = ROLE_ENQUEUE, .use = POOL_ENQUEUE, .body = "NewRuns",
     .answer = "EnqueuedMany", .status = 200, .body_max = 4 * MB},
    {"POST", "/api/v1/jobs/{queue}/{job}", "enqueue",
     "Enqueue a run of a job; 200 where the key or the uniqueness of an earlier one stood in for "
     "it",
     .run = route_enqueue, .roles = ROLE_ENQUEUE, .use = POOL_ENQUEUE, .body = "NewRun",
     .answer = "Enqueued", .status = 201, .other = 200, .body_max = 4 * MB},
    {"POST", "/api/v1/queues/{queue}/claim", "claim",
     "Claim the run whose turn it is, to execute it", .run = route_claim, .roles = ROLE_WORK,
     .use = POOL_WAIT, .is_work = true, .body = "Claim", .answer = "Claimed", .status = 200,
     .body_max = 16 * KB},
    {"POST", "/api/v1/claims/{token}/heartbeat", "claimHeartbeat",
     "Say that a claimed run goes on, and how far it is", .run = route_claim_beat,
     .roles = ROLE_WORK, .use = POOL_OTHER, .is_work = true, .body = "Beat", .answer = "Pulse",
     .status = 200, .body_max = 16 * KB},
    {"POST", "/api/v1/claims/{token}/complete", "claimComplete", "Say that a claimed run is done",
     .run = route_claim_complete, .roles = ROLE_WORK, .use = POOL_OTHER, .is_work = true,
     .body = "Completion", .answer = "Told", .status = 200, .body_max = 4 * MB},
    {"POST", "/api/v1/claims/{token}/fail", "claimFail", "Say that an attempt has failed",
     .run = route_claim_fail, .roles = ROLE_WORK, .use = POOL_OTHER, .is_work = true,
     .body = "Failing", .answer = "Told", .status = 200, .body_max = 16 * KB},
    {"POST", "/api/v1/claims/{token}/release", "claimRelease", "Give a claimed run back, uncharged",
     .run = route_claim_release, .roles = ROLE_WORK, .use = POOL_OTHER, .is_work = true,
     .body = "Release", .answer = "Told", .status = 200, .body_max = 4 * KB},
    {"GET", "/api/v1/schemas", "schemas", "The schemas of jobs that the store has",
     .run = route_schemas, .roles = ROLE_READ | ROLE_ENQUEUE, .use = POOL_OTHER,
     .answer = "Schemas", .status = 200, .queries = queue_queries},
    {"GET", "/api/v1/schemas/{queue}/{job}", "schema", "The text of one schema",
     .run = route_schema, .roles = ROLE_READ | ROLE_ENQUEUE, .use = POOL_OTHER, .status = 200,
     .queries = schema_queries},
    {"GET", "/api/v1/live", "live",
     "How many runs of a queue each version of a schema has encoded: each of them is read, so ask "
     "seldom",
     .run = route_live, .roles = ROLE_READ, .use = POOL_WAIT, .answer = "LiveSchemas",
     .status = 200, .queries = live_queries},
    {"GET", "/api/v1/schedules", "schedules", "The periodic jobs", .run = route_schedules,
     .roles = ROLE_READ, .use = POOL_OTHER, .answer = "Schedules", .status = 200,
     .queries = queue_queries},
    {"POST", "/api/v1/schedules/{queue}/{schedule}/pause", "pauseSchedule",
     "Let the ticks of a periodic job pass without a run", .run = route_schedule_pause,
     .use = POOL_OTHER, .body = "Nothing", .answer = "Schedule", .status = 200, .body_max = 4 * KB},
    {"POST", "/api/v1/schedules/{queue}/{schedule}/resume", "resumeSchedule",
     "Have the ticks of a periodic job bring runs again", .run = route_schedule_resume,
     .use = POOL_OTHER, .body = "Nothing", .answer = "Schedule", .status = 200, .body_max = 4 * KB},
    {"POST", "/api/v1/schedules/{queue}/{schedule}/run", "runSchedule",
     "Enqueue at once what the next tick of a periodic job would; its ticks stay as they are",
     .run = route_schedule_run, .use = POOL_OTHER, .body = "Nothing", .answer = "ScheduleRun",
     .status = 200, .body_max = 4 * KB},
    {"POST", "/api/v1/schedules/{queue}/{schedule}/delete", "deleteSchedule",
     "Forget a periodic job; a worker that has it begins it anew", .run = route_schedule_delete,
     .use = POOL_OTHER, .body = "Nothing", .answer = "ForgottenSchedule", .status = 200,
     .body_max = 4 * KB},
    {"GET", "/api/v1/limits", "limits", "The limits of jobs, and what they hold back",
     .run = route_limits, .roles = ROLE_READ, .use = POOL_OTHER, .answer = "Limits", .status = 200,
     .queries = queue_queries},
    {"GET", "/api/v1/limits/{queue}/{limit}/keys", "limitKeys",
     "The keys that a limit counts apart by, page by page", .run = route_limit_keys,
     .roles = ROLE_READ, .use = POOL_OTHER, .answer = "LimitKeys", .status = 200,
     .queries = key_queries},
    {"POST", "/api/v1/limits/{queue}/{limit}/set", "setLimit",
     "Have other numbers in force of a limit than jobs declare", .run = route_limit_set,
     .use = POOL_OTHER, .body = "NewLimit", .answer = "Limit", .status = 200, .body_max = 4 * KB},
    {"POST", "/api/v1/limits/{queue}/{limit}/reset", "resetLimit",
     "Have in force of a limit what jobs declare", .run = route_limit_reset, .use = POOL_OTHER,
     .body = "Nothing", .answer = "Limit", .status = 200, .body_max = 4 * KB},
    {"GET", "/api/v1/batches/{queue}/{id}", "batch", "What a batch has come to", .run = route_batch,
     .roles = ROLE_READ, .use = POOL_OTHER, .answer = "Batch", .status = 200},
    {"GET", "/api/v1/workers", "workers", "The workers that are alive", .run = route_workers,
     .roles = ROLE_READ, .use = POOL_OTHER, .answer = "Workers", .status = 200},
    {"POST", "/api/v1/workers/{id}/set", "setWorker",
     "Order a worker to claim nothing or to go on, to stop, or to have so many runs at a time: it "
     "obeys within 2.5 s",
     .run = route_worker_set, .use = POOL_OTHER, .body = "WorkerOrder", .answer = "WorkerOrdered",
     .status = 200, .body_max = 4 * KB},
    {"GET", "/api/v1/tags", "tags", "Which tags runs have, by a look at some thousands of them",
     .run = route_tags, .roles = ROLE_READ, .use = POOL_OTHER, .answer = "Tags", .status = 200,
     .queries = queue_queries},
    {"GET", "/api/v1/tags/{tag}", "tag", "The runs that have a tag, page by page", .run = route_tag,
     .roles = ROLE_READ, .use = POOL_OTHER, .answer = "Runs", .status = 200,
     .queries = tag_queries},
    {.path = NULL},
};

bool route_is_change(const struct route *route)
{
    return strcmp(route->method, "GET") != 0;
}

static size_t holes_count(const char *path)
{
    size_t count = 0;
    for (; *path != '\0'; path++)
        count += *path == '{';
    return count;
}

void routes_check(void)
{
    for (const struct route *route = routes; route->path != NULL; route++) {
        bool has_room = holes_count(route->path) <= REQUEST_PARTS;
        bool is_closed = !route->is_open || !route_is_change(route);
        assert(has_room && is_closed);
        (void)has_room;
        (void)is_closed;
    }
}

/* ---- finding one ------------------------------------------------------------------------------
 */

/* The next part of a path, without its slash; NULL at the end. */
static const char *part_next(const char **path, size_t *ret_len)
{
    const char *part = *path;
    if (*part != '/')
        return NULL;
    part++;
    *ret_len = strcspn(part, "/");
    *path = part + *ret_len;
    return part;
}

/* `ret_part` has room for what stands for a part in braces, and is not written for another. */
static bool part_match(const char *template, size_t template_len, const char *part, size_t len,
                       char *ret_part)
{
    if (template[0] != '{')
        return template_len == len && memcmp(template, part, len) == 0;
    if (len == 0 || len >= REQUEST_PART_SIZE)
        return false;
    assert(ret_part != NULL);
    memcpy(ret_part, part, len);
    ret_part[len] = '\0';
    return true;
}

static bool path_match(const struct route *route, struct request *request)
{
    const char *template = route->path, *path = request->path;
    size_t at = 0, template_len, len;
    for (;;) {
        const char *wanted = part_next(&template, &template_len), *part = part_next(&path, &len);
        if (wanted == NULL || part == NULL)
            return wanted == NULL && part == NULL && *path == '\0';
        bool is_hole = wanted[0] == '{';
        assert(!is_hole || at < REQUEST_PARTS);
        if (!part_match(wanted, template_len, part, len, is_hole ? request->parts[at] : NULL))
            return false;
        at += is_hole;
    }
}

const struct route *route_find(struct request *request, char ret_allowed[ROUTE_ALLOWED_SIZE])
{
    const char *method = strcmp(request->method, "HEAD") == 0 ? "GET" : request->method;
    ret_allowed[0] = '\0';
    for (const struct route *route = routes; route->path != NULL; route++) {
        if (!path_match(route, request))
            continue;
        if (strcmp(route->method, method) == 0)
            return route;
        snprintf(ret_allowed, ROUTE_ALLOWED_SIZE, "%s",
                 route_is_change(route) ? route->method : "GET, HEAD");
    }
    return NULL;
}
