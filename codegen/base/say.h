/* say.h - what the compiler writes to a terminal, and messages that have no place in a schema.
 *
 * Words of a schema, names of files and words of the command line reach a terminal only through
 * here: whatever could move the cursor or reorder the line is shown as '?'. */
#ifndef CULEXC_SAY_H
#define CULEXC_SAY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* A line on standard error: "culexc: ...". */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void vsay(const char *format, va_list args);

/* That a file cannot be read, for the reason `fault`; that it cannot be written, as errno says.
 * Always false. */
bool say_unread(const char *path, const char *fault);
bool say_unwritten(const char *path);

/* Writes `text`; a tab stays, a line end does not. */
void say_text(FILE *out, const char *text, size_t len);

/* The same and a line end. */
void say_line(FILE *out, const char *text, size_t len);

#endif
