#include "store/redis/facts.h"

#include <stdio.h>

#include "store/redis/doctor.h"

culex_status culex__redis_fact_ask(struct culex__redis_doctor *doctor, const char *const *words,
                                   size_t count, redisReply **ret_reply, culex_error *error)
{
    struct culex__redis *redis = doctor->redis;
    int64_t deadline_ns = culex__redis_deadline(redis);
    *ret_reply = NULL;
    culex_status status = culex__redis_conn_open(&redis->conn, deadline_ns, error);
    if (status == CULEX_OK)
        status =
            culex__redis_conn_command(&redis->conn, words, count, deadline_ns, ret_reply, error);
    bool is_away = status == CULEX_ECONNECT || status == CULEX_EUNKNOWN || status == CULEX_ENOMEM;
    return is_away ? status : CULEX_OK;
}

struct culex__redis_setting culex__redis_fact_info(const struct culex__redis_doctor *doctor,
                                                   const char *name)
{
    struct culex__redis_setting value = {.is_known = false};
    if (doctor->info != NULL)
        culex__redis_info_value(doctor->info, name, value.text, sizeof value.text);
    value.is_known = value.text[0] != '\0';
    return value;
}

int64_t culex__redis_fact_number(const struct culex__redis_doctor *doctor, const char *name)
{
    struct culex__redis_setting value = culex__redis_fact_info(doctor, name);
    return culex__redis_fact_int(&value);
}

struct culex__redis_setting culex__redis_fact_config(struct culex__redis_doctor *doctor,
                                                     const char *name)
{
    const char *words[] = {"CONFIG", "GET", name}, *text;
    struct culex__redis_setting value = {.is_known = false};
    redisReply *reply = NULL;
    size_t len;
    if (doctor->is_config_denied || doctor->failed != CULEX_OK)
        return value;
    doctor->failed = culex__redis_fact_ask(doctor, words, 3, &reply, doctor->error);
    doctor->is_config_denied = doctor->failed == CULEX_OK && reply == NULL;
    if (reply == NULL)
        return value;
    if (culex__redis_reply_text(reply, 1, &text, &len)) {
        value.is_known = true;
        snprintf(value.text, sizeof value.text, "%s", text);
    }
    freeReplyObject(reply);
    return value;
}
