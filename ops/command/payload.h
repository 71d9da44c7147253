/* ops/command/payload.h - params as JSON that somebody wrote, made the text of a payload.
 *
 * Beside what payloads have (schemas/payload.md) it takes what the language has: durations as
 * 1h30m, bytes as x"00ff", and as hex:00ff and base64:AP8=, and the name of a param that the store
 * knows by an older one. Each value is checked where it stands, so that a message tells its path
 * and its place in what was given. */
#ifndef OPS_COMMAND_PAYLOAD_H
#define OPS_COMMAND_PAYLOAD_H

#include <culex/codec.h>

#include "command/fail.h"
#include "command/scan.h"

/* Where a value stands: a.b[3].c. */
enum { OPS_PATH_SIZE = 240 };

/* What is read, and where it goes. */
struct ops_payload {
    const char *what; /* the text's name in messages: "--payload"; "the value" */
    culex_buf *out;
    culex_error *error;
};

/* Appends the object of `type` in `text`. CULEX_EUSAGE says what is wrong. CULEX_ENOKEY: it has a
 * param that `type` has encrypted: who has keys reads by ops_type_bare. */
culex_status ops_payload_object(const struct ops_payload *payload, const culex_struct_type *type,
                                struct ops_slice text);
/* The same of the value or list of a field, whose path is given. */
culex_status ops_payload_value(const struct ops_payload *payload, const culex_field *field,
                               const char *path, bool is_secret, struct ops_slice text);
/* A duration or bytes, as one writes them without quotes, in quotes. */
culex_status ops_payload_plain(const struct ops_payload *payload, const culex_field *field,
                               const char *path, bool is_secret, struct ops_slice text);

/* CULEX_ENOKEY of an encrypted field, which `is` more, as "required and ". */
culex_status ops_sealed_refuse(const culex_field *field, const char *is, culex_error *error);

/* Whether the codec takes `json` as the field's value: its words with the whole path if not. */
culex_status ops_payload_try(const culex_field *field, const char *path, bool is_secret,
                             struct ops_slice json, culex_error *error);

/* Whether the enum has such a value; else what is wrong, with the one that was meant. */
bool ops_enum_has(const culex_field *field, const char *path, bool is_secret, struct ops_slice name,
                  char *ret_wrong, size_t size);

/* "; did you mean x?", or what there is. */
const char *ops_names_hint(const culex_struct_type *type, struct ops_slice name, char *ret_text,
                           size_t size);

/* The field of that name, or of that name in the store, which differs after a rename; NULL. */
const culex_field *ops_field_named(const culex_struct_type *type, struct ops_slice name);
const culex_field *ops_field_stored(const culex_struct_type *type, struct ops_slice wire);

void ops_buf_put(culex_buf *buf, const char *text, size_t len);
/* As a JSON string. Bytes that are no UTF-8 are left to the codec, which says so. */
void ops_buf_quote(culex_buf *buf, struct ops_slice text);

#endif
