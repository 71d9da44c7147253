/* store/redis/facts.h - what the doctor asks the server, and how it reads the answers. */
#ifndef CULEX_STORE_REDIS_FACTS_H
#define CULEX_STORE_REDIS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <culex/error.h>

#include "store/redis/reply.h"

struct culex__redis_doctor;

enum { CULEX__REDIS_SETTING_SIZE = 160 };

/* A setting's value; "" when it is empty or unknown. */
struct culex__redis_setting {
    bool is_known;
    char text[CULEX__REDIS_SETTING_SIZE];
};

/* NULL without failing when the server refuses; a failure only when it cannot be asked. */
culex_status culex__redis_fact_ask(struct culex__redis_doctor *doctor, const char *const *words,
                                   size_t count, redisReply **ret_reply, culex_error *error);

/* A line of INFO; the same as a number, 0 when it is unknown. */
struct culex__redis_setting culex__redis_fact_info(const struct culex__redis_doctor *doctor,
                                                   const char *name);
int64_t culex__redis_fact_number(const struct culex__redis_doctor *doctor, const char *name);

/* An answer of CONFIG GET, asked now. */
struct culex__redis_setting culex__redis_fact_config(struct culex__redis_doctor *doctor,
                                                     const char *name);

static inline int64_t culex__redis_fact_int(const struct culex__redis_setting *value)
{
    return strtoll(value->text, NULL, 10);
}

static inline bool culex__redis_fact_is(const struct culex__redis_setting *value, const char *text)
{
    return value->is_known && strcmp(value->text, text) == 0;
}

#endif
