/* ops/console/enqueue.c - /jobs: new runs, checked by the schemas that the store has. */
#include <stdlib.h>
#include <string.h>

#include "command/given.h"
#include "command/shape.h"
#include "command/trace.h"
#include "command/value.h"
#include "console/body.h"
#include "console/failure.h"
#include "console/routes.h"
#include "console/span.h"
#include "console/trace.h"

/* ---- what stands around the params ------------------------------------------------------------
 */

struct envelope {
    const char *queue, *job, *delay, *at, *key, *traceparent, *tracestate;
    const char *const *tags;
    size_t tags_len;
    int32_t priority;
    bool has_queue, has_job, has_delay, has_at, has_key, has_priority, has_traceparent,
        has_tracestate;
};

#define TEXT(member, in_json)                                                                      \
    {                                                                                              \
        .name = in_json, .wire = in_json, .kind = CULEX_KIND_STRING,                               \
        .flags = CULEX_FIELD_OPTIONAL, .offset = offsetof(struct envelope, member),                \
        .has_offset = offsetof(struct envelope, has_##member)                                      \
    }

enum { TAGS_MAX = 16 };

/* Of one run; of several each has its queue and job besides. "params" is here for its name: what is
 * in it is read by the job's schema. */
static const culex_field fields[] = {
    {.name = "params", .wire = "params", .kind = CULEX_KIND_STRING},
    TEXT(delay, "delay"),
    TEXT(at, "at"),
    TEXT(key, "idempotency_key"),
    TEXT(traceparent, "traceparent"),
    TEXT(tracestate, "tracestate"),
    {.name = "tags",
     .wire = "tags",
     .kind = CULEX_KIND_STRING,
     .shape = CULEX_SHAPE_LIST,
     .offset = offsetof(struct envelope, tags),
     .len_offset = offsetof(struct envelope, tags_len),
     .count = TAGS_MAX},
    {.name = "priority",
     .wire = "priority",
     .kind = CULEX_KIND_INT32,
     .flags = CULEX_FIELD_OPTIONAL | CULEX_FIELD_MIN | CULEX_FIELD_MAX,
     .offset = offsetof(struct envelope, priority),
     .has_offset = offsetof(struct envelope, has_priority),
     .min = 0,
     .max = 9},
    TEXT(queue, "queue"),
    TEXT(job, "job"),
};

enum { FIELDS = sizeof fields / sizeof fields[0], FIELDS_OF_ONE = FIELDS - 2 };

/* ---- one run -----------------------------------------------------------------------------------
 */

struct new_run {
    char queue[OPS_QUEUE_SIZE];
    const struct trace *trace; /* of the request */
    culex_arena *arena;
    struct schema_entry *schema;
    const void *params;
    culex_enqueue_options options;
    culex_status status; /* CULEX_OK: it can go, or has gone */
    culex_error error;
};

static culex_status envelope_read(struct ops_slice object, bool is_one, culex_arena *arena,
                                  const struct envelope **ret_envelope, culex_error *error)
{
    const culex_struct_type named = {"the body", sizeof(struct envelope), fields,
                                     is_one ? FIELDS_OF_ONE : FIELDS};
    const culex_struct_type read = {"the body", sizeof(struct envelope), fields + 1,
                                    named.field_count - 1};
    const void *value;
    culex_status status = ops_given_names(&named, object, error);
    if (status == CULEX_OK)
        status = culex_decode(&read, arena, object.text, object.len, &value, error);
    if (status == CULEX_OK)
        *ret_envelope = value;
    return status;
}

static culex_status times_read(const struct envelope *envelope, culex_enqueue_options *options,
                               culex_error *error)
{
    culex_status status = CULEX_OK;
    options->has_delay = envelope->has_delay;
    options->has_at = envelope->has_at;
    if (envelope->has_delay && envelope->has_at)
        return body_blame(ops_usage(error, "delay and at: one of them"), "at", error);
    if (envelope->has_delay)
        status = span_read(&span_delay, envelope->delay, &options->delay, error);
    if (envelope->has_at)
        status =
            body_blame(ops_value_instant("at", envelope->at, &options->at, error), "at", error);
    return status;
}

/* The header counts for one run, and says the same as the member if both are there. */
static culex_status key_read(const char *header, const struct envelope *envelope,
                             culex_enqueue_options *options, culex_error *error)
{
    options->idempotency_key = envelope->has_key ? envelope->key : header;
    if (header != NULL && header[0] == '\0')
        return body_blame(ops_usage(error, "the header Idempotency-Key is empty"),
                          "idempotency_key", error);
    if (header == NULL || !envelope->has_key || strcmp(header, envelope->key) == 0)
        return CULEX_OK;
    return body_blame(ops_usage(error, "idempotency_key is not that of the header Idempotency-Key"),
                      "idempotency_key", error);
}

/* What a run says of itself counts before the headers, which are of the request. */
static culex_status trace_read(const struct trace *of_request, const struct envelope *envelope,
                               culex_enqueue_options *options, culex_error *error)
{
    options->traceparent = envelope->has_traceparent ? envelope->traceparent : of_request->parent;
    options->tracestate = envelope->has_tracestate    ? envelope->tracestate
                          : envelope->has_traceparent ? NULL
                                                      : of_request->state;
    if (envelope->has_traceparent && !ops_traceparent_is_good(envelope->traceparent))
        return body_blame(ops_usage(error,
                                    "traceparent: expected one as W3C Trace Context has it, "
                                    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
                          "traceparent", error);
    if (envelope->has_tracestate && !envelope->has_traceparent)
        return body_blame(ops_usage(error, "tracestate: it stands beside a traceparent"),
                          "tracestate", error);
    if (envelope->has_tracestate && !trace_state_is_good(envelope->tracestate))
        return body_blame(
            ops_usage(error, "tracestate: at most %d bytes, of printable ASCII", TRACE_STATE_MAX),
            "tracestate", error);
    return CULEX_OK;
}

static culex_status options_make(struct new_run *run, const struct envelope *envelope,
                                 const char *key, culex_error *error)
{
    run->options = culex_enqueue_options_make();
    run->options.queue = run->queue;
    run->options.has_priority = envelope->has_priority;
    run->options.priority = envelope->priority;
    run->options.tags = envelope->tags;
    run->options.tag_count = envelope->tags_len;
    culex_status status = times_read(envelope, &run->options, error);
    if (status == CULEX_OK)
        status = trace_read(run->trace, envelope, &run->options, error);
    return status == CULEX_OK ? key_read(key, envelope, &run->options, error) : status;
}

static culex_status queue_take(struct new_run *run, const char *queue, culex_error *error)
{
    return body_blame(ops_value_queue("queue", queue, run->queue, error), "queue", error);
}

/* A job that nothing knows is not found, whatever the command calls it. */
static culex_status schema_take(struct request *request, struct new_run *run, const char *job,
                                culex_error *error)
{
    request->ops.options.queue = run->queue;
    culex_status status =
        schema_cache_take(request->console->schemas, &request->ops, job, &run->schema, error);
    if (status == CULEX_OK && culex_schema_is_retired(run->schema->schema.schema))
        return ops_fail(error, CULEX_ESTATE,
                        "the job %.100s is retired: its workers end each run of it dead, and none "
                        "is enqueued",
                        job);
    return status == CULEX_EUSAGE ? CULEX_ENOTFOUND : status;
}

static culex_status params_take(struct new_run *run, struct ops_slice object, culex_error *error)
{
    struct ops_slice params = {"{}", 2};
    culex_status status = body_member_of(object, "params", &params, error);
    return status == CULEX_OK ? ops_given_object(run->schema->schema.type->params, "params", params,
                                                 run->arena, &run->params, error)
                              : status;
}

static void new_run_free(struct request *request, struct new_run *run)
{
    if (run->schema != NULL)
        schema_cache_give(request->console->schemas, run->schema);
    culex_arena_free(run->arena);
}

/* ---- /jobs/{queue}/{job} -----------------------------------------------------------------------
 */

static culex_status one_read(struct request *request, struct ops_slice object, struct new_run *run,
                             culex_error *error)
{
    const struct envelope *envelope = NULL;
    culex_status status = queue_take(run, request->parts[0], error);
    if (status == CULEX_OK)
        status = schema_take(request, run, request->parts[1], error);
    if (status == CULEX_OK)
        status = envelope_read(object, true, run->arena, &envelope, error);
    if (status == CULEX_OK)
        status = options_make(run, envelope, request_header(request, "Idempotency-Key"), error);
    return status == CULEX_OK ? params_take(run, object, error) : status;
}

static culex_status one_enqueue(struct request *request, struct new_run *run, culex_error *error)
{
    culex_uuid id;
    culex_enqueue_outcome outcome = CULEX_ENQUEUE_NEW;
    const culex_job_type *type = run->schema->schema.type;
    run->options.ret_outcomes = &outcome;
    culex_status status =
        culex_client_enqueue(request->ops.client, type, run->params, &run->options, &id, error);
    run->options.ret_outcomes = NULL;
    if (status != CULEX_OK)
        return status;
    ops_enqueued_json(&request->json, id, run->queue, type->wire, outcome);
    ops_json_line_end(&request->json);
    culex_uuid_format(id, request->audited);
    request->status = outcome == CULEX_ENQUEUE_NEW ? request->route->status : request->route->other;
    return CULEX_OK;
}

culex_status route_enqueue(struct request *request, culex_error *error)
{
    struct trace trace;
    struct new_run run = {.trace = &trace, .arena = culex_arena_create()};
    trace_of_headers(request, &trace);
    culex_status status = one_read(request, body_slice(request), &run, error);
    if (status == CULEX_OK)
        status = one_enqueue(request, &run, error);
    new_run_free(request, &run);
    return status;
}

/* ---- /jobs -------------------------------------------------------------------------------------
 */

enum { BULK_MAX = 1000, GROUP_MAX = 200 };

struct bulk {
    struct new_run *runs;      /* owned */
    culex_enqueue_item *items; /* owned; of each run one, in their order */
    size_t count, enqueued;
    struct trace trace; /* of those that have none of their own */
};

static culex_status item_read(struct request *request, struct ops_slice object, struct new_run *run,
                              culex_error *error)
{
    const struct envelope *envelope = NULL;
    culex_status status = envelope_read(object, false, run->arena, &envelope, error);
    if (status == CULEX_OK && (!envelope->has_queue || !envelope->has_job))
        status = body_blame(ops_usage(error, "each run names its queue and its job"),
                            envelope->has_queue ? "job" : "queue", error);
    if (status == CULEX_OK)
        status = queue_take(run, envelope->queue, error);
    if (status == CULEX_OK)
        status = schema_take(request, run, envelope->job, error);
    if (status == CULEX_OK)
        status = options_make(run, envelope, NULL, error);
    return status == CULEX_OK ? params_take(run, object, error) : status;
}

static void bulk_add(struct request *request, struct ops_slice object, struct bulk *bulk)
{
    struct new_run *run = &bulk->runs[bulk->count];
    *run = (struct new_run){.trace = &bulk->trace, .arena = culex_arena_create()};
    run->status = item_read(request, object, run, &run->error);
    bulk->count++;
}

/* The items of the list, of which all is there and nothing else. */
static culex_status bulk_read(struct request *request, struct bulk *bulk, culex_error *error)
{
    struct ops_scan scan;
    struct ops_slice name, item;
    const struct ops_slice body = body_slice(request);
    if (!ops_scan_begin(body, &scan) || scan.is_object)
        return ops_usage(error,
                         "expected a list, as [{\"queue\":...,\"job\":...,\"params\":{...}}]");
    while (ops_scan_next(&scan, &name, &item)) {
        if (bulk->count == BULK_MAX)
            return ops_fail(error, CULEX_ELIMIT, "more than %d runs: send them in parts", BULK_MAX);
        bulk_add(request, item, bulk);
    }
    return ops_scan_is_over(&scan)
               ? CULEX_OK
               : ops_usage(error, "the list is damaged behind its item %zu", bulk->count);
}

/* Those that came together; the others each for itself, so that one does not stand for all. */
static void group_enqueue(struct request *request, struct bulk *bulk, const size_t *of,
                          culex_enqueue_item *items, size_t count)
{
    culex_error error = {.code = CULEX_OK};
    culex_status status = culex_client_enqueue_all(request->ops.client, items, count, &error);
    for (size_t i = 0; i < count; i++) {
        struct new_run *run = &bulk->runs[of[i]];
        culex_enqueue_item *item = &items[i];
        run->error = error;
        run->status = item->is_enqueued ? CULEX_OK : status;
        if (!item->is_enqueued && !item->is_unknown && status != CULEX_OK && count > 1 &&
            status != CULEX_ECONNECT && status != CULEX_EUNKNOWN && status != CULEX_EBUSY)
            run->status = culex_client_enqueue_all(request->ops.client, item, 1, &run->error);
        bulk->items[of[i]] = *item;
        bulk->enqueued += run->status == CULEX_OK;
    }
}

static void bulk_enqueue(struct request *request, struct bulk *bulk)
{
    culex_enqueue_item items[GROUP_MAX];
    size_t of[GROUP_MAX], count = 0;
    for (size_t i = 0; i < bulk->count; i++) {
        struct new_run *run = &bulk->runs[i];
        if (run->status == CULEX_OK) {
            of[count] = i;
            items[count++] =
                culex_enqueue_item_make(run->schema->schema.type, run->params, &run->options);
        }
        if (count > 0 && (count == GROUP_MAX || i + 1 == bulk->count)) {
            group_enqueue(request, bulk, of, items, count);
            count = 0;
        }
    }
}

static void result_tell(struct ops_json *json, const struct new_run *run,
                        const culex_enqueue_item *item)
{
    if (run->status == CULEX_OK) {
        ops_enqueued_json(json, item->id, run->queue, item->type->wire, item->outcome);
        return;
    }
    const struct failure failure = failure_of(run->status, &run->error);
    ops_json_object(json, NULL);
    failure_json(json, &failure);
    ops_json_object_end(json);
}

static void results_tell(struct request *request, const struct bulk *bulk)
{
    struct ops_json *json = &request->json;
    ops_json_object(json, NULL);
    ops_json_count(json, "enqueued", bulk->enqueued);
    ops_json_count(json, "failed", bulk->count - bulk->enqueued);
    ops_json_array(json, "results");
    for (size_t i = 0; i < bulk->count; i++)
        result_tell(json, &bulk->runs[i], &bulk->items[i]);
    ops_json_array_end(json);
    ops_json_object_end(json);
    ops_json_line_end(json);
    snprintf(request->audited, sizeof request->audited, "%zu of %zu", bulk->enqueued, bulk->count);
}

culex_status route_enqueue_bulk(struct request *request, culex_error *error)
{
    if (request_header(request, "Idempotency-Key") != NULL)
        return body_blame(ops_usage(error, "the header Idempotency-Key is of one run: give each "
                                           "of several its idempotency_key"),
                          "idempotency_key", error);
    struct bulk bulk = {.runs = ops_alloc(NULL, BULK_MAX * sizeof *bulk.runs),
                        .items = ops_alloc(NULL, BULK_MAX * sizeof *bulk.items)};
    trace_of_headers(request, &bulk.trace);
    culex_status status = bulk_read(request, &bulk, error);
    if (status == CULEX_OK) {
        bulk_enqueue(request, &bulk);
        results_tell(request, &bulk);
    }
    for (size_t i = 0; i < bulk.count; i++)
        new_run_free(request, &bulk.runs[i]);
    free(bulk.items);
    free(bulk.runs);
    return status;
}
