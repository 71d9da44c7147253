/* culex__decode_scalar: one value of every kind but structs. */
#include "core/codec_value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/utf8.h"
#include "core/base64.h"
#include "core/duration.h"
#include "core/float.h"
#include "core/number.h"
#include "core/timestamp.h"
#include "core/uuid.h"

/* Bytes of a found value that an error text repeats. */
enum { EXCERPT_MAX = 40 };

/* ---- failures ---- */

culex_status culex__decode_exhausted(struct culex__decoder *decoder)
{
    return culex__fail(decoder->error, CULEX_ENOMEM, "out of memory");
}

culex_status culex__decode_malformed(struct culex__decoder *decoder, const struct culex__path *path,
                                     const char *wrong)
{
    size_t at = (size_t)(decoder->json.at - decoder->json.start);
    return culex__codec_fail(decoder->error, CULEX_EDECODE, path, "%s at byte %zu", wrong, at);
}

static const char *kind_of_value(char first)
{
    if (first == '-' || (first >= '0' && first <= '9'))
        return "a number";
    switch (first) {
    case '{':
        return "an object";
    case '[':
        return "a list";
    case '"':
        return "a string";
    case 't':
    case 'f':
        return "a boolean";
    default:
        return first == 'n' ? "null" : "no value";
    }
}

culex_status culex__decode_unexpected(struct culex__decoder *decoder,
                                      const struct culex__path *path, const char *expected)
{
    const char *found = kind_of_value(culex__json_peek(&decoder->json));
    return culex__codec_fail(decoder->error, CULEX_EDECODE, path,
                             "expected %s, found %s at byte %zu", expected, found,
                             (size_t)(decoder->json.at - decoder->json.start));
}

/* The text was read but does not mean what it should. A secret is not repeated. */
static culex_status fail_text(struct culex__decoder *decoder, const struct culex__path *path,
                              culex_status code, const char *expected,
                              const struct culex__json_text *found)
{
    int len = found->len < EXCERPT_MAX ? (int)found->len : EXCERPT_MAX;
    if (path->is_secret)
        return culex__codec_fail(decoder->error, code, path,
                                 "expected %s, found another value (secret)", expected);
    return culex__codec_fail(decoder->error, code, path, "expected %s, found %.*s%s", expected, len,
                             found->data, found->len > EXCERPT_MAX ? "..." : "");
}

/* A number or time that is well-formed, but not for this type. */
static culex_status fail_range(struct culex__decoder *decoder, const struct culex__path *path,
                               const char *expected, const struct culex__json_text *found)
{
    return fail_text(decoder, path, CULEX_EDECODE, expected, found);
}

/* ---- tokens ---- */

culex_status culex__decode_resolve(struct culex__decoder *decoder, struct culex__json_text *text)
{
    if (!text->is_escaped)
        return CULEX_OK;
    char *copy = culex__arena_bytes(decoder->arena, text->len);
    if (copy == NULL)
        return culex__decode_exhausted(decoder);
    *text = (struct culex__json_text){.data = copy, .len = culex__json_unescape(text, copy)};
    return CULEX_OK;
}

/* A string with its escapes resolved: a part of the payload, or a copy in the arena. */
static culex_status take_string(struct culex__decoder *decoder, const struct culex__path *path,
                                const char *expected, struct culex__json_text *ret_text)
{
    struct culex__json_text text = {.data = ""};
    if (culex__json_peek(&decoder->json) != '"')
        return culex__decode_unexpected(decoder, path, expected);
    const char *wrong = culex__json_string(&decoder->json, &text);
    if (wrong != NULL)
        return culex__decode_malformed(decoder, path, wrong);
    *ret_text = text;
    return culex__decode_resolve(decoder, ret_text);
}

/* A number, or a string that is to hold one. */
static culex_status take_number(struct culex__decoder *decoder, const struct culex__path *path,
                                const char *expected, struct culex__json_text *ret_text)
{
    char first = culex__json_peek(&decoder->json);
    if (first == '"')
        return take_string(decoder, path, expected, ret_text);
    if (first != '-' && (first < '0' || first > '9'))
        return culex__decode_unexpected(decoder, path, expected);
    const char *wrong = culex__json_number(&decoder->json, ret_text);
    return wrong == NULL ? CULEX_OK : culex__decode_malformed(decoder, path, wrong);
}

/* ---- integers ---- */

/* Of some kind. */
static bool is_integer(const struct culex__json_text *text)
{
    culex_int128 least;
    culex_uint128 most;
    return culex__int128_parse(text->data, text->len, &least) ||
           culex__uint128_parse(text->data, text->len, &most);
}

/* "an integer from 1 to 10": the kind's range narrowed by the field's own bounds. */
static culex_status fail_integer(struct culex__decoder *decoder, const struct culex__path *path,
                                 const culex_field *field, const struct culex__json_text *found)
{
    char low[CULEX_BOUND_TEXT_SIZE];
    char high[CULEX_BOUND_TEXT_SIZE];
    char expected[2 * CULEX_BOUND_TEXT_SIZE + 32];
    bool has_min = (field->flags & CULEX_FIELD_MIN) != 0;
    bool has_max = (field->flags & CULEX_FIELD_MAX) != 0;
    culex__bound_text(field->kind, has_min ? (uint64_t)field->min : culex__kind_min(field->kind),
                      low);
    culex__bound_text(field->kind, has_max ? (uint64_t)field->max : culex__kind_max(field->kind),
                      high);
    snprintf(expected, sizeof expected, "an integer from %s to %s", low, high);
    if (found == NULL)
        return culex__decode_unexpected(decoder, path, expected);
    return is_integer(found) ? fail_range(decoder, path, expected, found)
                             : fail_text(decoder, path, CULEX_EDECODE, expected, found);
}

static bool integer_parse(culex_kind kind, const struct culex__json_text *text, uint64_t *ret_bits)
{
    int64_t value;
    if (!culex__kind_is_signed(kind))
        return culex__uint64_parse(text->data, text->len, ret_bits);
    if (!culex__int64_parse(text->data, text->len, &value))
        return false;
    *ret_bits = (uint64_t)value;
    return true;
}

static bool integer_fits(const culex_field *field, uint64_t bits)
{
    return !culex__integer_less(field->kind, bits, culex__kind_min(field->kind)) &&
           !culex__integer_less(field->kind, culex__kind_max(field->kind), bits) &&
           culex__integer_compare(field, bits) == 0;
}

static culex_status decode_integer(struct culex__decoder *decoder, const struct culex__path *path,
                                   const culex_field *field, void *slot)
{
    struct culex__json_text text = {.data = ""};
    uint64_t bits;
    char first = culex__json_peek(&decoder->json);
    if (first != '"' && first != '-' && (first < '0' || first > '9'))
        return fail_integer(decoder, path, field, NULL);
    culex_status status = take_number(decoder, path, "an integer", &text);
    if (status != CULEX_OK)
        return status;
    if (!integer_parse(field->kind, &text, &bits) || !integer_fits(field, bits))
        return fail_integer(decoder, path, field, &text);
    culex__integer_store(field->kind, slot, bits);
    return CULEX_OK;
}

static culex_status decode_int128(struct culex__decoder *decoder, const struct culex__path *path,
                                  const culex_field *field, void *slot)
{
    const char *expected = field->kind == CULEX_KIND_INT128 ? "an integer of 128 bits"
                                                            : "an unsigned integer of 128 bits";
    struct culex__json_text text = {.data = ""};
    culex_status status = take_number(decoder, path, expected, &text);
    if (status != CULEX_OK)
        return status;
    bool is_good = field->kind == CULEX_KIND_INT128
                       ? culex__int128_parse(text.data, text.len, slot)
                       : culex__uint128_parse(text.data, text.len, slot);
    return is_good ? CULEX_OK : fail_text(decoder, path, CULEX_EDECODE, expected, &text);
}

/* ---- floats ---- */

static bool text_is(const struct culex__json_text *text, const char *word)
{
    return text->len == strlen(word) && memcmp(text->data, word, text->len) == 0;
}

static bool special_parse(const struct culex__json_text *text, double *ret_value)
{
    if (text_is(text, "NaN"))
        *ret_value = (double)NAN;
    else if (text_is(text, "Infinity"))
        *ret_value = (double)INFINITY;
    else if (text_is(text, "-Infinity"))
        *ret_value = -(double)INFINITY;
    else
        return false;
    return true;
}

static bool float_parse(culex_kind kind, bool is_string, const struct culex__json_text *text,
                        void *slot)
{
    double value;
    float narrow;
    if (is_string) {
        if (!special_parse(text, &value))
            return false;
        narrow = (float)value;
    } else if (kind == CULEX_KIND_FLOAT32) {
        if (!culex__float32_parse(text->data, text->len, &narrow))
            return false;
    } else if (!culex__float64_parse(text->data, text->len, &value)) {
        return false;
    }
    if (kind == CULEX_KIND_FLOAT32)
        memcpy(slot, &narrow, sizeof narrow);
    else
        memcpy(slot, &value, sizeof value);
    return true;
}

static culex_status decode_float(struct culex__decoder *decoder, const struct culex__path *path,
                                 const culex_field *field, void *slot)
{
    const char *expected =
        field->kind == CULEX_KIND_FLOAT32 ? "a number in range of float32" : "a number in range";
    struct culex__json_text text = {.data = ""};
    bool is_string = culex__json_peek(&decoder->json) == '"';
    culex_status status = take_number(decoder, path, expected, &text);
    if (status != CULEX_OK)
        return status;
    double wide;
    if (float_parse(field->kind, is_string, &text, slot))
        return CULEX_OK;
    return !is_string && culex__float64_parse(text.data, text.len, &wide)
               ? fail_range(decoder, path, expected, &text)
               : fail_text(decoder, path, CULEX_EDECODE, expected, &text);
}

/* ---- text ---- */

static culex_status check_len(struct culex__decoder *decoder, const struct culex__path *path,
                              const culex_field *field, size_t len)
{
    if (len < field->min_len)
        return culex__codec_fail(decoder->error, CULEX_EDECODE, path,
                                 "expected at least %zu bytes, found %zu", field->min_len, len);
    if (field->max_len > 0 && len > field->max_len)
        return culex__codec_fail(decoder->error, CULEX_EDECODE, path,
                                 "expected at most %zu bytes, found %zu", field->max_len, len);
    return CULEX_OK;
}

static culex_status decode_string(struct culex__decoder *decoder, const struct culex__path *path,
                                  const culex_field *field, void *slot)
{
    struct culex__json_text text = {.data = ""};
    culex_status status = take_string(decoder, path, "a string", &text);
    if (status == CULEX_OK)
        status = check_len(decoder, path, field, text.len);
    if (status != CULEX_OK)
        return status;
    if (memchr(text.data, '\0', text.len) != NULL)
        return culex__codec_fail(decoder->error, CULEX_EDECODE, path,
                                 "expected a string, found one with U+0000 in it");
    char *copy = culex__arena_bytes(decoder->arena, text.len + 1);
    if (copy == NULL)
        return culex__decode_exhausted(decoder);
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    memcpy(slot, &copy, sizeof copy);
    return CULEX_OK;
}

/* A value of the user's own type: what its function does not take is what a bad payload has. */
static culex_status decode_user(struct culex__decoder *decoder, const struct culex__path *path,
                                const culex_user_type *type, void *slot)
{
    struct culex__json_text text = {.data = ""};
    char ended[CULEX_USER_TEXT_MAX + 1];
    char expected[CULEX_ERROR_TEXT_SIZE];
    snprintf(expected, sizeof expected, "a text of %s", type->name);
    culex_status status = take_string(decoder, path, expected, &text);
    if (status != CULEX_OK)
        return status;
    if (text.len > CULEX_USER_TEXT_MAX)
        return culex__codec_fail(decoder->error, CULEX_EDECODE, path,
                                 "expected at most %d bytes, found %zu", CULEX_USER_TEXT_MAX,
                                 text.len);
    if (memchr(text.data, '\0', text.len) != NULL)
        return culex__codec_fail(decoder->error, CULEX_EDECODE, path,
                                 "expected %s, found one with U+0000 in it", expected);
    memcpy(ended, text.data, text.len);
    ended[text.len] = '\0';
    return type->parse(ended, text.len, slot)
               ? CULEX_OK
               : fail_text(decoder, path, CULEX_EDECODE, expected, &text);
}

static culex_status decode_bytes(struct culex__decoder *decoder, const struct culex__path *path,
                                 const culex_field *field, void *slot)
{
    struct culex__json_text text = {.data = ""};
    culex_bytes bytes = {NULL, 0};
    culex_status status = take_string(decoder, path, "base64", &text);
    if (status != CULEX_OK)
        return status;
    uint8_t *data = (uint8_t *)culex__arena_bytes(decoder->arena, text.len / 4 * 3);
    if (data == NULL)
        return culex__decode_exhausted(decoder);
    if (!culex__base64_parse(text.data, text.len, data, &bytes.len))
        return fail_text(decoder, path, CULEX_EDECODE, "base64 with padding", &text);
    bytes.data = data;
    memcpy(slot, &bytes, sizeof bytes);
    return check_len(decoder, path, field, bytes.len);
}

static bool char_parse(const struct culex__json_text *text, unsigned char *ret_byte)
{
    if (culex__utf8_char(text->data, text->len) != text->len || text->len == 0 || text->len > 2)
        return false;
    unsigned lead = (unsigned char)text->data[0];
    unsigned tail = text->len == 2 ? (unsigned char)text->data[1] : 0;
    if (text->len == 2 && lead > 0xC3)
        return false;
    *ret_byte = (unsigned char)(text->len == 1 ? lead : (lead & 3) << 6 | (tail & 0x3F));
    return true;
}

/* Kinds that are a short string; false when `text` is not that. */
static bool quoted_parse(culex_kind kind, const struct culex__json_text *text, void *slot)
{
    switch (kind) {
    case CULEX_KIND_CHAR:
        return char_parse(text, slot);
    case CULEX_KIND_UUID:
        return culex__uuid_read(text->data, text->len, slot);
    case CULEX_KIND_TIMESTAMP:
        return culex__timestamp_parse(text->data, text->len, slot);
    default:
        return culex__duration_parse(text->data, text->len, slot);
    }
}

static culex_status decode_quoted(struct culex__decoder *decoder, const struct culex__path *path,
                                  culex_kind kind, void *slot)
{
    const char *expected = kind == CULEX_KIND_CHAR        ? "one character up to U+00FF"
                           : kind == CULEX_KIND_UUID      ? "a UUID"
                           : kind == CULEX_KIND_TIMESTAMP ? "an RFC 3339 time from 1678 to 2262"
                                                          : "a duration like \"1.5s\"";
    struct culex__json_text text = {.data = ""};
    culex_status status = take_string(decoder, path, expected, &text);
    if (status != CULEX_OK)
        return status;
    if (quoted_parse(kind, &text, slot))
        return CULEX_OK;
    return fail_text(decoder, path, CULEX_EDECODE, expected, &text);
}

static culex_status fail_time(struct culex__decoder *decoder, const struct culex__path *path,
                              const culex_field *field, bool is_low)
{
    char bound[CULEX_BOUND_TEXT_SIZE];
    culex__bound_text(field->kind, (uint64_t)(is_low ? field->min : field->max), bound);
    return culex__codec_fail(decoder->error, CULEX_EDECODE, path, "expected at %s %s, found %s",
                             is_low ? "least" : "most", bound, is_low ? "less" : "more");
}

static culex_status decode_time(struct culex__decoder *decoder, const struct culex__path *path,
                                const culex_field *field, void *slot)
{
    int64_t nanos;
    culex_status status = decode_quoted(decoder, path, field->kind, slot);
    if (status != CULEX_OK)
        return status;
    memcpy(&nanos, slot, sizeof nanos);
    int side = culex__integer_compare(field, (uint64_t)nanos);
    return side == 0 ? CULEX_OK : fail_time(decoder, path, field, side < 0);
}

static culex_status decode_enum(struct culex__decoder *decoder, const struct culex__path *path,
                                const culex_enum_type *type, void *slot)
{
    struct culex__json_text text = {.data = ""};
    char expected[CULEX_ERROR_TEXT_SIZE];
    culex_status status = take_string(decoder, path, "a name", &text);
    if (status != CULEX_OK)
        return status;
    for (size_t at = 0; at < type->value_count; at++) {
        if (text_is(&text, type->values[at].name)) {
            culex__integer_store(type->base, slot, type->values[at].bits);
            return CULEX_OK;
        }
    }
    snprintf(expected, sizeof expected, "a value of %s that this program knows", type->name);
    return fail_text(decoder, path, CULEX_EUNDERSTAND, expected, &text);
}

static culex_status decode_bool(struct culex__decoder *decoder, const struct culex__path *path,
                                void *slot)
{
    culex__json_peek(&decoder->json);
    bool value = culex__json_word(&decoder->json, "true");
    if (!value && !culex__json_word(&decoder->json, "false"))
        return culex__decode_unexpected(decoder, path, "true or false");
    memcpy(slot, &value, sizeof value);
    return CULEX_OK;
}

culex_status culex__decode_scalar(struct culex__decoder *decoder, const struct culex__path *path,
                                  const culex_field *field, void *slot)
{
    switch (field->kind) {
    case CULEX_KIND_BOOL:
        return decode_bool(decoder, path, slot);
    case CULEX_KIND_STRING:
        return decode_string(decoder, path, field, slot);
    case CULEX_KIND_BYTES:
        return decode_bytes(decoder, path, field, slot);
    case CULEX_KIND_ENUM:
        return decode_enum(decoder, path, field->enum_type, slot);
    case CULEX_KIND_USER:
        return decode_user(decoder, path, field->user_type, slot);
    case CULEX_KIND_FLOAT32:
    case CULEX_KIND_FLOAT64:
        return decode_float(decoder, path, field, slot);
    case CULEX_KIND_INT128:
    case CULEX_KIND_UINT128:
        return decode_int128(decoder, path, field, slot);
    case CULEX_KIND_CHAR:
    case CULEX_KIND_UUID:
        return decode_quoted(decoder, path, field->kind, slot);
    case CULEX_KIND_TIMESTAMP:
    case CULEX_KIND_DURATION:
        return decode_time(decoder, path, field, slot);
    default:
        return decode_integer(decoder, path, field, slot);
    }
}
