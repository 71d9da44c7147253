/* core/keys.h - the keys of [[encrypted]] params and results, as their file has them.
 *
 * One key a line, `ID KEY`: the id is 1 to 32 letters, digits, '_', '.' and '-', the key 32 bytes
 * in base64. Empty lines are skipped, and those that begin with '#'. The first key seals; all of
 * them open what was sealed by a key of their id. */
#ifndef CULEX_CORE_KEYS_H
#define CULEX_CORE_KEYS_H

#include <culex/cipher.h>
#include <culex/error.h>

enum { CULEX_KEY_ID_MAX = 32, CULEX_KEYS_MAX = 64 };

struct culex_key {
    char id[CULEX_KEY_ID_MAX + 1];
    unsigned char bytes[CULEX_CIPHER_KEY_SIZE];
};

struct culex_keys {
    size_t count; /* at least 1 */
    struct culex_key of[CULEX_KEYS_MAX];
};

/* CULEX_EUSAGE names the line at fault and nothing of what stands there; *ret_keys may then hold
 * some of the keys. */
culex_status culex__keys_read(const char *text, size_t len, struct culex_keys *ret_keys,
                              culex_error *error);

/* The key of an id of `len` bytes, or NULL. */
const struct culex_key *culex__keys_find(const struct culex_keys *keys, const char *id, size_t len);

/* Whether all bytes may stand in an id, and there are as many as it may have. */
bool culex__key_id_is_good(const char *id, size_t len);

#endif
