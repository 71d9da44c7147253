/* store/redis/doctor.c - what a Redis server's settings promise, and what endangers queues there.
 *
 * Facts come from INFO, CONFIG GET and ACL. Each may be denied to our user; what cannot be read is
 * unknown and becomes a note. Secrets (requirepass, hashes of passwords) are never asked for. */
#include "store/redis/redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "store/redis/scripts.h"

enum { VALUE_SIZE = 160, QUEUES_MAX = 50, PINGS = 5 };

/* A setting's value; "" when it is empty or unknown. */
struct setting {
    bool is_known;
    char text[VALUE_SIZE];
};

struct doctor {
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

/* --- facts ------------------------------------------------------------------------------- */

/* NULL without failing when the server refuses; a failure only when it cannot be asked. */
static culex_status ask(struct doctor *doctor, const char *const *words, size_t count,
                        redisReply **ret_reply, culex_error *error)
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

static struct setting info_of(const struct doctor *doctor, const char *name)
{
    struct setting value = {.is_known = false};
    if (doctor->info != NULL)
        culex__redis_info_value(doctor->info, name, value.text, sizeof value.text);
    value.is_known = value.text[0] != '\0';
    return value;
}

static int64_t number_of(const struct setting *value)
{
    return strtoll(value->text, NULL, 10);
}

static int64_t info_number(const struct doctor *doctor, const char *name)
{
    struct setting value = info_of(doctor, name);
    return number_of(&value);
}

static bool is_text(const struct setting *value, const char *text)
{
    return value->is_known && strcmp(value->text, text) == 0;
}

static struct setting config_of(struct doctor *doctor, const char *name)
{
    const char *words[] = {"CONFIG", "GET", name}, *text;
    struct setting value = {.is_known = false};
    redisReply *reply = NULL;
    size_t len;
    if (doctor->is_config_denied || doctor->failed != CULEX_OK)
        return value;
    doctor->failed = ask(doctor, words, 3, &reply, doctor->error);
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

/* --- durability -------------------------------------------------------------------------- */

struct durability {
    struct setting appendonly, appendfsync, save;
};

static const char *promise_of(const struct durability *d)
{
    if (is_text(&d->appendonly, "yes")) {
        if (is_text(&d->appendfsync, "always"))
            return "An enqueue that returned OK survives a kill of Redis, a crash of the system "
                   "and "
                   "a power cut, on a disk that does not lie";
        if (is_text(&d->appendfsync, "everysec"))
            return "An enqueue that returned OK survives a kill of Redis, but for up to 2 s while "
                   "the disk stalls; a power cut loses about the last 2 s";
        return "An enqueue that returned OK survives a kill of Redis; a power cut loses what the "
               "system had not written to disk yet, half a minute perhaps";
    }
    if (!d->appendonly.is_known)
        return "What an enqueue that returned OK survives is unknown, because this user may not "
               "read the server's settings";
    if (d->save.is_known && d->save.text[0] == '\0')
        return "Nothing is kept: a restart of Redis loses every run";
    return "A restart or crash of Redis loses every run since the last snapshot";
}

static void durability_read(struct doctor *doctor, struct durability *ret)
{
    ret->appendonly = config_of(doctor, "appendonly");
    ret->appendfsync = config_of(doctor, "appendfsync");
    ret->save = config_of(doctor, "save");
    struct setting enabled = info_of(doctor, "aof_enabled");
    if (!ret->appendonly.is_known && enabled.is_known) {
        ret->appendonly.is_known = true;
        strcpy(ret->appendonly.text, is_text(&enabled, "1") ? "yes" : "no");
    }
}

static void promise_make(struct doctor *doctor, const struct durability *durability)
{
    struct setting role = info_of(doctor, "role");
    int64_t replicas = info_number(doctor, "connected_slaves");
    if (is_text(&role, "slave"))
        culex__report_promise(doctor->report,
                              "Nothing can be enqueued or run here: this server is a replica.");
    else
        culex__report_promise(doctor->report, "%s%s.", promise_of(durability),
                              replicas > 0 ? "; a failover loses what its replicas had not received"
                                           : "");
}

static void durability_examine(struct doctor *doctor, const struct durability *d)
{
    struct culex_report *report = doctor->report;
    if (!d->appendonly.is_known)
        return;
    if (is_text(&d->appendonly, "yes")) {
        bool is_weak = is_text(&d->appendfsync, "no");
        culex__report_add(report, OK, "redis-appendonly", NULL, "the append-only file is on");
        if (d->appendfsync.is_known)
            culex__report_add(report, is_weak ? WARNING : OK, "redis-appendfsync",
                              is_weak ? "CONFIG SET appendfsync everysec, or always" : NULL,
                              "appendfsync is %s", d->appendfsync.text);
        return;
    }
    bool has_snapshots = d->save.is_known && d->save.text[0] != '\0';
    culex__report_add(report, WARNING, "redis-appendonly",
                      "CONFIG SET appendonly yes, then CONFIG REWRITE",
                      "the append-only file is off: a restart loses %s",
                      has_snapshots ? "runs since the last snapshot" : "runs");
    if (d->save.is_known)
        culex__report_add(report, NOTE, "redis-save", NULL,
                          has_snapshots ? "snapshots are taken by \"%s\"" : "no snapshots either%s",
                          d->save.text);
}

static void disk_examine(struct doctor *doctor)
{
    struct setting aof = info_of(doctor, "aof_last_write_status");
    struct setting rdb = info_of(doctor, "rdb_last_bgsave_status");
    struct setting rewrite = info_of(doctor, "aof_last_bgrewrite_status");
    struct setting lax = config_of(doctor, "no-appendfsync-on-rewrite");
    struct setting enabled = info_of(doctor, "aof_enabled");
    if (is_text(&aof, "err"))
        culex__report_add(doctor->report, ERROR, "redis-aof-write",
                          "look into the server's log, make room on its disk",
                          "the last write to the append-only file failed: writes are refused");
    if (is_text(&rdb, "err"))
        culex__report_add(doctor->report, ERROR, "redis-bgsave",
                          "look into the server's log, make room on its disk",
                          "the last snapshot failed: writes may be refused (MISCONF)");
    if (is_text(&rewrite, "err"))
        culex__report_add(doctor->report, WARNING, "redis-aof-rewrite",
                          "look into the server's log, make room on its disk",
                          "the last rewrite of the append-only file failed: it will grow");
    else if (info_number(doctor, "aof_rewrite_in_progress") == 1)
        culex__report_add(doctor->report, NOTE, "redis-aof-rewrite", NULL,
                          "the append-only file is being rewritten just now");
    if (is_text(&lax, "yes") && is_text(&enabled, "1"))
        culex__report_add(doctor->report, WARNING, "redis-appendfsync-on-rewrite",
                          "CONFIG SET no-appendfsync-on-rewrite no",
                          "nothing is synced while the append-only file is rewritten: a power cut "
                          "then loses more than appendfsync says");
}

/* --- memory ------------------------------------------------------------------------------ */

static void eviction_examine(struct doctor *doctor)
{
    struct setting policy = info_of(doctor, "maxmemory_policy");
    if (!policy.is_known)
        policy = config_of(doctor, "maxmemory-policy");
    if (!policy.is_known)
        return;
    if (strncmp(policy.text, "allkeys-", 8) == 0)
        culex__report_add(
            doctor->report, ERROR, "redis-eviction", "CONFIG SET maxmemory-policy noeviction",
            "maxmemory-policy %s: the server deletes queues when memory is short", policy.text);
    else
        culex__report_add(doctor->report, OK, "redis-eviction", NULL,
                          "maxmemory-policy %s does not touch queues: no key of ours expires",
                          policy.text);
}

static void memory_examine(struct doctor *doctor)
{
    struct setting limit = info_of(doctor, "maxmemory");
    int64_t most = number_of(&limit), used = info_number(doctor, "used_memory");
    if (!limit.is_known)
        return;
    if (most == 0) {
        culex__report_add(doctor->report, NOTE, "redis-maxmemory",
                          "CONFIG SET maxmemory to what the machine can spare",
                          "no maxmemory: %lld MiB are used, and the system kills the server when "
                          "the machine has no more",
                          (long long)(used / 1048576));
        return;
    }
    int64_t percent = used / (most / 100 + 1);
    culex__report_add(doctor->report, percent >= 80 ? WARNING : OK, "redis-maxmemory",
                      percent >= 80 ? "raise maxmemory, or purge what is kept too long" : NULL,
                      "%lld %% of maxmemory (%lld MiB) are used; enqueues are refused at 100 %%",
                      (long long)percent, (long long)(most / 1048576));
}

/* The server forks to save; without overcommit that can fail though half of the memory is free. */
static void overcommit_examine(struct doctor *doctor)
{
    FILE *file = doctor->is_local ? fopen("/proc/sys/vm/overcommit_memory", "re") : NULL;
    int mode = file != NULL ? fgetc(file) : EOF;
    if (file != NULL)
        fclose(file);
    if (mode == '0')
        culex__report_add(doctor->report, NOTE, "redis-overcommit",
                          "sysctl vm.overcommit_memory=1 on the server's machine",
                          "vm.overcommit_memory is 0: snapshots and rewrites can fail when much "
                          "memory is in use");
}

/* --- who else --------------------------------------------------------------------------- */

static void version_examine(struct doctor *doctor)
{
    struct setting version = info_of(doctor, "redis_version");
    unsigned major, minor;
    if (sscanf(version.text, "%3u.%3u", &major, &minor) != 2)
        return;
    bool is_old = major * 100 + minor < 602;
    culex__report_add(doctor->report, is_old ? ERROR : OK, "redis-version",
                      is_old ? "upgrade to 6.2 or later" : NULL, "version %s", version.text);
}

static void role_examine(struct doctor *doctor)
{
    struct setting role = info_of(doctor, "role");
    struct setting cluster = info_of(doctor, "cluster_enabled");
    if (is_text(&role, "slave"))
        culex__report_add(doctor->report, ERROR, "redis-role",
                          "name the primary in the URL, or REPLICAOF NO ONE",
                          "the server is a replica: it takes no writes");
    else if (role.is_known)
        culex__report_add(doctor->report, OK, "redis-role", NULL, "the server is a primary");
    if (is_text(&cluster, "1"))
        culex__report_add(doctor->report, NOTE, "redis-cluster", NULL,
                          "the server is a node of a cluster: a worker serves the queues that live "
                          "on the node which its URL names, and while a slot moves they wait");
}

static void replicas_examine(struct doctor *doctor)
{
    struct setting role = info_of(doctor, "role");
    struct setting least = config_of(doctor, "min-replicas-to-write");
    int64_t replicas = info_number(doctor, "connected_slaves");
    if (!is_text(&role, "master"))
        return;
    if (replicas == 0)
        culex__report_add(doctor->report, NOTE, "redis-replicas", NULL,
                          "no replica: when this machine is lost, its runs are");
    else
        culex__report_add(doctor->report, NOTE, "redis-replicas", NULL,
                          "%lld replica(s) follow, with a delay: a failover loses the newest "
                          "enqueues and may run runs again, but records none twice",
                          (long long)replicas);
    if (!least.is_known || (replicas == 0 && number_of(&least) == 0))
        return;
    if (number_of(&least) > replicas)
        culex__report_add(doctor->report, ERROR, "redis-min-replicas",
                          "mend the replicas, or lower min-replicas-to-write",
                          "min-replicas-to-write is %s and %lld follow: writes are refused",
                          least.text, (long long)replicas);
    else if (number_of(&least) == 0)
        culex__report_add(doctor->report, WARNING, "redis-min-replicas",
                          "CONFIG SET min-replicas-to-write 1",
                          "min-replicas-to-write is 0: a primary that is cut off goes on "
                          "acknowledging what a failover will forget");
    else
        culex__report_add(doctor->report, OK, "redis-min-replicas", NULL,
                          "min-replicas-to-write is %s", least.text);
}

static void clients_examine(struct doctor *doctor)
{
    struct setting most = info_of(doctor, "maxclients");
    struct setting idle = config_of(doctor, "timeout");
    struct setting slow = config_of(doctor, "lua-time-limit");
    int64_t now = info_number(doctor, "connected_clients");
    if (most.is_known && now * 5 > number_of(&most) * 4)
        culex__report_add(doctor->report, WARNING, "redis-clients", "raise maxclients",
                          "%lld of %s connections are in use", (long long)now, most.text);
    if (idle.is_known && number_of(&idle) > 0)
        culex__report_add(doctor->report, NOTE, "redis-timeout", "CONFIG SET timeout 0",
                          "connections that are idle for %s s are closed: each enqueue after that "
                          "connects anew",
                          idle.text);
    if (slow.is_known && (number_of(&slow) == 0 || number_of(&slow) > 5000))
        culex__report_add(doctor->report, WARNING, "redis-lua-time-limit",
                          "CONFIG SET lua-time-limit 5000",
                          "lua-time-limit is %s: a script that hangs blocks the server without a "
                          "word, and SCRIPT KILL does not get through",
                          slow.text);
}

/* --- who may --------------------------------------------------------------------------- */

enum entry { ENTRY_UNKNOWN, ENTRY_GUARDED, ENTRY_OPEN };

static enum entry entry_read(const redisReply *user)
{
    const redisReply *flags = user->type == REDIS_REPLY_ARRAY && user->elements > 1 &&
                                      user->element[1]->type == REDIS_REPLY_ARRAY
                                  ? user->element[1]
                                  : NULL;
    bool is_on = false, is_free = false;
    for (size_t i = 0; flags != NULL && i < flags->elements; i++) {
        const char *flag;
        size_t len;
        if (!culex__redis_reply_text(flags, i, &flag, &len))
            continue;
        is_on = is_on || strcmp(flag, "on") == 0;
        is_free = is_free || strcmp(flag, "nopass") == 0;
    }
    if (flags == NULL)
        return ENTRY_UNKNOWN;
    return is_on && is_free ? ENTRY_OPEN : ENTRY_GUARDED;
}

/* Whether the default user lets anybody in. */
static culex_status entry_ask(struct doctor *doctor, enum entry *ret_entry, culex_error *error)
{
    static const char *const words[] = {"ACL", "GETUSER", "default"};
    redisReply *reply = NULL;
    culex_status status = ask(doctor, words, 3, &reply, error);
    *ret_entry = reply != NULL ? entry_read(reply) : ENTRY_UNKNOWN;
    if (doctor->redis->target.password == NULL && *ret_entry == ENTRY_UNKNOWN)
        *ret_entry = ENTRY_OPEN; /* we were let in ourselves */
    freeReplyObject(reply);
    return status;
}

/* Whether the server listens on a network at all: "bind" lists addresses, "-" makes them optional.
 */
static bool is_loopback_only(const struct setting *bind)
{
    char list[VALUE_SIZE];
    snprintf(list, sizeof list, "%s", bind->text);
    if (list[0] == '\0')
        return false;
    for (char *at = strtok(list, " "); at != NULL; at = strtok(NULL, " ")) {
        if (*at == '-')
            at++;
        if (strncmp(at, "127.", 4) != 0 && strcmp(at, "::1") != 0 && strcmp(at, "localhost") != 0)
            return false;
    }
    return true;
}

static culex_status access_examine(struct doctor *doctor, culex_error *error)
{
    struct setting bind = config_of(doctor, "bind");
    struct setting guard = config_of(doctor, "protected-mode");
    struct setting port = config_of(doctor, "port");
    enum entry entry;
    culex_status status = entry_ask(doctor, &entry, error);
    if (status != CULEX_OK)
        return status;
    bool is_reachable = bind.is_known && !is_loopback_only(&bind) && !is_text(&port, "0");
    if (entry == ENTRY_UNKNOWN)
        culex__report_add(doctor->report, NOTE, "redis-default-user",
                          "ACL SETUSER USER +acl|getuser",
                          "this user may not read the default user: who else gets in is unknown");
    else if (entry == ENTRY_GUARDED)
        culex__report_add(doctor->report, OK, "redis-default-user", NULL,
                          "nobody gets in without a password");
    else if (is_reachable && is_text(&guard, "no"))
        culex__report_add(doctor->report, ERROR, "redis-default-user",
                          "ACL SETUSER default off, and a user for each program: see SECURITY.md",
                          "the default user has no password and the server listens on %s without "
                          "protected mode: whoever reaches it owns every queue",
                          bind.text[0] != '\0' ? bind.text : "every address");
    else
        culex__report_add(doctor->report, doctor->is_local ? NOTE : WARNING, "redis-default-user",
                          "ACL SETUSER default off, and a user for each program: see SECURITY.md",
                          "the default user has no password: whoever can connect owns every queue");
    if (bind.is_known)
        culex__report_add(doctor->report, is_reachable ? NOTE : OK, "redis-bind", NULL,
                          is_reachable
                              ? "the server listens on %s, port %s"
                              : "the server is reached from its own machine only (bind %s, "
                                "port %s)",
                          bind.text[0] != '\0' ? bind.text : "every address", port.text);
    return CULEX_OK;
}

static void tls_examine(struct doctor *doctor)
{
    if (doctor->is_local)
        culex__report_add(doctor->report, OK, "redis-tls", NULL,
                          "the connection does not leave this machine");
    else
        culex__report_add(doctor->report, WARNING, "redis-tls",
                          "reach the server through a TLS tunnel or a private network",
                          "the connection is not encrypted: payloads and the password can be read "
                          "on the way");
}

/* --- time ------------------------------------------------------------------------------ */

static culex_status clock_examine(struct doctor *doctor, culex_error *error)
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
    culex__report_add(doctor->report, is_slow ? WARNING : OK, "redis-latency",
                      is_slow ? "move workers nearer, or raise batch" : NULL,
                      "a round trip takes %.2f ms at best", (double)best_ns / 1e6);
    int64_t apart_ms = drift_ms < 0 ? -drift_ms : drift_ms;
    culex__report_add(doctor->report,
                      apart_ms > 60000  ? WARNING
                      : apart_ms > 1000 ? NOTE
                                        : OK,
                      "redis-clock", apart_ms > 1000 ? "run a time service on both machines" : NULL,
                      "the server's clock, which alone counts, is %lld ms %s ours",
                      (long long)apart_ms, drift_ms < 0 ? "behind" : "ahead of");
    return CULEX_OK;
}

/* --- our own keys ----------------------------------------------------------------------- */

/* The key as text, for commands and for people. */
static void key_text(const struct doctor *doctor, const char *queue, size_t index, char *ret_key,
                     size_t size)
{
    snprintf(ret_key, size, "%s:{%s}:%s", doctor->redis->prefix, queue,
             culex__redis_key_names[index]);
}

static culex_status queue_expiry_examine(struct doctor *doctor, const char *queue,
                                         bool *ret_is_found, culex_error *error)
{
    char key[CULEX__REDIS_PREFIX_MAX + CULEX_QUEUE_NAME_MAX + 32];
    const char *words[] = {"PTTL", key};
    for (size_t i = 0; i < CULEX__REDIS_KEY_COUNT; i++) {
        redisReply *reply = NULL;
        key_text(doctor, queue, i, key, sizeof key);
        culex_status status = ask(doctor, words, 2, &reply, error);
        if (status != CULEX_OK || reply == NULL)
            return status;
        bool expires = reply->type == REDIS_REPLY_INTEGER && reply->integer >= 0;
        freeReplyObject(reply);
        if (expires) {
            *ret_is_found = true;
            culex__report_add(doctor->report, ERROR, "redis-expire",
                              "PERSIST the key, and find out who called EXPIRE",
                              "the key %s expires: the runs in it will be lost", key);
        }
    }
    return CULEX_OK;
}

static culex_status expiry_examine(struct doctor *doctor, culex_error *error)
{
    char **names = NULL;
    bool is_found = false;
    size_t count = 0;
    culex_error scratch;
    /* Not permitted, or on another node: then there is nothing to say. */
    if (culex__redis_queue_names(&doctor->redis->base, &names, &scratch) != CULEX_OK)
        return CULEX_OK;
    culex_status status = CULEX_OK;
    for (; names[count] != NULL && count < QUEUES_MAX && status == CULEX_OK; count++)
        status = queue_expiry_examine(doctor, names[count], &is_found, error);
    free(names);
    if (status == CULEX_OK && count > 0 && !is_found)
        culex__report_add(doctor->report, OK, "redis-expire", NULL,
                          "no key of %zu queue(s) expires", count);
    return status;
}

/* --- our own rights --------------------------------------------------------------------- */

/* Which queue hardly matters; one that exists is the likelier to be permitted. */
static void queue_choose(struct doctor *doctor, char *ret_name, size_t size)
{
    char **names = NULL;
    culex_error scratch;
    bool is_known = culex__redis_queue_names(&doctor->redis->base, &names, &scratch) == CULEX_OK &&
                    names[0] != NULL;
    snprintf(ret_name, size, "%s", is_known ? names[0] : "doctor");
    free(names);
}

static void rights_examine(struct doctor *doctor)
{
    static const struct {
        enum culex__redis_level level;
        enum culex_severity severity;
        const char *text;
    } rows[] = {{CULEX__REDIS_PRODUCES, ERROR, "this user cannot enqueue: %s"},
                {CULEX__REDIS_WORKS, NOTE, "this user may enqueue and take no runs: %s"},
                {CULEX__REDIS_REPAIRS, OK, "this user may enqueue and run, but not repair: %s"}};
    struct setting role = info_of(doctor, "role");
    char queue[CULEX_QUEUE_NAME_MAX + 1];
    culex_error refusal = {0};
    if (is_text(&role, "slave"))
        return; /* takes no writes from anybody, which has been said */
    queue_choose(doctor, queue, sizeof queue);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (culex__redis_try(doctor->redis, queue, rows[i].level, &refusal) == CULEX_OK)
            continue;
        culex__report_add(doctor->report, rows[i].severity, "redis-rights",
                          "ACL SETUSER as SECURITY.md does for its programs", rows[i].text,
                          refusal.text);
        return;
    }
    culex__report_add(doctor->report, OK, "redis-rights", NULL,
                      "this user may enqueue, run and repair");
}

/* --- the whole -------------------------------------------------------------------------- */

static void permissions_examine(struct doctor *doctor)
{
    if (doctor->info == NULL)
        culex__report_add(doctor->report, NOTE, "redis-info", "ACL SETUSER USER +info",
                          "this user may not call INFO: version, role and memory are unknown");
    if (doctor->is_config_denied)
        culex__report_add(doctor->report, NOTE, "redis-config", "ACL SETUSER USER +config|get",
                          "this user may not call CONFIG GET: persistence and limits are unknown");
}

static bool is_local(const struct culex_address *address)
{
    return address->path != NULL || strncmp(address->host, "127.", 4) == 0 ||
           strcmp(address->host, "::1") == 0 || strcmp(address->host, "localhost") == 0;
}

static void settings_examine(struct doctor *doctor)
{
    struct durability durability;
    durability_read(doctor, &durability);
    promise_make(doctor, &durability);
    version_examine(doctor);
    role_examine(doctor);
    durability_examine(doctor, &durability);
    disk_examine(doctor);
    replicas_examine(doctor);
    eviction_examine(doctor);
    memory_examine(doctor);
    overcommit_examine(doctor);
    clients_examine(doctor);
    tls_examine(doctor);
}

culex_status culex__redis_doctor(struct culex_store *base, struct culex_report *report,
                                 culex_error *error)
{
    static const char *const words[] = {"INFO"};
    struct culex__redis *redis = culex__redis_of(base);
    struct doctor doctor = {
        .redis = redis, .report = report, .is_local = is_local(&redis->target.address)};
    culex_error scratch;
    if (error == NULL)
        error = &scratch;
    doctor.error = error;
    culex_status status = ask(&doctor, words, 1, &doctor.info, error);
    if (status != CULEX_OK)
        return status;
    settings_examine(&doctor);
    status = access_examine(&doctor, error);
    if (status == CULEX_OK)
        status = doctor.failed;
    if (status == CULEX_OK)
        status = clock_examine(&doctor, error);
    if (status == CULEX_OK)
        status = expiry_examine(&doctor, error);
    if (status == CULEX_OK)
        rights_examine(&doctor);
    permissions_examine(&doctor);
    freeReplyObject(doctor.info);
    return status;
}
