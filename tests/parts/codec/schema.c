#include "schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 4, FIELDS_MAX = 9, LIST_MAX = 5, TEXT_MAX = 24, NAME_SIZE = 24 };

uint64_t schema_draw(struct schema_random *random, uint64_t below)
{
    random->state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t mixed = random->state;
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    mixed ^= mixed >> 31;
    return below == 0 ? mixed : mixed % below;
}

static bool chance(struct schema_random *random, unsigned percent)
{
    return schema_draw(random, 100) < percent;
}

static void *take(struct schema_random *random, size_t size)
{
    void *taken = culex_arena_alloc(random->arena, size);
    if (taken == NULL)
        abort();
    return taken;
}

static bool is_integer(culex_kind kind)
{
    return (kind >= CULEX_KIND_INT8 && kind <= CULEX_KIND_INT64) ||
           (kind >= CULEX_KIND_UINT8 && kind <= CULEX_KIND_UINT64);
}

static size_t kind_size(culex_kind kind)
{
    switch (kind) {
    case CULEX_KIND_BOOL:
    case CULEX_KIND_CHAR:
    case CULEX_KIND_INT8:
    case CULEX_KIND_UINT8:
        return 1;
    case CULEX_KIND_INT16:
    case CULEX_KIND_UINT16:
        return 2;
    case CULEX_KIND_INT32:
    case CULEX_KIND_UINT32:
    case CULEX_KIND_FLOAT32:
        return 4;
    case CULEX_KIND_INT128:
    case CULEX_KIND_UINT128:
    case CULEX_KIND_UUID:
        return 16;
    case CULEX_KIND_STRING:
        return sizeof(char *);
    case CULEX_KIND_BYTES:
        return sizeof(culex_bytes);
    default:
        return 8;
    }
}

/* A type of the user's own: any 64 bits, in hexadecimal. */
static bool hex_parse(const char *text, size_t len, void *ret_value)
{
    char *end;
    unsigned long long bits = strtoull(text, &end, 16);
    memcpy(ret_value, &(uint64_t){bits}, sizeof(uint64_t));
    return len > 0 && *end == '\0';
}

static int hex_format(const void *value, char *ret_text, size_t size)
{
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    return snprintf(ret_text, size, "%llx", (unsigned long long)bits);
}

static const culex_user_type hex_type = {"random.hex", sizeof(uint64_t), hex_parse, hex_format};

static size_t slot_size(const culex_field *field)
{
    if (field->kind == CULEX_KIND_STRUCT)
        return field->struct_type->size;
    return kind_size(field->kind == CULEX_KIND_ENUM ? field->enum_type->base : field->kind);
}

/* ---- types ---- */

static culex_kind draw_integer_kind(struct schema_random *random)
{
    static const culex_kind kinds[] = {CULEX_KIND_INT8,   CULEX_KIND_INT16, CULEX_KIND_INT32,
                                       CULEX_KIND_INT64,  CULEX_KIND_UINT8, CULEX_KIND_UINT16,
                                       CULEX_KIND_UINT32, CULEX_KIND_UINT64};
    return kinds[schema_draw(random, 8)];
}

/* Random bits as a value of the kind, sign-extended; often near a border. */
static uint64_t draw_bits(struct schema_random *random, culex_kind kind)
{
    uint64_t bits = schema_draw(random, 0);
    unsigned width = (unsigned)kind_size(kind) * 8;
    if (chance(random, 40))
        bits = schema_draw(random, 4) - 2;
    else if (chance(random, 20))
        bits = (UINT64_C(1) << (width - 1)) - schema_draw(random, 2);
    uint64_t mask = UINT64_MAX >> (64 - width);
    bool is_signed = kind >= CULEX_KIND_INT8 && kind <= CULEX_KIND_INT64;
    bool is_negative = is_signed && (bits >> (width - 1) & 1) != 0;
    return is_negative ? bits | ~mask : bits & mask;
}

static const char *draw_name(struct schema_random *random, size_t index)
{
    char *name = take(random, NAME_SIZE);
    snprintf(name, NAME_SIZE, "%c%zu%s", (char)('a' + schema_draw(random, 26)), index,
             chance(random, 10) ? "_x\xC3\xA9\"\\" : "");
    return name;
}

static const char *draw_plain_name(struct schema_random *random, size_t index)
{
    char *name = take(random, NAME_SIZE);
    snprintf(name, NAME_SIZE, "%c_%zu", (char)('a' + schema_draw(random, 26)), index);
    return name;
}

static const culex_enum_type *draw_enum(struct schema_random *random)
{
    culex_enum_type *type = take(random, sizeof *type);
    size_t count = 1 + schema_draw(random, 5);
    culex_enum_value *values = take(random, count * sizeof *values);
    *type = (culex_enum_type){"random.enum", draw_integer_kind(random), values, count};
    for (size_t at = 0; at < count; at++) {
        values[at].name = draw_name(random, at);
        values[at].bits = at; /* distinct in every base */
    }
    values[0].bits = draw_bits(random, type->base);
    if (values[0].bits < count)
        values[0].bits = 0;
    return type;
}

static const culex_struct_type *draw_type(struct schema_random *random, unsigned depth);
static void draw_slot(struct schema_random *random, const culex_field *field, char *slot);

static void draw_bounds(struct schema_random *random, culex_field *field)
{
    if (is_integer(field->kind) && chance(random, 30)) {
        uint64_t left = draw_bits(random, field->kind);
        uint64_t right = draw_bits(random, field->kind);
        bool is_signed = field->kind <= CULEX_KIND_INT64;
        bool is_ordered = is_signed ? (int64_t)left <= (int64_t)right : left <= right;
        field->flags |= CULEX_FIELD_MIN | CULEX_FIELD_MAX;
        field->min = (int64_t)(is_ordered ? left : right);
        field->max = (int64_t)(is_ordered ? right : left);
    }
    if ((field->kind == CULEX_KIND_STRING || field->kind == CULEX_KIND_BYTES) &&
        chance(random, 30)) {
        field->min_len = schema_draw(random, 4);
        field->max_len = field->min_len + 4 + schema_draw(random, TEXT_MAX);
    }
}

/* Puts something of `size` behind what the struct has, aligned as every type likes it. */
static size_t layout_add(culex_struct_type *type, size_t size)
{
    size_t alignment = size >= 8 ? 8 : size == 0 ? 1 : size & (~size + 1);
    size_t at = (type->size + alignment - 1) / alignment * alignment;
    type->size = at + size;
    return at;
}

static void draw_default(struct schema_random *random, culex_field *field)
{
    size_t size = slot_size(field);
    size_t count = field->shape == CULEX_SHAPE_ARRAY ? field->count : 1;
    char *def = take(random, size * count);
    for (size_t at = 0; at < count; at++)
        draw_slot(random, field, def + at * size);
    field->def = def;
}

static void draw_presence(struct schema_random *random, culex_field *field)
{
    uint64_t lot = schema_draw(random, 3);
    if (chance(random, 15))
        field->flags |= CULEX_FIELD_MUST_UNDERSTAND;
    if (chance(random, 15))
        field->flags |= CULEX_FIELD_SECRET;
    if (lot == 0)
        field->flags |= CULEX_FIELD_OPTIONAL;
    else if (field->shape != CULEX_SHAPE_LIST && lot == 1)
        field->flags |= CULEX_FIELD_REQUIRED;
    else if (field->shape != CULEX_SHAPE_LIST)
        draw_default(random, field);
}

static culex_field draw_field(struct schema_random *random, culex_struct_type *type, size_t index,
                              unsigned depth)
{
    culex_field field = {.shape = (culex_shape)schema_draw(random, 3)};
    field.name = draw_plain_name(random, index);
    field.wire = chance(random, 80) ? field.name : draw_plain_name(random, index);
    field.kind = (culex_kind)schema_draw(random, CULEX_KIND_COUNT);
    if (field.kind == CULEX_KIND_STRUCT && depth >= DEPTH_MAX)
        field.kind = CULEX_KIND_USER;
    if (field.kind == CULEX_KIND_USER)
        field.user_type = &hex_type;
    if (field.kind == CULEX_KIND_STRUCT)
        field.struct_type = draw_type(random, depth + 1);
    if (field.kind == CULEX_KIND_ENUM)
        field.enum_type = draw_enum(random);
    if (field.shape != CULEX_SHAPE_SINGLE)
        field.count = field.shape == CULEX_SHAPE_LIST && chance(random, 50)
                          ? 0
                          : 1 + schema_draw(random, LIST_MAX);
    draw_bounds(random, &field);
    draw_presence(random, &field);
    if (field.shape == CULEX_SHAPE_LIST) {
        field.offset = layout_add(type, sizeof(void *));
        field.len_offset = layout_add(type, sizeof(size_t));
    } else {
        size_t count = field.shape == CULEX_SHAPE_ARRAY ? field.count : 1;
        field.offset = (type->size + 7) / 8 * 8;
        type->size = field.offset + count * slot_size(&field);
    }
    if ((field.flags & CULEX_FIELD_OPTIONAL) != 0)
        field.has_offset = layout_add(type, sizeof(bool));
    return field;
}

static const culex_struct_type *draw_type(struct schema_random *random, unsigned depth)
{
    culex_struct_type *type = take(random, sizeof *type);
    size_t count = schema_draw(random, depth == 0 ? FIELDS_MAX + 4 : FIELDS_MAX / (depth + 1) + 1);
    culex_field *fields = take(random, count * sizeof *fields);
    for (size_t at = 0; at < count; at++)
        fields[at] = draw_field(random, type, at, depth);
    type->size = (type->size + 8) / 8 * 8; /* never 0, as in C */
    type->name = "random.type";
    type->fields = fields;
    type->field_count = count;
    return type;
}

const culex_struct_type *schema_type(struct schema_random *random)
{
    return draw_type(random, 0);
}

const culex_struct_type *schema_drop(struct schema_random *random, const culex_struct_type *type,
                                     const culex_field **ret_field)
{
    if (type->field_count == 0)
        return NULL;
    culex_struct_type *dropped = take(random, sizeof *dropped);
    culex_field *fields = take(random, type->field_count * sizeof *fields);
    size_t lot = schema_draw(random, type->field_count);
    size_t out = 0;
    for (size_t at = 0; at < type->field_count; at++) {
        if (at != lot)
            fields[out++] = type->fields[at];
    }
    *dropped = *type;
    dropped->fields = fields;
    dropped->field_count = out;
    *ret_field = &type->fields[lot];
    return dropped;
}

/* ---- values ---- */

static size_t draw_len(struct schema_random *random, const culex_field *field)
{
    size_t most = field->max_len > 0 ? field->max_len : field->min_len + TEXT_MAX;
    return field->min_len + schema_draw(random, most - field->min_len + 1);
}

/* Whole characters of one to four bytes, then ASCII up to the length. */
static const char *draw_text(struct schema_random *random, size_t len)
{
    static const char *const parts[] = {
        "a",           "\"", "\\",       "\n",           "\x01",
        "\x7f",        "/",  "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
        "\xEF\xBF\xBF"};
    char *text = take(random, len + 1);
    for (size_t at = 0; at < len;) {
        const char *part = parts[schema_draw(random, sizeof parts / sizeof parts[0])];
        size_t size = strlen(part) <= len - at ? strlen(part) : 1;
        memcpy(text + at, size == strlen(part) ? part : "z", size);
        at += size;
    }
    return text;
}

static void draw_bytes(struct schema_random *random, const culex_field *field, char *slot)
{
    culex_bytes bytes = {NULL, draw_len(random, field)};
    uint8_t *data = take(random, bytes.len);
    for (size_t at = 0; at < bytes.len; at++)
        data[at] = (uint8_t)schema_draw(random, 256);
    bytes.data = bytes.len > 0 ? data : NULL;
    memcpy(slot, &bytes, sizeof bytes);
}

static uint64_t draw_bounded(struct schema_random *random, const culex_field *field)
{
    uint64_t bits = draw_bits(random, field->kind);
    if ((field->flags & CULEX_FIELD_MIN) == 0)
        return bits;
    uint64_t span = (uint64_t)field->max - (uint64_t)field->min;
    uint64_t step = span == UINT64_MAX ? bits : schema_draw(random, span + 1);
    return (uint64_t)field->min + (chance(random, 20) ? span : step);
}

static double draw_double(struct schema_random *random)
{
    static const double specials[] = {0.0, -0.0, 1.0, 0.1, 1e21, 5e-324};
    uint64_t bits = schema_draw(random, 0);
    double value;
    memcpy(&value, &bits, sizeof value);
    uint64_t lot = schema_draw(random, 4);
    if (lot == 0)
        value = specials[schema_draw(random, 6)];
    if (lot == 1)
        value = (double)(int64_t)(bits >> 40) / 1000;
    return chance(random, 5) ? (double)INFINITY : chance(random, 5) ? (double)NAN : value;
}

static void draw_fields(struct schema_random *random, const culex_struct_type *type, char *base);

static void draw_slot(struct schema_random *random, const culex_field *field, char *slot)
{
    uint64_t bits = schema_draw(random, 0);
    uint64_t more = schema_draw(random, 0);
    double wide = draw_double(random);
    float narrow = 0;
    memcpy(&narrow, &bits, sizeof narrow);
    bool flag = (bits & 1) != 0;
    const char *text;
    switch (field->kind) {
    case CULEX_KIND_STRUCT:
        draw_fields(random, field->struct_type, slot);
        return;
    case CULEX_KIND_STRING:
        text = draw_text(random, draw_len(random, field));
        memcpy(slot, &text, sizeof text);
        return;
    case CULEX_KIND_BYTES:
        draw_bytes(random, field, slot);
        return;
    case CULEX_KIND_BOOL:
        memcpy(slot, &flag, sizeof flag);
        return;
    case CULEX_KIND_FLOAT32:
        memcpy(slot, &narrow, sizeof narrow);
        return;
    case CULEX_KIND_FLOAT64:
        memcpy(slot, &wide, sizeof wide);
        return;
    case CULEX_KIND_INT128:
    case CULEX_KIND_UINT128:
    case CULEX_KIND_UUID:
        more = chance(random, 30) ? 0 : chance(random, 30) ? UINT64_MAX : more;
        memcpy(slot, &bits, 8);
        memcpy(slot + 8, &more, 8);
        return;
    case CULEX_KIND_ENUM:
        bits = field->enum_type->values[schema_draw(random, field->enum_type->value_count)].bits;
        break;
    default:
        if (is_integer(field->kind))
            bits = draw_bounded(random, field);
        else if (chance(random, 20))
            bits = schema_draw(random, 3) - 1; /* times and durations around zero */
    }
    memcpy(slot, &bits, slot_size(field)); /* little endian: tests run on such machines */
}

static void draw_list(struct schema_random *random, const culex_field *field, char *base)
{
    size_t size = slot_size(field);
    size_t most = field->count > 0 ? field->count : LIST_MAX;
    size_t len = schema_draw(random, most + 1);
    char *data = take(random, len * size);
    for (size_t at = 0; at < len; at++)
        draw_slot(random, field, data + at * size);
    memcpy(base + field->offset, &data, sizeof data);
    memcpy(base + field->len_offset, &len, sizeof len);
}

static void draw_fields(struct schema_random *random, const culex_struct_type *type, char *base)
{
    for (size_t at = 0; at < type->field_count; at++) {
        const culex_field *field = &type->fields[at];
        size_t count = field->shape == CULEX_SHAPE_ARRAY ? field->count : 1;
        bool has = chance(random, 60);
        if ((field->flags & CULEX_FIELD_OPTIONAL) != 0) {
            memcpy(base + field->has_offset, &has, sizeof has);
            if (!has)
                continue;
        }
        if (field->shape == CULEX_SHAPE_LIST)
            draw_list(random, field, base);
        for (size_t n = 0; field->shape != CULEX_SHAPE_LIST && n < count; n++)
            draw_slot(random, field, base + field->offset + n * slot_size(field));
    }
}

void *schema_value(struct schema_random *random, const culex_struct_type *type)
{
    char *value = take(random, type->size);
    draw_fields(random, type, value);
    return value;
}

/* ---- comparing ---- */

static bool floats_equal(double left, double right)
{
    return (isnan(left) && isnan(right)) || (left == right && signbit(left) == signbit(right));
}

static bool strings_equal(const char *left, const char *right)
{
    const char *texts[2];
    memcpy(&texts[0], left, sizeof texts[0]);
    memcpy(&texts[1], right, sizeof texts[1]);
    return strcmp(texts[0], texts[1]) == 0;
}

static bool bytes_equal(const char *left, const char *right)
{
    culex_bytes bytes[2];
    memcpy(&bytes[0], left, sizeof bytes[0]);
    memcpy(&bytes[1], right, sizeof bytes[1]);
    return bytes[0].len == bytes[1].len &&
           (bytes[0].len == 0 || memcmp(bytes[0].data, bytes[1].data, bytes[0].len) == 0);
}

static bool slots_equal(const culex_field *field, const char *left, const char *right)
{
    float narrow[2];
    double wide[2];
    switch (field->kind) {
    case CULEX_KIND_STRUCT:
        return schema_equal(field->struct_type, left, right);
    case CULEX_KIND_STRING:
        return strings_equal(left, right);
    case CULEX_KIND_BYTES:
        return bytes_equal(left, right);
    case CULEX_KIND_FLOAT32:
        memcpy(&narrow[0], left, sizeof narrow[0]);
        memcpy(&narrow[1], right, sizeof narrow[1]);
        return floats_equal((double)narrow[0], (double)narrow[1]);
    case CULEX_KIND_FLOAT64:
        memcpy(&wide[0], left, sizeof wide[0]);
        memcpy(&wide[1], right, sizeof wide[1]);
        return floats_equal(wide[0], wide[1]);
    default:
        return memcmp(left, right, slot_size(field)) == 0;
    }
}

static bool fields_equal(const culex_field *field, const char *left, const char *right)
{
    size_t size = slot_size(field);
    size_t count = field->shape == CULEX_SHAPE_ARRAY ? field->count : 1;
    bool is_optional = (field->flags & CULEX_FIELD_OPTIONAL) != 0;
    if (is_optional && left[field->has_offset] != right[field->has_offset])
        return false;
    if (is_optional && left[field->has_offset] == 0)
        return true;
    if (field->shape == CULEX_SHAPE_LIST) {
        if (memcmp(left + field->len_offset, right + field->len_offset, sizeof count) != 0)
            return false;
        memcpy(&count, left + field->len_offset, sizeof count);
        memcpy(&left, left + field->offset, sizeof left);
        memcpy(&right, right + field->offset, sizeof right);
    } else {
        left += field->offset;
        right += field->offset;
    }
    for (size_t at = 0; at < count; at++) {
        if (!slots_equal(field, left + at * size, right + at * size))
            return false;
    }
    return true;
}

bool schema_equal(const culex_struct_type *type, const char *left, const char *right)
{
    for (size_t at = 0; at < type->field_count; at++) {
        if (!fields_equal(&type->fields[at], left, right))
            return false;
    }
    return true;
}
