/* json_tree.h - JSON as a tree, for messages whose members are looked up in any order.
 *
 * It takes what json_in takes, of which it is made: the header of that one says what the RFC leaves
 * open. Texts whose form is known are read with json_in, without a tree. */
#ifndef CULEXC_JSON_TREE_H
#define CULEXC_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_kind kind;
    bool is_whole; /* NUMBER: as json_in_number takes it */
    const char *name;
    size_t name_len;
    const char *text; /* TEXT */
    size_t len;
    int64_t number; /* BOOL, whole NUMBER */
    const struct json *first, *next;
};

struct json_fault {
    const char *text; /* in fixed words */
    size_t offset;    /* bytes before it */
};

/* NULL, and what is wrong, when `text` is not one JSON value, nests deeper than LIMIT_JSON_DEPTH
 * or has more values than LIMIT_MESSAGE_NODES. */
const struct json *json_parse(struct arena *arena, const char *text, size_t len,
                              struct json_fault *ret_fault);

/* The member at a path of names joined by dots, the first where there are several. What is not
 * there is a JSON_NULL, never NULL. */
const struct json *json_get(const struct json *json, const char *path);

/* The text, or NULL when it is no text or has a NUL inside. */
const char *json_string(const struct json *json);

/* False when it is no whole number of 0 to 2^31 - 1. */
bool json_count(const struct json *json, uint32_t *ret_count);

/* Whether an array of texts has this one. */
bool json_has_text(const struct json *array, const char *text);

#endif
