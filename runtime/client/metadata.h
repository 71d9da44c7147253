/* client/metadata.h - what a job keeps, asked of a store by way of a client: for programs and runs.
 */
#ifndef CULEX_CLIENT_METADATA_H
#define CULEX_CLIENT_METADATA_H

#include <culex/codec.h>
#include <culex/job.h>

#include "store/store.h"

/* Whose metadata, and who asks. */
struct culex_metadata_place {
    const char *queue;
    const char *job;                   /* wire name */
    const culex_struct_type *type;     /* of the values */
    const struct culex_holder *holder; /* NULL: no run */
};

/* As culex_run_metadata_get and _set. */
culex_status culex__metadata_read(culex_client *client, const struct culex_metadata_place *place,
                                  culex_arena *arena, void *ret_value, uint64_t *ret_version,
                                  culex_error *error);
culex_status culex__metadata_write(culex_client *client, const struct culex_metadata_place *place,
                                   const void *value, uint64_t *version, culex_error *error);

#endif
