/* ops/command/values.h - params and results by their schema, for people and for programs.
 *
 * Takes descriptors that were read from the text of a schema (culex/schema.h), and values that were
 * decoded by them. */
#ifndef OPS_COMMAND_VALUES_H
#define OPS_COMMAND_VALUES_H

#include <culex/codec.h>

#include "command/print.h"
#include "command/scan.h"

struct ops_values_style {
    bool shows_secrets;
    bool wants_docs;
    int indent; /* of all lines but the first */
};

/* "string", "shop.lang", "int32[4]": what the language calls the type of `field`. */
enum { OPS_TYPE_SIZE = 320 };
const char *ops_type_format(const culex_field *field, char ret_text[OPS_TYPE_SIZE]);

/* The default as a line shows it: returned owned, NULL without one. */
char *ops_default_text(const culex_field *field);

/* The same fields without those that are encrypted, as the payload of them cannot be read here.
 * Lives in `arena`; NULL when there is no memory. */
const culex_struct_type *ops_type_open(const culex_struct_type *type, culex_arena *arena);

/* The same fields as if none were encrypted, but secret: for values that keys open or seal. As
 * above. */
const culex_struct_type *ops_type_bare(const culex_struct_type *type, culex_arena *arena);

/* A line for each field: NAME: VALUE (TYPE, ...), those of a struct as NAME.NAME. Of secrets and of
 * what is encrypted it says no more than that. `type` has all fields, `value` those of
 * ops_type_open. */
void ops_values_print(FILE *out, const culex_struct_type *type, const void *value,
                      const struct ops_values_style *style);
/* A line for each name in `payload` that the schema does not have, without its value. */
void ops_strangers_print(FILE *out, const culex_struct_type *type, struct ops_slice payload,
                         int indent);

/* The member `name`, an object of the values; secrets and what is encrypted are left out, and stand
 * as a list of their names in the member `hidden`. */
void ops_values_json(struct ops_json *json, const char *name, const char *hidden,
                     const culex_struct_type *type, const void *value, bool shows_secrets);

#endif
