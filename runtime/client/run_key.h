/* client/run_key.h - what a run is unique by and counted by, from the values of its params.
 *
 * All programs must agree on these, whatever version or language they are, or limits would not hold
 * between them. So a key is made of names and values as the payload has them (schemas/payload.md),
 * param by param, in the order of the names. A param that had another name once goes by its first.
 *
 * A unique key is the digest of the job's name and of that. The values come from outside: with a
 * hash that is not collision resistant somebody could enqueue what stands in another's way.
 *
 * The key of a limit is for people too, who list what waits: the values themselves, joined by '+',
 * where all of them are of letters, digits and "_-.:@/" and have 64 bytes in all; else '#', with
 * which no such text begins, and a digest. */
#ifndef CULEX_CLIENT_RUN_KEY_H
#define CULEX_CLIENT_RUN_KEY_H

#include <culex/codec.h>
#include <culex/job.h>

#include "base/limits.h"
#include "base/sha256.h"
#include "store/store.h"

/* 160 bits in hex: of 128, two that are alike would be within reach of who looks for them. */
enum { CULEX_UNIQUE_KEY_LEN = 40 };

/* What struct culex_new_run borrows of one run. */
struct culex_run_keys {
    char unique[CULEX_UNIQUE_KEY_LEN + 1];
    char keys[CULEX_RUN_LIMITS_MAX][CULEX_LIMIT_KEY_MAX + 1];
    struct culex_run_limit limits[CULEX_RUN_LIMITS_MAX];
    size_t limit_count;
    /* The name of the last of them, if the job needs something. */
    char needs[CULEX_LIMIT_NAME_MAX + 1];
};

/* A key that is made param by param. */
struct culex_key_maker {
    struct culex_sha256 hash;
    char text[CULEX_LIMIT_KEY_MAX + 1]; /* of the values */
    size_t len, count;
    bool is_plain; /* `text` says all */
};

void culex__key_begin(struct culex_key_maker *maker);
/* The next param: its name in the store, and its JSON text, empty where it is absent. */
void culex__key_add(struct culex_key_maker *maker, const char *wire, const char *text, size_t len);
void culex__key_end_unique(struct culex_key_maker *maker, const char *job,
                           char ret_key[CULEX_UNIQUE_KEY_LEN + 1]);
/* "" of no param. */
void culex__key_end_limit(struct culex_key_maker *maker, char ret_key[CULEX_LIMIT_KEY_MAX + 1]);

/* Whether runs of the job have any of it; the others pay for nothing else here. */
static inline bool culex__job_has_keys(const culex_job_type *type)
{
    return type->unique.is_unique || type->limit_count > 0 || type->need_count > 0;
}

/* Fills `keys` but for the keys themselves, which are "". */
void culex__run_keys_begin(const culex_job_type *type, struct culex_run_keys *keys);

/* Lets `run` borrow what `keys` holds. */
void culex__run_keys_lend(struct culex_run_keys *keys, struct culex_new_run *run);

/* Both, and makes the keys from `params`. Uses the room behind `scratch`, which keeps its
 * length. As culex_encode. */
culex_status culex__run_keys_make(const culex_job_type *type, const void *params,
                                  culex_buf *scratch, struct culex_run_keys *keys,
                                  struct culex_new_run *run, culex_error *error);

#endif
