#include "command/run_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command/trace.h"
#include "command/values.h"

const char *ops_run_at_name(culex_run_state state)
{
    static const char *const names[CULEX_RUN_STATE_COUNT] = {
        [CULEX_RUN_SCHEDULED] = "due",     [CULEX_RUN_WAITING] = "due",
        [CULEX_RUN_ACTIVE] = "lease ends", [CULEX_RUN_DONE] = "forgotten",
        [CULEX_RUN_DEAD] = "forgotten",    [CULEX_RUN_CANCELLED] = "forgotten",
    };
    return (unsigned)state < CULEX_RUN_STATE_COUNT ? names[state] : "at";
}

void ops_tags_json(struct ops_json *json, const char *tags)
{
    ops_json_array(json, "tags");
    while (*tags != '\0') {
        size_t len = strcspn(tags, ",");
        ops_json_text_of(json, NULL, tags, len);
        tags += len + (tags[len] == ',');
    }
    ops_json_array_end(json);
}

void ops_run_json(struct ops_json *json, const culex_run_info *run)
{
    char fingerprint[20];
    snprintf(fingerprint, sizeof fingerprint, "%016llx", (unsigned long long)run->fingerprint);
    ops_json_id(json, "id", run->id);
    ops_json_text(json, "queue", run->queue);
    ops_json_text(json, "job", run->job);
    ops_json_text(json, "state", culex_run_state_name(run->state));
    ops_json_int(json, "priority", run->priority);
    ops_json_count(json, "attempt", run->attempt);
    ops_json_count(json, "attempts_max", run->attempts_max);
    ops_json_count(json, "failures", run->failures);
    ops_json_count(json, "crashes", run->crashes);
    ops_json_count(json, "losses", run->losses);
    ops_json_int(json, "created_at_ms", run->created_at_ms);
    ops_json_int(json, "at_ms", run->at_ms);
    ops_json_int(json, "expires_at_ms", run->expires_at_ms);
    ops_json_bool(json, "cancel_requested", run->cancel_requested);
    ops_json_text(json, "fingerprint", fingerprint);
    ops_tags_json(json, run->tags);
}

/* --- params and results -------------------------------------------------------------------------
 */

static culex_status part_unseal(const struct ops_part *part, culex_arena *arena,
                                const culex_struct_type **ret_type, const void **ret_value,
                                culex_error *error)
{
    *ret_type = ops_type_bare(part->type, arena);
    if (*ret_type == NULL)
        return ops_fail(error, CULEX_ENOMEM, "out of memory");
    return part->type == part->job->params
               ? culex_client_decode_params(part->keys, part->job, arena, part->text.data,
                                            part->text.len, ret_value, error)
               : culex_client_decode_result(part->keys, part->job, arena, part->text.data,
                                            part->text.len, ret_value, error);
}

culex_status ops_part_decode(const struct ops_part *part, culex_arena *arena,
                             const culex_struct_type **ret_type, const void **ret_value,
                             culex_error *error)
{
    if (part->keys != NULL && part_unseal(part, arena, ret_type, ret_value, error) == CULEX_OK)
        return CULEX_OK;
    const culex_struct_type *open = ops_type_open(part->type, arena);
    *ret_type = part->type;
    return open != NULL
               ? culex_decode(open, arena, part->text.data, part->text.len, ret_value, error)
               : ops_fail(error, CULEX_ENOMEM, "out of memory");
}

/* Another version of the schema than the run's may not know what is secret: it shows nothing,
 * unless somebody asks for it or names it. */
static const culex_job_type *type_that_shows(const culex_run_info *run,
                                             const struct ops_schema *schema, bool shows_secrets)
{
    bool is_own = schema->type != NULL && schema->type->fingerprint == run->fingerprint;
    bool is_named = schema->queue[0] == '\0';
    return is_own || is_named || shows_secrets ? schema->type : NULL;
}

void ops_parts_make(const culex_run_info *run, const struct ops_schema *schema, bool shows_secrets,
                    struct ops_part ret_parts[2])
{
    const culex_job_type *type = type_that_shows(run, schema, shows_secrets);
    culex_client *keys = shows_secrets ? schema->keys : NULL;
    ret_parts[0] =
        (struct ops_part){"params", run->payload, type != NULL ? type->params : NULL, type, keys};
    ret_parts[1] =
        (struct ops_part){"result", run->result, type != NULL ? type->result : NULL, type, keys};
}

static void lines_json(struct ops_json *json, const culex_run_lines *lines)
{
    ops_json_array(json, "log");
    for (size_t i = 0; i < lines->count; i++) {
        const culex_run_line *line = &lines->items[i];
        ops_json_object(json, NULL);
        ops_json_int(json, "at_ms", line->at / CULEX_MILLISECOND);
        ops_json_count(json, "attempt", line->attempt);
        ops_json_int(json, "level", line->level);
        ops_json_text(json, "text", line->text);
        ops_json_object_end(json);
    }
    ops_json_array_end(json);
}

/* As text: what the store has may be damaged, and is JSON in JSON then. */
static void bytes_json(struct ops_json *json, const char *name, culex_bytes bytes)
{
    if (bytes.len > 0)
        ops_json_text_of(json, name, (const char *)bytes.data, bytes.len);
}

/* By the schema, without what is secret, under names of its own: "params" is the whole text. */
static void part_json(struct ops_json *json, const struct ops_part *part, bool shows_secrets,
                      const char *values, const char *hidden)
{
    const culex_struct_type *type;
    const void *value = NULL;
    culex_error error;
    culex_arena *arena = culex_arena_create();
    if (part->text.len > 0 && part->type != NULL &&
        ops_part_decode(part, arena, &type, &value, &error) == CULEX_OK)
        ops_values_json(json, values, hidden, type, value, shows_secrets);
    culex_arena_free(arena);
}

static void schema_json(struct ops_json *json, const culex_run_info *info,
                        const struct ops_schema *schema, bool shows_secrets)
{
    struct ops_part parts[2];
    char fingerprint[17];
    if (schema->type == NULL)
        return;
    ops_parts_make(info, schema, shows_secrets, parts);
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, schema->type->fingerprint);
    ops_json_text(json, "schema", fingerprint);
    ops_json_bool(json, "schema_is_own", schema->type->fingerprint == info->fingerprint);
    part_json(json, &parts[0], shows_secrets, "param_values", "params_hidden");
    part_json(json, &parts[1], shows_secrets, "result_values", "result_hidden");
}

void ops_run_members_json(struct ops_json *json, const culex_run_info *info,
                          const struct ops_schema *schema, const culex_run_lines *lines,
                          bool shows_secrets)
{
    char parent[OPS_TRACEPARENT_SIZE];
    ops_run_json(json, info);
    ops_json_text(json, "error", info->error_text);
    ops_json_int(json, "progress", info->progress);
    ops_json_text(json, "progress_text", info->progress_text);
    if (ops_trace_find(info->payload, parent))
        ops_json_text(json, "traceparent", parent);
    if (shows_secrets) {
        bytes_json(json, "params", info->payload);
        bytes_json(json, "result", info->result);
    }
    schema_json(json, info, schema, shows_secrets);
    lines_json(json, lines);
}

void ops_run_whole_json(struct ops_json *json, const culex_run_info *info,
                        const struct ops_schema *schema, const culex_run_lines *lines,
                        bool shows_secrets)
{
    ops_json_object(json, NULL);
    ops_run_members_json(json, info, schema, lines, shows_secrets);
    ops_json_object_end(json);
}
