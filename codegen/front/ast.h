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
    struct ast_name backoff; /* the kind */
    struct literal base, factor, cap;
    struct literal *steps;
    struct ast_name jitter;      /* none, full or equal ... */
    struct literal jitter_ratio; /* ... or a number */
};

/* ORDER SETTING_WORDS in parse_setting.c */
enum setting_kind {
    SETTING_QUEUE,
    SETTING_PRIORITY,
    SETTING_TIMEOUT,
    SETTING_EXPIRES,
    SETTING_KEEP,
    SETTING_MEMORY,
    SETTING_RETRY,
    SETTING_UNIQUE,
    SETTING_CONCURRENCY,
    SETTING_RATE,
    SETTING_EVERY,
    SETTING_CRON,
    SETTING_TAGS,
    SETTING_COUNT
};

struct ast_setting {
    enum setting_kind kind;
    struct span span;          /* of its first word */
    struct literal value;      /* the first value of any kind of setting */
    struct literal extra;      /* keep: failure; rate: per; every: jitter; cron: tz; unique: for */
    struct literal burst;      /* rate */
    struct literal *list;      /* tags */
    struct ast_names *by;      /* unique, concurrency, rate */
    struct ast_names *states;  /* unique while */
    struct ast_name word;      /* cron missed; unique on_conflict; retry none or policy name */
    struct ast_policy *policy; /* retry { } */
    struct ast_setting *next;
};

enum ast_decl_kind { DECL_ENUM, DECL_STRUCT, DECL_POLICY, DECL_JOB, DECL_DEFAULTS };

struct ast_decl {
    enum ast_decl_kind kind;
    struct ast_name name; /* defaults: the word itself */
    const char *doc;
    struct ast_attr *attrs;
    struct ast_decl *next;
    struct ast_name base;          /* enum */
    struct ast_enum_value *values; /* enum */
    struct literal *reserved;      /* enum */
    struct ast_fields fields;      /* struct; params of a job */
    struct ast_fields returns;     /* job; span has no source when not written */
    struct ast_policy *policy;     /* retry_policy */
    struct ast_setting *settings;  /* job, defaults */
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

const char *ast_decl_word(enum ast_decl_kind kind);
const char *setting_word(enum setting_kind kind);

#endif
