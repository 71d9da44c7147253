/* format.h - the one layout of a schema.
 *
 * Works on tokens and comments, never on the checked model: unknown types do not matter. Only
 * white space changes (and a byte order mark goes), so the meaning stays; the layout of the layout
 * is itself. */
#ifndef CULEXC_FORMAT_H
#define CULEXC_FORMAT_H

#include "buf.h"
#include "diag.h"

/* Appends the layout of `source` to `out`. False, with errors in `sink` and nothing appended, when
 * the text does not parse or its layout would be larger than a schema may be. */
bool format_source(struct diag_sink *sink, const struct source *source, struct buf *out);

#endif
