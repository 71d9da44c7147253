/* core/codec.h - what the encoder and the decoder share: paths, bounds, kinds. The public side is
 * culex/codec.h.
 *
 * A field holds one value or several of its kind. The codec walks descriptors, so a "slot" is
 * where one such value lies in memory: of the C type that the field's kind means. */
#ifndef CULEX_CORE_CODEC_H
#define CULEX_CORE_CODEC_H

#include <culex/codec.h>

#include "base/limits.h"

/* Of an encrypted field: there is no file of keys, or the call takes none. */
#define CULEX__NO_KEYS_TEXT                                                                        \
    "it is encrypted, and there is no key: name the file of keys in CULEX_KEYS, in `keys` of the " \
    "options, or of a worker by --keys"
#define CULEX__NO_SEALING_TEXT                                                                     \
    "it is encrypted, and this call has no keys: a client and a worker's handlers have"

/* Where in the payload the codec is: a chain on the stack, made into text only by a failure. */
struct culex__path {
    const struct culex__path *up; /* NULL at the outermost object */
    const char *name;             /* of the field; NULL for an element */
    size_t index;                 /* of the element, when `name` is NULL */
    bool is_secret;               /* here or anywhere above: no value goes into a text */
};

/* The path of `field` inside `up`, and of element `index` of it. */
struct culex__path culex__path_field(const struct culex__path *up, const culex_field *field);
struct culex__path culex__path_element(const struct culex__path *up, size_t index);

/* As culex__fail_field, with the path as field and before the text. */
culex_status culex__codec_fail(culex_error *error, culex_status code,
                               const struct culex__path *path, const char *format, ...)
    CULEX_PRINTF(4, 5);

/* CULEX_EINVAL when the codec cannot work with so many fields. */
culex_status culex__codec_check(const culex_struct_type *type, culex_error *error);

/* sizeof of the C type of one value of `field`. */
size_t culex__slot_size(const culex_field *field);

/* Most elements of a list field, its own bound or the general one. */
size_t culex__list_max(const culex_field *field);

/* Bytes that all list elements of a payload of `len` bytes may take in memory. */
size_t culex__list_bytes_max(size_t len);

/* The text that the user's function makes of a value, NUL-ended. False: none that a payload can
 * have, and why in *ret_fault. */
struct culex__user_text {
    size_t len;
    char text[CULEX_USER_TEXT_MAX + 1];
};
bool culex__user_format(const culex_user_type *type, const void *value,
                        struct culex__user_text *ret_text, const char **ret_fault);

bool culex__kind_is_signed(culex_kind kind);

/* The bounds of an integer kind of at most 64 bits, signed or not, as bits sign-extended to 64. */
uint64_t culex__kind_min(culex_kind kind);
uint64_t culex__kind_max(culex_kind kind);

/* The value in a slot of such a kind, sign-extended; storing takes bits that fit the kind. */
uint64_t culex__integer_load(culex_kind kind, const void *slot);
void culex__integer_store(culex_kind kind, void *slot, uint64_t bits);

/* `left` < `right`, as the kind reads bits. */
bool culex__integer_less(culex_kind kind, uint64_t left, uint64_t right);

/* Which of the field's own bounds the value breaks: -1 below `min`, 1 above `max`, 0 none. For
 * integers, timestamps and durations. */
int culex__integer_compare(const culex_field *field, uint64_t bits);

/* The text of the bits of such a kind, a timestamp or a duration, NUL-ended. */
enum { CULEX_BOUND_TEXT_SIZE = 32 };
void culex__bound_text(culex_kind kind, uint64_t bits, char ret_text[CULEX_BOUND_TEXT_SIZE]);

#endif
