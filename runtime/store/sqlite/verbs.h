/* store/sqlite/verbs.h - the store's operations, each as store/store.h promises it. */
#ifndef CULEX_STORE_SQLITE_VERBS_H
#define CULEX_STORE_SQLITE_VERBS_H

#include "store/store.h"

struct culex_sqlite;

/* enqueue.c */

/* Within a transaction that is under way. */
culex_status culex__sqlite_enqueue_within(struct culex_sqlite *store, const char *name,
                                          const struct culex_new_run *runs, size_t count,
                                          struct culex_enqueue_result *results, culex_error *error);
culex_status culex__sqlite_enqueue(struct culex_store *base, const char *queue,
                                   const struct culex_new_run *runs, size_t count,
                                   struct culex_enqueue_result *results, culex_error *error);
culex_status culex__sqlite_tick(struct culex_store *base, const struct culex_tick *tick,
                                struct culex_tick_reply *ret_reply, culex_error *error);

/* step.c */

culex_status culex__sqlite_step(struct culex_store *base, const struct culex_step *step,
                                struct culex_step_reply *ret_reply, culex_error *error);
void culex__sqlite_step_release(struct culex_store *base, struct culex_step_reply *reply);

/* manage.c */

culex_status culex__sqlite_hello(struct culex_store *base, const char *queue, const char *worker,
                                 const char *session, size_t *ret_released, int64_t *ret_now_ms,
                                 culex_error *error);
culex_status culex__sqlite_cancel(struct culex_store *base, const char *queue, culex_uuid id,
                                  culex_run_state *ret_state, culex_error *error);
culex_status culex__sqlite_retry(struct culex_store *base, const char *queue, culex_uuid id,
                                 culex_error *error);
culex_status culex__sqlite_forget(struct culex_store *base, const char *queue, culex_uuid id,
                                  culex_error *error);
culex_status culex__sqlite_limit_queue(struct culex_store *base, const char *queue, uint64_t most,
                                       culex_error *error);
culex_status culex__sqlite_pause_queue(struct culex_store *base, const char *queue, bool is_paused,
                                       culex_error *error);
culex_status culex__sqlite_purge(struct culex_store *base, const char *queue, culex_run_state state,
                                 size_t limit, size_t *ret_deleted, culex_error *error);

/* inspect.c */

culex_status culex__sqlite_stats(struct culex_store *base, const char *queue,
                                 culex_queue_stats *ret_stats, culex_error *error);
culex_status culex__sqlite_get(struct culex_store *base, const char *queue, culex_uuid id,
                               culex_run_info **ret_run, culex_error *error);
culex_status culex__sqlite_list(struct culex_store *base, const char *queue, culex_run_state state,
                                uint64_t cursor, size_t limit, struct culex_list_reply *ret_reply,
                                culex_error *error);
void culex__sqlite_list_release(struct culex_store *base, struct culex_list_reply *reply);
culex_status culex__sqlite_queues(struct culex_store *base, char ***ret_names, culex_error *error);
culex_status culex__sqlite_now(struct culex_store *base, int64_t *ret_now_ms, culex_error *error);

/* fsck.c */

culex_status culex__sqlite_fsck(struct culex_store *base, const char *queue, uint64_t cursor,
                                bool is_repairing, struct culex_fsck_reply *ret_reply,
                                culex_error *error);

/* doctor.c */

culex_status culex__sqlite_doctor(struct culex_store *base, struct culex_report *report,
                                  culex_error *error);

/* wake.c */

culex_status culex__sqlite_wake_arm(struct culex_store *base, const char *const *queues,
                                    size_t count, int64_t timeout_ms, int *ret_fd,
                                    culex_error *error);
culex_status culex__sqlite_wake_take(struct culex_store *base, bool *ret_woken, culex_error *error);
void culex__sqlite_wake_disarm(struct culex_store *base);

#endif
