/* core/json.h - reading JSON text (RFC 8259) token by token, strictly, without memory.
 *
 * Functions that can fail return NULL, or say in fixed words what was wrong where `at` stands
 * then. The words never contain bytes of the text, which may be secret. */
#ifndef CULEX_CORE_JSON_H
#define CULEX_CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct culex__json {
    const char *start;
    const char *at;
    const char *end;
    bool takes_any_bytes; /* strings need not be UTF-8: their reader looks at that itself */
};

/* A part of the text. For strings: between the quotes, escapes not yet resolved. */
struct culex__json_text {
    const char *data;
    size_t len;
    bool is_escaped; /* strings: has a backslash */
};

/* Skips white space; the next byte, or 0 at the end (a NUL byte in the text is no token either). */
char culex__json_peek(struct culex__json *json);

/* Passes over white space and `byte`; false, past the white space only, when it is not next. */
bool culex__json_take(struct culex__json *json, char byte);

/* Passes over a string, which begins at `at`. It is valid UTF-8 (unless any bytes are taken), has
 * no raw control characters, and its escapes are well formed, surrogates paired. */
const char *culex__json_string(struct culex__json *json, struct culex__json_text *ret_text);

/* Resolves the escapes of a string from culex__json_string: UTF-8, at most text->len bytes,
 * which may hold NUL. Returns the length. */
size_t culex__json_unescape(const struct culex__json_text *text, char *ret_bytes);

/* Passes over a number, which begins at `at`. */
const char *culex__json_number(struct culex__json *json, struct culex__json_text *ret_text);

/* Passes over `true`, `false` or `null`, spelt in `word`; false when something else stands there.
 */
bool culex__json_word(struct culex__json *json, const char *word);

/* Passes over any value with at most `depth` objects and lists inside each other. */
const char *culex__json_skip(struct culex__json *json, unsigned depth);

#endif
