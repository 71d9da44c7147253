/* store/sqlite/verbs.h - the store's operations, each as store/verbs.def promises it. */
#ifndef CULEX_STORE_SQLITE_VERBS_H
#define CULEX_STORE_SQLITE_VERBS_H

#include "store/store.h"

struct culex_sqlite;
struct culex_sqlite_call;
struct culex_sqlite_queue;

/* culex__sqlite_enqueue and so on: enqueue.c has ENQUEUE, schedule.c TICK and what concerns
 * schedules, step.c STEP, manage.c HELLO and what an operator changes, inspect.c what he reads,
 * fsck.c, doctor.c and wake.c the rest. */
#define VERB(name, effect, parameters, arguments, check)                                           \
    culex_status culex__sqlite_##name parameters;
#include "store/verbs.def"
#undef VERB

void culex__sqlite_step_release(struct culex_store *base, struct culex_step_reply *reply);
void culex__sqlite_list_release(struct culex_store *base, struct culex_list_reply *reply);
void culex__sqlite_wake_disarm(struct culex_store *base);

/* ENQUEUE within a transaction that is under way. */
culex_status culex__sqlite_enqueue_within(struct culex_sqlite *store, const char *name,
                                          const struct culex_new_run *runs, size_t count,
                                          struct culex_enqueue_result *results, culex_error *error);

/* What an ENQUEUE whose body ended with `status` is to its caller: a bound one fails within, so
 * that nothing of it lasts, when a run is refused, and that is CULEX_OK. */
culex_status culex__sqlite_enqueue_end(const struct culex_new_run *runs, size_t count,
                                       const struct culex_enqueue_result *results,
                                       culex_status status);

/* Enqueues a run that passes the queue's bound. */
culex_status culex__sqlite_enqueue_unbounded(struct culex_sqlite *store,
                                             struct culex_sqlite_queue *queue,
                                             const struct culex_new_run *run, culex_error *error);

/* Enqueues a periodic run, which passes it too. */
culex_status culex__sqlite_enqueue_periodic(struct culex_sqlite *store,
                                            struct culex_sqlite_queue *queue,
                                            const struct culex_new_run *run,
                                            struct culex_enqueue_result *ret_result,
                                            culex_error *error);

/* Whether an ENQUEUE was done before; then its results are set as they were. Writes nothing. */
bool culex__sqlite_enqueue_is_known(struct culex_sqlite *store, const char *queue,
                                    const struct culex_sqlite_call *call);

#endif
