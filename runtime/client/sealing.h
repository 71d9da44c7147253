/* client/sealing.h - what seals and opens the encrypted fields of a job. */
#ifndef CULEX_CLIENT_SEALING_H
#define CULEX_CLIENT_SEALING_H

#include <culex/job.h>

#include "core/box.h"
#include "platform/env.h"

/* Of `part`, CULEX_SEALED_PARAMS or CULEX_SEALED_RESULT. `keys` may be NULL. */
static inline struct culex__sealing culex__sealing_make(const struct culex_keys *keys,
                                                        const struct culex_env *env,
                                                        const culex_job_type *type,
                                                        const char *part)
{
    return (struct culex__sealing){.keys = keys,
                                   .job = type->wire,
                                   .part = part,
                                   .random = env->random,
                                   .random_self = env->self};
}

/* Whether any field of the struct, which may be NULL, is encrypted. */
static inline bool culex__type_is_sealed(const culex_struct_type *type)
{
    for (size_t i = 0; type != NULL && i < type->field_count; i++) {
        if ((type->fields[i].flags & CULEX_FIELD_ENCRYPTED) != 0)
            return true;
    }
    return false;
}

#endif
