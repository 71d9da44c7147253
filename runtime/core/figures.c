#include "core/figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/number.h"

/* --- buckets ---------------------------------------------------------------------------------- */

static unsigned highest_bit(uint64_t value)
{
    unsigned bit = 0;
    while (value >>= 1)
        bit++;
    return bit;
}

size_t culex__figure_bucket(int64_t us)
{
    if (us < 4)
        return us > 0 ? (size_t)us : 0;
    unsigned bit = highest_bit((uint64_t)us);
    size_t bucket = 4 * (size_t)(bit - 1) + ((uint64_t)us >> (bit - 2) & 3);
    return bucket < CULEX_FIGURE_BUCKETS ? bucket : CULEX_FIGURE_BUCKETS - 1;
}

int64_t culex__figure_bucket_us(size_t bucket)
{
    if (bucket < 4)
        return (int64_t)bucket;
    size_t next = bucket + 1;
    return (int64_t)(((4 + next % 4) << (next / 4 - 1)) - 1);
}

/* --- sums ------------------------------------------------------------------------------------- */

static void number_add(uint64_t *sum, uint64_t more)
{
    *sum = more < CULEX_FIGURE_MAX - *sum ? *sum + more : CULEX_FIGURE_MAX;
}

static void times_add(struct culex_figure_times *sum, const struct culex_figure_times *more)
{
    for (size_t i = 0; i < CULEX_FIGURE_BUCKETS; i++)
        number_add(&sum->of[i], more->of[i]);
}

void culex__figure_add(struct culex_figure *sum, const struct culex_figure *more)
{
    for (size_t i = 0; i < CULEX_FIGURE_COUNTS; i++)
        number_add(&sum->counts[i], more->counts[i]);
    times_add(&sum->waited, &more->waited);
    times_add(&sum->ran, &more->ran);
}

uint64_t culex__figure_times_count(const struct culex_figure_times *times)
{
    uint64_t count = 0;
    for (size_t i = 0; i < CULEX_FIGURE_BUCKETS; i++)
        count += times->of[i];
    return count;
}

int64_t culex__figure_percentile(const struct culex_figure_times *times, unsigned percent)
{
    uint64_t count = culex__figure_times_count(times), seen = 0;
    uint64_t rank = count / 100 * percent + (count % 100 * percent + 99) / 100;
    for (size_t i = 0; i < CULEX_FIGURE_BUCKETS; i++) {
        seen += times->of[i];
        if (seen > 0 && seen >= rank)
            return culex__figure_bucket_us(i);
    }
    return 0;
}

/* --- text ------------------------------------------------------------------------------------- */

static char *number_write(char *text, uint64_t number)
{
    return text + culex__uint64_format(number, text);
}

static char *times_write(char *text, const struct culex_figure_times *times)
{
    const char *from = text;
    for (size_t i = 0; i < CULEX_FIGURE_BUCKETS; i++) {
        if (times->of[i] == 0)
            continue;
        if (text != from)
            *text++ = ' ';
        text = number_write(text, i);
        *text++ = ':';
        text = number_write(text, times->of[i]);
    }
    return text;
}

size_t culex__figure_write(const struct culex_figure *figure, char ret_text[CULEX_FIGURE_TEXT_SIZE])
{
    char *end = ret_text;
    for (size_t i = 0; i < CULEX_FIGURE_COUNTS; i++) {
        end = number_write(end, figure->counts[i]);
        *end++ = i + 1 < CULEX_FIGURE_COUNTS ? ',' : ';';
    }
    end = times_write(end, &figure->waited);
    *end++ = ';';
    end = times_write(end, &figure->ran);
    *end = '\0';
    return (size_t)(end - ret_text);
}

/* Reads a number that ends at one of `ends`, and moves *text there. */
static bool number_read(const char **text, const char *ends, uint64_t *ret_number)
{
    size_t len = strcspn(*text, ends);
    if (!culex__uint64_parse(*text, len, ret_number) || *ret_number > CULEX_FIGURE_MAX)
        return false;
    *text += len;
    return true;
}

/* Up to `end`, which it takes. */
static bool times_read(const char **text, char end, struct culex_figure_times *ret_times)
{
    uint64_t bucket, least = 0;
    while (**text != end) {
        if (!number_read(text, ":", &bucket) || bucket < least || bucket >= CULEX_FIGURE_BUCKETS ||
            *(*text)++ != ':' ||
            !number_read(text, (const char[]){' ', end, '\0'}, &ret_times->of[bucket]) ||
            ret_times->of[bucket] == 0)
            return false;
        least = bucket + 1;
        if (**text == ' ' && *++*text == end)
            return false;
    }
    return true;
}

bool culex__figure_read(const char *text, struct culex_figure *ret_figure)
{
    memset(ret_figure, 0, sizeof *ret_figure);
    for (size_t i = 0; i < CULEX_FIGURE_COUNTS; i++) {
        if (!number_read(&text, ",;", &ret_figure->counts[i]) ||
            *text++ != (i + 1 < CULEX_FIGURE_COUNTS ? ',' : ';'))
            return false;
    }
    return times_read(&text, ';', &ret_figure->waited) && *text++ == ';' &&
           times_read(&text, '\0', &ret_figure->ran) && *text == '\0';
}
