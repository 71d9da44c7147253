/* executor/executor_children.h - what tests reach of the executor of children beside executor.h. */
#ifndef CULEX_EXECUTOR_EXECUTOR_CHILDREN_H
#define CULEX_EXECUTOR_EXECUTOR_CHILDREN_H

#include "executor/executor.h"
#include "platform/process_effects.h"

/* As culex__executor_children_create, with the kernel behind `effects` (borrowed). */
culex_status culex__executor_children_create_with(const struct culex_executor_config *config,
                                                  const struct culex_process_effects *effects,
                                                  struct culex_executor **ret_executor,
                                                  culex_error *error);

/* Processes now, those included that are ending. */
size_t culex__executor_children_count(struct culex_executor *executor);

#endif
