/* ops/command/commands.c - which commands there are. */
#include "command/command.h"

#define FILTER "queue state job tag error since before"
#define BULK   FILTER " all dry-run yes"

static const char bulk_details[] =
    "\nNames runs by their ids, or says which are meant: --queue and at least one of --state, "
    "--job,\n"
    "--tag, --error, --since and --before, or --all. Many are counted first, and you are asked; "
    "where\n"
    "there is nobody to ask, --yes is needed. It may be interrupted and begun again.";

const struct ops_command ops_commands[] = {
    {.name = "queues",
     .arguments = "[QUEUE...]",
     .summary = "list the queues, with how many runs each has in which state",
     .options = "",
     .most = 1000,
     .run = ops_queues},
    {.name = "stats",
     .arguments = "QUEUE",
     .summary = "how many runs of each job ended how, how long they waited and took",
     .options = "hours watch",
     .least = 1,
     .most = 1,
     .run = ops_stats},
    {.name = "top",
     .arguments = "[QUEUE...]",
     .summary = "the queues and workers, again and again on the whole screen",
     .details =
         "\nq ends it, p holds the numbers; n, w, o and d sort by name, waiting runs, the "
         "oldest one's\n"
         "age and dead runs; arrows scroll. STATE is paused, FULL, or p+FULL for both; PARKED are "
         "of\n"
         "those that wait, held back by a limit or a need. What has no room is left out whole.",
     .options = "interval once",
     .most = 1000,
     .run = ops_top},
    {.name = "runs",
     .arguments = "QUEUE",
     .summary = "list runs by state, job, tag, error or time",
     .details =
         "\n--by error counts dead runs by job and error. --follow prints those that come and\n"
         "change from now on, until it is interrupted, which is its end with 0; the queue\n"
         "has to keep events (culex events QUEUE --keep 10000).",
     .options = "state job tag error since before limit by follow",
     .least = 1,
     .most = 1,
     .run = ops_runs},
    {.name = "show",
     .arguments = "ID...",
     .summary = "all that the store has of a run, with its log lines and its history",
     .details =
         "\nAn ID may stand behind its queue and a slash; without that, or --queue, all "
         "queues are\n"
         "looked through. Where the store has the schema of its job, or --schema, params "
         "and result\n"
         "have their types, and are shown but for what is secret; --params shows that too, and "
         "with --keys\n"
         "what is encrypted.",
     .options = "queue params keys schema verbose",
     .least = 1,
     .most = 1000,
     .run = ops_show},
    {.name = "wait",
     .arguments = "ID...",
     .summary = "wait until runs have ended; 0 when all are done, else 1",
     .options = "queue timeout",
     .least = 1,
     .most = 1000,
     .run = ops_wait},
    {.name = "enqueue",
     .arguments = "JOB [NAME=VALUE...]",
     .summary = "enqueue a run of a job, with its params checked by the job's schema",
     .details =
         "\nNAME.NAME is of a struct; a NAME that is given again is of a list, which may be given "
         "as\n"
         "JSON too. Durations are written as 1h30m, bytes as base64, hex:00ff or x\"00ff\". The\n"
         "schema is the newest one that a queue has of the job, or that of --schema. Prints the\n"
         "run's ID. Encrypted params take the keys of their workers, --keys; give them by\n"
         "--payload -, for command lines are seen by others.",
     .options = "queue schema payload delay at priority key tag traceparent keys dry-run verbose",
     .least = 1,
     .most = 10000,
     .run = ops_enqueue},
    {.name = "retry",
     .arguments = "[ID...]",
     .summary = "put dead runs back to waiting, with fresh attempts",
     .details = bulk_details,
     .options = BULK,
     .most = 1000,
     .run = ops_retry},
    {.name = "cancel",
     .arguments = "[ID...]",
     .summary = "cancel runs that wait, and ask those at work to stop",
     .details = bulk_details,
     .options = BULK,
     .most = 1000,
     .run = ops_cancel},
    {.name = "delete",
     .arguments = "[ID...]",
     .summary = "forget runs that are done, dead or cancelled",
     .details = bulk_details,
     .options = BULK,
     .most = 1000,
     .run = ops_delete},
    {.name = "purge",
     .arguments = "QUEUE STATE",
     .summary = "delete all runs of a state, whatever they are; none that are active",
     .options = "limit dry-run yes",
     .least = 2,
     .most = 2,
     .run = ops_purge},
    {.name = "move",
     .arguments = "ID...",
     .summary = "give runs that wait another time or priority",
     .options = "queue delay at priority",
     .least = 1,
     .most = 1000,
     .run = ops_move},
    {.name = "pause",
     .arguments = "QUEUE...",
     .summary = "have workers take no more runs of a queue",
     .options = "for",
     .least = 1,
     .most = 1000,
     .run = ops_pause},
    {.name = "resume",
     .arguments = "QUEUE...",
     .summary = "have workers go on with a queue",
     .options = "",
     .least = 1,
     .most = 1000,
     .run = ops_resume},
    {.name = "capacity",
     .arguments = "QUEUE N",
     .summary = "bound the runs of a queue by their number; 0 lifts the bound",
     .details =
         "\nEnqueues are refused while it has as many that have not ended. With --dead: beyond so\n"
         "many dead runs the oldest are forgotten.",
     .options = "dead yes",
     .least = 2,
     .most = 2,
     .run = ops_capacity},
    {.name = "limit",
     .arguments = "QUEUE [NAME [COUNT | COUNT/TIME | declared]]",
     .summary = "list the limits of a queue's runs, the keys of one, or set one",
     .details =
         "\nWith COUNT, runs at work at a time, or COUNT/TIME, runs that begin in that "
         "time: this is in\n"
         "force from now on, whatever the schema says; declared: as the schema says. COUNT "
         "of a\nrate keeps the time that is in force; the burst stays, too, but is no more than "
         "COUNT.",
     .options = "burst",
     .least = 1,
     .most = 3,
     .run = ops_limit},
    {.name = "schedules",
     .arguments = "QUEUE [pause | resume | run | delete NAME]",
     .summary = "list the periodic jobs of a queue, or steer one",
     .options = "",
     .least = 1,
     .most = 3,
     .run = ops_schedules},
    {.name = "schemas",
     .arguments = "[QUEUE]",
     .summary = "list the schemas of a queue's jobs that workers have told the store",
     .options = "",
     .most = 1,
     .run = ops_schemas},
    {.name = "schema",
     .arguments = "JOB",
     .summary = "what the params of a job are, by the schema that the store has of it",
     .details =
         "\nFor enqueue: types, which are wanted, defaults, bounds, values of enums, and what "
         "they mean.\n"
         "With --json the schema's text, which --schema of enqueue and show takes.",
     .options = "queue schema",
     .least = 1,
     .most = 1,
     .run = ops_schema},
    {.name = "workers",
     .arguments = "[quiet | go | stop | concurrency N] [ID...]",
     .summary = "list the workers, show some whole, or steer them",
     .details = "\nWith IDs alone: their queues, runs at work, memory and offers.\n"
                "quiet: claim nothing more; go: claim again; stop: end as by SIGTERM; concurrency: "
                "so many\n"
                "runs at a time. An ID is that of the list, or the name that one worker alone has.",
     .options = "all yes",
     .most = 1000,
     .run = ops_workers},
    {.name = "events",
     .arguments = "QUEUE",
     .summary = "what becomes of a queue's runs, as it happens",
     .details = "\nPrints those that are kept, from the oldest on, and says where some are "
                "missing. A queue\n"
                "keeps none until --keep tells how many.",
     .options = "from follow limit keep",
     .least = 1,
     .most = 1,
     .run = ops_events},
    {.name = "live",
     .arguments = "[QUEUE]",
     .summary = "which versions of which jobs the runs in the store belong to",
     .options = "ended",
     .most = 1,
     .run = ops_live},
    {.name = "export",
     .arguments = "[QUEUE...]",
     .summary = "write the runs of queues as lines of JSON, to be kept or imported",
     .details =
         "\nA QUEUE may have * and ? in it; without any, all are meant. Pause them before, so "
         "that nothing\n"
         "changes meanwhile. Params are written as they are stored: secret ones, too.",
     .options = "state",
     .most = 1000,
     .run = ops_export},
    {.name = "import",
     .arguments = "[QUEUE...]",
     .summary = "bring runs from an export on standard input, or out of another store",
     .details =
         "\nThose that wait or are scheduled come in as new runs; --state takes dead ones, too, "
         "which "
         "begin anew.\n"
         "Each comes once: after whatever ended it, run it again and it goes on. That is so for 30 "
         "days from\n"
         "the first time. Where they come from, the queues have to be paused; --move deletes what "
         "has "
         "come.",
     .options = "from from-file move copy old state dry-run yes",
     .most = 1000,
     .is_storeless = true,
     .run = ops_import},
    {.name = "check",
     .arguments = "[QUEUE...]",
     .summary = "whether all is well, for monitors: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN",
     .details =
         "\nW,C: warn beyond W, critical beyond C. Each is a number, of a time with its unit,\n"
         "or a range as Nagios has them: 10: ~:10 1:10 @1:10. A store that is away is CRITICAL.",
     .options = "waiting-age dead-runs overdue no-worker full paused unoffered given-back timeout",
     .most = 1000,
     .is_storeless = true,
     .run = ops_check},
    {.name = "bench",
     .arguments = "",
     .summary = "measure what this store can do, asked from here",
     .details =
         "\nReads, writes the least there is to write, enqueues one run and a hundred at a time,\n"
         "and runs them in a worker of its own: each for 2 s, or as --for says. The store has to\n"
         "be there. Runs come into the queue culex.bench, or that of --queue, which has to be\n"
         "empty and is left so; it stays listed, as all queues do. What a bench left that was\n"
         "killed is deleted first, when you say so. OF A WRITE: runs a second, to such writes a\n"
         "second.",
     .options = "for queue bytes yes",
     .run = ops_bench},
    {.name = "console",
     .arguments = "",
     .summary = "serve the store over HTTP, until SIGTERM",
     .details = "\n/api/v1 is for programs in every language: docs/http.md. Who can reach it may "
                "do all, unless\n--tokens says otherwise; other addresses than this machine's own "
                "ask for that.",
     .options = OPS_CONSOLE_OPTIONS,
     .is_storeless = true,
     .run = ops_console},
    {.name = "doctor",
     .arguments = "",
     .summary = "what the store promises, and what is wrong with it; 1 for a warning",
     .options = "",
     .is_storeless = true,
     .run = ops_doctor},
    {.name = "fsck",
     .arguments = "[QUEUE...]",
     .summary = "compare the indexes with the records; 1 when they differ",
     .options = "repair",
     .most = 1000,
     .run = ops_fsck},
    {.name = NULL},
};
