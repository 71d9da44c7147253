/* suggest.h - finds the known word that a misspelt one was meant to be. */
#ifndef CULEXC_SUGGEST_H
#define CULEXC_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

struct suggestion {
    const char *word;
    const char *best; /* NULL while nothing offered comes close */
    size_t distance;  /* of `best`; before that, the first distance too far */
    bool is_tied;     /* another word is as close as `best` */
};

/* All texts are *borrowed*. */
struct suggestion suggestion_start(const char *word);
void suggestion_offer(struct suggestion *suggestion, const char *candidate);

/* Whether `best` is what was meant and nothing else: the only one as close, most letters right. */
bool suggestion_is_plain(const struct suggestion *suggestion);

/* Damerau-Levenshtein distance (adjacent swap = 1), or `limit` when it is that
 * or more. Words over 64 bytes are at `limit` from everything. */
size_t edit_distance(const char *a, const char *b, size_t limit);

#endif
