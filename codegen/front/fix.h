/* fix.h - puts the fixes of diagnostics into the text. */
#ifndef CULEXC_FIX_H
#define CULEXC_FIX_H

#include "buf.h"
#include "diag.h"

/* What a change does: "change 'sting' to 'string'". One line, and not a long one; it holds words
 * of the schema. */
const char *fix_title(struct arena *arena, const struct diag_fix *fix);

/* Appends the text of `source`, byte order mark included, with as many sure fixes as agree with
 * each other, and to `ret_log` a line for each change: place, what it does, id. Returns how many
 * fixes. One that changes another source too is left alone; those of warnings wait until there is
 * no error, since what looks unused may be what a broken part needs. */
unsigned fix_apply(const struct diag_sink *sink, const struct source *source, struct buf *ret_text,
                   struct buf *ret_log);

#endif
