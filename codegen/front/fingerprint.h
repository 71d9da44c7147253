/* fingerprint.h - a number that changes when the payload of a job changes.
 *
 * The hash of a canonical text of the params: names on the wire, types, presence
 * and limits. A nested type stands in it by its own fingerprint. */
#ifndef CULEXC_FINGERPRINT_H
#define CULEXC_FINGERPRINT_H

#include "ir.h"

uint64_t fingerprint_fields(const struct ir_field *fields);
uint64_t fingerprint_enum(const struct ir_enum *type);

#endif
