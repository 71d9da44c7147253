/* core/schema_form.h - the text of a schema (schemas/schema-text.md) as a struct, which the codec
 * writes and reads like any payload.
 *
 * Integers of 64 bits without a sign stand as bits. Strings that a job need not have are optional.
 */
#ifndef CULEX_CORE_SCHEMA_FORM_H
#define CULEX_CORE_SCHEMA_FORM_H

#include <culex/job.h>

enum {
    CULEX_SCHEMA_FORM = 1,                  /* the number in front; a program reads no other */
    CULEX_SCHEMA_TEXT_MAX = 64 * 1024,      /* bytes */
    CULEX_SCHEMA_FINGERPRINT_LEN = 16,      /* digits */
    CULEX_SCHEMA_LEN_MAX = 64 * 1024 * 1024 /* bytes of a min_len or max_len, as in schemas */
};

/* In the flags of a field that was read from a text: it has a default, which the text leaves out
 * because it is secret. So that a producer leaves it to the worker, the field is optional. */
#define CULEX__FIELD_WITHHELD (1u << 30)

struct culex_schema_value {
    const char *name;
    int64_t value;
    bool has_doc;
    const char *doc;
};

struct culex_schema_enum {
    const char *name;
    culex_kind base;
    const struct culex_schema_value *values;
    size_t values_len;
};

struct culex_schema_user {
    const char *name;
};

struct culex_schema_field {
    const char *name;
    bool has_wire;
    const char *wire; /* where it is not the name */
    culex_kind kind;
    bool has_type;
    const char *type; /* name of the enum, struct or own type */
    culex_shape shape;
    const uint32_t *flags; /* all but MIN and MAX */
    size_t flags_len;
    bool has_count, has_min_len, has_max_len, has_min, has_max, has_def, has_doc;
    uint32_t count;
    uint64_t min_len, max_len;
    int64_t min, max;
    const char *def; /* its text in a payload */
    const char *doc;
};

struct culex_schema_struct {
    const char *name;
    const struct culex_schema_field *fields;
    size_t fields_len;
};

struct culex_schema_retry {
    uint32_t max;
    int64_t for_ms;
    culex_backoff_kind backoff;
    int64_t base_ms;
    double factor;
    int64_t cap_ms;
    const int64_t *steps_ms;
    size_t steps_ms_len;
    culex_jitter_kind jitter;
    double jitter_ratio;
};

struct culex_schema_schedule {
    int64_t every_ms;
    bool has_cron, has_zone;
    const char *cron, *zone;
    culex_missed missed;
    bool may_overlap;
    int64_t jitter_ms;
};

struct culex_schema_unique {
    bool by_all;
    const char *const *by; /* names of params */
    size_t by_len;
    const uint32_t *states; /* 1u << state */
    size_t states_len;
    int64_t for_ms;
    culex_on_conflict on_conflict;
    int64_t delay_ms;
};

struct culex_schema_limit {
    culex_limit_kind kind;
    const char *name;
    uint32_t count;
    int64_t per_ms;
    uint32_t burst;
    const char *const *by;
    size_t by_len;
};

struct culex_schema_need {
    const char *name;
    uint32_t units;
};

struct culex_schema_form {
    uint32_t form;
    const char *name, *wire;
    bool has_queue, has_doc, has_retired;
    const char *queue, *doc;
    bool retired;
    const char *fingerprint;
    int32_t priority;
    int64_t timeout_ms, expires_ms, keep_success_ms, keep_failure_ms, keep_log, memory_bytes;
    struct culex_schema_retry retry;
    bool has_schedule, has_unique;
    struct culex_schema_schedule schedule;
    struct culex_schema_unique unique;
    const struct culex_schema_limit *limits;
    size_t limits_len;
    const struct culex_schema_need *needs;
    size_t needs_len;
    const char *const *tags;
    size_t tags_len;
    struct culex_schema_struct params;
    bool has_result, has_metadata;
    struct culex_schema_struct result, metadata;
    const struct culex_schema_struct *structs; /* those in fields, each once */
    size_t structs_len;
    const struct culex_schema_enum *enums;
    size_t enums_len;
    const struct culex_schema_user *users;
    size_t users_len;
};

extern const culex_struct_type culex__schema_form_type;

/* "int32", as the language calls the kind; "user" and "struct" for those. */
const char *culex__kind_name(culex_kind kind);

#endif
