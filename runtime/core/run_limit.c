#include "core/run_limit.h"

#include "base/error.h"
#include "base/limits.h"

/* --- what a limit may say ------------------------------------------------------------------- */

static culex_status count_check(const char *name, uint32_t count, culex_error *error)
{
    if (count == 0 || count > CULEX_LIMIT_COUNT_MAX)
        return culex__fail(error, CULEX_EINVAL, "limit '%s': the number is 1 to %d, not %u", name,
                           CULEX_LIMIT_COUNT_MAX, count);
    return CULEX_OK;
}

static culex_status rate_check(const char *name, const culex_limit_value *rate, culex_error *error)
{
    if (rate->per_ms < 1 || rate->per_ms > CULEX_LIMIT_PERIOD_MAX_MS)
        return culex__fail(error, CULEX_EINVAL,
                           "limit '%s': the period of a rate is 1 ms to 366 days", name);
    if (rate->burst == 0 || rate->burst > CULEX_LIMIT_COUNT_MAX)
        return culex__fail(error, CULEX_EINVAL, "limit '%s': the burst of a rate is 1 to %d", name,
                           CULEX_LIMIT_COUNT_MAX);
    if (rate->per_ms < (rate->count + 999) / 1000)
        return culex__fail(error, CULEX_EINVAL, "limit '%s': more than 1000 in a millisecond",
                           name);
    if (culex__bucket_token_us(rate) > CULEX_LIMIT_PERIOD_MAX_MS * 1000 / rate->burst)
        return culex__fail(error, CULEX_EINVAL,
                           "limit '%s': a burst of %u takes more than 366 days to come back", name,
                           rate->burst);
    return CULEX_OK;
}

culex_status culex__limit_value_check(const char *name, enum culex_limit_kind kind,
                                      const culex_limit_value *value, culex_error *error)
{
    if ((unsigned)kind > CULEX_LIMIT_NEEDS)
        return culex__fail(error, CULEX_EINVAL, "limit '%s': no such kind", name);
    if (kind != CULEX_LIMIT_RATE && (value->per_ms != 0 || value->burst != 0))
        return culex__fail(error, CULEX_EINVAL, "limit '%s': only a rate has a period and a burst",
                           name);
    if (kind == CULEX_LIMIT_FAIR)
        return value->count == 0 ? CULEX_OK
                                 : culex__fail(error, CULEX_EINVAL,
                                               "limit '%s': a fair share has no number", name);
    if (kind == CULEX_LIMIT_NEEDS)
        return value->count == 0
                   ? CULEX_OK
                   : culex__fail(error, CULEX_EINVAL,
                                 "'%s' is what runs need, and has no number to set: begin a worker "
                                 "that offers more",
                                 name);
    culex_status status = count_check(name, value->count, error);
    return status == CULEX_OK && kind == CULEX_LIMIT_RATE ? rate_check(name, value, error) : status;
}

culex_status culex__limit_value_fill(const char *name, enum culex_limit_kind kind,
                                     const culex_limit_value *in_force, culex_limit_value *value,
                                     culex_error *error)
{
    if (kind == CULEX_LIMIT_RATE && value->per_ms == 0)
        value->per_ms = in_force->per_ms;
    if (kind == CULEX_LIMIT_RATE && value->burst == 0)
        value->burst = in_force->burst < value->count ? in_force->burst : value->count;
    return culex__limit_value_check(name, kind, value, error);
}

bool culex__limit_value_is_same(const culex_limit_value *left, const culex_limit_value *right)
{
    return left->count == right->count && left->per_ms == right->per_ms &&
           left->burst == right->burst;
}

/* --- the bucket ----------------------------------------------------------------------------- */

int64_t culex__bucket_token_us(const culex_limit_value *rate)
{
    return (rate->per_ms * 1000 + rate->count - 1) / rate->count;
}

/* How far the bucket is from being full. */
static int64_t missing_us(const culex_limit_value *rate, int64_t tat_us, int64_t now_ms)
{
    int64_t empty_us = culex__bucket_token_us(rate) * rate->burst, in_us = tat_us - now_ms * 1000;
    if (in_us <= 0)
        return 0;
    return in_us < empty_us ? in_us : empty_us;
}

int64_t culex__bucket_cut(const culex_limit_value *rate, int64_t tat_us, int64_t now_ms)
{
    return now_ms * 1000 + missing_us(rate, tat_us, now_ms);
}

uint32_t culex__bucket_tokens(const culex_limit_value *rate, int64_t tat_us, int64_t now_ms)
{
    int64_t token_us = culex__bucket_token_us(rate);
    return (uint32_t)((token_us * rate->burst - missing_us(rate, tat_us, now_ms)) / token_us);
}

int64_t culex__bucket_take(const culex_limit_value *rate, int64_t tat_us, int64_t now_ms)
{
    return now_ms * 1000 + missing_us(rate, tat_us, now_ms) + culex__bucket_token_us(rate);
}

int64_t culex__bucket_wait_ms(const culex_limit_value *rate, int64_t tat_us, int64_t now_ms,
                              uint32_t tokens)
{
    int64_t most_us = culex__bucket_token_us(rate) * (rate->burst - (int64_t)tokens);
    int64_t over_us = missing_us(rate, tat_us, now_ms) - most_us;
    return over_us <= 0 ? 0 : (over_us + 999) / 1000;
}
