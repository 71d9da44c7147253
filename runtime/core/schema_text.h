/* core/schema_text.h - what a descriptor says, as a text that can be kept with runs of the job.
 *
 * The text is a payload of core/schema_form.h; culex/schema.h reads it. schemas/schema-text.md is
 * the format. */
#ifndef CULEX_CORE_SCHEMA_TEXT_H
#define CULEX_CORE_SCHEMA_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <culex/error.h>
#include <culex/job.h>

/* The text of `type`, NUL-ended, which the caller frees. Equal descriptors have equal texts, but
 * for `is_retired`: whoever tells it knows that its runs end dead. It has
 * no default of a secret or encrypted field, and no docs where it would be longer than
 * CULEX_SCHEMA_TEXT_MAX with them. CULEX_ELIMIT: without them too. CULEX_EINVAL: no descriptor that
 * culexc writes. CULEX_EENCODE: a text in it is not UTF-8, or a default breaks its field's bounds.
 * CULEX_ENOMEM. */
CULEX_MUST_USE culex_status culex__schema_text(const culex_job_type *type, bool is_retired,
                                               char **ret_text, size_t *ret_len);

#endif
