/* ops/console/limits.c - /limits/{queue}/{limit}: its keys, and other numbers for it. */
#include <string.h>

#include <culex/limits.h>

#include "command/shape.h"
#include "command/value.h"
#include "console/body.h"
#include "console/query.h"
#include "console/routes.h"

/* ---- keys -------------------------------------------------------------------------------------
 */

enum { PAGE = 100, PAGE_MAX = 1000 };

struct keys {
    struct ops_json *json;
    uint64_t most, count;
    char last[256]; /* told */
    bool is_more;
};

static bool key_tell(const culex_limit_key_info *key, void *user)
{
    struct keys *keys = user;
    keys->is_more = keys->count == keys->most;
    if (keys->is_more)
        return false;
    ops_limit_key_json(keys->json, key);
    snprintf(keys->last, sizeof keys->last, "%s", key->key);
    keys->count++;
    return true;
}

/* The last key is the cursor: those behind it are the next ones, whatever comes and goes. */
culex_status route_limit_keys(struct request *request, culex_error *error)
{
    struct ops_json *json = &request->json;
    struct keys keys = {.json = json, .most = PAGE};
    const char *after = request_query(request, "cursor");
    culex_status status = query_count(request, "limit", PAGE_MAX, &keys.most, error);
    if (status != CULEX_OK)
        return status;
    ops_json_object(json, NULL);
    ops_json_array(json, "keys");
    status = culex_client_limit_keys(request->ops.client, request->parts[0], request->parts[1],
                                     after, key_tell, &keys, error);
    ops_json_array_end(json);
    if (keys.is_more)
        ops_json_text(json, "next_cursor", keys.last);
    ops_json_object_end(json);
    ops_json_line_end(json);
    return status;
}

/* ---- its numbers ------------------------------------------------------------------------------
 */

struct numbers {
    const char *per;
    int32_t count, burst;
    bool has_per, has_burst;
};

#define RUNS(member, its_flags)                                                                    \
    .name = #member, .wire = #member, .kind = CULEX_KIND_INT32,                                    \
    .flags = CULEX_FIELD_MIN | CULEX_FIELD_MAX | (its_flags),                                      \
    .offset = offsetof(struct numbers, member), .min = 1, .max = 1000000

static const culex_field numbers_fields[] = {
    {RUNS(count, CULEX_FIELD_REQUIRED)},
    {RUNS(burst, CULEX_FIELD_OPTIONAL), .has_offset = offsetof(struct numbers, has_burst)},
    {.name = "per",
     .wire = "per",
     .kind = CULEX_KIND_STRING,
     .flags = CULEX_FIELD_OPTIONAL,
     .offset = offsetof(struct numbers, per),
     .has_offset = offsetof(struct numbers, has_per)},
};
static const culex_struct_type numbers_type = {"the body", sizeof(struct numbers), numbers_fields,
                                               sizeof numbers_fields / sizeof numbers_fields[0]};

static culex_status numbers_read(struct request *request, culex_arena *arena,
                                 culex_limit_value *ret_value, culex_error *error)
{
    const void *value;
    culex_duration per = 0;
    culex_status status = body_decode(request, &numbers_type, arena, &value, error);
    const struct numbers *numbers = value;
    if (status != CULEX_OK)
        return status;
    if (numbers->has_per)
        status = ops_value_duration("per", numbers->per, &per, error);
    if (status == CULEX_OK && numbers->has_per && (per == 0 || per % CULEX_MILLISECOND != 0))
        status = ops_usage(error, "per: whole milliseconds, 1ms or more");
    *ret_value = (culex_limit_value){.count = (uint32_t)numbers->count,
                                     .per_ms = per / CULEX_MILLISECOND,
                                     .burst = numbers->has_burst ? (uint32_t)numbers->burst : 0};
    return body_blame(status, "per", error);
}

struct search {
    struct request *request;
    bool is_told;
};

static bool limit_see(const culex_limit_info *limit, void *user)
{
    struct search *search = user;
    if (strcmp(limit->name, search->request->parts[1]) == 0) {
        ops_limit_json(&search->request->json, limit);
        search->is_told = true;
    }
    return !search->is_told;
}

/* NULL: as declared. */
static culex_status limit_set(struct request *request, const culex_limit_value *value,
                              culex_error *error)
{
    struct search search = {.request = request};
    culex_client *client = request->ops.client;
    culex_status status =
        culex_client_limit_set(client, request->parts[0], request->parts[1], value, error);
    if (status == CULEX_OK)
        status = culex_client_limits(client, request->parts[0], limit_see, &search, error);
    if (status == CULEX_OK && !search.is_told)
        status = ops_fail(error, CULEX_ENOTFOUND, "the limit was set, and is gone");
    ops_json_line_end(&request->json);
    return status;
}

static void numbers_audit(struct request *request, const culex_limit_value *value)
{
    request->audited_as = "limit";
    snprintf(request->audited, sizeof request->audited, "count %u, per %lld ms, burst %u",
             (unsigned)value->count, (long long)value->per_ms, (unsigned)value->burst);
}

culex_status route_limit_set(struct request *request, culex_error *error)
{
    culex_limit_value value;
    culex_arena *arena = culex_arena_create();
    culex_status status = numbers_read(request, arena, &value, error);
    culex_arena_free(arena);
    if (status != CULEX_OK)
        return status;
    numbers_audit(request, &value);
    return limit_set(request, &value, error);
}

culex_status route_limit_reset(struct request *request, culex_error *error)
{
    culex_status status = body_is_empty(request, error);
    return status == CULEX_OK ? limit_set(request, NULL, error) : status;
}
