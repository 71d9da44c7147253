/* The descriptors of a schema's text. */
#include "core/schema_form.h"

#include <assert.h>

#include <culex/client.h>

#include "base/limits.h"

/* A name that the text has for a member of another name, and what all fields have. */
#define PLAIN(type, member, word, of_kind, of_flags)                                               \
    .name = (word), .wire = (word), .kind = (of_kind), .flags = (of_flags),                        \
    .offset = offsetof(struct type, member)
#define REQUIRED(type, member, of_kind)                                                            \
    {                                                                                              \
        PLAIN(type, member, #member, of_kind, CULEX_FIELD_REQUIRED)                                \
    }
#define OPTIONAL(type, member, word, of_kind)                                                      \
    {                                                                                              \
        PLAIN(type, member, word, of_kind, CULEX_FIELD_OPTIONAL),                                  \
            .has_offset = offsetof(struct type, has_##member)                                      \
    }
#define WORD(type, member, of_enum, of_flags)                                                      \
    {                                                                                              \
        PLAIN(type, member, #member, CULEX_KIND_ENUM, of_flags), .enum_type = &of_enum##_words     \
    }
#define OBJECT(type, member, of_struct)                                                            \
    {                                                                                              \
        PLAIN(type, member, #member, CULEX_KIND_STRUCT, CULEX_FIELD_REQUIRED),                     \
            .struct_type = &(of_struct)                                                            \
    }
#define OPTIONAL_OBJECT(type, member, of_struct)                                                   \
    {                                                                                              \
        PLAIN(type, member, #member, CULEX_KIND_STRUCT, CULEX_FIELD_OPTIONAL),                     \
            .has_offset = offsetof(struct type, has_##member), .struct_type = &(of_struct)         \
    }
#define LIST(type, member, of_kind, ...)                                                           \
    {                                                                                              \
        PLAIN(type, member, #member, of_kind, 0),                                                  \
            .shape = CULEX_SHAPE_LIST, .len_offset = offsetof(struct type, member##_len),          \
            __VA_ARGS__                                                                            \
    }
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ENUM(of, values)                                                                           \
    static const culex_enum_type of##_words = {#of, CULEX_KIND_INT32, values, COUNT(values)}
#define STRUCT(of, fields)                                                                         \
    static const culex_struct_type of##_type = {#of, sizeof(struct of), fields, COUNT(fields)}

static const culex_enum_value kind_values[] = {
    {"bool", CULEX_KIND_BOOL, NULL},         {"char", CULEX_KIND_CHAR, NULL},
    {"int8", CULEX_KIND_INT8, NULL},         {"int16", CULEX_KIND_INT16, NULL},
    {"int32", CULEX_KIND_INT32, NULL},       {"int64", CULEX_KIND_INT64, NULL},
    {"int128", CULEX_KIND_INT128, NULL},     {"uint8", CULEX_KIND_UINT8, NULL},
    {"uint16", CULEX_KIND_UINT16, NULL},     {"uint32", CULEX_KIND_UINT32, NULL},
    {"uint64", CULEX_KIND_UINT64, NULL},     {"uint128", CULEX_KIND_UINT128, NULL},
    {"float32", CULEX_KIND_FLOAT32, NULL},   {"float64", CULEX_KIND_FLOAT64, NULL},
    {"string", CULEX_KIND_STRING, NULL},     {"bytes", CULEX_KIND_BYTES, NULL},
    {"uuid", CULEX_KIND_UUID, NULL},         {"timestamp", CULEX_KIND_TIMESTAMP, NULL},
    {"duration", CULEX_KIND_DURATION, NULL}, {"enum", CULEX_KIND_ENUM, NULL},
    {"struct", CULEX_KIND_STRUCT, NULL},     {"user", CULEX_KIND_USER, NULL},
};
static_assert(COUNT(kind_values) == CULEX_KIND_COUNT, "a name for each, in their order");
ENUM(kind, kind_values);

static const culex_enum_value shape_values[] = {
    {"single", CULEX_SHAPE_SINGLE, NULL},
    {"list", CULEX_SHAPE_LIST, NULL},
    {"array", CULEX_SHAPE_ARRAY, NULL},
};
ENUM(shape, shape_values);

static const culex_enum_value flag_values[] = {
    {"optional", CULEX_FIELD_OPTIONAL, NULL},
    {"required", CULEX_FIELD_REQUIRED, NULL},
    {"secret", CULEX_FIELD_SECRET, NULL},
    {"must_understand", CULEX_FIELD_MUST_UNDERSTAND, NULL},
    {"deprecated", CULEX_FIELD_DEPRECATED, NULL},
    {"encrypted", CULEX_FIELD_ENCRYPTED, NULL},
    {"default_withheld", CULEX__FIELD_WITHHELD, NULL},
};
ENUM(flag, flag_values);

static const culex_enum_value backoff_values[] = {
    {"constant", CULEX_BACKOFF_CONSTANT, NULL},
    {"linear", CULEX_BACKOFF_LINEAR, NULL},
    {"polynomial", CULEX_BACKOFF_POLYNOMIAL, NULL},
    {"exponential", CULEX_BACKOFF_EXPONENTIAL, NULL},
    {"steps", CULEX_BACKOFF_STEPS, NULL},
};
ENUM(backoff, backoff_values);

static const culex_enum_value jitter_values[] = {
    {"none", CULEX_JITTER_NONE, NULL},
    {"full", CULEX_JITTER_FULL, NULL},
    {"equal", CULEX_JITTER_EQUAL, NULL},
    {"ratio", CULEX_JITTER_RATIO, NULL},
};
ENUM(jitter, jitter_values);

static const culex_enum_value missed_values[] = {
    {"once", CULEX_MISSED_ONCE, NULL},
    {"skip", CULEX_MISSED_SKIP, NULL},
    {"all", CULEX_MISSED_ALL, NULL},
};
ENUM(missed, missed_values);

static const culex_enum_value state_values[] = {
    {"scheduled", 1u << CULEX_RUN_SCHEDULED, NULL}, {"waiting", 1u << CULEX_RUN_WAITING, NULL},
    {"active", 1u << CULEX_RUN_ACTIVE, NULL},       {"done", 1u << CULEX_RUN_DONE, NULL},
    {"dead", 1u << CULEX_RUN_DEAD, NULL},           {"cancelled", 1u << CULEX_RUN_CANCELLED, NULL},
};
static_assert(COUNT(state_values) == CULEX_RUN_STATE_COUNT, "a name for each");
ENUM(state, state_values);

static const culex_enum_value conflict_values[] = {
    {"keep", CULEX_ON_CONFLICT_KEEP, NULL},
    {"replace", CULEX_ON_CONFLICT_REPLACE, NULL},
    {"error", CULEX_ON_CONFLICT_ERROR, NULL},
};
ENUM(on_conflict, conflict_values);

static const culex_enum_value limit_values[] = {
    {"concurrency", CULEX_LIMIT_CONCURRENCY, NULL},
    {"rate", CULEX_LIMIT_RATE, NULL},
    {"fair", CULEX_LIMIT_FAIR, NULL},
};
ENUM(limit_kind, limit_values);

static_assert(sizeof(culex_kind) == 4 && sizeof(culex_shape) == 4 &&
                  sizeof(culex_backoff_kind) == 4 && sizeof(culex_jitter_kind) == 4 &&
                  sizeof(culex_missed) == 4 && sizeof(culex_on_conflict) == 4 &&
                  sizeof(culex_limit_kind) == 4,
              "as the enum types say");

static const culex_field value_fields[] = {
    REQUIRED(culex_schema_value, name, CULEX_KIND_STRING),
    REQUIRED(culex_schema_value, value, CULEX_KIND_INT64),
    OPTIONAL(culex_schema_value, doc, "doc", CULEX_KIND_STRING),
};
STRUCT(culex_schema_value, value_fields);

static const culex_field enum_fields[] = {
    REQUIRED(culex_schema_enum, name, CULEX_KIND_STRING),
    WORD(culex_schema_enum, base, kind, CULEX_FIELD_REQUIRED),
    LIST(culex_schema_enum, values, CULEX_KIND_STRUCT, .struct_type = &culex_schema_value_type),
};
STRUCT(culex_schema_enum, enum_fields);

static const culex_field user_fields[] = {REQUIRED(culex_schema_user, name, CULEX_KIND_STRING)};
STRUCT(culex_schema_user, user_fields);

static const culex_field field_fields[] = {
    REQUIRED(culex_schema_field, name, CULEX_KIND_STRING),
    OPTIONAL(culex_schema_field, wire, "wire", CULEX_KIND_STRING),
    WORD(culex_schema_field, kind, kind, CULEX_FIELD_REQUIRED),
    OPTIONAL(culex_schema_field, type, "type", CULEX_KIND_STRING),
    WORD(culex_schema_field, shape, shape, CULEX_FIELD_REQUIRED),
    LIST(culex_schema_field, flags, CULEX_KIND_ENUM, .enum_type = &flag_words, .count = 8),
    OPTIONAL(culex_schema_field, count, "count", CULEX_KIND_UINT32),
    OPTIONAL(culex_schema_field, min_len, "min_len", CULEX_KIND_UINT64),
    OPTIONAL(culex_schema_field, max_len, "max_len", CULEX_KIND_UINT64),
    OPTIONAL(culex_schema_field, min, "min", CULEX_KIND_INT64),
    OPTIONAL(culex_schema_field, max, "max", CULEX_KIND_INT64),
    OPTIONAL(culex_schema_field, def, "default", CULEX_KIND_STRING),
    OPTIONAL(culex_schema_field, doc, "doc", CULEX_KIND_STRING),
};
STRUCT(culex_schema_field, field_fields);

static const culex_field struct_fields[] = {
    REQUIRED(culex_schema_struct, name, CULEX_KIND_STRING),
    LIST(culex_schema_struct, fields, CULEX_KIND_STRUCT, .struct_type = &culex_schema_field_type,
         .count = CULEX_FIELDS_MAX),
};
STRUCT(culex_schema_struct, struct_fields);

static const culex_field retry_fields[] = {
    REQUIRED(culex_schema_retry, max, CULEX_KIND_UINT32),
    REQUIRED(culex_schema_retry, for_ms, CULEX_KIND_INT64),
    WORD(culex_schema_retry, backoff, backoff, CULEX_FIELD_REQUIRED),
    REQUIRED(culex_schema_retry, base_ms, CULEX_KIND_INT64),
    REQUIRED(culex_schema_retry, factor, CULEX_KIND_FLOAT64),
    REQUIRED(culex_schema_retry, cap_ms, CULEX_KIND_INT64),
    LIST(culex_schema_retry, steps_ms, CULEX_KIND_INT64, .count = 1024),
    WORD(culex_schema_retry, jitter, jitter, CULEX_FIELD_REQUIRED),
    REQUIRED(culex_schema_retry, jitter_ratio, CULEX_KIND_FLOAT64),
};
STRUCT(culex_schema_retry, retry_fields);

static const culex_field schedule_fields[] = {
    REQUIRED(culex_schema_schedule, every_ms, CULEX_KIND_INT64),
    OPTIONAL(culex_schema_schedule, cron, "cron", CULEX_KIND_STRING),
    OPTIONAL(culex_schema_schedule, zone, "zone", CULEX_KIND_STRING),
    WORD(culex_schema_schedule, missed, missed, CULEX_FIELD_REQUIRED),
    REQUIRED(culex_schema_schedule, may_overlap, CULEX_KIND_BOOL),
    REQUIRED(culex_schema_schedule, jitter_ms, CULEX_KIND_INT64),
};
STRUCT(culex_schema_schedule, schedule_fields);

static const culex_field unique_fields[] = {
    REQUIRED(culex_schema_unique, by_all, CULEX_KIND_BOOL),
    LIST(culex_schema_unique, by, CULEX_KIND_STRING, .count = CULEX_FIELDS_MAX),
    LIST(culex_schema_unique, states, CULEX_KIND_ENUM, .enum_type = &state_words,
         .count = CULEX_RUN_STATE_COUNT),
    REQUIRED(culex_schema_unique, for_ms, CULEX_KIND_INT64),
    WORD(culex_schema_unique, on_conflict, on_conflict, CULEX_FIELD_REQUIRED),
    REQUIRED(culex_schema_unique, delay_ms, CULEX_KIND_INT64),
};
STRUCT(culex_schema_unique, unique_fields);

static const culex_field limit_fields[] = {
    WORD(culex_schema_limit, kind, limit_kind, CULEX_FIELD_REQUIRED),
    REQUIRED(culex_schema_limit, name, CULEX_KIND_STRING),
    REQUIRED(culex_schema_limit, count, CULEX_KIND_UINT32),
    REQUIRED(culex_schema_limit, per_ms, CULEX_KIND_INT64),
    REQUIRED(culex_schema_limit, burst, CULEX_KIND_UINT32),
    LIST(culex_schema_limit, by, CULEX_KIND_STRING, .count = CULEX_FIELDS_MAX),
};
STRUCT(culex_schema_limit, limit_fields);

static const culex_field need_fields[] = {
    REQUIRED(culex_schema_need, name, CULEX_KIND_STRING),
    REQUIRED(culex_schema_need, units, CULEX_KIND_UINT32),
};
STRUCT(culex_schema_need, need_fields);

static const culex_field form_fields[] = {
    {PLAIN(culex_schema_form, form, "schema", CULEX_KIND_UINT32, CULEX_FIELD_REQUIRED)},
    REQUIRED(culex_schema_form, name, CULEX_KIND_STRING),
    REQUIRED(culex_schema_form, wire, CULEX_KIND_STRING),
    OPTIONAL(culex_schema_form, queue, "queue", CULEX_KIND_STRING),
    OPTIONAL(culex_schema_form, retired, "retired", CULEX_KIND_BOOL),
    REQUIRED(culex_schema_form, fingerprint, CULEX_KIND_STRING),
    OPTIONAL(culex_schema_form, doc, "doc", CULEX_KIND_STRING),
    {PLAIN(culex_schema_form, priority, "priority", CULEX_KIND_INT32,
           CULEX_FIELD_REQUIRED | CULEX_FIELD_MIN | CULEX_FIELD_MAX),
     .min = 0, .max = CULEX_PRIORITY_MAX},
    REQUIRED(culex_schema_form, timeout_ms, CULEX_KIND_INT64),
    REQUIRED(culex_schema_form, expires_ms, CULEX_KIND_INT64),
    REQUIRED(culex_schema_form, keep_success_ms, CULEX_KIND_INT64),
    REQUIRED(culex_schema_form, keep_failure_ms, CULEX_KIND_INT64),
    REQUIRED(culex_schema_form, keep_log, CULEX_KIND_INT64),
    REQUIRED(culex_schema_form, memory_bytes, CULEX_KIND_INT64),
    OBJECT(culex_schema_form, retry, culex_schema_retry_type),
    OPTIONAL_OBJECT(culex_schema_form, schedule, culex_schema_schedule_type),
    OPTIONAL_OBJECT(culex_schema_form, unique, culex_schema_unique_type),
    LIST(culex_schema_form, limits, CULEX_KIND_STRUCT, .struct_type = &culex_schema_limit_type,
         .count = 8),
    LIST(culex_schema_form, needs, CULEX_KIND_STRUCT, .struct_type = &culex_schema_need_type,
         .count = CULEX_NEEDS_MAX),
    LIST(culex_schema_form, tags, CULEX_KIND_STRING, .count = CULEX_TAGS_MAX),
    OBJECT(culex_schema_form, params, culex_schema_struct_type),
    OPTIONAL_OBJECT(culex_schema_form, result, culex_schema_struct_type),
    OPTIONAL_OBJECT(culex_schema_form, metadata, culex_schema_struct_type),
    LIST(culex_schema_form, structs, CULEX_KIND_STRUCT, .struct_type = &culex_schema_struct_type),
    LIST(culex_schema_form, enums, CULEX_KIND_STRUCT, .struct_type = &culex_schema_enum_type),
    LIST(culex_schema_form, users, CULEX_KIND_STRUCT, .struct_type = &culex_schema_user_type),
};

const culex_struct_type culex__schema_form_type = {"schema", sizeof(struct culex_schema_form),
                                                   form_fields, COUNT(form_fields)};

const char *culex__kind_name(culex_kind kind)
{
    assert(kind < CULEX_KIND_COUNT);
    return kind_values[kind].name;
}
