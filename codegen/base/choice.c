#include "choice.h"

#include <string.h>

size_t choice_find(const char *const *words, const char *text)
{
    size_t at = 0;
    while (words[at] != NULL && strcmp(words[at], text) != 0)
        at++;
    return at;
}
