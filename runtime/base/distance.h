/* base/distance.h - how many typing errors are between two words (Damerau and Levenshtein). */
#ifndef CULEX_BASE_DISTANCE_H
#define CULEX_BASE_DISTANCE_H

#include <stddef.h>

/* A missing, superfluous or wrong letter is one error, and so are two neighbours that have changed
 * places. A word of more than 64 bytes is SIZE_MAX from everything. */
size_t culex__edit_distance(const char *a, const char *b);

#endif
