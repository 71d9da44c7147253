/* culex/cipher.h - how [[encrypted]] params and results are sealed.
 *
 * The one cipher is XChaCha20-Poly1305 of libsodium. It lives in a library of its own, culex-seal,
 * which generated code asks for by CULEX_SEALS where a schema encrypts anything: other programs
 * neither link nor load libsodium. Applications have no reason to call it.
 */
#ifndef CULEX_CIPHER_H
#define CULEX_CIPHER_H

#include <stdbool.h>
#include <stddef.h>

#include <culex/export.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CULEX_CIPHER_KEY_SIZE = 32, CULEX_CIPHER_NONCE_SIZE = 24, CULEX_CIPHER_TAG_SIZE = 16 };

/* Writes len + CULEX_CIPHER_TAG_SIZE bytes, bound to the `bound_len` bytes at `bound`. False when
 * the library cannot be used. */
typedef bool (*culex_cipher_seal)(const unsigned char *key, const unsigned char *nonce,
                                  const void *bound, size_t bound_len, const void *text, size_t len,
                                  unsigned char *ret_sealed);

/* Writes len - CULEX_CIPHER_TAG_SIZE bytes; `len` is at least that. False unless all is as it was
 * sealed. */
typedef bool (*culex_cipher_open)(const unsigned char *key, const unsigned char *nonce,
                                  const void *bound, size_t bound_len, const unsigned char *sealed,
                                  size_t len, void *ret_text);

typedef struct culex_cipher {
    culex_cipher_seal seal;
    culex_cipher_open open;
} culex_cipher;

/* Undefined? Then the program has [[encrypted]] fields, and is not linked with culex-seal:
 *
 *     pkg-config --libs culex culex-seal
 *
 * or CULEX_LIBRARY="culex culex-seal" for culex.mk, culex::seal in CMake, dependency('culex-seal')
 * in Meson. A linker shows no more than this name, so the name says it. */
extern CULEX_API const culex_cipher culex_cipher_of_libculex_seal;

/* For generated code: makes a program need the library that has the cipher. */
#if defined(__has_attribute)
#if __has_attribute(retain)
#define CULEX_USED __attribute__((used, retain)) /* or a linker that collects sections drops it */
#endif
#endif
#if defined(CULEX_USED)
#elif defined(__GNUC__)
#define CULEX_USED __attribute__((used))
#else
#define CULEX_USED
#endif
#define CULEX_SEALS                                                                                \
    static const culex_cipher *const culex_generated_cipher CULEX_USED =                           \
        &culex_cipher_of_libculex_seal

#ifdef __cplusplus
}
#endif
#endif
