/* plain.h - what a schema's text has to be before it is cut into tokens. */
#ifndef CULEXC_PLAIN_H
#define CULEXC_PLAIN_H

#include <stdbool.h>

#include "diag.h"

/* Reports bytes that are no UTF-8; false when there are any, so that the text cannot be read. */
bool plain_check_utf8(struct diag_sink *sink, const struct source *source);

/* Reports characters that make people see another text than the compiler reads: controls, line
 * ends that only editors know, marks that reorder a line. False when there are any. */
bool plain_check(struct diag_sink *sink, const struct source *source);

/* Whether plain_check reports this one wherever it stands; of '\r' the next byte decides. */
bool plain_refuses(uint32_t code);

#endif
