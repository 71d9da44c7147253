/* lock.h - what a set of schema files promises to whoever wrote or will read its runs.
 *
 * The same model is made of checked schemas (lock_make) and of the text that a project commits,
 * jobs.lock (lock_read); a comparison (change.h) needs two of them and does not know where they
 * came from. Everything lives in the arena it was made in. The first member of everything that
 * is listed is `next`.
 *
 * Beside the schema as it is, a lock remembers what cannot be seen in it any more: names that
 * must never come back, jobs that were removed, the params of every version of a job whose runs
 * may still be stored, and results that callers may still read. */
#ifndef CULEXC_LOCK_H
#define CULEXC_LOCK_H

#include "buf.h"
#include "diag.h"
#include "ir.h"
#include "map.h"
#include "module.h"

/* The format of jobs.lock; a reader refuses a later one. */
#define LOCK_FORMAT 1

struct lock_text {
    struct lock_text *next;
    const char *text;
};

/* [[allow_breaking("id", "reason")]] */
struct lock_allow {
    struct lock_allow *next;
    const char *id, *reason;
};

enum lock_presence { LOCK_REQUIRED, LOCK_DEFAULT, LOCK_OPTIONAL, LOCK_LIST };

struct lock_field {
    struct lock_field *next;
    const char *wire, *name;
    const char *type;          /* the kind's word */
    const char *ref, *version; /* name and fingerprint of an enum, a struct or a user's type */
    const char *shape, *presence;
    const char *default_text;
    const char *min, *max; /* decimal; times and durations in ns */
    const char *deprecated;
    int64_t count, min_len, max_len; /* -1: none */
    bool is_secret, is_encrypted, must_understand;
    struct lock_text *was;
    struct lock_allow *allows;
    /* Worked out of the above: */
    enum ir_kind kind;
    enum ast_shape form;
    enum lock_presence need;
    struct lock_type *target; /* what `ref` means */
    struct wide low, high;    /* of integers, times and durations; lengths of strings and bytes */
    struct span span;         /* in a schema; in a lock's text, for complaints about that */
};

/* The fields of params, returns or a struct. */
struct lock_block {
    struct lock_field *fields;
    struct lock_text *reserved; /* names, as declared */
    struct lock_text *gone;     /* names that were used or reserved once, and no longer are */
};

struct lock_value {
    struct lock_value *next;
    const char *name, *number, *deprecated;
    struct lock_allow *allows;
    struct span span;
};

/* The shape of an enum or a struct, or a type of the user's own. Several of one name differ in
 * their version. */
struct lock_type {
    struct lock_type *next;
    const char *name;
    const char *version; /* its fingerprint */
    const char *kind;    /* "enum", "struct", "user" */
    const char *c;
    const char *base; /* of an enum; what a user's type is written as */
    bool is_old;      /* no longer in the schema; stored runs may have it */
    bool is_closed;
    struct lock_value *values;
    struct lock_text *reserved_numbers, *gone_numbers;
    struct lock_block block; /* of a struct; an enum has `reserved` and `gone` in it */
    struct lock_allow *allows;
    struct span span;
    unsigned depth; /* of structs inside each other; 0 while unknown */
    int state;      /* of walks */
};

/* Params or a result as they once were. */
struct lock_version {
    struct lock_version *next;
    const char *fingerprint;
    struct lock_field *fields;
};

/* A limit of a job. Its key is names on the wire, joined by commas; "" for all runs together. */
struct lock_limit {
    struct lock_limit *next;
    const char *kind; /* "concurrency", "rate", "fair"; "needs" */
    const char *key;  /* of "needs" the name of what is needed, of which `count` is the units */
    int64_t count, per_ms, burst; /* -1: it has none */
};

/* Texts are NULL and numbers -1 when not set. The key of a unique run is as of a limit, and begins
 * with "all of " when new params come into it by themselves. */
struct lock_settings {
    const char *queue;
#define LOCKED(member, key, unit, judge, rule, suffix, text) int64_t key;
#include "settings.def"
    const char *backoff; /* NULL: no retries, or a lock that does not remember it */
    const char *schedule;
    const char *unique, *unique_key;
    struct lock_limit *limits;
};

struct lock_job {
    struct lock_job *next;
    const char *wire, *name, *c, *package;
    struct lock_text *was;
    bool is_retired;
    const char *deprecated;
    const char *fingerprint; /* of the params, 16 hexadecimal digits */
    struct lock_block *params;
    struct lock_block *returns;  /* NULL: none */
    struct lock_block *metadata; /* NULL: none */
    const char *result;          /* its fingerprint; NULL in a lock that does not remember it */
    struct lock_settings *settings;
    struct lock_version *versions; /* earlier params, the oldest first */
    struct lock_version *results;  /* the same of results that were kept for long */
    struct lock_allow *allows;
    struct span span;
};

/* A job that was removed: its name stays taken. */
struct lock_removed {
    struct lock_removed *next;
    const char *wire, *name;
};

/* Jobs that follow one another, by their names in a store. */
struct lock_chain {
    struct lock_chain *next;
    const char *name;
    struct lock_text *steps;
    struct span span;
};

struct lock {
    int64_t format;
    struct lock_type *types;
    struct lock_job *jobs;
    struct lock_chain *chains;
    struct lock_removed *removed;
    struct map wires; /* the jobs by their names in a store */
    struct span span; /* of what has no place: the start of the first file that was named */
};

/* What the checked modules declare. Reports jobs of two files that
 * are one job in a queue. */
struct lock *lock_make(struct compilation *compilation);

/* Reads a lock. NULL after a report in `sink`. */
struct lock *lock_read(struct diag_sink *sink, const char *path, const char *text, size_t size);

/* Writes the canonical text: the same for equal locks, in whatever order files were named. */
void lock_write(const struct lock *lock, struct buf *buf);

/* Adds to `after`, made of schemas, what `before` remembers; of older versions, when there is a
 * listing of a store, only those in it; of results a listing says nothing. False when a job has
 * more versions than a lock may hold: its name is then in *ret_job. */
struct live;
bool lock_inherit(struct arena *arena, struct lock *after, const struct lock *before,
                  const struct live *live, const char **ret_job);

const struct lock_job *lock_job_find(const struct lock *lock, const char *wire);

/* Fills what is worked out of the texts. NULL, or what is wrong with the field. */
const char *lock_field_derive(struct lock_field *field);

/* A number of the model as a lock keeps it; -1 is none in both. */
int64_t lock_in_units(int64_t number, int64_t unit);

/* What is in a list, by its text. */
void lock_text_index(const struct lock_text *list, struct map *map);
void lock_text_add(struct arena *arena, struct lock_text **list, const char *text);

/* Sorts a list by the text at `offset` in its items. */
void *lock_sort(void *list, size_t offset);
struct lock_text *lock_text_sort(struct lock_text *list);

#endif
