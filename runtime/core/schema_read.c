/* culex_schema_read: a text, whatever is in it, to a descriptor that the codec may trust.
 *
 * The codec has read the text into a culex_schema_form; here all that a descriptor of culexc is
 * known to keep to is checked, and the structs are laid out as a C compiler would. */
#include <culex/schema.h>

#include <assert.h>
#include <math.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/digit.h"
#include "base/error.h"
#include "base/limits.h"
#include "core/codec.h"
#include "core/codec_decode.h"
#include "core/needs.h"
#include "core/schema_form.h"
#include "core/schema_text.h"

enum {
    STRUCT_BYTES_MAX = 64 * 1024 * 1024, /* of one struct in memory, those in it included */
    NAME_MAX_BYTES = CULEX_JOB_NAME_MAX
};

struct culex_schema {
    culex_arena *arena;
    culex_job_type type;
    bool is_retired;
    culex_struct_type *structs; /* those in fields, then params, result, metadata */
    size_t struct_count;
};

/* Where a struct stands on its way to a layout. */
enum place { PLACE_NOT_YET, PLACE_OPEN, PLACE_DONE };

/* A struct that is laid out, beside its type. */
struct laid {
    const struct culex_schema_struct *form;
    enum place place;
    size_t align;
};

struct reader {
    culex_arena *arena; /* of the schema */
    culex_error *error;
    const struct culex_schema_form *form;
    culex_enum_type *enums; /* as in the form */
    culex_user_type *users;
    culex_struct_type *structs; /* as in the form, and behind them params, result, metadata */
    struct laid *laid;
    size_t struct_count;
};

#define BAD(reader, ...) culex__fail((reader)->error, CULEX_EDECODE, __VA_ARGS__)

static culex_status exhausted(const struct reader *reader)
{
    return culex__fail(reader->error, CULEX_ENOMEM, "out of memory");
}

/* ---- names ---- */

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

/* As the language has them: letters, digits and '_', with '.' between the parts of a name that is
 * qualified. They go into payloads and onto screens as they are. */
static bool is_name(const char *text, bool may_have_dots)
{
    bool begins = true;
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        bool is_dot = text[i] == '.' && may_have_dots && !begins;
        if (!is_dot && !is_letter(text[i]) && (begins || !culex__is_digit(text[i])))
            return false;
        begins = is_dot;
    }
    return !begins && len <= NAME_MAX_BYTES;
}

static culex_status name_check(const struct reader *reader, const char *what, const char *text)
{
    if (is_name(text, true))
        return CULEX_OK;
    return BAD(reader, "'%.64s' is no name of a %s: 1 to %d letters, digits, '_' and '.'", text,
               what, NAME_MAX_BYTES);
}

/* ---- enums and own types ---- */

static bool base_is_integer(culex_kind kind)
{
    return (kind >= CULEX_KIND_INT8 && kind <= CULEX_KIND_INT64) ||
           (kind >= CULEX_KIND_UINT8 && kind <= CULEX_KIND_UINT64);
}

static culex_status value_read(const struct reader *reader, const culex_enum_type *type,
                               const struct culex_schema_value *form, culex_enum_value *ret_value)
{
    uint64_t bits = (uint64_t)form->value;
    if (!is_name(form->name, false))
        return BAD(reader, "%s: '%.64s' is no name of a value", type->name, form->name);
    if (culex__integer_less(type->base, bits, culex__kind_min(type->base)) ||
        culex__integer_less(type->base, culex__kind_max(type->base), bits))
        return BAD(reader, "%s: the number of %s is none of %s", type->name, form->name,
                   culex__kind_name(type->base));
    for (size_t i = 0; i < type->value_count; i++)
        if (strcmp(type->values[i].name, form->name) == 0)
            return BAD(reader, "%s: two values %s", type->name, form->name);
    *ret_value = (culex_enum_value){form->name, bits, form->has_doc ? form->doc : NULL};
    return CULEX_OK;
}

static culex_status enum_read(const struct reader *reader, const struct culex_schema_enum *form,
                              culex_enum_type *type)
{
    culex_enum_value *values = culex_arena_alloc(reader->arena, form->values_len * sizeof *values);
    culex_status status = name_check(reader, "enum", form->name);
    if (values == NULL)
        return exhausted(reader);
    if (status == CULEX_OK && !base_is_integer(form->base))
        return BAD(reader, "%s: an enum is no %s", form->name, culex__kind_name(form->base));
    *type = (culex_enum_type){.name = form->name, .base = form->base, .values = values};
    for (size_t i = 0; i < form->values_len && status == CULEX_OK; i++) {
        status = value_read(reader, type, &form->values[i], &values[i]);
        type->value_count += status == CULEX_OK;
    }
    return status;
}

static culex_status enums_read(struct reader *reader)
{
    const struct culex_schema_form *form = reader->form;
    culex_status status = CULEX_OK;
    reader->enums = culex_arena_alloc(reader->arena, form->enums_len * sizeof *reader->enums);
    if (reader->enums == NULL)
        return exhausted(reader);
    for (size_t i = 0; i < form->enums_len && status == CULEX_OK; i++) {
        status = enum_read(reader, &form->enums[i], &reader->enums[i]);
        for (size_t j = 0; j < i && status == CULEX_OK; j++)
            if (strcmp(reader->enums[i].name, reader->enums[j].name) == 0)
                status = BAD(reader, "two enums %s", reader->enums[i].name);
    }
    return status;
}

static culex_status users_read(struct reader *reader)
{
    const struct culex_schema_form *form = reader->form;
    culex_status status = CULEX_OK;
    reader->users = culex_arena_alloc(reader->arena, form->users_len * sizeof *reader->users);
    if (reader->users == NULL)
        return exhausted(reader);
    for (size_t i = 0; i < form->users_len && status == CULEX_OK; i++) {
        reader->users[i] =
            (culex_user_type){.name = form->users[i].name, .size = sizeof(const char *)};
        status = name_check(reader, "type", form->users[i].name);
        for (size_t j = 0; j < i && status == CULEX_OK; j++)
            if (strcmp(reader->users[i].name, reader->users[j].name) == 0)
                status = BAD(reader, "two types %s", reader->users[i].name);
    }
    return status;
}

/* ---- fields ---- */

/* The index of the struct of that name among those in fields; `struct_count` when there is none. */
static size_t struct_find(const struct reader *reader, const char *name)
{
    for (size_t i = 0; i < reader->form->structs_len; i++)
        if (strcmp(reader->form->structs[i].name, name) == 0)
            return i;
    return reader->struct_count;
}

static const culex_enum_type *enum_find(const struct reader *reader, const char *name)
{
    for (size_t i = 0; i < reader->form->enums_len; i++)
        if (strcmp(reader->enums[i].name, name) == 0)
            return &reader->enums[i];
    return NULL;
}

static const culex_user_type *user_find(const struct reader *reader, const char *name)
{
    for (size_t i = 0; i < reader->form->users_len; i++)
        if (strcmp(reader->users[i].name, name) == 0)
            return &reader->users[i];
    return NULL;
}

/* An own type is a string of the length that the codec has for such. */
static void type_find(const struct reader *reader, const char *name, culex_field *field)
{
    size_t at = field->kind == CULEX_KIND_STRUCT ? struct_find(reader, name) : 0;
    if (field->kind == CULEX_KIND_STRUCT && at < reader->struct_count)
        field->struct_type = &reader->structs[at];
    else if (field->kind == CULEX_KIND_ENUM)
        field->enum_type = enum_find(reader, name);
    else if (field->kind == CULEX_KIND_USER)
        field->user_type = user_find(reader, name);
    if (field->user_type != NULL) {
        field->kind = CULEX_KIND_STRING;
        field->max_len = CULEX_USER_TEXT_MAX;
    }
}

static bool kind_has_type(culex_kind kind)
{
    return kind == CULEX_KIND_ENUM || kind == CULEX_KIND_STRUCT || kind == CULEX_KIND_USER;
}

static culex_status type_read(const struct reader *reader, const char *owner,
                              const struct culex_schema_field *form, culex_field *field)
{
    if (form->has_type != kind_has_type(form->kind))
        return BAD(reader, "%s.%s: of kind %s, and %s type", owner, form->name,
                   culex__kind_name(form->kind), form->has_type ? "with a" : "without a");
    if (!form->has_type)
        return CULEX_OK;
    type_find(reader, form->type, field);
    if (field->enum_type != NULL || field->struct_type != NULL || field->user_type != NULL)
        return CULEX_OK;
    return BAD(reader, "%s.%s: there is no %s '%.64s'", owner, form->name,
               culex__kind_name(form->kind), form->type);
}

/* A list has any number up to its bound, an array has all, a single value has no number. */
static bool count_is_valid(const struct culex_schema_field *form)
{
    if (form->count > CULEX_LIST_MAX)
        return false;
    return form->shape == CULEX_SHAPE_LIST ||
           (form->shape == CULEX_SHAPE_ARRAY) == (form->count > 0);
}

static unsigned flags_read(const struct culex_schema_field *form)
{
    unsigned flags = (form->has_min ? (unsigned)CULEX_FIELD_MIN : 0) |
                     (form->has_max ? (unsigned)CULEX_FIELD_MAX : 0);
    for (size_t i = 0; i < form->flags_len; i++)
        flags |= form->flags[i];
    if ((flags & CULEX__FIELD_WITHHELD) != 0)
        flags |= CULEX_FIELD_OPTIONAL;
    return flags;
}

static culex_status field_check(const struct reader *reader, const char *owner,
                                const struct culex_schema_field *form, unsigned flags)
{
    const unsigned both = CULEX_FIELD_OPTIONAL | CULEX_FIELD_REQUIRED;
    if (!is_name(form->name, false) || (form->has_wire && !is_name(form->wire, false)))
        return BAD(reader, "%s: '%.64s' is no name of a field", owner,
                   is_name(form->name, false) ? form->wire : form->name);
    if (!count_is_valid(form))
        return BAD(reader, "%s.%s: a count of %u", owner, form->name, (unsigned)form->count);
    if ((flags & both) == both)
        return BAD(reader, "%s.%s: optional and required", owner, form->name);
    if (form->max_len > CULEX_SCHEMA_LEN_MAX || form->min_len > CULEX_SCHEMA_LEN_MAX)
        return BAD(reader, "%s.%s: a length of more than %d bytes", owner, form->name,
                   CULEX_SCHEMA_LEN_MAX);
    return CULEX_OK;
}

static culex_status field_read(const struct reader *reader, const char *owner,
                               const struct culex_schema_field *form, culex_field *field)
{
    unsigned flags = flags_read(form);
    culex_status status = field_check(reader, owner, form, flags);
    *field = (culex_field){.name = form->name,
                           .wire = form->has_wire ? form->wire : form->name,
                           .kind = form->kind,
                           .shape = form->shape,
                           .flags = flags,
                           .count = form->count,
                           .min_len = (size_t)form->min_len,
                           .max_len = (size_t)form->max_len,
                           .min = form->min,
                           .max = form->max,
                           .doc = form->has_doc ? form->doc : NULL};
    return status == CULEX_OK ? type_read(reader, owner, form, field) : status;
}

static culex_status fields_compare(const struct reader *reader, const char *owner,
                                   const culex_field *field, const culex_field *other)
{
    if (strcmp(field->name, other->name) == 0)
        return BAD(reader, "%s: two fields %s", owner, field->name);
    if (strcmp(field->wire, other->wire) == 0)
        return BAD(reader, "%s: two fields are %s in payloads", owner, field->wire);
    return CULEX_OK;
}

static culex_status struct_read(const struct reader *reader, size_t at)
{
    const struct culex_schema_struct *form = reader->laid[at].form;
    culex_field *fields = culex_arena_alloc(reader->arena, form->fields_len * sizeof *fields);
    culex_status status = name_check(reader, "struct", form->name);
    if (fields == NULL)
        return exhausted(reader);
    for (size_t i = 0; i < form->fields_len && status == CULEX_OK; i++) {
        status = field_read(reader, form->name, &form->fields[i], &fields[i]);
        for (size_t j = 0; j < i && status == CULEX_OK; j++)
            status = fields_compare(reader, form->name, &fields[i], &fields[j]);
    }
    reader->structs[at] = (culex_struct_type){.name = form->name,
                                              .fields = form->fields_len > 0 ? fields : NULL,
                                              .field_count = form->fields_len};
    return status;
}

static void structs_gather(struct reader *reader)
{
    const struct culex_schema_form *form = reader->form;
    size_t count = form->structs_len;
    for (size_t i = 0; i < count; i++)
        reader->laid[i].form = &form->structs[i];
    reader->laid[count++].form = &form->params;
    if (form->has_result)
        reader->laid[count++].form = &form->result;
    if (form->has_metadata)
        reader->laid[count++].form = &form->metadata;
    reader->struct_count = count;
}

static culex_status structs_read(struct reader *reader)
{
    size_t most = reader->form->structs_len + 3;
    culex_status status = CULEX_OK;
    reader->structs = culex_arena_alloc(reader->arena, most * sizeof *reader->structs);
    reader->laid = culex_arena_alloc(reader->arena, most * sizeof *reader->laid);
    if (reader->structs == NULL || reader->laid == NULL)
        return exhausted(reader);
    structs_gather(reader);
    for (size_t i = 0; i < reader->struct_count && status == CULEX_OK; i++) {
        status = struct_read(reader, i);
        if (i < reader->form->structs_len && struct_find(reader, reader->laid[i].form->name) < i)
            status = BAD(reader, "two structs %s", reader->laid[i].form->name);
    }
    return status;
}

/* ---- layout ---- */

static size_t kind_align(const culex_field *field)
{
    static const unsigned char aligns[CULEX_KIND_COUNT] = {
        [CULEX_KIND_BOOL] = alignof(bool),
        [CULEX_KIND_CHAR] = 1,
        [CULEX_KIND_INT8] = 1,
        [CULEX_KIND_INT16] = alignof(int16_t),
        [CULEX_KIND_INT32] = alignof(int32_t),
        [CULEX_KIND_INT64] = alignof(int64_t),
        [CULEX_KIND_INT128] = alignof(culex_int128),
        [CULEX_KIND_UINT8] = 1,
        [CULEX_KIND_UINT16] = alignof(uint16_t),
        [CULEX_KIND_UINT32] = alignof(uint32_t),
        [CULEX_KIND_UINT64] = alignof(uint64_t),
        [CULEX_KIND_UINT128] = alignof(culex_uint128),
        [CULEX_KIND_FLOAT32] = alignof(float),
        [CULEX_KIND_FLOAT64] = alignof(double),
        [CULEX_KIND_STRING] = alignof(const char *),
        [CULEX_KIND_BYTES] = alignof(culex_bytes),
        [CULEX_KIND_UUID] = alignof(culex_uuid),
        [CULEX_KIND_TIMESTAMP] = alignof(culex_time),
        [CULEX_KIND_DURATION] = alignof(culex_duration),
    };
    return aligns[field->kind == CULEX_KIND_ENUM ? field->enum_type->base : field->kind];
}

/* A struct while its members are put behind each other. 64 bits: an array of the largest struct
 * passes what size_t may have elsewhere. */
struct layout {
    uint64_t size;
    size_t align;
};

static size_t member_add(struct layout *layout, uint64_t size, size_t align)
{
    uint64_t at = (layout->size + align - 1) / align * align;
    layout->size = at + size;
    if (layout->align < align)
        layout->align = align;
    return (size_t)at;
}

static culex_status struct_place(struct reader *reader, size_t at, unsigned depth);

/* What the field holds by value has its size before. */
static culex_status held_place(struct reader *reader, const culex_field *field, unsigned depth,
                               size_t *ret_align)
{
    culex_status status = CULEX_OK;
    if (field->kind != CULEX_KIND_STRUCT) {
        *ret_align = kind_align(field);
        return CULEX_OK;
    }
    size_t held = (size_t)(field->struct_type - reader->structs);
    if (field->shape != CULEX_SHAPE_LIST)
        status = struct_place(reader, held, depth + 1);
    *ret_align = reader->laid[held].align;
    return status;
}

static culex_status field_place(struct reader *reader, culex_field *field, unsigned depth,
                                struct layout *layout)
{
    size_t align = 1;
    culex_status status = held_place(reader, field, depth, &align);
    if (status != CULEX_OK)
        return status;
    if ((field->flags & CULEX_FIELD_OPTIONAL) != 0)
        field->has_offset = member_add(layout, sizeof(bool), alignof(bool));
    if (field->shape == CULEX_SHAPE_LIST) {
        field->offset = member_add(layout, sizeof(void *), alignof(void *));
        field->len_offset = member_add(layout, sizeof(size_t), alignof(size_t));
        return CULEX_OK;
    }
    uint64_t count = field->shape == CULEX_SHAPE_ARRAY ? field->count : 1;
    field->offset = member_add(layout, count * culex__slot_size(field), align);
    return CULEX_OK;
}

static culex_status fields_place(struct reader *reader, size_t at, unsigned depth,
                                 struct layout *layout)
{
    const struct culex_schema_struct *form = reader->laid[at].form;
    /* They are this reader's own until it returns them. */
    culex_field *fields = (culex_field *)(uintptr_t)reader->structs[at].fields;
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < form->fields_len && status == CULEX_OK; i++) {
        status = field_place(reader, &fields[i], depth, layout);
        if (status == CULEX_OK && layout->size > STRUCT_BYTES_MAX)
            return BAD(reader, "%s.%s: the struct would have more than %d bytes", form->name,
                       form->fields[i].name, STRUCT_BYTES_MAX);
    }
    return status;
}

static culex_status struct_place(struct reader *reader, size_t at, unsigned depth)
{
    struct laid *laid = &reader->laid[at];
    struct layout layout = {.size = 0, .align = 1};
    if (laid->place == PLACE_DONE)
        return CULEX_OK;
    if (laid->place == PLACE_OPEN)
        return BAD(reader, "%s: the struct holds itself", laid->form->name);
    if (depth > CULEX_PAYLOAD_DEPTH_MAX)
        return BAD(reader, "%s: more than %d structs inside each other", laid->form->name,
                   CULEX_PAYLOAD_DEPTH_MAX);
    laid->place = PLACE_OPEN;
    culex_status status = fields_place(reader, at, depth, &layout);
    member_add(&layout, layout.size == 0, 1); /* no empty struct, as in generated C */
    member_add(&layout, 0, layout.align);
    reader->structs[at].size = (size_t)layout.size;
    laid->align = layout.align;
    laid->place = PLACE_DONE;
    return status;
}

static culex_status structs_place(struct reader *reader)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < reader->struct_count && status == CULEX_OK; i++)
        status = struct_place(reader, i, 0);
    return status;
}

/* ---- defaults ---- */

/* {"NAME":TEXT}: what is more than one value is refused as more than that. */
static char *default_wrap(const struct reader *reader, const culex_field *field, const char *text,
                          size_t *ret_len)
{
    size_t wire = strlen(field->wire), len = strlen(text);
    char *wrapped = culex__arena_bytes(reader->arena, wire + len + 6);
    if (wrapped == NULL)
        return NULL;
    char *end = stpcpy(stpcpy(stpcpy(wrapped, "{\""), field->wire), "\":");
    end = stpcpy(stpcpy(end, text), "}");
    *ret_len = (size_t)(end - wrapped);
    return wrapped;
}

/* The field alone is the struct. One that is required, so that `null` is no value for it. */
static culex_status default_read(const struct reader *reader, const char *owner, const char *text,
                                 culex_field *field)
{
    culex_field alone = *field;
    alone.offset = 0;
    alone.flags = (alone.flags & (CULEX_FIELD_MIN | CULEX_FIELD_MAX)) | CULEX_FIELD_REQUIRED;
    size_t len = 0;
    const culex_struct_type type = {owner, culex__slot_size(field), &alone, 1};
    const char *wrapped = default_wrap(reader, field, text, &len);
    if (wrapped == NULL)
        return exhausted(reader);
    culex_status status =
        culex__decode_exact(&type, reader->arena, wrapped, len, &field->def, reader->error);
    if (status != CULEX_OK)
        culex__error_context(reader->error, "%s: the default", owner);
    return status == CULEX_EUNDERSTAND ? CULEX_EDECODE : status;
}

/* As the language has it; so it takes no more memory than its text and a few bytes. */
static bool takes_default(const culex_field *field)
{
    const unsigned none = CULEX_FIELD_OPTIONAL | CULEX_FIELD_SECRET | CULEX_FIELD_ENCRYPTED;
    return field->shape == CULEX_SHAPE_SINGLE && field->kind != CULEX_KIND_STRUCT &&
           (field->flags & none) == 0;
}

static culex_status defaults_read(const struct reader *reader, size_t at)
{
    const struct culex_schema_struct *form = reader->laid[at].form;
    culex_field *fields = (culex_field *)(uintptr_t)reader->structs[at].fields;
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < form->fields_len && status == CULEX_OK; i++) {
        if (!form->fields[i].has_def)
            continue;
        if (!takes_default(&fields[i]))
            return BAD(reader, "%s.%s: has a default, and cannot", form->name, fields[i].name);
        status = default_read(reader, form->name, form->fields[i].def, &fields[i]);
    }
    return status;
}

/* ---- the job ---- */

static culex_status by_read(const struct reader *reader, const char *const *names, size_t count,
                            const uint16_t **ret_by)
{
    const culex_struct_type *params = &reader->structs[reader->form->structs_len];
    uint16_t *by = culex_arena_alloc(reader->arena, count * sizeof *by);
    if (by == NULL)
        return exhausted(reader);
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < params->field_count && strcmp(params->fields[at].name, names[i]) != 0)
            at++;
        if (at == params->field_count)
            return BAD(reader, "a key is of '%.64s', which is no param", names[i]);
        by[i] = (uint16_t)at;
    }
    *ret_by = count > 0 ? by : NULL;
    return CULEX_OK;
}

static culex_status unique_read(const struct reader *reader, culex_unique *unique)
{
    const struct culex_schema_unique *form = &reader->form->unique;
    if (!reader->form->has_unique)
        return CULEX_OK;
    *unique = (culex_unique){.is_unique = true,
                             .by_all = form->by_all,
                             .by_count = form->by_len,
                             .for_ms = form->for_ms,
                             .on_conflict = form->on_conflict,
                             .delay_ms = form->delay_ms};
    for (size_t i = 0; i < form->states_len; i++)
        unique->while_states |= form->states[i];
    return by_read(reader, form->by, form->by_len, &unique->by);
}

static culex_status limits_read(const struct reader *reader, culex_job_type *type)
{
    const struct culex_schema_form *form = reader->form;
    culex_limit *limits = culex_arena_alloc(reader->arena, form->limits_len * sizeof *limits);
    culex_status status = CULEX_OK;
    if (limits == NULL)
        return exhausted(reader);
    for (size_t i = 0; i < form->limits_len && status == CULEX_OK; i++) {
        const struct culex_schema_limit *limit = &form->limits[i];
        limits[i] = (culex_limit){.kind = limit->kind,
                                  .name = limit->name,
                                  .count = limit->count,
                                  .per_ms = limit->per_ms,
                                  .burst = limit->burst,
                                  .by_count = limit->by_len};
        status = by_read(reader, limit->by, limit->by_len, &limits[i].by);
    }
    type->limits = form->limits_len > 0 ? limits : NULL;
    type->limit_count = form->limits_len;
    return status;
}

/* The client has them in this room (core/needs.h). */
static culex_status needs_read(const struct reader *reader, culex_job_type *type)
{
    const struct culex_schema_form *form = reader->form;
    culex_need *needs = culex_arena_alloc(reader->arena, form->needs_len * sizeof *needs);
    if (needs == NULL)
        return exhausted(reader);
    for (size_t i = 0; i < form->needs_len; i++) {
        needs[i] = (culex_need){form->needs[i].name, form->needs[i].units};
        if (!culex__need_name_is_valid(needs[i].name, strlen(needs[i].name)))
            return BAD(reader, "'%.64s' is no name of a need", needs[i].name);
        if (needs[i].units < 1 || needs[i].units > CULEX_NEED_UNITS_MAX)
            return BAD(reader, "needs %u of %s", (unsigned)needs[i].units, needs[i].name);
    }
    type->needs = form->needs_len > 0 ? needs : NULL;
    type->need_count = form->needs_len;
    return CULEX_OK;
}

static culex_status retry_read(const struct reader *reader, culex_retry_policy *retry)
{
    const struct culex_schema_retry *form = &reader->form->retry;
    bool has_times = form->for_ms >= 0 && form->base_ms >= 0 && form->cap_ms >= 0;
    for (size_t i = 0; i < form->steps_ms_len; i++)
        has_times = has_times && form->steps_ms[i] >= 0;
    if (!has_times || !isfinite(form->factor) || form->factor < 0 ||
        !(form->jitter_ratio >= 0 && form->jitter_ratio <= 1) ||
        (form->backoff == CULEX_BACKOFF_STEPS) != (form->steps_ms_len > 0))
        return BAD(reader, "retry: a number that no schema gives");
    *retry = (culex_retry_policy){.max = form->max,
                                  .for_ms = form->for_ms,
                                  .backoff = form->backoff,
                                  .base_ms = form->base_ms,
                                  .factor = form->factor,
                                  .cap_ms = form->cap_ms,
                                  .steps_ms = form->steps_ms_len > 0 ? form->steps_ms : NULL,
                                  .step_count = form->steps_ms_len,
                                  .jitter = form->jitter,
                                  .jitter_ratio = form->jitter_ratio};
    return CULEX_OK;
}

static culex_status schedule_read(const struct reader *reader, culex_schedule *schedule)
{
    const struct culex_schema_schedule *form = &reader->form->schedule;
    if (!reader->form->has_schedule)
        return CULEX_OK;
    if (form->every_ms < 0 || form->jitter_ms < 0 || (form->every_ms > 0) == form->has_cron ||
        form->has_cron != form->has_zone)
        return BAD(reader, "schedule: neither one of every nor one of cron");
    *schedule = (culex_schedule){.every_ms = form->every_ms,
                                 .cron = form->has_cron ? form->cron : NULL,
                                 .zone = form->has_zone ? form->zone : NULL,
                                 .missed = form->missed,
                                 .may_overlap = form->may_overlap,
                                 .jitter_ms = form->jitter_ms};
    return CULEX_OK;
}

static culex_status fingerprint_read(const struct reader *reader, uint64_t *ret_fingerprint)
{
    const char *text = reader->form->fingerprint;
    uint64_t bits = 0;
    bool is_good = strlen(text) == CULEX_SCHEMA_FINGERPRINT_LEN;
    for (size_t i = 0; i < CULEX_SCHEMA_FINGERPRINT_LEN && is_good; i++) {
        int digit = culex__hex_value(text[i]);
        is_good = digit >= 0 && !(text[i] >= 'A' && text[i] <= 'F');
        bits = bits << 4 | (uint64_t)(digit & 15);
    }
    if (!is_good)
        return BAD(reader, "fingerprint: %d digits of 0-9 and a-f", CULEX_SCHEMA_FINGERPRINT_LEN);
    *ret_fingerprint = bits;
    return CULEX_OK;
}

static culex_status settings_read(const struct reader *reader, culex_job_type *type)
{
    const struct culex_schema_form *form = reader->form;
    *type = (culex_job_type){.descriptor_version = CULEX_DESCRIPTOR_VERSION,
                             .name = form->name,
                             .wire = form->wire,
                             .queue = form->has_queue ? form->queue : NULL,
                             .priority = form->priority,
                             .timeout_ms = form->timeout_ms,
                             .expires_ms = form->expires_ms,
                             .keep_success_ms = form->keep_success_ms,
                             .keep_failure_ms = form->keep_failure_ms,
                             .keep_log = form->keep_log,
                             .memory_bytes = form->memory_bytes,
                             .tags = form->tags_len > 0 ? form->tags : NULL,
                             .tag_count = form->tags_len,
                             .doc = form->has_doc ? form->doc : NULL};
    if (form->timeout_ms < 0 || form->expires_ms < 0 || form->keep_success_ms < 0 ||
        form->keep_failure_ms < 0 || form->keep_log < 0 || form->memory_bytes < 0)
        return BAD(reader, "a setting of the job is less than 0");
    culex_status status = name_check(reader, "job", form->name);
    return status == CULEX_OK ? name_check(reader, "job", form->wire) : status;
}

static void parts_link(const struct reader *reader, culex_job_type *type)
{
    size_t at = reader->form->structs_len;
    type->params = &reader->structs[at++];
    if (reader->form->has_result)
        type->result = &reader->structs[at++];
    if (reader->form->has_metadata)
        type->metadata = &reader->structs[at];
}

static culex_status types_read(struct reader *reader)
{
    culex_status status = enums_read(reader);
    if (status == CULEX_OK)
        status = users_read(reader);
    if (status == CULEX_OK)
        status = structs_read(reader);
    if (status == CULEX_OK)
        status = structs_place(reader);
    for (size_t i = 0; i < reader->struct_count && status == CULEX_OK; i++)
        status = defaults_read(reader, i);
    return status;
}

static culex_status job_read(struct reader *reader, culex_job_type *type)
{
    culex_status status = settings_read(reader, type);
    if (status == CULEX_OK)
        status = fingerprint_read(reader, &type->fingerprint);
    if (status == CULEX_OK)
        status = types_read(reader);
    if (status == CULEX_OK)
        status = retry_read(reader, &type->retry);
    if (status == CULEX_OK)
        status = schedule_read(reader, &type->schedule);
    if (status == CULEX_OK)
        status = unique_read(reader, &type->unique);
    if (status == CULEX_OK)
        status = limits_read(reader, type);
    if (status == CULEX_OK)
        status = needs_read(reader, type);
    if (status == CULEX_OK)
        parts_link(reader, type);
    return status;
}

/* ---- the text ---- */

/* A later form may have anything else, so its number is looked at first. */
static culex_status form_check(const struct culex_schema *schema, const char *text, size_t len,
                               culex_error *error)
{
    struct head {
        uint32_t form;
    };
    static const culex_field number = {.name = "schema",
                                       .wire = "schema",
                                       .kind = CULEX_KIND_UINT32,
                                       .flags = CULEX_FIELD_REQUIRED};
    static const culex_struct_type type = {"schema", sizeof(struct head), &number, 1};
    const void *head;
    culex_status status = culex_decode(&type, schema->arena, text, len, &head, error);
    if (status != CULEX_OK)
        return status;
    uint32_t form = ((const struct head *)head)->form;
    if (form != CULEX_SCHEMA_FORM)
        return culex__fail(error, CULEX_EUNDERSTAND, "it is of form %u, this program reads form %d",
                           (unsigned)form, CULEX_SCHEMA_FORM);
    return CULEX_OK;
}

static culex_status text_read(struct culex_schema *schema, const char *text, size_t len,
                              culex_error *error)
{
    const void *form;
    if (len > CULEX_SCHEMA_TEXT_MAX)
        return culex__fail(error, CULEX_ELIMIT, "it has %zu bytes, at most %d are read", len,
                           CULEX_SCHEMA_TEXT_MAX);
    culex_status status = form_check(schema, text, len, error);
    if (status == CULEX_OK)
        status = culex_decode(&culex__schema_form_type, schema->arena, text, len, &form, error);
    if (status != CULEX_OK)
        return status;
    struct reader reader = {.arena = schema->arena, .error = error, .form = form};
    status = job_read(&reader, &schema->type);
    schema->is_retired = reader.form->has_retired && reader.form->retired;
    schema->structs = reader.structs;
    schema->struct_count = reader.struct_count;
    return status;
}

culex_status culex_schema_read(const char *text, size_t len, culex_schema **ret_schema,
                               culex_error *error)
{
    if (ret_schema != NULL)
        *ret_schema = NULL;
    if (ret_schema == NULL || (text == NULL && len > 0))
        return culex__fail(error, CULEX_EINVAL, "no text or no place for the schema");
    culex_schema *schema = calloc(1, sizeof *schema);
    if (schema == NULL || (schema->arena = culex_arena_create()) == NULL) {
        free(schema);
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    }
    culex_status status = text_read(schema, text, len, error);
    if (status != CULEX_OK) {
        culex__error_context(error, "the text of a schema");
        culex_schema_free(schema);
        return status;
    }
    *ret_schema = schema;
    return CULEX_OK;
}

const culex_job_type *culex_schema_type(const culex_schema *schema)
{
    return schema != NULL ? &schema->type : NULL;
}

bool culex_schema_is_retired(const culex_schema *schema)
{
    return schema != NULL && schema->is_retired;
}

/* ---- what another version keeps secret ---- */

struct hiding {
    const culex_schema *schema, *other;
    bool *is_done; /* of each struct of the one beside each of the other */
};

static void struct_hide(struct hiding *hiding, const culex_struct_type *type,
                        const culex_struct_type *other);

/* The field lives in the arena of the schema that it was read for. */
static void field_hide(struct hiding *hiding, culex_field *field, const culex_field *other)
{
    field->flags |= other->flags & CULEX_FIELD_SECRET;
    if (field->struct_type != NULL && other->struct_type != NULL)
        struct_hide(hiding, field->struct_type, other->struct_type);
}

/* Structs do not hold themselves, but one may stand in many. */
static void struct_hide(struct hiding *hiding, const culex_struct_type *type,
                        const culex_struct_type *other)
{
    size_t row = (size_t)(type - hiding->schema->structs);
    size_t column = (size_t)(other - hiding->other->structs);
    bool *is_done = &hiding->is_done[row * hiding->other->struct_count + column];
    for (size_t i = 0; i < type->field_count && !*is_done; i++) {
        for (size_t k = 0; k < other->field_count; k++) {
            if (strcmp(type->fields[i].wire, other->fields[k].wire) == 0)
                field_hide(hiding, (culex_field *)&type->fields[i], &other->fields[k]);
        }
    }
    *is_done = true;
}

culex_status culex_schema_hide(culex_schema *schema, const culex_schema *other, culex_error *error)
{
    if (schema == NULL || other == NULL)
        return culex__fail(error, CULEX_EINVAL, "no schema, or no other one");
    struct hiding hiding = {schema, other,
                            calloc(schema->struct_count, other->struct_count * sizeof(bool))};
    if (hiding.is_done == NULL)
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    const culex_job_type *type = &schema->type, *its = &other->type;
    struct_hide(&hiding, type->params, its->params);
    if (type->result != NULL && its->result != NULL)
        struct_hide(&hiding, type->result, its->result);
    if (type->metadata != NULL && its->metadata != NULL)
        struct_hide(&hiding, type->metadata, its->metadata);
    free(hiding.is_done);
    return CULEX_OK;
}

/* ---- what else one asks ---- */

bool culex_schema_default_is_withheld(const culex_field *field)
{
    return field != NULL && (field->flags & CULEX__FIELD_WITHHELD) != 0;
}

size_t culex_schema_value_size(const culex_field *field)
{
    return field != NULL ? culex__slot_size(field) : 0;
}

void culex_schema_free(culex_schema *schema)
{
    if (schema == NULL)
        return;
    culex_arena_free(schema->arena);
    free(schema);
}

culex_status culex_schema_write(const culex_job_type *type, char **ret_text, size_t *ret_len,
                                culex_error *error)
{
    if (ret_text != NULL)
        *ret_text = NULL;
    if (type == NULL || ret_text == NULL || ret_len == NULL)
        return culex__fail(error, CULEX_EINVAL, "no job or no place for its text");
    culex_status status = culex__schema_text(type, false, ret_text, ret_len);
    if (status == CULEX_ELIMIT)
        return culex__fail(error, status, "the text of %s's schema would be larger than %d bytes",
                           type->name != NULL ? type->name : "the job", CULEX_SCHEMA_TEXT_MAX);
    return status == CULEX_OK ? status
                              : culex__fail(error, status, "the schema has no text: %s",
                                            culex_status_text(status));
}
