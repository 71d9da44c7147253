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

/* Whether a warning at `span` is to be kept quiet; the comment counts as used then. */
bool allow_covers(struct span span, enum diag_id id);

/* Warns about the comments of `source` for ids of `table` that kept nothing quiet: after all that
 * could be. */
void allow_report_unused(struct diag_sink *sink, const struct source *source,
                         enum diag_table table);

#endif
