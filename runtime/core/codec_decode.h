/* core/codec_decode.h - the form of a payload, whatever its schema. */
#ifndef CULEX_CORE_CODEC_DECODE_H
#define CULEX_CORE_CODEC_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include <culex/codec.h>

#include "core/box.h"
#include "core/chain.h"

/* The text may be a payload of some schema: a JSON object and nothing else. */
bool culex__payload_is_well_formed(const void *text, size_t len);

/* As culex_decode, of params or a result that may have encrypted fields. CULEX_ENOKEY: one is
 * sealed by a key that is not there. */
culex_status culex__decode_sealed(const struct culex__sealing *sealing,
                                  const culex_struct_type *type, culex_arena *arena,
                                  const void *text, size_t len, const void **ret_value,
                                  culex_error *error);

/* The same for the params of a run, and which steps of a chain come behind it; these live in the
 * arena too. */
culex_status culex__decode_params(const struct culex__sealing *sealing,
                                  const culex_struct_type *type, culex_arena *arena,
                                  const void *text, size_t len, const void **ret_value,
                                  struct culex_rest *ret_rest, culex_error *error);

/* As culex_decode, for a text that no later schema has written: CULEX_EDECODE names what `type`
 * does not have, and the field that may have been meant. */
culex_status culex__decode_exact(const culex_struct_type *type, culex_arena *arena,
                                 const void *text, size_t len, const void **ret_value,
                                 culex_error *error);

#endif
