/* core/schema_text.h - what the store keeps of a job's schema, as a text. */
#ifndef CULEX_CORE_SCHEMA_TEXT_H
#define CULEX_CORE_SCHEMA_TEXT_H

#include <stddef.h>

#include <culex/error.h>
#include <culex/job.h>

/* *ret_text is JSON in valid UTF-8, owned by the caller: free(). CULEX_ENOMEM; CULEX_EINVAL for a
 * job whose schema cannot be written so. */
culex_status culex__schema_text(const culex_job_type *type, char **ret_text, size_t *ret_len);

#endif
