/* json_in.h - reads JSON value by value, where the caller knows which value comes next.
 *
 * For locks, listings and answers of plug-ins: they may be large, their records have a known
 * form, and a fault in them is shown at its place. Messages, whose members are looked up in any
 * order, are read into a json_tree.
 *
 * Exactly what RFC 8259 allows is taken, with at most LIMIT_JSON_DEPTH objects and lists inside
 * each other. What the RFC leaves open:
 *
 *   \ud83d\ude00          one character
 *   half of such a pair   malformed
 *   \u0000                taken: a text may hold NUL, and its length tells
 *   bytes not UTF-8       taken as they are: who needs UTF-8 looks at that
 *   two equal names       each is given to the caller; json_get finds the first
 *   -0, 1.0, 1e2          numbers, none of them whole
 *   a byte order mark     malformed
 *
 * After the first fault every call returns false, so a caller may look at is_bad once, at the
 * end; text.at stays where the fault is. */
#ifndef CULEXC_JSON_IN_H
#define CULEXC_JSON_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "core/json.h"

struct json_in {
    struct culex__json text;
    bool is_bad;
    const char *fault; /* what is wrong at text.at, in fixed words, once is_bad */
};

/* Borrows `text`, which may be NULL when `len` is 0. */
struct json_in json_in_text(const char *text, size_t len);

/* Sets a fault that the caller has found; the first one counts. Always false. */
bool json_in_fail(struct json_in *in, const char *fault);

/* How many bytes of the text have been read. */
size_t json_in_offset(const struct json_in *in);

/* The byte with which the next token begins; 0 at the end. */
char json_in_peek(struct json_in *in);

/* True when nothing but white space is left. */
bool json_in_at_end(struct json_in *in);

/* Consumes `byte`, one of "{[:,", or fails. */
bool json_in_expect(struct json_in *in, char byte);

/* A string with its escapes resolved. It has a NUL behind it and may have some inside. */
bool json_in_string(struct json_in *in, struct arena *arena, char **ret_text, size_t *ret_len);

/* A whole number of 64 bits. */
bool json_in_number(struct json_in *in, int64_t *ret_number);

/* Any number; *ret_number is set when it is whole and has 64 bits. */
bool json_in_any_number(struct json_in *in, bool *ret_is_whole, int64_t *ret_number);

/* Consumes the word `true`, `false` or `null` when it comes next. */
bool json_in_word(struct json_in *in, const char *word);

/* True or false. */
bool json_in_bool(struct json_in *in, bool *ret_value);

/* Any value. */
bool json_in_skip(struct json_in *in);

/* For loops over `[...]` and `{...}`, after the opening bracket: true while there
 * is another element. `*is_first` starts as true. */
bool json_in_more(struct json_in *in, char close, bool *is_first);

#endif
