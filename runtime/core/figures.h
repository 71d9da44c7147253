/* core/figures.h - how runs ended, how long they waited and how long they took: counted, added up
 * and as text.
 *
 * Times fall into buckets, four an octave: of v us, 0 to 3 have one each, and from 4 on, with e the
 * place of its highest bit, bucket 4 (e - 1) + the two bits below that one. What is read of a
 * bucket is its greatest time, which is never less than what was counted, and less than 5/4 of it.
 * The last bucket reaches beyond 100 years. Sums of buckets are exact, in any order.
 *
 * The text, which stores keep: the six counts with ',' between them, ';', what waited, ';', what
 * ran; of both 'BUCKET:COUNT' with a blank between them, by bucket, without those that are empty.
 * One value has one text, and no number is greater than CULEX_FIGURE_MAX, which Lua counts up to.
 */
#ifndef CULEX_CORE_FIGURES_H
#define CULEX_CORE_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/run.h"

#define CULEX_FIGURE_MAX (UINT64_C(1) << 53)

/* ORDER FIGURE: as they stand in the text. */
enum culex_figure_count {
    CULEX_FIGURE_DONE,
    CULEX_FIGURE_FAILED,
    CULEX_FIGURE_CRASHED,
    CULEX_FIGURE_LOST,
    CULEX_FIGURE_DEAD,
    CULEX_FIGURE_CANCELLED,
    CULEX_FIGURE_COUNTS
};

struct culex_figure_times {
    uint64_t of[CULEX_FIGURE_BUCKETS];
};

struct culex_figure {
    uint64_t counts[CULEX_FIGURE_COUNTS];
    struct culex_figure_times waited, ran;
};

/* Room for any text, with its NUL. */
enum { CULEX_FIGURE_TEXT_SIZE = 10240 };

/* Bucket of a time; less than 0 counts as 0, and one beyond the last bucket falls into that. */
size_t culex__figure_bucket(int64_t us);

/* The greatest time of a bucket. */
int64_t culex__figure_bucket_us(size_t bucket);

/* Adds `more` to `sum`; no number becomes greater than CULEX_FIGURE_MAX. */
void culex__figure_add(struct culex_figure *sum, const struct culex_figure *more);

uint64_t culex__figure_times_count(const struct culex_figure_times *times);

/* What `percent` of the times (1 to 100) are no greater than, in us; 0 where there are none. */
int64_t culex__figure_percentile(const struct culex_figure_times *times, unsigned percent);

/* Returns the length. */
size_t culex__figure_write(const struct culex_figure *figure,
                           char ret_text[CULEX_FIGURE_TEXT_SIZE]);

/* False for any other text. */
bool culex__figure_read(const char *text, struct culex_figure *ret_figure);

#endif
