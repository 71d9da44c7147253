/* culex/codec.h - values to payload text and back, driven by descriptors.
 *
 * A payload is one compact JSON object, by param name; schemas/payload.md is the
 * format. The decoder is safe on hostile bytes: bounded depth, bounded memory, no
 * recursion beyond CULEX_PAYLOAD_DEPTH_MAX, no silent truncation.
 */
#ifndef CULEX_CODEC_H
#define CULEX_CODEC_H

#include <culex/error.h>
#include <culex/job.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory that is freed all at once. Not for use by two threads at a time. */
typedef struct culex_arena culex_arena;

/* An empty arena. Returns owned, or NULL when out of memory. */
CULEX_API culex_arena *culex_arena_create(void);

/* Frees `arena` and everything taken from it. Accepts NULL. */
CULEX_API void culex_arena_free(culex_arena *arena);

/* Forgets everything taken from the arena and keeps some memory for the next use. */
CULEX_API void culex_arena_reset(culex_arena *arena);

/* `size` bytes aligned for any type, zeroed; NULL when out of memory or without an arena. Lives
 * until the arena is reset or freed. */
CULEX_API void *culex_arena_alloc(culex_arena *arena, size_t size);

/* A growing text with a bound. `data` is NUL-ended after every successful write. */
typedef struct culex_buf {
    char *data; /* NULL until the first write */
    size_t len; /* without the NUL */
    size_t cap;
    size_t max; /* `len` never passes it */
} culex_buf;

/* Prepares `buf`; allocates nothing. `max` 0 means the payload limit, 1 MiB. */
CULEX_API void culex_buf_init(culex_buf *buf, size_t max);

/* Frees the text; `buf` may be initialised again. */
CULEX_API void culex_buf_release(culex_buf *buf);

/* Appends the payload text of the struct at `value` to `ret_text`.
 * CULEX_EENCODE names the field whose value the schema does not allow: a NULL string,
 * one that is too long or not UTF-8, an unknown enum value, a value other than 0 whose
 * `has_x` is false (to take a value away, set has_x to false and x to 0).
 * CULEX_ELIMIT when the text would pass the buffer's max. CULEX_ENOKEY for an encrypted field, here
 * and in culex_decode: clients and workers have keys, these two have none. On failure `ret_text` is
 * as it was. */
CULEX_API CULEX_MUST_USE culex_status culex_encode(const culex_struct_type *type, const void *value,
                                                   culex_buf *ret_text, culex_error *error);

/* Decodes `len` bytes of payload into a struct of `type` that lives in `arena`, as
 * does all that it points to. Unknown names are skipped, missing ones take the
 * default. CULEX_EDECODE names the field at fault; CULEX_EUNDERSTAND when the
 * payload has a must-understand param or an enum value that `type` does not know.
 * On failure the arena may hold garbage until it is reset. */
CULEX_API CULEX_MUST_USE culex_status culex_decode(const culex_struct_type *type,
                                                   culex_arena *arena, const void *text, size_t len,
                                                   const void **ret_value, culex_error *error);

#ifdef __cplusplus
}
#endif
#endif
