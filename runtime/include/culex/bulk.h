/* culex/bulk.h - retries, deletes or cancels many runs at once: those of a job, a tag, a state, a
 * time.
 *
 * Each run is judged when its turn comes, by the call that does the same to one of them: one that
 * has changed since it was listed is left alone and counted as skipped. No call walks a queue: it
 * looks at a bounded number of runs and says where to go on, as culex_client_list. So it may be
 * interrupted at any place, and done again, also from the beginning: what is done is done, and is
 * not found again.
 */
#ifndef CULEX_BULK_H
#define CULEX_BULK_H

#include <culex/client.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CULEX_INT_ENUM culex_bulk_action {
    CULEX_BULK_RETRY,  /* dead runs: culex_client_retry */
    CULEX_BULK_DELETE, /* done, dead and cancelled ones: culex_client_delete */
    CULEX_BULK_CANCEL  /* scheduled, waiting and active ones: culex_client_cancel */
} culex_bulk_action;

/* What to do, and to which runs: to those that culex_client_find shows with this filter; without
 * states in it, to those of all states that the action takes. Zero-initialise, then name the
 * action. With an error_part each run is read by a call that all else in the filter takes. */
typedef struct culex_bulk {
    culex_bulk_action action;
    bool is_dry; /* nothing is done: counts what would be */
    culex_list_filter filter;
} culex_bulk;

typedef struct culex_bulk_counts {
    uint64_t looked;  /* at so many runs of the states */
    uint64_t matched; /* of these, by the filter */
    uint64_t done; /* of these; an active one that is asked to stop counts. Stays 0 in a dry run */
    uint64_t
        skipped; /* had another state by then, or were gone; RETRY: another run holds its key */
} culex_bulk_counts;

/* Where to go on: {0} at first. What is behind `is_over` is the library's own, and goes on with the
 * same queue and the same culex_bulk only. */
typedef struct culex_bulk_cursor {
    bool is_over;
    bool has_begun; /* with `state` */
    unsigned state;
    uint64_t left; /* runs to look at in it */
    culex_list_cursor list;
} culex_bulk_cursor;

/* Called now and again, after 100 runs at most, with the counts of the call so far; return false to
 * stop. */
typedef bool (*culex_bulk_visitor)(const culex_bulk_counts *counts, void *user);

/* Looks at up to `limit` runs (0: 1000) of `queue` from *cursor on, does what `bulk` says to those
 * that match, and stores in *cursor where to go on: call again until cursor->is_over. `visit` may
 * be NULL. *ret_counts (may be NULL) is about this call alone, and is filled also when it fails;
 * then *cursor is at the page, of 100 runs at most, in which that happened.
 *
 * From beginning to end no more runs of a state are looked at than it had when its turn came: it
 * ends, though retried runs may die again meanwhile, or producers enqueue. Runs that come or change
 * their place within a state meanwhile may so be left over; a second round, which finds less,
 * shows that. CULEX_EINVAL for a state that the action does not take, and as
 * culex_client_find. A job that the queue never had matches nothing: nothing tells it from one
 * whose runs are all forgotten. */
CULEX_API CULEX_MUST_USE culex_status culex_client_bulk(culex_client *client, const char *queue,
                                                        const culex_bulk *bulk,
                                                        culex_bulk_cursor *cursor, size_t limit,
                                                        culex_bulk_visitor visit, void *user,
                                                        culex_bulk_counts *ret_counts,
                                                        culex_error *error);

/* A function of another type for a callback is an error; see culex/typed.h. */
#ifdef CULEX_TYPED
#define culex_client_bulk(...) CULEX_TYPED(culex_client_bulk, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
