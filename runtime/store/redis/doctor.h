/* store/redis/doctor.h - inside the doctor: what its chapters share. */
#ifndef CULEX_STORE_REDIS_DOCTOR_H
#define CULEX_STORE_REDIS_DOCTOR_H

#include "store/redis/facts.h"
#include "store/redis/redis.h"

struct culex__redis_doctor {
    struct culex__redis *redis;
    struct culex_report *report;
    redisReply *info; /* NULL: denied */
    bool is_config_denied;
    culex_status failed; /* the server went away while settings were read */
    culex_error *error;
    bool is_local; /* the connection does not leave this machine */
};

/* --- chapters: each adds its findings to the report ------------------------------------- */

/* durability.c: the promise too. */
void culex__redis_examine_durability(struct culex__redis_doctor *doctor);

/* access.c: who else gets in, whether the way is encrypted, and what we may do ourselves. */
culex_status culex__redis_examine_access(struct culex__redis_doctor *doctor, culex_error *error);
void culex__redis_examine_tls(struct culex__redis_doctor *doctor);
void culex__redis_examine_rights(struct culex__redis_doctor *doctor);

#endif
