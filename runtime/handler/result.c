#include "handler/result.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"

static bool field_is_same(const culex_field *a, const culex_field *b)
{
    return strcmp(a->wire, b->wire) == 0 && a->kind == b->kind && a->shape == b->shape &&
           a->flags == b->flags && a->offset == b->offset;
}

static bool layout_is_same(const culex_struct_type *a, const culex_struct_type *b)
{
    if (a->size != b->size || a->field_count != b->field_count)
        return false;
    for (size_t at = 0; at < a->field_count; at++)
        if (!field_is_same(&a->fields[at], &b->fields[at]))
            return false;
    return true;
}

culex_status culex__result_check(const culex_job_type *job, const culex_struct_type *type,
                                 culex_error *error)
{
    const culex_struct_type *own = job->result;
    if (type == own)
        return CULEX_OK;
    if (own == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           "a result of %s, but the run is of %s, which returns nothing: write "
                           "`returns { ... }` behind its params in the schema, and call the "
                           "set_result function that is generated for it",
                           type->name, job->name);
    if (strcmp(type->name, own->name) != 0)
        return culex__fail(error, CULEX_EINVAL,
                           "a result of %s, but the run is of %s: call the set_result function "
                           "that is generated for %s",
                           type->name, job->name, job->name);
    if (layout_is_same(type, own))
        return CULEX_OK;
    return culex__fail(error, CULEX_EINVAL,
                       "a result of %s from another version of its schema than the one that the "
                       "handler was registered with: generate and build both from one schema",
                       job->name);
}
