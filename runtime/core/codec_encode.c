/* culex_encode: the struct's fields in schema order, straight into the buffer. */
#include "core/codec_encode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/utf8.h"
#include "core/base64.h"
#include "core/codec.h"
#include "core/duration.h"
#include "core/float.h"
#include "core/number.h"
#include "core/timestamp.h"
#include "core/uuid.h"

/* Room for the text of every value but strings, bytes and enums, quotes included. */
enum { SCALAR_TEXT_MAX = 64 };

struct encoder {
    culex_buf *buf;
    culex_error *error;
    const char *what;                     /* the text is, for errors */
    const struct culex__sealing *sealing; /* NULL: of no use here */
    culex_status status; /* of the buffer: once it fails, nothing more is written */
    unsigned depth_left;
    size_t list_bytes;
};

static culex_status encode_struct(struct encoder *encoder, const struct culex__path *path,
                                  const culex_struct_type *type, const char *value);

/* ---- text ---- */

/* Where the next `more` bytes go, or NULL. */
static char *room(struct encoder *encoder, size_t more)
{
    if (encoder->status == CULEX_OK)
        encoder->status = culex__buf_reserve(encoder->buf, more);
    return encoder->status == CULEX_OK ? encoder->buf->data + encoder->buf->len : NULL;
}

static void put(struct encoder *encoder, const char *text, size_t len)
{
    char *at = room(encoder, len);
    if (at == NULL)
        return;
    memcpy(at, text, len);
    encoder->buf->len += len;
}

static void put_char(struct encoder *encoder, char byte)
{
    put(encoder, &byte, 1);
}

static bool needs_escape(unsigned char byte)
{
    return byte < 0x20 || byte == '"' || byte == '\\';
}

static void put_escape(struct encoder *encoder, unsigned char byte)
{
    static const char names[0x20] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    static const char digits[] = "0123456789abcdef";
    char unit[] = {'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]};
    if (byte < 0x20 && names[byte] == 0) {
        put(encoder, unit, sizeof unit);
        return;
    }
    unit[1] = byte < 0x20 ? names[byte] : (char)byte;
    put(encoder, unit, 2);
}

/* A JSON string of text that is valid UTF-8. */
static void put_string(struct encoder *encoder, const char *text, size_t len)
{
    put_char(encoder, '"');
    for (size_t at = 0; at < len;) {
        size_t run = at;
        while (run < len && !needs_escape((unsigned char)text[run]))
            run++;
        put(encoder, text + at, run - at);
        if (run < len)
            put_escape(encoder, (unsigned char)text[run++]);
        at = run;
    }
    put_char(encoder, '"');
}

/* ---- scalars ---- */

static culex_status fail(struct encoder *encoder, const struct culex__path *path, const char *text)
{
    return culex__codec_fail(encoder->error, CULEX_EENCODE, path, "%s", text);
}

static culex_status check_len(struct encoder *encoder, const struct culex__path *path,
                              const culex_field *field, size_t len)
{
    if (len < field->min_len)
        return culex__codec_fail(encoder->error, CULEX_EENCODE, path,
                                 "expected at least %zu bytes, found %zu", field->min_len, len);
    if (field->max_len > 0 && len > field->max_len)
        return culex__codec_fail(encoder->error, CULEX_EENCODE, path,
                                 "expected at most %zu bytes, found %zu", field->max_len, len);
    return CULEX_OK;
}

static culex_status encode_string(struct encoder *encoder, const struct culex__path *path,
                                  const culex_field *field, const void *slot)
{
    const char *text;
    memcpy(&text, slot, sizeof text);
    if (text == NULL)
        return fail(encoder, path, "expected a string, found NULL");
    size_t len = strlen(text);
    culex_status status = check_len(encoder, path, field, len);
    if (status != CULEX_OK)
        return status;
    if (!culex__utf8_is_valid(text, len))
        return fail(encoder, path, "expected UTF-8, found other bytes");
    put_string(encoder, text, len);
    return CULEX_OK;
}

static culex_status encode_bytes(struct encoder *encoder, const struct culex__path *path,
                                 const culex_field *field, const void *slot)
{
    culex_bytes bytes;
    memcpy(&bytes, slot, sizeof bytes);
    if (bytes.data == NULL && bytes.len > 0)
        return fail(encoder, path, "expected bytes, found NULL with a length");
    culex_status status = check_len(encoder, path, field, bytes.len);
    if (status != CULEX_OK)
        return status;
    if (bytes.len > CULEX_PAYLOAD_MAX) {
        encoder->status = CULEX_ELIMIT;
        return CULEX_OK;
    }
    size_t size = culex__base64_size(bytes.len);
    char *at = room(encoder, size + 2);
    if (at == NULL)
        return CULEX_OK;
    at[0] = '"';
    culex__base64_format(bytes.data, bytes.len, at + 1);
    at[size + 1] = '"';
    encoder->buf->len += size + 2;
    return CULEX_OK;
}

static culex_status fail_bound(struct encoder *encoder, const struct culex__path *path,
                               const culex_field *field, uint64_t bits, bool is_low)
{
    char bound[CULEX_BOUND_TEXT_SIZE];
    char found[CULEX_BOUND_TEXT_SIZE];
    culex__bound_text(field->kind, (uint64_t)(is_low ? field->min : field->max), bound);
    culex__bound_text(field->kind, bits, found);
    return culex__codec_fail(encoder->error, CULEX_EENCODE, path, "expected at %s %s%s%s",
                             is_low ? "least" : "most", bound, path->is_secret ? "" : ", found ",
                             path->is_secret ? "" : found);
}

static culex_status encode_integer(struct encoder *encoder, const struct culex__path *path,
                                   const culex_field *field, const void *slot)
{
    uint64_t bits = culex__integer_load(field->kind, slot);
    int side = culex__integer_compare(field, bits);
    if (side != 0)
        return fail_bound(encoder, path, field, bits, side < 0);
    char text[SCALAR_TEXT_MAX];
    put(encoder, text,
        culex__kind_is_signed(field->kind) ? culex__int64_format((int64_t)bits, text)
                                           : culex__uint64_format(bits, text));
    return CULEX_OK;
}

static culex_status encode_enum(struct encoder *encoder, const struct culex__path *path,
                                const culex_field *field, const void *slot)
{
    const culex_enum_type *type = field->enum_type;
    uint64_t bits = culex__integer_load(type->base, slot);
    for (size_t at = 0; at < type->value_count; at++) {
        if (type->values[at].bits == bits) {
            put_string(encoder, type->values[at].name, strlen(type->values[at].name));
            return CULEX_OK;
        }
    }
    char found[CULEX_BOUND_TEXT_SIZE];
    culex__bound_text(type->base, bits, found);
    return culex__codec_fail(encoder->error, CULEX_EENCODE, path,
                             "expected a value of %s, found %s", type->name,
                             path->is_secret ? "another number" : found);
}

static culex_status encode_user(struct encoder *encoder, const struct culex__path *path,
                                const culex_user_type *type, const void *slot)
{
    struct culex__user_text text;
    const char *fault;
    if (!culex__user_format(type, slot, &text, &fault))
        return culex__codec_fail(encoder->error, CULEX_EENCODE, path,
                                 "expected a %s, but its format function %s", type->name, fault);
    put_string(encoder, text.text, text.len);
    return CULEX_OK;
}

static void encode_char(struct encoder *encoder, const void *slot)
{
    unsigned char byte;
    memcpy(&byte, slot, sizeof byte);
    char wide[] = {(char)(0xC0 | byte >> 6), (char)(0x80 | (byte & 0x3F))};
    char narrow = (char)byte;
    if (byte < 0x80)
        put_string(encoder, &narrow, 1);
    else
        put_string(encoder, wide, sizeof wide);
}

static void encode_bool(struct encoder *encoder, const void *slot)
{
    unsigned char byte; /* not bool: the application may have written any byte */
    memcpy(&byte, slot, sizeof byte);
    if (byte != 0)
        put(encoder, "true", 4);
    else
        put(encoder, "false", 5);
}

static void encode_float(struct encoder *encoder, culex_kind kind, const void *slot)
{
    double value;
    float narrow = 0;
    if (kind == CULEX_KIND_FLOAT32) {
        memcpy(&narrow, slot, sizeof narrow);
        value = (double)narrow;
    } else {
        memcpy(&value, slot, sizeof value);
    }
    if (isnan(value)) {
        put(encoder, "\"NaN\"", 5);
    } else if (isinf(value)) {
        put(encoder, value < 0 ? "\"-Infinity\"" : "\"Infinity\"", value < 0 ? 11 : 10);
    } else {
        char text[SCALAR_TEXT_MAX];
        put(encoder, text,
            kind == CULEX_KIND_FLOAT32 ? culex__float32_format(narrow, text)
                                       : culex__float64_format(value, text));
    }
}

static size_t quoted_format(culex_kind kind, const void *slot, char *text)
{
    culex_int128 int128;
    culex_uint128 uint128;
    culex_uuid uuid;
    int64_t nanos;
    switch (kind) {
    case CULEX_KIND_INT128:
        memcpy(&int128, slot, sizeof int128);
        return culex__int128_format(int128, text);
    case CULEX_KIND_UINT128:
        memcpy(&uint128, slot, sizeof uint128);
        return culex__uint128_format(uint128, text);
    case CULEX_KIND_UUID:
        memcpy(&uuid, slot, sizeof uuid);
        culex__uuid_write(uuid, text);
        return CULEX_UUID_TEXT_LEN;
    default:
        memcpy(&nanos, slot, sizeof nanos);
        return kind == CULEX_KIND_TIMESTAMP ? culex__timestamp_format(nanos, text)
                                            : culex__duration_format(nanos, text);
    }
}

/* Kinds whose text is short, in quotes, and free of escapes. */
static void encode_quoted(struct encoder *encoder, culex_kind kind, const void *slot)
{
    char text[SCALAR_TEXT_MAX] = "\"";
    size_t len = 1 + quoted_format(kind, slot, text + 1);
    text[len] = '"';
    put(encoder, text, len + 1);
}

static culex_status encode_time(struct encoder *encoder, const struct culex__path *path,
                                const culex_field *field, const void *slot)
{
    int64_t nanos;
    memcpy(&nanos, slot, sizeof nanos);
    int side = culex__integer_compare(field, (uint64_t)nanos);
    if (side != 0)
        return fail_bound(encoder, path, field, (uint64_t)nanos, side < 0);
    encode_quoted(encoder, field->kind, slot);
    return CULEX_OK;
}

static culex_status encode_value(struct encoder *encoder, const struct culex__path *path,
                                 const culex_field *field, const void *slot)
{
    switch (field->kind) {
    case CULEX_KIND_STRUCT:
        return encode_struct(encoder, path, field->struct_type, slot);
    case CULEX_KIND_STRING:
        return encode_string(encoder, path, field, slot);
    case CULEX_KIND_BYTES:
        return encode_bytes(encoder, path, field, slot);
    case CULEX_KIND_ENUM:
        return encode_enum(encoder, path, field, slot);
    case CULEX_KIND_USER:
        return encode_user(encoder, path, field->user_type, slot);
    case CULEX_KIND_BOOL:
        encode_bool(encoder, slot);
        return CULEX_OK;
    case CULEX_KIND_CHAR:
        encode_char(encoder, slot);
        return CULEX_OK;
    case CULEX_KIND_FLOAT32:
    case CULEX_KIND_FLOAT64:
        encode_float(encoder, field->kind, slot);
        return CULEX_OK;
    case CULEX_KIND_INT128:
    case CULEX_KIND_UINT128:
    case CULEX_KIND_UUID:
        encode_quoted(encoder, field->kind, slot);
        return CULEX_OK;
    case CULEX_KIND_TIMESTAMP:
    case CULEX_KIND_DURATION:
        return encode_time(encoder, path, field, slot);
    default:
        return encode_integer(encoder, path, field, slot);
    }
}

/* ---- lists, fields, structs ---- */

static culex_status fail_depth(struct encoder *encoder, const struct culex__path *path)
{
    return culex__codec_fail(encoder->error, CULEX_EENCODE, path,
                             "expected at most %d objects and lists inside each other, found more",
                             CULEX_PAYLOAD_DEPTH_MAX);
}

static culex_status encode_elements(struct encoder *encoder, const struct culex__path *path,
                                    const culex_field *field, const char *first, size_t count)
{
    size_t size = culex__slot_size(field);
    culex_status status = CULEX_OK;
    if (encoder->depth_left == 0)
        return fail_depth(encoder, path);
    encoder->depth_left--;
    put_char(encoder, '[');
    for (size_t at = 0; at < count && status == CULEX_OK; at++) {
        struct culex__path element = culex__path_element(path, at);
        if (at > 0)
            put_char(encoder, ',');
        status = encode_value(encoder, &element, field, first + at * size);
        if (encoder->status != CULEX_OK)
            break;
    }
    put_char(encoder, ']');
    encoder->depth_left++;
    return status;
}

static culex_status encode_list(struct encoder *encoder, const struct culex__path *path,
                                const culex_field *field, const char *base, size_t count)
{
    const char *first;
    memcpy(&first, base + field->offset, sizeof first);
    if (count > culex__list_max(field))
        return culex__codec_fail(encoder->error, CULEX_EENCODE, path,
                                 "expected at most %zu elements, found %zu", culex__list_max(field),
                                 count);
    if (first == NULL && count > 0)
        return fail(encoder, path, "expected a list, found NULL with a length");
    encoder->list_bytes += count * culex__slot_size(field);
    return encode_elements(encoder, path, field, first, count);
}

/* Absent optional fields and empty lists are not written, except where a reader could not
 * tell: a list that must be there, or an optional one that is there and empty. */
static bool is_omitted(const culex_field *field, const char *base, size_t list_len)
{
    if ((field->flags & CULEX_FIELD_OPTIONAL) != 0) {
        unsigned char has;
        memcpy(&has, base + field->has_offset, sizeof has);
        return has == 0;
    }
    return field->shape == CULEX_SHAPE_LIST && list_len == 0 &&
           (field->flags & CULEX_FIELD_REQUIRED) == 0;
}

static size_t member_size(const culex_field *field)
{
    if (field->shape == CULEX_SHAPE_LIST)
        return sizeof(void *);
    return culex__slot_size(field) * (field->shape == CULEX_SHAPE_ARRAY ? field->count : 1);
}

/* A value whose flag was forgotten would be lost in silence. Structs, and types of the user's own,
 * may have anything in their padding, and are not looked at. */
static bool is_forgotten(const culex_field *field, const char *base, size_t list_len)
{
    if ((field->flags & CULEX_FIELD_OPTIONAL) == 0)
        return false;
    bool may_be_padded = field->kind == CULEX_KIND_STRUCT || field->kind == CULEX_KIND_USER;
    if (may_be_padded && field->shape != CULEX_SHAPE_LIST)
        return false;
    bool is_set = list_len > 0;
    for (size_t at = 0, size = member_size(field); at < size && !is_set; at++)
        is_set = base[field->offset + at] != 0;
    return is_set;
}

static culex_status check_omitted(struct encoder *encoder, const struct culex__path *up,
                                  const culex_field *field, const char *base, size_t list_len)
{
    if (!is_forgotten(field, base, list_len))
        return CULEX_OK;
    struct culex__path path = culex__path_field(up, field);
    return culex__codec_fail(encoder->error, CULEX_EENCODE, &path,
                             "is set and has_%s is not: use ..._set_%s, or set has_%s too; "
                             "an absent param is 0",
                             field->name, field->name, field->name);
}

static void put_name(struct encoder *encoder, const culex_field *field, bool is_first)
{
    bool is_marked = (field->flags & CULEX_FIELD_MUST_UNDERSTAND) != 0;
    size_t len = strlen(field->wire);
    size_t total = len + 3 + (is_first ? 0 : 1) + (is_marked ? 1 : 0);
    char *at = room(encoder, total);
    if (at == NULL)
        return;
    if (!is_first)
        *at++ = ',';
    *at++ = '"';
    if (is_marked)
        *at++ = '!';
    memcpy(at, field->wire, len);
    at[len] = '"';
    at[len + 1] = ':';
    encoder->buf->len += total;
}

static culex_status encode_form(struct encoder *encoder, const struct culex__path *path,
                                const culex_field *field, const char *base, size_t list_len)
{
    if (field->shape == CULEX_SHAPE_LIST)
        return encode_list(encoder, path, field, base, list_len);
    if (field->shape == CULEX_SHAPE_ARRAY)
        return encode_elements(encoder, path, field, base + field->offset, field->count);
    return encode_value(encoder, path, field, base + field->offset);
}

/* ---- sealed fields ---- */

#define BOX_HEAD "{\"" CULEX_BOX_NAME "\":\""
#define BOX_TAIL "\"}"

/* What was not sealed must not stay in a buffer that goes on to another use. */
static void text_wipe(culex_buf *buf, size_t start)
{
    if (buf->data != NULL)
        explicit_bzero(buf->data + start, buf->len - start);
}

/* Puts the box, in base64, in the place of the text from `start` on. */
static culex_status box_put(struct encoder *encoder, const culex_field *field, size_t start,
                            culex_error *error)
{
    size_t len = encoder->buf->len - start;
    size_t size = culex__box_size(encoder->sealing, len);
    unsigned char *box = malloc(size);
    if (box == NULL) {
        text_wipe(encoder->buf, start);
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    }
    culex_status status =
        culex__box_seal(encoder->sealing, field->wire, encoder->buf->data + start, len, box, error);
    text_wipe(encoder->buf, start);
    culex__buf_cut(encoder->buf, start);
    if (status == CULEX_OK) {
        put(encoder, BOX_HEAD, strlen(BOX_HEAD));
        size_t text_len = culex__base64_size(size);
        char *at = room(encoder, text_len);
        if (at != NULL) {
            culex__base64_format(box, size, at);
            encoder->buf->len += text_len;
        }
        put(encoder, BOX_TAIL, strlen(BOX_TAIL));
    }
    free(box);
    return status;
}

static culex_status encode_sealed(struct encoder *encoder, const struct culex__path *path,
                                  const culex_field *field, const char *base, size_t list_len)
{
    size_t start = encoder->buf->len;
    culex_error error = {0};
    if (encoder->sealing != NULL && encoder->sealing->is_plain)
        return encode_form(encoder, path, field, base, list_len);
    if (encoder->sealing == NULL || encoder->sealing->keys == NULL)
        return culex__codec_fail(encoder->error, CULEX_ENOKEY, path, "%s",
                                 encoder->sealing == NULL ? CULEX__NO_SEALING_TEXT
                                                          : CULEX__NO_KEYS_TEXT);
    if (encoder->depth_left == 0)
        return fail_depth(encoder, path);
    encoder->depth_left--; /* the box is an object around it */
    culex_status status = encode_form(encoder, path, field, base, list_len);
    encoder->depth_left++;
    if (status != CULEX_OK || encoder->status != CULEX_OK) {
        text_wipe(encoder->buf, start);
        return status;
    }
    status = box_put(encoder, field, start, &error);
    return status == CULEX_OK ? status
                              : culex__codec_fail(encoder->error, status, path, "%s", error.text);
}

/* Without its name where `is_first` is NULL. */
static culex_status encode_field(struct encoder *encoder, const struct culex__path *up,
                                 const culex_field *field, const char *base, bool *is_first)
{
    size_t list_len = 0;
    if (field->shape == CULEX_SHAPE_LIST)
        memcpy(&list_len, base + field->len_offset, sizeof list_len);
    if (is_omitted(field, base, list_len))
        return check_omitted(encoder, up, field, base, list_len);
    struct culex__path path = culex__path_field(up, field);
    if (is_first != NULL) {
        put_name(encoder, field, *is_first);
        *is_first = false;
    }
    if ((field->flags & CULEX_FIELD_ENCRYPTED) != 0)
        return encode_sealed(encoder, &path, field, base, list_len);
    return encode_form(encoder, &path, field, base, list_len);
}

static culex_status encode_struct(struct encoder *encoder, const struct culex__path *path,
                                  const culex_struct_type *type, const char *value)
{
    culex_status status = culex__codec_check(type, encoder->error);
    bool is_first = true;
    if (encoder->depth_left == 0)
        return fail_depth(encoder, path);
    encoder->depth_left--;
    put_char(encoder, '{');
    for (size_t at = 0; at < type->field_count && status == CULEX_OK; at++)
        status = encode_field(encoder, path, &type->fields[at], value, &is_first);
    put_char(encoder, '}');
    encoder->depth_left++;
    return status;
}

/* What holds for the payload as a whole, `len` bytes of it written. */
static culex_status check_whole(const struct encoder *encoder, size_t len)
{
    if (encoder->status == CULEX_ENOMEM)
        return culex__fail(encoder->error, CULEX_ENOMEM, "out of memory");
    if (encoder->status != CULEX_OK || len > CULEX_PAYLOAD_MAX) {
        size_t max = encoder->buf->max < CULEX_PAYLOAD_MAX ? encoder->buf->max : CULEX_PAYLOAD_MAX;
        return culex__fail(encoder->error, CULEX_ELIMIT, "the %s would be larger than %zu bytes",
                           encoder->what, max);
    }
    if (encoder->list_bytes > culex__list_bytes_max(len))
        return culex__fail(encoder->error, CULEX_ELIMIT,
                           "the lists of the %s would take more memory than a reader grants them",
                           encoder->what);
    return CULEX_OK;
}

static culex_status encode_whole(const char *what, const struct culex__sealing *sealing,
                                 const culex_struct_type *type, const void *value,
                                 culex_buf *ret_text, culex_error *error)
{
    if (type == NULL || value == NULL || ret_text == NULL)
        return culex__fail(error, CULEX_EINVAL, "no type, no value or no place for its text");
    struct encoder encoder = {.buf = ret_text,
                              .error = error,
                              .what = what,
                              .sealing = sealing,
                              .depth_left = CULEX_PAYLOAD_DEPTH_MAX};
    size_t start = ret_text->len;
    culex_status status = encode_struct(&encoder, NULL, type, value);
    if (status == CULEX_OK)
        status = check_whole(&encoder, ret_text->len - start);
    culex__buf_cut(ret_text, status == CULEX_OK ? ret_text->len : start);
    return status;
}

culex_status culex__encode_sealed(const struct culex__sealing *sealing,
                                  const culex_struct_type *type, const void *value,
                                  culex_buf *ret_text, culex_error *error)
{
    const char *what = strcmp(sealing->part, CULEX_SEALED_RESULT) == 0 ? "result" : "payload";
    return encode_whole(what, sealing, type, value, ret_text, error);
}

culex_status culex__encode_field(const culex_field *field, const void *value, culex_buf *ret_text,
                                 culex_error *error)
{
    struct encoder encoder = {.buf = ret_text,
                              .error = error,
                              .what = "payload",
                              .depth_left = CULEX_PAYLOAD_DEPTH_MAX - 1};
    size_t start = ret_text->len;
    culex_status status = encode_field(&encoder, NULL, field, value, NULL);
    if (status == CULEX_OK)
        status = check_whole(&encoder, ret_text->len - start);
    if (status != CULEX_OK)
        culex__buf_cut(ret_text, start);
    return status;
}

culex_status culex_encode(const culex_struct_type *type, const void *value, culex_buf *ret_text,
                          culex_error *error)
{
    return encode_whole("payload", NULL, type, value, ret_text, error);
}
