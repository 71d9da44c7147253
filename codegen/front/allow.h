/* allow.h - comments that keep a warning quiet at one place.
 *
 *     // culexc:allow(unused-import) the next release needs it
 *
 * stands behind what it is about, or on a line of its own before it. */
#ifndef CULEXC_ALLOW_H
#define CULEXC_ALLOW_H

#include "diag.h"

/* Finds these comments in a source, once, before anything that could warn about it. Reports those
 * that name no warning. */
void allow_read(struct diag_sink *sink, struct source *source);

/* Warns about the comments of `source` that kept nothing quiet, of the ids that were looked for:
 * after all of that. */
void allow_report_unused(struct diag_sink *sink, const struct source *source,
                         bool (*was_sought)(enum diag_id id, const void *context),
                         const void *context);

#endif
