/* store/redis/doctor.c - what a Redis server's settings promise, and what endangers queues there.
 *
 * Facts come from INFO, CONFIG GET and ACL. Each may be denied to our user; what cannot be read is
 * unknown and becomes a note. Secrets (requirepass, hashes of passwords) are never asked for. */
#include "store/redis/doctor.h"

#include <stdio.h>

#include "base/limits.h"
#include "store/redis/scripts.h"

enum { QUEUES_MAX = 50, PINGS = 5 };

/* --- memory --------------------------------------------------------------------------------- */

static void eviction_examine(struct culex__redis_doctor *doctor)
{
    struct culex__redis_setting policy = culex__redis_fact_info(doctor, "maxmemory_policy");
    if (!policy.is_known)
        policy = culex__redis_fact_config(doctor, "maxmemory-policy");
    if (!policy.is_known)
        return;
    if (strncmp(policy.text, "allkeys-", 8) == 0)
        culex__report_add(doctor->report, CULEX_SEVERITY_ERROR, "redis-eviction",
                          "CONFIG SET maxmemory-policy noeviction",
                          "maxmemory-policy %s: the server deletes queues when memory is short",
                          policy.text);
    else
        culex__report_add(doctor->report, CULEX_SEVERITY_OK, "redis-eviction", NULL,
                          "maxmemory-policy %s does not touch queues: no key of ours expires",
                          policy.text);
}

static void memory_examine(struct culex__redis_doctor *doctor)
{
    struct culex__redis_setting limit = culex__redis_fact_info(doctor, "maxmemory");
    int64_t most = culex__redis_fact_int(&limit),
            used = culex__redis_fact_number(doctor, "used_memory");
    if (!limit.is_known)
        return;
    if (most == 0) {
        culex__report_add(doctor->report, CULEX_SEVERITY_NOTE, "redis-maxmemory",
                          "CONFIG SET maxmemory to what the machine can spare",
                          "no maxmemory: %lld MiB are used, and the system kills the server when "
                          "the machine has no more",
                          (long long)(used / 1048576));
        return;
    }
    int64_t percent = used / (most / 100 + 1);
    culex__report_add(doctor->report, percent >= 80 ? CULEX_SEVERITY_WARNING : CULEX_SEVERITY_OK,
                      "redis-maxmemory",
                      percent >= 80 ? "raise maxmemory, or purge what is kept too long" : NULL,
                      "%lld %% of maxmemory (%lld MiB) are used; enqueues are refused at 100 %%",
                      (long long)percent, (long long)(most / 1048576));
}

/* The server forks to save; without overcommit that can fail though half of the memory is free. */
static void overcommit_examine(struct culex__redis_doctor *doctor)
{
    FILE *file = doctor->is_local ? fopen("/proc/sys/vm/overcommit_memory", "re") : NULL;
    int mode = file != NULL ? fgetc(file) : EOF;
    if (file != NULL)
        fclose(file);
    if (mode == '0')
        culex__report_add(doctor->report, CULEX_SEVERITY_NOTE, "redis-overcommit",
                          "sysctl vm.overcommit_memory=1 on the server's machine",
                          "vm.overcommit_memory is 0: snapshots and rewrites can fail when much "
                          "memory is in use");
}

/* --- who else ------------------------------------------------------------------------------- */

static void version_examine(struct culex__redis_doctor *doctor)
{
    struct culex__redis_setting version = culex__redis_fact_info(doctor, "redis_version");
    unsigned major, minor;
    if (sscanf(version.text, "%3u.%3u", &major, &minor) != 2)
        return;
    bool is_old = major * 100 + minor < 602;
    culex__report_add(doctor->report, is_old ? CULEX_SEVERITY_ERROR : CULEX_SEVERITY_OK,
                      "redis-version", is_old ? "upgrade to 6.2 or later" : NULL, "version %s",
                      version.text);
}

static void role_examine(struct culex__redis_doctor *doctor)
{
    struct culex__redis_setting role = culex__redis_fact_info(doctor, "role");
    struct culex__redis_setting cluster = culex__redis_fact_info(doctor, "cluster_enabled");
    if (culex__redis_fact_is(&role, "slave"))
        culex__report_add(doctor->report, CULEX_SEVERITY_ERROR, "redis-role",
                          "name the primary in the URL, or REPLICAOF NO ONE",
                          "the server is a replica: it takes no writes");
    else if (role.is_known)
        culex__report_add(doctor->report, CULEX_SEVERITY_OK, "redis-role", NULL,
                          "the server is a primary");
    if (culex__redis_fact_is(&cluster, "1"))
        culex__report_add(doctor->report, CULEX_SEVERITY_NOTE, "redis-cluster", NULL,
                          "the server is a node of a cluster: a worker serves the queues that live "
                          "on the node which its URL names, and while a slot moves they wait");
}

static void clients_examine(struct culex__redis_doctor *doctor)
{
    struct culex__redis_setting most = culex__redis_fact_info(doctor, "maxclients");
    struct culex__redis_setting idle = culex__redis_fact_config(doctor, "timeout");
    struct culex__redis_setting slow = culex__redis_fact_config(doctor, "lua-time-limit");
    int64_t now = culex__redis_fact_number(doctor, "connected_clients");
    if (most.is_known && now * 5 > culex__redis_fact_int(&most) * 4)
        culex__report_add(doctor->report, CULEX_SEVERITY_WARNING, "redis-clients",
                          "raise maxclients", "%lld of %s connections are in use", (long long)now,
                          most.text);
    if (idle.is_known && culex__redis_fact_int(&idle) > 0)
        culex__report_add(doctor->report, CULEX_SEVERITY_NOTE, "redis-timeout",
                          "CONFIG SET timeout 0",
                          "connections that are idle for %s s are closed: each enqueue after that "
                          "connects anew",
                          idle.text);
    if (slow.is_known && (culex__redis_fact_int(&slow) == 0 || culex__redis_fact_int(&slow) > 5000))
        culex__report_add(doctor->report, CULEX_SEVERITY_WARNING, "redis-lua-time-limit",
                          "CONFIG SET lua-time-limit 5000",
                          "lua-time-limit is %s: a script that hangs blocks the server without a "
                          "word, and SCRIPT KILL does not get through",
                          slow.text);
}

/* --- time ----------------------------------------------------------------------------------- */

static culex_status clock_examine(struct culex__redis_doctor *doctor, culex_error *error)
{
    const struct culex_env *env = doctor->redis->base.env;
    int64_t best_ns = INT64_MAX, drift_ms = 0;
    for (int i = 0; i < PINGS; i++) {
        int64_t begin_ns = culex__env_boottime_ns(env), server_ms;
        culex_status status = doctor->redis->base.ops->now(&doctor->redis->base, &server_ms, error);
        int64_t took_ns = culex__env_boottime_ns(env) - begin_ns;
        if (status != CULEX_OK)
            return status;
        if (took_ns < best_ns) {
            best_ns = took_ns;
            drift_ms = server_ms - (culex__env_clock_ms(env) - took_ns / 2000000);
        }
    }
    bool is_slow = best_ns > 20000000;
    culex__report_add(doctor->report, is_slow ? CULEX_SEVERITY_WARNING : CULEX_SEVERITY_OK,
                      "redis-latency", is_slow ? "move workers nearer, or raise batch" : NULL,
                      "a round trip takes %.2f ms at best", (double)best_ns / 1e6);
    int64_t apart_ms = drift_ms < 0 ? -drift_ms : drift_ms;
    culex__report_add(doctor->report,
                      apart_ms > 60000  ? CULEX_SEVERITY_WARNING
                      : apart_ms > 1000 ? CULEX_SEVERITY_NOTE
                                        : CULEX_SEVERITY_OK,
                      "redis-clock", apart_ms > 1000 ? "run a time service on both machines" : NULL,
                      "the server's clock, which alone counts, is %lld ms %s ours",
                      (long long)apart_ms, drift_ms < 0 ? "behind" : "ahead of");
    return CULEX_OK;
}

/* --- our own keys --------------------------------------------------------------------------- */

/* The key as text, for commands and for people. */
static void key_text(const struct culex__redis_doctor *doctor, const char *queue, size_t index,
                     char *ret_key, size_t size)
{
    snprintf(ret_key, size, "%s:{%s}:%s", doctor->redis->prefix, queue,
             culex__redis_key_names[index]);
}

static culex_status queue_expiry_examine(struct culex__redis_doctor *doctor, const char *queue,
                                         bool *ret_is_found, culex_error *error)
{
    char key[CULEX__REDIS_PREFIX_MAX + CULEX_QUEUE_NAME_MAX + 32];
    const char *words[] = {"PTTL", key};
    for (size_t i = 0; i < CULEX__REDIS_KEY_COUNT; i++) {
        redisReply *reply = NULL;
        key_text(doctor, queue, i, key, sizeof key);
        culex_status status = culex__redis_fact_ask(doctor, words, 2, &reply, error);
        if (status != CULEX_OK || reply == NULL)
            return status;
        bool expires = reply->type == REDIS_REPLY_INTEGER && reply->integer >= 0;
        freeReplyObject(reply);
        if (expires) {
            *ret_is_found = true;
            culex__report_add(doctor->report, CULEX_SEVERITY_ERROR, "redis-expire",
                              "PERSIST the key, and find out who called EXPIRE",
                              "the key %s expires: the runs in it will be lost", key);
        }
    }
    return CULEX_OK;
}

static culex_status expiry_examine(struct culex__redis_doctor *doctor, culex_error *error)
{
    char **names = NULL;
    bool is_found = false;
    size_t count = 0;
    culex_error scratch;
    /* Not permitted, or on another node: then there is nothing to say. */
    if (culex__redis_queues(&doctor->redis->base, &names, &scratch) != CULEX_OK)
        return CULEX_OK;
    culex_status status = CULEX_OK;
    for (; names[count] != NULL && count < QUEUES_MAX && status == CULEX_OK; count++)
        status = queue_expiry_examine(doctor, names[count], &is_found, error);
    free(names);
    if (status == CULEX_OK && count > 0 && !is_found)
        culex__report_add(doctor->report, CULEX_SEVERITY_OK, "redis-expire", NULL,
                          "no key of %zu queue(s) expires", count);
    return status;
}

/* --- the whole ------------------------------------------------------------------------------ */

static void permissions_examine(struct culex__redis_doctor *doctor)
{
    if (doctor->info == NULL)
        culex__report_add(doctor->report, CULEX_SEVERITY_NOTE, "redis-info",
                          "ACL SETUSER USER +info",
                          "this user may not call INFO: version, role and memory are unknown");
    if (doctor->is_config_denied)
        culex__report_add(doctor->report, CULEX_SEVERITY_NOTE, "redis-config",
                          "ACL SETUSER USER +config|get",
                          "this user may not call CONFIG GET: persistence and limits are unknown");
}

static bool is_local(const struct culex_address *address)
{
    return address->path != NULL || strncmp(address->host, "127.", 4) == 0 ||
           strcmp(address->host, "::1") == 0 || strcmp(address->host, "localhost") == 0;
}

static void settings_examine(struct culex__redis_doctor *doctor)
{
    version_examine(doctor);
    role_examine(doctor);
    culex__redis_examine_durability(doctor);
    eviction_examine(doctor);
    memory_examine(doctor);
    overcommit_examine(doctor);
    clients_examine(doctor);
    culex__redis_examine_tls(doctor);
}

culex_status culex__redis_doctor(struct culex_store *base, struct culex_report *report,
                                 culex_error *error)
{
    static const char *const words[] = {"INFO"};
    struct culex__redis *redis = culex__redis_of(base);
    struct culex__redis_doctor doctor = {
        .redis = redis, .report = report, .is_local = is_local(&redis->target.address)};
    culex_error scratch;
    if (error == NULL)
        error = &scratch;
    doctor.error = error;
    culex_status status = culex__redis_fact_ask(&doctor, words, 1, &doctor.info, error);
    if (status != CULEX_OK)
        return status;
    settings_examine(&doctor);
    status = culex__redis_examine_access(&doctor, error);
    if (status == CULEX_OK)
        status = doctor.failed;
    if (status == CULEX_OK)
        status = clock_examine(&doctor, error);
    if (status == CULEX_OK)
        status = expiry_examine(&doctor, error);
    if (status == CULEX_OK)
        culex__redis_examine_rights(&doctor);
    permissions_examine(&doctor);
    freeReplyObject(doctor.info);
    return status;
}
