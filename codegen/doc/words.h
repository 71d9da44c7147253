/* words.h - parts of the checked model as people say and C writes them. */
#ifndef CULEXC_WORDS_H
#define CULEXC_WORDS_H

#include "buf.h"
#include "ir.h"

/* "1h30m", in the language's own units. */
const char *words_duration(struct arena *arena, double seconds);

/* When a run that keeps failing is tried again. */
const char *words_retry(struct arena *arena, const struct ir_retry *retry);

/* Appends the functions that are generated for a job. */
void words_prototypes(struct arena *arena, const struct ir_job *job, struct buf *out);

/* The same of a chain. */
void words_chain(struct arena *arena, const struct ir_chain *chain, struct buf *out);

#endif
