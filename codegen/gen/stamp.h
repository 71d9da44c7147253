/* stamp.h - the last line of a generated C file: a digest of what it and its header were made of
 * and of both themselves. When it holds, rendering again would change nothing. */
#ifndef CULEXC_STAMP_H
#define CULEXC_STAMP_H

#include "answer.h"

/* Appends the stamp to the content of `source`. `inputs` is the digest of what both were made of.
 */
void stamp_add(struct arena *arena, uint64_t inputs, const struct answer_file *header,
               struct answer_file *source);

/* Whether both files are in `out`, as they were made of the same `inputs`. */
bool stamp_holds(struct arena *arena, uint64_t inputs, const char *out, const char *header,
                 const char *source);

#endif
