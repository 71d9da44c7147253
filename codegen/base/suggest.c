#include "suggest.h"

#include <string.h>
#include <strings.h>

#include "base/distance.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A word of three letters is close at one edit, a long one at a third of its letters. */
static size_t distance_allowed(size_t len)
{
    if (len <= 3)
        return 1;
    return len / 3 > 2 ? len / 3 : 2;
}

struct suggestion suggestion_start(const char *word)
{
    return (struct suggestion){
        .word = word, .distance = distance_allowed(strlen(word)) + 1, .next = SUGGESTION_FAR};
}

/* "que" for "queue": a word cut short is as close as one with a letter wrong, as is "Queue". */
static bool is_cut_short(const char *word, const char *candidate)
{
    size_t len = strlen(word);
    return len >= 3 && strncmp(word, candidate, len) == 0;
}

void suggestion_offer(struct suggestion *suggestion, const char *candidate)
{
    size_t far = suggestion->distance < SUGGESTION_FAR ? SUGGESTION_FAR : suggestion->distance + 1;
    size_t distance = least(culex__edit_distance(suggestion->word, candidate), far);
    bool is_part = distance > 1 && is_cut_short(suggestion->word, candidate);
    if (is_part || (distance > 1 && strcasecmp(suggestion->word, candidate) == 0))
        distance = 1;
    if (distance < suggestion->distance) {
        if (suggestion->best != NULL)
            suggestion->next = least(suggestion->next, suggestion->distance);
        suggestion->distance = distance;
        suggestion->best = candidate;
        suggestion->is_part = is_part;
    } else if (suggestion->best == NULL || strcmp(candidate, suggestion->best) != 0) {
        suggestion->next = least(suggestion->next, distance);
    }
}

bool suggestion_is_plain(const struct suggestion *suggestion)
{
    return suggestion->best != NULL && suggestion->distance == 1 &&
           suggestion->next >= SUGGESTION_FAR && !suggestion->is_part && !suggestion->is_doubtful &&
           strlen(suggestion->word) >= 3;
}
