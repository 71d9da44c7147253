/* base/secret_name.h - secrets that stand where the name of their file belongs.
 *
 * Whoever writes CULEX_KEYS="$(cat keys)" must not find the key in a log, in front of "No such file
 * or directory". */
#ifndef CULEX_BASE_SECRET_NAME_H
#define CULEX_BASE_SECRET_NAME_H

#include <stdbool.h>

/* Whether what is given as the name of a file may be a secret, and must not be shown: it has "://",
 * an end of a line, a blank before its first '/' (a line of a file of keys has one behind the id)
 * or a word that looks like a key in base64. With "./" in front a path looks like neither of these
 * two. */
bool culex__name_is_secret(const char *name);

#endif
