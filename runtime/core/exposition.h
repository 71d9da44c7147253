/* core/exposition.h - the text in which metrics are told: OpenMetrics 1.0, or the older format that
 * Prometheus reads as `text/plain; version=0.0.4`.
 *
 * A family is written with its samples right behind it, and each family once; whoever writes sees
 * to that. Names and label names are constants. Values are whole numbers, or seconds that are
 * counted in microseconds. */
#ifndef CULEX_CORE_EXPOSITION_H
#define CULEX_CORE_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <culex/codec.h>

enum culex_metric_type {
    CULEX_METRIC_COUNTER,
    CULEX_METRIC_GAUGE,
    CULEX_METRIC_HISTOGRAM, /* of times */
    CULEX_METRIC_INFO
};

/* The name ends with the unit, where there is one, and has neither _total nor _info, which its
 * samples get. */
struct culex_metric {
    const char *name;
    enum culex_metric_type type;
    const char *unit; /* NULL: none */
    const char *help; /* one line */
};

struct culex_metric_label {
    const char *name;
    const char *value; /* any UTF-8 */
};

enum { CULEX_METRIC_BUCKETS = 16 /* the last one without a bound */ };

/* Times by bucket: each is in the first whose bound it does not pass. */
struct culex_metric_times {
    uint64_t of[CULEX_METRIC_BUCKETS];
    uint64_t sum_us;
};

/* Bucket of a time; less than 0 counts as 0. */
size_t culex__metric_bucket(int64_t us);

struct culex_exposition {
    culex_buf *buf;
    bool is_plain; /* the older format */
    bool is_short; /* out of memory or room: the text is of no use */
    const struct culex_metric *family;
};

void culex__exposition_begin(struct culex_exposition *exposition, culex_buf *buf, bool is_plain);

/* What follows are samples of this one. */
void culex__exposition_family(struct culex_exposition *exposition,
                              const struct culex_metric *metric);

/* One sample of the family; of an info the value is 1. */
void culex__exposition_put(struct culex_exposition *exposition,
                           const struct culex_metric_label *labels, size_t count, uint64_t value);
void culex__exposition_put_us(struct culex_exposition *exposition,
                              const struct culex_metric_label *labels, size_t count, uint64_t us);

/* All samples of a histogram with these labels. */
void culex__exposition_put_times(struct culex_exposition *exposition,
                                 const struct culex_metric_label *labels, size_t count,
                                 const struct culex_metric_times *times);

/* False when the text is of no use. */
bool culex__exposition_end(struct culex_exposition *exposition);

#endif
