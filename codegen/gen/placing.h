/* placing.h - puts generated files below a folder, or looks whether they are there. */
#ifndef CULEXC_PLACING_H
#define CULEXC_PLACING_H

#include "answer.h"

/* Writes each file that is not there as it should be, and makes folders for it. False after a
 * message; a file is then old or new, never half. */
bool placing_write(struct arena *arena, const char *out, const struct answer_file *files);

/* Names each file that differs or is missing, writes nothing: how many there are. */
unsigned placing_compare(struct arena *arena, const char *out, const struct answer_file *files);

#endif
