/* core/codec_decode.h - the form of a payload, whatever its schema. */
#ifndef CULEX_CORE_CODEC_DECODE_H
#define CULEX_CORE_CODEC_DECODE_H

#include <stdbool.h>
#include <stddef.h>

/* The text may be a payload of some schema: a JSON object and nothing else. */
bool culex__payload_is_well_formed(const void *text, size_t len);

#endif
