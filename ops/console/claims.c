/* ops/console/claims.c - /queues/{queue}/claim and /claims/{token}: the worker's side, for workers
 * that are no programs of Culex. What a claim is, culex/claims.h says. */
#include <stdlib.h>
#include <string.h>

#include <culex/claims.h>

#include "console/body.h"
#include "console/routes.h"
#include "console/span.h"
#include "console/trace.h"

enum { WAIT_MAX_S = 60, JOBS_MAX = 64, SEALED_S = 5 };

/* ---- what is sent -----------------------------------------------------------------------------
 */

struct order {
    const char *lease, *wait, *offers, *progress_text, *text, *delay;
    const char *const *jobs;
    size_t jobs_len;
    int32_t progress;
    bool is_final;
    bool has_lease, has_wait, has_offers, has_progress_text, has_text, has_delay, has_progress,
        has_is_final;
};

#define OF(member, in_json, its_kind)                                                              \
    {                                                                                              \
        .name = in_json, .wire = in_json, .kind = its_kind, .flags = CULEX_FIELD_OPTIONAL,         \
        .offset = offsetof(struct order, member),                                                  \
        .has_offset = offsetof(struct order, has_##member)                                         \
    }
#define TYPE(fields)                                                                               \
    {                                                                                              \
        "the body", sizeof(struct order), fields, sizeof(fields) / sizeof(fields)[0]               \
    }

static const culex_field claim_fields[] = {
    OF(lease, "lease", CULEX_KIND_STRING),
    OF(wait, "wait", CULEX_KIND_STRING),
    OF(offers, "offers", CULEX_KIND_STRING),
    {.name = "jobs",
     .wire = "jobs",
     .kind = CULEX_KIND_STRING,
     .shape = CULEX_SHAPE_LIST,
     .offset = offsetof(struct order, jobs),
     .len_offset = offsetof(struct order, jobs_len),
     .count = JOBS_MAX},
};
static const culex_field beat_fields[] = {
    OF(lease, "lease", CULEX_KIND_STRING),
    OF(progress, "progress", CULEX_KIND_INT32),
    OF(progress_text, "progress_text", CULEX_KIND_STRING),
};
static const culex_field fail_fields[] = {
    OF(text, "error", CULEX_KIND_STRING),
    OF(is_final, "final", CULEX_KIND_BOOL),
    OF(delay, "delay", CULEX_KIND_STRING),
};
static const culex_field release_fields[] = {OF(delay, "delay", CULEX_KIND_STRING)};
/* "result" is here for its name: what is in it is read by the job's schema. */
static const culex_field complete_fields[] = {OF(text, "result", CULEX_KIND_STRING)};

static const culex_struct_type claim_type = TYPE(claim_fields), beat_type = TYPE(beat_fields),
                               fail_type = TYPE(fail_fields), release_type = TYPE(release_fields),
                               complete_type = TYPE(complete_fields);

/* A time that may be left out: then it is 0. */
static culex_status time_read(const struct span *span, const char *text, bool is_there,
                              culex_duration *ret_time, culex_error *error)
{
    *ret_time = 0;
    return is_there ? span_read(span, text, ret_time, error) : CULEX_OK;
}

/* ---- a claim ----------------------------------------------------------------------------------
 */

/* By the run's schema, with the defaults of what the payload lacks; as it is stored where the queue
 * does not keep that schema. */
static void params_tell(struct ops_json *json, const culex_claim *claim,
                        const struct ops_slice *params)
{
    struct ops_scan scan;
    const struct ops_slice payload = {(const char *)claim->payload.data, claim->payload.len};
    bool is_typed = params->text != NULL;
    if (is_typed)
        ops_json_raw(json, "params", params->text, params->len);
    else if (ops_scan_begin(payload, &scan) && scan.is_object)
        ops_json_raw(json, "params", payload.text, payload.len);
    ops_json_bool(json, "is_by_schema", is_typed);
}

static void claim_tell(struct request *request, const culex_claim *claim,
                       const struct ops_slice *params)
{
    struct ops_json *json = &request->json;
    ops_json_object(json, "claim");
    ops_json_text(json, "token", claim->token);
    ops_json_id(json, "id", claim->id);
    ops_json_text(json, "queue", claim->queue);
    ops_json_text(json, "job", claim->job);
    ops_json_count(json, "attempt", claim->attempt);
    ops_json_count(json, "attempts_max", claim->attempts_max);
    ops_json_count(json, "failures", claim->failures);
    ops_json_count(json, "crashes", claim->crashes);
    ops_json_count(json, "losses", claim->losses);
    ops_json_int(json, "created_ms", claim->created_ms);
    ops_json_int(json, "claimed_ms", claim->claimed_ms);
    ops_json_int(json, "lease_ends_ms", claim->lease_ends_ms);
    if (claim->times_out_ms != 0)
        ops_json_int(json, "times_out_ms", claim->times_out_ms);
    trace_json(json, claim->payload);
    params_tell(json, claim, params);
    ops_json_object_end(json);
}

/* A second at a time, as a wait for an end. Of a run that comes when nobody listens any more nobody
 * would know: it goes back. */
static culex_status claim_wait(struct request *request, culex_claim_options *options,
                               culex_claim **ret_claim, culex_error *error)
{
    culex_duration left = options->wait;
    culex_client *client = request->ops.client;
    culex_status status;
    bool is_deserted;
    do {
        options->wait = left < CULEX_SECOND ? left : CULEX_SECOND;
        status = culex_client_claim(client, request->parts[0], options, ret_claim, error);
        left -= options->wait;
        is_deserted = request_is_deserted(request);
    } while (status == CULEX_OK && *ret_claim == NULL && left > 0 && !is_deserted &&
             !atomic_load(&request->console->is_ending));
    if (status != CULEX_OK || *ret_claim == NULL || !is_deserted)
        return status;
    status = culex_claim_release(client, (*ret_claim)->token, 0, error);
    culex_claim_free(*ret_claim);
    *ret_claim = NULL;
    return status;
}

static const struct span wait_span = {"wait", 0, WAIT_MAX_S *CULEX_SECOND,
                                      "at most 60s; ask again when it is over"};

static culex_status claim_options_read(const struct order *order, culex_claim_options *ret_options,
                                       culex_error *error)
{
    *ret_options = (culex_claim_options){
        .jobs = order->jobs_len > 0 ? order->jobs : NULL,
        .job_count = order->jobs_len,
        .offers = order->has_offers ? order->offers : NULL,
    };
    culex_status status =
        time_read(&span_lease, order->lease, order->has_lease, &ret_options->lease, error);
    return status == CULEX_OK
               ? time_read(&wait_span, order->wait, order->has_wait, &ret_options->wait, error)
               : status;
}

/* The payload is all that is known: culex/claims.h. */
static bool schema_is_lacking(culex_status status)
{
    return status == CULEX_ENOTFOUND || status == CULEX_EDECODE || status == CULEX_EUNDERSTAND;
}

/* There are keys, but no cipher in this program; or no keys. */
static bool is_sealed(culex_status status)
{
    return status == CULEX_ENOKEY || status == CULEX_EUNSUPPORTED;
}

/* A run whose params cannot be told goes back: it would be executed by others. What nobody
 * here can open waits a while, so that a program that has the keys gets it. */
static culex_status claim_return(struct request *request, const culex_claim *claim,
                                 culex_status why, culex_error *error)
{
    culex_error ignored;
    char text[sizeof error->text];
    int delay_s = is_sealed(why) ? SEALED_S : 0;
    culex_status status = is_sealed(why) ? CULEX_ENOKEY : why;
    snprintf(text, sizeof text, "%s",
             error->text[0] != '\0' ? error->text : culex_status_text(why));
    if (culex_claim_release(request->ops.client, claim->token, delay_s * CULEX_SECOND, &ignored) !=
        CULEX_OK)
        return ops_fail(error, status, "%.600s; the run goes back when its lease ends", text);
    if (delay_s == 0)
        return ops_fail(error, status, "%.600s; the run has gone back", text);
    return ops_fail(error, status, "%.600s; the run has gone back, for %d s", text, delay_s);
}

/* NULL, and CULEX_OK, without the run's schema. */
static culex_status claim_params(struct request *request, const culex_claim *claim,
                                 char **ret_params, size_t *ret_len, culex_error *error)
{
    culex_status status =
        culex_claim_params(request->ops.client, claim, ret_params, ret_len, error);
    return status == CULEX_OK || schema_is_lacking(status)
               ? CULEX_OK
               : claim_return(request, claim, status, error);
}

static culex_status claimed_tell(struct request *request, const culex_claim *claim,
                                 culex_error *error)
{
    char *params = NULL;
    size_t len = 0;
    culex_status status =
        claim != NULL ? claim_params(request, claim, &params, &len, error) : CULEX_OK;
    const struct ops_slice known = {params, len};
    if (status != CULEX_OK)
        return status;
    ops_json_object(&request->json, NULL);
    if (claim != NULL)
        claim_tell(request, claim, &known);
    else
        ops_json_text(&request->json, "claim", NULL);
    ops_json_object_end(&request->json);
    ops_json_line_end(&request->json);
    free(params);
    return CULEX_OK;
}

culex_status route_claim(struct request *request, culex_error *error)
{
    const void *order;
    culex_claim *claim = NULL;
    culex_claim_options options;
    culex_arena *arena = culex_arena_create();
    culex_status status = body_decode(request, &claim_type, arena, &order, error);
    if (status == CULEX_OK)
        status = claim_options_read(order, &options, error);
    if (status == CULEX_OK)
        status = claim_wait(request, &options, &claim, error);
    if (status == CULEX_OK)
        status = claimed_tell(request, claim, error);
    culex_claim_free(claim);
    culex_arena_free(arena);
    return status;
}

/* ---- its life ---------------------------------------------------------------------------------
 */

static const char *order_name(culex_claim_order order)
{
    return order == CULEX_CLAIM_GO_ON    ? "go_on"
           : order == CULEX_CLAIM_CANCEL ? "cancel"
                                         : "time_out";
}

static culex_status beat(struct request *request, const struct order *order, culex_error *error)
{
    culex_claim_pulse pulse;
    struct ops_json *json = &request->json;
    culex_claim_beat given = {
        .has_progress = order->has_progress || order->has_progress_text,
        .progress = order->has_progress ? order->progress : -1,
        .progress_text = order->has_progress_text ? order->progress_text : NULL,
    };
    culex_status status =
        time_read(&span_lease, order->lease, order->has_lease, &given.lease, error);
    if (status == CULEX_OK)
        status =
            culex_claim_heartbeat(request->ops.client, request->parts[0], &given, &pulse, error);
    if (status != CULEX_OK)
        return status;
    ops_json_object(json, NULL);
    ops_json_text(json, "order", order_name(pulse.order));
    ops_json_int(json, "lease_ends_ms", pulse.lease_ends_ms);
    ops_json_object_end(json);
    ops_json_line_end(json);
    return CULEX_OK;
}

static culex_status end_tell(struct request *request, culex_status status, const char *end)
{
    if (status != CULEX_OK)
        return status;
    ops_json_object(&request->json, NULL);
    ops_json_text(&request->json, "told", end);
    ops_json_object_end(&request->json);
    ops_json_line_end(&request->json);
    return CULEX_OK;
}

static culex_status fail(struct request *request, const struct order *order, culex_error *error)
{
    culex_claim_failure failure = {
        .text = order->has_text ? order->text : NULL,
        .is_final = order->has_is_final && order->is_final,
        .has_delay = order->has_delay,
    };
    culex_status status =
        time_read(&span_delay, order->delay, order->has_delay, &failure.delay, error);
    if (status == CULEX_OK)
        status = culex_claim_fail(request->ops.client, request->parts[0], &failure, error);
    return end_tell(request, status, "failed");
}

static culex_status release(struct request *request, const struct order *order, culex_error *error)
{
    culex_duration delay;
    culex_status status = time_read(&span_delay, order->delay, order->has_delay, &delay, error);
    if (status == CULEX_OK)
        status = culex_claim_release(request->ops.client, request->parts[0], delay, error);
    return end_tell(request, status, "released");
}

static culex_status with_order(struct request *request, const culex_struct_type *type,
                               culex_status (*act)(struct request *request,
                                                   const struct order *order, culex_error *error),
                               culex_error *error)
{
    const void *order;
    culex_arena *arena = culex_arena_create();
    culex_status status = body_decode(request, type, arena, &order, error);
    if (status == CULEX_OK)
        status = act(request, order, error);
    culex_arena_free(arena);
    return status;
}

culex_status route_claim_beat(struct request *request, culex_error *error)
{
    return with_order(request, &beat_type, beat, error);
}

culex_status route_claim_fail(struct request *request, culex_error *error)
{
    return with_order(request, &fail_type, fail, error);
}

culex_status route_claim_release(struct request *request, culex_error *error)
{
    return with_order(request, &release_type, release, error);
}

culex_status route_claim_complete(struct request *request, culex_error *error)
{
    struct ops_slice result;
    culex_status status = body_member(request, &complete_type, "result", &result, error);
    if (status == CULEX_OK)
        status = culex_claim_complete(request->ops.client, request->parts[0], result.text,
                                      result.len, error);
    return end_tell(request, status, "completed");
}
