/* Secrets lie in their buffer one behind another: the length, then the bytes. One of no bytes
 * stands for a value whose text nobody knows. */
#include "core/secret.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "core/codec.h"

static bool collect_struct(const culex_struct_type *type, const char *base, bool is_secret,
                           unsigned depth_left, culex_buf *secrets);

static bool secret_add(culex_buf *secrets, const void *bytes, size_t len)
{
    if (len < CULEX_SECRET_MIN)
        return true;
    size_t before = secrets->len;
    if (culex__buf_append(secrets, &len, sizeof len) == CULEX_OK &&
        culex__buf_append(secrets, bytes, len) == CULEX_OK)
        return true;
    culex__buf_cut(secrets, before);
    return false;
}

/* The value as the encoder writes it, without quotes: it is the only field of a struct. */
static bool collect_payload(const culex_field *field, const void *slot, culex_buf *secrets)
{
    const culex_field alone = {.name = "s",
                               .wire = "s",
                               .kind = field->kind,
                               .enum_type = field->enum_type,
                               .user_type = field->user_type};
    const culex_struct_type type = {"secret", culex__slot_size(field), &alone, 1};
    const size_t head = strlen("{\"s\":"), tail = strlen("}");
    culex_buf text;
    culex_buf_init(&text, 0);
    culex_status status = culex_encode(&type, slot, &text, NULL);
    bool is_kept = status != CULEX_ENOMEM;
    if (status == CULEX_OK) {
        size_t quote = text.data[head] == '"';
        is_kept = secret_add(secrets, text.data + head + quote, text.len - head - tail - 2 * quote);
    }
    culex_buf_release(&text);
    return is_kept;
}

static bool unknown_add(culex_buf *secrets)
{
    const size_t none = 0;
    return culex__buf_append(secrets, &none, sizeof none) == CULEX_OK;
}

static bool collect_user(const culex_user_type *type, const void *slot, culex_buf *secrets)
{
    struct culex__user_text text;
    const char *fault;
    return culex__user_format(type, slot, &text, &fault) ? secret_add(secrets, text.text, text.len)
                                                         : unknown_add(secrets);
}

static bool collect_value(const culex_field *field, const char *slot, bool is_secret,
                          unsigned depth_left, culex_buf *secrets)
{
    const char *text;
    culex_bytes bytes;
    if (field->kind == CULEX_KIND_STRUCT)
        return collect_struct(field->struct_type, slot, is_secret, depth_left, secrets);
    if (!is_secret || field->kind == CULEX_KIND_BOOL || field->kind == CULEX_KIND_CHAR)
        return true;
    if (field->kind == CULEX_KIND_STRING) {
        memcpy(&text, slot, sizeof text);
        if (!secret_add(secrets, text, strlen(text)))
            return false;
    } else if (field->kind == CULEX_KIND_USER) {
        if (!collect_user(field->user_type, slot, secrets))
            return false;
    } else if (field->kind == CULEX_KIND_BYTES) {
        memcpy(&bytes, slot, sizeof bytes);
        if (!secret_add(secrets, bytes.data, bytes.len))
            return false;
    }
    return collect_payload(field, slot, secrets);
}

static bool collect_field(const culex_field *field, const char *base, bool is_secret,
                          unsigned depth_left, culex_buf *secrets)
{
    const char *first = base + field->offset;
    size_t count = field->shape == CULEX_SHAPE_ARRAY ? field->count : 1;
    bool is_kept = true;
    if (!is_secret && field->kind != CULEX_KIND_STRUCT)
        return true;
    if ((field->flags & CULEX_FIELD_OPTIONAL) != 0 && base[field->has_offset] == 0)
        return true;
    if (field->shape == CULEX_SHAPE_LIST) {
        memcpy(&first, base + field->offset, sizeof first);
        memcpy(&count, base + field->len_offset, sizeof count);
    }
    for (size_t i = 0; i < count && is_kept; i++)
        is_kept = collect_value(field, first + i * culex__slot_size(field), is_secret, depth_left,
                                secrets);
    return is_kept;
}

static bool collect_struct(const culex_struct_type *type, const char *base, bool is_secret,
                           unsigned depth_left, culex_buf *secrets)
{
    bool is_kept = true;
    if (depth_left == 0)
        return true; /* no payload has more */
    for (size_t i = 0; i < type->field_count && is_kept; i++) {
        const culex_field *field = &type->fields[i];
        is_kept = collect_field(field, base, is_secret || (field->flags & CULEX_FIELD_SECRET) != 0,
                                depth_left - 1, secrets);
    }
    return is_kept;
}

bool culex__secrets_collect(const culex_struct_type *type, const void *value, culex_buf *secrets)
{
    return collect_struct(type, value, false, CULEX_PAYLOAD_DEPTH_MAX, secrets);
}

/* --- scrubbing --------------------------------------------------------------------------- */

/* Any text may be one of them. */
static bool has_unknown(const culex_buf *secrets)
{
    size_t len;
    for (size_t at = 0; at < secrets->len; at += len) {
        memcpy(&len, secrets->data + at, sizeof len);
        at += sizeof len;
        if (len == 0)
            return true;
    }
    return false;
}

static size_t all_hide(char *ret_text, size_t size)
{
    static const char shown[] = CULEX_SECRET_SHOWN;
    size_t len = size < sizeof shown ? size - 1 : sizeof shown - 1;
    memcpy(ret_text, shown, len);
    ret_text[len] = '\0';
    return len;
}

/* How many bytes at `text` belong to a secret that begins there, 0 for none. */
static size_t secret_match(const culex_buf *secrets, const char *text, size_t left, bool is_cut)
{
    size_t longest = 0, len;
    for (size_t at = 0; at < secrets->len; at += len) {
        memcpy(&len, secrets->data + at, sizeof len);
        at += sizeof len;
        assert(len >= CULEX_SECRET_MIN && len <= secrets->len - at);
        size_t part = len > left && is_cut ? left : len;
        if (part > longest && part <= left && part >= CULEX_SECRET_MIN &&
            secrets->data[at] == text[0] && memcmp(secrets->data + at, text, part) == 0)
            longest = part;
    }
    return longest;
}

/* Values may lie in each other and overlap: everything that belongs to one goes. */
size_t culex__secrets_scrub(const culex_buf *secrets, const char *text, size_t len, bool is_cut,
                            char *ret_text, size_t size)
{
    static const char shown[] = CULEX_SECRET_SHOWN;
    size_t out = 0, covered = 0;
    assert(size > 0);
    if (len > 0 && has_unknown(secrets))
        return all_hide(ret_text, size);
    for (size_t at = 0; at < len && out + 1 < size; at++) {
        size_t match = secret_match(secrets, text + at, len - at, is_cut);
        bool is_begin = match > 0 && covered <= at;
        if (at + match > covered)
            covered = at + match;
        if (is_begin) {
            size_t room = size - 1 - out;
            size_t part = room < sizeof shown - 1 ? room : sizeof shown - 1;
            memcpy(ret_text + out, shown, part);
            out += part;
        } else if (covered <= at)
            ret_text[out++] = text[at];
    }
    ret_text[out] = '\0';
    return out;
}
