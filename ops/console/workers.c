/* ops/console/workers.c - /workers/{id}/set: an order to a worker. */
#include <string.h>

#include <culex/workers.h>

#include "console/body.h"
#include "console/routes.h"

struct wanted {
    int32_t concurrency;
    bool quiet, stop;
    bool has_concurrency, has_quiet, has_stop;
};

#define MEMBER(member, its_kind)                                                                   \
    .name = #member, .wire = #member, .kind = (its_kind), .flags = CULEX_FIELD_OPTIONAL,           \
    .offset = offsetof(struct wanted, member), .has_offset = offsetof(struct wanted, has_##member)

static const culex_field wanted_fields[] = {
    {MEMBER(quiet, CULEX_KIND_BOOL)},
    {MEMBER(stop, CULEX_KIND_BOOL)},
    {.name = "concurrency",
     .wire = "concurrency",
     .kind = CULEX_KIND_INT32,
     .flags = CULEX_FIELD_OPTIONAL | CULEX_FIELD_MIN | CULEX_FIELD_MAX,
     .offset = offsetof(struct wanted, concurrency),
     .has_offset = offsetof(struct wanted, has_concurrency),
     .min = 1,
     .max = CULEX_WORKER_CONCURRENCY_MAX},
};
static const culex_struct_type wanted_type = {"the body", sizeof(struct wanted), wanted_fields,
                                              sizeof wanted_fields / sizeof wanted_fields[0]};

static culex_status wanted_check(const struct wanted *wanted, culex_error *error)
{
    if (wanted->has_stop && !wanted->stop)
        return body_blame(ops_usage(error, "stop: true, or left out: no worker takes back that it "
                                           "ends"),
                          "stop", error);
    if (!wanted->has_quiet && !wanted->has_stop && !wanted->has_concurrency)
        return ops_usage(error, "an order of nothing: give one or more of quiet, stop and "
                                "concurrency, as {\"quiet\":true}");
    return CULEX_OK;
}

static culex_status order_read(struct request *request, culex_worker_order *ret_order,
                               culex_error *error)
{
    culex_arena *arena = culex_arena_create();
    const void *value;
    culex_status status = body_decode(request, &wanted_type, arena, &value, error);
    const struct wanted *wanted = value;
    if (status == CULEX_OK)
        status = wanted_check(wanted, error);
    if (status == CULEX_OK) {
        *ret_order = (culex_worker_order){.quiet = CULEX_SWITCH_KEEP, .stop = wanted->has_stop};
        if (wanted->has_quiet)
            ret_order->quiet = wanted->quiet ? CULEX_SWITCH_ON : CULEX_SWITCH_OFF;
        if (wanted->has_concurrency)
            ret_order->concurrency = (unsigned)wanted->concurrency;
    }
    culex_arena_free(arena);
    return status;
}

/* Quiet, stop and concurrency, those that are ordered; `json` is within an object. */
static void order_json(struct ops_json *json, const culex_worker_order *order)
{
    if (order->quiet != CULEX_SWITCH_KEEP)
        ops_json_bool(json, "quiet", order->quiet == CULEX_SWITCH_ON);
    if (order->stop)
        ops_json_bool(json, "stop", true);
    if (order->concurrency > 0)
        ops_json_count(json, "concurrency", order->concurrency);
}

static void order_audit(struct request *request, const culex_worker_order *order)
{
    static const char *const quiets[] = {
        [CULEX_SWITCH_KEEP] = "", [CULEX_SWITCH_ON] = ", quiet", [CULEX_SWITCH_OFF] = ", go"};
    char text[64], concurrency[32] = "";
    if (order->concurrency > 0)
        snprintf(concurrency, sizeof concurrency, ", concurrency %u", order->concurrency);
    snprintf(text, sizeof text, "%s%s%s", quiets[order->quiet], order->stop ? ", stop" : "",
             concurrency);
    request->audited_as = "order";
    snprintf(request->audited, sizeof request->audited, "%s", text + strlen(", "));
}

struct search {
    const char *id;
    bool is_there;
};

static bool worker_see(const culex_worker_info *worker, void *user)
{
    struct search *search = user;
    search->is_there = strcmp(worker->id, search->id) == 0;
    return !search->is_there;
}

/* What is no id at all, as a name, is one that nobody has. */
static culex_status worker_blame(struct request *request, culex_status status, culex_error *error)
{
    culex_error told = *error;
    struct search search = {.id = request->parts[0]};
    if (status != CULEX_EINVAL && status != CULEX_ENOTFOUND)
        return status;
    culex_status listed = culex_client_workers(request->ops.client, worker_see, &search, error);
    if (listed != CULEX_OK)
        return listed;
    if (!search.is_there)
        return ops_fail(error, CULEX_ENOTFOUND,
                        "there is no worker %s: GET workers lists those that are alive, with the "
                        "ids that orders take",
                        search.id);
    *error = told;
    return status == CULEX_EINVAL ? body_blame(status, "concurrency", error) : status;
}

culex_status route_worker_set(struct request *request, culex_error *error)
{
    culex_worker_order order;
    const char *id = request->parts[0];
    culex_status status = order_read(request, &order, error);
    if (status != CULEX_OK)
        return status;
    order_audit(request, &order);
    status = culex_client_worker_set(request->ops.client, id, &order, NULL, error);
    if (status != CULEX_OK)
        return worker_blame(request, status, error);
    ops_json_object(&request->json, NULL);
    ops_json_text(&request->json, "worker", id);
    order_json(&request->json, &order);
    ops_json_object_end(&request->json);
    ops_json_line_end(&request->json);
    return CULEX_OK;
}
