#include "console/body.h"

#include <stdio.h>

#include "command/given.h"

static struct ops_slice body_slice(const struct request *request)
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
