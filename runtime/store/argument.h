/* store/argument.h - what the verbs of a store take: the one check that stands before all stores.
 *
 * store/verbs.def names the function of each verb. A store's own functions get nothing that is
 * refused here, and assert it where they rely on it. CULEX_EINVAL for what is out of form,
 * CULEX_ELIMIT for what is too long or too many, with the words that an operator sees. */
#ifndef CULEX_STORE_ARGUMENT_H
#define CULEX_STORE_ARGUMENT_H

#include "store/store.h"

culex_status culex__argument_enqueue(const char *queue, const struct culex_ticket *ticket,
                                     const struct culex_new_run *runs, size_t count,
                                     culex_error *error);
culex_status culex__argument_enqueue_each(const char *queue, const struct culex_ticket *tickets,
                                          const struct culex_new_run *runs, size_t count,
                                          culex_error *error);
culex_status culex__argument_batch(const struct culex_batch_order *order, culex_error *error);
culex_status culex__argument_step(const struct culex_step *step, culex_error *error);
culex_status culex__argument_hello(const char *queue, const char *worker, const char *session,
                                   culex_error *error);
culex_status culex__argument_tick(const struct culex_tick *tick, culex_error *error);
culex_status culex__argument_schedule_set(const char *queue, const char *schedule,
                                          enum culex_schedule_act act, culex_error *error);
culex_status culex__argument_schedule_run(const char *queue, const char *schedule, int64_t asking,
                                          const struct culex_new_run *run, culex_error *error);
culex_status culex__argument_worker_tell(const struct culex_worker_tell *tell, culex_error *error);
culex_status culex__argument_worker_set(const char *id, const struct culex_worker_wish *wish,
                                        culex_error *error);
culex_status culex__argument_move(const char *queue, const struct culex_place *place,
                                  culex_error *error);
culex_status culex__argument_pause_for(const char *queue, int64_t for_ms, culex_error *error);
culex_status culex__argument_limit(const char *queue, uint64_t most, culex_error *error);
culex_status culex__argument_dead_limit(const char *queue, uint64_t most, culex_error *error);
culex_status culex__argument_limit_set(const char *queue, const char *name,
                                       const culex_limit_value *value, culex_error *error);
culex_status culex__argument_limit_keys(const char *queue, const char *name, const char *after,
                                        size_t most, culex_error *error);
culex_status culex__argument_metadata(const char *queue, const char *job, culex_error *error);
culex_status culex__argument_schema_publish(const char *queue,
                                            const struct culex_schema_text *schema,
                                            culex_error *error);
culex_status culex__argument_schema_text(const char *queue, const char *job, culex_error *error);
culex_status culex__argument_metadata_set(const char *queue, const struct culex_metadata_set *set,
                                          culex_error *error);
culex_status culex__argument_purge(const char *queue, culex_run_state state, size_t limit,
                                   culex_error *error);
culex_status culex__argument_list(const char *queue, const culex_list_filter *filter,
                                  culex_list_cursor cursor, size_t limit, culex_error *error);
culex_status culex__argument_figures_add(const char *queue, const char *session, uint64_t number,
                                         const struct culex_figure_row *rows, size_t count,
                                         culex_error *error);
culex_status culex__argument_figures(const char *queue, const char *job, unsigned hours,
                                     const struct culex_figure_row *after, size_t most,
                                     culex_error *error);
culex_status culex__argument_events_keep(const char *queue, uint64_t most, culex_error *error);
culex_status culex__argument_events(const char *queue, uint64_t after, size_t most,
                                    culex_error *error);
culex_status culex__argument_wait(const char *queue, size_t count, int64_t note_ms,
                                  culex_error *error);
culex_status culex__argument_queues(const char *const *queues, size_t count, culex_error *error);

#endif
