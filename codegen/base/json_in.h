/* json_in.h - reads JSON from a buffer, value by value.
 *
 * After a malformed byte `is_bad` stays set and every call returns false, so a
 * caller may look once, at the end. */
#ifndef CULEXC_JSON_IN_H
#define CULEXC_JSON_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "buf.h"

struct json_in {
    const char *at;
    const char *end;
    bool is_bad;
    const char *bad_at; /* the malformed byte, once is_bad */
};

/* Reads what `text` holds now, also nothing at all. */
struct json_in json_in_buf(const struct buf *text);

/* Consumes `byte`, after white space, when it comes next. */
bool json_in_accept(struct json_in *in, char byte);

/* True when nothing but white space is left. */
bool json_in_at_end(struct json_in *in);

/* Consumes `byte` or fails. */
bool json_in_expect(struct json_in *in, char byte);

/* A string, decoded to UTF-8. It has a NUL behind it and may have some inside. */
bool json_in_string(struct json_in *in, struct arena *arena, char **ret_text, size_t *ret_len);

/* A whole number that fits, or true or false. */
bool json_in_number(struct json_in *in, int64_t *ret_number);
bool json_in_bool(struct json_in *in, bool *ret_value);

/* Any value, at most 64 levels deep. */
bool json_in_skip(struct json_in *in);

/* For loops over `[...]` and `{...}`, after the opening bracket: true while there
 * is another element. `*is_first` starts as true. */
bool json_in_more(struct json_in *in, char close, bool *is_first);

#endif
