/* culex/maintain.h - is the store sound, what does it really promise, and what is in it?
 *
 * Three questions of an operator. The doctor reads the settings of the server or the file and says
 * what an acknowledged enqueue survives there, and which waiting runs no worker takes. Fsck reads
 * the data and rebuilds every index from the records, which are the truth. Before a deploy,
 * culex_client_live tells which versions of the schemas the runs in the store belong to.
 */
#ifndef CULEX_MAINTAIN_H
#define CULEX_MAINTAIN_H

#include <culex/client.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CULEX_INT_ENUM culex_severity {
    CULEX_SEVERITY_OK,      /* checked, as it should be */
    CULEX_SEVERITY_NOTE,    /* good to know */
    CULEX_SEVERITY_WARNING, /* the text names a case in which runs or acknowledgements may be lost,
                               or runs that no worker takes */
    CULEX_SEVERITY_ERROR    /* not fit for work until it is changed */
} culex_severity;

/* "ok", "note", "warning", "error"; never NULL. */
CULEX_API const char *culex_severity_name(culex_severity severity);

/* One thing that the doctor looked at. */
typedef struct culex_finding {
    culex_severity severity;
    const char *id;     /* stable, for programs: "redis-appendonly" */
    const char *text;   /* what was found and what it means */
    const char *advice; /* what to do; "" when nothing */
} culex_finding;

typedef struct culex_doctor_report {
    const char *promise; /* one sentence: what an acknowledged enqueue survives */
    const culex_finding *findings;
    size_t finding_count;
    culex_severity worst;
} culex_doctor_report;

/* Examines the client's store, and as findings "queue-unserved", "queue-unknown-job",
 * "queue-not-understood", "queue-no-key" and "queue-paused" its queues: the first 256 names, and of
 * each the first 2000 scheduled, waiting and active runs. Takes a second when runs wait in a queue
 * in which none is at work, to see whether a worker takes one; a run waits, too, when its lease has
 * been over for a second, for then its worker is gone. A setting that the store does not let us
 * read is a note and no failure. *ret_report is returned owned: free with culex_doctor_report_free.
 */
CULEX_API CULEX_MUST_USE culex_status culex_client_doctor(culex_client *client,
                                                          culex_doctor_report **ret_report,
                                                          culex_error *error);

/* The same for the store at `url` (as for culex_client_open), also when it cannot be opened: that
 * is a finding then, "open". So is an SQLite file that does not exist or is empty: it is not made.
 * Fails only when there is no memory for a report. */
CULEX_API CULEX_MUST_USE culex_status culex_doctor(const char *url,
                                                   const culex_client_options *options,
                                                   culex_doctor_report **ret_report,
                                                   culex_error *error);

/* Frees a report with all its findings. Accepts NULL. */
CULEX_API void culex_doctor_report_free(culex_doctor_report *report);

/* The report for people: the promise, then a line a finding and its advice below it. Returned
 * owned, to be given back with free(); NULL when out of memory. */
CULEX_API char *culex_doctor_report_text(const culex_doctor_report *report);

/* What fsck has met. */
typedef struct culex_fsck_counts {
    uint64_t records; /* looked at */
    uint64_t wrong;   /* index entries missing, superfluous or different from their record */
    uint64_t damaged; /* records or payloads that cannot be read: put aside as dead */
    uint64_t skipped; /* comparisons left out because somebody wrote to the queue meanwhile (Redis:
                         the counters of its ordinary runs). Call again at a quieter time, or while
                         producers and workers are stopped */
} culex_fsck_counts;

/* Compares every index of `queue` with its records, and with `is_repairing` makes them agree.
 * Works in bounded steps, beside producers and workers, each step atomic. A sound queue
 * counts 0 wrong and 0 damaged, and one that was looked at in full 0 skipped. On failure the counts
 * tell how far it came. */
CULEX_API CULEX_MUST_USE culex_status culex_client_fsck(culex_client *client, const char *queue,
                                                        bool is_repairing,
                                                        culex_fsck_counts *ret_counts,
                                                        culex_error *error);

/* The runs of one job in one queue that one version of its schema has encoded. */
typedef struct culex_live_schema {
    const char *queue;
    const char *job;                       /* wire name */
    uint64_t fingerprint;                  /* of the params, as `culexc ir` prints it */
    uint64_t runs;                         /* that may still be executed */
    uint64_t count[CULEX_RUN_STATE_COUNT]; /* per state; ended ones as asked for */
    int64_t oldest_ms; /* when the oldest of all these was enqueued: store clock, ms since 1970 */
} culex_live_schema;

/* Called for each; return false to stop. The schema is borrowed. */
typedef bool (*culex_live_visitor)(const culex_live_schema *schema, void *user);

/* Which versions of which jobs' schemas the runs in the store were encoded with: what a worker
 * has to understand before an older one goes. Visits them by queue (all for NULL), job and
 * fingerprint. A run counts when it is scheduled, waiting, active, or dead, since an operator may
 * retry it; with `with_ended` also when it is done or cancelled, while its record is kept.
 *
 * Reads every record once, some hundred a call, beside producers and workers: the effort grows with
 * all runs that the store keeps (SQLite: of all queues, for each queue). A run that is there from
 * beginning to end is counted whatever happens to it, perhaps twice; one that is enqueued
 * meanwhile may be missed, so stop the old producers first. Damaged records are left out.
 * CULEX_ELIMIT when a queue has more than 65536 of these. */
CULEX_API CULEX_MUST_USE culex_status culex_client_live(culex_client *client, const char *queue,
                                                        bool with_ended, culex_live_visitor visit,
                                                        void *user, culex_error *error);

/* A function of another type for a callback is an error; see culex/typed.h. */
#ifdef CULEX_TYPED
#define culex_client_live(...) CULEX_TYPED(culex_client_live, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
