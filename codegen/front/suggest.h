/* suggest.h - finds the known word that a misspelt one was meant to be. */
#ifndef CULEXC_SUGGEST_H
#define CULEXC_SUGGEST_H

#include <stddef.h>

struct suggestion {
    const char *word;
    const char *best; /* NULL while nothing offered comes close */
    size_t distance;  /* of `best`; before that, the first distance too far */
};

/* All texts are *borrowed*. */
struct suggestion suggestion_start(const char *word);
void suggestion_offer(struct suggestion *suggestion, const char *candidate);

/* Damerau-Levenshtein distance (adjacent swap = 1), or `limit` when it is that
 * or more. Words over 64 bytes are at `limit` from everything. */
size_t edit_distance(const char *a, const char *b, size_t limit);

#endif
