/* fix.h - puts the fixes of diagnostics into the text. */
#ifndef CULEXC_FIX_H
#define CULEXC_FIX_H

#include "buf.h"
#include "diag.h"

/* Appends the text of `source`, byte order mark included, with as many fixes as agree with each
 * other; returns how many. A fix that changes another source too is left alone. */
unsigned fix_apply(const struct diag_sink *sink, const struct source *source, struct buf *ret_text);

#endif
