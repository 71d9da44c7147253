/* core/uuid.h - the text of a UUID when it is not NUL-ended; see culex/types.h. */
#ifndef CULEX_CORE_UUID_H
#define CULEX_CORE_UUID_H

#include <culex/types.h>

enum { CULEX_UUID_TEXT_LEN = 36 };

/* Writes 36 lower-case characters, no NUL. */
void culex__uuid_write(culex_uuid id, char *ret_text);

/* Reads `len` characters, either case; false when they are not exactly one UUID. */
bool culex__uuid_read(const char *text, size_t len, culex_uuid *ret_id);

#endif
