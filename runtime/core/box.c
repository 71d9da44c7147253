#include "core/box.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { VERSION = 1, HEAD_SIZE = 2 };

/* Only programs with an [[encrypted]] field link the library that has it: culex/cipher.h. */
#pragma weak culex_cipher_of_libculex_seal

static const culex_cipher *cipher_find(void)
{
    return &culex_cipher_of_libculex_seal;
}

size_t culex__box_size(const struct culex__sealing *sealing, size_t len)
{
    assert(sealing->keys != NULL && sealing->keys->count > 0);
    return HEAD_SIZE + strlen(sealing->keys->of[0].id) + CULEX_KEY_MARK_SIZE +
           CULEX_CIPHER_NONCE_SIZE + len + CULEX_CIPHER_TAG_SIZE;
}

/* What a box is bound to: all in front of its nonce, and three names, each with its NUL. */
struct bound {
    size_t len;
    char *text;
};

static bool bound_make(const struct culex__sealing *sealing, const char *field,
                       const unsigned char *head, size_t head_len, struct bound *ret_bound)
{
    const char *const names[] = {sealing->job, sealing->part, field};
    size_t len = head_len;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        len += strlen(names[i]) + 1;
    char *text = malloc(len);
    *ret_bound = (struct bound){len, text};
    if (text == NULL)
        return false;
    memcpy(text, head, head_len);
    text += head_len;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t size = strlen(names[i]) + 1;
        memcpy(text, names[i], size);
        text += size;
    }
    return true;
}

static culex_status fail_cipher(culex_error *error)
{
    return culex__fail(error, CULEX_EUNSUPPORTED,
                       "it is encrypted, and this program has no cipher: link it with culex-seal");
}

culex_status culex__box_seal(const struct culex__sealing *sealing, const char *field,
                             const void *text, size_t len, unsigned char *ret_box,
                             culex_error *error)
{
    const struct culex_key *key = &sealing->keys->of[0];
    const culex_cipher *cipher = cipher_find();
    size_t id_len = strlen(key->id), head_len = HEAD_SIZE + id_len + CULEX_KEY_MARK_SIZE;
    unsigned char *nonce = ret_box + head_len;
    struct bound bound;
    if (cipher == NULL)
        return fail_cipher(error);
    ret_box[0] = VERSION;
    ret_box[1] = (unsigned char)id_len;
    memcpy(ret_box + HEAD_SIZE, key->id, id_len);
    memcpy(ret_box + HEAD_SIZE + id_len, key->mark, sizeof key->mark);
    sealing->random(sealing->random_self, nonce, CULEX_CIPHER_NONCE_SIZE);
    if (!bound_make(sealing, field, ret_box, head_len, &bound))
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    bool is_sealed = cipher->seal(key->bytes, nonce, bound.text, bound.len, text, len,
                                  nonce + CULEX_CIPHER_NONCE_SIZE);
    free(bound.text);
    return is_sealed ? CULEX_OK
                     : culex__fail(error, CULEX_EUNSUPPORTED, "libsodium cannot be used here");
}

/* The parts of a box. */
struct parts {
    const char *id;
    size_t id_len;
    const unsigned char *mark, *nonce, *sealed;
    size_t sealed_len;
};

static culex_status parts_find(const unsigned char *box, size_t len, struct parts *ret_parts,
                               culex_error *error)
{
    if (len > 0 && box[0] > VERSION)
        return culex__fail(error, CULEX_EUNDERSTAND,
                           "sealed in version %d, and this program knows version %d", box[0],
                           VERSION);
    size_t id_len = len >= HEAD_SIZE ? box[1] : 0;
    size_t head_len = HEAD_SIZE + id_len + CULEX_KEY_MARK_SIZE;
    size_t least = head_len + CULEX_CIPHER_NONCE_SIZE + CULEX_CIPHER_TAG_SIZE;
    if (len < least || box[0] != VERSION ||
        !culex__key_id_is_good((const char *)box + HEAD_SIZE, id_len))
        return culex__fail(error, CULEX_EDECODE, "what is sealed there is damaged");
    ret_parts->id = (const char *)box + HEAD_SIZE;
    ret_parts->id_len = id_len;
    ret_parts->mark = box + HEAD_SIZE + id_len;
    ret_parts->nonce = box + head_len;
    ret_parts->sealed = ret_parts->nonce + CULEX_CIPHER_NONCE_SIZE;
    ret_parts->sealed_len = len - (size_t)(ret_parts->sealed - box);
    return CULEX_OK;
}

static culex_status parts_open(const struct culex__sealing *sealing, const struct parts *parts,
                               const struct culex_key *key, const struct bound *bound,
                               unsigned char *ret_text, culex_error *error)
{
    if (cipher_find()->open(key->bytes, parts->nonce, bound->text, bound->len, parts->sealed,
                            parts->sealed_len, ret_text))
        return CULEX_OK;
    return culex__fail(error, CULEX_EDECODE,
                       "sealed by key '%s': damaged, or sealed for another field than this one of "
                       "the %s of %s",
                       key->id, sealing->part, sealing->job);
}

static culex_status key_find(const struct culex_keys *keys, const struct parts *parts,
                             const struct culex_key **ret_key, culex_error *error)
{
    assert(parts->mark != NULL); /* parts_find */
    *ret_key = culex__keys_find(keys, parts->id, parts->id_len);
    if (*ret_key == NULL)
        return culex__fail(error, CULEX_ENOKEY, "sealed by key '%.*s', which is not among the keys",
                           (int)parts->id_len, parts->id);
    if (memcmp((*ret_key)->mark, parts->mark, sizeof(*ret_key)->mark) != 0)
        return culex__fail(error, CULEX_ENOKEY,
                           "sealed by another key of the id '%s' than the one among the keys",
                           (*ret_key)->id);
    return CULEX_OK;
}

culex_status culex__box_open(const struct culex__sealing *sealing, const char *field,
                             const unsigned char *box, size_t len, unsigned char *ret_text,
                             size_t *ret_len, culex_error *error)
{
    struct parts parts = {0};
    struct bound bound;
    culex_status status = parts_find(box, len, &parts, error);
    if (status != CULEX_OK)
        return status;
    const struct culex_key *key;
    status = key_find(sealing->keys, &parts, &key, error);
    if (status != CULEX_OK)
        return status;
    if (cipher_find() == NULL)
        return fail_cipher(error);
    if (!bound_make(sealing, field, box, (size_t)(parts.nonce - box), &bound))
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    status = parts_open(sealing, &parts, key, &bound, ret_text, error);
    free(bound.text);
    if (status == CULEX_OK)
        *ret_len = parts.sealed_len - CULEX_CIPHER_TAG_SIZE;
    return status;
}
