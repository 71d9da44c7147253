#include "core/exposition.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

/* ORDER BUCKETS. The texts are those that OpenMetrics wants of a bound. */
static const struct {
    int64_t us;
    const char *text;
} bounds[CULEX_METRIC_BUCKETS] = {
    {100, "0.0001"},      {500, "0.0005"},        {1000, "0.001"},
    {5000, "0.005"},      {10000, "0.01"},        {50000, "0.05"},
    {100000, "0.1"},      {500000, "0.5"},        {1000000, "1.0"},
    {5000000, "5.0"},     {10000000, "10.0"},     {60000000, "60.0"},
    {300000000, "300.0"}, {1800000000, "1800.0"}, {INT64_C(7200000000), "7200.0"},
    {INT64_MAX, "+Inf"},
};

size_t culex__metric_bucket(int64_t us)
{
    size_t bucket = 0;
    while (us > bounds[bucket].us)
        bucket++;
    return bucket;
}

void culex__exposition_begin(struct culex_exposition *exposition, culex_buf *buf, bool is_plain)
{
    *exposition = (struct culex_exposition){.buf = buf, .is_plain = is_plain};
}

static void bytes_put(struct culex_exposition *exposition, const char *bytes, size_t len)
{
    if (culex__buf_append(exposition->buf, bytes, len) != CULEX_OK)
        exposition->is_short = true;
}

static void text_put(struct culex_exposition *exposition, const char *text)
{
    bytes_put(exposition, text, strlen(text));
}

/* --- families -------------------------------------------------------------------------------- */

/* What a sample of the family has behind the name. The older format knows of no such suffix, so
 * there it belongs to the family's name. */
static const char *suffix_of(const struct culex_metric *metric)
{
    return metric->type == CULEX_METRIC_COUNTER ? "_total"
           : metric->type == CULEX_METRIC_INFO  ? "_info"
                                                : "";
}

static const char *type_word(const struct culex_exposition *exposition)
{
    static const char *const words[] = {"counter", "gauge", "histogram", "info"};
    const struct culex_metric *metric = exposition->family;
    return exposition->is_plain && metric->type == CULEX_METRIC_INFO ? "gauge"
                                                                     : words[metric->type];
}

static void about_put(struct culex_exposition *exposition, const char *what, const char *text)
{
    text_put(exposition, what);
    text_put(exposition, exposition->family->name);
    if (exposition->is_plain)
        text_put(exposition, suffix_of(exposition->family));
    text_put(exposition, " ");
    text_put(exposition, text);
    text_put(exposition, "\n");
}

void culex__exposition_family(struct culex_exposition *exposition,
                              const struct culex_metric *metric)
{
    exposition->family = metric;
    about_put(exposition, "# TYPE ", type_word(exposition));
    if (metric->unit != NULL && !exposition->is_plain)
        about_put(exposition, "# UNIT ", metric->unit);
    about_put(exposition, "# HELP ", metric->help);
}

/* --- samples --------------------------------------------------------------------------------- */

static void value_put(struct culex_exposition *exposition, const char *value)
{
    for (;;) {
        size_t plain = strcspn(value, "\\\"\n");
        bytes_put(exposition, value, plain);
        if (value[plain] == '\0')
            return;
        text_put(exposition, value[plain] == '\n' ? "\\n" : value[plain] == '\\' ? "\\\\" : "\\\"");
        value += plain + 1;
    }
}

static void label_put(struct culex_exposition *exposition, const char *before,
                      const struct culex_metric_label *label)
{
    text_put(exposition, before);
    text_put(exposition, label->name);
    text_put(exposition, "=\"");
    value_put(exposition, label->value);
    text_put(exposition, "\"");
}

static void labels_put(struct culex_exposition *exposition, const struct culex_metric_label *labels,
                       size_t count, const char *bound)
{
    const struct culex_metric_label last = {"le", bound};
    for (size_t i = 0; i < count; i++)
        label_put(exposition, i == 0 ? "{" : ",", &labels[i]);
    if (bound != NULL)
        label_put(exposition, count == 0 ? "{" : ",", &last);
    if (count > 0 || bound != NULL)
        text_put(exposition, "}");
}

static void sample_put(struct culex_exposition *exposition, const char *suffix,
                       const struct culex_metric_label *labels, size_t count, const char *bound,
                       const char *value)
{
    text_put(exposition, exposition->family->name);
    text_put(exposition, suffix);
    labels_put(exposition, labels, count, bound);
    text_put(exposition, " ");
    text_put(exposition, value);
    text_put(exposition, "\n");
}

enum { NUMBER_SIZE = 32 };

static const char *whole_text(uint64_t value, char ret_text[NUMBER_SIZE])
{
    snprintf(ret_text, NUMBER_SIZE, "%" PRIu64, value);
    return ret_text;
}

static const char *seconds_text(uint64_t us, char ret_text[NUMBER_SIZE])
{
    snprintf(ret_text, NUMBER_SIZE, "%" PRIu64 ".%06u", us / 1000000, (unsigned)(us % 1000000));
    return ret_text;
}

void culex__exposition_put(struct culex_exposition *exposition,
                           const struct culex_metric_label *labels, size_t count, uint64_t value)
{
    char text[NUMBER_SIZE];
    sample_put(exposition, suffix_of(exposition->family), labels, count, NULL,
               whole_text(value, text));
}

void culex__exposition_put_us(struct culex_exposition *exposition,
                              const struct culex_metric_label *labels, size_t count, uint64_t us)
{
    char text[NUMBER_SIZE];
    sample_put(exposition, suffix_of(exposition->family), labels, count, NULL,
               seconds_text(us, text));
}

/* The count is that of all buckets, whatever is counted meanwhile: readers hold one against the
 * other. */
void culex__exposition_put_times(struct culex_exposition *exposition,
                                 const struct culex_metric_label *labels, size_t count,
                                 const struct culex_metric_times *times)
{
    char text[NUMBER_SIZE];
    uint64_t so_far = 0;
    for (size_t i = 0; i < CULEX_METRIC_BUCKETS; i++) {
        so_far += times->of[i];
        sample_put(exposition, "_bucket", labels, count, bounds[i].text, whole_text(so_far, text));
    }
    sample_put(exposition, "_count", labels, count, NULL, whole_text(so_far, text));
    sample_put(exposition, "_sum", labels, count, NULL, seconds_text(times->sum_us, text));
}

bool culex__exposition_end(struct culex_exposition *exposition)
{
    if (!exposition->is_plain)
        text_put(exposition, "# EOF\n");
    return !exposition->is_short;
}
