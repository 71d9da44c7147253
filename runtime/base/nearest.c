#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Distances of the first `i` letters of `a` from all beginnings of `b`, from those of one and two
 * letters fewer. */
static void row_fill(const char *a, size_t i, const char *b, size_t *row, const size_t *before,
                     const size_t *before2)
{
    row[0] = i;
    for (size_t j = 1; b[j - 1] != '\0'; j++) {
        bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
        row[j] = least(least(before[j], row[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
        if (is_swap)
            row[j] = least(row[j], before2[j - 2] + 1);
    }
}

static size_t distance_measure(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1] = {{0}}, len = strlen(a);
    for (size_t j = 0; j <= strlen(b); j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= len; i++)
        row_fill(a, i, b, rows[i % 3], rows[(i + 2) % 3], rows[(i + 1) % 3]);
    return rows[len % 3][strlen(b)];
}

void culex__nearest_offer(struct culex__nearest *nearest, const char *candidate)
{
    size_t len = strlen(nearest->word), most = len / 3 > 1 ? len / 3 : 1;
    if (len > WORD_MAX || strlen(candidate) > WORD_MAX)
        return;
    size_t distance = distance_measure(nearest->word, candidate);
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
