/* handler/run_sealing.h - what seals and opens the encrypted fields of a run. */
#ifndef CULEX_HANDLER_RUN_SEALING_H
#define CULEX_HANDLER_RUN_SEALING_H

#include "client/sealing.h"
#include "handler/loan.h"
#include "handler/run.h"

/* A run has its keys and its randomness from the loan; without one it has no keys. */
static inline struct culex__sealing culex__run_sealing(const struct culex_run *run,
                                                       const char *part)
{
    const struct culex_loan *loan = run->loan;
    return culex__sealing_make(loan != NULL ? loan->keys : NULL,
                               loan != NULL ? loan->env : culex__env_system(), run->job.type, part);
}

#endif
