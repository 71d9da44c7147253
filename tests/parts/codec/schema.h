/* schema.h - random descriptors, random values for them, and comparing two values.
 *
 * Everything is drawn from one seeded stream and lives in an arena of the caller. Descriptors
 * look like those of the compiler: a single value or array is required, optional or has a
 * default; names are unique in a struct. */
#ifndef TESTS_CODEC_SCHEMA_H
#define TESTS_CODEC_SCHEMA_H

#include <culex/codec.h>

struct schema_random {
    uint64_t state;
    culex_arena *arena;
};

uint64_t schema_draw(struct schema_random *random, uint64_t below);

const culex_struct_type *schema_type(struct schema_random *random);

void *schema_value(struct schema_random *random, const culex_struct_type *type);

/* The type without one of its fields, in the same layout; *ret_field is the one dropped. NULL
 * when there is none to drop. */
const culex_struct_type *schema_drop(struct schema_random *random, const culex_struct_type *type,
                                     const culex_field **ret_field);

/* Equal as payloads see it: absent values and padding do not count, NaN equals NaN. */
bool schema_equal(const culex_struct_type *type, const char *left, const char *right);

#endif
