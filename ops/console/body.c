#include "console/body.h"

#include <stdio.h>

#include "command/given.h"

struct ops_slice body_slice(const struct request *request)
{
    const struct ops_slice body =
        ops_slice_trim((struct ops_slice){request->body, request->body_len});
    return body.len > 0 ? body : (struct ops_slice){"{}", 2};
}

culex_status body_decode(const struct request *request, const culex_struct_type *type,
                         culex_arena *arena, const void **ret_value, culex_error *error)
{
    return ops_given_object(type, "the body", body_slice(request), arena, ret_value, error);
}

/* The bytes up to the end are a whole value: each that is passed is. */
culex_status body_member_of(struct ops_slice object, const char *wanted,
                            struct ops_slice *ret_value, culex_error *error)
{
    struct ops_scan scan;
    struct ops_slice name, value;
    bool is_found = false;
    if (!ops_scan_begin(object, &scan) || !scan.is_object)
        return ops_usage(error, "expected an object, as {\"%s\":{...}}", wanted);
    while (ops_scan_next(&scan, &name, &value)) {
        if (!ops_slice_is(name, wanted))
            continue;
        if (is_found)
            return body_blame(ops_usage(error, "%s is given twice", wanted), wanted, error);
        is_found = true;
        if (!ops_slice_is(value, "null"))
            *ret_value = value;
    }
    return ops_scan_is_over(&scan) ? CULEX_OK
                                   : ops_usage(error, "the body is no JSON behind its byte %zu",
                                               (size_t)(scan.at - object.text));
}

culex_status body_member(const struct request *request, const culex_struct_type *type,
                         const char *name, struct ops_slice *ret_value, culex_error *error)
{
    const struct ops_slice object = body_slice(request);
    *ret_value = (struct ops_slice){NULL, 0};
    culex_status status = ops_given_names(type, object, error);
    return status == CULEX_OK ? body_member_of(object, name, ret_value, error) : status;
}

culex_status body_is_empty(const struct request *request, culex_error *error)
{
    static const culex_struct_type nothing = {"the body", 1, NULL, 0};
    culex_arena *arena = culex_arena_create();
    const void *ignored;
    culex_status status = body_decode(request, &nothing, arena, &ignored, error);
    culex_arena_free(arena);
    return status;
}

culex_status body_blame(culex_status status, const char *param, culex_error *error)
{
    if (status != CULEX_OK)
        snprintf(error->field, sizeof error->field, "%s", param);
    return status;
}
