#include "base/distance.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { WORD_MAX = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Fills `row` with the distances of the first `i` letters of `a` from each beginning of `b`.
 * `before` and `before2` are the rows of one and of two letters fewer. */
static void row_fill(const char *a, size_t i, const char *b, size_t len, size_t *row,
                     const size_t *before, const size_t *before2)
{
    row[0] = i;
    for (size_t j = 1; j <= len; j++) {
        bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
        row[j] = least(least(before[j], row[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
        if (is_swap)
            row[j] = least(row[j], before2[j - 2] + 1);
    }
}

size_t culex__edit_distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1], a_len = strlen(a), b_len = strlen(b);
    if (a_len > WORD_MAX || b_len > WORD_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++)
        row_fill(a, i, b, b_len, rows[i % 3], rows[(i + 2) % 3], rows[(i + 1) % 3]);
    return rows[a_len % 3][b_len];
}
