/* culex/job.h - descriptors: what generated code tells the runtime about a job.
 *
 * A descriptor is constant data that `culexc gen` writes: names, offsets, types,
 * limits, defaults and policy. The codec, the client and the worker are driven by
 * it, so generated code holds no loop, no lock and no allocation. Applications
 * may read descriptors (dashboards, generic tools); they have no reason to write one.
 *
 * The layout of everything here is CULEX_DESCRIPTOR_VERSION; generated files stop
 * with #error when they meet another number. Whoever changes the layout raises it
 * (tests/parts/render/descriptor_layout.c).
 */
#ifndef CULEX_JOB_H
#define CULEX_JOB_H

#include <stddef.h>
#include <stdint.h>

#include <culex/typed.h>
#include <culex/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CULEX_DESCRIPTOR_VERSION 1

/* Casts that are quiet under -Wold-style-cast when generated C is read as C++. */
#ifdef __cplusplus
#define CULEX_PTR_CAST(type, pointer) static_cast<type>(pointer)
#define CULEX_FN_CAST(type, function) reinterpret_cast<type>(function)
#else
#define CULEX_PTR_CAST(type, pointer) ((type)(pointer))
#define CULEX_FN_CAST(type, function) ((type)(function))
#endif

/* The C type of one value and, from it, its text in a payload (schemas/payload.md). */
typedef enum CULEX_INT_ENUM culex_kind {
    CULEX_KIND_BOOL,      /* bool            true */
    CULEX_KIND_CHAR,      /* char            "x", one byte as U+0000..U+00FF */
    CULEX_KIND_INT8,      /* int8_t          -1 */
    CULEX_KIND_INT16,     /* int16_t */
    CULEX_KIND_INT32,     /* int32_t */
    CULEX_KIND_INT64,     /* int64_t */
    CULEX_KIND_INT128,    /* culex_int128    "-1", a string */
    CULEX_KIND_UINT8,     /* uint8_t */
    CULEX_KIND_UINT16,    /* uint16_t */
    CULEX_KIND_UINT32,    /* uint32_t */
    CULEX_KIND_UINT64,    /* uint64_t */
    CULEX_KIND_UINT128,   /* culex_uint128   "1", a string */
    CULEX_KIND_FLOAT32,   /* float           0.1, "NaN", "Infinity", "-Infinity" */
    CULEX_KIND_FLOAT64,   /* double */
    CULEX_KIND_STRING,    /* const char *    "text": UTF-8, NUL-ended, no NUL inside */
    CULEX_KIND_BYTES,     /* culex_bytes     base64 with padding */
    CULEX_KIND_UUID,      /* culex_uuid      36 characters, lower case */
    CULEX_KIND_TIMESTAMP, /* culex_time      RFC 3339, UTC, up to nine decimals */
    CULEX_KIND_DURATION,  /* culex_duration  "1.5s" */
    CULEX_KIND_ENUM,      /* its base type   the value's name */
    CULEX_KIND_STRUCT,    /* the struct      an object */
    CULEX_KIND_USER,      /* the user's type "text" that its functions read and write */
    CULEX_KIND_COUNT
} culex_kind;

/* How many values a field holds. */
typedef enum CULEX_INT_ENUM culex_shape {
    CULEX_SHAPE_SINGLE, /* T x */
    CULEX_SHAPE_LIST,   /* T x[] or T x[<=N]: `const T *x; size_t x_len;` */
    CULEX_SHAPE_ARRAY   /* T x[N]: inline, exactly N */
} culex_shape;

enum culex_field_flags {
    CULEX_FIELD_OPTIONAL = 1u << 0, /* `bool has_x` tells whether it is there */
    CULEX_FIELD_REQUIRED = 1u << 1, /* decoding fails without it */
    CULEX_FIELD_SECRET = 1u << 2,   /* never in a log line or error text */
    CULEX_FIELD_MUST_UNDERSTAND = 1u
                                  << 3, /* written as "!x": a reader without x gives the run back */
    CULEX_FIELD_DEPRECATED = 1u << 4,
    CULEX_FIELD_MIN = 1u << 5,      /* `min` holds */
    CULEX_FIELD_MAX = 1u << 6,      /* `max` holds */
    CULEX_FIELD_ENCRYPTED = 1u << 7 /* sealed in the payload; of params and results alone */
};

typedef struct culex_enum_value {
    const char *name;
    uint64_t bits;   /* the value, sign-extended to 64 bits */
    const char *doc; /* its comment in the schema, as that of a job; NULL: none */
} culex_enum_value;

typedef struct culex_enum_type {
    const char *name; /* qualified: "shop.lang" */
    culex_kind base;  /* an integer kind of at most 64 bits */
    const culex_enum_value *values;
    size_t value_count;
} culex_enum_type;

/* Reads `len` bytes of text, UTF-8 without NUL and NUL-ended, into the zeroed *ret_value. Whatever
 * a store may hold comes here. False: it is no value of the type. */
typedef bool (*culex_user_parse)(const char *text, size_t len, void *ret_value);

/* Writes the text, UTF-8, into the `size` bytes at ret_text, as snprintf does: returns its length
 * without the NUL, at most 1023, also when there is less room; negative: the value has no text.
 * Equal values have one text, for keys of runs are made of it. */
typedef int (*culex_user_format)(const void *value, char *ret_text, size_t size);

/* Whether values of the C type may lie where the runtime puts them, aligned as what malloc gives;
 * and whether the functions are what the runtime takes them for: C converts what one returns in
 * silence, a length to "true". */
#ifdef __cplusplus
#define CULEX_USER_TYPE_CHECK(type, parse, format)                                                 \
    static_assert(alignof(type) <= alignof(max_align_t),                                           \
                  #type " has an alignment of more than max_align_t");                             \
    static_assert(sizeof(static_cast<bool (*)(const char *, size_t, type *)>(parse)) > 0, "");     \
    static_assert(sizeof(static_cast<int (*)(const type *, char *, size_t)>(format)) > 0, "")
#else
#define CULEX_USER_TYPE_CHECK(type, parse, format)                                                 \
    _Static_assert(_Alignof(type) <= _Alignof(max_align_t),                                        \
                   #type " has an alignment of more than max_align_t");                            \
    _Static_assert(_Generic(&(parse), bool (*)(const char *, size_t, type *) : 1, default : 0),    \
                   "declare bool " #parse "(const char *text, size_t len, " #type " *ret_value)"); \
    _Static_assert(_Generic(&(format), int (*)(const type *, char *, size_t) : 1, default : 0),    \
                   "declare int " #format "(const " #type " *value, char *ret_text, size_t size)")
#endif

/* A type of the user's own: `type money = string with "money.h" money_parse money_format`. Its
 * functions are called by whoever encodes, decodes or names a run's key: in any thread, in several
 * at a time, and in the processes of handlers. They must not throw. Values are copied as bytes and
 * never released. */
typedef struct culex_user_type {
    const char *name; /* qualified: "shop.money" */
    size_t size;      /* sizeof of the C type */
    culex_user_parse parse;
    culex_user_format format;
} culex_user_type;

struct culex_struct_type;

typedef struct culex_field {
    const char *name; /* in the schema and in C */
    const char *wire; /* in the payload; differs from `name` after a rename, never has the "!" */
    culex_kind kind;
    culex_shape shape;
    unsigned flags;    /* of enum culex_field_flags */
    size_t offset;     /* of the value, the list's pointer, or the array's first element */
    size_t has_offset; /* of `has_x`; meaningful with CULEX_FIELD_OPTIONAL */
    size_t len_offset; /* of `x_len`; meaningful for lists */
    size_t count;      /* array: elements; list: most elements, 0 for no bound of its own */
    size_t min_len;    /* string, bytes: fewest bytes of each value */
    size_t max_len;    /* string, bytes: most bytes of each value, 0 for no bound of its own */
    int64_t min;       /* integers of at most 64 bits (unsigned ones: as bits), times, durations */
    int64_t max;
    const culex_enum_type *enum_type;            /* for CULEX_KIND_ENUM, else NULL */
    const struct culex_struct_type *struct_type; /* for CULEX_KIND_STRUCT, else NULL */
    const culex_user_type *user_type;            /* for CULEX_KIND_USER, else NULL */
    const void *def; /* the default, an object of the field's C type; NULL when there is none */
    const char *doc; /* its comment in the schema, as that of a job; NULL: none */
} culex_field;

typedef struct culex_struct_type {
    const char *name; /* "shop.money"; for params the job's name */
    size_t size;      /* sizeof of the C struct */
    const culex_field *fields;
    size_t field_count; /* may be 0: then `fields` is NULL */
} culex_struct_type;

typedef enum CULEX_INT_ENUM culex_backoff_kind {
    CULEX_BACKOFF_CONSTANT,    /* base */
    CULEX_BACKOFF_LINEAR,      /* base * n */
    CULEX_BACKOFF_POLYNOMIAL,  /* base * n^factor */
    CULEX_BACKOFF_EXPONENTIAL, /* base * factor^(n-1) */
    CULEX_BACKOFF_STEPS        /* steps[n-1], the last one repeats */
} culex_backoff_kind;

typedef enum CULEX_INT_ENUM culex_jitter_kind {
    CULEX_JITTER_NONE,
    CULEX_JITTER_FULL,  /* uniform in [0, delay] */
    CULEX_JITTER_EQUAL, /* uniform in [delay/2, delay] */
    CULEX_JITTER_RATIO  /* uniform in [delay*(1-ratio), delay*(1+ratio)] */
} culex_jitter_kind;

/* When and how often a failed run is tried again; n is the number of failures so far. */
typedef struct culex_retry_policy {
    uint32_t max;   /* retries after the first attempt; 0 for none */
    int64_t for_ms; /* no attempt begins so long after the first failure; 0 for no bound */
    culex_backoff_kind backoff;
    int64_t base_ms;
    double factor;
    int64_t cap_ms; /* 0 for none; holds after jitter too */
    const int64_t *steps_ms;
    size_t step_count;
    culex_jitter_kind jitter;
    double jitter_ratio; /* 0..1, for CULEX_JITTER_RATIO */
} culex_retry_policy;

/* What becomes of ticks that no worker was there for. */
typedef enum CULEX_INT_ENUM culex_missed {
    CULEX_MISSED_ONCE, /* one run for all of them */
    CULEX_MISSED_SKIP, /* none: a tick that is a minute old is gone */
    CULEX_MISSED_ALL   /* a run for each of the newest 100 of them; they may overlap */
} culex_missed;

/* When a job runs by itself; all 0: it does not. */
typedef struct culex_schedule {
    int64_t every_ms;    /* from tick to tick; 0: by the calendar */
    const char *cron;    /* when by the calendar, in five fields or a word like "@daily" */
    const char *zone;    /* whose clock that is, by its name in the tz database */
    culex_missed missed; /* by the calendar; else missed ticks have one run */
    bool may_overlap;    /* a tick has its run though that of an earlier one lives */
    int64_t jitter_ms;   /* a run is due up to so much after its tick */
} culex_schedule;

/* What becomes of an enqueue while another run has its unique key. */
typedef enum CULEX_INT_ENUM culex_on_conflict {
    CULEX_ON_CONFLICT_KEEP,    /* that run stays, and stands for this one too */
    CULEX_ON_CONFLICT_REPLACE, /* it gets what this one has; if a worker was given it before, and it
                                  waits again, this one is a run of its own and has the key */
    CULEX_ON_CONFLICT_ERROR    /* CULEX_EUNIQUE */
} culex_on_conflict;

/* Which runs of a job keep others out; all 0: none. */
typedef struct culex_unique {
    bool is_unique;
    bool by_all;        /* `by` are all params */
    const uint16_t *by; /* into the params' fields, in the order of their names in the store; NULL:
                           one run of the job */
    size_t by_count;    /* of `by` */
    unsigned while_states; /* 1u << state, of culex_run_state: in which a run keeps others out; 0:
                              for the whole of for_ms, whatever becomes of it */
    int64_t for_ms;        /* after its enqueue at most; 0: as long as it is in these states */
    culex_on_conflict on_conflict;
    int64_t delay_ms; /* of a run that is enqueued without one (debounce); 0 for none */
} culex_unique;

typedef enum CULEX_INT_ENUM culex_limit_kind {
    CULEX_LIMIT_CONCURRENCY, /* so many runs are active at a time */
    CULEX_LIMIT_RATE,        /* so many start within a time */
    CULEX_LIMIT_FAIR,        /* none: values of the params take turns */
    CULEX_LIMIT_NEEDS        /* none: what a worker must offer; of no culex_limit, see culex_need */
} culex_limit_kind;

/* Counts runs of a job in its queue, over all workers. */
typedef struct culex_limit {
    culex_limit_kind kind;
    const char *name;   /* in the queue, with the job's: "shop.send_email:concurrency_by_tenant" */
    uint32_t count;     /* concurrency: most active; rate: starts per per_ms; fair: 0 */
    int64_t per_ms;     /* rate */
    uint32_t burst;     /* rate: most that start at once */
    const uint16_t *by; /* as of culex_unique; NULL: all runs of the job together */
    size_t by_count;
} culex_limit;

/* Units of something that a worker must offer: culex_worker_options.offers. */
typedef struct culex_need {
    const char *name; /* "gpu" */
    uint32_t units;   /* 1 to 1000, which a run has for as long as it is at work */
} culex_need;

typedef struct culex_job_type {
    unsigned descriptor_version; /* CULEX_DESCRIPTOR_VERSION of the generator */
    const char *name;            /* qualified name in the schema: log lines, error texts */
    const char *wire;            /* name in the store: the job's first name */
    const char *queue;
    const culex_struct_type *params;
    const culex_struct_type *result;   /* NULL when the job returns nothing */
    const culex_struct_type *metadata; /* NULL when the job keeps none (culex/metadata.h) */
    uint64_t fingerprint;              /* of the params, to tell schema versions apart */
    int priority;                      /* 0..9, higher runs first */
    int64_t timeout_ms;                /* 0 for none */
    int64_t expires_ms;                /* 0 for never; counted from when the run became due */
    int64_t keep_success_ms;
    int64_t keep_failure_ms;
    int64_t keep_log; /* so many log lines of a run are kept with it, 0 to 1000 (culex/lines.h) */
    int64_t memory_bytes; /* of each process of a run by itself, and in a worker's control group
                             (culex_worker_options.cgroup) of all together; 0 for no limit */
    culex_retry_policy retry;
    culex_schedule schedule;
    culex_unique unique;
    const culex_limit *limits; /* at most 8, NULL: none */
    size_t limit_count;
    const culex_need *needs; /* at most 4, by their names; NULL: none */
    size_t need_count;
    const char *const *tags;
    size_t tag_count;
    const char *doc; /* its comment in the schema, lines with a newline between them, the first
                        1,000 bytes of it; NULL: none */
} culex_job_type;

/* Jobs of which each takes the result of the one before it; see culex/chain.h. */
typedef struct culex_chain {
    const char *name; /* qualified name in the schema */
    const culex_job_type *const *steps;
    size_t step_count; /* 2 to 16 */
} culex_chain;

#ifdef __cplusplus
}
#endif
#endif
