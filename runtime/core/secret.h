/* core/secret.h - the values of [[secret]] params, and texts without them.
 *
 * A handler may put what it was given into an error text by accident. Before such a text leaves,
 * every whole value of a secret param is replaced: strings and bytes as they are, and every kind as
 * it stands in the payload (base64, decimal digits, ...). Values whose text is shorter than
 * CULEX_SECRET_MIN bytes would be found everywhere and are left, and so are bool and char. Where
 * the format function of a type of the user's own has no text for a value, any text may show it,
 * and all of each goes. */
#ifndef CULEX_CORE_SECRET_H
#define CULEX_CORE_SECRET_H

#include <culex/codec.h>

enum { CULEX_SECRET_MIN = 4 };

/* What stands in the place of a value. */
#define CULEX_SECRET_SHOWN "[secret]"

/* Appends the texts of all secret values of the struct at `value`, and of everything inside them,
 * to `secrets`. False when out of memory. */
bool culex__secrets_collect(const culex_struct_type *type, const void *value, culex_buf *secrets);

/* Copies `len` bytes of `text` without `secrets` into `ret_text`, cut to fit `size` with its NUL.
 * With `is_cut` the text is the beginning of a longer one: a value that it breaks off goes too.
 * The texts do not overlap. Returns the length without the NUL. */
size_t culex__secrets_scrub(const culex_buf *secrets, const char *text, size_t len, bool is_cut,
                            char *ret_text, size_t size);

#endif
