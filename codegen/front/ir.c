#include "ir.h"

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

double ir_retry_delay(const struct ir_retry *retry, int64_t n, const struct literal **step)
{
    double delay = (double)retry->base_ns / 1e9;
    double factor = retry->factor == NULL ? 1 : strtod(retry->factor, NULL);
    if (strcmp(retry->backoff, "steps") == 0) {
        delay = (double)(*step)->duration_ns / 1e9;
        *step = (*step)->next != NULL ? (*step)->next : *step;
    } else if (strcmp(retry->backoff, "linear") == 0) {
        delay *= factor * (double)n;
    } else if (strcmp(retry->backoff, "polynomial") == 0) {
        delay *= pow((double)n, factor);
    } else if (strcmp(retry->backoff, "exponential") == 0) {
        delay *= pow(factor, (double)(n - 1));
    }
    double cap = (double)retry->cap_ns / 1e9;
    return retry->cap_ns >= 0 && delay > cap ? cap : delay;
}
