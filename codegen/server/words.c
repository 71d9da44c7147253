#include "words.h"

#include <stddef.h>
#include <string.h>

_Static_assert(PLACE_COUNT <= 64, "a set of places is 64 bits");

const struct word words[] = {
#define P(name)                  PLACE_SET(name)
#define WORD(places, word, text) {places, word, text},
#include "words.def"
#undef WORD
#undef P
    {0, NULL, NULL},
};

const struct word *word_find(const char *text, uint64_t places)
{
    for (const struct word *word = words; word->word != NULL; word++) {
        if ((word->places & places) != 0 && strcmp(word->word, text) == 0)
            return word;
    }
    return NULL;
}
