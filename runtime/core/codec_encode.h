/* core/codec_encode.h - writing payloads and other texts of the same form. */
#ifndef CULEX_CORE_CODEC_ENCODE_H
#define CULEX_CORE_CODEC_ENCODE_H

#include <culex/codec.h>

/* culex_encode, with what the text is called in errors: "payload", "result". */
culex_status culex__encode_as(const char *what, const culex_struct_type *type, const void *value,
                              culex_buf *ret_text, culex_error *error);

#endif
