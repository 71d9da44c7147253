#include "core/chain.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "core/codec.h"

/* --- the steps in a payload ---------------------------------------------------------------- */

static culex_status text_append(culex_buf *text, const char *part)
{
    return culex__buf_append(text, part, strlen(part));
}

static culex_status steps_append(struct culex_rest rest, culex_buf *text)
{
    culex_status status = text_append(text, "\"!" CULEX_CHAIN_NAME "\":[");
    for (size_t i = 0; i < rest.count && status == CULEX_OK; i++) {
        status = text_append(text, i == 0 ? "\"" : ",\"");
        if (status == CULEX_OK)
            status = text_append(text, rest.steps[i]);
        if (status == CULEX_OK)
            status = text_append(text, "\"");
    }
    return status == CULEX_OK ? text_append(text, "]}") : status;
}

culex_status culex__rest_append(struct culex_rest rest, culex_buf *text, culex_error *error)
{
    if (rest.count == 0)
        return CULEX_OK;
    assert(text->len >= 2 && text->data[text->len - 1] == '}'); /* a payload */
    culex__buf_cut(text, text->len - 1);
    culex_status status = CULEX_OK;
    if (text->data[text->len - 1] != '{')
        status = text_append(text, ",");
    if (status == CULEX_OK)
        status = steps_append(rest, text);
    if (status == CULEX_ELIMIT)
        return culex__fail(error, status, "the payload has no room for the steps of its chain");
    return status == CULEX_OK ? status : culex__fail(error, status, "no memory for a payload");
}

/* --- from a result to params ----------------------------------------------------------------- */

static const culex_field *field_find(const culex_struct_type *type, const char *name)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (strcmp(type->fields[i].name, name) == 0)
            return &type->fields[i];
    }
    return NULL;
}

static const char *type_name(const culex_field *field)
{
    return field->enum_type != NULL     ? field->enum_type->name
           : field->struct_type != NULL ? field->struct_type->name
           : field->user_type != NULL   ? field->user_type->name
                                        : "";
}

/* Whether a value may be copied as bytes. */
static bool is_same_type(const culex_field *from, const culex_field *to)
{
    return from->kind == to->kind && from->shape == to->shape &&
           strcmp(type_name(from), type_name(to)) == 0 &&
           culex__slot_size(from) == culex__slot_size(to) &&
           (from->shape != CULEX_SHAPE_ARRAY || from->count == to->count);
}

static bool is_there(const culex_field *field, const char *value)
{
    bool is_set = true;
    if ((field->flags & CULEX_FIELD_OPTIONAL) != 0)
        memcpy(&is_set, value + field->has_offset, sizeof is_set);
    return is_set;
}

static void value_copy(const culex_field *from, const char *result, const culex_field *to,
                       char *params)
{
    size_t size = culex__slot_size(to);
    if (to->shape == CULEX_SHAPE_ARRAY)
        size *= to->count;
    if (to->shape == CULEX_SHAPE_LIST) {
        size = sizeof(const void *);
        memcpy(params + to->len_offset, result + from->len_offset, sizeof(size_t));
    }
    memcpy(params + to->offset, result + from->offset, size);
    if ((to->flags & CULEX_FIELD_OPTIONAL) != 0)
        memcpy(params + to->has_offset, &(bool){true}, sizeof(bool));
}

static culex_status value_miss(const culex_field *to, char *params, culex_error *error)
{
    if ((to->flags & CULEX_FIELD_REQUIRED) != 0)
        return culex__fail_field(error, CULEX_EENCODE, to->name,
                                 "required, and not in the result of the step before");
    if (to->def != NULL)
        memcpy(params + to->offset, to->def, culex__slot_size(to));
    return CULEX_OK;
}

/* The compiler has compared the two, unless the run is of another version of the chain. */
static culex_status value_fill(const culex_struct_type *from, const char *result,
                               const culex_field *to, char *params, culex_error *error)
{
    const culex_field *field = field_find(from, to->name);
    if (field == NULL || !is_there(field, result))
        return value_miss(to, params, error);
    if (!is_same_type(field, to))
        return culex__fail_field(error, CULEX_EENCODE, to->name,
                                 "of another type in the result of the step before");
    if ((field->flags & ~to->flags & (CULEX_FIELD_SECRET | CULEX_FIELD_ENCRYPTED)) != 0)
        return culex__fail_field(error, CULEX_EENCODE, to->name,
                                 "more hidden in the result of the step before");
    value_copy(field, result, to, params);
    return CULEX_OK;
}

culex_status culex__result_to_params(const culex_struct_type *from, const void *result,
                                     const culex_struct_type *to, void *ret_params,
                                     culex_error *error)
{
    culex_status status = CULEX_OK;
    memset(ret_params, 0, to->size);
    for (size_t i = 0; i < to->field_count && status == CULEX_OK; i++)
        status = value_fill(from, result, &to->fields[i], ret_params, error);
    return status;
}
