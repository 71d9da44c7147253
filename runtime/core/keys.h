/* core/keys.h - the keys of [[encrypted]] params and results, as their file has them.
 *
 * One key a line, `ID KEY`: the id is 1 to 32 letters, digits, '_', '.' and '-', the key 32 bytes
 * in base64, and not all of them 0. Empty lines are skipped, and those that begin with '#'. The
 * first key seals; all of them open what they have sealed. An id is no more than a name, and two
 * hosts may give it to two keys: the mark, which is made of the key's bytes, tells them apart. */
#ifndef CULEX_CORE_KEYS_H
#define CULEX_CORE_KEYS_H

#include <culex/cipher.h>
#include <culex/error.h>

enum { CULEX_KEY_ID_MAX = 32, CULEX_KEYS_MAX = 64, CULEX_KEY_MARK_SIZE = 4 };

struct culex_key {
    char id[CULEX_KEY_ID_MAX + 1];
    unsigned char bytes[CULEX_CIPHER_KEY_SIZE];
    unsigned char mark[CULEX_KEY_MARK_SIZE]; /* see culex__key_mark */
};

struct culex_keys {
    size_t count; /* at least 1 */
    struct culex_key of[CULEX_KEYS_MAX];
};

/* CULEX_EUSAGE names the line at fault and nothing of what stands there; *ret_keys may then hold
 * some of the keys. */
culex_status culex__keys_read(const char *text, size_t len, struct culex_keys *ret_keys,
                              culex_error *error);

/* Fills in the mark: the first bytes of SHA-256 of "culex key" with its NUL and the key's bytes. It
 * stands in each box and tells nothing that helps to find a key of 32 random bytes. */
void culex__key_mark(struct culex_key *key);

/* The key of an id of `len` bytes, or NULL. */
const struct culex_key *culex__keys_find(const struct culex_keys *keys, const char *id, size_t len);

/* Whether all bytes may stand in an id, and there are as many as it may have. */
bool culex__key_id_is_good(const char *id, size_t len);

#endif
