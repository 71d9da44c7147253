/* core/run_limit.h - the arithmetic of limits: pure, for all stores (the Lua scripts repeat it).
 *
 * The bucket of a RATE is one number, its `tat`: the instant, in microseconds since 1970, at which
 * it is full again; 0 or any instant that has passed: it is full. A token is worth per_ms / count,
 * rounded up to a microsecond, so nobody ever gets more of them. The store's clock counts ms: a
 * bucket of one gives a token every so many ms, rounded up. */
#ifndef CULEX_CORE_RUN_LIMIT_H
#define CULEX_CORE_RUN_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include <culex/error.h>
#include <culex/limits.h>

/* CULEX_EINVAL for numbers that a limit of this kind cannot have, and for what is no kind. */
culex_status culex__limit_value_check(const char *name, enum culex_limit_kind kind,
                                      const culex_limit_value *value, culex_error *error);

/* `value` with what it leaves to `in_force`, then checked as above. */
culex_status culex__limit_value_fill(const char *name, enum culex_limit_kind kind,
                                     const culex_limit_value *in_force, culex_limit_value *value,
                                     culex_error *error);

bool culex__limit_value_is_same(const culex_limit_value *left, const culex_limit_value *right);

/* Microseconds that a token is worth. */
int64_t culex__bucket_token_us(const culex_limit_value *rate);

/* `tat`, or that of an empty bucket if it lies beyond that: after the clock was set back, or the
 * limit was raised. A store puts it down when it meets it; the functions below count with it. */
int64_t culex__bucket_cut(const culex_limit_value *rate, int64_t tat_us, int64_t now_ms);

/* How many tokens there are now, 0 to burst. */
uint32_t culex__bucket_tokens(const culex_limit_value *rate, int64_t tat_us, int64_t now_ms);

/* `tat` after one token was taken. */
int64_t culex__bucket_take(const culex_limit_value *rate, int64_t tat_us, int64_t now_ms);

/* From now until there are `tokens`, which are 1 to burst; 0: there are. */
int64_t culex__bucket_wait_ms(const culex_limit_value *rate, int64_t tat_us, int64_t now_ms,
                              uint32_t tokens);

#endif
