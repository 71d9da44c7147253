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

/* Whether all is there that has to be, with a name and a type for each that is not. */
culex_status ops_given_missing(const culex_struct_type *type, struct ops_slice payload,
                               culex_error *error);

#endif
