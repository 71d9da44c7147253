/* ops/command/given.h - params as somebody writes them, checked by the job's schema. */
#ifndef OPS_COMMAND_GIVEN_H
#define OPS_COMMAND_GIVEN_H

#include <culex/codec.h>

#include "command/fail.h"
#include "command/scan.h"

/* The payload that the words mean, each NAME=VALUE, appended to `ret_payload`. CULEX_EUSAGE tells
 * which word is wrong and where, what is expected there, and which name may have been meant. */
culex_status ops_given_read(const culex_struct_type *type, const char *const *words, size_t count,
                            culex_buf *ret_payload, culex_error *error);

/* That a JSON object has no names which `type` does not have; what is in them is not looked at. */
culex_status ops_given_names(const culex_struct_type *type, struct ops_slice object,
                             culex_error *error);

/* The params that a payload has, in `arena`: all is there that has to be, and the codec takes it.
 * CULEX_EUSAGE names what is wrong or missing; error->field is a param's name then, the first of
 * several that are missing. CULEX_ENOKEY: that one is encrypted, and `type` has it so. */
culex_status ops_given_decode(const culex_struct_type *type, struct ops_slice payload,
                              culex_arena *arena, const void **ret_params, culex_error *error);
/* The same of a JSON object as somebody writes it (command/payload.h); messages call it `what`. */
culex_status ops_given_object(const culex_struct_type *type, const char *what,
                              struct ops_slice object, culex_arena *arena, const void **ret_params,
                              culex_error *error);

#endif
