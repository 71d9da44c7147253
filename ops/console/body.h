/* ops/console/body.h - the JSON of a request, read by the codec: by a descriptor, as params are. */
#ifndef OPS_CONSOLE_BODY_H
#define OPS_CONSOLE_BODY_H

#include <culex/codec.h>

#include "command/scan.h"
#include "console/request.h"

/* What was sent, without blanks around it; {} when that is nothing. */
struct ops_slice body_slice(const struct request *request);
/* The object that was sent, by `type`; no body is one without members. CULEX_EUSAGE names a member
 * that is wrong, or that `type` does not have. */
culex_status body_decode(const struct request *request, const culex_struct_type *type,
                         culex_arena *arena, const void **ret_value, culex_error *error);
/* The member `name` of the object that was sent, as it stands there; NULL where it is missing or
 * null. CULEX_EUSAGE: it is no object, has it twice, or has a name that `type` does not have. */
culex_status body_member(const struct request *request, const culex_struct_type *type,
                         const char *name, struct ops_slice *ret_value, culex_error *error);
/* The member `wanted` of an object in what was sent; *ret_value stays as it is where it is missing
 * or null. CULEX_EUSAGE: it is no object, or has it twice. */
culex_status body_member_of(struct ops_slice object, const char *wanted,
                            struct ops_slice *ret_value, culex_error *error);
/* CULEX_EUSAGE unless the body is missing or {}. */
culex_status body_is_empty(const struct request *request, culex_error *error);
/* The same status; a failure is about `param`. */
culex_status body_blame(culex_status status, const char *param, culex_error *error);

#endif
