#include "ir.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct ir_kind_info ir_kinds[IR_KIND_COUNT] = {
#define X(symbol, word, bits, is_signed) {word, bits, is_signed},
    IR_KINDS(X)
#undef X
};

bool ir_kind_has_bounds(enum ir_kind kind)
{
    return (kind < IR_KIND_COUNT && ir_kinds[kind].bits > 0 && ir_kinds[kind].bits <= 64) ||
           kind == IR_TIMESTAMP || kind == IR_DURATION;
}

enum ir_kind ir_kind_find(const char *word)
{
    int kind = 0;
    while (kind < IR_ENUM && strcmp(ir_kinds[kind].word, word) != 0)
        kind++;
    return kind < IR_ENUM ? (enum ir_kind)kind : IR_KIND_COUNT;
}

const char *const ir_backoff_words[] = {"constant",    "linear", "polynomial",
                                        "exponential", "steps",  NULL};
const char *const ir_jitter_words[] = {"none", "full", "equal", NULL};

const char *ir_jitter_text(const struct ir_retry *retry)
{
    return retry->jitter == JITTER_RATIO ? retry->jitter_ratio : ir_jitter_words[retry->jitter];
}

double ir_retry_delay(const struct ir_retry *retry, int64_t n, const struct literal **step)
{
    double delay = (double)retry->base_ns / 1e9;
    double factor = retry->factor == NULL ? 1 : strtod(retry->factor, NULL);
    switch (retry->backoff) {
    case BACKOFF_CONSTANT:
        break;
    case BACKOFF_LINEAR:
        delay *= factor * (double)n;
        break;
    case BACKOFF_POLYNOMIAL:
        delay *= pow((double)n, factor);
        break;
    case BACKOFF_EXPONENTIAL:
        delay *= pow(factor, (double)(n - 1));
        break;
    case BACKOFF_STEPS:
        assert(*step != NULL);
        delay = (double)(*step)->duration_ns / 1e9;
        *step = (*step)->next != NULL ? (*step)->next : *step;
        break;
    }
    double cap = (double)retry->cap_ns / 1e9;
    return retry->cap_ns >= 0 && delay > cap ? cap : delay;
}

int64_t ir_retry_count(const struct ir_retry *retry)
{
    const struct literal *step = retry->steps;
    double left = (double)retry->for_ns / 1e9;
    int64_t count = 0;
    if (retry->for_ns < 0)
        return retry->max;
    while (count < retry->max && (left -= ir_retry_delay(retry, count + 1, &step)) > 0)
        count++;
    return count;
}
