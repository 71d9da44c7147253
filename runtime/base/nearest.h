/* base/nearest.h - which word somebody meant: the one that is the fewest typing errors away. */
#ifndef CULEX_BASE_NEAREST_H
#define CULEX_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Begin with {.word = ...}; words are borrowed. */
struct culex__nearest {
    const char *word;
    const char *best; /* NULL while none is near: a third of the letters may be wrong */
    size_t distance;  /* of `best` */
};

/* Counts errors as base/distance.h does; words of more than 64 bytes are near to nothing. */
void culex__nearest_offer(struct culex__nearest *nearest, const char *candidate);

/* Offers each of the NULL-terminated `names`, which may be NULL, until one is the word itself: then
 * true. */
bool culex__nearest_offer_all(struct culex__nearest *nearest, char *const *names);

/* "; did you mean X?", or nothing. Returns ret_text. */
const char *culex__nearest_ask(const struct culex__nearest *nearest, char ret_text[128]);

#endif
