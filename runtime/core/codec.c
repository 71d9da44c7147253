#include "core/codec.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "core/duration.h"
#include "core/number.h"
#include "core/timestamp.h"

/* ---- paths ---- */

struct culex__path culex__path_field(const struct culex__path *up, const culex_field *field)
{
    bool is_secret = (up != NULL && up->is_secret) || (field->flags & CULEX_FIELD_SECRET) != 0;
    return (struct culex__path){.up = up, .name = field->name, .is_secret = is_secret};
}

struct culex__path culex__path_element(const struct culex__path *up, size_t index)
{
    return (struct culex__path){.up = up, .index = index, .is_secret = up->is_secret};
}

/* Longer paths are cut; snprintf's count may pass `size`. */
static size_t path_text(const struct culex__path *path, char *text, size_t size)
{
    if (path == NULL)
        return 0;
    size_t at = path_text(path->up, text, size);
    if (at >= size)
        return at;
    const char *dot = at > 0 ? "." : "";
    int len = path->name != NULL ? snprintf(text + at, size - at, "%s%s", dot, path->name)
                                 : snprintf(text + at, size - at, "[%zu]", path->index);
    return len < 0 ? at : at + (size_t)len;
}

culex_status culex__codec_fail(culex_error *error, culex_status code,
                               const struct culex__path *path, const char *format, ...)
{
    char field[2 * CULEX_ERROR_FIELD_SIZE] = "";
    char text[CULEX_ERROR_TEXT_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    path_text(path, field, sizeof field);
    const char *colon = field[0] == '\0' ? "" : ": ";
    return culex__fail_field(error, code, field, "%s%s%s", field, colon, text);
}

/* ---- bounds ---- */

culex_status culex__codec_check(const culex_struct_type *type, culex_error *error)
{
    if (type->field_count <= CULEX_FIELDS_MAX)
        return CULEX_OK;
    return culex__fail(error, CULEX_EINVAL, "%s has %zu fields, at most %d are possible",
                       type->name, type->field_count, CULEX_FIELDS_MAX);
}

size_t culex__list_max(const culex_field *field)
{
    return field->count > 0 ? field->count : CULEX_LIST_MAX;
}

size_t culex__list_bytes_max(size_t len)
{
    return CULEX_LIST_BYTES_FREE + CULEX_LIST_BYTES_FACTOR * len;
}

/* ---- kinds ---- */

size_t culex__slot_size(const culex_field *field)
{
    static const unsigned char sizes[CULEX_KIND_COUNT] = {
        [CULEX_KIND_BOOL] = sizeof(bool),
        [CULEX_KIND_CHAR] = sizeof(char),
        [CULEX_KIND_INT8] = 1,
        [CULEX_KIND_INT16] = 2,
        [CULEX_KIND_INT32] = 4,
        [CULEX_KIND_INT64] = 8,
        [CULEX_KIND_INT128] = sizeof(culex_int128),
        [CULEX_KIND_UINT8] = 1,
        [CULEX_KIND_UINT16] = 2,
        [CULEX_KIND_UINT32] = 4,
        [CULEX_KIND_UINT64] = 8,
        [CULEX_KIND_UINT128] = sizeof(culex_uint128),
        [CULEX_KIND_FLOAT32] = sizeof(float),
        [CULEX_KIND_FLOAT64] = sizeof(double),
        [CULEX_KIND_STRING] = sizeof(const char *),
        [CULEX_KIND_BYTES] = sizeof(culex_bytes),
        [CULEX_KIND_UUID] = sizeof(culex_uuid),
        [CULEX_KIND_TIMESTAMP] = sizeof(culex_time),
        [CULEX_KIND_DURATION] = sizeof(culex_duration),
    };
    assert(field->kind < CULEX_KIND_COUNT);
    if (field->kind == CULEX_KIND_STRUCT)
        return field->struct_type->size;
    if (field->kind == CULEX_KIND_USER)
        return field->user_type->size;
    return sizes[field->kind == CULEX_KIND_ENUM ? field->enum_type->base : field->kind];
}

/* The length comes from code that is not ours: what is behind what it wrote is NUL, so that a
 * wrong one gives nothing away. */
bool culex__user_format(const culex_user_type *type, const void *value,
                        struct culex__user_text *ret_text, const char **ret_fault)
{
    memset(ret_text, 0, sizeof *ret_text);
    int len = type->format(value, ret_text->text, sizeof ret_text->text);
    ret_text->len = len < 0 ? 0 : (size_t)len;
    if (len < 0)
        *ret_fault = "has no text for the value";
    else if (len > CULEX_USER_TEXT_MAX)
        *ret_fault = "made a text of more than 1023 bytes";
    else if (memchr(ret_text->text, '\0', ret_text->len) != NULL)
        *ret_fault = "made a text with a NUL in it";
    else if (!culex__utf8_is_valid(ret_text->text, ret_text->len))
        *ret_fault = "made a text that is not UTF-8";
    else
        return true;
    return false;
}

bool culex__kind_is_signed(culex_kind kind)
{
    return kind >= CULEX_KIND_INT8 && kind <= CULEX_KIND_INT64;
}

/* Of at most 64 bits, signed or not. */
static bool kind_is_integer(culex_kind kind)
{
    return culex__kind_is_signed(kind) || (kind >= CULEX_KIND_UINT8 && kind <= CULEX_KIND_UINT64);
}

static unsigned kind_bits(culex_kind kind)
{
    assert(kind_is_integer(kind));
    culex_kind first = culex__kind_is_signed(kind) ? CULEX_KIND_INT8 : CULEX_KIND_UINT8;
    return 8u << (kind - first);
}

uint64_t culex__kind_max(culex_kind kind)
{
    unsigned value_bits = kind_bits(kind) - (culex__kind_is_signed(kind) ? 1 : 0);
    return UINT64_MAX >> (64 - value_bits);
}

uint64_t culex__kind_min(culex_kind kind)
{
    return culex__kind_is_signed(kind) ? ~culex__kind_max(kind) : 0;
}

/* ---- integers ---- */

#define LOAD(type)                                                                                 \
    do {                                                                                           \
        type value;                                                                                \
        memcpy(&value, slot, sizeof value);                                                        \
        return (uint64_t)value;                                                                    \
    } while (0)

uint64_t culex__integer_load(culex_kind kind, const void *slot)
{
    assert(kind_is_integer(kind));
    switch (kind) {
    case CULEX_KIND_INT8:
        LOAD(int8_t);
    case CULEX_KIND_INT16:
        LOAD(int16_t);
    case CULEX_KIND_INT32:
        LOAD(int32_t);
    case CULEX_KIND_UINT8:
        LOAD(uint8_t);
    case CULEX_KIND_UINT16:
        LOAD(uint16_t);
    case CULEX_KIND_UINT32:
        LOAD(uint32_t);
    default:
        LOAD(uint64_t);
    }
}

void culex__integer_store(culex_kind kind, void *slot, uint64_t bits)
{
    uint8_t bits8 = (uint8_t)bits;
    uint16_t bits16 = (uint16_t)bits;
    uint32_t bits32 = (uint32_t)bits;
    switch (kind_bits(kind)) {
    case 8:
        memcpy(slot, &bits8, sizeof bits8);
        return;
    case 16:
        memcpy(slot, &bits16, sizeof bits16);
        return;
    case 32:
        memcpy(slot, &bits32, sizeof bits32);
        return;
    default:
        memcpy(slot, &bits, sizeof bits);
    }
}

bool culex__integer_less(culex_kind kind, uint64_t left, uint64_t right)
{
    return culex__kind_is_signed(kind) ? (int64_t)left < (int64_t)right : left < right;
}

int culex__integer_compare(const culex_field *field, uint64_t bits)
{
    culex_kind kind = kind_is_integer(field->kind) ? field->kind : CULEX_KIND_INT64;
    if ((field->flags & CULEX_FIELD_MIN) != 0 &&
        culex__integer_less(kind, bits, (uint64_t)field->min))
        return -1;
    if ((field->flags & CULEX_FIELD_MAX) != 0 &&
        culex__integer_less(kind, (uint64_t)field->max, bits))
        return 1;
    return 0;
}

void culex__bound_text(culex_kind kind, uint64_t bits, char ret_text[CULEX_BOUND_TEXT_SIZE])
{
    size_t len = kind == CULEX_KIND_TIMESTAMP  ? culex__timestamp_format((int64_t)bits, ret_text)
                 : kind == CULEX_KIND_DURATION ? culex__duration_format((int64_t)bits, ret_text)
                 : culex__kind_is_signed(kind) ? culex__int64_format((int64_t)bits, ret_text)
                                               : culex__uint64_format(bits, ret_text);
    ret_text[len] = '\0';
}
