/* json_out.h - writes JSON, in the order in which it is called.
 *
 * `name` is the member's name inside an object and NULL inside an array. A zeroed
 * struct is a writer; take the text from `buf` and release it. */
#ifndef CULEXC_JSON_OUT_H
#define CULEXC_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"

struct json_out {
    struct buf buf;
    bool is_compact; /* everything on one line */
    bool is_open;    /* nothing yet in the innermost object or array */
    unsigned depth;
};

void json_open(struct json_out *json, const char *name, char bracket);
void json_close(struct json_out *json, char bracket);

/* NULL writes null. Bytes that are not UTF-8 become U+FFFD. */
void json_text(struct json_out *json, const char *name, const char *text);
void json_text_len(struct json_out *json, const char *name, const char *text, size_t len);

/* A value that is JSON already. */
void json_raw(struct json_out *json, const char *name, const struct buf *value);
void json_bool(struct json_out *json, const char *name, bool value);
void json_null(struct json_out *json, const char *name);
void json_number(struct json_out *json, const char *name, int64_t value);

/* The number as a decimal string: safe where readers use doubles. */
void json_decimal(struct json_out *json, const char *name, int64_t value);

#endif
