/* core/codec_encode.h - writing payloads and other texts of the same form. */
#ifndef CULEX_CORE_CODEC_ENCODE_H
#define CULEX_CORE_CODEC_ENCODE_H

#include <culex/codec.h>

#include "core/box.h"

/* culex_encode of params or a result, which may have encrypted fields. CULEX_ENOKEY: it has one,
 * and there are no keys. */
culex_status culex__encode_sealed(const struct culex__sealing *sealing,
                                  const culex_struct_type *type, const void *value,
                                  culex_buf *ret_text, culex_error *error);

/* Appends the text of one field of `value`, as it stands in a payload behind its name; nothing
 * where it would be left out. As culex_encode. */
culex_status culex__encode_field(const culex_field *field, const void *value, culex_buf *ret_text,
                                 culex_error *error);

#endif
