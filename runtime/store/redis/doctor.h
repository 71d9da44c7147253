/* store/redis/doctor.h - inside the doctor: the facts that it goes by, and its chapters. */
#ifndef CULEX_STORE_REDIS_DOCTOR_H
#define CULEX_STORE_REDIS_DOCTOR_H

#include <stdlib.h>
#include <string.h>

#include "store/redis/redis.h"

enum { CULEX__REDIS_SETTING_SIZE = 160 };

/* A setting's value; "" when it is empty or unknown. */
struct culex__redis_setting {
    bool is_known;
    char text[CULEX__REDIS_SETTING_SIZE];
};

struct culex__redis_doctor {
    struct culex__redis *redis;
    struct culex_report *report;
    redisReply *info; /* NULL: denied */
    bool is_config_denied;
    culex_status failed; /* the server went away while settings were read */
    culex_error *error;
    bool is_local; /* the connection does not leave this machine */
};

#define OK      CULEX_SEVERITY_OK
#define NOTE    CULEX_SEVERITY_NOTE
#define WARNING CULEX_SEVERITY_WARNING
#define ERROR   CULEX_SEVERITY_ERROR

/* --- facts.c ----------------------------------------------------------------------------- */

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

/* --- chapters: each adds its findings to the report ------------------------------------- */

/* durability.c: the promise too. */
void culex__redis_examine_durability(struct culex__redis_doctor *doctor);

/* access.c: who else gets in, whether the way is encrypted, and what we may do ourselves. */
culex_status culex__redis_examine_access(struct culex__redis_doctor *doctor, culex_error *error);
void culex__redis_examine_tls(struct culex__redis_doctor *doctor);
void culex__redis_examine_rights(struct culex__redis_doctor *doctor);

#endif
