/* core/codec_value.h - the decoder's values: all kinds but structs. */
#ifndef CULEX_CORE_CODEC_VALUE_H
#define CULEX_CORE_CODEC_VALUE_H

#include "core/box.h"
#include "core/chain.h"
#include "core/codec.h"
#include "core/json.h"

/* What the decoder carries along. */
struct culex__decoder {
    struct culex__json json;
    culex_arena *arena;
    culex_error *error;
    unsigned depth_left;
    size_t list_bytes_left;
    const struct culex__sealing *sealing; /* NULL: of no use here */
    bool is_exact;                        /* names that the type does not have are refused */
    struct culex_rest rest;               /* what the payload says of a chain */
};

/* Decodes one value of the field, not a struct, into `slot`. */
culex_status culex__decode_scalar(struct culex__decoder *decoder, const struct culex__path *path,
                                  const culex_field *field, void *slot);

/* Resolves the escapes of a string just read, into the arena when there are any. */
culex_status culex__decode_resolve(struct culex__decoder *decoder, struct culex__json_text *text);

/* Failures of the decoder: no memory, malformed text here, or another kind of value than expected.
 */
culex_status culex__decode_exhausted(struct culex__decoder *decoder);
culex_status culex__decode_malformed(struct culex__decoder *decoder, const struct culex__path *path,
                                     const char *wrong);
culex_status culex__decode_unexpected(struct culex__decoder *decoder,
                                      const struct culex__path *path, const char *expected);

#endif
