#include "console/shapes.h"

#include <stddef.h>

#define END                                                                                        \
    {                                                                                              \
        NULL, NULL, NULL                                                                           \
    }
#define MS "Milliseconds since 1970, by the store's clock"

static const struct shape_member error_members[] = {{"error", "Failure", "What is wrong."}, END};
static const struct shape_member failure_members[] = {
    {"code", "string", "A word for programs, as not_found."},
    {"message", "string", "For people: what is wrong, and where."},
    {"param", "string?", "The param, parameter or member at fault."},
    {"hint", "string?", "What to do."},
    {"run", "string?", "The id of the run that is in the way."},
    END};
static const struct shape_member health_members[] = {
    {"status", "string", "ok."},
    {"version", "string", "Of Culex."},
    {"read_only", "boolean", "Nothing can be changed through this server."},
    {"at_work", "integer", "Requests that are being answered, those that wait and this one too."},
    {"role", "string", "Of whoever asks: read, enqueue, work or operate."},
    END};
static const struct shape_member totals_members[] = {
    {"enqueued", "integer", "Runs since the queue began."},
    {"done", "integer", "Runs that succeeded."},
    {"failed", "integer", "Attempts that failed."},
    {"crashed", "integer", "Attempts whose process died."},
    {"lost", "integer", "Attempts whose worker vanished."},
    {"dead", "integer", "Runs that died."},
    {"cancelled", "integer", "Runs that were cancelled."},
    {"stale", "integer", "Results that came too late, and were refused."},
    END};
static const struct shape_member queue_members[] = {
    {"queue", "string", "Its name."},
    {"scheduled", "integer", "Runs that wait for their time."},
    {"waiting", "integer", "Runs that wait for a worker."},
    {"active", "integer", "Runs at work."},
    {"done", "integer", "Runs that succeeded and are still kept."},
    {"dead", "integer", "Runs that failed for good."},
    {"cancelled", "integer", "Cancelled runs that are still kept."},
    {"parked", "integer", "Of those that wait: held back by a limit or a need."},
    {"totals", "Totals", "Since the queue began."},
    {"paused", "boolean", "Workers take no more of it."},
    {"paused_until_ms", "integer", MS ", 0 for no end."},
    {"capacity", "integer", "Most runs that have not ended, 0 for no bound."},
    {"is_full", "boolean", "It takes in no more."},
    {"dead_capacity", "integer", "Most dead runs that are kept, 0 for no bound."},
    {"now_ms", "integer", MS "."},
    {"oldest_waiting_ms", "integer?",
     "How long the oldest run has waited that was never begun, of those that are next."},
    {"workers", "integer", "That are alive and serve it."},
    END};
static const struct shape_member queues_members[] = {
    {"queues", "[Queue]", "In alphabetical order."}, END};
static const struct shape_member pause_members[] = {
    {"for", "string?", "Go on by itself after this time, as 90s, 5m or 2h."}, END};
static const struct shape_member bulk_members[] = {
    {"action", "string", "retry (dead runs), delete (done, dead and cancelled ones) or cancel."},
    {"states", "string?", "Of these states, with commas; without it of all that the action takes."},
    {"job", "string?", "Of this job, as send_email or shop.send_email."},
    {"tag", "string?", "That have this tag."},
    {"error", "string?", "Whose last error has this text in it."},
    {"since", "string?", "Enqueued then or later: 2h (ago), or 2026-11-30T09:30:00Z."},
    {"before", "string?", "Enqueued before that."},
    {"dry", "boolean?", "Nothing is done: counts what would be."},
    {"limit", "integer?", "Look at no more runs than these, 1 to 1000."},
    {"cursor", "string?", "next_cursor of the answer before, with the same other members."},
    END};
static const struct shape_member bulk_counts_members[] = {
    {"looked", "integer", "At so many runs of the states."},
    {"matched", "integer", "Of these: are meant."},
    {"done", "integer", "Of these; one at work that is asked to stop counts. 0 of a dry one."},
    {"skipped", "integer", "Had changed by then, or another run has their unique key."},
    {"next_cursor", "string?", "For the next request; missing at the end."},
    END};
static const struct shape_member nothing_members[] = {END};

#define RUN_MEMBERS                                                                                \
    {"id", "string", "Its id."}, {"queue", "string", "Its queue."},                                \
        {"job", "string", "The stored name of its job."},                                          \
        {"state", "string", "scheduled, waiting, active, done, dead or cancelled."},               \
        {"priority", "integer", "0 to 9."},                                                        \
        {"attempt", "integer", "Times a worker was given it."},                                    \
        {"attempts_max", "integer", "Failures after which it is dead."},                           \
        {"failures", "integer", "Times its handler failed."},                                      \
        {"crashes", "integer", "Times its process died."},                                         \
        {"losses", "integer", "Times its worker vanished."}, {"created_at_ms", "integer", MS "."}, \
        {"at_ms", "integer", "When it is due, its lease ends or it is forgotten."},                \
        {"expires_at_ms", "integer", MS ", 0 for never."},                                         \
        {"cancel_requested", "boolean", "It is asked to stop."},                                   \
        {"fingerprint", "string", "Of the schema that encoded its params."},                       \
    {                                                                                              \
        "tags", "[string]", "Its tags."                                                            \
    }

static const struct shape_member listed_members[] = {RUN_MEMBERS, END};
static const struct shape_member line_members[] = {
    {"at_ms", "integer", MS "."},
    {"attempt", "integer", "Of this attempt."},
    {"level", "integer", "1 error, 2 warning, 3 info, 4 debug."},
    {"text", "string", "What was logged."},
    END};
static const struct shape_member run_members[] = {
    RUN_MEMBERS,
    {"error", "string", "Of the last failure, \"\" for none."},
    {"progress", "integer", "In percent, -1 when nothing was told."},
    {"progress_text", "string", "Beside it."},
    {"traceparent", "string?", "Of whoever enqueued it with a trace."},
    {"schema", "string?", "Fingerprint of the schema by which the values are shown."},
    {"schema_is_own", "boolean?", "It is that of this run."},
    {"param_values", "object?", "Params by name, without what is secret or encrypted."},
    {"params_hidden", "[string]?", "Names of params that are left out."},
    {"result_values", "object?", "The result."},
    {"result_hidden", "[string]?", "What of it is left out."},
    {"log", "[LogLine]", "Lines that the run keeps."},
    END};
static const struct shape_member runs_members[] = {
    {"runs", "[ListedRun]", "Of one state in its order, of several in none."},
    {"next_cursor", "string?", "For the next page; missing at the end."},
    END};
static const struct shape_member end_members[] = {
    {"end", "string", "pending when the time was over, else done, dead or cancelled."},
    {"run", "Run?", "As it ended."},
    END};
static const struct shape_member state_members[] = {
    {"id", "string", "Its id."},
    {"queue", "string", "Its queue."},
    {"state", "string", "What it is now; active for one that is asked to stop; or deleted."},
    END};

#define NEW_RUN_MEMBERS                                                                            \
    {"params", "object?", "By their names in the payload, as the job's schema has them."},         \
        {"delay", "string?", "So long from now, as 90s, 5m or 2h."},                               \
        {"at", "string?", "At this time, to come: 2026-11-30T09:30:00Z."},                         \
        {"idempotency_key", "string?", "Within a day the queue takes one run for a key."},         \
        {"tags", "[string]?", "In place of the schema's, at most 16."},                            \
        {"traceparent", "string?", "The trace that it is of, in place of the request's header."},  \
        {"tracestate", "string?", "Beside it: at most 512 bytes of printable ASCII."},             \
    {                                                                                              \
        "priority", "integer?", "0 to 9, the greater the sooner."                                  \
    }

static const struct shape_member new_run_members[] = {NEW_RUN_MEMBERS, END};
static const struct shape_member new_named_members[] = {NEW_RUN_MEMBERS,
                                                        {"queue", "string", "Where it goes."},
                                                        {"job", "string", "Of which job it is."},
                                                        END};
static const struct shape_member enqueued_members[] = {
    {"id", "string", "Of the run; of an earlier one unless the outcome is new."},
    {"queue", "string", "Its queue."},
    {"job", "string", "The stored name of its job."},
    {"outcome", "string", "new, duplicate (of the key), kept or replaced (unique)."},
    END};
static const struct shape_member result_members[] = {
    {"id", "string?", "Of the run."},
    {"queue", "string?", "Its queue."},
    {"job", "string?", "The stored name of its job."},
    {"outcome", "string?", "As of Enqueued."},
    {"error", "Failure?", "In place of the others: why it did not come in."},
    END};
static const struct shape_member enqueued_many_members[] = {
    {"enqueued", "integer", "How many came in."},
    {"failed", "integer", "How many did not."},
    {"results", "[Result]", "Of each, in the order in which they were sent."},
    END};
static const struct shape_member claim_members[] = {
    {"jobs", "[string]?", "Stored names of those that are wanted; all without it. At most 64."},
    {"lease", "string?", "How long the run is held without a heartbeat, as 5m; 30s without it."},
    {"wait", "string?", "For a run to come, at most 60s; none without it."},
    {"offers", "string?", "What there is for runs that need something, as gpu:1."},
    END};
static const struct shape_member held_members[] = {
    {"token", "string", "Of the lease: for the paths below /claims."},
    {"id", "string", "Of the run."},
    {"queue", "string", "Its queue."},
    {"job", "string", "The stored name of its job."},
    {"attempt", "integer", "Counted from 1: times that it was claimed, also when it went back."},
    {"attempts_max", "integer", "Failures and crashes after which it is dead."},
    {"failures", "integer", "Attempts before that failed."},
    {"crashes", "integer", "Attempts before whose process died."},
    {"losses", "integer", "Attempts before that ended without a word."},
    {"created_ms", "integer", MS "."},
    {"claimed_ms", "integer", MS "."},
    {"lease_ends_ms", "integer", MS "."},
    {"times_out_ms", "integer?", MS ": when the job's timeout is over."},
    {"traceparent", "string?", "The trace that the run is of: for what the worker asks of others."},
    {"tracestate", "string?", "Beside it."},
    {"params", "object?", "Secret ones too. Missing where what is stored is no object."},
    {"is_by_schema", "boolean", "Else params are as stored, without defaults."},
    END};
static const struct shape_member claimed_members[] = {
    {"claim", "Held!", "The run; null when none came."}, END};
static const struct shape_member beat_members[] = {
    {"lease", "string?", "From now, as 5m; as long as the claim's was without it."},
    {"progress", "integer?", "In percent."},
    {"progress_text", "string?", "Beside it."},
    END};
static const struct shape_member pulse_members[] = {
    {"order", "string", "go_on; cancel: end it; time_out: its time is over, fail it."},
    {"lease_ends_ms", "integer", MS "."},
    END};
static const struct shape_member completion_members[] = {
    {"result", "object?", "As the job's schema has it."}, END};
static const struct shape_member failing_members[] = {
    {"error", "string?", "What went wrong."},
    {"final", "boolean?", "Trying again is pointless."},
    {"delay", "string?", "Until the next attempt; as the job's retry says without it."},
    END};
static const struct shape_member release_members[] = {
    {"delay", "string?", "Until others find it; at once without it."}, END};
static const struct shape_member told_members[] = {
    {"told", "string", "completed, failed or released."}, END};
static const struct shape_member schema_members[] = {
    {"queue", "string", "That has it."},
    {"job", "string", "The job's stored name."},
    {"fingerprint", "string", "Of this version of its params."},
    {"digest", "string", "Of its text: of one version of params there may be several."},
    {"told_ms", "integer", "When somebody who has the job told it last."},
    {"bytes", "integer", "Of its text."},
    END};
static const struct shape_member schemas_members[] = {
    {"schemas", "[Schema]", "Of a job the newest told first."}, END};
static const struct shape_member live_members[] = {
    {"job", "string", "The job's stored name."},
    {"fingerprint", "string", "Of the version of its params."},
    {"queue", "string", "That has the runs."},
    {"runs", "integer", "That may still be executed, dead ones too."},
    {"oldest_ms", "integer", "When the oldest one was enqueued."},
    {"scheduled", "integer", "Of them."},
    {"waiting", "integer", "Of them."},
    {"active", "integer", "Of them."},
    {"done", "integer", "Beside them."},
    {"dead", "integer", "Of them."},
    {"cancelled", "integer", "Beside them."},
    END};
static const struct shape_member live_schemas_members[] = {
    {"schemas", "[LiveSchema]", "In the order of jobs and fingerprints."}, END};
static const struct shape_member schedule_members[] = {
    {"schedule", "string", "The job's stored name."},
    {"last_ms", "integer",
     "Its newest tick, also one that was left out; when it was begun, before the first."},
    {"next_ms", "integer", "The next one, 0 when no worker has told it."},
    {"newest", "string?", "The id of its newest run."},
    {"paused", "boolean", "Its ticks pass without a run."},
    END};
static const struct shape_member schedules_queue_members[] = {
    {"queue", "string", "That has them."},
    {"schedules", "[Schedule]", "In alphabetical order."},
    END};
static const struct shape_member schedules_members[] = {
    {"queues", "[SchedulesOfQueue]", "In alphabetical order."}, END};
static const struct shape_member schedule_run_members[] = {
    {"queue", "string", "That has it."},
    {"schedule", "string", "The job's stored name."},
    {"id", "string", "Of the run."},
    END};
static const struct shape_member forgotten_members[] = {
    {"queue", "string", "That had it."},
    {"schedule", "string", "The job's stored name."},
    {"workers_alive", "integer?",
     "That serve the queue: one that has the job begins it anew, and not paused. Missing where "
     "they could not be counted."},
    END};
static const struct shape_member bucket_members[] = {
    {"upto_us", "integer", "Microseconds: the greatest time of the bucket."},
    {"count", "integer", "Times that were no greater, and greater than the greatest before it."},
    END};
static const struct shape_member spread_members[] = {
    {"count", "integer", "Times that were measured; of none the others are 0."},
    {"p50_us", "integer", "Microseconds: half of the times are no greater."},
    {"p90_us", "integer", "Nine of ten."},
    {"p99_us", "integer", "99 of a hundred."},
    {"max_us", "integer", "All of them."},
    {"buckets", "[Bucket]", "The histogram, four buckets an octave, without those of no time."},
    END};
static const struct shape_member figures_members[] = {
    {"queue", "string", "Of which queue."},
    {"job", "string!", "Its name; null of all jobs, \"\" of those that had no room."},
    {"done", "integer", "Attempts that succeeded."},
    {"failed", "integer", "Attempts that failed, or took too long."},
    {"crashed", "integer", "Attempts whose process died."},
    {"lost", "integer", "Attempts lost with what runs handlers."},
    {"dead", "integer", "Runs that died by them."},
    {"cancelled", "integer", "Runs that were cancelled while they were at work."},
    {"wait", "Spread", "From when a run was due until its handler began."},
    {"run", "Spread", "Of the handler."},
    END};
static const struct shape_member figures_queue_members[] = {
    {"queue", "string", "Its name."},
    {"hours", "integer", "That are counted, the present one included."},
    {"all", "Figures", "Of all its jobs."},
    {"jobs", "[Figures]", "Of each that had an end, in alphabetical order."},
    END};
static const struct shape_member batch_members[] = {
    {"queue", "string", "Its queue."},
    {"id", "string", "Its id."},
    {"added", "integer", "Members that there ever were."},
    {"done", "integer", "Of these."},
    {"dead", "integer", "Of these."},
    {"cancelled", "integer", "Of these, or deleted."},
    {"open", "integer", "Of these, still to end."},
    {"is_closed", "boolean", "Those were all."},
    {"is_ended", "boolean", "It is closed, and all have ended."},
    {"is_expired", "boolean", "Nobody has closed it in time."},
    END};
static const struct shape_member limit_value_members[] = {
    {"count", "integer", "Runs at a time, or runs that begin in per_ms; 0: it has no number."},
    {"per_ms", "integer", "Of a rate, else 0."},
    {"burst", "integer", "Of a rate: most that begin at once after a rest; else 0."},
    END};
static const struct shape_member limit_members[] = {
    {"limit", "string", "Its name in the queue, as JOB:WORD."},
    {"kind", "string", "concurrency, rate, fair or needs."},
    {"declared", "LimitValue", "By the newest run that was enqueued."},
    {"in_force", "LimitValue", "What was set, or else what is declared."},
    {"is_set", "boolean", "It was set by hand."},
    {"keys", "integer", "That it counts apart by, and of which something is kept."},
    {"active", "integer", "Runs at work, of all keys."},
    {"parked", "integer", "Runs that stand aside because it has no room for them."},
    END};
static const struct shape_member limits_queue_members[] = {
    {"queue", "string", "That has them."}, {"limits", "[Limit]", "In alphabetical order."}, END};
static const struct shape_member limits_members[] = {
    {"queues", "[LimitsOfQueue]", "In alphabetical order."}, END};
static const struct shape_member limit_key_members[] = {
    {"key", "string", "The values that it counts by, with '+' between them; \"\" without any."},
    {"active", "integer", "Runs at work."},
    {"parked", "integer", "Runs that stand aside."},
    {"next_ms", "integer", "Of a rate: from now until the next run may begin, 0 when one may."},
    END};
static const struct shape_member limit_keys_members[] = {
    {"keys", "[LimitKey]", "In the order of their bytes."},
    {"next_cursor", "string?", "For the next page; missing at the end."},
    END};
static const struct shape_member new_limit_members[] = {
    {"count", "integer", "Runs, 1 to 1000000."},
    {"per", "string?", "Of a rate: in so long, as 1m; as it is without it."},
    {"burst", "integer?", "Of a rate: most at once after a rest; as it is without it."},
    END};
static const struct shape_member served_members[] = {
    {"name", "string", "Of the queue."},
    {"weight", "integer", "Beside its other queues."},
    {"most", "integer", "Runs of it at a time, 0 for no bound."},
    END};
static const struct shape_member at_work_members[] = {
    {"id", "string", "Of the run."},
    {"job", "string", "Its job."},
    {"queue", "string", "Its queue."},
    {"since_ms", "integer", "When it was claimed."},
    END};
static const struct shape_member worker_members[] = {
    {"id", "string", "Of this life of the worker."},
    {"name", "string", "In the store and in the log."},
    {"host", "string", "Where it runs."},
    {"pid", "integer", "There."},
    {"version", "string", "Of Culex."},
    {"started_ms", "integer", MS "."},
    {"told_ms", "integer", "When it was heard of last."},
    {"isolation", "string", "none, process or job."},
    {"offers", "string", "What it has of what jobs may need."},
    {"concurrency", "integer", "Runs at a time, now."},
    {"concurrency_max", "integer", "And as it was started."},
    {"is_quiet", "boolean", "It claims nothing."},
    {"is_stopping", "boolean", "It ends."},
    {"is_pending", "boolean", "It has an order that it has not taken up."},
    {"memory_bytes", "integer", "Of the worker."},
    {"children_bytes", "integer", "Of its processes for handlers."},
    {"done", "integer", "Runs since it started."},
    {"failed", "integer", "Attempts since it started."},
    {"queues", "[ServedQueue]", "At most 64."},
    {"queues_total", "integer", "That it serves."},
    {"runs", "[RunAtWork]", "At most 64."},
    {"runs_total", "integer", "At work now."},
    END};
static const struct shape_member workers_members[] = {{"workers", "[Worker]", "By their names."},
                                                      END};
#define QUIET "true: it claims nothing more, and finishes what it has; false: it goes on."
#define STOP  "true: it ends as by SIGTERM, with its grace for runs at work; never taken back."
static const struct shape_member order_members[] = {
    {"quiet", "boolean?", QUIET},
    {"stop", "boolean?", STOP},
    {"concurrency", "integer?",
     "Runs at a time, 1 to the worker's concurrency_max, 1024 at the most."},
    END};
static const struct shape_member ordered_members[] = {
    {"worker", "string", "Its id."},
    {"quiet", "boolean?", QUIET},
    {"stop", "boolean?", STOP},
    {"concurrency", "integer?", "Runs at a time."},
    END};
static const struct shape_member tag_members[] = {
    {"tag", "string", "Its text."}, {"runs", "integer", "That have it, of those looked at."}, END};
static const struct shape_member tags_members[] = {
    {"tags", "[Tag]", "In alphabetical order."},
    {"runs_looked_at", "integer", "At most about 10000."},
    {"is_complete", "boolean", "Those were all."},
    END};

const struct shape shapes[] = {
    {"Error", "Of each failure of the API.", error_members, NULL},
    {"Failure", "What is wrong.", failure_members, NULL},
    {"Health", "The store answers.", health_members, NULL},
    {"Totals", "Counts since a queue began.", totals_members, NULL},
    {"Queue", "A queue.", queue_members, NULL},
    {"Queues", "All queues.", queues_members, NULL},
    {"Pause", "How long.", pause_members, NULL},
    {"Bulk", "What to do, and to which runs: one of the members that tell which is there.",
     bulk_members, NULL},
    {"BulkCounts", "What one request has come to.", bulk_counts_members, NULL},
    {"Nothing", "An empty object, or no body at all.", nothing_members, NULL},
    {"ListedRun", "A run, as lists have it.", listed_members, NULL},
    {"LogLine", "A line that a run keeps.", line_members, NULL},
    {"Run", "A run, whole.", run_members, NULL},
    {"Runs", "A page of runs.", runs_members, NULL},
    {"End", "What became of a run.", end_members, NULL},
    {"RunState", "What a change has made of a run.", state_members, NULL},
    {"NewRun", "A run to enqueue.", new_run_members, NULL},
    {"NewNamedRun", "One of several.", new_named_members, NULL},
    {"NewRuns", "At most 1000.", NULL, "NewNamedRun"},
    {"Enqueued", "A run that was enqueued.", enqueued_members, NULL},
    {"Result", "What became of one of several.", result_members, NULL},
    {"EnqueuedMany", "What became of all.", enqueued_many_members, NULL},
    {"Claim", "What is wanted.", claim_members, NULL},
    {"Held", "A run that is claimed.", held_members, NULL},
    {"Claimed", "What was claimed.", claimed_members, NULL},
    {"Beat", "How it goes.", beat_members, NULL},
    {"Pulse", "What to do.", pulse_members, NULL},
    {"Completion", "That it is done.", completion_members, NULL},
    {"Failing", "That it has failed.", failing_members, NULL},
    {"Release", "When it goes back.", release_members, NULL},
    {"Told", "What the store was told.", told_members, NULL},
    {"Schema", "The schema of a job, without its text.", schema_members, NULL},
    {"Schemas", "All that queues have.", schemas_members, NULL},
    {"LiveSchema", "A version of a schema that runs were encoded with.", live_members, NULL},
    {"LiveSchemas", "Those of a queue.", live_schemas_members, NULL},
    {"Schedule", "A periodic job.", schedule_members, NULL},
    {"SchedulesOfQueue", "Those of a queue.", schedules_queue_members, NULL},
    {"Schedules", "Of all queues.", schedules_members, NULL},
    {"ScheduleRun", "A run out of turn.", schedule_run_members, NULL},
    {"ForgottenSchedule", "A periodic job that was deleted.", forgotten_members, NULL},
    {"Bucket", "Of a histogram.", bucket_members, NULL},
    {"Spread", "How times are spread, to a fourth of each.", spread_members, NULL},
    {"Figures", "What workers counted of ends.", figures_members, NULL},
    {"FiguresOfQueue", "Those of a queue.", figures_queue_members, NULL},
    {"Batch", "Runs that are counted together.", batch_members, NULL},
    {"LimitValue", "The numbers of a limit.", limit_value_members, NULL},
    {"Limit", "A limit of a job's runs.", limit_members, NULL},
    {"LimitsOfQueue", "Those of a queue.", limits_queue_members, NULL},
    {"Limits", "Of all queues.", limits_members, NULL},
    {"LimitKey", "A key of a limit.", limit_key_members, NULL},
    {"LimitKeys", "A page of keys.", limit_keys_members, NULL},
    {"NewLimit", "What is in force from now on.", new_limit_members, NULL},
    {"ServedQueue", "A queue that a worker serves.", served_members, NULL},
    {"RunAtWork", "A run that a worker has.", at_work_members, NULL},
    {"Worker", "A worker.", worker_members, NULL},
    {"Workers", "Those that are alive.", workers_members, NULL},
    {"WorkerOrder", "What a worker is to do: one member or more.", order_members, NULL},
    {"WorkerOrdered", "What was ordered; the worker is listed with is_pending until it obeys.",
     ordered_members, NULL},
    {"Tag", "A tag.", tag_members, NULL},
    {"Tags", "Tags of runs.", tags_members, NULL},
    {NULL, NULL, NULL, NULL}};
