/* base/utf8.h - strict UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF). */
#ifndef CULEX_BASE_UTF8_H
#define CULEX_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed character at `text`, 1 to 4; 0 when `len` is 0 or it is malformed. */
size_t culex__utf8_char(const char *text, size_t len);

/* The code point of the well-formed character of `size` bytes at `text`; 0 when `size` is 0. */
uint32_t culex__utf8_code(const char *text, size_t size);

/* Writes the character of a code point that is no surrogate and at most U+10FFFF. Returns its
 * bytes, 1 to 4. */
size_t culex__utf8_write(uint32_t code, char *ret_bytes);

/* Characters that change how a terminal or an editor shows the text around them, or that nobody
 * sees: controls, bidirectional overrides, blanks without width, selectors and tags. The renderer's
 * literals.py has the same list (INVISIBLE); a test compares them. */
bool culex__utf8_is_deceptive(uint32_t code);

/* Bytes of `text` before the first malformed one; `len` when all is well. NUL counts as a
 * character.
 */
size_t culex__utf8_prefix(const char *text, size_t len);

/* All `len` bytes are well-formed. NUL counts as a character. */
bool culex__utf8_is_valid(const char *text, size_t len);

/* The same, without ASCII's control characters: it stays on its line, wherever it is shown. */
bool culex__utf8_is_line(const char *text, size_t len);

/* Copies `text` to `ret_clean`, each malformed byte and control character (but tab and
 * newline) as '?', cut at a character border so that it fits `size` with its NUL. `size` is
 * at least 1. Returns the length written, without the NUL. `text` and `ret_clean` do not overlap.
 */
size_t culex__utf8_clean(char *ret_clean, size_t size, const char *text, size_t len);

#endif
