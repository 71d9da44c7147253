/* ops/command/json_read.h - values of a JSON text, read strictly. False for anything else than such
 * a value. */
#ifndef OPS_COMMAND_JSON_READ_H
#define OPS_COMMAND_JSON_READ_H

#include <stdint.h>

#include <culex/codec.h>

#include "command/scan.h"

/* A string of valid UTF-8 without NUL, NUL-ended in `arena`. */
bool ops_json_read_text(struct ops_slice value, culex_arena *arena, char **ret_text,
                        size_t *ret_len);
/* A whole number of 64 bits. */
bool ops_json_read_int(struct ops_slice value, int64_t *ret_number);
bool ops_json_read_bool(struct ops_slice value, bool *ret_is_true);

#endif
