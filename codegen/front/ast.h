/* ast.h - the syntax tree: what was written, with places, nothing resolved.
 *
 * All nodes live in the compilation's arena and are linked by `next` in the
 * order of the file. A literal of kind LITERAL_NONE was not written. */
#ifndef CULEXC_AST_H
#define CULEXC_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "source.h"
#include "wide.h"

struct ast_name {
    const char *text; /* a path is joined by dots; NULL when not written */
    struct span span;
};

struct ast_names {
    struct ast_name name;
    struct ast_names *next;
};

enum literal_kind {
    LITERAL_NONE,
    LITERAL_INT,
    LITERAL_FLOAT,
    LITERAL_STRING,
    LITERAL_BYTES,
    LITERAL_CHAR,
    LITERAL_DURATION,
    LITERAL_SIZE,
    LITERAL_WORD,
    LITERAL_POISON /* malformed, already reported: nobody complains again */
};

struct literal {
    enum literal_kind kind;
    struct span span;
    struct literal *next;
    const char *text; /* STRING decoded, BYTES raw bytes, WORD and FLOAT as written, with sign */
    size_t len;
    struct wide integer; /* INT, SIZE in bytes, CHAR */
    int64_t duration_ns; /* DURATION */
    bool is_negative;    /* a '-' stood before it */
};

struct ast_attr {
    struct ast_name name;
    struct literal *args;
    struct ast_attr *next;
};

enum ast_shape { SHAPE_SINGLE, SHAPE_LIST, SHAPE_ARRAY };

struct ast_field {
    struct ast_name type;
    struct ast_name name;
    struct span optional; /* of the word; no source when not written */
    enum ast_shape shape;
    struct literal count; /* of [N] and [<=N] */
    struct ast_attr *attrs;
    struct literal value;
    const char *doc;
    struct ast_field *next;
};

struct ast_fields {
    struct span span;
    struct ast_field *first;
    struct literal *reserved;
};

struct ast_enum_value {
    struct ast_name name;
    struct literal number;
    struct ast_attr *attrs;
    const char *doc;
    struct ast_enum_value *next;
};

struct ast_policy {
    struct literal max;
    struct literal time;     /* for */
    struct ast_name backoff; /* the kind */
    struct literal base, factor, cap;
    struct literal *steps;
    struct ast_name jitter;      /* none, full or equal ... */
    struct literal jitter_ratio; /* ... or a number */
};

enum setting_kind {
#define SETTING(symbol, word, place, form, text) SETTING_##symbol,
#include "settings.def"
    SETTING_COUNT
};

struct ast_keep {
    struct literal success, failure, log;
};

struct ast_retry {
    struct ast_name name;      /* none, or of a retry_policy ... */
    struct ast_policy *policy; /* ... or a block; else NULL */
};

struct ast_unique {
    struct ast_names *by;
    struct ast_name all; /* in place of them */
    struct literal time; /* for */
    struct ast_names *states;
    struct ast_name on_conflict;
    struct literal debounce; /* then none of the three before */
};

/* concurrency, rate, fair: `count` has no value for the last, the next two but for rate. */
struct ast_limit {
    struct literal count, per, burst;
    struct ast_names *by;
};

struct ast_need {
    struct literal name, units;
};

/* How the runs of one schedule lie beside each other. */
struct ast_spread {
    struct literal jitter;
    struct ast_name overlap;
};

struct ast_every {
    struct literal interval;
    struct ast_spread spread;
};

struct ast_cron {
    struct literal fields, zone;
    struct ast_name missed;
    struct ast_spread spread;
};

struct ast_setting {
    enum setting_kind kind;
    struct span span;         /* of its first word */
    union {                   /* by `kind` */
        struct literal value; /* queue, and what is a single number */
        struct ast_keep keep;
        struct ast_retry retry;
        struct ast_unique unique;
        struct ast_limit limit;
        struct ast_need need;
        struct ast_every every;
        struct ast_cron cron;
        struct literal *tags;
    };
    struct ast_setting *next;
};

enum ast_decl_kind {
    DECL_ENUM,
    DECL_STRUCT,
    DECL_TYPE,
    DECL_POLICY,
    DECL_JOB,
    DECL_CHAIN,
    DECL_DEFAULTS
};

struct ast_decl {
    enum ast_decl_kind kind;
    struct ast_name name; /* defaults: the word itself */
    const char *doc;
    struct ast_attr *attrs;
    struct ast_decl *next;
    struct ast_name base;          /* enum, type */
    struct ast_enum_value *values; /* enum */
    struct literal *reserved;      /* enum */
    struct ast_fields fields;      /* struct; params of a job */
    struct ast_fields returns;     /* job; span has no source when not written */
    struct ast_fields metadata;    /* the same */
    struct literal header;         /* type ... */
    struct ast_name parse, format; /* ... and its functions */
    struct ast_policy *policy;     /* retry_policy */
    struct ast_setting *settings;  /* job, defaults */
    struct ast_names *steps;       /* chain */
};

struct ast_import {
    struct span span; /* of the whole statement */
    struct literal path;
    struct ast_import *next;
};

struct ast_file {
    struct ast_name package;
    struct ast_import *imports;
    struct ast_decl *decls;
    bool has_errors; /* something may be missing from this tree */
};

/* The first of `decls` that is of this kind, or NULL. */
const struct ast_decl *ast_decl_next(const struct ast_decl *decls, enum ast_decl_kind kind);

/* The first of `attrs` with this name, or NULL. */
const struct ast_attr *ast_attr_find(const struct ast_attr *attrs, const char *name);

const char *ast_decl_word(enum ast_decl_kind kind);

#endif
