/* store/redis/access.c - who gets at the queues of a server, and what this user may do there. */
#include "store/redis/doctor.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"

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
static culex_status entry_ask(struct culex__redis_doctor *doctor, enum entry *ret_entry,
                              culex_error *error)
{
    static const char *const words[] = {"ACL", "GETUSER", "default"};
    redisReply *reply = NULL;
    culex_status status = culex__redis_fact_ask(doctor, words, 3, &reply, error);
    *ret_entry = reply != NULL ? entry_read(reply) : ENTRY_UNKNOWN;
    if (doctor->redis->target.password == NULL && *ret_entry == ENTRY_UNKNOWN)
        *ret_entry = ENTRY_OPEN; /* we were let in ourselves */
    freeReplyObject(reply);
    return status;
}

/* Whether the server listens on a network at all: "bind" lists addresses, "-" makes them optional.
 */
static bool is_loopback_only(const struct culex__redis_setting *bind)
{
    char list[CULEX__REDIS_SETTING_SIZE];
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

culex_status culex__redis_examine_access(struct culex__redis_doctor *doctor, culex_error *error)
{
    struct culex__redis_setting bind = culex__redis_fact_config(doctor, "bind");
    struct culex__redis_setting guard = culex__redis_fact_config(doctor, "protected-mode");
    struct culex__redis_setting port = culex__redis_fact_config(doctor, "port");
    enum entry entry;
    culex_status status = entry_ask(doctor, &entry, error);
    if (status != CULEX_OK)
        return status;
    bool is_reachable =
        bind.is_known && !is_loopback_only(&bind) && !culex__redis_fact_is(&port, "0");
    if (entry == ENTRY_UNKNOWN)
        culex__report_add(doctor->report, CULEX_SEVERITY_NOTE, "redis-default-user",
                          "ACL SETUSER USER +acl|getuser",
                          "this user may not read the default user: who else gets in is unknown");
    else if (entry == ENTRY_GUARDED)
        culex__report_add(doctor->report, CULEX_SEVERITY_OK, "redis-default-user", NULL,
                          "nobody gets in without a password");
    else if (is_reachable && culex__redis_fact_is(&guard, "no"))
        culex__report_add(doctor->report, CULEX_SEVERITY_ERROR, "redis-default-user",
                          "ACL SETUSER default off, and a user for each program: see SECURITY.md",
                          "the default user has no password and the server listens on %s without "
                          "protected mode: whoever reaches it owns every queue",
                          bind.text[0] != '\0' ? bind.text : "every address");
    else
        culex__report_add(doctor->report,
                          doctor->is_local ? CULEX_SEVERITY_NOTE : CULEX_SEVERITY_WARNING,
                          "redis-default-user",
                          "ACL SETUSER default off, and a user for each program: see SECURITY.md",
                          "the default user has no password: whoever can connect owns every queue");
    if (bind.is_known)
        culex__report_add(doctor->report, is_reachable ? CULEX_SEVERITY_NOTE : CULEX_SEVERITY_OK,
                          "redis-bind", NULL,
                          is_reachable
                              ? "the server listens on %s, port %s"
                              : "the server is reached from its own machine only (bind %s, "
                                "port %s)",
                          bind.text[0] != '\0' ? bind.text : "every address", port.text);
    return CULEX_OK;
}

void culex__redis_examine_tls(struct culex__redis_doctor *doctor)
{
    if (doctor->is_local)
        culex__report_add(doctor->report, CULEX_SEVERITY_OK, "redis-tls", NULL,
                          "the connection does not leave this machine");
    else
        culex__report_add(doctor->report, CULEX_SEVERITY_WARNING, "redis-tls",
                          "reach the server through a TLS tunnel or a private network",
                          "the connection is not encrypted: payloads and the password can be read "
                          "on the way");
}

/* Which queue hardly matters; one that exists is the likelier to be permitted. */
static void queue_choose(struct culex__redis_doctor *doctor, char *ret_name, size_t size)
{
    char **names = NULL;
    culex_error scratch;
    bool is_known =
        culex__redis_queues(&doctor->redis->base, &names, &scratch) == CULEX_OK && names[0] != NULL;
    snprintf(ret_name, size, "%s", is_known ? names[0] : "doctor");
    free(names);
}

/* Who may do anything is refused there too. The name comes from the server: an error cleans it. */
static void layout_tell(struct culex__redis_doctor *doctor, const char *queue,
                        const culex_error *refusal)
{
    culex_error told;
    culex__fail(&told, refusal->code,
                "queue %s is laid out in another way, so that this user's rights are not known: %s",
                queue, refusal->text);
    culex__report_add(doctor->report, CULEX_SEVERITY_ERROR, "redis-layout",
                      "let programs of that version empty the queue, or choose another prefix",
                      "%s", told.text);
}

void culex__redis_examine_rights(struct culex__redis_doctor *doctor)
{
    static const struct {
        enum culex__redis_level level;
        enum culex_severity severity;
        const char *text;
    } rows[] = {
        {CULEX__REDIS_PRODUCES, CULEX_SEVERITY_ERROR, "this user cannot enqueue: %s"},
        {CULEX__REDIS_WORKS, CULEX_SEVERITY_NOTE, "this user may enqueue and take no runs: %s"},
        {CULEX__REDIS_REPAIRS, CULEX_SEVERITY_OK,
         "this user may enqueue and run, but not repair: %s"}};
    struct culex__redis_setting role = culex__redis_fact_info(doctor, "role");
    char queue[CULEX_QUEUE_NAME_MAX + 1];
    culex_error refusal = {0};
    if (culex__redis_fact_is(&role, "slave"))
        return; /* takes no writes from anybody, which has been said */
    queue_choose(doctor, queue, sizeof queue);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (culex__redis_try(doctor->redis, queue, rows[i].level, &refusal) == CULEX_OK)
            continue;
        if (refusal.code == CULEX_EVERSION)
            layout_tell(doctor, queue, &refusal);
        else
            culex__report_add(doctor->report, rows[i].severity, "redis-rights",
                              "ACL SETUSER as SECURITY.md does for its programs", rows[i].text,
                              refusal.text);
        return;
    }
    culex__report_add(doctor->report, CULEX_SEVERITY_OK, "redis-rights", NULL,
                      "this user may enqueue, run and repair");
}
