/* culex/schedules.h - the periodic jobs of a queue, seen and steered from any process.
 *
 * A schedule is known from the moment at which its first worker has started, by the stored name of
 * its job. Nothing here needs the schema. Clients, threads and errors are as in culex/client.h.
 */
#ifndef CULEX_SCHEDULES_H
#define CULEX_SCHEDULES_H

#include <culex/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Times are of the store's clock, ms since 1970. */
typedef struct culex_schedule_info {
    const char *name;  /* the job's stored name */
    int64_t last_ms;   /* its newest tick, whether it had a run or was left out; at first when its
                          first worker started */
    int64_t next_ms;   /* the next one, before any jitter; in the past while no worker is there; 0
                          when no worker has told it yet */
    culex_uuid newest; /* its newest run, which may be forgotten by now; all 0: none yet */
    bool is_paused;
} culex_schedule_info;

/* Called for each schedule; return false to stop. What it is shown is borrowed. */
typedef bool (*culex_schedule_visitor)(const culex_schedule_info *schedule, void *user);

/* Visits the schedules of `queue`, in alphabetical order. CULEX_ENOTFOUND for one that
 * nobody has used. */
CULEX_API CULEX_MUST_USE culex_status culex_client_schedules(culex_client *client,
                                                             const char *queue,
                                                             culex_schedule_visitor visit,
                                                             void *user, culex_error *error);

/* A paused schedule lets its ticks pass without a run, for all workers and until it is resumed; a
 * run that is there already goes on. Ticks of `cron` that have passed by the resume are not made up
 * for. CULEX_ENOTFOUND when `queue` has no schedule of this name. */
CULEX_API CULEX_MUST_USE culex_status culex_client_schedule_pause(culex_client *client,
                                                                  const char *queue,
                                                                  const char *name,
                                                                  culex_error *error);
CULEX_API CULEX_MUST_USE culex_status culex_client_schedule_resume(culex_client *client,
                                                                   const char *queue,
                                                                   const char *name,
                                                                   culex_error *error);

/* Enqueues the run that the next tick would enqueue, at once, whether the schedule is paused or
 * not; its ticks stay as they are. *ret_id (may be NULL) is the id of the run. CULEX_EUNIQUE when
 * the schedule's newest run has not ended and they may not overlap, or when another run holds its
 * unique key: then *ret_id is that one's, and the text tells which of the two it is.
 * CULEX_ENOTFOUND as above; CULEX_ESTATE when no worker has told the store yet what to enqueue. */
CULEX_API CULEX_MUST_USE culex_status culex_client_schedule_run(culex_client *client,
                                                                const char *queue, const char *name,
                                                                culex_uuid *ret_id,
                                                                culex_error *error);

/* Forgets a schedule whose job is gone. A worker that still has the job begins it anew.
 * CULEX_ENOTFOUND as above. */
CULEX_API CULEX_MUST_USE culex_status culex_client_schedule_delete(culex_client *client,
                                                                   const char *queue,
                                                                   const char *name,
                                                                   culex_error *error);

/* A function of another type for a callback is an error; see culex/typed.h. */
#ifdef CULEX_TYPED
#define culex_client_schedules(...) CULEX_TYPED(culex_client_schedules, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
