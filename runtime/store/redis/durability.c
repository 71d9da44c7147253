/* store/redis/durability.c - what of an acknowledged run survives a crash of the server. */
#include "store/redis/doctor.h"

struct durability {
    struct culex__redis_setting appendonly, appendfsync, save;
};

static const char *promise_of(const struct durability *d)
{
    if (culex__redis_fact_is(&d->appendonly, "yes")) {
        if (culex__redis_fact_is(&d->appendfsync, "always"))
            return "An enqueue that returned OK survives a kill of Redis, a crash of the system "
                   "and "
                   "a power cut, on a disk that does not lie";
        if (culex__redis_fact_is(&d->appendfsync, "everysec"))
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

static void durability_read(struct culex__redis_doctor *doctor, struct durability *ret)
{
    ret->appendonly = culex__redis_fact_config(doctor, "appendonly");
    ret->appendfsync = culex__redis_fact_config(doctor, "appendfsync");
    ret->save = culex__redis_fact_config(doctor, "save");
    struct culex__redis_setting enabled = culex__redis_fact_info(doctor, "aof_enabled");
    if (!ret->appendonly.is_known && enabled.is_known) {
        ret->appendonly.is_known = true;
        strcpy(ret->appendonly.text, culex__redis_fact_is(&enabled, "1") ? "yes" : "no");
    }
}

static void promise_make(struct culex__redis_doctor *doctor, const struct durability *durability)
{
    struct culex__redis_setting role = culex__redis_fact_info(doctor, "role");
    int64_t replicas = culex__redis_fact_number(doctor, "connected_slaves");
    if (culex__redis_fact_is(&role, "slave"))
        culex__report_promise(doctor->report,
                              "Nothing can be enqueued or run here: this server is a replica.");
    else
        culex__report_promise(doctor->report, "%s%s.", promise_of(durability),
                              replicas > 0 ? "; a failover loses what its replicas had not received"
                                           : "");
}

static void durability_examine(struct culex__redis_doctor *doctor, const struct durability *d)
{
    struct culex_report *report = doctor->report;
    if (!d->appendonly.is_known)
        return;
    if (culex__redis_fact_is(&d->appendonly, "yes")) {
        bool is_weak = culex__redis_fact_is(&d->appendfsync, "no");
        culex__report_add(report, CULEX_SEVERITY_OK, "redis-appendonly", NULL,
                          "the append-only file is on");
        if (d->appendfsync.is_known)
            culex__report_add(report, is_weak ? CULEX_SEVERITY_WARNING : CULEX_SEVERITY_OK,
                              "redis-appendfsync",
                              is_weak ? "CONFIG SET appendfsync everysec, or always" : NULL,
                              "appendfsync is %s", d->appendfsync.text);
        return;
    }
    bool has_snapshots = d->save.is_known && d->save.text[0] != '\0';
    culex__report_add(report, CULEX_SEVERITY_WARNING, "redis-appendonly",
                      "CONFIG SET appendonly yes, then CONFIG REWRITE",
                      "the append-only file is off: a restart loses %s",
                      has_snapshots ? "runs since the last snapshot" : "runs");
    if (d->save.is_known)
        culex__report_add(report, CULEX_SEVERITY_NOTE, "redis-save", NULL,
                          has_snapshots ? "snapshots are taken by \"%s\"" : "no snapshots either%s",
                          d->save.text);
}

static void disk_examine(struct culex__redis_doctor *doctor)
{
    struct culex__redis_setting aof = culex__redis_fact_info(doctor, "aof_last_write_status");
    struct culex__redis_setting rdb = culex__redis_fact_info(doctor, "rdb_last_bgsave_status");
    struct culex__redis_setting rewrite =
        culex__redis_fact_info(doctor, "aof_last_bgrewrite_status");
    struct culex__redis_setting lax = culex__redis_fact_config(doctor, "no-appendfsync-on-rewrite");
    struct culex__redis_setting enabled = culex__redis_fact_info(doctor, "aof_enabled");
    if (culex__redis_fact_is(&aof, "err"))
        culex__report_add(doctor->report, CULEX_SEVERITY_ERROR, "redis-aof-write",
                          "look into the server's log, make room on its disk",
                          "the last write to the append-only file failed: writes are refused");
    if (culex__redis_fact_is(&rdb, "err"))
        culex__report_add(doctor->report, CULEX_SEVERITY_ERROR, "redis-bgsave",
                          "look into the server's log, make room on its disk",
                          "the last snapshot failed: writes may be refused (MISCONF)");
    if (culex__redis_fact_is(&rewrite, "err"))
        culex__report_add(doctor->report, CULEX_SEVERITY_WARNING, "redis-aof-rewrite",
                          "look into the server's log, make room on its disk",
                          "the last rewrite of the append-only file failed: it will grow");
    else if (culex__redis_fact_number(doctor, "aof_rewrite_in_progress") == 1)
        culex__report_add(doctor->report, CULEX_SEVERITY_NOTE, "redis-aof-rewrite", NULL,
                          "the append-only file is being rewritten just now");
    if (culex__redis_fact_is(&lax, "yes") && culex__redis_fact_is(&enabled, "1"))
        culex__report_add(doctor->report, CULEX_SEVERITY_WARNING, "redis-appendfsync-on-rewrite",
                          "CONFIG SET no-appendfsync-on-rewrite no",
                          "nothing is synced while the append-only file is rewritten: a power cut "
                          "then loses more than appendfsync says");
}

static void replicas_examine(struct culex__redis_doctor *doctor)
{
    struct culex__redis_setting role = culex__redis_fact_info(doctor, "role");
    struct culex__redis_setting least = culex__redis_fact_config(doctor, "min-replicas-to-write");
    int64_t replicas = culex__redis_fact_number(doctor, "connected_slaves");
    if (!culex__redis_fact_is(&role, "master"))
        return;
    if (replicas == 0)
        culex__report_add(doctor->report, CULEX_SEVERITY_NOTE, "redis-replicas", NULL,
                          "no replica: when this machine is lost, its runs are");
    else
        culex__report_add(doctor->report, CULEX_SEVERITY_NOTE, "redis-replicas", NULL,
                          "%lld replica(s) follow, with a delay: a failover loses the newest "
                          "enqueues and may run runs again, but records none twice",
                          (long long)replicas);
    if (!least.is_known || (replicas == 0 && culex__redis_fact_int(&least) == 0))
        return;
    if (culex__redis_fact_int(&least) > replicas)
        culex__report_add(doctor->report, CULEX_SEVERITY_ERROR, "redis-min-replicas",
                          "mend the replicas, or lower min-replicas-to-write",
                          "min-replicas-to-write is %s and %lld follow: writes are refused",
                          least.text, (long long)replicas);
    else if (culex__redis_fact_int(&least) == 0)
        culex__report_add(doctor->report, CULEX_SEVERITY_WARNING, "redis-min-replicas",
                          "CONFIG SET min-replicas-to-write 1",
                          "min-replicas-to-write is 0: a primary that is cut off goes on "
                          "acknowledging what a failover will forget");
    else
        culex__report_add(doctor->report, CULEX_SEVERITY_OK, "redis-min-replicas", NULL,
                          "min-replicas-to-write is %s", least.text);
}

void culex__redis_examine_durability(struct culex__redis_doctor *doctor)
{
    struct durability durability;
    durability_read(doctor, &durability);
    promise_make(doctor, &durability);
    durability_examine(doctor, &durability);
    disk_examine(doctor);
    replicas_examine(doctor);
}
