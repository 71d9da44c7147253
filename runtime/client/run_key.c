#include "client/run_key.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "core/codec_encode.h"
#include "core/needs.h"

static_assert((int)CULEX_UNIQUE_KEY_LEN < (int)CULEX_LIMIT_KEY_MAX,
              "a digest and its mark are a limit's key too");

void culex__key_begin(struct culex_key_maker *maker)
{
    maker->len = maker->count = 0;
    maker->is_plain = true;
    culex__sha256_begin(&maker->hash);
}

static bool is_plain_text(const char *text, size_t len)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:@/";
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\0' || strchr(plain, text[i]) == NULL)
            return false;
    }
    return len > 0;
}

/* A string loses its quotes. One with an escape is not plain, for the escape is not. */
static void text_add(struct culex_key_maker *maker, const char *text, size_t len)
{
    if (len >= 2 && text[0] == '"') {
        text++;
        len -= 2;
    }
    size_t more = len + (maker->count > 0);
    if (!maker->is_plain || maker->len + more > CULEX_LIMIT_KEY_MAX || !is_plain_text(text, len)) {
        maker->is_plain = false;
        return;
    }
    if (maker->count > 0)
        maker->text[maker->len++] = '+';
    memcpy(maker->text + maker->len, text, len);
    maker->len += len;
}

/* No name or text holds a zero byte, so the bytes can be read in one way. */
void culex__key_add(struct culex_key_maker *maker, const char *wire, const char *text, size_t len)
{
    culex__sha256_add(&maker->hash, wire, strlen(wire) + 1);
    culex__sha256_add(&maker->hash, text, len);
    culex__sha256_add(&maker->hash, "", 1);
    text_add(maker, text, len);
    maker->count++;
}

static void hex_write(const unsigned char *bytes, size_t count, char *ret_text)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        ret_text[2 * i] = digits[bytes[i] >> 4];
        ret_text[2 * i + 1] = digits[bytes[i] & 15];
    }
    ret_text[2 * count] = '\0';
}

void culex__key_end_unique(struct culex_key_maker *maker, const char *job,
                           char ret_key[CULEX_UNIQUE_KEY_LEN + 1])
{
    unsigned char digest[CULEX_SHA256_BYTES];
    culex__sha256_add(&maker->hash, job, strlen(job));
    culex__sha256_end(&maker->hash, digest);
    hex_write(digest, CULEX_UNIQUE_KEY_LEN / 2, ret_key);
}

void culex__key_end_limit(struct culex_key_maker *maker, char ret_key[CULEX_LIMIT_KEY_MAX + 1])
{
    unsigned char digest[CULEX_SHA256_BYTES];
    if (maker->is_plain) {
        memcpy(ret_key, maker->text, maker->len);
        ret_key[maker->len] = '\0';
        return;
    }
    culex__sha256_end(&maker->hash, digest);
    ret_key[0] = '#';
    hex_write(digest, CULEX_UNIQUE_KEY_LEN / 2, ret_key + 1);
}

/* The last limit of a run: see core/needs.h. */
static void needs_add(const culex_job_type *type, struct culex_run_keys *keys)
{
    char text[CULEX__NEEDS_SIZE];
    struct culex_needs needs = {.count = 0};
    keys->needs[0] = '\0';
    if (type->need_count == 0)
        return;
    for (size_t i = 0; i < type->need_count; i++)
        culex__needs_add(&needs, type->needs[i].name, strlen(type->needs[i].name),
                         type->needs[i].units);
    culex__needs_write(&needs, text);
    assert(strlen(text) + sizeof CULEX__NEEDS_WORD <= sizeof keys->needs); /* of CULEX_NEEDS_MAX */
    stpcpy(stpcpy(keys->needs, CULEX__NEEDS_WORD), text);
    keys->keys[keys->limit_count][0] = '\0';
    keys->limits[keys->limit_count++] = (struct culex_run_limit){.kind = CULEX_LIMIT_NEEDS};
}

void culex__run_keys_begin(const culex_job_type *type, struct culex_run_keys *keys)
{
    assert(type->limit_count <= CULEX_RUN_LIMITS_MAX);
    keys->unique[0] = '\0';
    keys->limit_count = type->limit_count;
    for (size_t i = 0; i < type->limit_count; i++) {
        const culex_limit *limit = &type->limits[i];
        keys->keys[i][0] = '\0';
        keys->limits[i] = (struct culex_run_limit){.kind = limit->kind,
                                                   .name = limit->name,
                                                   .count = limit->count,
                                                   .per_ms = limit->per_ms,
                                                   .burst = limit->burst};
    }
    needs_add(type, keys);
}

void culex__run_keys_lend(struct culex_run_keys *keys, struct culex_new_run *run)
{
    for (size_t i = 0; i < keys->limit_count; i++)
        keys->limits[i].key = keys->keys[i];
    if (keys->needs[0] != '\0')
        keys->limits[keys->limit_count - 1].name = keys->needs;
    run->unique_key = keys->unique;
    run->limits = keys->limits;
    run->limit_count = keys->limit_count;
}

/* Adds the params that `by` names. */
static culex_status params_add(const culex_struct_type *type, const void *params,
                               const uint16_t *by, size_t count, culex_buf *scratch,
                               struct culex_key_maker *maker, culex_error *error)
{
    size_t before = scratch->len;
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        const culex_field *field = &type->fields[by[i]];
        status = culex__encode_field(field, params, scratch, error);
        if (status == CULEX_OK)
            culex__key_add(maker, field->wire, scratch->data != NULL ? scratch->data + before : "",
                           scratch->len - before);
        culex__buf_cut(scratch, before);
    }
    return status;
}

culex_status culex__run_keys_make(const culex_job_type *type, const void *params,
                                  culex_buf *scratch, struct culex_run_keys *keys,
                                  struct culex_new_run *run, culex_error *error)
{
    struct culex_key_maker maker;
    culex_status status = CULEX_OK;
    culex__run_keys_begin(type, keys);
    culex__run_keys_lend(keys, run);
    if (type->unique.is_unique) {
        culex__key_begin(&maker);
        status = params_add(type->params, params, type->unique.by, type->unique.by_count, scratch,
                            &maker, error);
        if (status == CULEX_OK)
            culex__key_end_unique(&maker, type->wire, keys->unique);
    }
    for (size_t i = 0; i < type->limit_count && status == CULEX_OK; i++) {
        const culex_limit *limit = &type->limits[i];
        culex__key_begin(&maker);
        status =
            params_add(type->params, params, limit->by, limit->by_count, scratch, &maker, error);
        if (status == CULEX_OK)
            culex__key_end_limit(&maker, keys->keys[i]);
    }
    return status;
}
