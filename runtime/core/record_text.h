/* core/record_text.h - what may stand in a field of a run's record. */
#ifndef CULEX_CORE_RECORD_TEXT_H
#define CULEX_CORE_RECORD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* UTF-8 without control characters and without '|', which stands between the fields. */
bool culex__record_text_is_valid(const char *text, size_t len);

#endif
