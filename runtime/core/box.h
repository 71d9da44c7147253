/* core/box.h - one sealed value of an [[encrypted]] field.
 *
 * A box is bytes: the version, 1; the length of the key's id, 1 byte, and the id; the key's mark, 4
 * bytes; the nonce, 24 bytes; and the value's JSON text, sealed by XChaCha20-Poly1305, with its
 * tag. In a payload it stands in base64, in an object that no schema can have:
 * {"!culex.sealed":"..."}. The "!" makes a program that does not know of boxes give the run back.
 *
 * It is bound to where it stands: the version, the key's id and mark, the names of the job and the
 * field in the store, and "params" or "result". So none can be moved to another field or job; one
 * of the same field of another run can be put in its place, for no id is known when params are
 * sealed. Its length tells that of the text. */
#ifndef CULEX_CORE_BOX_H
#define CULEX_CORE_BOX_H

#include <culex/error.h>

#include "core/keys.h"

#define CULEX_BOX_NAME "!culex.sealed"

/* The parts of a job that fields are in. */
#define CULEX_SEALED_PARAMS "params"
#define CULEX_SEALED_RESULT "result"

/* What seals and opens the values of one payload. */
struct culex__sealing {
    const struct culex_keys *keys; /* NULL: there are none */
    const char *job;               /* its name in the store */
    const char *part;              /* one of the two above */
    void (*random)(void *self, void *ret_bytes, size_t len);
    void *random_self;
    bool is_plain; /* a test kit looks: values are written as they are */
};

/* As long is the box of `len` bytes of text. */
size_t culex__box_size(const struct culex__sealing *sealing, size_t len);

/* Writes the box of a field's text, culex__box_size bytes. CULEX_ENOMEM, or CULEX_EUNSUPPORTED
 * where the program has no cipher; `error` has the reason without the field. */
culex_status culex__box_seal(const struct culex__sealing *sealing, const char *field,
                             const void *text, size_t len, unsigned char *ret_box,
                             culex_error *error);

/* Opens a box of `len` bytes into ret_text, which has room for as many. CULEX_EDECODE: it is
 * damaged, or of another field; CULEX_EUNDERSTAND: of a newer version; CULEX_ENOKEY: sealed by a
 * key that is not there, or by another one than that of its id. */
culex_status culex__box_open(const struct culex__sealing *sealing, const char *field,
                             const unsigned char *box, size_t len, unsigned char *ret_text,
                             size_t *ret_len, culex_error *error);

#endif
