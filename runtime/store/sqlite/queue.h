/* store/sqlite/queue.h - the row of a queue: its counters and the two ends of its order. */
#ifndef CULEX_STORE_SQLITE_QUEUE_H
#define CULEX_STORE_SQLITE_QUEUE_H

#include "store/sqlite/rear.h"
#include "store/store.h"

struct culex_sqlite;

/* In the key of a run: see schema.sql. */
enum { CULEX__SQLITE_LANE_SHIFT = 44, CULEX__SQLITE_QUEUE_SHIFT = 48 };
enum {
    CULEX__SQLITE_QUEUES_MAX = 32767,
    CULEX__SQLITE_KINDS_MIN = 64,      /* kinds that a queue makes before the first sweep */
    CULEX__SQLITE_EVENTS_BYTES = 1024, /* of entries of events in its row, as in schema.sql */
};

/* Row of table queue, and the queue's rear. */
struct culex_sqlite_queue {
    const char *name;        /* borrowed from the request */
    int64_t key;             /* 0: not in the file */
    int64_t paused_until_ms; /* 0: not paused; INT64_MAX: until it is resumed */
    int64_t capacity, dead_most, front, longest_lease_ms;
    int64_t salt;                            /* of its runs' ids: see core/run_id.h */
    int64_t sweep, swept, kinds_left;        /* see sqlite/kind.c */
    int64_t limits, sweeps, longest_fill_ms; /* see sqlite/parking.c */
    int64_t waits;                           /* see sqlite/wait.c */
    int64_t batches;                         /* see sqlite/members.c */
    int64_t logs;                            /* see sqlite/log_rows.c */
    int64_t events_kept, events_last;        /* see sqlite/event_notes.c */
    int64_t kept[CULEX_RUN_STATE_COUNT];     /* runs per stored state; [SCHEDULED] stays 0 */
    int64_t enqueued, done, failed, crashed, lost, dead, cancelled, stale;
    char events[CULEX__SQLITE_EVENTS_BYTES]; /* the newest entries */
    size_t events_len;
    struct culex_sqlite_rear rear, saved_rear; /* saved when it is another one */
    bool is_rear_lost;                         /* it was not there, or no good, and made anew */
    bool is_changed;                           /* but for the rear */
    bool has_new_work;                         /* an idle worker should be told after COMMIT */
    bool has_news;                             /* also while the queue is paused */
};

/* The row of the last queue that this handle wrote. It holds as long as SQLite's data version
 * tells that no other connection has written since. */
struct culex_sqlite_recent {
    struct culex_sqlite_queue queue;
    char *name;       /* NULL: none */
    uint32_t version; /* right after the COMMIT that wrote it */
    bool is_saved;    /* in the transaction under way */
    bool is_current;  /* the transaction under way began with it */
    bool has_targets; /* wake.targets are those of this queue */
    size_t target_count;
};

/* Loads the queue's row. Not there: a zeroed one with key 0, or a new one when `is_wanted`. */
culex_status culex__sqlite_queue_load(struct culex_sqlite *store, const char *name, bool is_wanted,
                                      struct culex_sqlite_queue *ret_queue, culex_error *error);
/* Saves what has changed. The last step before the transaction's end, or the row would not be the
 * one that is kept for the next one. */
culex_status culex__sqlite_queue_save(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      culex_error *error);
/* Whether it is paused now. */
bool culex__sqlite_queue_is_paused(const struct culex_sqlite *store,
                                   const struct culex_sqlite_queue *queue);
/* When its pause ends by itself: INT64_MAX for never, and when it is not paused. */
int64_t culex__sqlite_queue_resumes_ms(const struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue);
/* A run has come: it waits, and is enqueued. */
void culex__sqlite_queue_arrive(struct culex_sqlite_queue *queue);
/* Keys of the queue's runs lie between these; those of one priority between those of the next. */
static inline int64_t culex__sqlite_queue_first(const struct culex_sqlite_queue *queue)
{
    return (int64_t)((uint64_t)queue->key << CULEX__SQLITE_QUEUE_SHIFT & INT64_MAX);
}
static inline int64_t culex__sqlite_queue_last(const struct culex_sqlite_queue *queue)
{
    return culex__sqlite_queue_first(queue) | ((INT64_C(1) << CULEX__SQLITE_QUEUE_SHIFT) - 2);
}
/* The key of its rear. */
static inline int64_t culex__sqlite_queue_rear(const struct culex_sqlite_queue *queue)
{
    return culex__sqlite_queue_last(queue) + 1;
}
static inline int64_t culex__sqlite_queue_lane(const struct culex_sqlite_queue *queue, int64_t lane)
{
    return culex__sqlite_queue_first(queue) | lane << CULEX__SQLITE_LANE_SHIFT;
}
/* At the transaction's begin, and after its end: is the kept row still, or again, true? */
void culex__sqlite_queue_begin(struct culex_sqlite *store);
void culex__sqlite_queue_end(struct culex_sqlite *store, bool is_committed);
/* The place of a run that is ready now, at the back or the front of its priority. */
int64_t culex__sqlite_queue_back(struct culex_sqlite *store, struct culex_sqlite_queue *queue);
int64_t culex__sqlite_queue_front(struct culex_sqlite_queue *queue);
/* The id of the run `number` of priority `lane` that came at `ms`; false when they, or the row's
 * salt, are out of their ranges. */
bool culex__sqlite_queue_id_at(const struct culex_sqlite_queue *queue, int64_t ms, int lane,
                               int64_t number, culex_uuid *ret_id);
/* The key of the run with this id, in table run or body; 0 for what is no id of a run. */
int64_t culex__sqlite_queue_seq(const struct culex_sqlite_queue *queue, culex_uuid id);
/* The id of the run at that key which came at `ms`; false as above. */
bool culex__sqlite_queue_id_of(const struct culex_sqlite_queue *queue, int64_t seq, int64_t ms,
                               culex_uuid *ret_id);
/* The id of a run that comes in now. Its number is used up. */
culex_status culex__sqlite_queue_id(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                    int priority, culex_uuid *ret_id, culex_error *error);
/* No ready run has a later place. */
int64_t culex__sqlite_queue_horizon(const struct culex_sqlite *store,
                                    const struct culex_sqlite_queue *queue);

#endif
