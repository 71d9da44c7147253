/* culex/figures.h - how many runs ended how, how long they waited and how long they took.
 *
 * Workers count the attempts that they have brought to an end, by job and queue, and tell the store
 * about once a second and when they end; the store adds that up by the hours of its clock and keeps
 * it for 48 of them. So it costs runs nothing, is a second old, and a worker that is killed takes
 * the last second along: what a queue owes to anybody is in culex_client_stats, which loses nothing
 * and knows no jobs. A worker with `uncounted` tells nothing.
 *
 * Clients, threads and errors are as in culex/client.h.
 */
#ifndef CULEX_FIGURES_H
#define CULEX_FIGURES_H

#include <culex/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Hours for which figures are kept, this one included. */
#define CULEX_FIGURES_HOURS_MAX 48

#define CULEX_SPREAD_BUCKETS 208

/* Times, in us. Each is read off a histogram with four buckets an octave: it is never less than the
 * time that was measured, and less than 5/4 of it. Histograms of workers, jobs and hours add up
 * exactly. */
typedef struct culex_spread {
    uint64_t count; /* of times that were measured; 0: the others are 0 as well */
    int64_t p50_us; /* half of them are no greater */
    int64_t p90_us; /* nine of ten */
    int64_t p99_us; /* 99 of a hundred */
    int64_t max_us; /* all of them */
    /* The histogram: how many times were no greater than culex_spread_bucket_us of their bucket,
     * and greater than that of the bucket before. */
    uint64_t buckets[CULEX_SPREAD_BUCKETS];
} culex_spread;

/* The greatest time of a bucket, in us: 0 to 3 of the first four, then 4, 5, 6, 7, 9, 11, 13, 15,
 * 19 and so on. For a number that is none of a bucket, that of the last one. */
CULEX_API int64_t culex_spread_bucket_us(size_t bucket);

/* Attempts that workers have brought to an end. Not among them is what has no handler's end: runs
 * that expire or are cancelled before they begin, and those whose worker dies. */
typedef struct culex_figures {
    const char *job; /* its name; NULL: all jobs */
    uint64_t done;
    uint64_t failed;    /* as the handler said, or by a timeout; the run may be tried again */
    uint64_t crashed;   /* with their process; it too */
    uint64_t lost;      /* with what runs handlers, while they were at work */
    uint64_t dead;      /* runs that will not be tried again; counted above as well */
    uint64_t cancelled; /* while they were at work */
    culex_spread wait;  /* from when the run was due until its handler began, to the ms: of first
                           attempts, and of those that had a date, as a retry has */
    culex_spread run;   /* of the handler, of all attempts */
} culex_figures;

/* Called for each job; return false to stop. `figures` is borrowed. */
typedef bool (*culex_figures_visitor)(const culex_figures *figures, void *user);

/* What was counted of `job` (NULL: of all jobs) in `queue` in this hour, as the clock has it, and
 * in the hours - 1 before it; 1 to CULEX_FIGURES_HOURS_MAX. All is 0 where nothing was;
 * CULEX_ENOTFOUND where there is no such queue. */
CULEX_API CULEX_MUST_USE culex_status culex_client_figures(culex_client *client, const char *queue,
                                                           const char *job, unsigned hours,
                                                           culex_figures *ret_figures,
                                                           culex_error *error);

/* The same for each job that has figures, in the order of their names. A queue keeps 4096 rows of a
 * job and an hour; of what came beyond those the name is "". */
CULEX_API CULEX_MUST_USE culex_status culex_client_figures_by_job(culex_client *client,
                                                                  const char *queue, unsigned hours,
                                                                  culex_figures_visitor visit,
                                                                  void *user, culex_error *error);

#ifdef __cplusplus
}
#endif
#endif
