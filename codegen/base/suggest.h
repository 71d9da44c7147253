/* suggest.h - finds the known word that a misspelt one was meant to be. */
#ifndef CULEXC_SUGGEST_H
#define CULEXC_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

struct suggestion {
    const char *word;
    const char *best; /* NULL while nothing offered comes close */
    size_t distance;  /* of `best`; before that, the first distance too far */
    size_t next;      /* of the closest one besides `best`; what is far counts as SUGGESTION_FAR */
    bool is_part;     /* `best` is longer, and `word` only its beginning */
    bool is_doubtful; /* something else may be meant that was not offered, or is no word of ours */
};

/* At this many edits from a word, another one is not near it any more. */
enum { SUGGESTION_FAR = 3 };

/* All texts are *borrowed*. */
struct suggestion suggestion_start(const char *word);
void suggestion_offer(struct suggestion *suggestion, const char *candidate);

/* Whether `best` is one edit away, is meant without a doubt, and nothing else is near. */
bool suggestion_is_plain(const struct suggestion *suggestion);

#endif
