#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

#include "base/distance.h"

void culex__nearest_offer(struct culex__nearest *nearest, const char *candidate)
{
    size_t len = strlen(nearest->word), most = len / 3 > 1 ? len / 3 : 1;
    size_t distance = culex__edit_distance(nearest->word, candidate);
    if (distance > most || (nearest->best != NULL && distance >= nearest->distance))
        return;
    nearest->best = candidate;
    nearest->distance = distance;
}

bool culex__nearest_offer_all(struct culex__nearest *nearest, char *const *names)
{
    for (; names != NULL && *names != NULL; names++) {
        if (strcmp(*names, nearest->word) == 0)
            return true;
        culex__nearest_offer(nearest, *names);
    }
    return false;
}

const char *culex__nearest_ask(const struct culex__nearest *nearest, char ret_text[128])
{
    ret_text[0] = '\0';
    if (nearest->best != NULL)
        snprintf(ret_text, 128, "; did you mean %s?", nearest->best);
    return ret_text;
}
