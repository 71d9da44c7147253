/* core/codec_encode.h - writing payloads and other texts of the same form. */
#ifndef CULEX_CORE_CODEC_ENCODE_H
#define CULEX_CORE_CODEC_ENCODE_H

#include <culex/codec.h>

/* culex_encode, with what the text is called in errors: "payload", "result". */
culex_status culex__encode_as(const char *what, const culex_struct_type *type, const void *value,
                              culex_buf *ret_text, culex_error *error);

/* Appends the text of one field of `value`, as it stands in a payload behind its name; nothing
 * where it would be left out. As culex_encode. */
culex_status culex__encode_field(const culex_field *field, const void *value, culex_buf *ret_text,
                                 culex_error *error);

#endif
