/* seal/sodium.c - the cipher of culex/cipher.h, by libsodium: all that this library has. */
#include <culex/cipher.h>

#include <sodium.h>

_Static_assert((int)CULEX_CIPHER_KEY_SIZE == (int)crypto_aead_xchacha20poly1305_ietf_KEYBYTES &&
                   (int)CULEX_CIPHER_NONCE_SIZE ==
                       (int)crypto_aead_xchacha20poly1305_ietf_NPUBBYTES &&
                   (int)CULEX_CIPHER_TAG_SIZE == (int)crypto_aead_xchacha20poly1305_ietf_ABYTES,
               "the sizes of culex/cipher.h are those of XChaCha20-Poly1305");

/* sodium_init chooses the code for this processor, once; it may be called by any thread. */
static bool seal(const unsigned char *key, const unsigned char *nonce, const void *bound,
                 size_t bound_len, const void *text, size_t len, unsigned char *ret_sealed)
{
    return sodium_init() >= 0 &&
           crypto_aead_xchacha20poly1305_ietf_encrypt(ret_sealed, NULL, text, len, bound, bound_len,
                                                      NULL, nonce, key) == 0;
}

static bool unseal(const unsigned char *key, const unsigned char *nonce, const void *bound,
                   size_t bound_len, const unsigned char *sealed, size_t len, void *ret_text)
{
    return sodium_init() >= 0 &&
           crypto_aead_xchacha20poly1305_ietf_decrypt(ret_text, NULL, NULL, sealed, len, bound,
                                                      bound_len, nonce, key) == 0;
}

const culex_cipher culex_cipher_of_libculex_seal = {seal, unseal};
