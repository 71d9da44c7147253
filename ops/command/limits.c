/* ops/command/limits.c - culex limit. */
#include <inttypes.h>
#include <string.h>

#include <culex/limits.h>

#include "command/command.h"
#include "command/print.h"
#include "command/shape.h"
#include "command/value.h"

/* --- lists ------------------------------------------------------------------------------------ */

struct listing {
    bool is_json;
    struct ops_table table;
};

/* As a schema writes it: "8", "100/60 s". */
enum { VALUE_SIZE = 96 };

/* "5", "100/60 s", "100/60 s burst 10", "" of what has no number. */
static const char *value_format(const culex_limit_value *value, char ret_text[VALUE_SIZE])
{
    char span[OPS_SPAN_SIZE], burst[32] = "";
    ret_text[0] = '\0';
    if (value->burst != value->count)
        snprintf(burst, sizeof burst, " burst %" PRIu32, value->burst);
    if (value->per_ms > 0)
        snprintf(ret_text, VALUE_SIZE, "%" PRIu32 "/%s%s", value->count,
                 ops_span_format(value->per_ms * 1000, span), burst);
    else if (value->count > 0)
        snprintf(ret_text, VALUE_SIZE, "%" PRIu32, value->count);
    return ret_text;
}

static void value_add(struct ops_table *table, const culex_limit_value *value)
{
    char text[VALUE_SIZE];
    ops_table_text(table, value_format(value, text));
}

static bool limit_add(const culex_limit_info *limit, void *user)
{
    struct listing *listing = user;
    struct ops_json json = {.out = stdout};
    if (listing->is_json) {
        ops_limit_json(&json, limit);
        ops_json_line_end(&json);
        return !ferror(stdout);
    }
    ops_table_text(&listing->table, limit->name);
    ops_table_text(&listing->table, ops_limit_kind(limit->kind));
    value_add(&listing->table, &limit->in_force);
    value_add(&listing->table, &limit->declared);
    ops_table_count(&listing->table, limit->keys);
    ops_table_count(&listing->table, limit->active);
    ops_table_count(&listing->table, limit->parked);
    ops_table_text(&listing->table, limit->is_set ? "set by hand" : "");
    return true;
}

static bool key_add(const culex_limit_key_info *key, void *user)
{
    struct listing *listing = user;
    struct ops_json json = {.out = stdout};
    if (!listing->is_json) {
        ops_table_text(&listing->table, key->key);
        ops_table_count(&listing->table, key->active);
        ops_table_count(&listing->table, key->parked);
        ops_table_span(&listing->table, key->next_ms * 1000);
        return true;
    }
    ops_limit_key_json(&json, key);
    ops_json_line_end(&json);
    return !ferror(stdout);
}

static culex_status lists_print(struct ops *ops, culex_error *error)
{
    static const char *const heads[] = {"~LIMIT",  "8KIND",   "IN FORCE", "9DECLARED", ">7KEYS",
                                        ">ACTIVE", ">PARKED", "",         NULL};
    static const char *const key_heads[] = {"~KEY", ">ACTIVE", ">PARKED", ">NEXT IN", NULL};
    struct listing listing = {.is_json = ops->options.wants_json};
    bool is_of_keys = ops->argument_count > 1;
    ops_table_begin(&listing.table, is_of_keys ? key_heads : heads);
    culex_status status =
        is_of_keys
            ? culex_client_limit_keys(ops->client, ops->arguments[0], ops->arguments[1], NULL,
                                      key_add, &listing, error)
            : culex_client_limits(ops->client, ops->arguments[0], limit_add, &listing, error);
    if (status == CULEX_OK && !listing.is_json)
        ops_table_print(&listing.table, stdout);
    ops_table_end(&listing.table);
    return status;
}

/* --- setting one ------------------------------------------------------------------------------ */

/* "COUNT" or "COUNT/TIME". */
static culex_status value_read(const struct ops *ops, const char *text,
                               culex_limit_value *ret_value, culex_error *error)
{
    const char *slash = strchr(text, '/');
    size_t len = slash != NULL ? (size_t)(slash - text) : strlen(text);
    char count_text[24];
    uint64_t count = 0;
    culex_duration per = 0;
    if (len >= sizeof count_text)
        return ops_usage(error, "limit: %s is no number of runs", text);
    memcpy(count_text, text, len);
    count_text[len] = '\0';
    culex_status status = ops_value_count("COUNT", count_text, &count, error);
    if (status == CULEX_OK && slash != NULL)
        status = ops_value_duration("TIME", slash + 1, &per, error);
    if (status != CULEX_OK)
        return status;
    if (slash != NULL && (per == 0 || per % CULEX_MILLISECOND != 0))
        return ops_usage(error, "TIME: %s is not in whole milliseconds, 1ms or more", slash + 1);
    if (count > UINT32_MAX || ops->options.burst > UINT32_MAX)
        return ops_usage(error, "limit: at most 1000000 runs");
    *ret_value = (culex_limit_value){.count = (uint32_t)count,
                                     .per_ms = per / CULEX_MILLISECOND,
                                     .burst = (uint32_t)ops->options.burst};
    return CULEX_OK;
}

struct setting {
    const char *name;
    char value[VALUE_SIZE];
};

static bool setting_see(const culex_limit_info *limit, void *user)
{
    struct setting *setting = user;
    if (strcmp(limit->name, setting->name) != 0)
        return true;
    value_format(&limit->in_force, setting->value);
    return false;
}

/* What is in force is more than what was given. */
static culex_status set_tell(const struct ops *ops, culex_error *error)
{
    struct ops_json json = {.out = stdout};
    struct setting setting = {.name = ops->arguments[1]};
    const char *value = setting.value;
    culex_status status =
        culex_client_limits(ops->client, ops->arguments[0], setting_see, &setting, error);
    if (status != CULEX_OK)
        return status;
    if (!ops->options.wants_json) {
        printf("limit %s of queue %s: %s\n", ops->arguments[1], ops->arguments[0], value);
        return CULEX_OK;
    }
    ops_json_object(&json, NULL);
    ops_json_text(&json, "queue", ops->arguments[0]);
    ops_json_text(&json, "limit", ops->arguments[1]);
    ops_json_text(&json, "now", value);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
    return CULEX_OK;
}

culex_status ops_limit(struct ops *ops, culex_error *error)
{
    culex_limit_value value;
    if (ops->argument_count < 3 && ops_is_given(&ops->options, "burst"))
        return ops_usage(error, "limit: --burst goes with COUNT/TIME");
    if (ops->argument_count < 3)
        return lists_print(ops, error);
    bool is_declared = strcmp(ops->arguments[2], "declared") == 0;
    culex_status status =
        is_declared ? CULEX_OK : value_read(ops, ops->arguments[2], &value, error);
    if (status == CULEX_OK)
        status = culex_client_limit_set(ops->client, ops->arguments[0], ops->arguments[1],
                                        is_declared ? NULL : &value, error);
    return status == CULEX_OK ? set_tell(ops, error) : status;
}
