/* base/secret_name.h - secrets that stand where another text belongs.
 *
 * Whoever writes CULEX_KEYS="$(cat keys)", or swaps two options, must not find a key or a password
 * in a log. So what a program is given (the values of options and variables, names of files,
 * arguments, lines of a file of options) goes into a message by culex__text_shown alone, or is
 * refused before it can. */
#ifndef CULEX_BASE_SECRET_NAME_H
#define CULEX_BASE_SECRET_NAME_H

#include <stdbool.h>

/* What is told in place of a secret. */
#define CULEX_SECRET_UNSHOWN "(not shown: it looks like a URL or a key)"

/* Whether a word of the text looks like a key in base64, of either alphabet, also behind "ID=" or
 * "ID:"; or the text like a URL with a password, be it without its scheme ("user:password@host") or
 * without its slashes ("redis:password"). Neither "host:6379" nor an item of a list of queues,
 * "mail:3@8", does. */
bool culex__text_is_secret(const char *text);

/* The text, or what is told in its place. */
const char *culex__text_shown(const char *text);

/* `head`, or what is told in its place: what `whole` begins with and should be the name of an
 * option. Behind one that is spelt as names are, anything may follow. */
const char *culex__head_shown(const char *head, const char *whole);

/* Whether what is given as the name of a file that holds secrets may be one itself: it looks like
 * one, it has "://", an end of a line, or a blank before its first '/' (a line of a file of keys
 * has one behind the id). With "./" in front a path looks like neither of the last two, nor like a
 * key. */
bool culex__name_is_secret(const char *name);

#endif
