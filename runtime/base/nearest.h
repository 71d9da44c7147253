/* base/nearest.h - which word somebody meant: the one that is the fewest typing errors away. */
#ifndef CULEX_BASE_NEAREST_H
#define CULEX_BASE_NEAREST_H

#include <stddef.h>

/* Begin with {.word = ...}; words are borrowed. */
struct culex__nearest {
    const char *word;
    const char *best; /* NULL while none is near: a third of the letters may be wrong */
    size_t distance;  /* of `best` */
};

/* A missing, superfluous or wrong letter is one error, and so are two that have changed places.
 * Words of more than 64 bytes are near to nothing. */
void culex__nearest_offer(struct culex__nearest *nearest, const char *candidate);

#endif
