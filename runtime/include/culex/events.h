/* culex/events.h - what becomes of runs, told as it happens.
 *
 * A queue that is told so (culex_client_events_keep) keeps the newest events, up to a number of
 * them, and any process with a client can read them from a position on. An event stands in the
 * store with what it tells: what did not happen has none, and whoever reads one finds the run as it
 * tells, or later. A call to the store that is repeated, or refused, brings none of its own.
 *
 *     kind       told by
 *
 *     ENQUEUED   an enqueue of any kind, a tick, a schedule's run out of turn, a follow-up, a
 *                batch's callback
 *     REPLACED   the same, where the run took the place of one with its unique key; with the id
 *                that stays
 *     STARTED    a worker's step: the run was given to it, and begins as soon as a handler is free
 *     DONE       a worker's step
 *     FAILED     a worker's step: the handler failed, or its time was over; DEAD, CANCELLED or
 *                another attempt follows
 *     CRASHED    as FAILED, with the handler's process
 *     LOST       the step of another worker, or the worker's next life: the lease ran out, or its
 *                process was replaced
 *     RELEASED   a step, of a worker that gives the run back: snoozed, not begun, or not known
 *                there; and as LOST, of a run that had not begun
 *     DEAD       what is told of the attempt before it, in the same call; or a step that met it
 *                expired or damaged
 *     CANCELLED  culex_client_cancel of one that is not at work; else the end of its attempt
 *     RETRIED    culex_client_retry
 *     MOVED      culex_client_move, where something changed
 *     FORGOTTEN  culex_client_delete
 *     PURGED     culex_client_purge, for each of its pages; of no run, `count` were deleted
 *     PAUSED     culex_client_pause and culex_client_pause_for; of no run
 *     RESUMED    culex_client_resume, and the step that finds that a pause has ended by itself; of
 *                no run
 *
 * A position is a place behind an event. It is to be kept and handed back as it is: a number that
 * names the event besides its place, so that a store which was set back, and has gone on with other
 * events since, is found out (but for one time in 65,000 and for a position whose event is dropped
 * already, which is a gap anyway). Positions have no order, and none of them is 0.
 *
 * No event tells that a time has come: that a scheduled run waits, or that the record of one that
 * has ended is forgotten. Repairs by FSCK tell none, nor does what is put aside as unreadable.
 *
 * Clients, threads and errors are as in culex/client.h.
 */
#ifndef CULEX_EVENTS_H
#define CULEX_EVENTS_H

#include <culex/client.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum culex_events_kind {
    CULEX_EVENTS_ENQUEUED,
    CULEX_EVENTS_REPLACED,
    CULEX_EVENTS_STARTED,
    CULEX_EVENTS_DONE,
    CULEX_EVENTS_FAILED,
    CULEX_EVENTS_CRASHED,
    CULEX_EVENTS_LOST,
    CULEX_EVENTS_RELEASED,
    CULEX_EVENTS_DEAD,
    CULEX_EVENTS_CANCELLED,
    CULEX_EVENTS_RETRIED,
    CULEX_EVENTS_MOVED,
    CULEX_EVENTS_FORGOTTEN,
    CULEX_EVENTS_PURGED,
    CULEX_EVENTS_PAUSED,
    CULEX_EVENTS_RESUMED,
    CULEX_EVENTS_KIND_COUNT
} culex_events_kind;

/* "enqueued" and so on; "?" for what is no kind. */
CULEX_API const char *culex_events_kind_name(culex_events_kind kind);

typedef struct culex_event {
    uint64_t position; /* behind it: where to go on after this one */
    culex_events_kind kind;
    culex_uuid id;    /* zeroes: of no run */
    uint32_t attempt; /* the newest of the run, 0 before the first */
    uint32_t count;   /* PURGED: how many runs; else 0 */
    int64_t at_ms;    /* by the store's clock */
    const char *job;  /* ENQUEUED and REPLACED: its name; else "", and culex_client_get tells it */
} culex_event;

typedef struct culex_events {
    const culex_event *of; /* `count` of them, in their order */
    size_t count;
    uint64_t position; /* behind all that the call has looked at: where to go on */
    /* Events behind the position that was asked for are not among them: they were dropped, because
     * so many have come since, or damaged, or none were kept for a while, or the store was set
     * back. Unless it is damage alone, all that there are are told then, some of them again. */
    bool is_gap;
    uint64_t kept; /* so many the queue keeps; 0: none, and nothing comes of waiting for some */
} culex_events;

/* Beside positions: before the oldest event that is kept, and behind the newest. */
#define CULEX_EVENTS_OLDEST 0
#define CULEX_EVENTS_NOW    UINT64_MAX

#define CULEX_EVENTS_KEPT_MAX 1000000 /* that a queue can keep */
#define CULEX_EVENTS_PAGE_MAX 1000    /* that one call tells */

/* From now on `queue` keeps its newest `most` events, up to CULEX_EVENTS_KEPT_MAX; 0, as a queue
 * begins, keeps none and drops those that there are. CULEX_ENOTFOUND as culex_client_limit. A Redis
 * user needs the rights of a worker, where reading takes those of a producer. */
CULEX_API CULEX_MUST_USE culex_status culex_client_events_keep(culex_client *client,
                                                               const char *queue, uint64_t most,
                                                               culex_error *error);

/* The events of `queue` behind position `after`, the first ones, at most `most`: 1 to
 * CULEX_EVENTS_PAGE_MAX. None is no error; a page may be short though there are more, and is never
 * empty then, but for damage. Waits up to `timeout` for the first one, 0: not at all, and 1 ns to
 * 99 us are refused as a plain number of seconds; meanwhile it looks each 200 ms. CULEX_ENOTFOUND
 * when the store has no such queue. *ret_events is owned by the caller: culex_events_free; it is
 * NULL when the call fails. */
CULEX_API CULEX_MUST_USE culex_status culex_client_events(culex_client *client, const char *queue,
                                                          uint64_t after, size_t most,
                                                          culex_duration timeout,
                                                          culex_events **ret_events,
                                                          culex_error *error);
CULEX_API void culex_events_free(culex_events *events);

#ifdef __cplusplus
}
#endif
#endif
