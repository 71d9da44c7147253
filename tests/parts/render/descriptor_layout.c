/* descriptor_layout.c - the layout of descriptors, as CULEX_DESCRIPTOR_VERSION 1 has it.
 *
 * Generated C that is compiled with newer headers notices another layout by the version alone. So
 * the members of every struct of culex/job.h stand here a second time, with their types: written
 * down so, they lie where the version's lie, in 64 bits and in 32. Compiles only while both agree.
 * Numbers that generated C has by name are held as well; more of them may be added. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In both there is no padding here, in which a new member could lie and move nothing. */
#pragma pack(1)
#include <culex/job.h>

#define WHAT_TO_DO                                                                                 \
    "this is not the layout of version 1: raise CULEX_DESCRIPTOR_VERSION (culex/job.h) and "       \
    "DESCRIPTOR_VERSION (codegen/render/settings.py), then write the new layout into this file"

_Static_assert(CULEX_DESCRIPTOR_VERSION == 1, "write the new version's layout into this file");

#define DECLARE(type, member, of) type member;
#define HOLD(type, member, of)                                                                     \
    _Static_assert(offsetof(of, member) == offsetof(of##_layout, member), WHAT_TO_DO);             \
    _Static_assert(_Generic(((of *)NULL)->member, type : 1, default : 0), WHAT_TO_DO);
#define LAYOUT(of, members)                                                                        \
    typedef struct of##_layout {                                                                   \
        members(DECLARE, of)                                                                       \
    } of##_layout;                                                                                 \
    members(HOLD, of) _Static_assert(sizeof(of) == sizeof(of##_layout), WHAT_TO_DO);

#define ENUM_VALUE_MEMBERS(MEMBER, of)                                                             \
    MEMBER(const char *, name, of)                                                                 \
    MEMBER(uint64_t, bits, of)                                                                     \
    MEMBER(const char *, doc, of)
LAYOUT(culex_enum_value, ENUM_VALUE_MEMBERS)

#define ENUM_TYPE_MEMBERS(MEMBER, of)                                                              \
    MEMBER(const char *, name, of)                                                                 \
    MEMBER(culex_kind, base, of)                                                                   \
    MEMBER(const culex_enum_value *, values, of)                                                   \
    MEMBER(size_t, value_count, of)
LAYOUT(culex_enum_type, ENUM_TYPE_MEMBERS)

#define USER_TYPE_MEMBERS(MEMBER, of)                                                              \
    MEMBER(const char *, name, of)                                                                 \
    MEMBER(size_t, size, of)                                                                       \
    MEMBER(culex_user_parse, parse, of)                                                            \
    MEMBER(culex_user_format, format, of)
LAYOUT(culex_user_type, USER_TYPE_MEMBERS)

#define FIELD_MEMBERS(MEMBER, of)                                                                  \
    MEMBER(const char *, name, of)                                                                 \
    MEMBER(const char *, wire, of)                                                                 \
    MEMBER(culex_kind, kind, of)                                                                   \
    MEMBER(culex_shape, shape, of)                                                                 \
    MEMBER(unsigned, flags, of)                                                                    \
    MEMBER(size_t, offset, of)                                                                     \
    MEMBER(size_t, has_offset, of)                                                                 \
    MEMBER(size_t, len_offset, of)                                                                 \
    MEMBER(size_t, count, of)                                                                      \
    MEMBER(size_t, min_len, of)                                                                    \
    MEMBER(size_t, max_len, of)                                                                    \
    MEMBER(int64_t, min, of)                                                                       \
    MEMBER(int64_t, max, of)                                                                       \
    MEMBER(const culex_enum_type *, enum_type, of)                                                 \
    MEMBER(const struct culex_struct_type *, struct_type, of)                                      \
    MEMBER(const culex_user_type *, user_type, of)                                                 \
    MEMBER(const void *, def, of)                                                                  \
    MEMBER(const char *, doc, of)
LAYOUT(culex_field, FIELD_MEMBERS)

#define STRUCT_TYPE_MEMBERS(MEMBER, of)                                                            \
    MEMBER(const char *, name, of)                                                                 \
    MEMBER(size_t, size, of)                                                                       \
    MEMBER(const culex_field *, fields, of)                                                        \
    MEMBER(size_t, field_count, of)
LAYOUT(culex_struct_type, STRUCT_TYPE_MEMBERS)

#define RETRY_POLICY_MEMBERS(MEMBER, of)                                                           \
    MEMBER(uint32_t, max, of)                                                                      \
    MEMBER(int64_t, for_ms, of)                                                                    \
    MEMBER(culex_backoff_kind, backoff, of)                                                        \
    MEMBER(int64_t, base_ms, of)                                                                   \
    MEMBER(double, factor, of)                                                                     \
    MEMBER(int64_t, cap_ms, of)                                                                    \
    MEMBER(const int64_t *, steps_ms, of)                                                          \
    MEMBER(size_t, step_count, of)                                                                 \
    MEMBER(culex_jitter_kind, jitter, of)                                                          \
    MEMBER(double, jitter_ratio, of)
LAYOUT(culex_retry_policy, RETRY_POLICY_MEMBERS)

#define SCHEDULE_MEMBERS(MEMBER, of)                                                               \
    MEMBER(int64_t, every_ms, of)                                                                  \
    MEMBER(const char *, cron, of)                                                                 \
    MEMBER(const char *, zone, of)                                                                 \
    MEMBER(culex_missed, missed, of)                                                               \
    MEMBER(bool, may_overlap, of)                                                                  \
    MEMBER(int64_t, jitter_ms, of)
LAYOUT(culex_schedule, SCHEDULE_MEMBERS)

#define UNIQUE_MEMBERS(MEMBER, of)                                                                 \
    MEMBER(bool, is_unique, of)                                                                    \
    MEMBER(bool, by_all, of)                                                                       \
    MEMBER(const uint16_t *, by, of)                                                               \
    MEMBER(size_t, by_count, of)                                                                   \
    MEMBER(unsigned, while_states, of)                                                             \
    MEMBER(int64_t, for_ms, of)                                                                    \
    MEMBER(culex_on_conflict, on_conflict, of)                                                     \
    MEMBER(int64_t, delay_ms, of)
LAYOUT(culex_unique, UNIQUE_MEMBERS)

#define LIMIT_MEMBERS(MEMBER, of)                                                                  \
    MEMBER(culex_limit_kind, kind, of)                                                             \
    MEMBER(const char *, name, of)                                                                 \
    MEMBER(uint32_t, count, of)                                                                    \
    MEMBER(int64_t, per_ms, of)                                                                    \
    MEMBER(uint32_t, burst, of)                                                                    \
    MEMBER(const uint16_t *, by, of)                                                               \
    MEMBER(size_t, by_count, of)
LAYOUT(culex_limit, LIMIT_MEMBERS)

#define NEED_MEMBERS(MEMBER, of)                                                                   \
    MEMBER(const char *, name, of)                                                                 \
    MEMBER(uint32_t, units, of)
LAYOUT(culex_need, NEED_MEMBERS)

#define JOB_TYPE_MEMBERS(MEMBER, of)                                                               \
    MEMBER(unsigned, descriptor_version, of)                                                       \
    MEMBER(const char *, name, of)                                                                 \
    MEMBER(const char *, wire, of)                                                                 \
    MEMBER(const char *, queue, of)                                                                \
    MEMBER(const culex_struct_type *, params, of)                                                  \
    MEMBER(const culex_struct_type *, result, of)                                                  \
    MEMBER(const culex_struct_type *, metadata, of)                                                \
    MEMBER(uint64_t, fingerprint, of)                                                              \
    MEMBER(int, priority, of)                                                                      \
    MEMBER(int64_t, timeout_ms, of)                                                                \
    MEMBER(int64_t, expires_ms, of)                                                                \
    MEMBER(int64_t, keep_success_ms, of)                                                           \
    MEMBER(int64_t, keep_failure_ms, of)                                                           \
    MEMBER(int64_t, keep_log, of)                                                                  \
    MEMBER(int64_t, memory_bytes, of)                                                              \
    MEMBER(culex_retry_policy, retry, of)                                                          \
    MEMBER(culex_schedule, schedule, of)                                                           \
    MEMBER(culex_unique, unique, of)                                                               \
    MEMBER(const culex_limit *, limits, of)                                                        \
    MEMBER(size_t, limit_count, of)                                                                \
    MEMBER(const culex_need *, needs, of)                                                          \
    MEMBER(size_t, need_count, of)                                                                 \
    MEMBER(const char *const *, tags, of)                                                          \
    MEMBER(size_t, tag_count, of)                                                                  \
    MEMBER(const char *, doc, of)
LAYOUT(culex_job_type, JOB_TYPE_MEMBERS)

#define CHAIN_MEMBERS(MEMBER, of)                                                                  \
    MEMBER(const char *, name, of)                                                                 \
    MEMBER(const culex_job_type *const *, steps, of)                                               \
    MEMBER(size_t, step_count, of)
LAYOUT(culex_chain, CHAIN_MEMBERS)

#define NUMBER(name, number) _Static_assert((int)CULEX_##name == (number), WHAT_TO_DO);
NUMBER(KIND_BOOL, 0)
NUMBER(KIND_CHAR, 1)
NUMBER(KIND_INT8, 2)
NUMBER(KIND_INT16, 3)
NUMBER(KIND_INT32, 4)
NUMBER(KIND_INT64, 5)
NUMBER(KIND_INT128, 6)
NUMBER(KIND_UINT8, 7)
NUMBER(KIND_UINT16, 8)
NUMBER(KIND_UINT32, 9)
NUMBER(KIND_UINT64, 10)
NUMBER(KIND_UINT128, 11)
NUMBER(KIND_FLOAT32, 12)
NUMBER(KIND_FLOAT64, 13)
NUMBER(KIND_STRING, 14)
NUMBER(KIND_BYTES, 15)
NUMBER(KIND_UUID, 16)
NUMBER(KIND_TIMESTAMP, 17)
NUMBER(KIND_DURATION, 18)
NUMBER(KIND_ENUM, 19)
NUMBER(KIND_STRUCT, 20)
NUMBER(KIND_USER, 21)

NUMBER(SHAPE_SINGLE, 0)
NUMBER(SHAPE_LIST, 1)
NUMBER(SHAPE_ARRAY, 2)

NUMBER(FIELD_OPTIONAL, 1)
NUMBER(FIELD_REQUIRED, 2)
NUMBER(FIELD_SECRET, 4)
NUMBER(FIELD_MUST_UNDERSTAND, 8)
NUMBER(FIELD_DEPRECATED, 16)
NUMBER(FIELD_MIN, 32)
NUMBER(FIELD_MAX, 64)
NUMBER(FIELD_ENCRYPTED, 128)

NUMBER(MISSED_ONCE, 0)
NUMBER(MISSED_SKIP, 1)
NUMBER(MISSED_ALL, 2)

NUMBER(ON_CONFLICT_KEEP, 0)
NUMBER(ON_CONFLICT_REPLACE, 1)
NUMBER(ON_CONFLICT_ERROR, 2)

NUMBER(LIMIT_CONCURRENCY, 0)
NUMBER(LIMIT_RATE, 1)
NUMBER(LIMIT_FAIR, 2)
NUMBER(LIMIT_NEEDS, 3)

NUMBER(BACKOFF_CONSTANT, 0)
NUMBER(BACKOFF_LINEAR, 1)
NUMBER(BACKOFF_POLYNOMIAL, 2)
NUMBER(BACKOFF_EXPONENTIAL, 3)
NUMBER(BACKOFF_STEPS, 4)

NUMBER(JITTER_NONE, 0)
NUMBER(JITTER_FULL, 1)
NUMBER(JITTER_EQUAL, 2)
NUMBER(JITTER_RATIO, 3)
