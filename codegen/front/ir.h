/* ir.h - the checked model: names resolved, values exact, C names made.
 *
 * This is what the renderer gets, as JSON (ir_json.h). Everything lives in the
 * compilation's arena; lists are linked by `next` in the order they are printed.
 * NULL texts print as null. */
#ifndef CULEXC_IR_H
#define CULEXC_IR_H

#include <stdbool.h>
#include <stdint.h>

#include "ast.h"

#define IR_VERSION 1

/* Kinds of values: symbol, word in the schema, bits of an integer, signed. */
#define IR_KINDS(X)                                                                                \
    X(BOOL, "bool", 0, 0)                                                                          \
    X(CHAR, "char", 0, 0)                                                                          \
    X(INT8, "int8", 8, 1)                                                                          \
    X(INT16, "int16", 16, 1)                                                                       \
    X(INT32, "int32", 32, 1)                                                                       \
    X(INT64, "int64", 64, 1)                                                                       \
    X(INT128, "int128", 128, 1)                                                                    \
    X(UINT8, "uint8", 8, 0)                                                                        \
    X(UINT16, "uint16", 16, 0)                                                                     \
    X(UINT32, "uint32", 32, 0)                                                                     \
    X(UINT64, "uint64", 64, 0)                                                                     \
    X(UINT128, "uint128", 128, 0)                                                                  \
    X(FLOAT32, "float32", 0, 0)                                                                    \
    X(FLOAT64, "float64", 0, 0)                                                                    \
    X(STRING, "string", 0, 0)                                                                      \
    X(BYTES, "bytes", 0, 0)                                                                        \
    X(UUID, "uuid", 0, 0)                                                                          \
    X(TIMESTAMP, "timestamp", 0, 0)                                                                \
    X(DURATION, "duration", 0, 0)                                                                  \
    X(ENUM, "enum", 0, 0)                                                                          \
    X(STRUCT, "struct", 0, 0)                                                                      \
    X(USER, "user", 0, 0)

enum ir_kind {
#define X(symbol, word, bits, is_signed) IR_##symbol,
    IR_KINDS(X)
#undef X
        IR_KIND_COUNT
};

struct ir_kind_info {
    const char *word;
    unsigned bits; /* of integers, 0 otherwise */
    bool is_signed;
};
extern const struct ir_kind_info ir_kinds[IR_KIND_COUNT];

/* The kind a built-in type word names, IR_KIND_COUNT when it is none. */
enum ir_kind ir_kind_find(const char *word);

/* Whether the kind takes [[min]] and [[max]]: a descriptor holds bounds of 64 bits. */
bool ir_kind_has_bounds(enum ir_kind kind);

enum ir_value_kind {
    VALUE_NONE,
    VALUE_BOOL,
    VALUE_INT,
    VALUE_FLOAT,
    VALUE_CHAR,
    VALUE_STRING,
    VALUE_BYTES,
    VALUE_UUID,
    VALUE_TIME,
    VALUE_DURATION,
    VALUE_ENUM
};

struct ir_value {
    enum ir_value_kind kind;
    const char *text; /* INT, FLOAT decimal; STRING; BYTES raw; UUID; ENUM name */
    size_t len;
    int64_t number;      /* BOOL, CHAR, TIME and DURATION in ns */
    struct wide wide;    /* INT */
    const char *c;       /* ENUM: the constant */
    const char *decimal; /* ENUM: its number */
};

struct ir_enum_value {
    const char *name;
    const char *c;
    struct wide number;
    const char *doc;
    const char *deprecated;
    struct ast_attr *attrs;
    struct span span;
    struct ir_enum_value *next;
};

struct ir_enum {
    const char *name;
    const char *c;
    const char *type_symbol;
    const char *name_function;
    const char *doc;
    uint32_t line;
    enum ir_kind base;
    bool is_closed;
    struct ast_attr *attrs;
    struct ir_enum_value *values;
    uint64_t fingerprint;
    const struct ast_decl *decl;
    struct ir_enum *next;
};

/* A type whose C code is the user's: a payload has it as a text. */
struct ir_user {
    const char *name;
    const char *c; /* what the user's header calls it */
    const char *type_symbol;
    const char *doc;
    uint32_t line;
    const char *header, *parse, *format;
    uint64_t fingerprint;
    const struct ast_decl *decl;
    struct ir_user *next;
};

struct ir_field {
    const char *name, *c, *wire, *doc;
    uint32_t line;
    enum ir_kind kind;
    const struct ir_enum *enumeration;
    const struct ir_struct *structure;
    const struct ir_user *user;
    enum ast_shape shape;
    int64_t count; /* -1: none */
    bool is_optional, is_required, must_understand;
    bool is_secret, is_encrypted; /* what is encrypted is a secret, too */
    const char *has_c, *len_c;
    const char *set_c; /* the function that sets it with these two, NULL: there is neither */
    struct ir_value value, min, max;
    int64_t min_len, max_len; /* -1: none */
    const char *deprecated;
    struct ast_attr *attrs;
    struct span span;
    struct ir_field *next;
};

struct ir_struct {
    const char *name, *c, *type_symbol, *make, *doc;
    uint32_t line;
    struct ir_field *fields;
    uint64_t fingerprint;
    uint64_t cells; /* values inside, lists counted once */
    unsigned depth; /* of structs and lists inside each other, itself one */
    int state;      /* of the walk that puts structs in order */
    const struct ast_decl *decl;
    struct ir_struct *next;
};

enum ir_backoff {
    BACKOFF_CONSTANT,
    BACKOFF_LINEAR,
    BACKOFF_POLYNOMIAL,
    BACKOFF_EXPONENTIAL,
    BACKOFF_STEPS
};
enum ir_jitter { JITTER_NONE, JITTER_FULL, JITTER_EQUAL, JITTER_RATIO };

/* How they are written; a NULL ends them. A ratio is written as a number. */
extern const char *const ir_backoff_words[], *const ir_jitter_words[];

struct ir_retry {
    int64_t max;
    int64_t for_ns; /* after the first failure; -1: no bound */
    enum ir_backoff backoff;
    int64_t base_ns;    /* -1: steps */
    const char *factor; /* decimal; NULL: none */
    int64_t cap_ns;     /* -1: none */
    struct literal *steps;
    enum ir_jitter jitter;
    const char *jitter_ratio;
};

/* The word of the jitter, or its ratio. */
const char *ir_jitter_text(const struct ir_retry *retry);

/* Seconds before the n-th retry, jitter left out. *step starts as retry->steps. */
double ir_retry_delay(const struct ir_retry *retry, int64_t n, const struct literal **step);

/* How many retries begin within the time for them when attempts take none, jitter left out. */
int64_t ir_retry_count(const struct ir_retry *retry);

/* Of the settings below, NULL: not set. What was left out has its default. */
struct ir_unique {
    const struct ast_names *by;     /* in the order of their names in the store */
    bool is_by_all;                 /* and these are all params */
    const struct ast_names *states; /* NULL: whatever becomes of the run */
    int64_t for_ns;                 /* -1: as long as the run is in these states */
    const char *on_conflict;
    int64_t delay_ns; /* of a run that is enqueued without one; 0: none */
};

/* concurrency, rate or fair. Numbers that it has not are -1. */
struct ir_limit {
    enum setting_kind kind;
    const char *name; /* in the store, where the queue's limits have names of their own */
    int64_t count, per_ns, burst;
    const struct ast_names *by; /* as of ir_unique */
    const struct ast_setting *setting;
    struct ir_limit *next;
};

/* What a worker must offer. */
struct ir_need {
    const char *name;
    int64_t units;
    const struct ast_setting *setting;
    struct ir_need *next;
};

struct ir_spread {
    int64_t jitter_ns;
    bool may_overlap;
};

struct ir_every {
    int64_t interval_ns;
    struct ir_spread spread;
};

struct ir_cron {
    const char *fields, *zone, *missed;
    struct ir_spread spread;
};

/* Numbers are -1 when there is no limit. */
struct ir_settings {
    const struct ast_setting *set[SETTING_COUNT]; /* where it was written */
    const char *queue;
#define SCALAR(symbol, member, form, unset, least, most, what) int64_t member;
#include "settings.def"
    struct ir_retry retry;
    const struct literal *tags;
    const struct ir_unique *unique;
    struct ir_limit *limits; /* in the order in which they are written */
    struct ir_need *needs;   /* sorted by name */
    const struct ir_every *every;
    const struct ir_cron *cron;
};

struct ir_job {
    const char *name, *qualified, *wire, *c, *doc, *deprecated;
    struct literal *was;
    uint32_t line;
    bool is_retired;
    struct ast_attr *attrs;
    struct {
#define FUNCTION(member, key, when, parameters) const char *member;
#include "cnames.def"
    } functions;
    const char *params_symbol;
    struct ir_field *params;
    const char *result_c, *result_make, *result_decode; /* NULL: returns nothing */
    struct ir_field *result;
    const char *metadata_c, *metadata_make; /* NULL: keeps none */
    struct ir_field *metadata;
    struct ir_settings settings;
    uint64_t fingerprint;
    const struct ast_decl *decl;
    struct ir_job *next;
};

/* A step's job, of this file or of one that it imports. */
struct ir_step {
    const struct ir_job *job;
    struct ir_step *next;
};

struct ir_chain {
    const char *name, *qualified, *doc;
    uint32_t line;
    const char *type_symbol, *enqueue, *register_;
    struct ir_step *steps; /* two at the least */
    const struct ast_decl *decl;
    struct ir_chain *next;
};

struct ir_import {
    const char *file, *header;
    struct ir_import *next;
};

struct ir_file {
    const char *file, *stem, *header, *source, *guard, *package;
    struct ir_import *imports;
    struct ir_enum *enums;
    struct ir_user *users;
    struct ir_struct *structs; /* each after those it contains */
    struct ir_job *jobs;
    struct ir_chain *chains;
};

#endif
