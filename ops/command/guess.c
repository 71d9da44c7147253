#include "command/guess.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { NAME_MAX_LEN = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to insert, drop or replace, and neighbours to swap, each once: three rows of the table at
 * a time, of which the newest is row[(i + 1) % 3]. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t row[3][NAME_MAX_LEN + 1];
    for (size_t j = 0; j <= b_len; j++)
        row[0][j] = j;
    for (size_t i = 0; i < a_len; i++) {
        const size_t *older = row[(i + 2) % 3], *old = row[i % 3];
        size_t *made = row[(i + 1) % 3];
        made[0] = i + 1;
        for (size_t j = 0; j < b_len; j++) {
            made[j + 1] = least(old[j] + (a[i] != b[j]), least(made[j], old[j + 1]) + 1);
            if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
                made[j + 1] = least(made[j + 1], older[j - 1] + 1);
        }
    }
    return row[a_len % 3][b_len];
}

struct ops_guess ops_guess_begin(const char *given, size_t len)
{
    return (struct ops_guess){.given = given, .len = len, .distance = SIZE_MAX};
}

/* "all" is the end of "kit.all". */
static bool is_end_of(const struct ops_guess *guess, const char *name)
{
    size_t len = strlen(name);
    return guess->len > 0 && len > guess->len && name[len - guess->len - 1] == '.' &&
           memcmp(name + len - guess->len, guess->given, guess->len) == 0;
}

/* Nothing is nearer than a name without its package; with two of them nobody knows which. */
static void end_add(struct ops_guess *guess, const char *name)
{
    bool is_first = guess->distance > 0;
    bool is_same = guess->best != NULL && strcmp(guess->best, name) == 0;
    guess->best = is_first || is_same ? name : NULL;
    guess->distance = 0;
}

/* One letter in three may be wrong, but no more than two. */
void ops_guess_add(struct ops_guess *guess, const char *name)
{
    size_t len, most = guess->len < 3 ? 0 : guess->len < 6 ? 1 : 2;
    if (is_end_of(guess, name))
        end_add(guess, name);
    /* What has no package is compared without one. */
    const char *dot = memchr(guess->given, '.', guess->len) == NULL ? strrchr(name, '.') : NULL;
    const char *own = dot != NULL ? dot + 1 : name;
    len = strlen(own);
    if (guess->len == 0 || guess->len > NAME_MAX_LEN || len > NAME_MAX_LEN)
        return;
    size_t found = distance(guess->given, guess->len, own, len);
    if (found > most || found >= guess->distance)
        return;
    guess->best = name;
    guess->distance = found;
}
